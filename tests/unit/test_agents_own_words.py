"""What an agent wrote is no proof of itself: it does not become core, and ends nothing in core."""

from __future__ import annotations

import pytest
from support.records import fact

from metaagents.learning.rules import LearningPolicy, promotion_reason
from metaagents.learning.weighing import verdicts
from tiers.learning import INDEPENDENT, vouched

POLICY = LearningPolicy(promote_at_uses=3)


def test_what_an_agent_wrote_is_not_promoted_however_often_it_is_used() -> None:
    """Until the same is said by a user or a tool."""
    written = fact(1, uses=99, source="agent")
    assert promotion_reason(written, POLICY) is None
    for source in INDEPENDENT:
        said = vouched(written, fact(2, source=source, source_ids=("turn",)))
        assert (said.source, said.source_ids) == (source, ("turn",))
        assert promotion_reason(said, POLICY) == "used 99 times, threshold 3"


@pytest.mark.parametrize("source", ["agent", "document", "system", None])
def test_nobody_else_vouches_for_it(source: str | None) -> None:
    """Not the agent itself, and not a document that it may have written."""
    written = fact(1, uses=99, source="agent")
    assert vouched(written, fact(2, source=source)) is written
    said = fact(3, source="user")
    assert vouched(said, fact(4, source="tool")) is said


def test_it_ends_no_core_fact_and_takes_no_place_there() -> None:
    """What a user's later words may do to a core fact, an agent's may not."""
    core, later = fact(1, tier="core", source="user"), fact(2, source="user")
    found = {core.id: "natural"}
    assert [one.fact_id for one in verdicts(later, found, [core])] == [core.id]
    written = later.model_copy(update={"source": "agent"})
    assert not [one for one in verdicts(written, found, [core]) if one.fact_id == core.id]
