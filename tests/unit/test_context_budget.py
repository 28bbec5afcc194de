"""The tail of a context: long or short by what the turn before used, cut once and not each turn."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st
from support.records import turn

from ezra.turn.assemble import STEADY_LAYOUT, Material, assemble
from ezra.turn.context_budget import (
    KEPT_MESSAGES,
    LONG_MESSAGES,
    SHORT_MESSAGES,
    TailPlan,
    WindowPolicy,
    plan_tail,
    turns_wanted,
)
from tiers.records import AgentRecord, Rule, Tail, Turn

POLICY = WindowPolicy(1_000)
ROOM = 10_000


def talk(uses: list[int], *, room: int = ROOM, words: int = 1) -> list[TailPlan]:
    """Have a conversation in which each turn used so many tokens; return the plan of each turn."""
    turns: list[Turn] = []
    plans: list[TailPlan] = []
    for number, used in enumerate(uses, start=1):
        last = turns[-1] if turns else None
        plan = plan_tail(turns[-turns_wanted(last) :], room, POLICY)
        plans.append(plan)
        said = turn(number, "word " * words, response="answer")
        told = plan.tail_after(used, is_reported=True)
        turns.append(said.model_copy(update={"seq": number, "tail": told}))
    return plans


def messages(plan: TailPlan) -> int:
    """Return how many messages a plan shows."""
    return 2 * len(plan.turns)


def test_a_tail_grows_to_20_messages_and_is_then_cut_once() -> None:
    """It keeps its beginning for as long as it fits, and leaves room to grow."""
    plans = talk([1] * 30)
    lengths = [messages(plan) for plan in plans]
    assert lengths[:11] == list(range(0, 22, 2))
    assert lengths[11] == KEPT_MESSAGES
    assert max(lengths) == LONG_MESSAGES
    for before, after in pairwise(plans):
        assert (before.since == after.since) == (before.epoch == after.epoch)
    assert plans[-1].epoch == 4, "one cut in five turns"


def test_above_the_share_it_is_short_until_there_is_clearly_room() -> None:
    """Exactly at the share it is not; between the shares it stays as it is."""
    uses = [800, 801, 700, 500, 499, 700, 800]
    plans = talk([1] * 6 + uses + [1])[6:]
    assert [plan.is_short for plan in plans] == [
        False, False, True, True, True, False, False, False,
    ]  # fmt: skip
    assert [plan.epoch for plan in plans] == [0, 0, 1, 1, 1, 2, 2, 2]
    assert {messages(plan) for plan in plans if plan.is_short} == {SHORT_MESSAGES}
    assert all(bool(plan.note) == plan.is_short for plan in plans)


def test_a_tail_that_takes_too_many_tokens_is_cut_the_same_way() -> None:
    """Not a little each turn, which would change what every context begins with."""
    plans = talk([1] * 12, room=500, words=60)
    assert all(len(plan.turns) < 7 for plan in plans)
    changes = [plan.epoch for plan in plans]
    assert changes == sorted(changes)
    assert changes[-1] < len(plans) / 2
    assert len(talk([1] * 3, room=10, words=60)[-1].turns) == 1, "the last turn in any case"


@given(st.lists(st.integers(0, 1_200), max_size=40))
def test_an_epoch_has_one_beginning(uses: list[int]) -> None:
    """Contexts of a long epoch begin with all of the turns that the one before showed."""
    plans = talk(uses)
    for before, after in pairwise(plans):
        assert after.epoch - before.epoch in (0, 1)
        assert messages(after) <= (SHORT_MESSAGES if after.is_short else LONG_MESSAGES)
        if before.epoch == after.epoch and not after.is_short:
            shown = [one.id for one in before.turns]
            assert [one.id for one in after.turns][: len(shown)] == shown
        if before.is_short != after.is_short:
            assert after.epoch == before.epoch + 1


def test_what_is_found_stands_behind_the_conversation_in_a_steady_layout() -> None:
    """So that two turns with different finds begin with the same bytes."""
    agent = AgentRecord(tenant="a", graph_id="g", id="guide", spawned_at=turn(1, "x").recorded_at)
    hot = [turn(1, "first", response="noted")]

    def context(input_: str, rules: int) -> list[dict[str, str]]:
        made = [Rule(id=f"r{n}", trigger=f"rule {n}", steps=("box",)) for n in range(rules)]
        material = Material(agent=agent, input=input_, rules=made, hot=hot, layout=STEADY_LAYOUT)
        return assemble(material, 1_000).messages

    plain, found = context("a", 0), context("b", 2)
    assert plain[:3] == found[:3]
    assert [one["role"] for one in found] == ["system", "user", "assistant", "user", "user"]
    assert found[3]["content"].startswith("From memory")
    assert "## Procedures" in found[3]["content"]
    assert found[-1] == {"role": "user", "content": "b"}


def test_what_a_turn_tells_the_next_is_what_was_planned() -> None:
    """The tail that is stored has all that the plan of the next turn needs."""
    told = TailPlan((), 3, is_short=True, window_tokens=1_000).tail_after(900, is_reported=False)
    assert told == Tail(
        epoch=3, is_short=True, since=1, used_tokens=900, is_reported=False, window_tokens=1_000
    )
