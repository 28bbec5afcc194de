"""Facts in MongoDB: those of any engine, and their vectors where the server searches by them.

The filter of a search by vectors is that of the port's own question, so it carries the whole scope:
Atlas filters while it searches, and nothing of another tenant, graph, topic, writer or user takes a
place among the nearest. What is superseded, forgotten or redacted is not ``live``.
"""

from __future__ import annotations

from collections.abc import Sequence

from bson.binary import Binary, BinaryVectorDtype
from pymongo import ASCENDING, UpdateOne

from ...concurrency import awaited
from ...errors import UsageError
from ...owned import check_owner
from ...ports import WarmStore
from ...records import IndexEntry, Scope, SearchQuery
from ...upkeep import RecordRef
from ..conditions import Absent, Is
from ..ownership import check_limit
from ..port import Find
from ..stores.facts import SemanticStore
from ..stores.recall import LIMIT_MAX, Ranking, asked_of
from ..stores.statements import FACTS
from . import search_index
from .database import Session
from .records import MongoRecordStore
from .rendering import EMBEDDING, EMBEDDING_MODEL, Document, where
from .schema import WITHOUT_VECTORS
from .translation import translated

CANDIDATES_MIN, CANDIDATES_PER_RESULT, CANDIDATES_MAX = 200, 20, 10_000
"""How many neighbours are looked at: 20 for each that is wanted is MongoDB's own advice for a
recall near that of exact search, 200 keeps short answers from being guesses, and 10,000 is the
most that the stage takes."""


def packed(vector: Sequence[float]) -> Binary:
    """Return a vector as it is stored and asked for: 32-bit floats, 4 bytes each.

    Both sides must be of one type. An array would take 11 to 14 bytes a number.
    """
    return Binary.from_vector(list(vector), BinaryVectorDtype.FLOAT32)


def embedded(vector: Sequence[float] | None, model_id: str) -> Document:
    """Return the change that gives a fact a vector, or notes that the model has none for it."""
    if vector is None:
        return {"$set": {EMBEDDING_MODEL: model_id}, "$unset": {EMBEDDING: ""}}
    return {"$set": {EMBEDDING: packed(vector), EMBEDDING_MODEL: model_id}}


def can_be_asked(query: SearchQuery) -> bool:
    """Whether the server's index can filter by all that a question is restricted to.

    It holds neither moments nor writers nor ids, and a topic that is asked for would stand beside
    those of the scope. Nor does it answer with one leg alone.
    """
    moments = (query.as_of, query.since, query.until)
    narrowed = (query.topics, query.all_topics, query.writer_id, query.ids)
    return not any((*moments, *narrowed)) and query.mode == "hybrid"


def by_meaning(
    asker: Scope, query: SearchQuery, vector: Sequence[float], model_id: str
) -> list[Document]:
    """Return the pipeline that finds the facts whose vectors are the nearest, best first."""
    candidates = max(CANDIDATES_MIN, query.limit * CANDIDATES_PER_RESULT)
    asked = where(Find(FACTS, asker, where=tuple(asked_of(query))))
    stage = {
        "index": search_index.VECTOR_INDEX,
        "path": EMBEDDING,
        "queryVector": packed(vector),
        "numCandidates": min(CANDIDATES_MAX, candidates),
        "limit": query.limit,
        "filter": _separated(asked | {EMBEDDING_MODEL: model_id}),
    }
    return [{"$vectorSearch": stage}, {"$project": {"_id": 0, "id": 1}}]


def _separated(asked: Document) -> Document:
    """Return a filter in which no path has two operators; those stand beside each other.

    The stage takes a part of the query language, and that is how its documentation writes it.
    """
    several = {path: value for path, value in asked.items() if _has_several(value)}
    rest: Document = {path: value for path, value in asked.items() if path not in several}
    apart = [
        {path: {operator: values}}
        for path, value in several.items()
        for operator, values in value.items()
    ]
    return rest | {"$and": [*rest.get("$and", ()), *apart]} if apart else rest


def _has_several(value: object) -> bool:
    return isinstance(value, dict) and len(value) > 1


BUILD_SECONDS_MAX = 600.0


