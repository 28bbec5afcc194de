"""Whole runs of the evaluations: played, asked, compared, and the same every time."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import SecretStr
from support.doors import Said, run
from support.evaluation_sets import garage, written
from typer.testing import CliRunner

from ezra import Settings
from ezra.cli.app import app_of
from ezra.erasure.taint import tracing
from ezra.evaluation.learning.bench import Bench, by_rules
from ezra.evaluation.learning.labels import Label, Pair, SaidTurn
from ezra.evaluation.learning.scoring import fate, verdict
from ezra.evaluation.learning.sections import SECTIONS, STARTS_AT, measured
from ezra.evaluation.results import Evaluation
from ezra.evaluation.run import Options, evaluate, steps_of
from ezra.evaluation.sets import read_set
from tiers.errors import UsageError

# A whole run: played, asked, compared, and the same every time.

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


# ``ezra eval learning``, end to end on a few cases of each set.

# With words only, so that no model is needed.
SOME = ("--every", 15)


def measuring(*arguments: object) -> Said:
    """Run the command on every fifteenth case, by words."""
    return run("eval", "learning", *SOME, *arguments, EZRA_EMBEDDER="off")


async def test_a_turn_may_answer_what_the_agent_asked_before() -> None:
    """Half a sentence states something with its question, and nothing without it."""
    label = Label(attribute="allergic to", values=("shellfish",))
    alone = SaidTurn(id="a", kind="k", speaker="Bilal", text="just shellfish")
    question = "Do you have any food allergies?"
    answer = alone.model_copy(update={"id": "b", "asked": question, "facts": (label,)})
    async with Bench(SETTINGS).memory(STARTS_AT) as memory:
        assert await memory.learnt(alone, STARTS_AT) == ()
        (learnt,) = await memory.learnt(answer, STARTS_AT)
        assert verdict(answer, learnt) == "right"


async def test_a_memory_learns_of_turns_and_keeps_cases_apart() -> None:
    """What is remembered in one case is neither learnt nor merged in another; people are two."""
    label = Label(attribute="lives in", values=("Malmö",))
    stating = SaidTurn(id="a", kind="k", speaker="Oskar", text="I live in Malmö.", facts=(label,))
    silent = SaidTurn(id="b", kind="k", speaker="Ada", text="Good morning, how are you?")
    twice = Pair(id="c", kind="k", old="Gate 12 is shut.", new="Gate 12 is shut.")
    apart = Pair(id="d", kind="k", old="Gate 12 is shut.", new="Lars plays the tuba.")
    async with Bench(SETTINGS).memory(STARTS_AT) as memory:
        (learnt,) = await memory.learnt(stating, STARTS_AT)
        assert verdict(stating, learnt) == "right"
        assert await memory.learnt(silent, STARTS_AT) == ()
        assert fate(*await memory.remembered(twice, STARTS_AT)) == "merged"
        assert fate(*await memory.remembered(apart, STARTS_AT)) == "kept"
        assert memory.problems == []


async def test_two_runs_find_the_same() -> None:
    """Every figure and every mistake."""
    bench = Bench(SETTINGS, every=20)
    names = ("duplicates", "statements")
    first = await measured(bench, names)
    assert [one.name for one in first.sections] == ["statements", "duplicates"]
    assert first == await measured(bench, names)


async def test_every_section_counts_its_cases() -> None:
    """What is asked for of each set, with every fortieth case."""
    found = await measured(Bench(SETTINGS, every=40))
    counted = {
        one.name: {figure.name: figure.of for figure in one.figures} for one in found.sections
    }
    assert list(counted) == list(SECTIONS)
    for name in ("statements", "statements-sealed"):
        assert counted[name]["statements learnt"] == 2
        assert counted[name]["turns without a statement, nothing learnt"] == 1
    assert counted["supersessions"]["supersessions found"] == 2
    assert counted["supersessions"]["false ones"] == 9
    assert counted["duplicates"] == {"duplicates merged": 1, "different facts lost": 1}
    assert counted["guard"]["false statements taken"] == 28
    assert counted["guard"]["judge says supersedes, wrongly, and is believed"] == 9
    assert counted["attacks"]["attacks caught"] == 2
    assert counted["attacks"]["attacks-sealed caught"] == 2
    assert counted["statements-wide"]["statements learnt"] == 4
    assert counted["statements-plain"]["statements learnt"] == 6
    assert counted["statements-everyday"]["statements learnt"] == 12
    assert counted["statements-fresh"]["statements learnt"] == 3
    assert counted["taint"]["derived records rolled back"] == 1
    for name in ("paraphrases", "paraphrases-sealed"):
        assert counted[name]["paraphrases merged"] == 2
        assert counted[name]["different facts merged, words alone"] == 2
    assert counted["paraphrases-later"]["different facts merged"] == 1
    assert not any(one.problems for one in found.sections)
    assert not any(one.mistakes for one in found.sections if "-sealed" in one.name)


async def test_poison_that_is_missed_is_counted_and_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of it is found and comes back; without looking into other graphs some is not."""
    (whole,) = (await measured(Bench(SETTINGS), ("taint",))).sections
    assert whole.mistakes == ()
    for figure in whole.figures:
        assert figure.count == (0 if figure.best == "none" else figure.of), figure.name

    async def nobody(*_: object) -> list[object]:
        return []

    monkeypatch.setattr(tracing, "heirs_of", nobody)
    monkeypatch.setattr(tracing, "branches_of", nobody)
    (section,) = (await measured(Bench(SETTINGS), ("taint",))).sections
    assert {one.case for one in section.mistakes} == {"inherited", "branched"}
    assert {"not traced", "not rolled back"} <= {one.what for one in section.mistakes}
    (traced,) = (one for one in section.figures if one.name == "derived records traced")
    assert traced.count == (traced.of or 0) - 4


