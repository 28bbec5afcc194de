"""What a question says about its answer."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from ezra.ranking.cues import (
    codes_in,
    meant_by,
    named_in,
    only_greets,
    phrases_in,
    read_cues,
    sentence_stems,
    shared_words,
    shares_a_sentence,
    stems_in,
    subject_of,
    tells_clock,
    tells_number,
    tells_time,
    wants_order,
    without_names,
)
from ezra.ranking.terms import bag_of
from ezra.ranking.time_words import YearDay
from ezra.ranking.times import TimeSpan, times_in
from tiers.lexical import STOP_WORDS, words

NOW = datetime(2026, 11, 20, 15, 30, tzinfo=UTC)
ZONE = ZoneInfo("UTC")


def day(text: str) -> datetime:
    """Return the beginning of a day."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since", "until"),
    [
        ("What happened on 8 May 2023?", "2023-05-08", "2023-05-09"),
        ("What happened on May 8th, 2023?", "2023-05-08", "2023-05-09"),
        ("the meeting of 2023-05-08", "2023-05-08", "2023-05-09"),
        ("the trip in May 2023", "2023-05-01", "2023-06-01"),
        ("everything from December 2023", "2023-12-01", "2024-01-01"),
        ("what was decided in 2024?", "2024-01-01", "2025-01-01"),
        ("what happened in 2026-W47?", "2026-11-16", "2026-11-23"),
        ("what happened in week 1 of 2026?", "2025-12-29", "2026-01-05"),
        ("the figures of Q3 2025", "2025-07-01", "2025-10-01"),
        ("the figures of Q4 2025", "2025-10-01", "2026-01-01"),
        ("what did we do yesterday?", "2026-11-19", "2026-11-20"),
        ("what did we do the day before yesterday?", "2026-11-18", "2026-11-19"),
        ("what did we do last night?", "2026-11-19", "2026-11-20"),
        ("what did we do on Friday?", "2026-11-13", "2026-11-14"),  # never today
        ("what did we do last Tuesday?", "2026-11-17", "2026-11-18"),
        ("what did we do last week?", "2026-11-09", "2026-11-16"),
        ("what did we do this week?", "2026-11-16", "2026-11-21"),
        ("what did we buy last month?", "2026-10-01", "2026-11-01"),
        ("where were we last year?", "2025-01-01", "2026-01-01"),
        ("what broke three days ago?", "2026-11-17", "2026-11-18"),
        ("what broke two weeks ago?", "2026-11-02", "2026-11-11"),
    ],
)
def test_times_are_read(text: str, since: str, until: str) -> None:
    """Dates, ISO weeks, quarters and relative times become the days they mean."""
    spans, days = times_in(text, NOW, ZONE)
    assert spans == (TimeSpan(day(since), day(until)),)
    assert days == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What did Ada paint in May?", (YearDay(5, None),)),
        ("Where were they on 3 July?", (YearDay(7, 3),)),
        ("Where were they on Friday, July 3rd?", (YearDay(7, 3),)),
        ("What do we plan on Friday?", ()),
        ("May I ask what broke?", ()),
        ("What happened on 31 February 2023?", ()),
        ("How many of 1500 laps?", ()),
    ],
)
def test_days_of_any_year(text: str, expected: tuple[YearDay, ...]) -> None:
    """A month without a year is that month of any year; what is no date is none."""
    assert times_in(text, NOW, ZONE) == ((), expected)


def test_days_begin_where_the_zone_says() -> None:
    """Just after midnight in Tokyo it is the day before in London."""
    late = datetime(2026, 11, 20, 16, 0, tzinfo=UTC)
    spans, _ = times_in("what happened today?", late, ZoneInfo("Asia/Tokyo"))
    assert spans[0].since == datetime(2026, 11, 20, 15, 0, tzinfo=UTC)


def test_a_question_is_read() -> None:
    """Who is named, whether they ask about themselves, and what kind of answer is wanted."""
    cues = read_cues("When did I tell Melanie about Bob?", ["c/Melanie", "Rob"], NOW, ZONE)
    assert cues.named == {"melanie"}
    assert cues.first_person
    assert cues.wants_time
    assert not cues.wants_number
    assert read_cues("How many laps did it last?", (), NOW, ZONE).wants_number
    assert not cues.addressed
    assert read_cues("Which tyre did you recommend to me?", (), NOW, ZONE).addressed
    assert "told melanie about bob" not in cues.phrases
    assert {"melanie", "tell melanie about bob"} <= set(cues.phrases)


def test_people_go_by_their_first_name() -> None:
    """But nobody by a single letter, or by a part of another word."""
    assert named_in("What did Maria say?", ["chat/Maria Keller", "J Maria"]) == {"maria keller"}
    assert named_in("What did the Marian say?", ["Maria"]) == set()


def test_phrases_are_bounded() -> None:
    """However long the question is."""
    found = phrases_in(" ".join(f"word{number}" for number in range(400)))
    assert len(found) == 100


def test_codes_are_told_from_words_and_numbers() -> None:
    """Letters with digits and joined numbers; neither words nor a plain number."""
    text = "since 7.41 it dies with E4711, see INC-1443 and orders_v2, after 30 laps"
    assert codes_in(text) == {"7.41", "e4711", "inc-1443", "orders_v2"}
    assert codes_in("raise Late('CART_TIMEOUT') _ or __ not_ well-known") == {"cart_timeout"}


