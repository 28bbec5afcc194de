"""What somebody's part is, what they go by and used to do is told, and no manner of speaking."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.patterns import stated

NOW = datetime(2026, 6, 17, 14, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I belong to a choir.", "Ada belongs to a choir"),
        ("I read mostly crime novels.", "Ada mostly reads crime novels"),
        ("I do yoga twice a week.", "Ada does yoga twice a week"),
        ("I joined a startup.", "Ada joined a startup"),
        ("I used to play the cello.", "Ada used to play the cello"),
        ("I've worn glasses since I was eight.", "Ada wears glasses since the age of eight"),
        ("I've had a nut allergy since 2010.", "Ada has a nut allergy since 2010"),
        ("My knee has been hurting for a week.", "Ada's knee has been hurting since 10 June 2026"),
        ("My grandfather fought in Korea.", "Ada's grandfather fought in Korea"),
        ("My grandmother never learned to read.", "Ada's grandmother never learned to read"),
        ("Tom's flatmate speaks Korean.", "Tom's flatmate speaks Korean"),
        ("Our style guide forbids semicolons.", "Ada's style guide forbids semicolons"),
        ("Our flour comes from Molino Ferrari.", "Ada's flour comes from Molino Ferrari"),
        ("The board agreed to hire a cook.", "the board agreed to hire a cook"),
        ("The flag new_ui is off in the demo.", "the flag new_ui is off in the demo"),
        (
            "Marta is taking over the billing team from Jon.",
            "Marta is taking over the billing team from Jon",
        ),
    ],
)
def test_what_stands_is_told(said: str, told: str) -> None:
    """Whatever verb says it, with its adverb behind it and its age as a time."""
    assert told in [one.text for one in stated(said, "Ada", NOW)]


@pytest.mark.parametrize(
    "said",
    [
        "I follow the tutorial but it fails.",
        "I keep my fingers crossed.",
        "I have my own opinion.",
        "I hold my breath.",
        "I used to think Python was slow.",
        "The button used to be green.",
        "I joined a queue of forty people.",
        "I'm taking over the couch.",
        "My sister handles the truth badly.",
        "My keyboard supports me.",
        "I hope my daughter starts school in September.",
        "It looks as though the office closes early.",
        "I don't know whether my cousin is married.",
        "Yeah, and my cat files my taxes.",
    ],
)
def test_manners_of_speaking_and_doubts_are_not_told(said: str) -> None:
    """They have the same verbs."""
    assert stated(said, "Ada", NOW) == []
