"""Moving facts between archival and core, each move with its cause in the audit feed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from tiers.drafts import index_work
from tiers.records import Fact, FactTier, Scope

from .rules import LearningPolicy, demotions, in_order_of_promotion, promotion_reason

if TYPE_CHECKING:
    from tiers.cold.stores import SemanticStore

OnMove = Callable[[FactTier], None]
"""Hears of each fact that moved, and where to."""


def ignore_move(tier: FactTier) -> None:
    """Hear of a move, and do nothing."""
    del tier


@dataclass(eq=False)
class CoreKeeper:
    """Promotes what earned it and keeps core in its cap.

    Attributes:
        semantic: The facts.
        policy: When to move.
        on_move: Hears of each move.
    """

    semantic: SemanticStore
    policy: LearningPolicy
    on_move: OnMove = ignore_move

    async def promote(self, scope: Scope, facts: Sequence[Fact], now: datetime) -> bool:
        """Promote those of the facts that were used often enough; return whether there are any.

        Constraints first, then identity, then the most used.
        """
        promoted = False
        for fact in in_order_of_promotion(facts):
            reason = promotion_reason(fact, self.policy)
            if reason is not None:
                promoted |= await move(
                    self.semantic, scope, fact, "core", reason, now, self.on_move
                )
        return promoted

    async def keep_cap(self, scope: Scope, now: datetime) -> None:
        """Demote what core has too much of; nothing while the graph is within its cap."""
        whole = scope.for_graph()
        core = await self.semantic.core(whole)
        for fact, reason in demotions(core, self.policy):
            await move(self.semantic, whole, fact, "archival", reason, now, self.on_move)


async def move(
    semantic: SemanticStore,
    scope: Scope,
    fact: Fact,
    tier: FactTier,
    reason: str,
    now: datetime,
    on_move: OnMove = ignore_move,
) -> bool:
    """Move a fact to another tier and have it indexed anew; ``False`` when it has moved already."""
    again = index_work(fact.id, fact.agent_id)
    sight = scope.for_agent(fact.agent_id) if fact.private else scope
    has_moved = await semantic.set_tier(sight, fact, tier, reason, now, [again])
    if has_moved:
        on_move(tier)
    return has_moved
