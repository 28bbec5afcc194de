"""What the learning agent decides, as pure functions over records and a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiers.records import Fact


@dataclass(frozen=True)
class LearningPolicy:
    """When facts move between archival and core.

    Attributes:
        promote_at_uses: Uses at which an archival fact becomes core (the original's default: 3).
        core_cap: Core facts a graph may hold; above it the least used are demoted.
    """

    promote_at_uses: int = 3
    core_cap: int = 200


def promotion_reason(fact: Fact, policy: LearningPolicy) -> str | None:
    """Return why an archival fact becomes core now, or ``None`` if it does not."""
    if fact.tier != "archival" or fact.superseded_by is not None:
        return None
    if fact.uses < policy.promote_at_uses:
        return None
    return f"used {fact.uses} times, threshold {policy.promote_at_uses}"


def demotions(core: Sequence[Fact], policy: LearningPolicy) -> list[tuple[Fact, str]]:
    """Return the facts that must leave core for it to fit its cap, each with the reason.

    The least used go first, among equals the one that was used or recorded longest ago.
    """
    excess = len(core) - policy.core_cap
    if excess <= 0:
        return []
    by_worth = sorted(core, key=lambda fact: (fact.uses, fact.last_used_at or fact.recorded_at))
    reason = f"core holds {len(core)} facts, cap {policy.core_cap}, and this one is the least used"
    return [(fact, reason) for fact in by_worth[:excess]]
