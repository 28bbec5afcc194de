"""What the learning agent decides."""

from __future__ import annotations

from support.records import START, fact

from metaagents.learning.rules import LearningPolicy, demotions, promotion_reason

POLICY = LearningPolicy(promote_at_uses=3, core_cap=2)


def test_the_threshold_promotes_and_says_why() -> None:
    """Two uses are not enough, three are."""
    assert promotion_reason(fact(1, uses=2), POLICY) is None
    assert promotion_reason(fact(1, uses=3), POLICY) == "used 3 times, threshold 3"


def test_core_and_superseded_facts_are_not_promoted() -> None:
    """There is nothing to promote in what is core already, or no longer holds."""
    assert promotion_reason(fact(1, uses=9, tier="core"), POLICY) is None
    assert promotion_reason(fact(1, uses=9, superseded_by="fact-002"), POLICY) is None


def test_the_least_used_leave_a_core_that_is_over_its_cap() -> None:
    """Uses decide, then who was used or recorded longest ago."""
    core = [
        fact(1, tier="core", uses=5),
        fact(2, tier="core", uses=1, last_used_at=START.replace(year=2027)),
        fact(3, tier="core", uses=1),
        fact(4, tier="core", uses=3),
    ]
    assert [one.id for one, _ in demotions(core, POLICY)] == ["fact-003", "fact-002"]
    assert all("cap 2" in reason for _, reason in demotions(core, POLICY))
    assert demotions(core[:2], POLICY) == []
