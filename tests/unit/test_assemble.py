"""A context is packed in salience order, within its budget, and explains itself."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from support.records import START, fact, hit, turn

from ezra.turn.assemble import Material, assemble
from tiers.records import AgentRecord, Ancestor, Commitment, MeshResult, Rule

AGENT = AgentRecord(
    tenant="acme", graph_id="imola", id="strategist", role="Plans stints.", spawned_at=START
)


def everything(**more: object) -> Material:
    """Return material with one piece of each kind."""
    values: dict[str, object] = {
        "agent": AGENT,
        "input": "How long do they last?",
        "beliefs": [
            Commitment(id="belief-1", claim="Rain at two."),
            Commitment(id="belief-2", claim="Start on mediums.", pinned=True),
        ],
        "core": [fact(1, graph_id="monaco")],
        "rules": [Rule(id="rule-1", trigger="safety car", steps=("box",))],
        "archival": [hit("fact-7", 0.5, kind="fact")],
        "warm": [hit("summary-1", 0.4, kind="summary", source_ids=("turn-1",))],
        "hot": [turn(2, "first", response="noted"), turn(3, "second")],
        "mesh": MeshResult(source="timing", text="P3", queried_at=START),
        "lineage": [Ancestor(graph_id="monaco", path=("monza", "monaco"))],
        **more,
    }
    return Material(**values)


def test_slots_come_in_salience_order_with_their_sources() -> None:
    """System, pinned beliefs, beliefs, core, rules, archival, warm, mesh, hot, input."""
    context = assemble(everything(), 1000)
    assert [slot.kind for slot in context.slots] == [
        "system", "belief", "belief", "core", "rule", "archival", "warm", "mesh", "hot", "hot",
        "input",
    ]  # fmt: skip
    assert context.slots[1].source_ids == ("belief-2",)
    assert context.slots[3].inherited_from == "monaco"
    assert context.slots[3].path == ("monza", "monaco")
    assert context.slots[4].inherited_from is None
    assert context.slots[5].score == 0.5
    assert context.slots[6].source_ids == ("summary-1", "turn-1")
    assert context.dropped == ()


def test_messages_are_one_system_message_the_hot_turns_and_the_input() -> None:
    """Hot turns are a dialogue, oldest first; everything else is in the system message."""
    messages = assemble(everything(), 1000).messages
    assert [message["role"] for message in messages] == [
        "system", "user", "assistant", "user", "user",
    ]  # fmt: skip
    assert [message["content"] for message in messages[1:]] == [
        "first", "noted", "second", "How long do they last?",
    ]  # fmt: skip
    for text in ("Plans stints.", "Start on mediums.", "Mediums last 18 laps.", "timing", "box"):
        assert text in messages[0]["content"]


def test_a_fact_is_told_with_the_time_in_which_it_holds() -> None:
    """A model is not told as current what ended, whichever slot it is in."""
    over = START - timedelta(days=1)
    archival = [
        hit("a", 0.9, kind="fact", text="P", valid_from=START),
        hit("b", 0.8, kind="fact", text="Q", valid_from=over, valid_to=START),
        hit("c", 0.7, kind="fact", text="R", valid_to=START),
    ]
    core = [fact(1, text="S", valid_to=START), fact(2, text="T", valid_from=START)]
    context = assemble(everything(archival=archival, core=core), 1000)
    shown = [slot.text for slot in context.slots if slot.kind in {"archival", "core"}]
    day, before = f"{START:%Y-%m-%d}", f"{over:%Y-%m-%d}"
    assert shown == [
        f"S (until {day})", "T", f"P (since {day})", f"Q (from {before} until {day})",
        f"R (until {day})",
    ]  # fmt: skip


def test_a_small_budget_keeps_system_and_input_and_says_what_was_dropped() -> None:
    """The least salient go first, and the newest hot turns stay longest."""
    tight = assemble(everything(), 1)
    assert [slot.kind for slot in tight.slots] == ["system", "input"]
    assert len(tight.dropped) == 9
    hot_only = everything(beliefs=(), core=(), rules=(), archival=(), warm=(), mesh=None)
    full = assemble(hot_only, 1000)
    less = assemble(hot_only, full.tokens - 1)
    assert [slot.source_ids for slot in less.slots if slot.kind == "hot"] == [("turn-3",)]


def test_a_record_is_not_told_twice() -> None:
    """A fact that is core is not repeated among the archival ones."""
    context = assemble(everything(archival=[hit("fact-001", kind="fact")]), 1000)
    assert [slot.source_ids for slot in context.slots].count(("fact-001",)) == 1


@given(budget=st.integers(min_value=0, max_value=400), size=st.integers(min_value=0, max_value=9))
def test_the_budget_holds_beyond_what_always_goes_in(budget: int, size: int) -> None:
    """Kept and dropped together are everything, and kept costs no more than the budget."""
    facts = [fact(number, f"fact {number} " + "x" * number * 7) for number in range(size)]
    context = assemble(everything(core=facts), budget)
    always = sum(slot.tokens for slot in context.slots if slot.kind in ("system", "input"))
    assert context.tokens <= max(budget, always)
    kept = [slot for slot in context.slots if slot.kind == "core"]
    dropped = [slot for slot in context.dropped if slot.kind == "core"]
    assert len(kept) + len(dropped) == size
