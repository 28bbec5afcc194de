"""Who does which operation: filled by the modules of this package that each do some of them."""

from __future__ import annotations

from .routes import Handlers

handlers = Handlers()
