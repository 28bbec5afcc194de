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


# What was said before and is put right, and what a question takes for granted.


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("You said I live in Bonn, but I live in Berlin.", "Ada lives in Berlin"),
        ("You wrote that my name is Jon, but my name is John.", "Ada's name is John"),
        (
            "You wrote that I have three grandchildren, but it's four now that Ed is here.",
            "Ada has four grandchildren now",
        ),
        ("You have that I have two cats, but it's three.", "Ada has three cats"),
        ("I told you my son is nine; he's ten now.", "Ada's son is ten"),
        (
            "I said the meeting is on Tuesday, but it's on Wednesday.",
            "the meeting is on Wednesday 24 June 2026",
        ),
        (
            "I said invoices have to be kept for seven years; by the rules it is ten.",
            "Ada: invoices have to be kept for ten years",
        ),
        ("Forget what I said about Leeds, I live in Luton.", "Ada lives in Luton"),
        ("I'll say it once more: my daughter is Si\u00e2n.", "Ada's daughter is Si\u00e2n"),
        ("Do I need a visa now that I live in Bonn?", "Ada lives in Bonn"),
        ("Which shoes should I buy given that I'm left-handed?", "Ada is left-handed"),
        ("What can I cook considering I'm lactose intolerant?", "Ada is lactose intolerant"),
        (
            "Should I renew it, since my passport expires in May 2027?",
            "Ada's passport expires in May 2027",
        ),
    ],
)
def test_what_is_put_right_or_taken_for_granted_is_told(said: str, told: str) -> None:
    """With what is so now, in the words of what was said before."""
    assert _learnt(said) == [told]


@pytest.mark.parametrize(
    "said",
    [
        "You said I live in Bonn.",
        "You said I live in Bonn, but I didn't say that.",
        "He said I have three cats, but it's four.",
        "You wrote that I have three cats.",
        "You said it takes three hours, but is it four?",
        "You said I have three cats, right?",
        "You said we meet at three, but it's three in the morning here.",
        "I said the meeting is on Tuesday.",
        "I said no to three offers, but it's fine.",
        "I said I have three wishes, but it's a joke.",
        "Scrap what I said about gels.",
        "Forget what I said about Leeds, it's fine.",
        "Did I mention that I'm allergic to latex?",
        "Have I told you that I have a dog?",
        "I told you that my sister lives in Quito, right?",
        "You know I'm vegan, right?",
        "Is it true that I can fly now that I'm vegan?",
        "Why does it fail now that I use Node?",
        "How long has it been since I moved to Bonn?",
        "Would it help given I were rich?",
        "Do you think so given that I'm vegan?",
    ],
)
def test_what_is_only_asked_or_repeated_is_not_told(said: str) -> None:
    """Nobody vouches for it, or says what is so instead."""
    assert _learnt(said) == []


# The reason that opens a statement, what only stands beside one, and short notices.


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "Because our house was built in 1908, none of the walls are straight.",
            ["Ada's house was built in 1908"],
        ),
        (
            "As my mother is Polish, I speak Polish at home.",
            ["Ada's mother is Polish", "Ada speaks Polish at home"],
        ),
        (
            "Although I was born in Kerala, I grew up in Dubai.",
            ["Ada was born in Kerala", "Ada grew up in Dubai"],
        ),
        (
            "Because I work nights, I sleep till noon.",
            ["Ada works nights", "Ada sleeps till noon"],
        ),
        (
            "Our budget for food, if one can call it that, is 120 euros a week.",
            ["Ada's budget for food is 120 euros a week"],
        ),
        (
            "Interns may read the case files but must not take them home.",
            ["Ada: Interns may read the case files but must not take them home"],
        ),
        ("Spare keys: hook 9, boiler room.", ["Ada: Spare keys: hook 9, boiler room"]),
        (
            "Two reviewers per pull request, three if it touches auth.",
            ["Ada: Two reviewers per pull request, three if it touches auth"],
        ),
        ("Terraform 1.9, nothing newer.", ["Ada: Terraform 1.9, nothing newer"]),
        ("Node 22 everywhere from now on.", ["Ada: Node 22 everywhere from now on"]),
    ],
)
def test_a_reason_and_a_notice_are_statements(said: str, told: list[str]) -> None:
    """A reason with what follows from it; a notice as it was said."""
    assert _learnt(said) == told


@pytest.mark.parametrize(
    "said",
    [
        "As I see it, I am right.",
        "As we speak, the train leaves.",
        "Because I said so, I win.",
        "As I get older, I get wiser.",
        "Because I was late, I missed the bus.",
        "As I said, we won.",
        "Because I might be vegan, I read labels.",
        "Two beers per person!",
        "5 km per hour is slow.",
        "You may look but must not touch.",
        "Kids may dream but must not cry.",
        "Problem: drawer won't open?",
        "No more mistakes from now on.",
        "I will call Tom from now on.",
        "Node 22 everywhere from now on?",
        "Terraform 1.9, nothing new.",
    ],
)
def test_sayings_wishes_and_questions_are_none(said: str) -> None:
    """They open, or are put, in the same way."""
    assert _learnt(said) == []


@pytest.mark.parametrize(
    ("said", "told"),
    [
        (
            "I failed the notary exam in 2024 and passed it this spring, on the third go.",
            ["Ada failed the notary exam in 2024", "Ada passed the notary exam in spring 2026"],
        ),
        (
            "I bought a van in 2020 and sold it last year.",
            ["Ada bought a van in 2020", "Ada sold a van in 2025"],
        ),
        (
            "I started the course in March and finished it in May.",
            ["Ada started the course in March 2026", "Ada finished the course in May 2026"],
        ),
        ("I took the bus and missed it.", []),
        ("I opened the file and closed it.", []),
        ("I read the book and liked it.", []),
        ("I met my boss and hated it.", []),
        ("I saw the film in May and loved it.", []),
        ("I failed the exam and want to pass it.", ["Ada failed the exam"]),
    ],
)
def test_it_is_what_the_clause_before_is_of(said: str, told: list[str]) -> None:
    """Where the second clause goes on about the same; what passes is told as little as before."""
    assert _learnt(said) == told
