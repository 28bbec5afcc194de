"""What nothing takes apart: told as it was said where it lasts, and not where it may mislead."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.grammar.as_said import candidate, is_half_told, told_as_said
from metaagents.learning.grammar.lasting import BIAS, LASTS_FROM, MARKS, lasts, odds
from metaagents.learning.patterns import stated

NOW = datetime(2026, 6, 17, 14, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "No forklift work below 5 degrees, or the batteries suffer.",
            ["Ada: No forklift work below 5 degrees, or the batteries suffer"],
        ),
        (
            "Sedan in the garage since April 2024, the bikes hang above.",
            ["Ada: Sedan in the garage since April 2024, the bikes hang above"],
        ),
        (
            "If the pump at Ridderkerk stops, ring Vermeulen on 555 0188 at any hour.",
            ["Ada: If the pump at Ridderkerk stops, ring Vermeulen on 555 0188 at any hour"],
        ),
        (
            "Volunteers may open the archive on Mondays but must not copy plans for Kessler.",
            ["Ada: Volunteers may open the archive on Mondays but must not copy plans for Kessler"],
        ),
        (
            "My cousin Rufaro, once of Leeds, has kept bees in Vilanculos since 2011.",
            ["Ada's cousin Rufaro, once of Leeds, has kept bees in Vilanculos since 2011"],
        ),
        (
            "The vet for the goats used to be Dr Mensah. It's Dr Okoye in Tema now.",
            ["Ada: The vet for the goats used to be Dr Mensah. It's Dr Okoye in Tema now"],
        ),
        (
            "It was my aunt Zainab who paid for the roof in 2014, not the bank.",
            ["It was Ada's aunt Zainab who paid for the roof in 2014, not the bank"],
        ),
        (
            "There's a cistern under our yard in Sfax, four metres deep.",
            ["Ada: There's a cistern under our yard in Sfax, four metres deep"],
        ),
        (
            "The spare key is kept with Mrs Dlamini in flat 12.",
            ["Ada: The spare key is kept with Mrs Dlamini in flat 12"],
        ),
    ],
)
def test_what_fits_no_form_is_told_in_its_own_words(said: str, told: list[str]) -> None:
    """With its conditions and its denials, under the name of who said it."""
    assert sorted(one.text for one in stated(said, "Ada", NOW)) == sorted(told)


@pytest.mark.parametrize(
    "said",
    [
        "Suppose the depot in Ghent had two gates and 40 lorries every night.",
        "Maybe the depot in Ghent gets two gates by May 2027.",
        "Karim says the depot in Ghent has had two gates since 2019.",
        "Does the depot in Ghent have two gates since 2019?",
        "Oh sure, and the depot in Ghent has had forty gates since 1066.",
        "In the film the depot in Ghent has had two gates since 2019.",
        "It has had two gates in Ghent since 2019, both of them narrow.",
        "Print the labels for Ghent, 40 of them, by 3 July 2026.",
        "Never send the 40 labels to Ghent without a stamp from Ilse!",
        "The password of the depot in Ghent has been Hunter2 since 2019.",
        "At the moment there are 40 lorries at the depot in Ghent, two of them red.",
        "The depot is fine.",
        "THE DEPOT IN GHENT HAS HAD TWO GATES SINCE 2019",
        "Two gates, forty lorries since 2019, " + "and so on " * 30,
        "No problem, Ilse, 40 of them for Ghent.",
        "Most people in our street in Ghent have two bikes since 2019.",
        "The key is 9F2-77A for the depot in Ghent since 2019.",
        "Kindly print the 40 labels for Ghent by 3 July 2026.",
    ],
)
def test_what_may_mislead_is_not_told(said: str) -> None:
    """Play, doubt, hearsay, mockery, orders, secrets, the moment; what points elsewhere."""
    assert [*told_as_said(said, "Ada", NOW)] == []


def test_days_are_told_by_their_dates() -> None:
    """Who reads it later was not there when it was said."""
    said = "Meters at Ridderkerk swapped last autumn by Vermeulen, all 48 of them."
    (claim,) = told_as_said(said, "Ada", NOW)
    assert claim.text == (
        "Ada: Meters at Ridderkerk swapped in autumn 2025 by Vermeulen, all 48 of them"
    )


def test_whose_name_is_part_of_a_word_is_named_nevertheless() -> None:
    """``Ann`` is in ``Annual``, and yet nobody would know who said it."""
    (claim,) = told_as_said("Annual stocktaking at Ridderkerk is on 3 January.", "Ann", NOW)
    assert claim.text == "Ann: Annual stocktaking at Ridderkerk is on 3 January"


def test_a_sentence_is_half_told_by_what_it_does_not_say() -> None:
    """Times do not count, nor do other forms of the same words."""
    said = "I moved to Oslo two and a half years ago."
    assert not is_half_told(said, ["Ada moves to Oslo in 2023"])
    said = "My cousin Rufaro, once of Leeds, runs a guest house in Vilanculos."
    assert is_half_told(said, ["Ada's cousin is Rufaro"])
    assert not is_half_told(said, ["Rufaro, once of Leeds, runs a guest house in Vilanculos"])


def test_an_order_goes_and_what_it_is_given_for_stays() -> None:
    """``Book me an aisle seat, my right knee …``; an order alone is nothing to remember."""
    reason = "the stairs to row 12 are too much for my hip"
    assert candidate(f"Book me a seat by the door, {reason}") == reason
    assert candidate("Book me a seat by the door, row 12 or 13, near Ilse") == ""


def test_marks_add_up() -> None:
    """No mark decides alone, nor comes near to it; each counts as its weight says."""
    assert all(BIAS + mark.weight < LASTS_FROM - 1 for mark in MARKS.values())
    bare, more = "the gates are green", "the gates have been green since 2019, every one"
    assert not lasts(bare)
    assert lasts(more)
    assert odds(more) > odds(bare)
