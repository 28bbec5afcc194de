"""What every record is made of takes nothing for something else."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from tiers.errors import UsageError
from tiers.fields import TEXT_CHARS_MAX
from tiers.records import Budget, Fact, Parent, Retention, Rule


@pytest.mark.parametrize("number", ["2025", 2025, 1.5, "1e9", "20250301"])
def test_a_number_is_no_time(number: object) -> None:
    """As seconds since 1970 the year 2025 would be a moment of that January."""
    with pytest.raises(UsageError, match=r"valid_from: .* a time of ISO 8601"):
        Fact(text="Tokens live long.", valid_from=number)


@pytest.mark.parametrize(
    ("given", "accepted"),
    [
        ({"text": 5}, "text"),
        ({"text": "x" * (TEXT_CHARS_MAX + 1)}, f"text of at most {TEXT_CHARS_MAX} characters"),
        ({"text": "x", "confidence": 7}, "less than or equal to 1"),
        ({"text": "x", "confidence": "high"}, "a number"),
        ({"text": "x", "private": "perhaps"}, "true or false"),
        ({"text": "x", "tier": "hot"}, "'archival' or 'core'"),
        ({"text": "x", "source_ids": 5}, "a list"),
        ({"text": "x", "valid_from": "soon"}, "a time of ISO 8601 with its zone"),
        ({"text": "x", "colour": "red"}, "no such field"),
    ],
)
def test_what_is_accepted_is_said_as_everywhere(given: dict[str, object], accepted: str) -> None:
    """In our words, not in those of whoever looked at it."""
    with pytest.raises(UsageError) as refused:
        Fact(**given)
    assert refused.value.accepted == accepted


@pytest.mark.parametrize(
    ("given", "field", "value"),
    [
        ({"text": " "}, "text", " "),
        ({}, "text", None),
        ({"text": "", "subject": "a", "predicate": "b", "object": ""}, "object", ""),
        ({"predicate": "b", "object": "c"}, "subject", None),
    ],
)
def test_what_a_fact_lacks_is_named(given: dict[str, object], field: str, value: object) -> None:
    """It was ``Fact: {…}``, with whatever else the fact said."""
    with pytest.raises(UsageError) as refused:
        Fact(**given)
    assert (refused.value.field, refused.value.value) == (field, value)
    assert refused.value.accepted == "a fact needs text, or subject, predicate and object"


def test_an_end_before_the_beginning_is_named() -> None:
    """It was the whole fact."""
    begins, ends = datetime(2026, 3, 2, tzinfo=UTC), datetime(2026, 3, 1, tzinfo=UTC)
    with pytest.raises(UsageError) as refused:
        Fact(text="Tokens live long.", valid_from=begins, valid_to=ends)
    assert (refused.value.field, refused.value.value) == ("valid_to", ends)
    assert refused.value.accepted == "nothing before valid_from, 2026-03-02T00:00:00+00:00"


def test_a_name_has_at_least_one_character() -> None:
    """Of one there is one."""
    with pytest.raises(UsageError) as refused:
        Parent(id=" ")
    assert refused.value.accepted == "text of at least one character"


def test_a_time_is_read_from_text() -> None:
    """As it comes over a wire."""
    fact = Fact(text="Tokens live long.", valid_from="2025-03-01T12:00:00+01:00")
    assert fact.valid_from == datetime(2025, 3, 1, 11, tzinfo=UTC)


@pytest.mark.parametrize("given", [True, "3", "true"])
def test_what_is_no_number_is_none(given: object) -> None:
    """``True`` was one write, and ``"3"`` three."""
    for make in (
        lambda: Budget(writes=given),
        lambda: Retention(beliefs_days=given),
        lambda: Fact(text="Tokens live long.", confidence=given),
    ):
        with pytest.raises(UsageError, match=r"accepted: a (whole )?number"):
            make()
    assert Retention(beliefs_days=3).beliefs_days == 3.0
    with pytest.raises(UsageError, match=r"rules: 'false' .* true or false"):
        Parent(id="monaco", rules="false")


@pytest.mark.parametrize("trigger", ["it rains", "when it rains", "When it rains"])
def test_a_rule_says_when_once(trigger: str) -> None:
    """However its trigger was put."""
    assert Rule(trigger=trigger, steps=("box",)).text == "When it rains:\n- box"


def test_a_trigger_that_only_sounds_like_it_is_told_with_when() -> None:
    """``iffy`` is no ``if``."""
    assert Rule(trigger="iffy data", steps=("ask",)).text.startswith("When iffy data:")
