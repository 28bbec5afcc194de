"""The core block: the facts that are in every context, whatever is asked. Pure.

Constraints come first, then who everybody is, then the rest by quotas: the newest, the most used,
and the oldest for what is left, so that neither what was said first nor what was said last pushes
the other out (Atlas: the same shares, for the same reason). A fact that says what one before it
says is left out. It is made at every turn, so what it reads of a text is remembered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeAlias

from tiers.lexical import estimate_tokens
from tiers.records import Fact

from .likeness import Reading, alike, rare_words, read

BLOCK_OVERLAP = 0.82
"""Of the content words of two facts, from which on one of them is enough (Atlas: the same)."""

PRESSING = ("constraint", "identity")
"""The types that come first, in this order: what must not be violated, and who somebody is."""


@dataclass(frozen=True)
class CorePolicy:
    """What the core block may take of a context.

    Attributes:
        facts_max: Facts in it.
        share: The share of the context's tokens that it may take, above 0, at most 1.
        newest: Places for the newest of the facts that are neither constraint nor identity.
        most_used: Places for the most used of those, after the newest; the oldest get the rest.
    """

    facts_max: int = 24
    share: float = 0.5
    newest: int = 6
    most_used: int = 6


@dataclass(frozen=True)
class CoreBlock:
    """The core facts of one context.

    Attributes:
        facts: As they are shown: constraints, identity, then the oldest first.
        left_out: Core facts that are not shown, each with the reason.
        tokens: What the facts cost in the context, estimated.
    """

    facts: tuple[Fact, ...] = ()
    left_out: tuple[tuple[Fact, str], ...] = ()
    tokens: int = 0


def words_alone(fact: Fact) -> int:
    """Return the tokens of what a fact says."""
    return estimate_tokens(fact.text)


def core_block(
    facts: Sequence[Fact],
    policy: CorePolicy,
    budget_tokens: int,
    cost_of: Callable[[Fact], int] = words_alone,
) -> CoreBlock:
    """Return the core block of a context.

    Args:
        facts: The visible core facts, of which nearer definitions have hidden others already.
        policy: What it may take.
        budget_tokens: The tokens of the whole context.
        cost_of: Returns the tokens of a fact as it is shown.
    """
    room = int(budget_tokens * policy.share)
    chosen: list[Fact] = []
    left_out: list[tuple[Fact, str]] = []
    shown = _Shown()
    tokens = 0
    for fact in by_worth(facts, policy.newest, policy.most_used):
        cost = cost_of(fact)
        if len(chosen) >= policy.facts_max:
            left_out.append((fact, f"{policy.facts_max} core facts are the most"))
        elif tokens + cost > room:
            left_out.append((fact, f"{cost} tokens, {room - tokens} of {room} are left"))
        elif same := shown.like(fact):
            left_out.append((fact, f"says what {same} says"))
        else:
            chosen.append(fact)
            shown.add(fact)
            tokens += cost
    return CoreBlock(tuple(sorted(chosen, key=_place)), tuple(left_out), tokens)


def by_worth(facts: Sequence[Fact], newest: int, most_used: int) -> list[Fact]:
    """Return facts by how much they belong into core.

    Constraints, identity, the ``newest`` of the rest, its ``most_used`` of those that were used at
    all, and what remains with the oldest first. Among constraints and among identity the same
    order holds. The newest are those that became core last, where that is known.
    """
    found: list[Fact] = []
    for kind in (*PRESSING, None):
        some = [
            one for one in facts if (one.fact_type if one.fact_type in PRESSING else None) == kind
        ]
        found += _by_quotas(some, newest, most_used)
    return found


def became_core(fact: Fact) -> datetime:
    """Return when a fact became core last; when it was recorded if nothing says."""
    return fact.core_spans[-1].since if fact.core_spans else fact.recorded_at


def _by_quotas(facts: Iterable[Fact], newest: int, most_used: int) -> list[Fact]:
    oldest = sorted(facts, key=lambda one: (became_core(one), one.id))
    late = oldest[::-1][:newest]
    taken = {one.id for one in late}
    used = sorted(
        (one for one in oldest if one.uses and one.id not in taken),
        key=lambda one: (-one.uses, one.id),
    )[:most_used]
    taken.update(one.id for one in used)
    return [*late, *used, *(one for one in oldest if one.id not in taken)]


def _place(fact: Fact) -> tuple[int, datetime, str]:
    pressing = PRESSING.index(fact.fact_type) if fact.fact_type in PRESSING else len(PRESSING)
    return (pressing, fact.recorded_at, fact.id)


_Mark: TypeAlias = tuple[frozenset[str], frozenset[str], bool, str]


@dataclass
class _Shown:
    """The facts chosen so far, found by what those that say the same have in common.

    That is their numbers, the small words that turn a meaning, and one of their rarer words.
    """

    by_mark: dict[_Mark, list[tuple[str, Reading]]] = field(default_factory=dict)

    def add(self, fact: Fact) -> None:
        reading = read(fact.text)
        for mark in _marks(reading):
            self.by_mark.setdefault(mark, []).append((fact.id, reading))

    def like(self, fact: Fact) -> str:
        """Return the id of a chosen fact that says the same, or nothing."""
        reading = read(fact.text)
        for mark in _marks(reading):
            for known, other in self.by_mark.get(mark, ()):
                if alike(reading, other, BLOCK_OVERLAP):
                    return known
        return ""


def _marks(reading: Reading) -> list[_Mark]:
    alike_in = (reading.numbers, reading.turns, reading.is_negated)
    return [(*alike_in, word) for word in rare_words(reading, BLOCK_OVERLAP)]