class MongoSemanticStore(SemanticStore):
    """A ``SemanticStore`` in MongoDB that keeps the vectors of facts, for a server with search.

    A vector stands beside its fact, in the same document: what moves, ends or hides the fact is
    seen by the search at once, and redacting the fact takes the vector away with the text.

    Args:
        store: Where the facts are.
        archival_index: Finds archival facts by meaning where the server cannot.
        plan: How archival facts are recalled, from ``planned``; without one, not by the server.
    """

    def __init__(
        self,
        store: MongoRecordStore,
        archival_index: WarmStore | None = None,
        plan: search_index.ArchivalPlan | None = None,
    ) -> None:
        super().__init__(store, archival_index)
        self._database = store.database
        self._plan = plan or search_index.ArchivalPlan(
            "words" if archival_index is None else "warm"
        )

    @property
    def archival(self) -> search_index.ArchivalWay:
        """How archival facts are recalled: decided when the store was opened, or ensured since."""
        return self._plan.way

    @property
    def vector_length(self) -> int | None:
        """Length of the vectors that the server's search takes; ``None`` while it is not used."""
        return self._plan.dimensions if self._plan.is_atlas else None

    async def ensure_vector_index(
        self,
        num_dimensions: int,
        *,
        timeout_seconds: float = BUILD_SECONDS_MAX,
        update: bool = False,
        progress: search_index.Progress | None = None,
    ) -> search_index.SearchIndexReport:
        """Make or check the server's vector index over facts, wait until it answers, use it.

        Args:
            num_dimensions: Length of the embedder's vectors.
            timeout_seconds: How long to wait in all.
            update: Whether an index that only lacks fields to filter by may be built again with
                them, while it goes on answering.
            progress: Called with the index's name and status each time the server was asked.

        Raises:
            ConfigError: An index is there that does not fit; says what to do.
            SearchUnavailable: The server has no search; recall goes on as before.
            TierTimeout: It is still being built; asking again is harmless.
        """
        report = await search_index.ensure_search_index(
            self._database,
            num_dimensions,
            timeout_seconds=timeout_seconds,
            update=update,
            progress=progress,
        )
        self._plan = await search_index.planned(self._database, has_warm=self._index is not None)
        return report

    async def facts_without_vectors(
        self, tenant: str, model_id: str, limit: int
    ) -> tuple[RecordRef, ...]:
        """Return current facts of any graph that have not been through ``store_vectors``.

        With ``model_id``, that is; oldest first, at most ``limit``.
        """
        check_limit(limit, LIMIT_MAX)
        everyone = Scope.of_graph(tenant, tenant)
        live = (Is("live", 1), Absent("redacted_at"))
        waiting = where(Find(FACTS, everyone, where=live, reach="tenant"))
        waiting |= {EMBEDDING_MODEL: {"$ne": model_id}}

        async def question(session: Session) -> tuple[RecordRef, ...]:
            with translated("facts_without_vectors"):
                shown = dict.fromkeys(("graph_id", "id", "private_to"), 1)
                cursor = session.raw[FACTS.name].find(waiting, shown, limit=limit)
                cursor = cursor.sort([("_id", ASCENDING)]).hint(WITHOUT_VECTORS.document["name"])
                return tuple(map(_ref, await cursor.to_list(length=limit)))

        return await self._database.read("facts_without_vectors", question)

    async def store_vectors(
        self, scope: Scope, entries: Sequence[IndexEntry], model_id: str
    ) -> None:
        """Keep the vectors of the facts among ``entries``; other entries are passed over.

        A fact that was redacted meanwhile gets none: it would tell what was said.

        Raises:
            UsageError: An entry of another tenant or graph, or a vector of another length than
                the server's index takes. Nothing was written.
        """
        for entry in entries:
            check_owner(scope, entry, "entries")
            self._check_length(entry.vector)
        changes = [
            UpdateOne(_unredacted(scope, entry.id), embedded(entry.vector, model_id))
            for entry in entries
            if entry.kind == "fact"
        ]
        if not changes:
            return

        async def change(session: Session) -> None:
            with translated("store_vectors"):
                await session.raw[FACTS.name].bulk_write(changes, session=session.transaction)

        await self._database.step("store_vectors", change)

    async def _ranked(self, asker: Scope, query: SearchQuery) -> Ranking:
        """Return what ranks archival facts by meaning: the server's index where it can be asked.

        A question whose vector does not fit it, because another model is taking over, or that is
        about what it cannot filter by, is put to the warm index, or goes by words.
        """
        if not self._plan.is_atlas or not can_be_asked(query):
            return await super()._ranked(asker, query)
        if query.vector is None or query.model_id is None:
            return Ranking()
        if len(query.vector) != self._plan.dimensions:
            return await super()._ranked(asker, query)
        pipeline = by_meaning(asker, query, query.vector, query.model_id)

        async def question(session: Session) -> Ranking:
            with translated("recall_archival"):
                found = await awaited(session.raw[FACTS.name].aggregate(pipeline))
                rows = await found.to_list(length=query.limit)
            return Ranking(tuple(row["id"] for row in rows))

        return await self._database.read("recall_archival", question)

    def _check_length(self, vector: Sequence[float] | None) -> None:
        wanted = self._plan.dimensions
        if vector is not None and wanted is not None and len(vector) != wanted:
            raise UsageError("vector", f"{len(vector)} numbers", f"{wanted}, as in the index")


def _unredacted(scope: Scope, fact_id: str) -> Document:
    """Return the filter for a fact of the scope's graph, whoever may see it."""
    return where(Find(FACTS, scope, where=(Is("id", fact_id), Absent("redacted_at")), reach="own"))


def _ref(row: Document) -> RecordRef:
    return RecordRef(graph_id=row["graph_id"], id=row["id"], agent_id=row["private_to"] or None)
