"""A context: core block, tail and what is injected, in salience order, within the budget."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import START, fact, hit, turn

from ezra.recall.injection import ITEMS_MAX, fuse, rendered, within, without_repeats
from ezra.turn.assemble import INJECTED_CHARS, Material, assemble, injected_text
from ezra.turn.context_budget import (
    KEPT_MESSAGES,
    LONG_MESSAGES,
    SHORT_MESSAGES,
    TailPlan,
    WindowPolicy,
    plan_tail,
    turns_wanted,
)
from ezra.turn.shadowing import resolve_core
from ezra.turn.slots import STEADY_LAYOUT
from metaagents.learning import core
from metaagents.learning.core import CoreBlock, CorePolicy, core_block
from metaagents.learning.likeness import Reading, _read_short, alike
from tiers.lexical import estimate_tokens
from tiers.records import (
    AgentRecord,
    Ancestor,
    Commitment,
    Fact,
    MeshResult,
    Rule,
    Scope,
    Tail,
    Turn,
)

# A context is packed in salience order, within its budget, and explains itself.

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


def test_a_fact_of_a_former_day_is_told_with_the_day_on_which_it_was_said() -> None:
    """Learnt from talk, that is; the last time counts, and days are those of the reader."""
    then = START - timedelta(days=9)
    archival = [
        hit("a", 0.9, kind="fact", text="A", source_ids=("t",), said_at=then, recorded_at=START),
        hit("b", 0.8, kind="fact", text="B", source_ids=("t",), recorded_at=then),
        hit("c", 0.7, kind="fact", text="C", source_ids=("t",), said_at=START),
        hit("d", 0.6, kind="fact", text="D", recorded_at=then),
    ]
    core = [fact(1, text="E", source_ids=("t",), said_at=then)]
    context = assemble(everything(archival=archival, core=core, now=START), 1000)
    shown = [slot.said_on for slot in context.slots if slot.kind in {"core", "archival"}]
    day = f"{then:%Y-%m-%d}"
    assert shown == [day, day, day, None, None]
    lines = context.messages[0]["content"].splitlines()
    assert {line for line in lines if line.startswith("- [fact")} == {
        *(f"- [fact of {day}] {text}" for text in "EAB"),
        "- [fact] C",
        "- [fact] D",
    }
    assert context.tokens == sum(slot.tokens for slot in context.slots)


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


# The core block: what is in every context, and what is left out of it and why.

CORE = CorePolicy(facts_max=8, share=0.5, newest=2, most_used=2)
BUDGET = 4_000


def _facts(count: int, **more: object) -> list[Fact]:
    """Return facts that have nothing to do with each other, the oldest first."""
    return [
        fact(at, f"Sensor {at} of machine {at * 7} hums.", **more) for at in range(1, count + 1)
    ]


def test_constraints_and_identity_come_before_everything_else() -> None:
    """Whatever their age and uses, and they are shown first, each kind with the oldest first."""
    rest = _facts(12, uses=9)
    late = fact(31, "Quiet hours begin at 22:00.", fact_type="constraint")
    later = fact(32, "Ada is allergic to peanuts.", fact_type="constraint")
    who = fact(33, "Ada is a surgeon.", fact_type="identity")
    block = core_block([*rest, who, later, late], CORE, BUDGET)
    assert block.facts[:3] == (late, later, who)
    assert len(block.facts) == 8
    assert {why for _, why in block.left_out} == {"8 core facts are the most"}
    assert len(block.left_out) == 7


def test_the_rest_is_shared_between_newest_most_used_and_oldest() -> None:
    """Neither what was said first nor what was said last pushes the other out."""
    facts = _facts(20)
    facts[9] = facts[9].model_copy(update={"uses": 3})
    facts[10] = facts[10].model_copy(update={"uses": 5})
    facts[11] = facts[11].model_copy(update={"uses": 1})
    block = core_block(facts, CORE, BUDGET)
    shown = [one.id for one in block.facts]
    assert shown == [f"fact-{number:03}" for number in (1, 2, 3, 4, 10, 11, 19, 20)]


def test_the_block_keeps_to_its_share_of_the_tokens() -> None:
    """What does not fit is left out with its size; what comes after and fits is taken."""
    long = fact(1, "word " * 200, fact_type="constraint")
    short = _facts(3)
    block = core_block([long, *short], CORE, 100)
    assert block.facts == tuple(short)
    assert block.tokens == sum(estimate_tokens(one.text) for one in short) <= 50
    assert [(one.id, why) for one, why in block.left_out] == [
        (long.id, "250 tokens, 50 of 50 are left")
    ]


def test_what_says_the_same_is_shown_once_and_takes_no_place() -> None:
    """Small words make no other fact; one number does."""
    same = [
        fact(1, "Mediums last 18 laps."),
        fact(2, "The mediums last about 18 laps", fact_type="constraint"),
        fact(3, "Mediums last 19 laps."),
    ]
    block = core_block(same, CorePolicy(facts_max=2, newest=0), BUDGET)
    assert [one.id for one in block.facts] == ["fact-002", "fact-003"]
    assert [(one.id, why) for one, why in block.left_out] == [
        ("fact-001", "says what fact-002 says")
    ]


def test_nothing_is_a_block_too() -> None:
    """No facts, or no room."""
    assert core_block([], CORE, BUDGET) == CoreBlock()
    assert core_block(_facts(2), CORE, 0).facts == ()


def test_it_is_cheap_enough_for_every_turn(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fact is read once however often it is shown; what has no word in common is not compared."""
    compared: list[tuple[Reading, Reading]] = []

    def counted(one: Reading, two: Reading, share: float) -> bool:
        compared.append((one, two))
        return alike(one, two, share)

    monkeypatch.setattr(core, "alike", counted)
    _read_short.cache_clear()
    facts, policy = _facts(200, uses=1), CorePolicy(facts_max=200)
    for _ in range(3):
        assert len(core_block(facts, policy, 100_000).facts) == 200
    assert _read_short.cache_info().misses == 200
    assert len(compared) == 0


