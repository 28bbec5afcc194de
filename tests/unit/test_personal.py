"""Which facts of who speaks stand in a context whatever they say."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ezra.turn.personal import STANDING_MAX, facts_of, is_standing, shown_of
from tiers.records import Hit


def _hit(text: str, *, user: str | None = None, cosine: float | None = None) -> Hit:
    return Hit(
        id=text,
        kind="fact",
        text=text,
        score=1.0,
        tier="cold",
        user_id=user,
        recorded_at=datetime(2026, 11, 30, tzinfo=UTC),
        cosine=cosine,
    )


@pytest.mark.parametrize(
    "text",
    [
        "sam asks the assistant always to answer in German",
        "sam prefers answers in bullet points",
        "sam would rather have short replies",
        "sam is called Sammy",
        "the client wants everything in Dutch",
        "sam is severely allergic to nuts",
        "sam's son Max is lactose intolerant",
        "sam can't eat gluten",
        "sam is colour-blind",
        "sam gets hives from cashews",
        "Cashews give sam a rash",
        "sam's throat swells up when sam eats peanuts",
        "Sam had a swollen tongue from kiwis",
        "sam stops breathing if sam is stung by a bee",
        "Whenever sam eats eggs sam gets sick",
        "Eating gluten makes sam ill",
        "Milk upsets sam's stomach",
        "Ibuprofen doesn't agree with sam",
        "sam must not have penicillin, sam had a swollen throat from it in 1988",
        "sam mustn't take ibuprofen",
        "sam's son Max isn't allowed to have any raw milk",
        "sam's son Max must not eat nuts",
        "sam reacts badly to shellfish",
        "sam reacts to wasps",
        "sam must avoid grapefruit",
        "sam avoids dairy",
        "sam can't stomach onions",
        "sam cannot digest beans",
        "sam carries an EpiPen",
        "sam went into anaphylactic shock in 2019",
        "sam has a fructose intolerance",
        "sam takes blood thinners",
        "sam never eats pork",
        "sam must not lift more than five kilos",
        "sam isn't allowed to fly until March",
        "sam was told to avoid the sun",
        "sam is breastfeeding",
    ],
)
def test_what_counts_for_every_answer(text: str) -> None:
    """Wishes of how to be answered, and what does harm where it is not known."""
    assert is_standing(_hit(text), "sam")


@pytest.mark.parametrize(
    "text",
    [
        "sam's boss is called Frau Lindner",
        "sam lives in Oslo",
        "sam prefers tea to coffee",
        "sam can't stand the neighbour",
        "sam asked the landlord for a receipt",
        "The server must not have port 80 open",
        "sam's server must not take more than ten connections",
        "The API reacts badly to large requests",
        "The team must avoid deploys on Friday",
        "Sami must not lift more than five kilos",
        "sam must not forget the keys",
        "sam regrets a rash decision",
        "Eating out makes sam happy",
        "sam gets sick when sam has too much work",
        "sam's sister doesn't agree with sam",
        "sam's knee swells in winter",
        "sam's boss must not take April off",
        "sam takes sugar in sam's tea",
    ],
)
def test_what_counts_now_and_then(text: str) -> None:
    """What is good to know where it is near, and else fills contexts."""
    assert not is_standing(_hit(text), "sam")


@pytest.mark.parametrize(
    ("text", "speaker", "user", "is_theirs"),
    [
        ("Ada is vegan", "Ada", None, True),
        ("Ada's son is vegan", "chat/ada", None, True),
        ("Adam is vegan", "Ada", None, False),
        ("The gate code is 42.", "sam", "sam", True),
        ("The gate code is 42.", "sam", None, False),
        ("The gate code is 42.", "", None, False),
    ],
)
def test_whose_a_fact_is(text: str, speaker: str, user: str | None, is_theirs: bool) -> None:  # noqa: FBT001 - a parameter of cases
    """By the user of both, or by the name with which it begins."""
    fact = _hit(text, user="sam")
    assert facts_of(speaker, user, [fact]) == ([fact] if is_theirs else [])


def test_room_is_for_what_is_near_and_standing_facts_need_none() -> None:
    """What is far in meaning helps nobody, except where it counts for every answer."""
    standing = [_hit(f"sam is allergic to {one}", cosine=0.0) for one in "abcdefghijkl"]
    near = [_hit(f"sam owns a {one}", cosine=0.3) for one in "cde"]
    far = _hit("sam owns a boat", cosine=0.01)

    shown = shown_of([far, *near, near[0], *standing], "sam", 2)

    assert [one.text for one in shown] == [
        *(one.text for one in standing[:STANDING_MAX]),
        *(one.text for one in near[:2]),
    ]
