"""Evaluation: is what answers a question among the first that recall returns? No model judges."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from typing import TypeAlias

Progress: TypeAlias = Callable[[str, int], AbstractContextManager[Callable[[], None]]]
"""Shows what is measured, and how many steps that has; what it yields is called for each."""


def quietly(_name: str, _steps: int) -> AbstractContextManager[Callable[[], None]]:
    """Show no progress."""
    return nullcontext(lambda: None)
