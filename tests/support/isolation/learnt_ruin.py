"""What learning and retention destroy: steps of a tenant's ruin."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from tiers.errors import NotFound
from tiers.learning import Verdict

from .ruin import Ruin, Step


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
