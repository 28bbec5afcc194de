"""Aggregation stages over rows. The stages that search come from ``search``.

Implemented: ``$match $sort $skip $limit $project $addFields $set $group $unwind $count``, and what
is in ``joins``. Everything else is refused when the pipeline is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .errors import CommandError, only, refuse
from .expressions import METADATA, Expression, Row, compile_expression
from .filters import compile_filter
from .joins import FindCollection, Pipelines, Stage, graph_lookup, lookup, union_with
from .planning import checked_sort, matching
from .projection import compile_projection, put_at
from .store import Collection
from .values import MISSING, Document, Key, add, is_number, key_of, sort_key


def stage_of(given: Any) -> tuple[str, Any]:
    """Return a stage's name and its argument."""
    if not isinstance(given, dict) or len(given) != 1:
        raise CommandError(
            40323, "A pipeline stage specification object must contain exactly one field."
        )
    return next(iter(given.items()))


def compile_stages(stages: Iterable[Any], collection: FindCollection) -> list[Stage]:
    """Return the stages as functions; all are checked before any is run."""
    compiled = []
    for given in stages:
        name, argument = stage_of(given)
        if name == "$lookup":
            compiled.append(lookup(argument, collection, _INSIDE))
        elif name == "$unionWith":
            compiled.append(union_with(argument, collection, _INSIDE))
        elif name == "$graphLookup":
            compiled.append(graph_lookup(argument, collection))
        elif name in _STAGES:
            compiled.append(_STAGES[name](argument))
        elif name in _SEARCH_STAGES:
            raise CommandError(40602, f"{name} is only valid as the first stage in a pipeline")
        else:
            refuse(f"the aggregation stage {name}")
    return compiled


def run_pipeline(target: Collection, pipeline: list[Any], collection: FindCollection) -> list[Row]:
    """Run a pipeline that starts from a collection, its first stages by an index if one fits."""
    compile_stages(pipeline, collection)
    query: Document = {}
    sort = limit = None
    rest = list(pipeline)
    if rest and "$match" in rest[0]:
        query = rest.pop(0)["$match"]
    if rest and "$sort" in rest[0] and not _is_by_meta(rest[0]["$sort"]):
        sort = checked_sort(rest.pop(0)["$sort"])
    if rest and "$limit" in rest[0]:
        limit = int(rest.pop(0)["$limit"])
    rows = [Row(document) for document in matching(target, query, sort, limit)]
    return run_stages(rows, compile_stages(rest, collection))


def run_stages(rows: list[Row], stages: list[Stage]) -> list[Row]:
    """Send rows through stages."""
    for stage in stages:
        rows = stage(rows)
    return rows


def _match(argument: Any) -> Stage:
    test = compile_filter(argument)
    return lambda rows: [row for row in rows if test(row.document)]


def _is_by_meta(argument: Any) -> bool:
    return isinstance(argument, dict) and any(isinstance(v, dict) for v in argument.values())


def _sort(argument: Any) -> Stage:
    if _is_by_meta(argument):
        return _sort_by_meta(argument)
    sort = checked_sort(argument)
    if not sort:
        raise CommandError(15976, "$sort stage must have at least one sort key")

    def stage(rows: list[Row]) -> list[Row]:
        for path, direction in reversed(sort):
            parts = tuple(path.split("."))
            rows = sorted(
                rows,
                key=lambda row, p=parts, way=direction: sort_key(row.document, p, way),
                reverse=direction < 0,
            )
        return rows

    return stage


def _sort_by_meta(argument: Document) -> Stage:
    names = [value.get("$meta") for value in argument.values() if isinstance(value, dict)]
    if len(names) != len(argument) or not set(names) <= METADATA:
        refuse(f"$sort by {argument!r}")
    return lambda rows: sorted(
        rows, key=lambda row: [row.meta.get(name, 0.0) for name in names], reverse=True
    )


def _count_argument(name: str, argument: Any, least: int) -> int:
    if not is_number(argument) or argument != int(argument) or argument < least:
        raise CommandError(15958, f"the {name} must be a whole number of at least {least}")
    return int(argument)


def _skip(argument: Any) -> Stage:
    count = _count_argument("$skip", argument, 0)
    return lambda rows: rows[count:]


def _limit(argument: Any) -> Stage:
    count = _count_argument("$limit", argument, 1)
    return lambda rows: rows[:count]


def _project(argument: Any) -> Stage:
    if not argument:
        raise CommandError(51272, "projection specification must have at least one field")
    projection = compile_projection(argument, computed=True)
    return lambda rows: [Row(projection(row), row.meta) for row in rows]


def _add_fields(argument: Any) -> Stage:
    if not isinstance(argument, dict) or not argument:
        raise CommandError(40177, "$addFields specification must be a document with fields")
    formulas = {path: compile_expression(value) for path, value in argument.items()}

    def stage(rows: list[Row]) -> list[Row]:
        return [Row(_with_fields(row, formulas), row.meta) for row in rows]

    return stage


