"""The search index of Atlas over facts: what it is, making it, waiting until it answers.

Only Atlas and its local image have such. Any other server says so in one of a few ways, all of
which come out as ``SearchUnavailable``.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pymongo.errors import OperationFailure

from ...errors import ConfigError, TierRejected, TierTimeout, check_within
from ..stores.statements import FACTS
from .database import Database
from .rendering import EMBEDDING, EMBEDDING_MODEL, Document
from .translation import translated

VECTOR_INDEX = "facts_by_meaning"
COLLECTION = FACTS.name
SIMILARITY = "cosine"
DIMENSIONS_MAX = 8_192

FILTERS = (
    *("tenant", "graph_id", "topics", "private_to", "user_id"),
    *("tier", "live", EMBEDDING_MODEL),
)
"""Every field that a question filters by."""

_POLL_SECONDS_MIN, _POLL_SECONDS_MAX, _POLL_GROWTH = 0.05, 5.0, 1.5
_ANSWERS = frozenset(("READY", "STALE"))
_EXISTS = 68
# CommandNotFound, CommandNotSupported, SearchNotEnabled, an unknown stage, a stage for Atlas only.
_NO_SEARCH = frozenset((59, 115, 31082, 40324, 6047401))

Progress: TypeAlias = Callable[[str, str], None]
ArchivalWay: TypeAlias = Literal["words", "warm", "atlas vector"]
Outcome: TypeAlias = Literal["made", "updated", "there"]


class SearchUnavailable(TierRejected):
    """The server has no search indexes: it is neither Atlas nor Atlas's local image."""

    def __init__(self, operation: str) -> None:
        super().__init__("cold", operation, "this MongoDB server has no search indexes")


@dataclass(frozen=True)
class ArchivalPlan:
    """How archival facts are recalled, decided when the store is opened or its index ensured.

    Attributes:
        way: ``words`` by the words beside the records; ``warm`` by the warm engine; ``atlas
            vector`` by ``$vectorSearch``, and by words as well.
        dimensions: Length of the vectors that the server's index takes.
    """

    way: ArchivalWay
    dimensions: int | None = None

    @property
    def is_atlas(self) -> bool:
        """Whether the server's own search answers."""
        return self.way == "atlas vector"


@dataclass(frozen=True)
class SearchIndexReport:
    """What became of the search index.

    Attributes:
        num_dimensions: Length of the vectors.
        vector_index: Whether it was made, updated or there.
        waited_seconds: How long it took until it answered.
    """

    num_dimensions: int
    vector_index: Outcome
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
    ``ensure_search_index`` mends it.
    """
    otherwise = ArchivalPlan("warm" if has_warm else "words")
    try:
        found = await _listed(database)
    except SearchUnavailable:
        return otherwise
    vector = found.get(VECTOR_INDEX)
    if vector is None or not vector.get("queryable") or _missing_filters(vector):
        return otherwise
    dimensions = _dimensions(vector)
    return otherwise if dimensions is None else ArchivalPlan("atlas vector", dimensions)


async def ensure_search_index(
    database: Database,
    num_dimensions: int,
    *,
    timeout_seconds: float,
    update: bool,
    progress: Progress | None,
) -> SearchIndexReport:
    """Make the search index, or check the one that is there, and wait until it answers.

    Args:
        database: Where the facts are.
        num_dimensions: Length of the embedder's vectors.
        timeout_seconds: How long to wait in all.
        update: Whether an index that only lacks fields to filter by may be built again with them.
        progress: Called with the index's name and status, each time the server was asked.

    Raises:
        ConfigError: An index is there that does not fit; says what to do.
        SearchUnavailable: The server has no search.
        TierTimeout: It does not answer yet. It is being built on: asking again is harmless.
        UsageError: A number of dimensions that no index can have.
    """
    check_within("num_dimensions", num_dimensions, 1, DIMENSIONS_MAX)
    started = time.monotonic()
    outcome = await _ensured(database, num_dimensions, update=update)
    await _answering(database, started + timeout_seconds, progress)
    return SearchIndexReport(num_dimensions, outcome, time.monotonic() - started)


async def _ensured(database: Database, num_dimensions: int, *, update: bool) -> Outcome:
    known = (await _listed(database)).get(VECTOR_INDEX)
    if known is None:
        await _make(database, _definition(num_dimensions))
        return "made"
    better = _mended(known, num_dimensions)
    if better is None:
        return "there"
    if not update:
        raise ConfigError(f"search index {VECTOR_INDEX}", _advice(known))
    await _command(
        database, {"updateSearchIndex": COLLECTION, "name": VECTOR_INDEX, "definition": better}
    )
    return "updated"


def _definition(num_dimensions: int) -> Document:
    vector = {
        "type": "vector",
        "path": EMBEDDING,
        "numDimensions": num_dimensions,
        "similarity": SIMILARITY,
    }
    filters = [{"type": "filter", "path": path} for path in FILTERS]
    return {
        "name": VECTOR_INDEX,
        "type": "vectorSearch",
        "definition": {"fields": [vector, *filters]},
    }


def _mended(known: Document, num_dimensions: int) -> Document | None:
    """Return the definition with what it lacks, or ``None`` when it lacks nothing.

    Raises:
        ConfigError: No addition makes it fit.
    """
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


def _advice(known: Document) -> str:
    missing = ", ".join(_missing_filters(known))
    return (
        f"it lacks {missing}, without which a question cannot be kept to its scope; ensure "
        "the vector index with update=True, which builds it again while it goes on answering"
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


async def _make(database: Database, wanted: Document) -> None:
    try:
        await _command(database, {"createSearchIndexes": COLLECTION, "indexes": [wanted]})
    except TierRejected as error:
        cause = error.__cause__
        if not isinstance(cause, OperationFailure) or cause.code != _EXISTS:
            raise
        # Another process makes it at this moment; it is the same code, so it is the same index.


async def _answering(database: Database, deadline: float, progress: Progress | None) -> None:
    """Wait until the index answers questions by its latest definition."""
    pause = _POLL_SECONDS_MIN
    while True:
        found = (await _listed(database)).get(VECTOR_INDEX, {})
        status = found.get("status", "PENDING")
        if progress is not None:
            progress(VECTOR_INDEX, status)
        if status == "FAILED":
            raise TierRejected("cold", "ensure_vector_index", f"building {VECTOR_INDEX} failed")
        if status in _ANSWERS and found.get("queryable"):
            return
        if time.monotonic() + pause > deadline:
            reason = f"still being built: {VECTOR_INDEX} is {status}"
            raise TierTimeout("cold", "ensure_vector_index", reason)
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
