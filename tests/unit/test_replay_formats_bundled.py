"""The bundled race weekends are in order and hold what the demonstration needs."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ezra.replay.formats import read_script
from ezra.replay.script import BeliefLine, Conversation, FactLine, RuleLine, Script, TurnLine

FOLDER = Path(__file__).parents[2] / "scripts" / "conversations"
WEEKENDS = {"monaco": (15, 16, 17), "imola": (22, 23, 24)}
AGENTS = {"strategist", "race-engineer", "tyre-engineer", "driver"}
TOPICS = {"tyres", "strategy", "weather", "chassis", "gearbox", "team"}


@pytest.fixture(scope="module")
def script() -> Script:
    """Both weekends, read like a user reads them."""
    paths = [FOLDER / f"{name}.jsonl" for name in WEEKENDS]
    return read_script(paths, now=datetime(2026, 6, 1, tzinfo=UTC))


@pytest.fixture(scope="module", params=list(WEEKENDS))
def weekend(script: Script, request: pytest.FixtureRequest) -> Conversation:
    """Each weekend."""
    return next(one for one in script.conversations if one.id == request.param)


def _questions() -> list[dict[str, Any]]:
    questions: list[dict[str, Any]] = json.loads((FOLDER / "questions.json").read_text())
    return questions


def test_weekend_is_three_days_of_talk_among_four_agents(weekend: Conversation) -> None:
    """Turns by the four agents, with topics, strictly in order of time, Friday to Sunday."""
    turns = [line for line in weekend.lines if isinstance(line, TurnLine)]
    assert 45 <= len(turns) <= 60
    assert set(weekend.agents) == AGENTS
    assert all(before.at < after.at for before, after in pairwise(weekend.lines))
    days = sorted({(line.at.year, line.at.month, line.at.day) for line in turns})
    assert days == [(2026, 5, day) for day in WEEKENDS[weekend.id]]
    assert {topic for turn in turns for topic in turn.topics or ()} == TOPICS
    assert all(turn.topics for turn in turns)


def test_weekend_has_facts_rules_and_beliefs(weekend: Conversation) -> None:
    """Some core facts and more archival ones, a rule or two, and a belief that is superseded."""
    facts = [line for line in weekend.lines if isinstance(line, FactLine)]
    core = [fact for fact in facts if fact.tier == "core"]
    beliefs = [line for line in weekend.lines if isinstance(line, BeliefLine)]
    assert 0 < len(core) < len(facts) - len(core)
    assert 1 <= sum(isinstance(line, RuleLine) for line in weekend.lines) <= 2
    assert 2 <= len(beliefs) <= 3
    about = [(belief.topic, belief.key) for belief in beliefs]
    assert all(belief.key and belief.value for belief in beliefs)
    assert len(set(about)) == len(about) - 1


@pytest.mark.parametrize(
    ("ref", "shared"),
    [
        ("monaco:fact-gearbox-oil", {"gearbox", "oil", "degrees"}),
        ("imola:fact-medium-life", {"medium", "tyres", "last", "18", "laps"}),
    ],
)
def test_some_archival_facts_come_up_again_and_again(
    script: Script, ref: str, shared: set[str]
) -> None:
    """At least three later turns touch the fact, which is what promotes it by use."""
    lines = list(script.lines())
    place = next(n for n, line in enumerate(lines) if line.ref == ref)
    fact = lines[place]
    assert isinstance(fact, FactLine)
    assert fact.tier == "archival"
    later = [
        line
        for line in lines[place + 1 :]
        if isinstance(line, TurnLine)
        and line.conversation == fact.conversation
        and shared <= set(line.text.lower().replace(",", " ").replace(".", " ").split())
    ]
    assert len(later) >= 3


@pytest.mark.parametrize("question", _questions(), ids=lambda question: question["question"])
def test_expected_source_of_each_question_exists_once(
    script: Script, question: dict[str, Any]
) -> None:
    """A source is the ref of a line of the question's graph, or a part of one fact's text."""
    expected = question["expected_source"]
    sources = [
        line
        for line in script.lines()
        if line.ref == expected or (isinstance(line, FactLine) and expected in line.fact.text)
    ]
    assert len(sources) == 1
    source = sources[0]
    assert (source.conversation != question["graph"]) is question["inherited_only"]
    if question["inherited_only"]:
        assert isinstance(source, FactLine)
        assert source.tier == "core"


def test_inherited_answer_is_nowhere_in_the_second_weekend() -> None:
    """Imola asks for the wing setting but names neither the number nor the part."""
    imola = (FOLDER / "imola.jsonl").read_text().lower()
    assert "understeer" in imola
    assert not any(word in imola for word in ("28.5", "wing", "flap", "anti-roll"))


def test_there_are_five_questions_of_both_weekends() -> None:
    """One of them can only be answered by inheritance."""
    questions = _questions()
    assert len(questions) == 5
    assert {question["graph"] for question in questions} == set(WEEKENDS)
    assert [question["inherited_only"] for question in questions].count(True) == 1
