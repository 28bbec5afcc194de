"""The same plain statement in other shapes: fronted, beside, passive, joined, cut short."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.grammar.claims import claims_of
from metaagents.learning.patterns import stated

NOW = datetime(2026, 6, 17, 14, 20, tzinfo=UTC)


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("At school I learned French.", ["Ada learned French at school"]),
        ("With my brother I run a bakery.", ["Ada runs a bakery with Ada's brother"]),
        ("Once a month we go to the opera.", ["Ada goes to the opera once a month"]),
        ("We've agreed that releases happen on Tuesdays.", ["releases happen on Tuesdays"]),
        ("I was born and raised in Minsk.", ["Ada was born and raised in Minsk"]),
        ("Been vegetarian for ten years now.", ["Ada is vegetarian since 2016"]),
        ("Working as a barista at the moment.", ["Ada is working as a barista"]),
        ("Substitute teacher here.", ["Ada is a substitute teacher"]),
        ("Rarely I eat meat.", ["Ada rarely eats meat"]),
        ("Not a big fan of mushrooms.", ["Ada is not a big fan of mushrooms"]),
        (
            "I'm planning on selling the boat in May.",
            ["Ada is planning to sell the boat in May 2027"],
        ),
    ],
)
def test_where_the_words_stand_is_no_matter(said: str, told: list[str]) -> None:
    """What opens a sentence, or is left out of it, is told in its place."""
    assert [one.text for one in stated(said, "Ada", NOW)] == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "My cousin, who lives in Oslo, plays the harp.",
            ["Ada's cousin lives in Oslo", "Ada's cousin plays the harp"],
        ),
        (
            "My sister, a nurse in Bonn, has three kids.",
            ["Ada's sister is a nurse in Bonn", "Ada's sister has three kids"],
        ),
        ("My boss, who you met yesterday, is ill.", []),
        ("My idea, which is silly, was rejected.", []),
    ],
)
def test_what_is_added_beside_is_a_statement_of_its_own(said: str, told: list[str]) -> None:
    """Of whom the sentence is, where it is one."""
    assert [one.text for one in stated(said, "Ada", NOW)] == told


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("I got hired by Zalando.", "Ada got hired by Zalando"),
        ("My bike got stolen.", "Ada's bike got stolen"),
        ("I was raised by my grandparents.", "Ada was raised by Ada's grandparents"),
        ("My mum was adopted.", "Ada's mum was adopted"),
        ("I get vaccinated every autumn.", "Ada gets vaccinated every autumn"),
        ("I swapped my Opel for a bike.", "Ada swapped Ada's Opel for a bike"),
        ("I was named after my great-aunt.", "Ada was named after Ada's great-aunt"),
        ("Staging gets wiped every night.", "Staging gets wiped every night"),
        ("I cancelled my gym membership.", "Ada cancelled Ada's gym membership"),
        ("My sister sold her flat.", "Ada's sister sold her flat"),
        ("My parents have been married since 1976.", "Ada's parents are married since 1976"),
        ("Ben and Lucy got engaged.", "Ben and Lucy got engaged"),
        ("Our CEO is moving to Dubai.", "Ada's CEO is moving to Dubai"),
        ("We're switching to Go.", "Ada is switching to Go"),
        (
            "We have to hand in the report by 1 July.",
            "Ada has to hand in the report by 1 July 2026",
        ),
        ("I'm Norwegian.", "Ada is Norwegian"),
        ("I watch a lot of anime.", "Ada watches a lot of anime"),
        ("We use tabs, not spaces.", "Ada uses tabs, not spaces"),
        ("My partner works in IT.", "Ada's partner works in IT"),
    ],
)
def test_forms_of_verbs_and_of_what_they_are_of(said: str, told: str) -> None:
    """What was done to somebody, several together, what is under way, and how much of it."""
    (found,) = stated(said, "Ada", NOW)
    assert found.text == told


@pytest.mark.parametrize(
    "said",
    [
        "In the game I play a dwarf called Grim.",
        "In the film I watched, a widow opens a bar in Havana.",
        "For the sake of argument, I'm a vegan.",
        "We were planning to move to Spain but gave it up.",
        "Song stuck in my head: I'm moving to New York.",
        "My diet consists of coffee and despair.",
        "I'm at the station waiting for Tom.",
        "I got lost.",
        "I got stuck in traffic.",
        "I'm Batman.",
        "My boss changed his mind.",
        "My brother broke his promise.",
        "I have to leave at five.",
        "I made a lot of mistakes.",
        "I was given the wrong file.",
        "I hold a meeting.",
        "Once I move I'll get a dog.",
        "My server runs on port 8080.",
        "Nothing here.",
        "The horse in the film is called Sirocco.",
        "The upload is stuck at 25 MB.",
        "I was sold on the idea.",
    ],
)
def test_near_ones_are_not_told(said: str) -> None:
    """They have the same shapes."""
    assert stated(said, "Ada", NOW) == []


def test_a_denial_and_its_mistake_may_be_two_sentences() -> None:
    """What is said to have been a mistake never was."""
    (claim,) = claims_of("I'm not allergic to nuts. That was a mistake.", "Ada", NOW)
    assert claim.sense == "never"
