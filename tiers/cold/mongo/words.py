"""Word search over everything in the cold tier, and what a graph holds."""

from __future__ import annotations

from collections.abc import Sequence

from ...forms import entry_of, hit_of
from ...records import Hit, IndexEntry, Kind, Owned, Scope, SearchQuery
from ..ownership import in_order
from .beliefs import bring_up_to_date
from .conditions import SHELVES, shown_fields
from .database import Database, Session
from .documents import Document, record_of
from .scope import own, visible
from .together import both, together
from .word_search import ranked_words, waiting_for_index
from .work_items import count_work

_LIVE: Document = {"live": {"$ne": False}}

_COUNTS: tuple[tuple[str, str, dict[str, object]], ...] = (
    ("turns", "turns", {}),
    ("covered_turns", "turns", {"covered": True}),
    ("summaries", "summaries", {}),
    ("episodes", "episodes", {}),
    ("facts_core", "facts", {"tier": "core", "live": True}),
    ("facts_archival", "facts", {"tier": "archival", "live": True}),
    ("rules", "rules", {}),
    ("beliefs", "beliefs", {"active": True}),
    ("documents", "documents", {"removed_at": None, "redacted_at": None}),
    ("passages", "passages", {"live": True, "redacted_at": None}),
)


class MongoLexicalIndex:
    """A ``LexicalIndex`` over the MongoDB stores."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search_words(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return visible records of the asked kinds by BM25, best first, ties by id.

        Only the scope's own graph is searched, and only its word statistics count. A question
        without words, of meaning alone, or to the ancestors (``query.inherited``), finds nothing.
        ``query.vector`` is not used. With ``query.as_of`` also facts and summaries that have
        ended since, and of the beliefs those that were active then and are now.
        """
        if "belief" in query.kinds:
            await bring_up_to_date(self._database, scope, "search_words")

        async def question(session: Session) -> tuple[Hit, ...]:
            found = await ranked_words(session, scope, query)
            ids = [one.id for one in found]
            kinds: list[Kind] = list(dict.fromkeys(one.kind for one in found))
            live = _LIVE if query.as_of is None else {}
            records, waiting = await both(
                _among(session, scope, kinds, ids, live),
                waiting_for_index(session, scope, ids),
            )
            hits = (
                hit_of(records[one.id], one.score, scope.graph_id)
                for one in found
                if one.id in records
            )
            return tuple(
                hit.model_copy(update={"words_only": True}) if hit.id in waiting else hit
                for hit in hits
            )

        return await self._database.read("search_words", question)

    async def entries(self, scope: Scope, ids: Sequence[str]) -> tuple[IndexEntry, ...]:
        """Return the searchable forms, without vectors, of the visible records among ``ids``.

        Superseded, forgotten, redacted and unknown records are left out; in the order asked, each
        once.
        """
        if not ids:
            return ()
        await bring_up_to_date(self._database, scope, "entries")

        async def question(session: Session) -> tuple[IndexEntry, ...]:
            records = await _among(session, scope, list(SHELVES), ids, _LIVE)
            entries = {record_id: entry_of(record) for record_id, record in records.items()}
            return in_order(entries, ids)

        return await self._database.read("entries", question)

    async def census(self, scope: Scope) -> dict[str, int]:
        """Return what the scope's graph holds, by name.

        Names: turns, covered_turns, summaries, episodes, facts_core, facts_archival, rules,
        beliefs, documents, passages, waiting_work. Facts that are not live, beliefs that are over,
        documents that were removed and parked work are not counted.
        """
        await bring_up_to_date(self._database, scope, "census")

        async def question(session: Session) -> dict[str, int]:
            counts = await together(
                session.collection(name).count(own(scope, **more)) for _, name, more in _COUNTS
            )
            work = await count_work(session, scope)
            waiting = sum(work.values()) - work["parked"]
            names = [name for name, _, _ in _COUNTS]
            return dict(zip(names, counts, strict=True)) | {"waiting_work": waiting}

        return await self._database.read("census", question)


async def _among(
    session: Session, scope: Scope, kinds: Sequence[Kind], ids: Sequence[str], live: Document
) -> dict[str, Owned]:
    """Return the visible records of some kinds among ``ids`` that have their content, by id."""
    found = await together(_of_kind(session, scope, kind, ids, live) for kind in kinds)
    return {record.id: record for of_kind in found for record in of_kind}


async def _of_kind(
    session: Session, scope: Scope, kind: Kind, ids: Sequence[str], live: Document
) -> list[Owned]:
    collection, model = SHELVES[kind]
    where = visible(scope, id={"$in": list(ids)}, redacted_at=None) | live
    found = await session.collection(collection).find(where, fields=shown_fields(model))
    return [record_of(model, document) for document in found]
