"""One tenant of a world, on its way down, and the form of a step that takes it there."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from random import Random
from typing import Any, TypeAlias

from tiers.errors import NotFound
from tiers.learning import Verdict
from tiers.records import Scope

from .worlds import LATER, Corner, House, Planted, World


@dataclass
class Ruin:
    """One tenant of a world, on its way down.

    Attributes:
        world: Where it and the others are.
        tenant: Whose records are destroyed.
        random: Chooses what is.
        now: Rises with each step.
        done: How often each step went through, by name.
    """

    world: World
    tenant: str
    random: Random
    now: datetime = LATER
    done: dict[str, int] = field(default_factory=dict)

    @property
    def house(self) -> House:
        """One of the tenant's graphs."""
        return self.random.choice([one for one in self.world.houses if one[0] == self.tenant])

    @property
    def corner(self) -> Corner:
        """One of the tenant's owners."""
        return self.random.choice([one for one in self.world.corners if one.tenant == self.tenant])

    def record(self, *kinds: str) -> Planted:
        """Return one of the tenant's records."""
        found = [one for one in self.world.planted if one.corner.tenant == self.tenant]
        return self.random.choice([one for one in found if one.kind in kinds])

    def scope(self, house: House | None = None) -> Scope:
        """Return the scope of the runtime itself in one of the tenant's graphs."""
        return Scope.of_graph(*(house or self.house))


Step: TypeAlias = Callable[[Any, Ruin], Awaitable[object]]


# What learning and retention destroy: steps of a tenant's ruin.


async def _retire(cold: Any, ruin: Ruin) -> object:
    """Retire what is past its retention, and a fact or a turn whether it is or not."""
    one = ruin.record("turn", "summary", "episode", "core", "archival")
    scope = ruin.scope(one.corner.house)
    due = await cold.grains.retirable(scope, "working", ruin.now + timedelta(days=400), 3)
    return await cold.grains.retire(scope, [one.id, *(row.id for row in due)], "old", ruin.now)


async def _settle(cold: Any, ruin: Ruin) -> object:
    """Let a fact give way to another one of its graph."""
    scope = ruin.scope()
    live = (await cold.review.live_facts(scope, "", 100)).rows
    if len(live) < 2:
        raise NotFound("facts to compare", scope.graph_id)
    old, new = ruin.random.sample(live, 2)
    verdict = Verdict(fact_id=old.id, by=new.id, how="denial", valid_to=ruin.now)
    return await cold.review.settle(scope, old.id, [verdict], ruin.now)


async def _forget(cold: Any, ruin: Ruin) -> object:
    one = ruin.record("core", "archival")
    if not await cold.review.forget(one.corner.scope(), one.id, "asked to", ruin.now):
        raise NotFound("fact to forget", one.id)
    return one


async def _refine(cold: Any, ruin: Ruin) -> object:
    one = ruin.record("rule")
    scope, cause = one.corner.scope(), f"cause {ruin.now}"
    found = [
        await cold.playbooks.refine(scope, rule, (f"other {ruin.now}",), (cause,), ruin.now)
        for rule in await cold.playbooks.rules(scope, [one.id])
    ]
    if not any(found):
        raise NotFound("rule to refine", one.id)
    return await cold.playbooks.record_outcome(scope, one.id, cause, ruin.now, is_success=False)


async def _read_on(cold: Any, ruin: Ruin) -> object:
    one = ruin.record("watermark")
    seq = int(ruin.now.timestamp())
    return await cold.watermarks.advance(one.corner.scope(), one.mark, seq, ruin.now)


LEARNT_STEPS: dict[str, Step] = {
    "retire": _retire,
    "settle": _settle,
    "forget": _forget,
    "refine": _refine,
    "read on": _read_on,
}
