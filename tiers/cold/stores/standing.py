"""What stands for records whose content retention may take, or has taken.

A record stands by its parents: the episodes of each grain that its own grain makes. A parent that
was redacted on request stands for nothing; one that retention has emptied stands by its own
parents. A week is made into nothing: its days are in months.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from ...grains import MADE_OF
from ...plans import ANY_GRAIN, AnyGrain
from ...records import Grain, Scope
from ..port import Steps, every
from .episodes import EPISODES, SUMMARIES, KeptEpisode, KeptSummary, episodes_of, parts
from .questions import own
from .turns import KeptTurn

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
    told = {one.id: _told(MADE_OF_IT[_grain_of(one)], one.told_in, above) for one in records}
    return {one: ids for one, ids in told.items() if ids is not None}


def _of_turns(scope: Scope, turns: Sequence[KeptTurn]) -> Steps[Stands]:
    """A turn stands by the day of its summary. One whose summary was redacted is not told by it."""
    covered = {turn.id: turn.covered_by[0] for turn in turns if 0 in turn.covered_by}
    summaries = yield from every(own(SUMMARIES, scope, covered.values()))
    days = yield from _of_made(scope, [one for one in summaries if not _is_redacted(one)])
    return {turn: days[summary] for turn, summary in covered.items() if summary in days}


def _of_weeks(scope: Scope, weeks: Sequence[KeptEpisode]) -> Steps[Stands]:
    """A week may go once a month tells each of its days; nothing takes its place."""
    days = dict.fromkeys(day for week in weeks for day in week.children)
    months = (yield from every(episodes_of(scope, parts("monthly", days)))) if days else []
    told_in: dict[str, ToldIn] = {
        day: {"monthly": one.id} for one in months for day in one.children
    }
    above = yield from _above(scope, list(told_in.values()))
    told = {day for day in days if _told(_MONTHS, told_in.get(day, {}), above) is not None}
    return {week.id: () for week in weeks if told.issuperset(week.children)}


def _above(scope: Scope, told_in: Sequence[ToldIn]) -> Steps[Episodes]:
    """Return the episodes that records are in, and those that emptied ones of these are in."""
    found: dict[str, KeptEpisode] = {}
    while told_in:
        wanted = {one for by_grain in told_in for one in by_grain.values()} - found.keys()
        new = (yield from every(own(EPISODES, scope, sorted(wanted)))) if wanted else []
        found |= {one.id: one for one in new}
        told_in = [one.told_in for one in new if one.retired_at is not None]
    return found


def _told(grains: Sequence[Grain], told_in: ToldIn, above: Episodes) -> tuple[str, ...] | None:
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
    return _told(MADE_OF_IT[episode.grain], episode.told_in, above)


def _grain_of(record: KeptSummary | KeptEpisode) -> AnyGrain:
    return "working" if isinstance(record, KeptSummary) else record.grain


def _is_redacted(record: KeptSummary | KeptEpisode) -> bool:
    """Whether a record lost its content on request."""
    return record.redacted_at is not None and record.retired_at is None
