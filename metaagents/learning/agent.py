"""The learning agent: indexes what was stored, counts what was used, promotes what earned it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime

from tiers.errors import CorruptRecord
from tiers.ports import LexicalIndex, SemanticStore, WarmStore
from tiers.records import Fact, FactTier, Scope, Work, WorkDraft

from .rules import LearningPolicy, demotions, promotion_reason


class IndexHandler:
    """Puts stored records into the warm index.

    Args:
        records: Where the searchable form of a record comes from.
        warm: The index, which makes the vectors itself.
    """

    def __init__(self, records: LexicalIndex, warm: WarmStore) -> None:
        self._records = records
        self._warm = warm

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Index the records of one graph; one that is no longer current leaves the index."""
        del now
        by_agent: dict[str | None, list[str]] = defaultdict(list)
        for item in items:
            by_agent[item.agent_id].append(_text_of(item, "id"))
        for agent_id, ids in by_agent.items():
            scope = items[0].scope.model_copy(update={"agent_id": agent_id})
            entries = [entry for entry in await self._records.entries(scope, ids) if entry.text]
            gone = sorted(set(ids) - {entry.id for entry in entries})
            await self._warm.delete(scope, gone)
            await self._warm.upsert(scope, entries)
        return {}


class LearningAgent:
    """Counts the uses of facts and moves them between archival and core.

    Args:
        semantic: The facts.
        policy: When to move.
    """

    def __init__(self, semantic: SemanticStore, policy: LearningPolicy) -> None:
        self._semantic = semantic
        self._policy = policy

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Count each item's uses once, promote what reached the threshold, keep core in its cap."""
        for item in items:
            cause = _text_of(item, "cause")
            used = item.payload.get("used")
            if not isinstance(used, list) or not all(isinstance(one, str) for one in used):
                raise CorruptRecord("cold", "learn", f"work {item.id} names no used facts")
            facts = await self._semantic.add_uses(
                item.scope, cause, [str(fact_id) for fact_id in used], now
            )
            if await self._promote(item.scope, facts, now):
                await self._keep_cap(item.scope, now)
        return {}

    async def _promote(self, scope: Scope, facts: Sequence[Fact], now: datetime) -> bool:
        promoted = False
        for fact in facts:
            reason = promotion_reason(fact, self._policy)
            if reason is not None:
                promoted |= await self._move(scope, fact, reason, now)
        return promoted

    async def _keep_cap(self, scope: Scope, now: datetime) -> None:
        core = await self._semantic.core(scope.for_graph())
        for fact, reason in demotions(core, self._policy):
            await self._move(scope, fact, reason, now)

    async def _move(self, scope: Scope, fact: Fact, reason: str, now: datetime) -> bool:
        tier: FactTier = "archival" if fact.tier == "core" else "core"
        again = WorkDraft(
            kind="index", key=fact.id, agent_id=fact.agent_id, payload={"id": fact.id}
        )
        return await self._semantic.set_tier(scope, fact, tier, reason, now, [again])


def _text_of(item: Work, name: str) -> str:
    value = item.payload.get(name)
    if not isinstance(value, str):
        raise CorruptRecord("cold", item.kind, f"work {item.id} has no {name}")
    return value
