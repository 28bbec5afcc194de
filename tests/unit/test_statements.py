"""Which sentences say something, and which of them a text tells."""

from __future__ import annotations

import pytest

from metaagents.lifecycle.statements import Telling, carried, is_courtesy, is_statement

SAID = "We saw the Grand Canyon on Friday with 3 friends."


@pytest.mark.parametrize(
    "text",
    [
        "Hi Ada!",
        "Thanks, Ada",
        "Does he?",
        "Hey!",
        "Thanks so much!",
        "Wow, that's awesome.",
        "Good morning",
        "Sounds great, take care!",
        "\u2026",
    ],
)
def test_courtesies_say_nothing(text: str) -> None:
    """Greetings, thanks, praise and assent."""
    assert is_courtesy(text)
    assert not is_statement(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I have type 1 diabetes.", True),
        ("Thanks for the cello, Ada.", True),
        ("Yes, vegetarian.", True),
        ("Vegetarian.", True),
        ("At 7.", True),
        ("Wow, I got 3!", True),
        ("Ich wohne in Bremen.", True),
        ("Where do you live?", False),
        ("Is it 7?\u201d", False),
    ],
)
def test_a_statement_is_no_question(text: str, expected: bool) -> None:  # noqa: FBT001
    """One word is enough, of any language."""
    assert not is_courtesy(text)
    assert is_statement(text) is expected


@pytest.mark.parametrize(
    ("text", "is_told"),
    [
        ([SAID], True),
        (["Ada told that they saw the Grand Canyon on Friday, she and 3 friends."], True),
        (["Also mentioned: Grand, Canyon, Friday, 3"], False),
        (["We saw the Grand Canyon with 3 friends."], False),
        (["We saw the Grand Canyon.", "It was Friday, with 3 friends."], False),
        (["We never saw the Grand Canyon on Friday; 3 friends did."], True),
        ([], False),
    ],
)
def test_a_statement_is_told_by_one_sentence(text: list[str], is_told: bool) -> None:  # noqa: FBT001
    """With all numbers and names and most other words; a list of its names is none of it."""
    assert Telling(text).left_out([SAID, SAID]) == ([] if is_told else [SAID])


def test_a_denial_is_not_told_by_its_opposite() -> None:
    """Words of it minus the negation say something else."""
    assert Telling(["I eat meat."]).left_out(["I do not eat meat."]) == ["I do not eat meat."]


def test_weights_fall_with_what_is_said_already() -> None:
    """Never rise, and not where no word is shared."""
    first, second = carried(["I sold the boat in Trieste.", "Lap 18 held."])
    had = dict.fromkeys(first.worth, 1)
    assert 0 < first.weight(had) < first.weight({})
    assert second.weight(had) == second.weight({})
