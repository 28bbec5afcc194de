"""Which question a message asks, by rules."""

from __future__ import annotations

import time
from datetime import date
from typing import Any

import pytest

from ezra.mesh.matching import Choice, Entities, Unfit, candidates, chosen
from ezra.mesh.questions import Question

TODAY = date(2026, 5, 14)


def question(slots: dict[str, Any] | None = None, **more: Any) -> Question:
    """Return a question."""
    return Question.model_validate({"description": "One.", "slots": slots or {}, **more})


SKU = {"type": "text", "pattern": "[A-Z][0-9]+"}
QUESTIONS = {
    "level": question(
        {"sku": SKU}, patterns=["level of {sku}"], examples=["how many pieces of {sku} are left?"]
    ),
    "sold": question(
        {"since": {"type": "date"}, "sku": {**SKU, "required": False}}, keywords=["sold since"]
    ),
    "low": question(
        {"below": {"type": "integer", "min": 1, "max": 100}}, keywords=["running low", "fewer than"]
    ),
    "tyre": question(
        {"tyre": {"type": "enum", "values": ["soft", "extra soft"]}}, keywords=["tyre stock"]
    ),
    "item": question(
        {"name": {"type": "entity", "table": "items", "field": "name"}}, keywords=["where is"]
    ),
    "total": question(keywords=["grand total"]),
}
NAMES: dict[str, Entities] = {"item": {"name": ("Left gear", "Left gear box", "Wing")}}


def asked(message: str, entities: dict[str, Entities] | None = None) -> Choice | Unfit:
    """Return what a message asks."""
    found = candidates(QUESTIONS, message)
    return chosen(QUESTIONS, found, message, NAMES if entities is None else entities, TODAY)


@pytest.mark.parametrize(
    ("message", "name", "values"),
    [
        ("What is the level of A1?", "level", {"sku": "A1"}),
        ("what is the  LEVEL   of A1, please", "level", {"sku": "A1"}),
        ("Are many pieces of 'B22' left?", "level", {"sku": "B22"}),
        ("What was sold since 2026-05-01?", "sold", {"since": date(2026, 5, 1)}),
        ("A1 sold since yesterday", "sold", {"since": date(2026, 5, 13), "sku": "A1"}),
        ("Which articles run low, say fewer than 20?", "low", {"below": 20}),
        ("tyre stock of extra soft", "tyre", {"tyre": "extra soft"}),
        ("Where is the left GEAR BOX?", "item", {"name": "Left gear box"}),
        ("the grand total", "total", {}),
    ],
)
def test_a_message_chooses_a_question_and_fills_its_slots(
    message: str, name: str, values: dict[str, object]
) -> None:
    """Words in any form, slots by their own types, the longest name of an entity."""
    assert asked(message) == Choice(name, values)


@pytest.mark.parametrize(
    ("message", "why"),
    [
        ("What is the weather?", "no question is about that"),
        ("level of everything", "level: nothing stands for sku"),
        ("level of a1; DROP TABLE items", "level: nothing stands for sku"),
        ("How many pieces of A1 and B2 are left?", "level: 2 values stand for sku"),
        ("fewer than 1000", "low: nothing stands for below"),
        ("fewer than 1.5", "low: nothing stands for below"),
        ("sold since 2026-05-01 or 2026-05-02", "sold: 2 values stand for since"),
        ("Where is the engine?", "item: nothing stands for name"),
        ("", "no question is about that"),
    ],
)
def test_what_does_not_fit_is_said_and_asked_of_nobody(message: str, why: str) -> None:
    """A slot that nothing or too much stands for is not filled by a guess."""
    assert asked(message) == Unfit(why)


def test_two_questions_that_fit_alike_are_both_refused() -> None:
    """Which of them was meant, nobody knows."""
    found = asked("the grand total of tyre stock, soft")
    assert isinstance(found, Choice)
    twins = {"one": question(keywords=["grand total"]), "two": question(keywords=["grand total"])}
    alike = chosen(twins, candidates(twins, "grand total"), "grand total", {}, TODAY)
    assert alike == Unfit("it fits alike: one, two")


def test_a_column_with_too_many_values_names_no_entity() -> None:
    """Then a message alone names none of them."""
    found = asked("Where is the wing?", {"item": {"name": None}})
    assert found == Unfit("item: nothing stands for name")


def test_a_long_hostile_message_costs_little() -> None:
    """Only its beginning is looked at, in time that grows with its length."""
    messages = ["level of " * 5_000, "A" * 100_000, '"' * 50_000, 'level of "' + "x" * 90_000]
    started = time.process_time()
    for message in messages:
        assert isinstance(asked(message), Unfit)
    assert time.process_time() - started < 1.0


def test_a_question_must_name_slots_that_it_has() -> None:
    """In patterns and examples; a pattern names one at least, and each once."""
    for wrong in (
        {"patterns": ["level of {sky}"]},
        {"examples": ["{sky} left?"]},
        {"patterns": ["all levels"]},
        {"patterns": ["{sku} or {sku}"]},
    ):
        with pytest.raises(ValueError, match="slot"):
            question({"sku": SKU}, **wrong)
