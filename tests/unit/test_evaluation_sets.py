"""The generated evaluation sets: the same bytes each time, and questions that evidence answers."""

from __future__ import annotations

import re
from collections import Counter
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from benchmarks.sets.catalog import KINDS, made, written
from benchmarks.sets.grammar import GRAMMARS, read
from benchmarks.sets.proofs import Question, Turn, problems
from benchmarks.sets.timeline import ASKED_MAX

from ezra.evaluation.sets import read_set
from ezra.ranking.terms import bag_of

SEED = 1
NAMES = tuple(KINDS)
_POLITE = re.compile(r"\b(?:can|could|would) you\b|\bplease\b", re.IGNORECASE)
_REQUESTED = ("in which order it was brought up", "what the user would like")


@cache
def _set(name: str) -> dict[str, Any]:
    return made(name, SEED)


@pytest.mark.parametrize("name", NAMES)
def test_same_seed_has_the_same_bytes(name: str) -> None:
    """Another seed has others; and a smaller set is the beginning of a larger one."""
    one = made(name, SEED, 1)
    assert written(one) == written(made(name, SEED, 1))
    assert one["conversations"] == _set(name)["conversations"][:1]
    assert one["conversations"] != made(name, SEED + 1, 1)["conversations"]


@pytest.mark.parametrize("name", NAMES)
def test_sizes_are_as_documented(name: str) -> None:
    """Conversations, turns in order of time, 60 to 100 questions, and every category in each."""
    document = _set(name)
    assert len(document["conversations"]) == KINDS[name].size
    for conversation in document["conversations"]:
        turns, asked = conversation["turns"], conversation["qa"]
        assert len(turns) == KINDS[name].turns
        dates = [datetime.fromisoformat(turn["date"]) for turn in turns]
        assert dates == sorted(set(dates))
        assert {turn["speaker"] for turn in turns} == set(conversation["speakers"])
        assert 60 <= len(asked) <= 100
        counted = Counter(str(one["category"]) for one in asked)
        assert counted.keys() == document["categories"].keys()
        assert 4 <= min(counted.values()) <= max(counted.values()) <= ASKED_MAX


@pytest.mark.parametrize("name", NAMES)
def test_ids_and_questions_are_unique_and_evidence_exists(name: str) -> None:
    """Turn ids, question ids and question texts of a conversation; no blank is left open."""
    for conversation in _set(name)["conversations"]:
        turns, asked = conversation["turns"], conversation["qa"]
        ids = {turn["id"] for turn in turns}
        assert len(ids) == len(turns)
        for key in ("id", "question"):
            assert len({one[key] for one in asked}) == len(asked)
        for one in asked:
            assert one["evidence"]
            assert len(set(one["evidence"])) == len(one["evidence"])
            assert set(one["evidence"]) <= ids
        said = "".join(turn["text"] for turn in turns) + "".join(one["question"] for one in asked)
        assert not any(mark in said for mark in ("{", "}", "[[", "]]"))


@pytest.mark.parametrize("name", NAMES)
def test_evidence_states_the_answer_and_nothing_else_does(name: str) -> None:
    """Every part of an answer is in the evidence; what proves it is in no other turn."""
    for number in range(1, KINDS[name].size + 1):
        _, turns, asked = KINDS[name].conversation(f"{name}/{SEED}/{number}")
        for question in asked:
            assert problems(question, turns) == [], question.text


@pytest.mark.parametrize("name", NAMES)
def test_ezra_reads_every_question(name: str, tmp_path: Path) -> None:
    """The file is in the documented format: nothing is left out, tool outputs are kept."""
    document = _set(name)
    path = tmp_path / f"{name}.json"
    path.write_text(written(document), encoding="utf-8")
    found = read_set(path)
    assert (found.excluded, found.without_evidence, found.dropped) == ({}, 0, 0)
    for interview, conversation in zip(found.interviews, document["conversations"], strict=True):
        assert [one.text for one in interview.questions] == [
            one["question"] for one in conversation["qa"]
        ]
        assert [len(turn.tool_outputs) for turn in interview.turns] == [
            len(turn.get("tool_outputs", ())) for turn in conversation["turns"]
        ]


