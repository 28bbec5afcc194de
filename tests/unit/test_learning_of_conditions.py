"""What holds only somewhere, on a condition or in words alone is not learnt as what holds."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from metaagents.learning.patterns import stated
from metaagents.learning.rewording import in_third_person

AT = datetime(2026, 11, 29, 15, tzinfo=UTC)


def told(said: str) -> list[str]:
    """Return what is learnt of a message of Ada's."""
    return [one.text for one in stated(said, "Ada", AT)]


@pytest.mark.parametrize(
    "said",
    [
        "Don't set the batch size to 1000, it crashes.",
        "Never set the timeout to 0.",
        "Please set the batch size to 1000.",
        "Always set the batch size to 1000.",
        "Just set the batch size to 1000.",
        "Next set the batch size to 1000.",
        "Users set the batch size to 1000.",
        "Shouldn't set the batch size to 1000.",
        "I set the batch size to 1000, then reverted it.",
        "We raised the limit to 100 but rolled it back.",
        "Don't move the office to Berlin.",
        "Please replace Anna with Tom.",
    ],
)
def test_an_order_and_what_was_reverted_set_nothing(said: str) -> None:
    """``Don't set it to 1000``: it is not 1000."""
    assert told(said) == []


@pytest.mark.parametrize(
    "said",
    [
        "Provided that the tests pass, the release is on Friday.",
        "Providing the tests pass, the release is on Friday.",
        "On condition that Anna signs, the price is 500 euros.",
        "Depending on the weather, the party is on Saturday.",
        "Subject to approval, the limit is 100.",
        "Pending approval, the new limit is 100.",
        "When approved, the limit is 100.",
        "With luck, the release is on Friday.",
        "For instance, the owner is Kenji.",
        "For instance, the timeout is 30 seconds.",
        "Expected: the status is 200.",
        "Desired: the region is eu-west-1.",
        "Wrong: the limit is 100.",
        "Old: the limit is 100.",
        "Before: the limit is 100.",
        "As an example, the limit is 100.",
        "In this example, the limit is 10.",
        "In the old docs, the limit is 10.",
        "Per the docs, the limit is 10.",
        "In Anna's opinion, the limit is 10.",
        "In a perfect world, the limit is 100.",
        "For a team of 5, the price is 100 euros.",
        "Without a discount, the price is 100 euros.",
        "Unlike staging, the limit is 10.",
        "Ideally, the owner is Kenji.",
        "Last I checked, the owner is Kenji.",
        "The owner is Kenji, last I checked.",
        "To the best of my knowledge, the owner is Kenji.",
        "As I understand it, the owner is Kenji.",
        "The deadline is tentatively Friday.",
        "I quit Globex in my mind.",
        "I live in the past.",
        "I live in sweatpants.",
        "I work for peanuts.",
        "I'm from Mars.",
        "I wasn't born yesterday.",
        "Given a user named Bob, the response is 404.",
        "Would it be crazy if I named my son Thor?",
        "In my novel, the hero lives in Prague.",
    ],
)
def test_what_is_so_on_a_condition_is_not_so(said: str) -> None:
    """Without its condition something else would be said."""
    assert told(said) == []


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("In staging, the timeout is 30 seconds.", "the timeout in staging is 30 seconds"),
        (
            "On staging, the database runs on Postgres 14.",
            "the database on staging runs on Postgres 14",
        ),
        ("For EU customers, the fee is 5 euros.", "the fee for EU customers is 5 euros"),
        (
            "For Contoso, the account manager is Ruth Lim.",
            "the account manager for Contoso is Ruth Lim",
        ),
        ("On Android, the app needs 2 GB.", "the app on Android needs 2 GB"),
        ("Above 100 users, the price is 5 euros.", "the price above 100 users is 5 euros"),
        ("Per user, the price is 5 euros.", "the price per user is 5 euros"),
        ("Over VPN, the latency is 300 ms.", "the latency over VPN is 300 ms"),
        ("By default, the timeout is 30 seconds.", "the timeout is 30 seconds"),
        ("In fact, the limit is 10.", "the limit is 10"),
        ("On second thought, the limit is 10.", "the limit is 10"),
        ("At the moment, the limit is 10.", "the limit is 10"),
        ("From May, the rent is 950.", "the rent is 950 from May 2027"),
        ("On Mondays, the gym opens at 7.", "the gym opens at 7 on Mondays"),
        ("With a heavy heart, I quit Globex.", "Ada quit Globex"),
    ],
)
def test_where_and_for_whom_it_is_so_is_told_with_it(said: str, learnt: str) -> None:
    """Of staging, and of nothing else; what says no more than when is told as before."""
    assert told(said) == [learnt]


