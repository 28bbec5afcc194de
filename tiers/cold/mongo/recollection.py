"""Reads around and behind the hits of a search, in MongoDB."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Coroutine, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from bson import ObjectId

from ...documents import Passage
from ...errors import UsageError
from ...forms import entry_of, hit_of
from ...lexical import content_words
from ...moments import microseconds
from ...recollection import Said, WordStatistics
from ...records import Fact, Hit, Kind, Scope, SearchQuery, Summary, Turn
from ...terms import term_of
from ..ownership import check_limit
from .beliefs import bring_up_to_date
from .believed import Ended, ended_beliefs
from .conditions import kept, shown_fields, standing_at, stored_kinds
from .database import Database, Session
from .documents import Document, record_of
from .scope import own, visible
from .together import both, together
from .word_counts import having, totals_of
from .word_search import QUERY_WORDS_MAX

IDS_MAX, TURNS_EACH_WAY_MAX = 200, 16

Place: TypeAlias = tuple[int, ObjectId]
"""Where a turn stands in the order of recording."""

_TURNS = "turns"
_PLACED = ("recorded_at", "_id")


class MongoRecollection:
    """A ``Recollection`` over the MongoDB stores."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def around(
        self,
        scope: Scope,
        turn_ids: Sequence[str],
        before: int,
        after: int,
        *,
        as_of: datetime | None = None,
    ) -> tuple[tuple[Said, ...], ...]:
        """Return the stretches of conversation around turns of the scope's own graph.

        Runs of visible, unredacted turns in the order of recording, oldest first; stretches that
        touch or overlap are one. Three commands, however many turns are asked for.

        Raises:
            UsageError: More than ``IDS_MAX`` ids, or more turns each way than
                ``TURNS_EACH_WAY_MAX``.
        """
        ids = list(dict.fromkeys(turn_ids))
        _check_around(ids, before, after)
        by_then = {} if as_of is None else {"recorded_at": {"$lte": microseconds(as_of)}}
        where = visible(scope, redacted_at=None)

        async def question(session: Session) -> tuple[tuple[Said, ...], ...]:
            turns = session.collection(_TURNS)
            asked = await turns.find(where | by_then | {"id": {"$in": ids}}, fields=_PLACED)
            places = sorted(_place(one) for one in asked)
            if not places:
                return ()
            near = await turns.aggregate(_neighbours(where, by_then, places, before, after))
            order = sorted({*places, *map(_place, near)})
            runs = _runs(order, places, before, after)
            wanted = [row for run in runs for _, row in run]
            found = await turns.find(
                where | {"_id": {"$in": wanted}}, fields=[*shown_fields(Turn), "_id"]
            )
            said = {one["_id"]: _said(record_of(Turn, one)) for one in found}
            stretches = (tuple(said[row] for _, row in run if row in said) for run in runs)
            return tuple(stretch for stretch in stretches if stretch)

        return await self._database.read("around", question)

    async def speakers(self, scope: Scope, limit: int) -> tuple[str, ...]:
        """Return different speakers of the graph's turns, whoever may see them, by name.

        Out of an index alone, which has the turns of each speaker together.
        """
        check_limit(limit)

        async def question(session: Session) -> tuple[str, ...]:
            found = await session.collection(_TURNS).aggregate(
                [
                    {"$match": own(scope, said_by={"$gt": ""})},
                    {"$group": {"_id": "$said_by"}},
                    {"$sort": {"_id": 1}},
                    {"$limit": limit},
                ]
            )
            return tuple(one["_id"] for one in found)

        return await self._database.read("speakers", question)

    async def word_statistics(
        self, scope: Scope, text: str, kinds: Sequence[Kind]
    ) -> WordStatistics:
        """Return how many records of the scope's own graph have each content word of a text.

        Of the first ``QUERY_WORDS_MAX`` words; outputs of tools are counted as turns.
        """
        terms = {word: term_of(word) for word in content_words(text)[:QUERY_WORDS_MAX]}
        stored = stored_kinds(kinds)

        async def question(session: Session) -> WordStatistics:
            asked = list(dict.fromkeys(filter(None, terms.values())))
            counts, totals = await both(
                having(session, scope, stored, asked), totals_of(session, scope, stored)
            )
            found = {
                word: sum(of_kind.get(term, 0) for of_kind in counts.values())
                for word, term in terms.items()
            }
            return WordStatistics(totals.records, found)

        return await self._database.read("word_statistics", question)

    async def ended(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return visible records that were live at ``query.as_of`` and are not any more.

        Most recently ended first, then by id; their scores are 0. Only the scope's own graph is
        looked at.
        """
        at = query.as_of
        if at is None or query.inherited:
            return ()
        last_seq = 0
        if "belief" in query.kinds:
            last_seq = await bring_up_to_date(self._database, scope, "ended")

        async def question(session: Session) -> tuple[Hit, ...]:
            questions: list[Coroutine[Any, Any, list[Ended]]] = []
            if "fact" in query.kinds:
                questions.append(_ended_facts(session, scope, query, at))
            if "summary" in query.kinds:
                questions.append(_ended_summaries(session, scope, query, at))
            if "document" in query.kinds:
                questions.append(_ended_passages(session, scope, query, at))
            if "belief" in query.kinds:
                questions.append(ended_beliefs(session, scope, query, at, last_seq))
            found = [one for of_kind in await together(questions) for one in of_kind]
            found.sort(key=lambda one: (-one.at, one.record.id))
            return tuple(hit_of(one.record, 0.0, scope.graph_id) for one in found[: query.limit])

        return await self._database.read("ended", question)


def _check_around(ids: Sequence[str], before: int, after: int) -> None:
    if len(ids) > IDS_MAX:
        raise UsageError("turn_ids", len(ids), f"at most {IDS_MAX} ids")
    for name, number in (("before", before), ("after", after)):
        if not 0 <= number <= TURNS_EACH_WAY_MAX:
            raise UsageError(name, number, f"0 to {TURNS_EACH_WAY_MAX}")


def _place(document: Document) -> Place:
    return document["recorded_at"], document["_id"]


def _said(turn: Turn) -> Said:
    entry = entry_of(turn)
    return Said(
        id=turn.id,
        agent_id=turn.agent_id,
        user_id=turn.user_id,
        speaker=entry.speaker,
        text=entry.text,
        occurred_at=turn.occurred_at,
        recorded_at=turn.recorded_at,
    )


def _neighbours(
    where: Document, by_then: Document, places: Sequence[Place], before: int, after: int
) -> list[Document]:
    """Return the pipeline that finds the places next to some, a leg for each and either way.

    One more behind each than is wanted: it tells whether the stretch that follows is the next.
    """
    legs: list[list[Document]] = []
    for at, row in places:
        later: Document = {"$gte": at} | by_then.get("recorded_at", {})
        legs.append(_leg(where, at, row, "$gt", later, 1, after + 1))
        if before:
            legs.append(_leg(where, at, row, "$lt", {"$lte": at}, -1, before))
    first, *others = legs
    return [*first, *({"$unionWith": {"coll": _TURNS, "pipeline": leg}} for leg in others)]


def _leg(
    where: Document,
    at: int,
    row: ObjectId,
    beyond: str,
    span: Document,
    way: int,
    limit: int,
) -> list[Document]:
    """Return the stages that find the nearest places on one side of a place.

    ``span`` bounds the index; of the turns of the same moment the condition leaves those out that
    lie on the other side.
    """
    side: list[Document] = [{"recorded_at": {beyond: at}}, {"_id": {beyond: row}}]
    return [
        {"$match": where | {"recorded_at": span, "$or": side}},
        {"$sort": dict.fromkeys(_PLACED, way)},
        {"$limit": limit},
        {"$project": dict.fromkeys(_PLACED, 1)},
    ]


def _runs(
    order: Sequence[Place], places: Sequence[Place], before: int, after: int
) -> list[list[Place]]:
    """Return the stretches around some places, of an order that has all that is next to them."""
    runs: list[list[Place]] = []
    end = 0
    for place in places:
        at = bisect_left(order, place)
        start, stop = max(0, at - before), min(len(order), at + after + 1)
        if runs and start <= end:
            runs[-1] += order[end:stop]
        else:
            runs.append(list(order[start:stop]))
        end = max(end, stop)
    return runs


async def _ended_facts(
    session: Session, scope: Scope, query: SearchQuery, at: datetime
) -> list[Ended]:
    """Return facts that stood at a moment and do not any more, those that ended last first.

    A fact that was superseded and forgotten after that ended when it was superseded: what is
    forgotten gives way to nothing.
    """
    later = {"$gt": microseconds(at)}
    ways: dict[str, Document] = {
        "superseded_at": {"superseded_at": later},
        "forgotten_at": {"superseded_by": None, "forgotten_at": later},
    }
    pages = await together(
        session.collection("facts").find(
            kept(scope, query, "fact", {"live": False}, condition, *standing_at(at)),
            sort=[(name, -1), ("id", 1)],
            limit=query.limit,
            fields=shown_fields(Fact),
        )
        for name, condition in ways.items()
    )
    return [
        Ended(one[name], record_of(Fact, one))
        for name, page in zip(ways, pages, strict=True)
        for one in page
    ]


async def _ended_summaries(
    session: Session, scope: Scope, query: SearchQuery, at: datetime
) -> list[Ended]:
    """Return summaries that had not expired at a moment and have by now, the last first."""
    span = {"$gt": microseconds(at), "$lte": microseconds(query.now)}
    found = await session.collection("summaries").find(
        kept(scope, query, "summary", {"expires_at": span}),
        sort=[("expires_at", -1), ("id", 1)],
        limit=query.limit,
        fields=shown_fields(Summary),
    )
    return [Ended(one["expires_at"], record_of(Summary, one)) for one in found]


async def _ended_passages(
    session: Session, scope: Scope, query: SearchQuery, at: datetime
) -> list[Ended]:
    """Return passages that were current at a moment and are not any more, the last first."""
    found = await session.collection("passages").find(
        kept(scope, query, "document", {"retired_at": {"$gt": microseconds(at)}}),
        sort=[("retired_at", -1), ("id", 1)],
        limit=query.limit,
        fields=shown_fields(Passage),
    )
    return [Ended(one["retired_at"], record_of(Passage, one)) for one in found]
