"""What agents and graphs have used: a count per agent, and one per graph."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from ...fleet import NOTHING
from ...records import Budget, Scope, Usage
from ...turn_io import Charge
from ..ownership import WHOLE_GRAPH, check_budget
from ..port import Collection, Find, Put, Replace, Steps, every, one, write
from .questions import among
from .rows import OfGraph, over
from .store_base import OverEngine, changing


class Counted(OfGraph):
    """What one agent of a graph has used; of no agent: the graph as a whole."""

    agent_id: str
    used: Usage = Usage()


USAGE: Collection[Counted] = Collection("usage", Counted, key=lambda counted: counted.agent_id)


class UsageStore(OverEngine):
    """What agents and graphs have used, counted under their limits."""

    async def charge(
        self,
        scope: Scope,
        amount: Usage,
        agent_limit: Budget,
        graph_limit: Budget,
        needed: Usage = NOTHING,
    ) -> None:
        """Count ``amount`` for the scope's agent, if it names one, and for its graph; or neither.

        Args:
            scope: Whose counts.
            amount: What is to be counted.
            agent_limit: The most that the agent's counts may come to.
            graph_limit: The most that the graph's may.
            needed: What must be left besides, and is counted when it is used.

        Raises:
            BudgetExceeded: A count that ``amount`` adds to would come to lie above its limit, or
                less is left than is needed. No count is changed.
        """
        charge = Charge(amount, agent_limit, graph_limit, needed)
        if not amount.is_none:
            await self._store.change("charge", lambda: charged(scope, charge))

    @changing
    def refund(self, scope: Scope, amount: Usage) -> Steps[None]:
        """Take back what was charged for something that did not happen; never below 0."""
        for whose in dict.fromkeys((scope.agent_id or WHOLE_GRAPH, WHOLE_GRAPH)):
            known = yield from _counted(scope, whose)
            if known is not None:
                left = {unit: max(0, n - getattr(amount, unit)) for unit, n in known.used}
                yield from write(_stored(scope, whose, known, Usage(**left)))

    async def usage(self, scope: Scope) -> Usage:
        """Return what the scope's agent has used, or without an agent its graph."""
        whose = scope.agent_id or WHOLE_GRAPH
        known = await self._store.read("usage", lambda: _counted(scope, whose))
        return Usage() if known is None else known.used

    async def usage_by_agent(self, scope: Scope) -> dict[str, Usage]:
        """Return what each agent of the graph has used that has used anything, by id."""
        found = await self._all("usage_by_agent", Find(USAGE, scope, order=("id",)))
        return {
            one.agent_id: one.used
            for one in found
            if one.agent_id != WHOLE_GRAPH and not one.used.is_none
        }


def charged(scope: Scope, charge: Charge) -> Steps[None]:
    """Count what is used, for the scope's agent and its graph, inside a transaction.

    Raises:
        BudgetExceeded: A count would come to lie above its limit.
    """
    return charged_together([(scope, charge)])


def charged_together(charges: Sequence[tuple[Scope, Charge]]) -> Steps[None]:
    """Count what is used for several agents of one graph, and for that, inside a transaction.

    Raises:
        BudgetExceeded: A count would come to lie above its limit, by all of it together and by what
            is needed besides, which is not counted.
    """
    amounts, needed, limits = _summed(charges)
    if not amounts:
        return
    scope = charges[0][0]
    found = yield from every(among(USAGE, scope, amounts))
    known = {one.agent_id: one for one in found}
    counts = []
    for whose, amount in amounts.items():
        used = known[whose].used if whose in known else Usage()
        check_budget(scope, whose, used, amount.plus(needed[whose]), limits[whose])
        counts.append(_stored(scope, whose, known.get(whose), used.plus(amount)))
    yield from write(*counts)


def _summed(
    charges: Sequence[tuple[Scope, Charge]],
) -> tuple[dict[str, Usage], dict[str, Usage], dict[str, Budget]]:
    """Return what is asked of each agent and of the graph, what besides, and the limits of each."""
    amounts: dict[str, Usage] = defaultdict(Usage)
    needed: dict[str, Usage] = defaultdict(Usage)
    limits: dict[str, Budget] = {}
    for scope, charge in charges:
        if charge.amount.is_none:
            continue
        of_whom = {WHOLE_GRAPH: charge.of_graph}
        if scope.agent_id is not None:
            of_whom = {scope.agent_id: charge.of_agent} | of_whom
        for whose, limit in of_whom.items():
            limits[whose] = limit
            amounts[whose] = amounts[whose].plus(charge.amount)
            needed[whose] = needed[whose].plus(charge.needed)
    return amounts, needed, limits


def _counted(scope: Scope, whose: str) -> Steps[Counted | None]:
    return one(among(USAGE, scope, [whose]))


def _stored(
    scope: Scope, whose: str, known: Counted | None, used: Usage
) -> Put[Counted] | Replace[Counted]:
    counted = Counted(tenant=scope.tenant, graph_id=scope.graph_id, agent_id=whose, used=used)
    return over(known, USAGE, scope, counted)
