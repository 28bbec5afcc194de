"""The search indexes of Atlas over facts: what they are, making them, waiting until they answer.

Only Atlas and its local image have them. Any other server says so in one of a few ways, all of
which come out as ``SearchUnavailable``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

from pymongo.errors import OperationFailure

from ...errors import ConfigError, TierRejected, TierTimeout, UsageError
from .database import Database
from .documents import Document
from .translation import translated

VECTOR_INDEX = "facts_by_meaning"
TEXT_INDEX = "facts_by_words"
COLLECTION = "facts"
EMBEDDING = "embedding"
SIMILARITY = "cosine"
DIMENSIONS_MAX = 8_192

FILTERS: Mapping[str, str] = {
    "tenant": "token",
    "graph_id": "token",
    "topics": "token",
    "private_to": "token",
    "for_user": "token",
    "user_id": "token",
    "tier": "token",
    "live": "boolean",
    "embedding_model": "token",
}
"""Every field that a question filters by, and how a text index must hold it."""

WORDS = ("text", "terms")
"""What a text index analyses: the words as they stand, and their stems."""

_POLL_SECONDS_MIN, _POLL_SECONDS_MAX, _POLL_GROWTH = 0.05, 5.0, 1.5
_ANSWERS = frozenset(("READY", "STALE"))
_EXISTS = 68
_FUSION_VERSION = (8, 1)
# CommandNotFound, CommandNotSupported, SearchNotEnabled, an unknown stage, a stage for Atlas only.
_NO_SEARCH = frozenset((59, 115, 31082, 40324, 6047401))

Progress: TypeAlias = Callable[[str, str], None]
ArchivalWay: TypeAlias = Literal["words", "warm", "atlas vector", "atlas hybrid"]
Outcome: TypeAlias = Literal["made", "updated", "there"]


class SearchUnavailable(TierRejected):
    """The server has no search indexes: it is neither Atlas nor Atlas's local image."""

    def __init__(self, operation: str) -> None:
        super().__init__("cold", operation, "this MongoDB server has no search indexes")


@dataclass(frozen=True)
class ArchivalPlan:
    """How archival facts are recalled, decided when the store is opened or its indexes ensured.

    Attributes:
        way: ``words`` by the words beside the records; ``warm`` by the warm engine; ``atlas
            vector`` by ``$vectorSearch``; ``atlas hybrid`` by ``$search`` as well.
        dimensions: Length of the vectors that the server's index takes.
        is_fused: Whether the server itself fuses both legs of a hybrid question.
    """

    way: ArchivalWay
    dimensions: int | None = None
    is_fused: bool = False

    @property
    def is_atlas(self) -> bool:
        """Whether the server's own search answers."""
        return self.way in {"atlas vector", "atlas hybrid"}


@dataclass(frozen=True)
class SearchIndexReport:
    """What became of the search indexes.

    Attributes:
        num_dimensions: Length of the vectors.
        vector_index: Whether it was made, updated or there.
        text_index: The same of the text index.
        waited_seconds: How long it took until both answered.
    """

    num_dimensions: int
    vector_index: Outcome
    text_index: Outcome
    waited_seconds: float


async def search_available(database: Database) -> bool:
    """Whether the server has search indexes at all."""
    try:
        await _listed(database)
    except SearchUnavailable:
        return False
    return True


async def planned(database: Database, *, has_warm: bool) -> ArchivalPlan:
    """Return how archival facts can be recalled as things stand now, asking the server once.

    An index that does not answer yet, or lacks what a question filters by, counts for nothing:
    ``ensure_search_indexes`` mends it.
    """
    otherwise = ArchivalPlan("warm" if has_warm else "words")
    try:
        found = await _listed(database)
    except SearchUnavailable:
        return otherwise
    vector, text = found.get(VECTOR_INDEX), found.get(TEXT_INDEX)
    if vector is None or not vector.get("queryable") or _missing_filters(vector):
        return otherwise
    dimensions = _dimensions(vector)
    if dimensions is None:
        return otherwise
    is_hybrid = text is not None and bool(text.get("queryable")) and not _missing_mappings(text)
    return ArchivalPlan(
        "atlas hybrid" if is_hybrid else "atlas vector",
        dimensions,
        is_hybrid and database.server.version >= _FUSION_VERSION,
    )


