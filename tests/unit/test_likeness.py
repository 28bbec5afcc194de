"""When two texts say the same, by their words, on pairs labelled by hand."""

from __future__ import annotations

from itertools import chain

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support import claim_pairs, everyday_claims, fact_pairs

from ezra.contradiction.rules import compare
from metaagents.learning.likeness import alike, difference, overlap, rare_words, read, same_words
from metaagents.learning.weighing import say_the_same

ONE_BY_RULES_MIN = 5
"""Groups of fourteen that end as one without a model: all that differ in small words alone."""

NEGATIVES = (
    *fact_pairs.DISTINCT,
    *chain.from_iterable(claim_pairs.CONTRADICTIONS.values()),
    *chain.from_iterable(claim_pairs.UNRELATED.values()),
    *everyday_claims.pairs_of(everyday_claims.CONTRADICTIONS),
    *everyday_claims.pairs_of(everyday_claims.UNRELATED),
)


def _same(one: str, two: str) -> bool:
    return say_the_same(one, two) or compare(one, two).relation == "agreement"


def test_no_two_different_facts_are_taken_for_one() -> None:
    """Of some six hundred pairs not one: numbers, names, units, tenses, subjects, order."""
    assert len(fact_pairs.DISTINCT) >= 60
    assert len(NEGATIVES) >= 590
    assert [pair for pair in NEGATIVES if _same(*pair) or _same(*pair[::-1])] == []


def test_what_is_said_five_ways_is_one_fact_where_rules_can_tell() -> None:
    """Each wording meets those that are live; other words for the same are left to a model."""
    assert len(fact_pairs.GROUPS) >= 12
    ends: list[int] = []
    for group in fact_pairs.GROUPS:
        live: list[str] = []
        for text in group:
            if not any(_same(text, known) for known in live):
                live.append(text)
        ends.append(len(live))
    assert sum(count == 1 for count in ends) >= ONE_BY_RULES_MIN, ends


@pytest.mark.parametrize(
    ("one", "two"),
    [
        ("Do we pit on lap 20?", "We pit on lap 20."),
        ("A car is blue.", "The car is blue."),
        ("The ticket costs $65.", "The ticket costs €65."),
        ("It has -5 degrees in the garage.", "It has 5 degrees in the garage."),
        ("We didn't pit on lap 20.", "We don't pit on lap 20."),
        ("The tool is written in C.", "The tool is written in C++."),
        ("Das Rennen in Imola dauert am Sonntag lange.",
         "Das Rennen in Imola dauert am Sonntag nicht lange."),
        ("我 今 天 不 喜 欢 喝 热 茶", "我 今 天 喜 欢 喝 热 茶"),
        ("Drivers who pit win.", "Drivers who do not pit do not win."),
    ],
)  # fmt: skip
def test_what_stands_between_the_words_counts(one: str, two: str) -> None:
    """Signs, articles, contractions, and denials in other languages make other facts."""
    assert not alike(read(one), read(two))
    assert not alike(read(two), read(one))


def test_a_word_more_is_the_same_fact_when_it_turns_nothing() -> None:
    """From an overlap of 0.85 on; a word that turns the meaning is never too little."""
    base = "The nightly backup of the billing database runs in the Frankfurt region"
    more = read(f"{base} again and again, reliably")
    assert overlap(read(base), read(f"{base} reliably")) == 7 / 8
    assert alike(read(base), read(f"{base} reliably"))
    assert not alike(read(base), more)
    assert not alike(read(base), read(base.replace("runs", "rarely runs")))
    assert not alike(read(base), read(f"{base} reliably, cheaply"))


def test_two_subjects_at_the_beginning_are_a_difference() -> None:
    """A first word has a capital anyway, so it may be a name; in small letters it is none."""
    assert difference(read("Hamilton starts on softs"), read("Leclerc starts on softs")) == "names"
    assert difference(read("Start on softs"), read("We start on softs")) is None
    assert difference(read("Ada lives in Rome"), read("ada lives in rome")) is None


def test_values_of_keys_are_compared_as_they_are_meant() -> None:
    """Numbers as words, articles and spelling make no difference, order and signs do."""
    assert same_words("18 laps", "eighteen laps")
    assert same_words("the Grey car", "grey car")
    assert not same_words("18 laps", "19 laps")
    assert not same_words("not red", "red")


@given(st.text(max_size=120), st.text(max_size=120))
@settings(max_examples=100, deadline=None)
def test_any_text_is_like_itself_and_likeness_has_no_direction(one: str, two: str) -> None:
    """Whatever the characters; and texts that are alike are found by their rare words."""
    ours, theirs = read(one), read(two)
    assert alike(ours, theirs) == alike(theirs, ours)
    assert not ours.content or alike(ours, ours)
    if overlap(ours, theirs) >= 0.85:
        assert set(rare_words(ours, 0.85)) & set(rare_words(theirs, 0.85))


def test_a_place_may_stand_anywhere_and_two_places_may_not_change_theirs() -> None:
    """One time or place moves freely; of two it matters what stands with which."""
    told = read("The medium tyres last about 18 laps at Imola.")
    assert alike(told, read("At Imola the medium tyres last 18 laps."))
    assert alike(told, read("Medium tyres at Imola last roughly eighteen laps."))
    anna = read("Anna works in Berlin, Bob works in Rome.")
    assert not alike(anna, read("Anna works in Rome, Bob works in Berlin."))


@pytest.mark.parametrize(
    ("one", "two", "is_same"),
    [
        ("Anna and Ben run the team.", "Ben and Anna run the team.", True),
        ("I like tea and coffee.", "I like coffee and tea.", True),
        ("Ann and Ben beat Cy.", "Ben and Cy beat Ann.", False),
    ],
)
def test_a_pair_has_no_order(one: str, two: str, *, is_same: bool) -> None:
    """Who is named first is no matter; who is named with whom is."""
    assert say_the_same(one, two) is is_same
