"""What holds after weeks of talk: what is over is held no more, and what still holds is kept."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import timedelta

from tiers.records import Fact

from .bench import Bench, Memory
from .labels import Held, Timeline, timelines
from .results import Figure, Mistake, Section

_LATER = timedelta(minutes=1)
"""How long after a message the clock stands when it is learnt."""


@dataclass(frozen=True)
class _Lived:
    """A timeline as the memory took it.

    Attributes:
        source: The timeline.
        since: With which of its turns each fact was learnt, by the fact's id, from 1.
        ever: Every fact that was held at some time.
        held: Those that are held at the end, by id.
    """

    source: Timeline
    since: dict[str, int]
    ever: tuple[Fact, ...]
    held: frozenset[str]

    def says_now(self, label: Held) -> bool:
        """Whether a fact that is held at the end says it."""
        return any(fact.id in self.held and label.is_in(fact.text) for fact in self.ever)

    def was_learnt(self, label: Held) -> bool:
        """Whether a fact that was held at some time says it."""
        return any(label.is_in(fact.text) for fact in self.ever)

    def first_said(self, label: Held) -> tuple[Fact, ...]:
        """Return the facts that said it first, before the last turn; none if nobody did."""
        saying = [fact for fact in self.ever if label.is_in(fact.text)]
        first = min((self.since[fact.id] for fact in saying), default=0)
        is_before = 0 < first < len(self.source.turns)
        return tuple(one for one in saying if is_before and self.since[one.id] == first)

    def is_held_still(self, label: Held) -> bool:
        """Whether what said it first is held at the end."""
        return any(fact.id in self.held for fact in self.first_said(label))


async def measured_timelines(bench: Bench, *, name: str) -> Section:
    """Messages weeks apart: what they say is over is held no more, and nothing else is lost."""
    lived: list[_Lived] = []
    source = timelines(name)
    chosen = bench.chosen(source.timelines)
    async with bench.memory(source.timelines[0].turns[0].at) as memory:
        with bench.progress(name, len(chosen)) as advance:
            for one in chosen:
                lived.append(await _lived(memory, one))
                advance()
        problems = tuple(memory.problems)
    return Section(
        name=name,
        figures=_figures(lived),
        mistakes=tuple(mistake for one in lived for mistake in _mistakes(one)),
        problems=problems,
    )


async def _lived(memory: Memory, source: Timeline) -> _Lived:
    since: dict[str, int] = {}
    ever: dict[str, Fact] = {}
    held: Sequence[Fact] = ()
    for number, turn in enumerate(source.turns, 1):
        memory.clock.show(turn.at + _LATER)
        held = await memory.heard(source.id, turn.speaker, turn.text, turn.at)
        for fact in held:
            since.setdefault(fact.id, number)
            ever[fact.id] = fact
    return _Lived(source, since, tuple(ever.values()), frozenset(one.id for one in held))


def _figures(lived: Sequence[_Lived]) -> tuple[Figure, ...]:
    over = [(one, label) for one in lived for label in one.source.ended if one.first_said(label)]
    kept = [(one, label) for one in lived for label in one.source.still if one.was_learnt(label)]
    new = [(one, label) for one in lived for label in one.source.now]
    return (
        Figure(
            name="endings of what was learnt, seen",
            count=sum(not one.is_held_still(label) for one, label in over),
            of=len(over),
        ),
        Figure(
            name="what still holds and was learnt, kept",
            count=sum(one.says_now(label) for one, label in kept),
            of=len(kept),
        ),
        Figure(
            name="what came instead, learnt",
            count=sum(one.says_now(label) for one, label in new),
            of=len(new),
        ),
    )


def _mistakes(one: _Lived) -> Iterator[Mistake]:
    wrong = [("is held still", label) for label in one.source.ended if one.is_held_still(label)]
    wrong += [
        ("was lost", label)
        for label in one.source.still
        if one.was_learnt(label) and not one.says_now(label)
    ]
    for what, label in wrong:
        yield Mistake(
            case=one.source.id,
            kind=", ".join(label.values),
            what=what,
            said=tuple(turn.text for turn in one.source.turns),
            learnt=tuple(fact.text for fact in one.ever if fact.id in one.held),
        )