async def ensure_search_indexes(
    database: Database,
    num_dimensions: int,
    *,
    timeout_seconds: float,
    update: bool,
    progress: Progress | None,
) -> SearchIndexReport:
    """Make both search indexes, or check the ones that are there, and wait until they answer.

    Args:
        database: Where the facts are.
        num_dimensions: Length of the embedder's vectors.
        timeout_seconds: How long to wait in all.
        update: Whether an index that only lacks fields to filter by may be built again with them.
        progress: Called with an index's name and status, each time the server was asked.

    Raises:
        ConfigError: An index is there that does not fit; says what to do.
        SearchUnavailable: The server has no search.
        TierTimeout: They do not answer yet. They are being built on: asking again is harmless.
        UsageError: A number of dimensions that no index can have.
    """
    if not 1 <= num_dimensions <= DIMENSIONS_MAX:
        raise UsageError("num_dimensions", num_dimensions, f"1 to {DIMENSIONS_MAX}")
    started = time.monotonic()
    found = await _listed(database)
    outcomes: dict[str, Outcome] = {}
    for wanted in _definitions(num_dimensions):
        name = wanted["name"]
        known = found.get(name)
        if known is None:
            await _make(database, wanted)
            outcomes[name] = "made"
            continue
        better = _mended(known, num_dimensions)
        if better is None:
            outcomes[name] = "there"
            continue
        if not update:
            raise ConfigError(f"search index {name}", _advice(known))
        await _command(
            database, {"updateSearchIndex": COLLECTION, "name": name, "definition": better}
        )
        outcomes[name] = "updated"
    await _answering(database, list(outcomes), started + timeout_seconds, progress)
    return SearchIndexReport(
        num_dimensions,
        outcomes[VECTOR_INDEX],
        outcomes[TEXT_INDEX],
        time.monotonic() - started,
    )


def _definitions(num_dimensions: int) -> list[Document]:
    vector = {
        "type": "vector",
        "path": EMBEDDING,
        "numDimensions": num_dimensions,
        "similarity": SIMILARITY,
    }
    filters = [{"type": "filter", "path": path} for path in FILTERS]
    mappings = {path: {"type": "string"} for path in WORDS} | {
        path: {"type": kind} for path, kind in FILTERS.items()
    }
    return [
        {
            "name": VECTOR_INDEX,
            "type": "vectorSearch",
            "definition": {"fields": [vector, *filters]},
        },
        {
            "name": TEXT_INDEX,
            "type": "search",
            "definition": {"mappings": {"dynamic": False, "fields": mappings}},
        },
    ]


def _mended(known: Document, num_dimensions: int) -> Document | None:
    """Return the definition with what it lacks, or ``None`` when it lacks nothing.

    Raises:
        ConfigError: No addition makes it fit.
    """
    if known["name"] == TEXT_INDEX:
        return _mended_text(known)
    vectors = [field for field in _fields(known) if field.get("type") == "vector"]
    fitting = [field for field in vectors if field.get("path") == EMBEDDING]
    shape = [(field.get("numDimensions"), field.get("similarity")) for field in fitting]
    if shape != [(num_dimensions, SIMILARITY)]:
        is_for = ", ".join(f"{size} dimensions by {way}" for size, way in shape) or "other fields"
        reason = (
            f"it is for {is_for}, the embedder makes {num_dimensions} dimensions compared by "
            f"{SIMILARITY}; use the embedding model it was made for, or drop it with "
            f'db.{COLLECTION}.dropSearchIndex("{VECTOR_INDEX}") and run this again'
        )
        raise ConfigError(f"search index {VECTOR_INDEX}", reason)
    missing = _missing_filters(known)
    if not missing:
        return None
    more = [{"type": "filter", "path": path} for path in missing]
    return {"fields": [*_fields(known), *more]}


