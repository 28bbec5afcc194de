"""Random small histories of turns, summaries and episodes, and what is loose and retirable in them.

A history is stored as rows, in any state that rows can be in, so that none is left out because no
life leads to it. Every history has the same ids: what leaks from one graph into another is seen.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property
from random import Random
from typing import Any, get_args

from tiers.grains import Retirable
from tiers.plans import AnyGrain
from tiers.records import Episode, Grain, Scope, Summary, Turn

from .tier_samples import NOW

GRAINS: tuple[Grain, ...] = get_args(Grain)
FINER: Mapping[str, str] = {
    "daily": "working",
    "weekly": "daily",
    "monthly": "daily",
    "quarterly": "monthly",
    "yearly": "quarterly",
}
REPLACED_BY: Mapping[str, tuple[str, ...]] = {
    "daily": ("weekly", "monthly"),
    "weekly": (),
    "monthly": ("quarterly",),
    "quarterly": ("yearly",),
    "yearly": (),
}
DAYS = 8
"""Few, so that moments are often equal."""

Told = Turn | Summary | Episode


def is_full(record: Told) -> bool:
    """Whether a record has its content."""
    return record.redacted_at is None


def is_retired(record: Told) -> bool:
    """Whether retention has emptied a record."""
    return record.retired_at is not None


@dataclass(frozen=True)
class World:
    """The rows of one graph, and what follows from them."""

    scope: Scope
    turns: tuple[Turn, ...]
    summaries: tuple[Summary, ...]
    episodes: tuple[Episode, ...]

    @cached_property
    def holders(self) -> Mapping[tuple[str, str], Summary | Episode]:
        """What a turn, summary or episode is in, by grain and id."""
        covering = {("working", one): s for s in self.summaries for one in s.covers if not s.level}
        return covering | {(e.grain, one): e for e in self.episodes for one in e.children}

    def loose(self, grain: Grain, before: datetime) -> list[Summary | Episode]:
        """Return what is to become an episode of a grain."""
        found = [
            one
            for one in self._of_grain(FINER[grain])
            if is_full(one) and one.starts_at < before and (grain, one.id) not in self.holders
        ]
        return sorted(found, key=lambda one: (one.starts_at, one.id))

    def retirable(self, grain: AnyGrain, before: datetime) -> list[Retirable]:
        """Return what has to go."""
        if grain == "working":
            turns = [(one.recorded_at, one.id, "turn", self._turn_is_in(one)) for one in self.turns]
            found = [
                *((at, one_id, kind, told) for at, one_id, kind, told in turns),
                *(
                    (one.recorded_at, one.id, "summary", self._is_in(one.id, ("daily",)))
                    for one in self._of_grain("working")
                ),
            ]
        else:
            found = [
                (one.starts_at, one.id, "episode", self._episode_is_in(one))
                for one in self.episodes
                if one.grain == grain and one.ends_at < before
            ]
        return [
            Retirable(kind=kind, id=one_id, replaced_by=tuple(sorted(told)))
            for at, one_id, kind, told in sorted(found, key=lambda one: one[:2])
            if told is not None and at < before and self._is_full(kind, one_id)
        ]

    def counts(self, grain: AnyGrain) -> tuple[int, int]:
        """Return how many records of a grain there are, and how many with their content."""
        working = self.turns if grain == "working" else ()
        found = [*self._of_grain(grain), *working]
        return len(found), sum(map(is_full, found))

    def _of_grain(self, grain: str) -> Sequence[Summary | Episode]:
        if grain == "working":
            return [one for one in self.summaries if one.level == 0]
        return [one for one in self.episodes if one.grain == grain]

    def _is_full(self, kind: str, record_id: str) -> bool:
        of_kind = {"turn": self.turns, "summary": self.summaries, "episode": self.episodes}[kind]
        return any(one.id == record_id and is_full(one) for one in of_kind)

    def _turn_is_in(self, turn: Turn) -> set[str] | None:
        summary = self.holders.get(("working", turn.id))
        if summary is None or not (is_full(summary) or is_retired(summary)):
            return None
        return self._is_in(summary.id, ("daily",))

    def _episode_is_in(self, episode: Episode) -> set[str] | None:
        if episode.grain == "weekly":
            days = [self._is_in(day, ("monthly",)) for day in episode.children]
            return None if None in days else set()
        return self._is_in(episode.id, REPLACED_BY[episode.grain])

    def _is_in(self, child: str, grains: Sequence[str]) -> set[str] | None:
        """Return what tells a record now, once for each grain; ``None`` if one of them is not."""
        told: set[str] = set()
        for grain in grains:
            holder = self.holders.get((grain, child))
            tells = self._tells(holder) if isinstance(holder, Episode) else None
            if tells is None:
                return None
            told |= tells
        return told

    def _tells(self, episode: Episode) -> set[str] | None:
        if is_full(episode):
            return {episode.id}
        return self._is_in(episode.id, REPLACED_BY[episode.grain]) if is_retired(episode) else None


def world_of(scope: Scope, random: Random) -> World:
    """Return a random history of a graph."""
    made = _Maker(scope, random)
    turns = tuple(made.turn(number) for number in range(random.randint(1, 9)))
    summaries = [
        made.summary(number, covered)
        for number, covered in enumerate(_dealt([one.id for one in turns], random))
    ]
    if turns:
        summaries.append(made.summary(99, [turns[0].id], level=1))
    levels: dict[str, list[str]] = {"working": [one.id for one in summaries if one.level == 0]}
    episodes: list[Episode] = []
    for grain in GRAINS:
        mine = [
            made.episode(grain, number, children)
            for number, children in enumerate(_dealt(levels[FINER[grain]], random))
        ]
        levels[grain] = [one.id for one in mine]
        episodes += mine
    return World(scope, turns, tuple(summaries), tuple(episodes))


def _dealt(ids: Sequence[str], random: Random) -> Iterator[list[str]]:
    """Deal ids into groups; some are in none."""
    left = [one for one in ids if random.random() < 0.85]
    random.shuffle(left)
    while left:
        size = random.randint(1, 3)
        yield left[:size]
        del left[:size]


class _Maker:
    def __init__(self, scope: Scope, random: Random) -> None:
        self._owner = {"tenant": scope.tenant, "graph_id": scope.graph_id}
        self._random = random
        self._seqs: dict[str, int] = {}

    def turn(self, number: int) -> Turn:
        agent = self._random.choice(("pit", "pi"))
        self._seqs[agent] = self._seqs.get(agent, 0) + 1
        at = self._moment()
        told: dict[str, Any] = {"input": f"said {number}", "occurred_at": at, "recorded_at": at}
        seq = self._seqs[agent]
        return Turn(id=f"t{number}", seq=seq, **self._who(agent), **self._state(told, "input"))

    def summary(self, number: int, covers: Sequence[str], level: int = 0) -> Summary:
        told = {"text": f"sum {number}", "covers": tuple(covers), "level": level}
        return Summary(id=f"s{number}", **self._who(), **self._state(told | self._period()))

    def episode(self, grain: Grain, number: int, children: Sequence[str]) -> Episode:
        told = {"text": f"{grain} {number}", "children": tuple(children), "grain": grain}
        told |= self._period() | {"period": f"{grain} {number}", "made_by": "m", "lost": number}
        return Episode(id=f"{grain}{number}", **self._who(), **self._state(told))

    def _who(self, agent: str = "pit") -> dict[str, Any]:
        topics = self._random.choice(((), ("tyres",)))
        private = self._random.random() < 0.2
        return self._owner | {"agent_id": agent, "topics": topics, "private": private}

    def _moment(self) -> datetime:
        return NOW + timedelta(days=self._random.randrange(DAYS))

    def _period(self) -> dict[str, Any]:
        begins, ends, recorded = sorted(self._moment() for _ in range(3))
        return {"starts_at": begins, "ends_at": ends, "recorded_at": recorded}

    def _state(self, told: dict[str, Any], text: str = "text") -> dict[str, Any]:
        """Let a record be as it was, emptied by retention, or emptied on request."""
        how = self._random.choices(("full", "retired", "redacted"), (6, 4, 1))[0]
        gone: dict[str, Any] = {"redacted_at": NOW, text: f"[{how}]"}
        return (
            told
            | {
                "full": {},
                "retired": gone | {"retired_at": NOW, "user_id": None},
                "redacted": gone,
            }[how]
        )
