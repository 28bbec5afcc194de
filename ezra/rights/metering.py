"""Budgets: what a turn or a write costs is charged before it happens, and refused by name."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tiers.errors import BudgetExceeded, EzraError, TierTimeout
from tiers.fleet import NOTHING
from tiers.records import Budget, Scope, Standing, Usage
from tiers.turn_io import Charge

if TYPE_CHECKING:
    from tiers.cold.stores import RecordLog, UsageStore


ANSWER = Usage(model_calls=1, writes=1)
"""What a model's answer takes: the call, and a write to keep it by."""


@dataclass
class Charged:
    """What was charged for something that is about to happen.

    Attributes:
        is_void: Set when it turned out that nothing had to be done; what was charged is given
            back.
    """

    is_void: bool = False


class Meter:
    """Counts what agents and graphs use, and refuses what is beyond their budgets.

    Args:
        usage: Where the counts are.
        events: The audit feed, which has every refusal.
        clock: Where the time comes from.
    """

    def __init__(self, usage: UsageStore, events: RecordLog, clock: Callable[[], datetime]) -> None:
        self._usage = usage
        self._events = events
        self._clock = clock

    async def charge(self, scope: Scope, standing: Standing, amount: Usage) -> None:
        """Count what is used before it is used.

        Raises:
            BudgetExceeded: The agent's budget or the graph's does not allow it; nothing is
                counted, and the audit feed has the refusal.
        """
        await self._charge(scope, charge_of(standing, amount))

    async def charge_answer(self, scope: Scope, standing: Standing) -> None:
        """Count a model's call before it is made; a write to keep its answer by must be left.

        Raises:
            BudgetExceeded: As ``charge`` does.
        """
        await self._charge(scope, charge_of(standing, Usage(model_calls=1), Usage(writes=1)))

    async def _charge(self, scope: Scope, charge: Charge) -> None:
        async with self.refusals(scope):
            await self._usage.charge(scope, *charge)

    @asynccontextmanager
    async def refusals(self, scope: Scope) -> AsyncIterator[None]:
        """Tell the audit feed of each refusal of a budget inside the block, which goes through."""
        try:
            yield
        except BudgetExceeded as refusal:
            await self._events.append_audit(scope, "denied", (), str(refusal), self._clock())
            raise

    @asynccontextmanager
    async def write(
        self,
        scope: Scope,
        standing: Standing,
        tokens: int = 0,
        *,
        is_there: Callable[[], Awaitable[bool]] | None = None,
    ) -> AsyncIterator[Charged]:
        """Charge one write for the length of the block; it is given back if nothing was written.

        That is when the block says so, or ends in an error that leaves nothing behind. After a
        timeout or a cancellation nobody knows, and the charge stays.

        Args:
            scope: Whose write.
            standing: With the budgets.
            tokens: Of what is written. They were used already, so no limit refuses them; the next
                charge feels them.
            is_there: Asked where no write is left, whether all is stored already. It is not charged
                then: who repeats what was stored, but not answered, is to have the answer.

        Raises:
            BudgetExceeded: As ``charge``.
        """
        of_write = charge_of_write(standing, tokens)
        if not await self._charged(scope, of_write, is_there):
            yield Charged(is_void=True)
            return
        charge = Charged()
        try:
            yield charge
        except TierTimeout:
            raise
        except EzraError:
            await self._usage.refund(scope, of_write.amount)
            raise
        if charge.is_void:
            await self._usage.refund(scope, of_write.amount)

    async def _charged(
        self, scope: Scope, charge: Charge, is_there: Callable[[], Awaitable[bool]] | None
    ) -> bool:
        """Charge a write; ``False`` when nothing is left for it, and it is there already."""
        async with self.refusals(scope):
            try:
                await self._usage.charge(scope, *charge)
            except BudgetExceeded:
                if is_there is None or not await is_there():
                    raise
                return False
        return True


def charge_of(standing: Standing, amount: Usage, needed: Usage = NOTHING) -> Charge:
    """Return what is charged for something that is about to be used; ``needed`` must be left."""
    return Charge(amount, *_budgets(standing), needed)


def charge_of_write(standing: Standing, tokens: int = 0) -> Charge:
    """Return what is charged for a write. Its tokens were used already: no limit refuses them."""
    of_agent, of_graph = (
        one if one.tokens is None else one.model_copy(update={"tokens": None})
        for one in _budgets(standing)
    )
    return Charge(Usage(writes=1, tokens=tokens), of_agent, of_graph)


def is_limited(standing: Standing) -> bool:
    """Whether any budget applies, so that what cannot be counted must not be used."""
    return not all(budget.is_none for budget in _budgets(standing))


def _budgets(standing: Standing) -> tuple[Budget, Budget]:
    """Return the agent's budget and the graph's."""
    of_agent = Budget() if standing.agent is None else standing.agent.budget
    return of_agent, standing.graph.budget
