"""The console: web pages over the same handles as every other surface, part of ``ezra serve``.

Drawn on the server, with one small script of its own that keeps live sections fresh. Importing the
modules below fills ``pages``.

``service/console`` draws pages on the server (Jinja2, one script of our own, SVG, a policy that
allows nothing inline or foreign). A page is a function registered in ``pages``; what it may show
is checked from the names in its path before it is called. A browser session stands for the token
that was shown, which the gate judges at every request; it counts under ``/console`` alone.
Addresses hold ids; questions and names travel in forms, and ``signing_in`` keeps what was asked, so
that the answer has an address. What is long is paged by the handle.
"""

from __future__ import annotations

from . import (
    agents,
    audit,
    beliefs,
    decisions,
    documents,
    facts,
    graphs,
    knowledge,
    overview,
    playground,
    searching,
    subjects,
    taint,
    tokens,
    turns,
    upkeep,
)
from .door import Console
from .pages import PREFIX, pages

_SHOWN_BY = (
    overview,
    graphs,
    agents,
    turns,
    playground,
    beliefs,
    facts,
    decisions,
    documents,
    knowledge,
    searching,
    audit,
    subjects,
    taint,
    upkeep,
    tokens,
)
"""Importing them filled ``pages``; the navigation has them in this order."""

pages.arrange(*(module.__name__ for module in _SHOWN_BY))

__all__ = ["PREFIX", "Console", "pages"]
