"""Step 1: intent, entities, urgency."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ezra.turn.parse import ENTITIES_MAX, parse


@pytest.mark.parametrize(
    ("text", "intent"),
    [
        ("How long do the mediums last?", "question"),
        ("when did we pit", "question"),
        ("Good morning. What is the plan", "question"),
        ("Please box this lap.", "request"),
        ("Remember the wing setting", "request"),
        ("The tyres are gone.", "report"),
        ("", "report"),
    ],
)
def test_intent(text: str, intent: str) -> None:
    """Questions end in a question mark or begin with a question word."""
    assert parse(text).intent == intent


def test_entities_are_names_and_numbers_in_order_once() -> None:
    """A capital at the start of a sentence makes no name of a stop word."""
    found = parse("Did Ada Brandt change to 7.5 bar? The team told Ada Brandt on lap 18.")
    assert found.entities == ("Ada Brandt", "7.5", "18")


@pytest.mark.parametrize("text", ["Box now, urgent", "Stop!!", "ASAP please"])
def test_urgency(text: str) -> None:
    """Words that press for time."""
    assert parse(text).urgent
    assert not parse("No hurry.").urgent


@given(st.text(max_size=2000))
def test_any_text_is_parsed(text: str) -> None:
    """No text breaks the first step, and entities are bounded."""
    assert len(parse(text).entities) <= ENTITIES_MAX