def test_times_and_numbers_are_told() -> None:
    """What could answer when, and how many."""
    assert tells_time(words("I went there yesterday."))
    assert tells_time(words("It was built in 1987."))
    assert not tells_time(words("I may go there."))
    assert tells_number(words("It lasted twelve laps."))
    assert tells_number(words("It lasted 12 laps."))
    assert not tells_number(words("It lasted."))


def test_shared_words_are_a_share_of_the_questions() -> None:
    """Stop words and plurals do not matter."""
    assert (
        shared_words(stems_in("How long do the mediums last?"), "The medium lasts 18 laps.")
        == 2 / 3
    )
    assert shared_words(stems_in(""), "anything") == 0


def test_a_sentence_of_a_long_message_counts_by_itself() -> None:
    """By a share of its words, and by more than one of them; also at the end of what is long."""
    told = "Thanks! We had a long day at school. Can you book Trattoria Gusto for us?"
    fact = "Trattoria Gusto is closed on Tuesdays."
    for text in (told, "All went on and on, row by row.\n" * 2_000 + told):
        assert shares_a_sentence(sentence_stems(text), fact, 1 / 3)
    assert not shares_a_sentence(sentence_stems(told), "Ines thanks Ben.", 1 / 3)
    assert not shares_a_sentence(sentence_stems(told), "The school has a long hall.", 3 / 4)


def test_names_are_cut_from_the_dense_query_only_where_they_are_names() -> None:
    """Caroline is a name, the tyre in a question about tyres is not."""
    names = ["conv-26/Caroline", "tyre engineer"]
    assert without_names("When did Caroline paint?", names) == "When did paint?"
    assert without_names("Caroline's tyre?", names) == "tyre?"
    assert without_names("Caroline?", names) == "Caroline?"


@pytest.mark.parametrize(
    ("asked", "addressed", "first_person"),
    [
        ("Can you list in which order I brought up parts of my garden?", False, True),
        ("What tools would you suggest I use?", False, True),
        ("Would you please show me what I said about Rome?", False, True),
        ("Could you tell me when the boiler was serviced?", False, False),
        ("When you have a moment, could you suggest what to cook tonight?", False, False),
        ("Where would you put my shelf?", False, True),
        ("Would you please list what was said about Rome?", False, False),
        ("Could you remind me what you suggested for the lawn?", True, False),
        ("Which wood did you say holds up outdoors?", True, False),
        ("What was your advice on the boiler?", True, False),
        ("Which restaurant that you've recommended is closest?", True, False),
    ],
)
def test_r9_12_a_request_is_no_question_about_the_past(
    asked: str, *, addressed: bool, first_person: bool
) -> None:
    """Courtesy speaks of nobody; only what was said addresses whoever said it."""
    cues = read_cues(asked, ("user", "assistant"), NOW, ZONE)
    assert (cues.addressed, cues.first_person) == (addressed, first_person)
    assert not cues.spans
    assert not cues.wants_time or "when the" in asked


def test_r9_12_a_cue_in_doubt_is_known_as_such() -> None:
    """Advice may have been given, or be asked for now."""
    assert read_cues("What is your advice for a sore back?", (), NOW, ZONE).in_doubt
    assert not read_cues("What was your advice for my back?", (), NOW, ZONE).in_doubt
    for asked in (
        "Which saw would you take for oak?",
        "What do you recommend for what was broken?",
    ):
        cues = read_cues(asked, (), NOW, ZONE)
        assert cues.addressed
        assert cues.in_doubt


def test_r9_12_a_question_in_which_order_is_about_its_subject() -> None:
    """What says how to tell of it is no part of it; a question without a subject is its own."""
    asked = "Can you list in which order I brought up different aspects of my garden?"
    assert wants_order(asked)
    assert set(words(subject_of(asked))) - STOP_WORDS == {"garden"}
    assert meant_by(asked) == subject_of(asked)
    bare = "What did I bring up, in which order?"
    assert set(words(subject_of(bare))) <= STOP_WORDS
    assert meant_by(bare) == bare
    for other in ("Did you order the tiles?", "What comes first in the garden?"):
        assert not wants_order(other)
        assert meant_by(other) == other


def test_r9_33_a_greeting_tells_nothing() -> None:
    """Neither a time, though it has the word for one, nor anything else; what answers does."""
    for greeting in (
        "Hi",
        "Good morning, everybody!",
        "Hello, good evening again",
        "Thanks so much",
    ):
        counts, *_, has_time, _, tells_nothing = bag_of(f"user: {greeting}")
        assert counts
        assert (has_time, tells_nothing, only_greets(words(greeting))) == (False, True, True)
    for told in (
        "In the morning.",
        "Good morning, the boiler drips.",
        "No, thanks.",
        "Yes.",
        "Good.",
    ):
        assert not only_greets(words(told))
        assert not bag_of(f"user: {told}")[-1]
    assert bag_of("user: Good morning! We met yesterday.")[3]
    assert bag_of("user: The flag came at 15:42.")[3]
    assert tells_clock("at 3 pm")
    for other in ("ratio 16:90", "it cost 42:99", "13 pm", "chapter 3"):
        assert not tells_clock(other)


def test_r9_12_what_tells_before_it_asks_is_no_mere_question() -> None:
    """What stands before the question of a sentence counts as told; a bare one tells nothing."""
    told = (
        "I moved the boiler in the cellar to 55 degrees on Monday and it drips, can it be the pump?"
    )
    assert not bag_of(told)[-1]
    assert not bag_of(f"user: {told}")[-1]
    assert bag_of("So, what about the boiler, is it fine?")[-1]
    assert bag_of("Can it be the pump of the boiler?")[-1]
