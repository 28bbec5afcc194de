"""The core block: what is in every context, and what is left out of it and why."""

from __future__ import annotations

import pytest
from support.records import fact

from metaagents.learning import core
from metaagents.learning.core import CoreBlock, CorePolicy, core_block
from metaagents.learning.likeness import Reading, _read_short, alike
from tiers.lexical import estimate_tokens
from tiers.records import Fact

POLICY = CorePolicy(facts_max=8, share=0.5, newest=2, most_used=2)
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
    block = core_block([*rest, who, later, late], POLICY, BUDGET)
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
    block = core_block(facts, POLICY, BUDGET)
    shown = [one.id for one in block.facts]
    assert shown == [f"fact-{number:03}" for number in (1, 2, 3, 4, 10, 11, 19, 20)]


def test_the_block_keeps_to_its_share_of_the_tokens() -> None:
    """What does not fit is left out with its size; what comes after and fits is taken."""
    long = fact(1, "word " * 200, fact_type="constraint")
    short = _facts(3)
    block = core_block([long, *short], POLICY, 100)
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
    assert core_block([], POLICY, BUDGET) == CoreBlock()
    assert core_block(_facts(2), POLICY, 0).facts == ()


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
