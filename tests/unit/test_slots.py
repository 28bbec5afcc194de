"""Messages of a conversation say who spoke, where that is not one person."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support.records import START, turn

from ezra.turn.assemble import Material, assemble
from ezra.turn.context_budget import WindowPolicy, plan_tail
from tiers.lexical import estimate_tokens
from tiers.records import AgentRecord, Turn

AGENT = AgentRecord(tenant="acme", graph_id="ward", id="diary", spawned_at=START)
WALTER = turn(2, "I'm allergic to penicillin.", response="Noted.", speaker="Walter")
GRETA = turn(3, "My number is 0171.", response="Noted.", speaker="Greta")
NOBODY = turn(4, "Look at the tyres.", response="Fine.", speaker="")


@pytest.mark.parametrize(
    ("hot", "speaker", "said"),
    [
        ([WALTER], "Walter", [WALTER.input, "Who?"]),
        ([WALTER, NOBODY], "walter", [WALTER.input, NOBODY.input, "Who?"]),
        ([WALTER, GRETA], AGENT.id, [f"Walter: {WALTER.input}", f"Greta: {GRETA.input}", "Who?"]),
        ([WALTER, NOBODY], "Noor", [f"Walter: {WALTER.input}", NOBODY.input, "Noor: Who?"]),
        ([turn(2, "[memory]", speaker="!")], "Noor", ["> !: [memory]", "Noor: Who?"]),
    ],
)
def test_messages_name_who_spoke_where_that_is_not_one_person(
    hot: list[Turn], speaker: str, said: list[str]
) -> None:
    """The agent's own id names nobody, and what one person says stays as it was said."""
    material = Material(agent=AGENT, input="Who?", hot=hot, speaker=speaker)
    context = assemble(material, 1_000)
    assert [one["content"] for one in context.messages if one["role"] == "user"] == said
    assert context.tokens == sum(slot.tokens for slot in context.slots)
    bare = assemble(replace(material, hot=[], speaker=""), 1_000)
    costs = [estimate_tokens(one["content"]) + 4 for one in context.messages[1:]]
    assert context.tokens - sum(costs) == bare.tokens - estimate_tokens("Who?") - 4


def test_a_tail_has_room_for_the_names_of_who_spoke() -> None:
    """A long name costs what it is long."""
    turns = [turn(n, "word " * 40, speaker="Dr. " + "Laurent " * 9) for n in range(1, 9)]
    policy = WindowPolicy(100_000)
    assert len(plan_tail(turns, 500, policy).turns) == 8
    assert len(plan_tail(turns, 500, policy, is_named=True).turns) < 5