def _with_fields(row: Row, formulas: dict[str, Expression]) -> Document:
    values = {path: formula(row) for path, formula in formulas.items()}
    document = dict(row.document)
    for path, value in values.items():
        put_at(document, path.split("."), value)
    return document


def _count(argument: Any) -> Stage:
    if not isinstance(argument, str) or not argument or "$" in argument or "." in argument:
        raise CommandError(40156, "the count field must be a plain name")
    # No document for nothing to count, as in MongoDB.
    return lambda rows: [Row({argument: len(rows)})] if rows else []


def _unwind(argument: Any) -> Stage:
    options = {"path": argument} if isinstance(argument, str) else argument
    if not isinstance(options, dict):
        raise CommandError(15981, "the $unwind stage needs a string or an object")
    known = frozenset({"path", "preserveNullAndEmptyArrays", "includeArrayIndex"})
    only(known, options, "$unwind")
    path = options.get("path")
    if not isinstance(path, str) or not path.startswith("$"):
        raise CommandError(28818, "path option to $unwind should be prefixed with a '$'")
    value_of = compile_expression(path)
    parts = path[1:].split(".")
    keeps_empty = bool(options.get("preserveNullAndEmptyArrays"))
    counter = options.get("includeArrayIndex")

    def unwound(row: Row) -> Iterable[Row]:
        value = value_of(row)
        if isinstance(value, list) and value:
            for number, element in enumerate(value):
                yield _unwound(row, parts, element, counter, number)
        elif value is None or value is MISSING or value == []:
            if keeps_empty:
                yield _unwound(row, parts, MISSING if value == [] else value, counter, None)
        else:
            yield _unwound(row, parts, value, counter, None)

    return lambda rows: [one for row in rows for one in unwound(row)]


def _unwound(
    row: Row, parts: list[str], value: Any, counter: str | None, number: int | None
) -> Row:
    document = dict(row.document)
    put_at(document, parts, value)
    if counter is not None:
        put_at(document, counter.split("."), number)
    return Row(document, row.meta)


def _group(argument: Any) -> Stage:
    if not isinstance(argument, dict) or "_id" not in argument:
        raise CommandError(15955, "a group specification must include an _id")
    group_id = compile_expression(argument["_id"])
    fields = {name: _accumulator(name, given) for name, given in argument.items() if name != "_id"}

    def stage(rows: list[Row]) -> list[Row]:
        groups: dict[Key, tuple[Any, list[Row]]] = {}
        for row in rows:
            value = group_id(row)
            value = None if value is MISSING else value
            groups.setdefault(key_of(value), (value, []))[1].append(row)
        return [
            Row({"_id": value, **{name: total(members) for name, total in fields.items()}})
            for value, members in groups.values()
        ]

    return stage


def _accumulator(name: str, given: Any) -> Callable[[list[Row]], Any]:
    if not isinstance(given, dict) or len(given) != 1:
        raise CommandError(40234, f"the field '{name}' must be an accumulator object")
    operator, operand = next(iter(given.items()))
    if operator not in _ACCUMULATORS:
        refuse(f"the accumulator {operator}")
    formula = compile_expression(operand)
    total = _ACCUMULATORS[operator]
    return lambda rows: total([formula(row) for row in rows])


def _sum(values: list[Any]) -> Any:
    total: Any = 0
    for value in filter(is_number, values):
        total = add(total, value)
    return total


def _avg(values: list[Any]) -> Any:
    numbers = list(filter(is_number, values))
    return float(sum(numbers)) / len(numbers) if numbers else None


def _extreme(pick: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    def total(values: list[Any]) -> Any:
        there = [value for value in values if value is not None and value is not MISSING]
        return pick(there, key=key_of) if there else None

    return total


def _first(values: list[Any]) -> Any:
    return None if values[0] is MISSING else values[0]


def _push(values: list[Any]) -> Any:
    return [value for value in values if value is not MISSING]


def _add_to_set(values: list[Any]) -> Any:
    # MongoDB promises no order; who relies on that of the documents is to find out here.
    return list({key_of(value): value for value in reversed(_push(values))}.values())


_INSIDE = Pipelines(compile_stages, run_pipeline)
_ACCUMULATORS: dict[str, Callable[[list[Any]], Any]] = {
    "$sum": _sum,
    "$avg": _avg,
    "$min": _extreme(min),
    "$max": _extreme(max),
    "$first": _first,
    "$push": _push,
    "$addToSet": _add_to_set,
}
_STAGES: dict[str, Callable[[Any], Stage]] = {
    "$match": _match,
    "$sort": _sort,
    "$skip": _skip,
    "$limit": _limit,
    "$project": _project,
    "$addFields": _add_fields,
    "$set": _add_fields,
    "$group": _group,
    "$unwind": _unwind,
    "$count": _count,
}
_SEARCH_STAGES = frozenset({"$vectorSearch", "$search", "$rankFusion", "$listSearchIndexes"})
