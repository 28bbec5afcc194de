"""Search: index commands, ``$listSearchIndexes``, ``$vectorSearch``, ``$search``, ``$rankFusion``.

Vectors are compared exactly. Messages and codes are those that Atlas gives.
https://www.mongodb.com/docs/atlas/atlas-vector-search/vector-search-stage/
https://www.mongodb.com/docs/manual/reference/operator/aggregation/rankFusion/
"""

from __future__ import annotations

from typing import Any, NoReturn

from .engine import Command, Engine, Handler, Knobs
from .errors import CommandError, bad_value, only, refuse
from .expressions import Row
from .pipeline import FindCollection, compile_stages, run_pipeline, run_stages, stage_of
from .search_index import SearchIndex, checked_definition
from .store import Collection
from .text_search import text_scores
from .values import Document, is_number
from .vectors import vector_scores

_FUSION_VERSION = (8, 1, 0)
_FUSION_CONSTANT = 60
_MAX_CANDIDATES = 10_000
_VECTOR_FIELDS = frozenset(
    {"index", "path", "queryVector", "numCandidates", "limit", "filter", "exact"}
)
_FUSED_STAGES = frozenset({"$vectorSearch", "$search", "$match", "$sort", "$skip", "$limit"})
_HELP = (
    "requires additional configuration. Please connect to Atlas or an AtlasCLI local deployment "
    "to enable. For more information on how to connect, see "
    "https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs."
)


def _failed(target: Collection, problem: str) -> NoReturn:
    """Answer as the server does when the search process refuses."""
    raise CommandError(
        8, f"Executor error during aggregate command on namespace: {target.namespace} "
        f":: caused by :: {problem}"
    )  # fmt: skip


def _need_search(knobs: Knobs, what: str) -> None:
    if not knobs.search:
        raise CommandError(31082, f"Using {what} {_HELP}")


# Commands.

_COMMANDS_OFF = "Atlas Search Database Commands and the $listSearchIndexes aggregation stage"


async def create_search_indexes(engine: Engine, command: Command) -> Document:
    """Answer ``createSearchIndexes``."""
    target = _target(engine, command)
    made = []
    for given in command.body["indexes"]:
        only(frozenset({"name", "type", "definition"}), given, "createSearchIndexes")
        name, kind = given.get("name", "default"), given.get("type", "search")
        definition = checked_definition(kind, given.get("definition"))
        if name in target.search_indexes:
            raise CommandError(68, f"Duplicate Index: an index named {name} exists")
        index = SearchIndex(name, kind, definition, engine.knobs.search_build_listings)
        target.search_indexes[name] = index
        made.append({"id": index.id, "name": name})
    return {"indexesCreated": made, "ok": 1.0}


async def update_search_index(engine: Engine, command: Command) -> Document:
    """Answer ``updateSearchIndex``: the definition before answers until the new one is built."""
    index = _index(_target(engine, command), command)
    definition = checked_definition(index.kind, command.body.get("definition"))
    index.update(definition, engine.knobs.search_build_listings)
    return {"ok": 1.0}


async def drop_search_index(engine: Engine, command: Command) -> Document:
    """Answer ``dropSearchIndex``."""
    target = _target(engine, command)
    del target.search_indexes[_index(target, command).name]
    return {"ok": 1.0}


def _target(engine: Engine, command: Command) -> Collection:
    _need_search(engine.knobs, _COMMANDS_OFF)
    target = engine.collection(command)
    if not target.is_created:
        raise CommandError(26, f"Collection '{target.namespace}' does not exist.")
    return target


def _index(target: Collection, command: Command) -> SearchIndex:
    name, index_id = command.body.get("name"), command.body.get("id")
    for index in target.search_indexes.values():
        if name == index.name or (index_id is not None and index_id == index.id):
            return index
    raise CommandError(27, f"search index {name or index_id} not found in {target.namespace}")


SEARCH_COMMANDS: dict[str, tuple[Handler, frozenset[str]]] = {
    "createSearchIndexes": (create_search_indexes, frozenset({"indexes"})),
    "updateSearchIndex": (update_search_index, frozenset({"name", "id", "definition"})),
    "dropSearchIndex": (drop_search_index, frozenset({"name", "id"})),
}


# Stages.


def run_search(
    knobs: Knobs, target: Collection, pipeline: list[Any], collection: FindCollection
) -> list[Row]:
    """Run a pipeline whose first stage searches."""
    rest = compile_stages(pipeline[1:], collection)
    name, argument = stage_of(pipeline[0])
    if name == "$listSearchIndexes":
        rows = _listed(knobs, target, argument)
    elif name == "$rankFusion":
        rows = _fused(knobs, target, argument, collection)
    else:
        rows = _ranked(knobs, target, name, argument)
    return run_stages(rows, rest)


def _listed(knobs: Knobs, target: Collection, argument: Any) -> list[Row]:
    _need_search(knobs, _COMMANDS_OFF)
    only(frozenset({"name", "id"}), argument, "$listSearchIndexes")
    return [
        Row(index.listed())
        for index in tuple(target.search_indexes.values())
        if argument.get("name", index.name) == index.name
        and argument.get("id", index.id) == index.id
    ]


def _ranked(knobs: Knobs, target: Collection, name: str, argument: Any) -> list[Row]:
    _need_search(knobs, "$search and $vectorSearch aggregation stages")
    if not isinstance(argument, dict):
        bad_value(f"{name} must be a document")
    if name == "$vectorSearch":
        return _vector_search(target, argument)
    return _text_search(target, argument)


