"""Projections: which fields of a document are shown, for ``find`` and ``$project``.

Implemented: fields shown or left out by name, and in ``$project`` what a field path leads to.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import CommandError, refuse
from .expressions import compile_expression
from .values import MISSING, Document

Projection = Callable[[Document], Document]


def compile_projection(given: Any, *, computed: bool) -> Projection:
    """Return a function from a document to what is shown of it.

    Args:
        given: The projection.
        computed: Whether fields may be field paths, as in ``$project``; refused otherwise.
    """
    if not isinstance(given, dict):
        raise CommandError(9, "a projection must be a document")
    for name, value in given.items():
        if "$" in name or "." in name or not (_is_flag(value) or (computed and _is_path(value))):
            refuse(f"the projection {name!r}: {value!r}")
    flags = {name: bool(value) for name, value in given.items() if _is_flag(value)}
    paths = {name: value for name, value in given.items() if name not in flags}
    id_shown = flags.pop("_id", "_id" not in paths)
    kinds = set(flags.values())
    if len(kinds) > 1 or (paths and False in kinds):
        raise CommandError(31254, "Cannot mix inclusion and exclusion in one projection")
    if False in kinds or not (flags or paths or id_shown):
        return _excluding({*flags, *(() if id_shown else ("_id",))})
    return _including({*flags, *(("_id",) if id_shown else ())}, paths)


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _is_path(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("$")


def _including(names: set[str], paths: dict[str, str]) -> Projection:
    formulas = {name: compile_expression(path) for name, path in paths.items()}

    def project(document: Document) -> Document:
        shown = {name: value for name, value in document.items() if name in names}
        found = {name: formula(document) for name, formula in formulas.items()}
        return shown | {name: value for name, value in found.items() if value is not MISSING}

    return project


def _excluding(names: set[str]) -> Projection:
    return lambda document: {name: value for name, value in document.items() if name not in names}
