"""The port of a turn: what it reads of the cold tier is one reading, what it leaves one write."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

from .records import (
    Budget,
    Commitment,
    Fact,
    Receipt,
    Rule,
    Scope,
    Standing,
    Turn,
    Usage,
    WorkDraft,
)


class Opening(NamedTuple):
    """What a turn reads of the cold tier before anything is looked for: all of one moment.

    Attributes:
        standing: The graph, the agent and the graph's ancestors.
        beliefs: As ``BeliefStore.active`` returns them.
        core: As ``SemanticStore.core`` does.
        rules: As ``ProceduralStore.match_rules`` does.
    """

    standing: Standing
    beliefs: tuple[Commitment, ...]
    core: tuple[Fact, ...]
    rules: tuple[Rule, ...]


class Charge(NamedTuple):
    """What is counted with a write, and the most that the counts may come to."""

    amount: Usage
    of_agent: Budget = Budget()
    of_graph: Budget = Budget()

    @property
    def is_limited(self) -> bool:
        """Whether any count may come to lie above a limit."""
        return self.of_agent != Budget() or self.of_graph != Budget()


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
    charge: Charge = Charge(Usage())


class TurnDesk(Protocol):
    """Reads and writes of several stores that belong to one turn."""

    async def opening(
        self, scope: Scope, asker: Callable[[Standing], Scope], text: str, rules: int
    ) -> Opening | None:
        """Return what a turn begins with, from one snapshot; ``None``: there is no such graph.

        Args:
            scope: Of the agent as it was last known: graph and agent count.
            asker: Says, by how the agent stands now, who asks for the rest. It does no I/O; what
                it raises ends the reading, with nothing more read.
            text: The message, in whose words rules are sought.
            rules: The most rules.
        """

    async def keep_receipt(
        self,
        scope: Scope,
        receipt: Receipt,
        work: Sequence[WorkDraft],
        charge: Charge,
        *,
        may_wait: bool = False,
    ) -> None:
        """Store what a turn saw with the work that follows, and charge it: all or nothing.

        One that may wait, and that no budget limits, is stored with its turn or within a second:
        whoever asks this process for it finds it, and what a killed process loses is the receipt
        of a context without a reply.

        Raises:
            BudgetExceeded: As ``UsageStore.charge``.
            Conflict: Another receipt has this id.
        """

    async def keep_turn(
        self,
        scope: Scope,
        turn: Turn,
        work: Sequence[WorkDraft],
        charge: Charge,
        receipt_id: str | None = None,
    ) -> tuple[Turn, bool]:
        """Store a turn as ``TurnStore.append_turn`` does, and charge it if it is new.

        A receipt of this id that waits is stored with it.

        Raises:
            BudgetExceeded: As ``UsageStore.charge``.
            Conflict: As ``TurnStore.append_turn``.
        """

    async def keep_turns(self, writes: Sequence[TurnWrite]) -> tuple[tuple[Turn, bool], ...]:
        """Store turns of one graph in their order, as ``keep_turn`` does each; all or nothing.

        A turn that is there already, or comes twice, is returned as stored and not charged.

        Raises:
            BudgetExceeded: A count would come to lie above its limit by all of them together.
            Conflict: As ``TurnStore.append_turn``, of any of them.
            UsageError: They belong to several graphs.
        """
