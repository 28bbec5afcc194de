"""What agents and graphs have used, in MongoDB: a document per agent, and one per graph.

A count is raised by an update that only matches while the limit allows it: one command decides,
so no limit is passed by however many charge at once, and nobody waits for a transaction. Where
the graph refuses, what its agent was charged just before is taken back. In between, and for good
if the process dies there, the agent's count is too high, never too low.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...errors import BudgetExceeded, TierTimeout
from ...records import Budget, Scope, Usage
from ..ownership import WHOLE_GRAPH, check_budget
from .database import Collection, Database, Session
from .documents import Document, document_of, record_of
from .schema import Index, by, validator
from .scope import own
from .translation import DuplicateKey

ATTEMPTS_MAX = 100

_COUNT = {"bsonType": ["int", "long"], "minimum": 0}
_UNITS = tuple(Usage.model_fields)

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "usage": (
        [by("agent_id", unique=True)],
        validator(("agent_id", *_UNITS), **dict.fromkeys(_UNITS, _COUNT)),
    ),
}


class MongoUsageStore:
    """A ``UsageStore`` in MongoDB."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def charge(
        self, scope: Scope, amount: Usage, agent_limit: Budget, graph_limit: Budget
    ) -> None:
        """Count ``amount`` for the scope's agent, if it names one, and for its graph; or neither.

        Raises:
            BudgetExceeded: A count that ``amount`` adds to would come to lie above its limit. No
                count is changed.
            TierTimeout: Others changed the same counts again and again.
        """

        async def change(session: Session) -> None:
            usage = session.collection("usage")
            if scope.agent_id is not None:
                await _add(usage, scope, scope.agent_id, amount, agent_limit)
            try:
                await _add(usage, scope, WHOLE_GRAPH, amount, graph_limit)
            except BudgetExceeded:
                if scope.agent_id is not None:
                    await _take_back(usage, scope, scope.agent_id, amount)
                raise

        if amount != Usage():
            await self._database.write("charge", change)

    async def refund(self, scope: Scope, amount: Usage) -> None:
        """Take back what was charged for something that did not happen; never below 0.

        Raises:
            TierTimeout: Others changed the same counts again and again.
        """

        async def change(session: Session) -> None:
            for whose in dict.fromkeys((scope.agent_id or WHOLE_GRAPH, WHOLE_GRAPH)):
                await _take_back(session.collection("usage"), scope, whose, amount)

        if amount != Usage():
            await self._database.write("refund", change)

    async def usage(self, scope: Scope) -> Usage:
        """Return what the scope's agent has used, or without an agent its graph."""
        whose = scope.agent_id or WHOLE_GRAPH

        async def question(session: Session) -> Usage:
            return await _used(session.collection("usage"), scope, whose) or Usage()

        return await self._database.read("usage", question)

    async def usage_by_agent(self, scope: Scope) -> dict[str, Usage]:
        """Return what each agent of the graph has used that has used anything, by id."""
        used: list[Document] = [{unit: {"$gt": 0}} for unit in _UNITS]
        where = own(scope, agent_id={"$ne": WHOLE_GRAPH}) | {"$or": used}

        async def question(session: Session) -> dict[str, Usage]:
            found = await session.collection("usage").find(where, sort=[("agent_id", 1)])
            return {one["agent_id"]: record_of(Usage, one) for one in found}

        return await self._database.read("usage_by_agent", question)


async def _add(usage: Collection, scope: Scope, whose: str, amount: Usage, limit: Budget) -> None:
    """Raise the counts of one agent, or of the whole graph, all of them or none."""
    asked = {unit: count for unit, count in amount if count}
    room = {
        unit: {"$lte": most - asked[unit]}
        for unit, most in limit
        if unit in asked and most is not None
    }
    for _ in range(ATTEMPTS_MAX):
        if await usage.update(own(scope, agent_id=whose) | room, {"$inc": asked}):
            return
        used = await _used(usage, scope, whose)
        check_budget(scope, whose, used or Usage(), amount, limit)
        if used is None:
            try:
                await usage.insert([own(scope, agent_id=whose, **document_of(amount))])
            except DuplicateKey:
                continue  # somebody else was the first to count
            return
    raise TierTimeout("cold", "charge", "others changed the same counts again and again")


async def _take_back(usage: Collection, scope: Scope, whose: str, amount: Usage) -> None:
    """Lower the counts of one agent, or of the whole graph, to 0 at the least."""
    asked = {unit: count for unit, count in amount if count}
    enough = {unit: {"$gte": count} for unit, count in asked.items()}
    less_by = {unit: -count for unit, count in asked.items()}
    if await usage.update(own(scope, agent_id=whose) | enough, {"$inc": less_by}):
        return
    for _ in range(ATTEMPTS_MAX):
        used = await _used(usage, scope, whose)
        if used is None:
            return
        less = {unit: max(0, before - getattr(amount, unit)) for unit, before in used}
        as_seen = own(scope, agent_id=whose) | document_of(used)
        if await usage.update(as_seen, {"$set": less}):
            return
    raise TierTimeout("cold", "refund", "others changed the same counts again and again")


async def _used(usage: Collection, scope: Scope, whose: str) -> Usage | None:
    found = await usage.first(own(scope, agent_id=whose))
    return None if found is None else record_of(Usage, found)
