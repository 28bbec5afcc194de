"""Aggregation expressions: field paths, documents made of expressions, and plain values.

Everything else, each operator among it, is refused when the pipeline is read.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import refuse
from .values import MISSING, Document

Expression = Callable[[Document], Any]


def compile_expression(given: Any) -> Expression:
    """Return a function from document to value, ``MISSING`` included."""
    if isinstance(given, str) and given.startswith("$"):
        return _path(given)
    if isinstance(given, dict):
        return _object(given)
    if isinstance(given, list):
        refuse("an expression that is an array")
    return lambda _: given


def _path(given: str) -> Expression:
    if given.startswith("$$"):
        refuse(f"the variable {given}")
    parts = tuple(given[1:].split("."))
    return lambda document: _at(document, parts)


def _at(value: Any, parts: tuple[str, ...]) -> Any:
    """Return what a field path gives: through an array, the array of what its documents give."""
    for depth, part in enumerate(parts):
        if isinstance(value, list):
            found = (_at(element, parts[depth:]) for element in value if isinstance(element, dict))
            return [element for element in found if element is not MISSING]
        if not isinstance(value, dict):
            return MISSING
        value = value.get(part, MISSING)
    return value


def _object(given: Document) -> Expression:
    for name in given:
        if name.startswith("$"):
            refuse(f"the expression {name}")
    parts = {name: compile_expression(part) for name, part in given.items()}
    return lambda document: {
        name: value for name, part in parts.items() if (value := part(document)) is not MISSING
    }