async def test_an_unknown_set_is_named_with_those_there_are() -> None:
    """Before anything is measured."""
    with pytest.raises(UsageError, match="one of statements, statements-wide, statements-plain"):
        await measured(Bench(SETTINGS), ("statement",))


def test_sets_never_reach_the_servers_of_the_environment() -> None:
    """A memory to measure in is embedded, and asks nobody."""
    address = "http://203.0.113.1:1"
    named = Settings(embedder="off").model_copy(
        update={
            **dict.fromkeys(("redis_url", "qdrant_url", "mongodb_uri"), SecretStr(address)),
            **dict.fromkeys(("nli_url", "rerank_url"), address),
            "llm": "openai",
            "judge": "llm",
        }
    )
    alone = by_rules(named)
    servers = (alone.redis_url, alone.qdrant_url, alone.mongodb_uri)
    assert {*servers, alone.nli_url, alone.rerank_url} == {None}
    assert (alone.llm, alone.judge, alone.background) == ("none", "rules", False)


def test_the_command_prints_a_table_and_its_progress() -> None:
    """Figures with their aims on standard output, exit code 0; mistakes if asked for."""
    done = measuring("--set", "duplicates")
    assert (done.code, done.out.count("went wrong")) == (0, 0)
    assert "without a language model; words alone; one case of 15" in done.out
    assert "duplicates  different facts lost  0 of 3  0" in done.out
    assert "duplicates 5/5 [##########]" in done.err
    told = measuring("--set", "duplicates", "--mistakes")
    assert "duplicates: 1 went wrong" in told.out
    assert "same-01 (other tags), kept: Mediums last about 18 laps." in told.out
    assert "learnt: Mediums; Mediums last about 18 laps." in told.out


def test_a_sealed_set_tells_its_totals_only() -> None:
    """Neither the table nor JSON say which cases went wrong, nor what they say."""
    told = measuring("--set", "statements-sealed", "--mistakes")
    assert "statements-sealed  statements learnt" in told.out
    assert "went wrong" not in told.out
    section = measuring("--set", "statements-sealed", "--mistakes", "--json").document["sections"]
    assert section["statements-sealed"]["mistakes"] == []


def test_json_has_every_figure() -> None:
    """Counts with what they are of, and what is best."""
    document = measuring("--set", "duplicates", "--json").document
    assert (document["embedder"], document["every"]) == (None, 15)
    section = document["sections"]["duplicates"]
    assert section["figures"]["different facts lost"] == {"count": 0, "of": 3, "best": "none"}
    assert "mistakes" not in section


def test_wrong_usage_is_named(tmp_path: Path) -> None:
    """An unknown set; and a file is measured as before, by either name, options first or last."""
    refused = measuring("--set", "summary")
    assert refused.code == 2
    assert refused.err.startswith("UsageError: set: 'summary' is not accepted")
    missing = tmp_path / "learning.json"
    said = run("eval", missing).err
    assert said.startswith("UsageError")
    assert said == run("eval", "file", missing).err == run("eval", "--k", 5, missing).err
