"""Who is ill from what they eat or touch is learnt in their own words, and nobody else."""

from __future__ import annotations

import pytest

from metaagents.learning.patterns import stated


def _told(said: str) -> list[str]:
    return [one.text for one in stated(said, "Ada")]


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("My throat swells up when I eat peanuts.", "Ada's throat swells up when Ada eats peanuts"),
        (
            "I stop breathing if I'm stung by a bee.",
            "Ada stops breathing if Ada is stung by a bee",
        ),
        ("Whenever I eat eggs I get sick.", "Whenever Ada eats eggs Ada gets sick"),
        ("Eating gluten makes me ill.", "Eating gluten makes Ada ill"),
        (
            "My daughter's lips swell if she eats sesame.",
            "Ada's daughter's lips swell if she eats sesame",
        ),
        (
            "I get migraines whenever I drink red wine.",
            "Ada gets migraines whenever Ada drinks red wine",
        ),
        ("If Tom eats kiwi, his mouth itches.", "Ada: If Tom eats kiwi, his mouth itches"),
        ("Milk upsets my stomach.", "Milk upsets Ada's stomach"),
        ("Ibuprofen doesn't agree with me.", "Ibuprofen doesn't agree with Ada"),
        ("I can't digest lactose.", "Ada can't digest lactose"),
        ("I had a bad reaction to amoxicillin once.", "Ada had a bad reaction to amoxicillin once"),
    ],
)
def test_what_somebody_does_not_bear_is_learnt(said: str, learnt: str) -> None:
    """However they say it: as a rule, in either order, of a child, of a medicine."""
    assert _told(said) == [learnt]


@pytest.mark.parametrize(
    "said",
    [
        "What happens if I eat nuts?",
        "If I eat nuts, will I get sick?",
        "I feel sick when I see him.",
        "I get ill when I have too much work.",
        "If I touch the wrong wire I'll faint.",
        "I would get sick if I ate that.",
        "The server goes down when it gets too much load.",
        "Eating out makes me happy.",
        "She doesn't agree with me.",
        "That comment upset my stomach.",
    ],
)
def test_what_only_sounds_like_it_is_not(said: str) -> None:
    """Questions, what would be, moods, opinions and servers."""
    assert _told(said) == []