def _mended_text(known: Document) -> Document | None:
    missing = _missing_mappings(known)
    if not missing:
        return None
    definition: Document = known["latestDefinition"]
    mappings = definition.get("mappings", {})
    fields = mappings.get("fields", {}) | missing
    return definition | {"mappings": mappings | {"fields": fields}}


def _advice(known: Document) -> str:
    missing = _missing_mappings(known) if known["name"] == TEXT_INDEX else _missing_filters(known)
    return (
        f"it lacks {', '.join(missing)}, without which a question cannot be kept to its scope; "
        "ensure the vector index with update=True, which builds it again while it goes on "
        "answering"
    )


def _fields(known: Document) -> list[Document]:
    fields: list[Document] = known.get("latestDefinition", {}).get("fields", [])
    return fields


def _dimensions(known: Document) -> int | None:
    for field in _fields(known):
        if field.get("type") == "vector" and field.get("path") == EMBEDDING:
            return int(field["numDimensions"])
    return None


def _missing_filters(known: Document) -> list[str]:
    held = {field.get("path") for field in _fields(known) if field.get("type") == "filter"}
    return [path for path in FILTERS if path not in held]


def _missing_mappings(known: Document) -> dict[str, Document]:
    fields = known.get("latestDefinition", {}).get("mappings", {}).get("fields", {})
    wanted = dict.fromkeys(WORDS, "string") | dict(FILTERS)
    return {
        path: {"type": kind}
        for path, kind in wanted.items()
        if kind not in _kinds(fields.get(path))
    }


def _kinds(mapping: object) -> set[Any]:
    several = mapping if isinstance(mapping, list) else [mapping]
    return {one.get("type") for one in several if isinstance(one, dict)}


async def _make(database: Database, wanted: Document) -> None:
    try:
        await _command(database, {"createSearchIndexes": COLLECTION, "indexes": [wanted]})
    except TierRejected as error:
        cause = error.__cause__
        if not isinstance(cause, OperationFailure) or cause.code != _EXISTS:
            raise
        # Another process makes it at this moment; it is the same code, so it is the same index.


async def _answering(
    database: Database, names: Sequence[str], deadline: float, progress: Progress | None
) -> None:
    """Wait until all indexes answer questions by their latest definition."""
    pause = _POLL_SECONDS_MIN
    while True:
        found = await _listed(database)
        statuses = {name: found.get(name, {}).get("status", "PENDING") for name in names}
        for name, status in statuses.items():
            if progress is not None:
                progress(name, status)
            if status == "FAILED":
                raise TierRejected("cold", "ensure_vector_index", f"building {name} failed")
        if all(
            status in _ANSWERS and found[name].get("queryable") for name, status in statuses.items()
        ):
            return
        if time.monotonic() + pause > deadline:
            waiting = ", ".join(f"{name} is {status}" for name, status in statuses.items())
            raise TierTimeout("cold", "ensure_vector_index", f"still being built: {waiting}")
        await asyncio.sleep(pause)
        pause = min(_POLL_SECONDS_MAX, pause * _POLL_GROWTH)


async def _listed(database: Database) -> dict[str, Document]:
    """Return the search indexes of the facts by name."""
    answer = await _command(
        database,
        {"aggregate": COLLECTION, "pipeline": [{"$listSearchIndexes": {}}], "cursor": {}},
    )
    return {one["name"]: one for one in answer["cursor"]["firstBatch"]}


async def _command(database: Database, command: Document) -> Document:
    """Send a command about search indexes.

    Raises:
        SearchUnavailable: The server does not know it.
    """
    operation = next(iter(command))

    async def send(_: object) -> Document:
        with translated(operation):
            answer: Document = await database.raw.command(command)
            return answer

    try:
        return await database.read(operation, send)
    except TierRejected as error:
        cause = error.__cause__
        if isinstance(cause, OperationFailure) and cause.code in _NO_SEARCH:
            raise SearchUnavailable(operation) from cause
        raise
