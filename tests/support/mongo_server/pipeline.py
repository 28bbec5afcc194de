"""Aggregation stages over documents. The stages that search come from ``search``.

Implemented: ``$match $sort $skip $limit $project $set $group``, and ``$unionWith`` with a pipeline
over a collection. Everything else is refused when the pipeline is read.
https://www.mongodb.com/docs/manual/reference/operator/aggregation/unionWith/
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .errors import CommandError, only, refuse
from .expressions import compile_expression
from .filters import compile_filter
from .planning import checked_sort, matching, sorted_by
from .projection import compile_projection
from .store import Collection
from .values import MISSING, Document, Key, add, is_number, key_of

Stage = Callable[[list[Document]], list[Document]]
FindCollection = Callable[[str], Collection]


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
        if name == "$unionWith":
            compiled.append(_union_with(argument, collection))
        elif name in _STAGES:
            compiled.append(_STAGES[name](argument))
        elif name in SEARCH_STAGES:
            raise CommandError(40602, f"{name} is only valid as the first stage in a pipeline")
        else:
            refuse(f"the aggregation stage {name}")
    return compiled


def run_pipeline(
    target: Collection, pipeline: list[Any], collection: FindCollection
) -> list[Document]:
    """Run a pipeline that starts from a collection, its first stages by an index if one fits."""
    compile_stages(pipeline, collection)
    query: Document = {}
    sort = limit = None
    rest = list(pipeline)
    if rest and "$match" in rest[0]:
        query = rest.pop(0)["$match"]
    if rest and "$sort" in rest[0]:
        sort = checked_sort(rest.pop(0)["$sort"])
    if rest and "$limit" in rest[0]:
        limit = int(rest.pop(0)["$limit"])
    found = matching(target, query, sort, limit)
    return run_stages(found, compile_stages(rest, collection))


def run_stages(documents: list[Document], stages: list[Stage]) -> list[Document]:
    """Send documents through stages."""
    for stage in stages:
        documents = stage(documents)
    return documents


def _union_with(argument: Any, collection: FindCollection) -> Stage:
    if not isinstance(argument, dict):
        refuse("$unionWith by the name of a collection alone")
    only(frozenset({"coll", "pipeline"}), argument, "$unionWith")
    if not isinstance(argument.get("coll"), str):
        refuse("$unionWith without a collection")
    pipeline = argument.get("pipeline", [])
    if not isinstance(pipeline, list):
        raise CommandError(14, "'pipeline' option must be specified as an array")
    source = collection(argument["coll"])
    compile_stages(pipeline, collection)
    # What comes from there is run whether or not there was anything before it, and comes after.
    return lambda documents: [*documents, *run_pipeline(source, pipeline, collection)]


def _match(argument: Any) -> Stage:
    test = compile_filter(argument)
    return lambda documents: [document for document in documents if test(document)]


def _sort(argument: Any) -> Stage:
    sort = checked_sort(argument)
    if not sort:
        raise CommandError(15976, "$sort stage must have at least one sort key")
    return lambda documents: sorted_by(documents, sort)


def _count_argument(name: str, argument: Any, least: int) -> int:
    if not is_number(argument) or argument != int(argument) or argument < least:
        raise CommandError(15958, f"the {name} must be a whole number of at least {least}")
    return int(argument)


def _skip(argument: Any) -> Stage:
    count = _count_argument("$skip", argument, 0)
    return lambda documents: documents[count:]


def _limit(argument: Any) -> Stage:
    count = _count_argument("$limit", argument, 1)
    return lambda documents: documents[:count]


def _project(argument: Any) -> Stage:
    if not argument:
        raise CommandError(51272, "projection specification must have at least one field")
    projection = compile_projection(argument, computed=True)
    return lambda documents: [projection(document) for document in documents]


def _set(argument: Any) -> Stage:
    if not isinstance(argument, dict) or not argument:
        raise CommandError(40177, "$set specification must be a document with fields")
    for name, value in argument.items():
        if "$" in name or "." in name or not is_number(value):
            refuse(f"$set of {name!r} to {value!r}")
    return lambda documents: [document | argument for document in documents]


def _group(argument: Any) -> Stage:
    if not isinstance(argument, dict) or "_id" not in argument:
        raise CommandError(15955, "a group specification must include an _id")
    group_id = compile_expression(argument["_id"])
    fields = {name: _accumulator(name, given) for name, given in argument.items() if name != "_id"}

    def stage(documents: list[Document]) -> list[Document]:
        groups: dict[Key, tuple[Any, list[Document]]] = {}
        for document in documents:
            value = group_id(document)
            value = None if value is MISSING else value
            groups.setdefault(key_of(value), (value, []))[1].append(document)
        return [
            {"_id": value, **{name: total(members) for name, total in fields.items()}}
            for value, members in groups.values()
        ]

    return stage


def _accumulator(name: str, given: Any) -> Callable[[list[Document]], Any]:
    if not isinstance(given, dict) or len(given) != 1:
        raise CommandError(40234, f"the field '{name}' must be an accumulator object")
    operator, operand = next(iter(given.items()))
    if operator not in _ACCUMULATORS:
        refuse(f"the accumulator {operator}")
    formula = compile_expression(operand)
    total = _ACCUMULATORS[operator]
    return lambda documents: total([formula(document) for document in documents])


def _sum(values: list[Any]) -> Any:
    total: Any = 0
    for value in filter(is_number, values):
        total = add(total, value)
    return total


def _extreme(pick: Callable[..., Any]) -> Callable[[list[Any]], Any]:
    def total(values: list[Any]) -> Any:
        there = [value for value in values if value is not None and value is not MISSING]
        return pick(there, key=key_of) if there else None

    return total


_ACCUMULATORS: dict[str, Callable[[list[Any]], Any]] = {
    "$sum": _sum,
    "$min": _extreme(min),
    "$max": _extreme(max),
}
_STAGES: dict[str, Callable[[Any], Stage]] = {
    "$match": _match,
    "$sort": _sort,
    "$skip": _skip,
    "$limit": _limit,
    "$project": _project,
    "$set": _set,
    "$group": _group,
}
SEARCH_STAGES = frozenset({"$vectorSearch", "$listSearchIndexes"})
