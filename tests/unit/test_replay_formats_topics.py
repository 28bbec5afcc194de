"""Topics derived from a conversation's own words."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ezra.replay.formats import derive_topics, read_script
from ezra.replay.script import Script
from tiers.errors import UsageError

START = datetime(2026, 6, 1, 9, 0, tzinfo=UTC)


def _script(folder: Path, *rows: dict[str, object]) -> Script:
    path = folder / "chat.jsonl"
    lines = [
        json.dumps({"speaker": "Gearbox", "at": (START + timedelta(minutes=n)).isoformat()} | row)
        for n, row in enumerate(rows)
    ]
    path.write_text("\n".join(lines))
    return read_script([path], now=START)


def _weekend() -> list[dict[str, object]]:
    """Return 36 turns: four about tyres in a clump, ``engine`` four times spread evenly."""
    texts = [f"Sentence {'abcdefghijklmnopqrstuvwxyz'[n % 26]}." for n in range(36)]
    for n, word in enumerate(["Tyres!", "TYRES", "the tyre", "tyres,"]):
        texts[10 + n] = f"What about {word} gearbox because 1234567"
    for n in (2, 11, 20, 29):
        texts[n] += " engine"
    return [{"text": text} for text in texts]


def test_clumped_words_become_topics_of_the_lines_that_contain_them(tmp_path: Path) -> None:
    """A word used in a clump is a topic, in its commonest form; plural and singular are one."""
    topics = [line.topics for line in derive_topics(_script(tmp_path, *_weekend())).lines()]
    assert topics[10:14] == [("tyres",)] * 4
    assert set(topics[:10] + topics[14:]) == {()}


def test_given_topics_and_beliefs_are_left_alone(tmp_path: Path) -> None:
    """Named topics stay, none on purpose included; facts and rules get theirs, beliefs do not."""
    rows: list[dict[str, object]] = [
        {"type": "fact", "text": "Tyres are round."},
        {"type": "fact", "text": "Tyres are black.", "topics": []},
        {"type": "rule", "trigger": "a flat tyre", "steps": ["box"]},
        {"type": "belief", "claim": "Tyres matter."},
        {"text": "A tyre.", "topics": ["own"]},
    ]
    derived = list(derive_topics(_script(tmp_path, *_weekend(), *rows)).lines())[36:]
    assert [line.topics for line in derived] == [("tyres",), (), ("tyres",), None, ("own",)]


def test_everything_but_topics_stays_the_same(tmp_path: Path) -> None:
    """Deriving changes no reference, word or time, and doing it twice changes nothing."""
    script = _script(tmp_path, *_weekend())
    derived = derive_topics(script)
    stripped = [line.model_copy(update={"topics": None}) for line in derived.lines()]
    assert stripped == list(script.lines())
    assert derive_topics(derived) == derived
    assert derive_topics(script) == derived


def test_best_words_win_when_there_are_too_many(tmp_path: Path) -> None:
    """With room for one topic, the word in the denser clump is taken."""
    rows = _weekend()
    for row in rows[19:24]:
        row["text"] = f"{row['text']} strategies"
    rows[24]["text"] = "A strategy"
    script = _script(tmp_path, *rows)
    both = {topic for line in derive_topics(script, 2).lines() for topic in line.topics or ()}
    one = {topic for line in derive_topics(script, 1).lines() for topic in line.topics or ()}
    assert (both, one) == ({"strategies", "tyres"}, {"strategies"})


def test_short_conversation_has_no_topics(tmp_path: Path) -> None:
    """Where nothing is distinctive, every line gets the empty set and is seen by all."""
    script = derive_topics(_script(tmp_path, {"text": "Tyres."}, {"text": "Tyres."}))
    assert [line.topics for line in script.lines()] == [(), ()]


@pytest.mark.parametrize("limit", [0, 65])
def test_impossible_limits_are_refused(tmp_path: Path, limit: int) -> None:
    """A line may carry 64 topics at most."""
    with pytest.raises(UsageError, match="limit"):
        derive_topics(_script(tmp_path, {"text": "Hi."}), limit)
