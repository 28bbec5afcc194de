"""Conservation: at every grain, every turn is in exactly one record or in the tail. Counted.

Nothing that an engine promises is taken for granted: who covers whom is followed from record to
record, and turns, numbers and sources are counted.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from tiers.grains import MADE_OF, Made, TurnMark
from tiers.plans import ANY_GRAIN, AnyGrain
from tiers.records import Scope

from .pages import rows_of

if TYPE_CHECKING:
    from tiers.cold.stores import GrainStore

READINGS_MAX = 3
"""A graph that is written to meanwhile may look torn: what is wrong must be so more than once."""

_NAMED = 5


@dataclass(frozen=True)
class GrainConservation:
    """Where the turns of a graph are at one grain.

    Attributes:
        grain: Which.
        records: Summaries or episodes of it.
        covered: Turns that exactly one of them stands for.
        emptied: Turns that have not been redacted and of which nothing at this grain tells: what
            stood for them was redacted, and got no new text.
        tail: Turns that none of them stands for yet.
        twice: Ids of turns that more than one stands for, or one more than once.
        lost: Ids that they name as sources and that are no turns, or no records of the grain they
            are made of.
        stranded: Ids of turns, or of records of the finer grain, that the store takes for told
            and that none of them names: no pass would come back to them.
    """

    grain: AnyGrain
    records: int = 0
    covered: int = 0
    emptied: int = 0
    tail: int = 0
    twice: tuple[str, ...] = ()
    lost: tuple[str, ...] = ()
    stranded: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flagged:
    """A record whose text does not tell every statement of what it stands for.

    Attributes:
        id: Which.
        grain: Of which grain.
        lost: How many it does not tell.
    """

    id: str
    grain: AnyGrain
    lost: int


@dataclass(frozen=True)
class ConservationReport:
    """An account of every turn of a graph.

    Attributes:
        turns: How many there are, redacted and retired ones included.
        grains: Where they are, grain by grain, finest first.
        flagged: Records that lost statements of their turns.
        missing: How many turns are not there, by agent: their numbers count from 1 without gaps.
        doubled: Ids under which there is more than one turn, or more than one record.
    """

    turns: int
    grains: tuple[GrainConservation, ...]
    flagged: tuple[Flagged, ...] = ()
    missing: Mapping[str, int] = field(default_factory=dict)
    doubled: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every turn is accounted for at every grain."""
        return not self.problems

    @property
    def problems(self) -> tuple[str, ...]:
        """What is wrong, in words; a flagged text and a turn in the tail are not."""
        found = [
            f"agent {agent!r}: {count} turns are missing" for agent, count in self.missing.items()
        ]
        if self.doubled:
            found.append(f"{len(self.doubled)} ids are there twice: {_some(self.doubled)}")
        for one in self.grains:
            wrong = (
                (one.twice, "turns are covered more than once"),
                (one.lost, "sources do not exist"),
                (one.stranded, "sources count as told and are not"),
            )
            found += [f"{one.grain}: {len(ids)} {what}: {_some(ids)}" for ids, what in wrong if ids]
        return tuple(found)


def conserve(turns: Iterable[TurnMark], made: Iterable[Made]) -> ConservationReport:
    """Return where every turn is at every grain.

    A retired record counts where it is, and so does a redacted or retired turn. A redacted record
    stands for nothing; nor does what was made of it, as far as that goes.

    Args:
        turns: Every turn of a graph.
        made: Every summary and episode of it.
    """
    marks, records = tuple(turns), tuple(made)
    ids = Counter([*(one.id for one in marks), *(one.id for one in records)])
    reached_by: dict[AnyGrain, dict[str, list[str]]] = {}
    grains: list[GrainConservation] = []
    emptied: dict[AnyGrain, set[str]] = {}
    of_turns = {mark.id: [mark.id] for mark in marks}
    telling = {mark.id for mark in marks if not mark.redacted}
    for grain in ANY_GRAIN:
        finer = of_turns if grain == "working" else reached_by[MADE_OF[grain]]
        before = set() if grain == "working" else emptied[MADE_OF[grain]]
        mine = [one for one in records if one.grain == grain]
        reached_by[grain] = {one.id: _reached(one, finer) for one in mine}
        emptied[grain] = {
            turn
            for one in mine
            for turn in reached_by[grain][one.id]
            if turn in telling and (one.redacted or turn in before)
        }
        counted = _counted(grain, mine, of_turns, finer, reached_by[grain], emptied[grain])
        grains.append(replace(counted, stranded=_stranded(grain, mine, marks, records)))
    return ConservationReport(
        turns=len(of_turns),
        grains=tuple(grains),
        flagged=tuple(Flagged(one.id, one.grain, one.lost) for one in records if one.lost),
        missing=_gaps(marks),
        doubled=tuple(sorted(one for one, count in ids.items() if count > 1)),
    )


async def report(grains: GrainStore, scope: Scope) -> ConservationReport:
    """Return where every turn of the scope's graph is at every grain; reads all of it, by pages.

    What looks wrong is read again: passes and agents may be at work meanwhile.
    """
    found = await _read(grains, scope)
    for _ in range(READINGS_MAX - 1):
        if found.ok:
            break
        found = await _read(grains, scope)
    return found


async def _read(grains: GrainStore, scope: Scope) -> ConservationReport:
    # What is made first: whatever it names was there before it, and is found afterwards.
    made = [one async for one in rows_of(grains.made, scope)]
    marks = [one async for one in rows_of(grains.turn_marks, scope)]
    return await asyncio.to_thread(conserve, marks, made)


def _reached(one: Made, finer: Mapping[str, Sequence[str]]) -> list[str]:
    return [turn for source in one.sources for turn in finer.get(source, ())]


def _counted(
    grain: AnyGrain,
    mine: Sequence[Made],
    turns: Mapping[str, object],
    finer: Mapping[str, object],
    told: Mapping[str, Sequence[str]],
    emptied: AbstractSet[str],
) -> GrainConservation:
    times = Counter(turn for reached in told.values() for turn in reached)
    twice = tuple(sorted(turn for turn, count in times.items() if count > 1))
    silent = len(emptied - {*twice})
    sources = dict.fromkeys(source for one in mine for source in one.sources)
    return GrainConservation(
        grain=grain,
        records=len(mine),
        covered=len(times) - len(twice) - silent,
        emptied=silent,
        tail=len(turns) - len(times),
        twice=twice,
        lost=tuple(source for source in sources if source not in finer),
    )


def _stranded(
    grain: AnyGrain, mine: Sequence[Made], marks: Iterable[TurnMark], records: Iterable[Made]
) -> tuple[str, ...]:
    """Return what counts as told at a grain and is named by nothing of it."""
    named = {source for one in mine for source in one.sources}
    if grain == "working":
        taken = [mark.id for mark in marks if mark.covered]
    else:
        finer = MADE_OF[grain]
        taken = [one.id for one in records if one.grain == finer and grain in one.told_in]
    return tuple(one for one in taken if one not in named)


def _gaps(marks: Iterable[TurnMark]) -> dict[str, int]:
    seqs: dict[str, set[int]] = {}
    for mark in marks:
        seqs.setdefault(mark.agent_id, set()).add(mark.seq)
    gaps = {agent: max(found) - len(found) for agent, found in seqs.items()}
    return {agent: count for agent, count in gaps.items() if count}


def _some(values: Sequence[object]) -> str:
    named = ", ".join(map(str, values[:_NAMED]))
    return named if len(values) <= _NAMED else f"{named}, …"
