"""The same fact in other ways of telling it: put first, in a question, as a correction."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.patterns import stated

NOW = datetime(2026, 6, 17, 14, 20, tzinfo=UTC)


def _learnt(said: str) -> list[str]:
    return [one.text for one in stated(said, "Ada", NOW)]


# What is put first to be stressed.


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Python is what I use at work.", "Ada uses Python at work"),
        ("Green tea is what I drink in the morning.", "Ada drinks green tea in the morning"),
        ("What I drink in the morning is green tea.", "Ada drinks green tea in the morning"),
        ("What I drive is a 2016 Octavia.", "Ada drives a 2016 Octavia"),
        ("A Saab is what we drive.", "Ada drives a Saab"),
        ("Ilorin is where I went to university.", "Ada went to university in Ilorin"),
        ("Lyon is where we got married.", "Ada got married in Lyon"),
        ("The one who holds the signing keys is Oskar.", "Oskar holds the signing keys"),
        ("Meat I don't eat at all.", "Ada doesn't eat meat at all"),
        ("Coffee I gave up years ago.", "Ada gave up coffee years ago"),
        ("Code examples I want in Python.", "Ada prefers code examples in Python"),
        ("Reports I prefer in plain text.", "Ada prefers reports in plain text"),
        ("It's with the Quakers I worship nowadays.", "Ada worships with the Quakers now"),
        ("It was in 2015 that I moved to Leeds.", "Ada moved to Leeds in 2015"),
        ("It's at Siemens that I work.", "Ada works at Siemens"),
    ],
)
def test_what_is_put_first_is_told_in_its_place(said: str, told: str) -> None:
    """A thing, a place, a time, and who does something."""
    assert _learnt(said) == [told]


@pytest.mark.parametrize(
    "said",
    [
        "This is what I use.",
        "Love is what I need.",
        "Berlin is where I want to live.",
        "Paris is where I went wrong.",
        "Is Python what I use?",
        "Python is what I would use.",
        "Python is what I use if I have to.",
        "Python is what my brother uses.",
        "What I use is none of your business.",
        "What I use is what I need.",
        "The one who wins is Tom.",
        "The one who knows everything is Oskar.",
        "The one who holds the keys may be Oskar.",
        "Is the one who holds the keys Oskar?",
        "Coffee I would give up.",
        "Coffee I almost gave up.",
        "Coffee my brother gave up years ago.",
        "The book I can't read is here.",
        "Words I never use.",
        "Sometimes I don't eat at all.",
        "Yesterday I gave up.",
        "Should I want in Python?",
        "It's in moments like this I miss home.",
        "It's with joy that I read it.",
        "It's for the best that I left.",
        "Was it in 2015 that I moved to Leeds?",
        "It's not in Leeds that I work.",
        "Nobody I don't like.",
        "Things I never eat: olives.",
        "That's the wine I don't drink.",
    ],
)
def test_what_only_looks_put_first_is_not_told(said: str) -> None:
    """Wishes, questions, what is so of others, and what is only named."""
    assert _learnt(said) == []
