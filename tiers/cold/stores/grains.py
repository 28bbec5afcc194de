"""Time grains: what is in no episode yet, who was counted where, what is past its retention.

A record whose content retention may take, or has taken, stands by its parents: the episodes of
each grain that its own grain makes. A parent that was redacted on request stands for nothing; one
that retention has emptied stands by its own parents. A week is made into nothing: its days are in
months.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Literal, TypeAlias

from ...grains import MADE_OF, RETIRED_PER_CALL_MAX, GrainCount, Made, Retirable, TurnMark
from ...moments import microseconds
from ...plans import ANY_GRAIN, AnyGrain
from ...records import Episode, Grain, Scope, Summary, WorkDraft
from ...upkeep import PAGE_ROWS_MAX, Page
from ..conditions import Condition, Is, Present, Within
from ..cursors import cursor_of, cut, place_of
from ..ownership import check_whole_graph
from ..port import Find, Steps, every
from ..redaction import checked_request
from .episodes import EPISODES, SUMMARIES, KeptEpisode, KeptSummary, child_keys, episodes_of
from .erasure import retire
from .questions import numbers, own, page_of, whole, window
from .rows import all_bare
from .store_base import OverEngine, reading
from .turns import NUMBERED, TURNS, KeptTurn

PAGE_ROWS = 500
"""Candidates for retirement that are looked at together; nearly all of them are due."""

_WORKING = Is("level", 0)
"""Holds of the summaries that a daily episode is made of."""

_OF_THE_SAME = "the cursor of a page of the same question"


class GrainStore(OverEngine):
    """What rolls up into what, and what is past its retention."""

    async def loose(
        self, scope: Scope, grain: Grain, before: datetime, limit: int
    ) -> tuple[Summary | Episode, ...]:
        """Return what an episode of this grain is made of and that is in none of it yet.

        Level-0 summaries for ``daily``, else episodes of the grain that ``MADE_OF`` names, of
        every agent, user and topic, that began before ``before``; oldest first, ties by id, at
        most ``limit``. Redacted and retired ones are left out.

        Raises:
            UsageError: The scope is an agent's, or the limit out of range.
        """
        check_whole_graph(scope, limit)
        where = window("starts_at", None, before)
        asking: dict[str, Any] = {"by": f"loose_{grain}", "where": where, "limit": limit}
        asking |= {"order": ("starts_at", "id"), "reach": "own"}
        if MADE_OF[grain] == "working":
            return all_bare(Summary, await self._all("loose", Find(SUMMARIES, scope, **asking)))
        return all_bare(Episode, await self._all("loose", Find(EPISODES, scope, **asking)))

    @reading
    def turn_marks(self, scope: Scope, cursor: str, limit: int) -> Steps[Page[TurnMark]]:
        """Return every turn of the graph, redacted and retired ones included.

        Agent by agent in the order of their ids, and there in the order of ``seq``; ``""`` begins.

        Raises:
            UsageError: The scope is an agent's, a limit out of range, or a cursor no page gave.
        """
        check_whole_graph(scope, limit, PAGE_ROWS_MAX)
        find = whole(TURNS, scope, "seq", NUMBERED, order=("agent_id", "seq"), limit=limit)
        rows, after = yield from page_of(find, cursor, _OF_THE_SAME)
        return Page(rows=tuple(map(_marked, rows)), cursor=after)

    @reading
    def made(self, scope: Scope, cursor: str, limit: int) -> Steps[Page[Made]]:
        """Return every level-0 summary and every episode, redacted and retired ones included.

        Episodes first, then summaries, each in the order of their ids; ``""`` begins.

        Raises:
            UsageError: As of ``turn_marks``.
        """
        check_whole_graph(scope, limit, PAGE_ROWS_MAX)
        kind, after = place_of(cursor, (str, str), _OF_THE_SAME) or ("", "")
        found: list[KeptEpisode | KeptSummary] = []
        if kind != "summary":
            episodes = whole(EPISODES, scope, "id", order=("id",), limit=limit + 1)
            found += yield from every(episodes.behind((after,)))
        if len(found) <= limit:
            room = limit + 1 - len(found)
            summaries = whole(SUMMARIES, scope, "level", _WORKING, order=("id",), limit=room)
            found += yield from every(summaries.behind((after if kind == "summary" else "",)))
        rows, end = cut(found, limit, lambda one: cursor_of((_kind_of(one), one.id)))
        return Page(rows=tuple(map(_counted, rows)), cursor=end)

    async def retirable(
        self, scope: Scope, grain: AnyGrain, before: datetime, limit: int
    ) -> tuple[Retirable, ...]:
        """Return records of a grain that are past their retention and have a stand-in.

        Of ``working``, turns and their level-0 summaries that were recorded before ``before`` and
        whose turns are in a daily episode; of other grains, episodes that ended before it and all
        of whose content is in every grain that ``MADE_OF`` makes of it (``daily``: in a weekly
        and a monthly one); a ``weekly`` one whose days are all in a monthly one; a ``yearly`` one
        in any case. A stand-in must not be redacted; one that was retired in its turn stands by
        what stands for it. Redacted and retired records are left out. Oldest first, ties by id,
        at most ``limit``.

        Raises:
            UsageError: The scope is an agent's, or the limit out of range.
        """
        check_whole_graph(scope, limit)
        found: list[tuple[int, Retirable]] = []
        for kind, find in _candidates(scope, grain, microseconds(before)):
            found += await self._retirable_among(kind, find, limit)
        found.sort(key=lambda one: (one[0], one[1].id))
        return tuple(one for _, one in found[:limit])

    async def count_grain(self, scope: Scope, grain: AnyGrain) -> GrainCount:
        """Return how many records of a grain the graph has; of ``working``, turns and summaries.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope)
        all_: list[Find[Any]]
        full: list[Find[Any]]
        if grain == "working":
            all_ = [whole(TURNS, scope, "id"), whole(SUMMARIES, scope, "level", _WORKING)]
            full = [whole(TURNS, scope, "full"), whole(SUMMARIES, scope, "old")]
        else:
            all_ = [whole(EPISODES, scope, "grain", Is("grain", grain))]
            full = [all_[0]._replace(by="full_grain")]
        counted = await self._store.read("count_grain", lambda: numbers(*all_, *full))
        return GrainCount(total=sum(counted[: len(all_)]), live=sum(counted[len(all_) :]))

    async def retire(
        self,
        scope: Scope,
        ids: Sequence[str],
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> tuple[str, ...]:
        """Destroy the content of turns, summaries, episodes and facts for good; return which.

        Nothing that was made of them changes: that is what stays. Texts become ``[retired]``,
        subject, predicate, object, speaker and tool outputs go, so does the user; ``retired_at``
        and ``redacted_at`` are set; words leave the word index, and ``index`` work for each takes
        it out of the warm index. Rows, ids, ``seq``, coverage, children and chains stay. One audit
        event ``retired`` with the ids and the reason. What is redacted or retired already is
        passed over; if all is, nothing is written. All or nothing where the engine has
        transactions; otherwise repeating the call finishes what was begun.

        Raises:
            UsageError: The scope is an agent's, ``reason`` is blank, or there are more than
                ``RETIRED_PER_CALL_MAX`` ids.
            TierTimeout: It is all done, but the engine's log could not be emptied, which
                repeating does.
        """
        check_whole_graph(scope)
        asked_for = checked_request(ids, reason, RETIRED_PER_CALL_MAX, "ids")
        if not asked_for:
            return ()
        retired = await self._store.change(
            "retire", lambda: retire(scope, asked_for, reason, now, work), is_brief=False
        )
        await self._store.scrub()
        return retired

    async def _retirable_among(
        self, kind: Literal["turn", "summary", "episode"], first: Find[Any], limit: int
    ) -> list[tuple[int, Retirable]]:
        """Return the first candidates that something stands for, each with its moment.

        Page by page, each a question of its own, until there are enough.
        """
        found: list[tuple[int, Retirable]] = []
        find = first
        while True:
            page, standing = await self._store.read(
                "retirable", partial(_page_with_stand_ins, find)
            )
            places = [find.place(one) for one in page]
            found += [
                (at, Retirable(kind=kind, id=one_id, replaced_by=standing[one_id]))
                for at, one_id in places
                if one_id in standing
            ]
            if len(page) < PAGE_ROWS or len(found) >= limit:
                return found[:limit]
            find = first.behind(places[-1])


def _candidates(scope: Scope, grain: AnyGrain, before: int) -> Iterator[tuple[Any, Find[Any]]]:
    """Yield what may be retired of a grain: its kind, and the question for the first of it.

    It has its content and is past its retention.
    """
    asking: dict[str, Any] = {"limit": PAGE_ROWS, "reach": "own"}
    if grain == "working":
        recorded = ("recorded_at", "id")
        late = Within("recorded_at", until=before)
        turns: tuple[Condition, ...] = (Present("covered_by"), late)
        yield "turn", Find(TURNS, scope, "full", turns, recorded, **asking)
        due: tuple[Condition, ...] = (Present("daily"), late)
        yield "summary", Find(SUMMARIES, scope, "old", due, recorded, **asking)
        return
    where: tuple[Condition, ...] = (
        Is("grain", grain),
        # What ended before a moment began before it, which is what the index is in the order of.
        Within("starts_at", until=before),
        Within("ends_at", until=before),
        *map(Present, MADE_OF_IT[grain]),
    )
    began = ("starts_at", "id")
    yield "episode", Find(EPISODES, scope, "full_grain", where, began, **asking)


def _page_with_stand_ins(
    find: Find[Any],
) -> Steps[tuple[list[Candidate], Mapping[str, tuple[str, ...]]]]:
    page: list[Candidate] = yield from every(find)
    standing = yield from stand_ins(find.scope, page)
    return page, standing


def _marked(turn: KeptTurn) -> TurnMark:
    names = ("id", "agent_id", "seq", "occurred_at")
    known: dict[str, Any] = {name: getattr(turn, name) for name in names}
    return TurnMark(**known, covered=0 in turn.covered_by, **_how_gone(turn))


def _counted(record: KeptSummary | KeptEpisode) -> Made:
    names = ("id", "agent_id", "starts_at", "ends_at", "made_by", "lost")
    known: dict[str, Any] = {name: getattr(record, name) for name in names}
    known |= {"told_in": tuple(sorted(record.told_in)), **_how_gone(record)}
    if isinstance(record, KeptSummary):
        return Made(grain="working", sources=record.covers, **known)
    return Made(grain=record.grain, period=record.period, sources=record.children, **known)


def _how_gone(record: KeptTurn | KeptSummary | KeptEpisode) -> dict[str, bool]:
    """Return how a record lost its content; what retention has emptied was not redacted."""
    is_retired = record.retired_at is not None
    return {"redacted": record.redacted_at is not None and not is_retired, "retired": is_retired}


def _kind_of(record: KeptSummary | KeptEpisode) -> str:
    return "summary" if isinstance(record, KeptSummary) else "episode"


Candidate: TypeAlias = KeptTurn | KeptSummary | KeptEpisode
ToldIn: TypeAlias = Mapping[Grain, str]
Episodes: TypeAlias = Mapping[str, KeptEpisode]
Stands: TypeAlias = dict[str, tuple[str, ...]]
"""The records with their content that stand for others, by the ids of those; sorted."""

MADE_OF_IT: Mapping[AnyGrain, tuple[Grain, ...]] = {
    finer: tuple(grain for grain, made_of in MADE_OF.items() if made_of == finer)
    for finer in ANY_GRAIN
}
"""The grains that are made of a grain."""

_MONTHS: tuple[Grain, ...] = ("monthly",)


def stand_ins(scope: Scope, records: Sequence[Candidate]) -> Steps[Stands]:
    """Return what stands for those among some records of a graph that something stands for.

    They are all of one kind, and episodes all of one grain.
    """
    turns = [one for one in records if isinstance(one, KeptTurn)]
    weeks = [one for one in records if isinstance(one, KeptEpisode) and one.grain == "weekly"]
    if turns:
        return (yield from _of_turns(scope, turns))
    if weeks:
        return (yield from _of_weeks(scope, weeks))
    made = [one for one in records if not isinstance(one, KeptTurn)]
    return (yield from _of_made(scope, made))


def _of_made(scope: Scope, records: Sequence[KeptSummary | KeptEpisode]) -> Steps[Stands]:
    above = yield from _above(scope, [one.told_in for one in records])
    above_of = {
        one.id: _containing(MADE_OF_IT[_grain_of(one)], one.told_in, above) for one in records
    }
    return {one: ids for one, ids in above_of.items() if ids is not None}


def _of_turns(scope: Scope, turns: Sequence[KeptTurn]) -> Steps[Stands]:
    """A turn stands by the day of its summary. One whose summary was redacted is not told by it."""
    covered = {turn.id: turn.covered_by[0] for turn in turns if 0 in turn.covered_by}
    summaries = yield from every(own(SUMMARIES, scope, covered.values()))
    days = yield from _of_made(scope, [one for one in summaries if not _is_redacted(one)])
    return {turn: days[summary] for turn, summary in covered.items() if summary in days}


def _of_weeks(scope: Scope, weeks: Sequence[KeptEpisode]) -> Steps[Stands]:
    """A week may go once a month tells each of its days; nothing takes its place."""
    days = dict.fromkeys(day for week in weeks for day in week.children)
    months = yield from every(episodes_of(scope, child_keys("monthly", days)))
    told_in: dict[str, ToldIn] = {
        day: {"monthly": one.id} for one in months for day in one.children
    }
    above = yield from _above(scope, list(told_in.values()))
    monthly_days = {
        day for day in days if _containing(_MONTHS, told_in.get(day, {}), above) is not None
    }
    return {week.id: () for week in weeks if monthly_days.issuperset(week.children)}


def _above(scope: Scope, told_in: Sequence[ToldIn]) -> Steps[Episodes]:
    """Return the episodes that records are in, and those that emptied ones of these are in."""
    found: dict[str, KeptEpisode] = {}
    while told_in:
        wanted = {one for by_grain in told_in for one in by_grain.values()} - found.keys()
        new = yield from every(own(EPISODES, scope, sorted(wanted)))
        found |= {one.id: one for one in new}
        told_in = [one.told_in for one in new if one.retired_at is not None]
    return found


def _containing(
    grains: Sequence[Grain], told_in: ToldIn, above: Episodes
) -> tuple[str, ...] | None:
    """Return what tells a record now that is to be in an episode of each of some grains.

    ``None``: nothing does for one of them.
    """
    ids: set[str] = set()
    for grain in grains:
        holder = above.get(told_in.get(grain, ""))
        tells = None if holder is None else _tells(holder, above)
        if tells is None:
            return None
        ids.update(tells)
    return tuple(sorted(ids))


def _tells(episode: KeptEpisode, above: Episodes) -> tuple[str, ...] | None:
    if episode.redacted_at is None:
        return (episode.id,)
    if _is_redacted(episode):
        return None
    return _containing(MADE_OF_IT[episode.grain], episode.told_in, above)


def _grain_of(record: KeptSummary | KeptEpisode) -> AnyGrain:
    return "working" if isinstance(record, KeptSummary) else record.grain


def _is_redacted(record: KeptSummary | KeptEpisode) -> bool:
    """Whether a record lost its content on request."""
    return record.redacted_at is not None and record.retired_at is None
