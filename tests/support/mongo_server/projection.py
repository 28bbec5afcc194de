"""Projections: which fields of a document are shown, for ``find`` and ``$project``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import CommandError, refuse
from .expressions import Expression, Row, compile_expression
from .values import MISSING, Document

Tree = dict[str, Any]  # of True, or of further trees

Projection = Callable[[Row], Document]


def compile_projection(given: Any, *, computed: bool) -> Projection:
    """Return a function from row to the projected document.

    Args:
        given: The projection.
        computed: Whether fields may be expressions, as in ``$project``; refused otherwise.
    """
    if not isinstance(given, dict):
        raise CommandError(9, "a projection must be a document")
    flat = dict(_flattened(given, ""))
    shows = {path: bool(value) for path, value in flat.items() if _is_flag(value)}
    formulas = {path: value for path, value in flat.items() if path not in shows}
    if formulas and not computed:
        refuse(f"the projection {next(iter(formulas.items()))!r} in find")
    id_shown = shows.pop("_id", "_id" not in formulas)
    kinds = set(shows.values())
    if len(kinds) > 1 or (formulas and False in kinds):
        raise CommandError(31254, "Cannot mix inclusion and exclusion in one projection")
    if False in kinds or not (shows or formulas or not id_shown or "_id" in flat):
        return _excluding(_tree([*shows, *([] if id_shown else ["_id"])]))
    if not shows and not formulas:
        # Only _id was named: shown alone, or the one thing left out.
        return _including(_tree(["_id"]), {}) if id_shown else _excluding(_tree(["_id"]))
    paths = [*(["_id"] if id_shown else []), *shows]
    return _including(
        _tree(paths), {path: compile_expression(value) for path, value in formulas.items()}
    )


def _is_flag(value: Any) -> bool:
    return isinstance(value, bool | int | float)


def _flattened(given: Document, prefix: str) -> Any:
    for name, value in given.items():
        if name.startswith("$") or ".$" in name:
            refuse(f"the projection {name!r}")
        nested = isinstance(value, dict) and value and not next(iter(value)).startswith("$")
        if nested:
            yield from _flattened(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _tree(paths: list[str]) -> Tree:
    tree: Tree = {}
    for path in paths:
        branch = tree
        *way, last = path.split(".")
        for part in way:
            branch = branch.setdefault(part, {})
            if branch is True:
                raise CommandError(31249, f"Path collision at {path}")
        if last in branch:
            raise CommandError(31250, f"Path collision at {path}")
        branch[last] = True
    return tree


def _including(tree: Tree, formulas: dict[str, Expression]) -> Projection:
    def project(row: Row) -> Document:
        shown = _included(row.document, tree)
        for path, formula in formulas.items():
            put_at(shown, path.split("."), formula(row))
        return shown

    return project


def _included(document: Document, tree: Tree) -> Document:
    shown = {}
    for name, value in document.items():
        branch = tree.get(name)
        if branch is True:
            shown[name] = value
        elif branch is not None and isinstance(value, dict):
            shown[name] = _included(value, branch)
        elif branch is not None and isinstance(value, list):
            shown[name] = [_included(v, branch) for v in value if isinstance(v, dict)]
    return shown


def _excluding(tree: Tree) -> Projection:
    return lambda row: _excluded(row.document, tree)


def _excluded(document: Document, tree: Tree) -> Document:
    shown = {}
    for name, value in document.items():
        branch = tree.get(name)
        if branch is None:
            shown[name] = value
        elif branch is not True and isinstance(value, dict):
            shown[name] = _excluded(value, branch)
        elif branch is not True and isinstance(value, list):
            shown[name] = [_excluded(v, branch) if isinstance(v, dict) else v for v in value]
        elif branch is not True:
            shown[name] = value
    return shown


def put_at(document: Document, parts: list[str], value: Any) -> None:
    """Set, or take away when ``value`` is missing, a field of a document this row owns."""
    name, *rest = parts
    if rest:
        inner = document.get(name)
        if isinstance(inner, list):
            refuse("computed fields inside arrays")
        inner = dict(inner) if isinstance(inner, dict) else {}
        put_at(inner, rest, value)
        document[name] = inner
    elif value is MISSING:
        document.pop(name, None)
    else:
        document[name] = value