# The tail of a context: long or short by what the turn before used, cut once and not each turn.

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


# What is injected is fused fairly, told once, and fits its tokens: the pure parts.


def test_no_class_crowds_out_another() -> None:
    """The best of each class come before the second of any, whatever their scores say."""
    documents = [hit(f"d{n}", 0.9, kind="document", text=f"passage {n}") for n in range(30)]
    facts = [hit("f1", 0.01, kind="fact", text="fact")]
    turns = [hit(f"t{n}", 0.5, kind="turn", text=f"turn {n}") for n in range(2)]
    fused = fuse([facts, documents, turns])
    assert [one.id for one in fused[:5]] == ["f1", "d0", "t0", "d1", "t1"]
    assert [one.score for one in fused] == sorted((one.score for one in fused), reverse=True)
    assert {one.id for one in fused[:ITEMS_MAX]} >= {"f1", "t0", "t1"}
    assert fuse([]) == []


def test_what_says_the_same_is_told_once() -> None:
    """The better one stands, and carries the other's id; so does what a summary covers."""
    kept = without_repeats(
        [
            hit("f1", kind="fact", text="The gearbox seals last 9 races."),
            hit("f2", kind="fact", text="The gearbox seals last 9 races!"),
            hit("s", kind="summary", text="They spoke of tyres.", source_ids=("t1", "t2")),
            hit("t2", kind="turn", text="Which tyres shall we start with on Sunday?"),
            hit("f3", kind="fact", text="The gearbox seals last 4 races in rain."),
        ]
    )
    assert [(one.id, one.folded) for one in kept] == [("f1", ("f2",)), ("s", ("t2",)), ("f3", ())]


