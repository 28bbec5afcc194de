"""Stages that bring in further documents: ``$lookup``, ``$unionWith`` and ``$graphLookup``.

Implemented of ``$lookup``: by equality of two fields, and by a pipeline of its own that knows
nothing of the document it is for. ``$unionWith`` as a whole, but for a pipeline without a
collection. Of ``$graphLookup`` everything, but for a search for null.
https://www.mongodb.com/docs/manual/reference/operator/aggregation/unionWith/
https://www.mongodb.com/docs/manual/reference/operator/aggregation/graphLookup/
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from bson import Int64

from .errors import CommandError, only, refuse
from .expressions import Row, compile_expression
from .filters import compile_filter
from .planning import matching
from .projection import put_at
from .store import Collection
from .values import MISSING, Document, Key, expanded, is_number, key_of

Stage = Callable[[list[Row]], list[Row]]
FindCollection = Callable[[str], Collection]


class Pipelines(NamedTuple):
    """How a pipeline inside a stage is checked, and run over a collection."""

    check: Callable[[list[Any], FindCollection], object]
    run: Callable[[Collection, list[Any], FindCollection], list[Row]]


_PATHS = ("from", "connectFromField", "connectToField", "as")
_OPTIONS = frozenset({"startWith", "maxDepth", "depthField", "restrictSearchWithMatch"})


def lookup(argument: Any, collection: FindCollection, pipelines: Pipelines) -> Stage:
    """Return the ``$lookup`` stage."""
    if not isinstance(argument, dict):
        raise CommandError(40319, "the $lookup specification must be an object")
    if "pipeline" in argument:
        return _lookup_by_pipeline(argument, collection, pipelines)
    names = ("from", "localField", "foreignField", "as")
    only(frozenset(names), argument, "$lookup")
    if any(not isinstance(argument.get(name), str) for name in names):
        refuse("$lookup without from, localField, foreignField and as")
    source = collection(argument["from"])
    local = tuple(argument["localField"].split("."))

    def joined(row: Row) -> Row:
        values = [value for value in expanded(row.document, local) if not isinstance(value, list)]
        wanted = [None if value is MISSING else value for value in values]
        found = matching(source, {argument["foreignField"]: {"$in": wanted}})
        return _with(row, argument["as"], found)

    return lambda rows: [joined(row) for row in rows]


def _lookup_by_pipeline(
    argument: Document, collection: FindCollection, pipelines: Pipelines
) -> Stage:
    only(frozenset({"from", "pipeline", "as"}), argument, "$lookup")
    if not isinstance(argument.get("from"), str) or not isinstance(argument.get("as"), str):
        refuse("$lookup by a pipeline without from and as")
    pipeline = argument["pipeline"]
    if not isinstance(pipeline, list):
        raise CommandError(14, "'pipeline' option must be specified as an array")
    source = collection(argument["from"])
    pipelines.check(pipeline, collection)

    def stage(rows: list[Row]) -> list[Row]:
        # The pipeline depends on nothing outside: it runs once, and not for no rows at all.
        found = pipelines.run(source, pipeline, collection) if rows else []
        documents = [one.document for one in found]
        return [_with(row, argument["as"], documents) for row in rows]

    return stage


def union_with(argument: Any, collection: FindCollection, pipelines: Pipelines) -> Stage:
    """Return the ``$unionWith`` stage."""
    given = {"coll": argument} if isinstance(argument, str) else argument
    if not isinstance(given, dict):
        raise CommandError(9, "the $unionWith stage specification must be an object or string")
    only(frozenset({"coll", "pipeline"}), given, "$unionWith")
    if not isinstance(given.get("coll"), str):
        refuse("$unionWith without a collection")
    pipeline = given.get("pipeline", [])
    if not isinstance(pipeline, list):
        raise CommandError(14, "'pipeline' option must be specified as an array")
    source = collection(given["coll"])
    pipelines.check(pipeline, collection)
    # What comes from there is run whether or not there was anything before it, and comes after.
    return lambda rows: [*rows, *pipelines.run(source, pipeline, collection)]


def graph_lookup(argument: Any, collection: FindCollection) -> Stage:
    """Return the ``$graphLookup`` stage."""
    _check_graph_lookup(argument)
    source = collection(argument["from"])
    start = compile_expression(argument["startWith"])
    from_field = tuple(argument["connectFromField"].split("."))
    to_field, restricted = argument["connectToField"], argument.get("restrictSearchWithMatch", {})
    compile_filter(restricted)
    depth_max, depth_field = argument.get("maxDepth"), argument.get("depthField")

    def walked(row: Row) -> list[Document]:
        begin = start(row)
        frontier = begin if isinstance(begin, list) else [begin]
        visited: dict[Key, Document] = {}
        depth = 0
        while frontier and (depth_max is None or depth <= depth_max):
            near = {to_field: {"$in": [_searchable(value) for value in frontier]}}
            frontier = []
            for found in matching(source, {"$and": [near, restricted]} if restricted else near):
                id_key = key_of(found["_id"])
                if id_key not in visited:
                    document = dict(found)
                    if depth_field is not None:
                        put_at(document, depth_field.split("."), Int64(depth))
                    visited[id_key] = document
                    values = expanded(found, from_field)
                    frontier += [one for one in values if not isinstance(one, list)]
            depth += 1
        # MongoDB promises no order; who relies on the nearest coming first is to find out here.
        return list(reversed(visited.values()))

    return lambda rows: [_with(row, argument["as"], walked(row)) for row in rows]


def _searchable(value: Any) -> Any:
    if value is MISSING or value is None:
        refuse("$graphLookup for null or a field that is not there")
    return value


def _check_graph_lookup(argument: Any) -> None:
    if not isinstance(argument, dict):
        raise CommandError(40327, "the $graphLookup specification must be an object")
    unknown = argument.keys() - _OPTIONS - set(_PATHS)
    if unknown:
        raise CommandError(40104, f"Unknown argument to $graphLookup: {min(unknown)}")
    if not {*_PATHS, "startWith"} <= argument.keys():
        raise CommandError(40105, f"$graphLookup requires {', '.join(_PATHS)} and startWith")
    for name in (*_PATHS, "depthField"):
        path = argument.get(name, "depth")
        if not isinstance(path, str):
            raise CommandError(40103, f"expected string as argument for {name}")
        if any(part.startswith("$") or not part for part in path.split(".")):
            raise CommandError(16410, f"FieldPath field names may not start with '$': {path!r}")
    depth = argument.get("maxDepth", 0)
    if not is_number(depth) or depth != int(depth):
        raise CommandError(40100, "maxDepth requires numeric argument")
    if depth < 0:
        raise CommandError(40101, "maxDepth requires a nonnegative argument")
    if not isinstance(argument.get("restrictSearchWithMatch", {}), dict):
        raise CommandError(40185, "restrictSearchWithMatch must be an object")


def _with(row: Row, path: str, found: list[Document]) -> Row:
    document = dict(row.document)
    put_at(document, path.split("."), found)
    return Row(document, row.meta)
