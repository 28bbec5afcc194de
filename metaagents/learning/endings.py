"""What a turn says of what is known: that it is over, or otherwise now. Worth keeping for that.

``I left Siemens`` may be said of a building, and ``the standup is at ten now`` is nobody's business
that does not go there. Of whoever is known to work at Siemens, and of a standup that is known to be
at nine, each tells that what is known is so no more, and is learnt.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from tiers.records import Fact

from .candidates import FactDraft, Window
from .neighbours import Neighbourhood
from .succession import effect

STATEMENTS_PER_TURN_MAX = 6
"""What one turn says beside what is learnt of it anyway, as far as it is looked at."""

KNOWN_MAX = 16
"""Known facts that one statement is compared with."""

AsFact: TypeAlias = Callable[[FactDraft], Fact]
"""Makes a fact of what was said, as it would be stored."""


@dataclass(frozen=True)
class Endings:
    """Finds what turns say of known facts that are over by it.

    Attributes:
        neighbours: Finds the facts that a statement is compared with, by its words.
    """

    neighbours: Neighbourhood

    async def of_known(
        self,
        drafts: Sequence[FactDraft],
        learnt: Sequence[FactDraft],
        as_fact: AsFact,
        now: datetime,
    ) -> list[FactDraft]:
        """Return those of the drafts by which a known fact is over, where nothing learnt says so.

        Args:
            drafts: What the turns say beside what is learnt of them.
            learnt: What is learnt of them anyway.
            as_fact: Makes a fact of a draft.
            now: When the facts have to be known.
        """
        found: list[FactDraft] = []
        told = [as_fact(draft) for draft in learnt]
        for draft in drafts:
            fact = as_fact(draft)
            known = (await self.neighbours.of(fact, now)).rivals[:KNOWN_MAX]
            if not known:
                continue
            is_over: bool = await asyncio.to_thread(_ends_any, fact, known, told)
            if is_over:
                found.append(draft)
                told.append(fact)
        return found


def _ends_any(fact: Fact, known: Sequence[Fact], told: Sequence[Fact]) -> bool:
    """Whether a known fact is over by one fact, and not by what else is told."""
    return any(
        effect(old, fact) in {"ends", "denies"}
        and not any(effect(old, other) in {"ends", "denies"} for other in told)
        for old in known
    )


def said_beside(window: Window, learnt: Sequence[FactDraft]) -> Iterator[FactDraft]:
    """Yield what the new turns say of changes and endings and is not learnt of them anyway."""
    known = {draft.said.text.lower() for draft in learnt}
    for turn in window.new:
        beside = (draft for draft in window.beside(turn) if draft.said.text.lower() not in known)
        for _, draft in zip(range(STATEMENTS_PER_TURN_MAX), beside, strict=False):
            yield draft
