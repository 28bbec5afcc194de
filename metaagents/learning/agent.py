"""The learning agent: indexes what was stored, counts what was used, promotes what earned it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tiers.concurrency import together
from tiers.errors import CorruptRecord
from tiers.ports import WarmStore
from tiers.records import Scope, Work

from .moves import CoreKeeper, OnMove, ignore_move
from .rules import LearningPolicy

if TYPE_CHECKING:
    from tiers.cold.stores import LexicalIndex, SemanticStore


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
        """Index the records of one graph; one that is no longer current leaves the index.

        They are looked up as each agent sees them, and embedded and written together.
        """
        del now
        by_agent: dict[str | None, list[str]] = defaultdict(list)
        for item in items:
            by_agent[item.agent_id].append(_text_of(item, "id"))
        graph = items[0].scope.for_graph()
        found = await together(
            self._records.entries(graph.model_copy(update={"agent_id": agent_id}), ids)
            for agent_id, ids in by_agent.items()
        )
        entries = [entry for of_agent in found for entry in of_agent if entry.text]
        gone = {one for ids in by_agent.values() for one in ids} - {one.id for one in entries}
        await self._warm.delete(graph, sorted(gone))
        await self._warm.upsert(graph, entries)
        return {}


class LearningAgent:
    """Counts the uses of facts and moves them between archival and core.

    Args:
        semantic: The facts.
        policy: When to move.
        on_move: Hears of each move.
    """

    def __init__(
        self, semantic: SemanticStore, policy: LearningPolicy, on_move: OnMove = ignore_move
    ) -> None:
        self._semantic = semantic
        self._keeper = CoreKeeper(semantic, policy, on_move)

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Count each item's uses once, promote what reached the threshold, keep core in its cap.

        All are counted in one transaction: agents of a fleet are shown the same facts.
        """
        by_agent: dict[Scope, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
        for item in items:
            by_agent[item.scope][_text_of(item, "cause")] += _used_in(item)
        has_core = False
        for scope, facts in (await self._semantic.add_uses(by_agent, now)).items():
            promoted = await self._keeper.promote(scope, facts, now)
            has_core = has_core or promoted or any(fact.tier == "core" for fact in facts)
        if has_core:
            # Facts that were remembered as core fill it as well, and who died after a promotion
            # left this to whoever repeats the work.
            await self._keeper.keep_cap(items[0].scope, now)
        return {}


def _used_in(item: Work) -> list[str]:
    used = item.payload.get("used")
    if not isinstance(used, list):
        raise CorruptRecord("cold", "learn", f"work {item.id} names no used facts")
    facts = [one for one in used if isinstance(one, str)]
    if len(facts) < len(used):
        raise CorruptRecord("cold", "learn", f"work {item.id} names no used facts")
    return facts


def _text_of(item: Work, name: str) -> str:
    value = item.payload.get(name)
    if not isinstance(value, str):
        raise CorruptRecord("cold", item.kind, f"work {item.id} has no {name}")
    return value
