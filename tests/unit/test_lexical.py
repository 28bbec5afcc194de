"""Cutting text into words and sentences."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.tier_samples import HOSTILE_TEXT

from tiers.lexical import (
    SENTENCE_CHARS_MAX,
    SENTENCES_MAX,
    STOP_WORDS,
    WORD_CHARS_MAX,
    content_words,
    estimate_tokens,
    pieces,
    sentences,
    stem,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("?! … —", []),
        ("Box, box!", ["box", "box"]),
        ("Don't stop", ["dont", "stop"]),
        ("the driver's car", ["the", "driver", "car"]),
        ("the driver\u2019s car", ["the", "driver", "car"]),
        ("snake_case lap-time", ["snake", "case", "lap", "time"]),
        ("18 laps, 1:23.456", ["18", "laps", "1", "23", "456"]),
        ("Größe ÉCLAIR Шины", ["größe", "éclair", "шины"]),
        ("e\u0301clair \ufb01n", ["éclair", "fin"]),
        ("更换 タイヤ", ["更", "换", "タ", "イ", "ヤ"]),
        ("🏎️ vroom 🏎️", ["vroom"]),
        ("nul\x00byte", ["nul", "byte"]),
        ("राम शर्मा", ["राम", "शर्मा"]),
        ("தமிழ் নাম", ["தமிழ்", "নাম"]),
        ("\u0130stanbul x\u0331y's", ["istanbul", "x\u0331y"]),
        ("\u0301 日\u0301本", ["日\u0301", "本"]),
    ],
)
def test_words(text: str, expected: list[str]) -> None:
    """Letters and digits of any script, lower case, compatibility forms unified."""
    assert words(text) == expected


def test_what_was_filed_before_signs_of_vowels_belonged_to_words_is_asked_for_too() -> None:
    """As the pieces that lie between them; a text without has none."""
    assert pieces("राम शर्मा") == ["र", "म", "शर", "म"]
    assert content_words("राम") == ["राम", "र", "म"]
    assert pieces("\u0130zmir") == ["i", "zmir"]
    assert pieces("Größe e\u0301clair 更 ใจดี") == []


def test_words_are_only_letters_and_digits_and_not_too_long() -> None:
    """What FTS5 or any other engine is handed can hold no syntax."""
    found = words(HOSTILE_TEXT + "x" * 1_000 + "\"*^():'")
    assert found
    assert all(word.isalnum() and len(word) <= WORD_CHARS_MAX for word in found)


def test_content_words_leave_stop_words_out_unless_nothing_is_left() -> None:
    """Each once, in order."""
    assert content_words("What is the tyre, the tyre?") == ["tyre"]
    assert content_words("who is it?") == ["who", "is", "it"]
    assert content_words("") == []


def test_stop_words_are_words() -> None:
    """Each is something that ``words`` can return, or it would never match."""
    assert all(words(word) == [word] for word in STOP_WORDS)


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("tyres", "tyre"),
        ("strategies", "strategy"),
        ("boxes", "boxe"),
        ("box", "box"),
        ("status", "status"),
        ("pass", "pass"),
        ("shoes", "shoe"),
        ("", ""),
    ],
)
def test_stem_takes_plural_endings_only(word: str, expected: str) -> None:
    """Harman's three rules."""
    assert stem(word) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n \n", []),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Mr. Smith saw Dr. Jones.", ["Mr. Smith saw Dr. Jones."]),
        ("It took 1.5 laps. Fine.", ["It took 1.5 laps.", "Fine."]),
        ("J. R. R. Tolkien wrote.", ["J. R. R. Tolkien wrote."]),
        ("See e.g. Monaco, i.e. the street.", ["See e.g. Monaco, i.e. the street."]),
        ("At 5 p.m. We left.", ["At 5 p.m.", "We left."]),
        ("At 5 p.m. we left.", ["At 5 p.m. we left."]),
        ('"Really?" he asked. "Yes."', ['"Really?" he asked.', '"Yes."']),
        ("So did I. Then it rained.", ["So did I.", "Then it rained."]),
        ("Wait... what? No!!! Stop?!", ["Wait... what?", "No!!!", "Stop?!"]),
        ("First line\nsecond line\n\nthird", ["First line", "second line", "third"]),
        ("版本一。版本二\uff01还有\uff1f", ["版本一。", "版本二\uff01", "还有\uff1f"]),
        ("v1.2.3 is out", ["v1.2.3 is out"]),
    ],
)
def test_sentences(text: str, expected: list[str]) -> None:
    """Abbreviations, initials and decimals hold together; line breaks and marks part."""
    assert sentences(text) == expected


@pytest.mark.parametrize("text", ["x" * 9_000, "lap " * 3_000, "lap. " * 20_000])
def test_sentences_are_bounded(text: str) -> None:
    """In length and number, and nothing but white space is lost up to the limit."""
    found = sentences(text)
    assert len(found) <= SENTENCES_MAX
    assert all(0 < len(sentence) <= SENTENCE_CHARS_MAX for sentence in found)
    if len(found) < SENTENCES_MAX:
        assert "".join("".join(found).split()) == "".join(text.split())


@pytest.mark.parametrize(
    "unit", [".", "?!", " ", "\n", " \t", "a.", "A. ", "''", '."', "…", "。", "x", "\u0301", "a'"]
)
def test_long_runs_of_anything_take_linear_time(unit: str) -> None:
    """No run of marks, blanks or quotes makes an expression backtrack."""
    text = unit * (200_000 // len(unit))
    started = time.process_time()
    sentences(text)
    words(text)
    estimate_tokens(text)
    assert time.process_time() - started < 2


def test_token_estimate_is_proportional() -> None:
    """Four ASCII characters or two others to a token; nothing costs nothing."""
    assert estimate_tokens("") == 0
    assert estimate_tokens("a") == 1
    assert estimate_tokens("word" * 25) == 25
    assert estimate_tokens("轮胎" * 10) == 10


@given(st.text(alphabet="abXY019_'-., \n", max_size=200) | st.text(st.characters(codec="ascii")))
def test_plain_text_is_cut_as_any_other(text: str) -> None:
    """One letter of another script, apart from the rest, sends the text the longer way."""
    assert words(text) == words(f"{text} \u00e9")[:-1]