def _queryable(target: Collection, name: Any, kind: str) -> SearchIndex | None:
    """Return an index that answers; ``None``, as in Atlas, for one that does not exist."""
    index = target.search_indexes.get(name)
    if index is None or index.kind != kind:
        return None
    if not index.queryable:
        what = "vector index" if kind == "vectorSearch" else "search index"
        _failed(
            target,
            f"cannot query {what} {index.id} ({what} {name} collection {target.name} in "
            f"database {target.database}) while in state INITIAL_SYNC",
        )
    return index


def _vector_search(target: Collection, argument: Document) -> list[Row]:
    only(_VECTOR_FIELDS, argument, "$vectorSearch")
    limit = _checked_limits(argument)
    index = _queryable(target, argument.get("index"), "vectorSearch")
    if index is None:
        return []
    path = argument.get("path")
    field = index.vector_field(path)
    if field is None:
        _failed(target, f"{path} is not indexed as vector")
    query = argument.get("queryVector")
    filters = argument.get("filter") or {}
    for used in _filter_paths(filters):
        if used not in index.filter_paths():
            _failed(target, f"Path '{used}' needs to be indexed as filter")
    try:
        scored = vector_scores(target.every(), index, field, query, filters)
    except ValueError as error:
        _failed(target, str(error))
    return [Row(document, {"vectorSearchScore": score}) for document, score in scored[:limit]]


def _checked_limits(argument: Document) -> int:
    limit, candidates = argument.get("limit"), argument.get("numCandidates")
    if type(limit) is not int or limit < 1:
        bad_value('"limit" must be positive')
    exact = argument.get("exact", False)
    if not isinstance(exact, bool):
        bad_value('"exact" must be a boolean')
    if exact and candidates is not None:
        bad_value('"numCandidates" must be omitted for exact search')
    if not exact:
        if type(candidates) is not int or not 0 < candidates <= _MAX_CANDIDATES:
            bad_value(f'"numCandidates" must be within the bounds (0, {_MAX_CANDIDATES}]')
        if candidates < limit:
            bad_value('"numCandidates" must be greater than or equal to "limit"')
    return limit


_FILTER_OPERATORS = frozenset(
    {"$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte", "$not", "$exists"}
)


def _filter_paths(query: Any) -> set[str]:
    """Return the paths of a filter; refuses the operators that ``$vectorSearch`` lacks."""
    if not isinstance(query, dict):
        bad_value('"filter" must be a document')
    paths: set[str] = set()
    for field, condition in query.items():
        if field in {"$and", "$or", "$nor"}:
            for part in condition:
                paths |= _filter_paths(part)
            continue
        paths.add(field)
        operators = condition if isinstance(condition, dict) else {}
        for name, value in operators.items():
            inner = value if name == "$not" and isinstance(value, dict) else {}
            for used in (name, *inner):
                if used not in _FILTER_OPERATORS:
                    refuse(f"{used} in a filter of $vectorSearch")
    return paths


def _text_search(target: Collection, argument: Document) -> list[Row]:
    given = dict(argument)
    index = _queryable(target, given.pop("index", "default"), "search")
    try:
        scored = text_scores(list(target.every()), index, given)
    except ValueError as error:
        _failed(target, str(error))
    return [Row(document, {"searchScore": score}) for document, score in scored]


def _fused(
    knobs: Knobs, target: Collection, argument: Any, collection: FindCollection
) -> list[Row]:
    """Reciprocal rank fusion: the sum of weight / (60 + rank) over the input pipelines."""
    if knobs.version < _FUSION_VERSION:
        raise CommandError(40324, "Unrecognized pipeline stage name: '$rankFusion'")
    pipelines, weights = _fusion_parts(argument)
    scores: dict[int, float] = {}
    found: dict[int, Document] = {}
    for name, stages in pipelines.items():
        for rank, row in enumerate(_fusion_input(knobs, target, stages, collection), 1):
            # A stored document is one object for as long as it is not written.
            place = id(row.document)
            found[place] = row.document
            scores[place] = scores.get(place, 0.0) + weights.get(name, 1) / (
                _FUSION_CONSTANT + rank
            )
    ranked = sorted(found, key=lambda place: scores[place], reverse=True)
    return [Row(found[place], {"score": scores[place]}) for place in ranked]


def _fusion_parts(argument: Any) -> tuple[dict[str, list[Any]], dict[str, float]]:
    only(frozenset({"input", "combination"}), argument, "$rankFusion")
    given = argument.get("input") or {}
    only(frozenset({"pipelines"}), given, "$rankFusion.input")
    pipelines = given.get("pipelines")
    if not isinstance(pipelines, dict) or not pipelines:
        bad_value("$rankFusion needs input pipelines")
    for name in pipelines:
        if not name or name.startswith("$") or "." in name or "\0" in name:
            bad_value(f"$rankFusion pipeline names must not be {name!r}")
    combination = argument.get("combination") or {}
    only(frozenset({"weights"}), combination, "$rankFusion.combination")
    weights = combination.get("weights") or {}
    if not weights.keys() <= pipelines.keys():
        bad_value("$rankFusion weights name a pipeline that is not there")
    if any(not is_number(weight) or weight < 0 for weight in weights.values()):
        bad_value("$rankFusion weights must be numbers that are not negative")
    return pipelines, weights


def _fusion_input(
    knobs: Knobs, target: Collection, stages: Any, collection: FindCollection
) -> list[Row]:
    names = [stage_of(stage)[0] for stage in stages]
    if not set(names) <= _FUSED_STAGES:
        bad_value(f"$rankFusion input pipelines must not change documents: {names}")
    if names and names[0] in {"$vectorSearch", "$search"}:
        return run_search(knobs, target, stages, collection)
    if "$sort" not in names:
        bad_value("all $rankFusion input pipelines must be ranked pipelines")
    return run_pipeline(target, stages, collection)


SEARCH_STAGES = frozenset({"$vectorSearch", "$search", "$rankFusion", "$listSearchIndexes"})
