"""Extractive compression chooses sentences and changes none."""

from __future__ import annotations

import numpy as np
from support.records import turn

from metaagents.lifecycle.extract import choose, render, sentences_of, summarise, word_vectors


def test_chosen_sentences_are_the_sources_own_words() -> None:
    """Nothing in a summary was not said."""
    turns = [
        turn(1, "The mediums lasted 18 laps. I like the colour of the sky."),
        turn(
            2, "Then plan for mediums of 18 laps at most.", response="Agreed, 18 laps of mediums."
        ),
    ]
    found = sentences_of(turns)
    text = summarise(found, None, 24)
    said = " ".join(one.input + " " + one.response for one in turns)
    for line in text.splitlines():
        assert line.partition(": ")[2] in said
    assert "18 laps" in text
    assert "sky" not in text


def test_speakers_and_dates_are_kept() -> None:
    """Each line says when and by whom."""
    found = sentences_of([turn(1, "Box now.", speaker="Ada", response="Copy.")])
    assert render(found) == (
        "[2026-05-14 15:05] Ada: Box now.\n[2026-05-14 15:05] strategist: Copy."
    )


def test_the_budget_is_kept_but_the_best_sentence_always_goes_in() -> None:
    """A budget too small for anything still gives one sentence."""
    vectors = np.eye(4, dtype=np.float32)
    assert choose(vectors, [5, 5, 5, 5], 10) == [0, 1]
    assert len(choose(vectors, [50, 50, 50, 50], 10)) == 1
    assert choose(vectors[:0], [], 10) == []


def test_a_repetition_gives_way_to_something_new() -> None:
    """Of two equal sentences and a different one, the different one is the second choice."""
    vectors = np.array([[1, 0], [1, 0], [0.6, 0.8]], dtype=np.float32)
    assert choose(vectors, [1, 1, 1], 2) == [0, 2]


def test_word_vectors_have_unit_length_or_none() -> None:
    """What has no words has no direction."""
    rows = word_vectors(["mediums last long", "…!"])
    assert np.isclose(np.linalg.norm(rows[0]), 1.0)
    assert not rows[1].any()


def test_turns_without_words_make_an_empty_summary() -> None:
    """Nothing said, nothing summarised."""
    assert summarise(sentences_of([turn(1, "")]), None, 10) == ""
