"""Search: index commands, ``$listSearchIndexes`` and ``$vectorSearch``.

Vectors are compared exactly. Messages and codes are those that Atlas gives.
https://www.mongodb.com/docs/atlas/atlas-vector-search/vector-search-stage/
"""

from __future__ import annotations

from typing import Any, NoReturn

from .engine import Command, Engine, Handler, Knobs
from .errors import CommandError, bad_value, only, refuse
from .pipeline import FindCollection, compile_stages, run_stages, stage_of
from .search_index import SearchIndex, checked_definition
from .store import Collection
from .values import Document
from .vectors import vector_scores

_MAX_CANDIDATES = 10_000
_VECTOR_FIELDS = frozenset({"index", "path", "queryVector", "numCandidates", "limit", "filter"})
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
        name = given.get("name", "default")
        if given.get("type", "search") != "vectorSearch":
            refuse("a search index of another type than vectorSearch")
        definition = checked_definition(given.get("definition"))
        if name in target.search_indexes:
            raise CommandError(68, f"Duplicate Index: an index named {name} exists")
        index = SearchIndex(name, definition, engine.knobs.search_build_listings)
        target.search_indexes[name] = index
        made.append({"id": index.id, "name": name})
    return {"indexesCreated": made, "ok": 1.0}


async def update_search_index(engine: Engine, command: Command) -> Document:
    """Answer ``updateSearchIndex``: the definition before answers until the new one is built."""
    index = _index(_target(engine, command), command)
    definition = checked_definition(command.body.get("definition"))
    index.update(definition, engine.knobs.search_build_listings)
    return {"ok": 1.0}


def _target(engine: Engine, command: Command) -> Collection:
    _need_search(engine.knobs, _COMMANDS_OFF)
    target = engine.collection(command)
    if not target.is_created:
        raise CommandError(26, f"Collection '{target.namespace}' does not exist.")
    return target


def _index(target: Collection, command: Command) -> SearchIndex:
    name = command.body.get("name")
    if name not in target.search_indexes:
        raise CommandError(27, f"search index {name} not found in {target.namespace}")
    return target.search_indexes[name]


SEARCH_COMMANDS: dict[str, tuple[Handler, frozenset[str]]] = {
    "createSearchIndexes": (create_search_indexes, frozenset({"indexes"})),
    "updateSearchIndex": (update_search_index, frozenset({"name", "definition"})),
}


# Stages.


def run_search(
    knobs: Knobs, target: Collection, pipeline: list[Any], collection: FindCollection
) -> list[Document]:
    """Run a pipeline whose first stage searches."""
    rest = compile_stages(pipeline[1:], collection)
    name, argument = stage_of(pipeline[0])
    found = _listed if name == "$listSearchIndexes" else _vector_search
    return run_stages(found(knobs, target, argument), rest)


def _listed(knobs: Knobs, target: Collection, argument: Any) -> list[Document]:
    _need_search(knobs, _COMMANDS_OFF)
    only(frozenset(), argument, "$listSearchIndexes")
    return [index.listed() for index in tuple(target.search_indexes.values())]


def _queryable(target: Collection, name: Any) -> SearchIndex | None:
    """Return an index that answers; ``None``, as in Atlas, for one that does not exist."""
    index = target.search_indexes.get(name)
    if index is not None and not index.queryable:
        _failed(
            target,
            f"cannot query vector index {index.id} (vector index {name} collection {target.name} "
            f"in database {target.database}) while in state INITIAL_SYNC",
        )
    return index


def _vector_search(knobs: Knobs, target: Collection, argument: Any) -> list[Document]:
    _need_search(knobs, "$search and $vectorSearch aggregation stages")
    if not isinstance(argument, dict):
        bad_value("$vectorSearch must be a document")
    only(_VECTOR_FIELDS, argument, "$vectorSearch")
    limit = _checked_limits(argument)
    index = _queryable(target, argument.get("index"))
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
    return [document for document, _ in scored[:limit]]


def _checked_limits(argument: Document) -> int:
    limit, candidates = argument.get("limit"), argument.get("numCandidates")
    if type(limit) is not int or limit < 1:
        bad_value('"limit" must be positive')
    if type(candidates) is not int or not 0 < candidates <= _MAX_CANDIDATES:
        bad_value(f'"numCandidates" must be within the bounds (0, {_MAX_CANDIDATES}]')
    if candidates < limit:
        bad_value('"numCandidates" must be greater than or equal to "limit"')
    return limit


_FILTER_OPERATORS = frozenset({"$eq", "$ne", "$in", "$nin", "$gt", "$gte", "$lt", "$lte"})


def _filter_paths(query: Any) -> set[str]:
    """Return the paths of a filter; refuses the operators that ``$vectorSearch`` lacks."""
    if not isinstance(query, dict):
        bad_value('"filter" must be a document')
    paths: set[str] = set()
    for field, condition in query.items():
        if field in {"$and", "$or"}:
            for part in condition:
                paths |= _filter_paths(part)
            continue
        paths.add(field)
        if condition is None:
            refuse("null in a filter of $vectorSearch, which finds nothing that is not there")
        operators = condition if isinstance(condition, dict) else {}
        for name, value in operators.items():
            if value is None or (isinstance(value, list) and None in value):
                refuse(f"null in {name} of a filter of $vectorSearch")
            if name not in _FILTER_OPERATORS:
                refuse(f"{name} in a filter of $vectorSearch")
    return paths
