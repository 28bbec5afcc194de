"""What rolls up into what, and what is past its retention, in MongoDB."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from ...errors import TierTimeout, UsageError
from ...grains import MADE_OF, GrainCount, Made, Retirable, TurnMark
from ...moments import microseconds
from ...plans import AnyGrain
from ...records import Episode, Grain, Kind, Scope, Summary, WorkDraft
from ...upkeep import PAGE_ROWS_MAX, Page
from ..ownership import check_limit, check_whole_graph
from ..redaction import checked_retirement
from .conditions import shown_fields
from .coverage import MADE_OF_IT, make_up_for_children
from .database import Database, Session
from .documents import Document, record_of
from .erasure import count_gained
from .log import audit_key
from .retirement import Emptied, Retirement, finish_retirements
from .scope import own
from .standing import Stands, stand_ins, stand_ins_of_turns, stand_ins_of_weeks
from .together import together
from .translation import DuplicateKey

ATTEMPTS_MAX = 100
PAGE_ROWS = 500
PAGES_MAX = 10_000
"""Of candidates for retirement in one answer; nearly all that is past its retention is one."""

_LOST = ("redacted_at", "retired_at")
_TURN_FIELDS = ("id", "agent_id", "seq", "occurred_at", "covered", *_LOST)
_MADE_FIELDS = ("id", "agent_id", "starts_at", "ends_at", "made_by", "lost", "loose_for", *_LOST)


class _Candidates(NamedTuple):
    """Records of which some may be past their retention.

    Attributes:
        kind: What they are.
        collection: Where.
        moment: The field by which they are.
        where: What holds of those that may be.
        standing: Returns what stands for those among a page that something stands for.
    """

    kind: Kind
    collection: str
    moment: str
    where: Document
    standing: Callable[[Session, Scope, Sequence[Document]], Awaitable[Stands]]


class MongoGrainStore:
    """A ``GrainStore`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def loose(
        self, scope: Scope, grain: Grain, before: datetime, limit: int
    ) -> tuple[Summary | Episode, ...]:
        """Return what an episode of this grain is made of and that is in none of it yet.

        Level-0 summaries for ``daily``, else episodes of the grain that ``MADE_OF`` names, of
        every agent, user and topic, that began before ``before``; oldest first, ties by id, at
        most ``limit``. Redacted and retired ones are left out.

        Raises:
            UsageError: The scope is an agent's, or the limit out of range.
            TierTimeout: Others made episodes of them again and again.
        """
        check_whole_graph(scope)
        check_limit(limit)
        of_summaries = MADE_OF[grain] == "working"
        collection = "summaries" if of_summaries else "episodes"
        model: type[Summary | Episode] = Summary if of_summaries else Episode
        began = {"$lt": microseconds(before)}
        where = own(scope, loose_for=grain, redacted_at=None, starts_at=began)

        async def question(session: Session) -> tuple[Summary | Episode, ...]:
            for _ in range(ATTEMPTS_MAX):
                found = await session.collection(collection).find(
                    where,
                    sort=[("starts_at", 1), ("id", 1)],
                    limit=limit,
                    fields=shown_fields(model),
                )
                if not found or not await make_up_for_children(session, scope, found, grain):
                    return tuple(record_of(model, document) for document in found)
            raise TierTimeout("cold", "loose", "others consolidated them again and again")

        return await self._database.read("loose", question)

    async def turn_marks(self, scope: Scope, cursor: str, limit: int) -> Page[TurnMark]:
        """Return every turn of the graph, agent by agent in order, redacted and retired ones too.

        Raises:
            UsageError: The scope is an agent's, the limit out of range, or no page gave the cursor.
        """
        check_whole_graph(scope)
        check_limit(limit, PAGE_ROWS_MAX)
        after = _place(cursor, str, int)
        where = own(scope)
        if after is not None:
            agent_id, seq = after
            where["agent_id"] = {"$gte": agent_id}
            where["$or"] = [{"agent_id": {"$gt": agent_id}}, {"seq": {"$gt": seq}}]

        async def question(session: Session) -> Page[TurnMark]:
            found = await session.collection("turns").find(
                where, sort=[("agent_id", 1), ("seq", 1)], limit=limit + 1, fields=_TURN_FIELDS
            )
            rows = tuple(record_of(TurnMark, one, **_lost(one)) for one in found[:limit])
            last = rows[-1] if len(found) > limit else None
            return Page[TurnMark](
                rows=rows, cursor=None if last is None else _cursor(last.agent_id, last.seq)
            )

        return await self._database.read("turn_marks", question)

    async def made(self, scope: Scope, cursor: str, limit: int) -> Page[Made]:
        """Return every level-0 summary, then every episode, redacted and retired ones included.

        Raises:
            UsageError: As for ``turn_marks``.
        """
        check_whole_graph(scope)
        check_limit(limit, PAGE_ROWS_MAX)
        place = _place(cursor, int, str)
        number, after = (0, "") if place is None else place
        parts = [("summaries", own(scope, level=0)), ("episodes", own(scope))]
        if not 0 <= number < len(parts):
            raise _no_cursor(cursor)

        async def question(session: Session) -> Page[Made]:
            found: list[tuple[int, Document]] = []
            for part in range(number, len(parts)):
                collection, where = parts[part]
                beyond = {"id": {"$gt": after if part == number else ""}}
                found += [
                    (part, one)
                    for one in await session.collection(collection).find(
                        where | beyond,
                        sort=[("id", 1)],
                        limit=limit + 1 - len(found),
                        fields=(*_MADE_FIELDS, "covers", "children", "grain", "period"),
                    )
                ]
                if len(found) > limit:
                    break
            rows = tuple(_made(one) for _, one in found[:limit])
            is_last = len(found) <= limit
            cut = None if is_last else _cursor(found[limit - 1][0], rows[-1].id)
            return Page[Made](rows=rows, cursor=cut)

        return await self._database.read("made", question)

    async def retirable(
        self, scope: Scope, grain: AnyGrain, before: datetime, limit: int
    ) -> tuple[Retirable, ...]:
        """Return records of a grain that are past their retention and have a stand-in.

        Of ``working``, turns and their level-0 summaries that were recorded before ``before`` and
        whose turns are in a daily episode; of other grains, episodes that ended before it and all
        of whose content is in every grain that ``MADE_OF`` makes of it; a ``weekly`` one whose
        days are all in a monthly one; a ``yearly`` one in any case. A stand-in must not be
        redacted; one that was retired in its turn stands by what stands for it. Redacted and
        retired records are left out. Of ``working`` in the order in which they were recorded, of
        other grains in that in which they began; ties by id, at most ``limit``.

        What a retirement that was cut off has left to be done is done before.

        Raises:
            UsageError: The scope is an agent's, or the limit out of range.
        """
        check_whole_graph(scope)
        check_limit(limit)
        await self._finish_retirements(scope)
        found: list[tuple[int, Retirable]] = []
        at = microseconds(before)
        for candidates in _candidates(scope, grain, at):
            found += await self._retirable_among(scope, candidates, at, limit)
        found.sort(key=lambda one: (one[0], one[1].id))
        return tuple(one for _, one in found[:limit])

    async def count_grain(self, scope: Scope, grain: AnyGrain) -> GrainCount:
        """Return how many records of a grain the graph has; of ``working``, turns and summaries.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope)
        # ``covered`` says nothing here: named, it lets an index count those with their content.
        places: Sequence[tuple[str, Document]] = (
            [("turns", {"covered": {"$in": [False, True]}}), ("summaries", {"level": 0})]
            if grain == "working"
            else [("episodes", {"grain": grain})]
        )

        async def question(session: Session) -> GrainCount:
            counts = await together(
                session.collection(collection).count(own(scope, **where, **having))
                for having in (Document(), Document(redacted_at=None))
                for collection, where in places
            )
            return GrainCount(total=sum(counts[: len(places)]), live=sum(counts[len(places) :]))

        return await self._database.read("count_grain", question)

    async def retire(
        self,
        scope: Scope,
        ids: Sequence[str],
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> tuple[str, ...]:
        """Destroy the content of turns, summaries, episodes and facts for good; return which.

        Nothing that was made of them changes. What is redacted or retired already is passed over;
        if all is, nothing is written. One transaction on a replica set; on a standalone server
        repeating the call, or any other of the graph, finishes what was begun.

        Raises:
            UsageError: The scope is an agent's, ``reason`` is blank, or there are more than
                ``RETIRED_PER_CALL_MAX`` ids.
            TierTimeout: Others were first again and again.
        """
        check_whole_graph(scope)
        asked = checked_retirement(ids, reason)
        retirement = Retirement(scope, asked, reason, now, work)

        async def counted(session: Session, done: Emptied) -> None:
            await count_gained(session, scope, done.gained)

        for _ in range(ATTEMPTS_MAX):
            try:
                done = await self._database.step(
                    "retire", retirement.carry_out, alone=audit_key(scope.tenant), counted=counted
                )
            except DuplicateKey:
                continue  # somebody else empties some of them, or appended to the feed
            return done.ids
        raise TierTimeout("cold", "retire", "others were first again and again")

    async def _finish_retirements(self, scope: Scope) -> None:
        if self._database.server.has_transactions:
            return

        async def question(session: Session) -> int:
            return await session.collection("retirements").count(own(scope))

        if await self._database.read("retirable", question):
            gained = await self._database.write(
                "retirable",
                lambda session: finish_retirements(session, scope),
                alone=audit_key(scope.tenant),
            )
            await self._database.write(
                "retirable", lambda session: count_gained(session, scope, gained)
            )

    async def _retirable_among(
        self, scope: Scope, candidates: _Candidates, before: int, limit: int
    ) -> list[tuple[int, Retirable]]:
        """Return the first candidates that something stands for, each with its moment.

        Page by page, each within the time of a question, until there are enough.
        """
        kind, moment = candidates.kind, candidates.moment
        where: Document = candidates.where | {moment: {"$lt": before}}
        found: list[tuple[int, Retirable]] = []
        for _ in range(PAGES_MAX):

            async def question(
                session: Session, where: Document = where
            ) -> tuple[list[Document], Stands]:
                page = await session.collection(candidates.collection).find(
                    where,
                    sort=[(moment, 1), ("id", 1)],
                    limit=PAGE_ROWS,
                    fields=("id", moment, "children"),
                )
                return page, await candidates.standing(session, scope, page)

            page, standing = await self._database.read("retirable", question)
            found += [
                (one[moment], Retirable(kind=kind, id=one["id"], replaced_by=standing[one["id"]]))
                for one in page
                if one["id"] in standing
            ]
            if len(page) < PAGE_ROWS or len(found) >= limit:
                return found[:limit]
            at, last = page[-1][moment], page[-1]["id"]
            later: list[Document] = [{moment: {"$gt": at}}, {"id": {"$gt": last}}]
            where = candidates.where | {moment: {"$gte": at, "$lt": before}, "$or": later}
        raise TierTimeout("cold", "retirable", f"more than {PAGES_MAX} pages of records")


def _candidates(scope: Scope, grain: AnyGrain, before: int) -> Iterable[_Candidates]:
    """Return what may be retired of a grain: what has its content and is past its retention."""

    async def standing(session: Session, scope: Scope, page: Sequence[Document]) -> Stands:
        return await stand_ins(session, scope, grain, [one["id"] for one in page])

    if grain == "working":
        covered = own(scope, covered=True, redacted_at=None)
        yield _Candidates("turn", "turns", "recorded_at", covered, stand_ins_of_turns)
        whole = own(scope, redacted_at=None, level=0)
        yield _Candidates("summary", "summaries", "recorded_at", whole, standing)
    else:
        # What ended before a moment began before it.
        ended = own(scope, grain=grain, redacted_at=None, ends_at={"$lt": before})
        how = stand_ins_of_weeks if grain == "weekly" else standing
        yield _Candidates("episode", "episodes", "starts_at", ended, how)


def _made(document: Document) -> Made:
    is_summary = "covers" in document
    known: dict[str, Any] = _lost(document)
    known["sources"] = document["covers" if is_summary else "children"]
    if is_summary:
        known["grain"] = "working"
    grain: AnyGrain = "working" if is_summary else document["grain"]
    loose = document["loose_for"]
    known["told_in"] = tuple(sorted(one for one in MADE_OF_IT[grain] if one not in loose))
    return record_of(Made, document, **known)


def _lost(document: Document) -> dict[str, Any]:
    """Return how a record lost its content; what retention has emptied was not redacted."""
    is_retired = document.get("retired_at") is not None
    is_redacted = document.get("redacted_at") is not None
    return {"redacted": is_redacted and not is_retired, "retired": is_retired}


def _cursor(*places: str | int) -> str:
    return json.dumps(places, ensure_ascii=False)


def _place(cursor: str, *kinds: type) -> tuple[Any, ...] | None:
    """Return what a page comes after; ``None`` for the first.

    Raises:
        UsageError: No page gave the cursor.
    """
    if not cursor:
        return None
    try:
        places = json.loads(cursor)
    except (ValueError, RecursionError) as error:
        raise _no_cursor(cursor) from error
    if not isinstance(places, list) or [type(place) for place in places] != list(kinds):
        raise _no_cursor(cursor)
    return tuple(places)


def _no_cursor(cursor: str) -> UsageError:
    return UsageError("cursor", cursor, "the cursor of a page, or an empty one to begin")
