"""What the learning agent decides about core, as pure functions over records and a policy."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tiers.knowledge import is_apart
from tiers.learning import is_live
from tiers.records import Fact

from .core import PRESSING, by_worth


@dataclass(frozen=True)
class LearningPolicy:
    """When facts move between archival and core.

    Attributes:
        promote_at_uses: Uses at which an archival fact becomes core (the original's default: 3);
            after a demotion so many new ones.
        core_cap: Core facts a graph may hold; above it the least worth are demoted.
    """

    promote_at_uses: int = 3
    core_cap: int = 200

    @property
    def core_kept(self) -> int:
        """How many core facts are left when the cap was passed: a twentieth less than the cap.

        So that not every promotion after that demotes another fact.
        """
        return self.core_cap - self.core_cap // 20


def may_be_core(fact: Fact) -> bool:
    """Whether a fact may become core: more than an agent says it, and recall finds it.

    What an agent wrote would become its own proof. It is the agent's alone until a user or a tool
    says the same (``tiers.learning.vouched``).
    """
    return fact.source != "agent" and not is_apart(fact)


def promotion_reason(fact: Fact, policy: LearningPolicy) -> str | None:
    """Return why an archival fact becomes core now, or ``None`` if it does not.

    Constraints and identity have to be used as often as everything else: what type a fact is may
    be a model's word for it, and no such word alone may reach every context. Being core, they come
    first. Who knows that a fact is needed always remembers it as core.

    What ``may_be_core`` keeps out stays out however often it is used.
    """
    if fact.tier != "archival" or not is_live(fact) or not may_be_core(fact):
        return None
    earned = fact.uses - fact.earned_from
    if earned < policy.promote_at_uses:
        return None
    since = " since it was demoted" if fact.earned_from else ""
    return f"used {earned} times{since}, threshold {policy.promote_at_uses}"


def in_order_of_promotion(facts: Sequence[Fact]) -> list[Fact]:
    """Return facts in the order in which they become core: constraints, identity, most used."""
    return sorted(facts, key=lambda one: (_pressing(one), -one.uses, one.recorded_at, one.id))


def demotions(core: Sequence[Fact], policy: LearningPolicy) -> list[tuple[Fact, str]]:
    """Return the facts that must leave core, which is above its cap, each with the reason.

    Constraints stay first, then identity. Of the other places, half are for the most used, half of
    what remains for those that became core last, and the rest for the oldest. The least used leave
    first, among equals the one that was used or recorded longest ago.
    """
    if len(core) <= policy.core_cap:
        return []
    places = max(policy.core_kept - sum(one.fact_type in PRESSING for one in core), 1)
    most_used = -(-places // 2)
    newest = -(-(places - most_used) // 2)
    leaving = by_worth(core, newest, most_used)[policy.core_kept :]
    leaving.sort(key=lambda one: (one.uses, one.last_used_at or one.recorded_at, one.id))
    cap = f"core holds {len(core)} facts, cap {policy.core_cap}"
    return [(one, f"{cap}: {_why_leaving(one)}, used {one.uses} times") for one in leaving]


def _why_leaving(fact: Fact) -> str:
    if fact.fact_type in PRESSING:
        return f"one {fact.fact_type} more than there are places"
    return "neither among the most used nor the newest nor the oldest"


def _pressing(fact: Fact) -> int:
    return PRESSING.index(fact.fact_type) if fact.fact_type in PRESSING else len(PRESSING)
