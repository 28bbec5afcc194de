"""What a turn reads of the cold tier in one reading, and what it leaves there in one write."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .records import Budget, Commitment, Fact, Rule, Scope, Standing, Turn, Usage, WorkDraft


class Opening(NamedTuple):
    """What a turn reads of the cold tier before anything is looked for: all of one moment.

    Attributes:
        standing: The graph, the agent and the graph's ancestors.
        beliefs: As ``BeliefStore.active`` returns them.
        core: As ``SemanticStore.core`` does.
        nearer: As ``SemanticStore.nearer`` does.
        rules: As ``ProceduralStore.match_rules`` does.
        repeats: The id of the stored turn that this one says again under its ``ref``.
    """

    standing: Standing
    beliefs: tuple[Commitment, ...]
    core: tuple[Fact, ...]
    nearer: tuple[Fact, ...]
    rules: tuple[Rule, ...]
    repeats: str | None = None


class Charge(NamedTuple):
    """What is counted with a write, and the most that the counts may come to.

    Attributes:
        needed: What must be left besides, and is counted when it is used.
    """

    amount: Usage
    of_agent: Budget = Budget()
    of_graph: Budget = Budget()
    needed: Usage = Usage()

    @property
    def is_limited(self) -> bool:
        """Whether any count may come to lie above a limit."""
        return not (self.of_agent.is_none and self.of_graph.is_none)


FREE = Charge(Usage())
"""Nothing is counted."""


class TurnWrite(NamedTuple):
    """A turn that is to be stored, and what is done with it if it is new.

    Attributes:
        scope: Of the agent that it is by.
        turn: Without its number.
        work: What follows from it.
        charge: What is counted for it.
    """

    scope: Scope
    turn: Turn
    work: Sequence[WorkDraft] = ()
    charge: Charge = FREE