@pytest.mark.parametrize(
    "after",
    [
        "Sort of.",
        "Well, I wish.",
        "In theory.",
        "Or so they say.",
        "Not sure though.",
        "I might be wrong.",
        "I made that up.",
        "That's what Anna says.",
        "At least that's what I heard.",
        "That's no longer the case.",
        "Not anymore.",
        "In a video game.",
    ],
)
@pytest.mark.parametrize("said", ["The retry limit is 10.", "I'm a pilot."])
def test_the_next_sentence_takes_it_back(said: str, after: str) -> None:
    """Alone it is learnt."""
    assert told(said)
    assert told(f"{said} {after}") == []


@pytest.mark.parametrize(
    "after", ["I wish it were 20.", "In theory we could raise it.", "Not sure why that is."]
)
def test_a_sentence_of_its_own_takes_nothing_back(after: str) -> None:
    """What begins so and goes on is about something else."""
    assert "the retry limit is 10" in told(f"The retry limit is 10. {after}")


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        (
            "My best friend Jules, whom I met in college, runs a bakery in Ghent.",
            ["Ada's best friend Jules runs a bakery in Ghent"],
        ),
        ("The manager, whom nobody likes, lives in Ghent.", ["the manager lives in Ghent"]),
        (
            "Ben isn't in charge of payroll any longer, it's Lea.",
            ["Ben is no longer in charge of payroll", "Lea is in charge of payroll"],
        ),
        (
            "Ben Ade isn't the primary contact for Contoso any more, it's Ruth Lim.",
            [
                "Ben Ade is no longer the primary contact for Contoso",
                "Ruth Lim is the primary contact for Contoso",
            ],
        ),
        (
            "The deadline isn't Friday, it's Monday.",
            ["the deadline is Monday, not Friday"],
        ),
        (
            "My mom's car is old and she wants a Tesla.",
            ["Ada's mom's car is old and she wants a Tesla"],
        ),
        (
            "My mom's birthday is on November 3rd and she loves orchids.",
            ["Ada's mom's birthday is on November 3rd", "Ada's mom loves orchids"],
        ),
        ("I lost my temper.", []),
        ("I lost my mind yesterday.", []),
        ("I kept my word.", []),
        ("I lost my wallet.", ["Ada lost Ada's wallet"]),
        ("I live in the Netherlands.", ["Ada lives in the Netherlands"]),
        ("I was born in 1990.", ["Ada was born in 1990"]),
        ("I'm from Norway.", ["Ada is from Norway"]),
        ("I once lived in Tokyo.", []),
        ("I turn 41 on the 9th of May.", ["Ada turns 41 on 9 May 2027"]),
    ],
)
def test_nobody_is_taken_for_another(said: str, learnt: list[str]) -> None:
    """``Ben isn't, it's Lea``: Ben is not Lea."""
    assert told(said) == learnt


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("I set the cache size to 512 MB.", "the cache size is 512 MB now"),
        (
            "I set the connection pool of the billing service to 40, the default was too low.",
            "the connection pool of the billing service",
        ),
        ("I bumped the request timeout to 45 seconds this morning.", "timeout is 45 seconds"),
        ("The cache TTL was halved, so it's 150 seconds.", "the cache TTL is 150 seconds now"),
        ("We renamed the repository to acme-platform.", "the repository is called acme-platform"),
        ("The default branch was renamed to main.", "the default branch is called main now"),
        ("We turned dark_mode off again because of the bug.", "dark_mode is off"),
        ("The flag dark_mode is disabled.", "the flag dark_mode is disabled"),
        ("The limit was 10, now it's 20.", "the limit is 20 now"),
        ("The port is 9090 as of today.", "the port is 9090"),
        (
            "I'm handing the exporter over to the payments agent.",
            "Ada handed the exporter over to the payments agent",
        ),
        ("From now on Kenji owns the search cluster; ping him.", "Kenji owns the search cluster"),
        ("The on-call engineer this week is Farid.", "Farid is on call"),
        (
            "My brother Tom, who's a pilot with KLM, is moving to Rotterdam in June.",
            "Ada's brother Tom is a pilot with KLM",
        ),
        ("Can you keep in mind that I'm allergic to penicillin?", "Ada is allergic to penicillin"),
        ("I work four days a week, Fridays are my day off.", "Ada's day off is Fridays"),
        ("I'm picking up Polish because of my in-laws.", "Ada is learning Polish"),
        ("I'm saving about 600 a month for a van.", "Ada saves about 600 a month"),
        ("Give me answers in bullet points, I can't stand long texts.", "answers in bullet points"),
    ],
)
def test_what_is_told_in_passing_is_learnt(said: str, learnt: str) -> None:
    """A value, a hand-over, an aside, a request with its reason."""
    assert any(learnt in one for one in told(said))