def test_answers_of_the_assistant_are_long() -> None:
    """150 to 400 words with their structure, for more than half of what the assistant writes."""
    for conversation in _set("assistant")["conversations"]:
        answers = [turn for turn in conversation["turns"] if turn["speaker"] == "assistant"]
        long = [turn for turn in answers if "\n\n" in turn["text"]]
        assert len(long) > len(answers) / 2
        assert all(150 <= len(turn["text"].split()) <= 400 for turn in long)


def test_r9_12_requests_rest_on_what_the_user_said_at_length() -> None:
    """Polite ones of both kinds; their evidence is the user's, tells something, then asks."""
    for conversation in _set("requests")["conversations"]:
        turns = {turn["id"]: turn for turn in conversation["turns"]}
        names = _set("requests")["categories"]
        new = {int(key) for key, name in names.items() if name in _REQUESTED}
        asked = [one for one in conversation["qa"] if one["category"] in new]
        polite = [one for one in asked if _POLITE.search(one["question"])]
        assert len(polite) > len(asked) / 2
        for one in asked:
            for turn in (turns[id_] for id_ in one["evidence"]):
                assert turn["speaker"] == "user"
                assert turn["text"].endswith("?")
                assert len(turn["text"].split()) >= 30
                assert not bag_of(f"user: {turn['text']}")[-1]


def test_tools_answer_questions_of_the_team() -> None:
    """Some evidence has its answer in a tool output and not in what was said."""
    for conversation in _set("team")["conversations"]:
        turns = {turn["id"]: turn for turn in conversation["turns"]}
        only_printed = [
            one
            for one in conversation["qa"]
            if any(
                one["answer"] in printed["output"] and one["answer"] not in turns[id_]["text"]
                for id_ in one["evidence"]
                for printed in turns[id_].get("tool_outputs", ())
            )
        ]
        assert len(only_printed) >= 5


def test_unfair_questions_are_found() -> None:
    """An answer that is not there, one that stands elsewhere, and evidence that proves nothing."""
    day = datetime.fromisoformat("2026-03-02T09:00")
    right = Turn(day, "Ada", "We meet at the old mill.", (("ci", "code E-77"),))
    other = Turn(day, "Bo", "The old  mill, really?")
    aside = Turn(day, "Bo", "Milling about.")

    def found(answer: str, proof: str, *evidence: Turn) -> list[str]:
        question = Question("Where?", answer, "time", evidence, (proof,))
        return problems(question, [right, other, aside])

    assert found("E-77", "e 77", right) == []
    assert found("the old mill", "old mill", right, other) == []
    assert found("2026-03-02; Ada", "code E-77", right) == []
    assert found("the old mill", "old mill", right) == ["'old mill' is stated elsewhere"]
    assert found("the new mill", "E-77", right) == ["the evidence does not state 'the new mill'"]
    assert found("E-77", "E-77", right, aside) == ["a turn of the evidence proves nothing"]
    assert found("E-77", "E-7", right) == [
        "nothing states 'E-7'",
        "a turn of the evidence proves nothing",
    ]


@pytest.mark.parametrize("path", sorted(GRAMMARS.glob("*.txt")), ids=lambda path: path.stem)
def test_scripts_ask_about_turns_they_have(path: Path) -> None:
    """No question points at a missing turn; every slot of a script stands in one of its lines."""
    for section in read(path.stem):
        lines = [
            text
            for line in section.lines.values()
            for wordings in (line.wordings, *line.tools.values())
            for text in wordings
        ]
        for asked in section.asked:
            assert set(asked.turns) <= section.lines.keys(), asked
        if section.kind != "lists":
            said = " ".join(lines).lower()
            unused = [slot for slot in section.slots if f"{{{slot}" not in said]
            assert not unused, section.name
