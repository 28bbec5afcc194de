"""Documents for people: files of several formats, read, cut along their structure, and kept.

What is exported is loaded when it is first asked for: a process that reads a file needs little.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .draft import SHELF, Draft, drafted
    from .handle import Documents, DocumentsOfAgent, DocumentsOfGraph

__all__ = ["SHELF", "Documents", "DocumentsOfAgent", "DocumentsOfGraph", "Draft", "drafted"]

_OF_DRAFT = ("SHELF", "Draft", "drafted")


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever has that name
    if name not in __all__:
        message = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(message)
    return getattr(import_module(".draft" if name in _OF_DRAFT else ".handle", __name__), name)
