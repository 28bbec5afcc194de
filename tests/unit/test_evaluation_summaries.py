"""What summaries keep of what is asked for is counted from the texts, and chance beside it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from support.kept_summaries import MEASURED, kept_of

from ezra.evaluation.sets import EvaluationSet, read_set
from metaagents.lifecycle.rules import LifecyclePolicy

CHAT = "Wow, that sounds really great, thanks so much!"
COURTESY = "Hope you are having fun, take care!"


def a_set(folder: Path, *, days: int = 3, facts: int = 12) -> EvaluationSet:
    """Return a set in which two people tell facts between courtesies, each asked for."""
    turns, asked = [], []
    for day in range(1, days + 1):
        for n in range(facts):
            number = f"{day}{n:02d}"
            text = f"{CHAT} I met Zora{number} in Trieste{number} yesterday. {COURTESY} {CHAT}"
            at = f"2026-05-{day + 3:02d}T10:{n:02d}"
            turns.append({"id": f"t{number}", "date": at, "speaker": "AB"[n % 2], "text": text})
            asked.append({"question": f"Who met Zora{number}?", "evidence": [f"t{number}"]})
    path = folder / "set.json"
    path.write_text(json.dumps({"conversations": [{"id": "c", "turns": turns, "qa": asked}]}))
    return read_set(path)


def test_every_grain_is_counted_and_beats_chance(tmp_path: Path) -> None:
    """Within the budget, with the same sentences asked for at every grain."""
    policy = LifecyclePolicy()
    found = kept_of(a_set(tmp_path), policy, seeds=3)
    assert [one.grain for one in found] == list(MEASURED)
    assert [one.asked for one in found] == [36] * 4
    assert [one.texts for one in found] == [6, 3, 1, 1]
    budgets = [policy.summary_tokens, *(policy.episode_tokens[one] for one in MEASURED[1:])]
    for one, budget in zip(found, budgets, strict=True):
        assert 0 < one.tokens <= budget
        assert one.ezra > one.random_most >= one.random > 0
        assert one.ezra == pytest.approx(one.told)
    assert found[0].ezra == found[1].ezra == 1.0
    assert found == kept_of(a_set(tmp_path), policy, seeds=3)


def test_what_does_not_fit_is_not_kept(tmp_path: Path) -> None:
    """A budget of next to nothing keeps one sentence of each text."""
    small = LifecyclePolicy(summary_tokens=1, episode_tokens=dict.fromkeys(MEASURED[1:], 1))
    found = kept_of(a_set(tmp_path), small, seeds=1)
    assert [round(36 * one.ezra) for one in found] == [6, 3, 1, 1]
    assert [round(36 * one.told) for one in found] == [6, 3, 1, 1]


def test_courtesies_are_sentences_of_the_evidence_too(tmp_path: Path) -> None:
    """What leaves them out does not keep everything of a turn."""
    (summaries, *_) = kept_of(a_set(tmp_path), seeds=1)
    assert summaries.of_everything == pytest.approx(1 / 4)