def test_the_text_fits_the_tokens_headings_included() -> None:
    """A smaller record may follow one that is too large; of a long text the beginning is shown."""
    hits = [
        hit("big", kind="document", text="word " * 900),
        hit("small", kind="fact", text="Seals last 9 races."),
    ]
    assert [one.id for one in within(hits, 60)] == ["small"]
    assert [one.id for one in within(hits, 600)] == ["big", "small"]
    for budget in (1, 20, 60, 600):
        assert estimate_tokens(rendered(within(hits, budget))) <= budget
    assert len(injected_text("x" * 9_000)) == INJECTED_CHARS
    assert injected_text("x") == "x"
    assert rendered([]) == ""


# Nearer definitions hide those further away.

CHILD = Scope(
    tenant="acme",
    graph_id="imola",
    lineage=tuple(
        Ancestor(graph_id=graph_id, path=(graph_id,), carries=("fact",))
        for graph_id in ("monza", "monaco")
    ),
)


def test_the_nearest_definition_hides_those_further_away() -> None:
    """Own graph first, then list order; facts of one graph never hide each other."""
    wing = {"subject": "Front wing", "predicate": "setting"}
    own = fact(1, graph_id="imola", object="7", **wing)
    also_own = fact(2, graph_id="imola", object="8", **wing)
    parent = fact(3, graph_id="monaco", object="5", subject="front wing", predicate="Setting")
    free = fact(4, "Team radio is on channel 4.", graph_id="monaco")
    resolved = resolve_core(CHILD, [own, also_own, parent, free], now=START)
    assert resolved.visible == (own, also_own, free)
    assert resolved.shadowed == (parent,)


def test_a_nearer_archival_fact_defines_too() -> None:
    """The own graph's, or that of an ancestor between; the archival fact itself is no core fact."""
    wing = {"subject": "Front wing", "predicate": "is at"}
    far = fact(1, graph_id="monaco", object="5", **wing)
    for nearer in ("imola", "monza"):
        archival = fact(2, graph_id=nearer, object="7", tier="archival", **wing)
        resolved = resolve_core(CHILD, [far], [archival], now=START)
        assert (resolved.visible, resolved.shadowed) == ((), (far,))


def test_what_is_no_nearer_definition_hides_nothing() -> None:
    """What is further away, what ended, and one of several objects of the same predicate."""
    near = fact(1, graph_id="monza", subject="wing", predicate="is at", object="5")
    further = fact(2, graph_id="monaco", subject="wing", predicate="is at", object="7")
    ended = fact(3, graph_id="imola", subject="wing", predicate="is at", object="7", valid_to=START)
    tea = fact(4, graph_id="monza", subject="Ada", predicate="likes", object="tea")
    juice = fact(5, graph_id="imola", subject="Ada", predicate="likes", object="juice")
    resolved = resolve_core(CHILD, [near, tea], [further, ended, juice], now=START)
    assert (resolved.visible, resolved.shadowed) == ((near, tea), ())


@pytest.mark.parametrize("tier", ["core", "archival"])
def test_a_nearer_definition_hides_only_while_it_holds(tier: Literal["core", "archival"]) -> None:
    """Before its day and after its last one what is further away stands beside it."""
    first, last = START + timedelta(days=2), START + timedelta(days=4)
    wing = {"subject": "wing", "predicate": "is at"}
    far = fact(1, graph_id="monaco", object="5", tier="core", **wing)
    near = fact(2, graph_id="imola", object="7", valid_from=first, valid_to=last, tier=tier, **wing)
    core, nearer = ([near, far], []) if tier == "core" else ([far], [near])
    for days, is_hidden in ((0, False), (2, True), (3, True), (4, False)):
        resolved = resolve_core(CHILD, core, nearer, now=START + timedelta(days=days))
        assert resolved.shadowed == ((far,) if is_hidden else ())
        assert (near in resolved.visible) == (tier == "core")