@pytest.mark.parametrize(
    "said",
    [
        "I set the oven to 180.",
        "I set the alarm volume to 5.",
        "The score was 1, now it's 2.",
        "I'm handing the keys to Anna.",
        "I'm passing the salt to Tom.",
        "I'm picking up Anna at six.",
        "I'm picking up Polish sausage for dinner.",
        "Can you remember that I told you about Rome?",
        "Can you remember if I'm vegan?",
        "Can you note that I may move to Rome?",
        "If Friday is my day off, I'll come.",
        "Give me the results in Excel.",
        "Use bullet points for this list.",
        "The on-call engineer this week is tired.",
        "We could turn dark_mode off.",
        "Should we set the limit to 40?",
        "My sister, who's annoying, is late.",
    ],
)
def test_what_only_looks_so_is_not(said: str) -> None:
    """Of the moment, asked, or of somebody who is only met."""
    learnt = told(said)
    assert not any(" now" in one or "over to" in one or " off" in one for one in learnt)
    assert not any(
        word in one
        for one in learnt
        for word in ("learning", "vegan", "Rome", "Excel", "bullet", "on call", "annoying")
    )


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        (
            "Keep your answers short, I'm dyslexic.",
            ["Ada is dyslexic", "Ada asks the assistant to keep its answers short"],
        ),
        ("I'm vegan, so never suggest meat.", ["Ada is vegan"]),
        (
            "Please answer in French, my English is poor.",
            ["Ada's English is poor", "Ada asks the assistant to answer in French"],
        ),
        ("I'm dyslexic, keep this one short.", ["Ada is dyslexic"]),
        ("I live in Rome, always have.", ["Ada lives in Rome"]),
        (
            "I work at Globex, use the attached logo for this slide.",
            ["Ada works at Globex"],
        ),
        (
            "Never send emails after six, my boss always says, I work at Globex.",
            ["Ada works at Globex"],
        ),
        (
            "I'd rather you used metric units and 24-hour time.",
            ["Ada asks the assistant to use metric units and 24-hour time"],
        ),
    ],
)
def test_a_request_is_learnt_beside_its_reason(said: str, learnt: list[str]) -> None:
    """One that stands; each once, and none of somebody else's."""
    assert told(said) == learnt


@pytest.mark.parametrize(
    ("said", "learnt"),
    [
        ("the gym I rely on", "the gym Ada relies on"),
        ("I remember it", "Ada remembers it"),
        ("I found a gym", "Ada found a gym"),
        ("I set it to 5", "Ada set it to 5"),
        ("I put it there", "Ada put it there"),
        ("I hurt my knee", "Ada hurt Ada's knee"),
    ],
)
def test_only_what_is_no_past_gets_an_ending(said: str, learnt: str) -> None:
    """Who found a gym founds none."""
    assert in_third_person(said, "Ada") == learnt
