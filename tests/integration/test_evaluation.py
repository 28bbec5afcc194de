"""A whole run: played, asked, compared, and the same every time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from support.evaluation_sets import garage, written
from typer.testing import CliRunner

from ezra import Settings
from ezra.cli.app import app_of
from ezra.evaluation.results import Evaluation
from ezra.evaluation.run import Options, evaluate, steps_of
from ezra.evaluation.sets import read_set
from tiers.errors import UsageError

app = app_of()

# With words only, so that no model is needed.
SETTINGS = Settings(embedder="off")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Write a set of two conversations."""
    return written(tmp_path / "garage.json", garage())


def _figures(found: Evaluation) -> str:
    """Return a run's JSON without its times."""
    document = found.as_json()
    for system in document["systems"].values():
        del system["latency_ms"]
    return json.dumps(document)


def _rankings(found: Evaluation) -> list[dict[str, Any]]:
    return [one.as_json() for one in found.asked]


async def test_two_runs_are_alike_and_so_are_one_installation_and_several(path: Path) -> None:
    """Byte for byte, times apart; conversations in one installation do not see each other."""
    whole = read_set(path)
    options = Options(ks=(2, 1, 2), kinds=None)
    steps: list[None] = []
    first = await evaluate(whole, SETTINGS, options, on_step=lambda: steps.append(None))
    again = await evaluate(whole, SETTINGS, options)
    assert len(steps) == steps_of(whole, options) == 8 + 4
    assert _figures(first) == _figures(again)
    assert _rankings(first) == _rankings(again)
    together = await evaluate(whole, SETTINGS, Options(ks=(1, 2), kinds=None, together=True))
    assert _rankings(together) == _rankings(first)


async def test_figures_by_category_beside_the_baselines(path: Path, tmp_path: Path) -> None:
    """Every system is asked the same questions; a home is kept and found again."""
    whole = read_set(path)
    options = Options(ks=(1, 3), conversations=("trip",))
    found = await evaluate(whole, SETTINGS, options, home=tmp_path / "kept")
    systems = found.systems
    assert list(systems) == ["ezra", "bm25"]
    for system in systems.values():
        counts = {label: one.questions for label, one in system.categories.items()}
        assert counts == {"multi-hop": 2, "single-hop": 1}
        assert system.latency is not None
        assert system.latency.timed == 3
    # The words of the third question lead to a shorter turn first, which does not answer it.
    assert [one.systems["bm25"].ranks for one in found.asked] == [(1,), (1,), (2, 3)]
    assert systems["bm25"].overall.recall == pytest.approx({1: 2 / 3, 3: 1})
    assert found.asked[0].systems["ezra"].found[0] == "trip:t1"
    assert found.warm_up == 0
    assert found.degraded == {"dense": 3}
    assert found.problems == ()
    assert (tmp_path / "kept" / "001-trip").is_dir()
    alone = Options(ks=(1, 3), conversations=("trip",), baselines=False, every=2)
    again = await evaluate(whole, SETTINGS, alone, home=tmp_path / "kept")
    assert list(again.systems) == ["ezra"]
    assert [one.question_id for one in again.asked] == ["q2"]
    with pytest.raises(UsageError, match="from 1 to 100"):
        await evaluate(whole, SETTINGS, Options(ks=(0,)))


def test_the_command_prints_tables_or_json_and_holds_to_its_floors(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 0; 1 below a floor, after the figures; a set that is not in order is named."""
    monkeypatch.setenv("EZRA_EMBEDDER", "off")
    monkeypatch.chdir(path.parent)
    command = CliRunner()
    shown = command.invoke(app, "eval garage.json --k 1,2 --per-question ranks.jsonl".split())
    assert shown.exit_code == 0, shown.output
    assert "garage.json: 2 conversations" in shown.stdout
    assert "left out: 1 adversarial, 1 without evidence" in shown.stdout
    assert "all 4 questions" in shown.stdout
    assert "R@1" in shown.stdout
    assert sorted(one.name for one in path.parent.iterdir()) == ["garage.json", "ranks.jsonl"]
    lines = (path.parent / "ranks.jsonl").read_text().splitlines()
    first = json.loads(lines[0])
    assert len(lines) == 4
    assert first["systems"]["ezra"]["found"][0] == "trip:t1"
    assert first["systems"]["bm25"]["ranks"] == [1]
    asked = "eval garage.json --k 1 --no-baselines --json --min recall@1=1"
    below = command.invoke(app, asked.split())
    assert below.exit_code == 1
    # A question with two evidence turns cannot have both at the top.
    reached = json.loads(below.stdout)["systems"]["ezra"]["overall"]["recall"]["1"]
    assert f"recall@1 is {reached:.4f}, below 1" in below.stderr
    for wrong, field in (("--kinds turns", "kinds"), ("--k ten", "k"), ("--min f1=1", "min")):
        refused = command.invoke(app, f"eval garage.json {wrong}".split())
        assert isinstance(refused.exception, UsageError)
        assert refused.exception.field == field
