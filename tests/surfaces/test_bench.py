"""``ezra bench``: figures beside baselines of the same run, a picture, and clear refusals."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from support.doors import Said, run

from ezra.evaluation.speed.picture import picture
from ezra.evaluation.speed.results import Figure, Report, this_machine
from ezra.evaluation.speed.sections import Plan

ROOT = Path(__file__).parents[2]


def measuring(*arguments: object) -> Said:
    """Run the command by words, so that no model is needed."""
    return run("bench", *arguments, EZRA_EMBEDDER="off")


def test_a_turn_is_measured_beside_another_checkout() -> None:
    """The same work in both; what is measured on, and how fast that is, stands beside it."""
    found = measuring("turn", "--quick", "--turns", 2, "--against", ROOT, "--json").document
    assert found["machine"]["python_ms"] > 0
    assert found["machine"]["cores"] >= 1
    (processor, *_) = found["figures"]
    assert (processor["section"], processor["case"]) == ("turn", "by words")
    assert processor["name"] == "processor time, background included"
    assert processor["value"] > 0
    (other,) = processor["beside"].values()
    assert other["ratio"] == pytest.approx(processor["value"] / other["value"])


@pytest.mark.usefixtures("forked")
def test_a_memory_that_grows_is_measured_beside_rivals(tmp_path: Path) -> None:
    """A line for each figure, with what rivals take for the same questions, and a picture."""
    drawn = tmp_path / "growth.svg"
    sizes = ("--sizes", "60,120", "--turns", 2, "--questions", 2, "--picture", drawn)
    done = measuring("growth", *sizes)
    assert "growth  60 turns  processor time of a turn" in done.out
    assert "growth  120 turns  longest stall of the loop" in done.out
    (line,) = (one for one in done.out.splitlines() if "120 turns, vectors given  p95" in one)
    assert all(rival in line for rival in ("bm25", "dense", "rrf"))
    assert "growth 3/3" in done.err
    assert "p50 of a recall, by turns in the memory" in drawn.read_text()


@pytest.mark.usefixtures("forked")
def test_recording_and_many_agents_are_measured() -> None:
    """By words, and with vectors that cost nothing."""
    few = ("--quick", "--turns", 2, "--think", 0.01, "--agents", "2")
    found = measuring("recording", "agents", *few, "--json").document["figures"]
    told = {(one["section"], one["case"], one["name"]): one["value"] for one in found}
    assert told["recording", "vectors given", "stored"] > 0
    assert told["recording", "by words", "and learnt"] > 0
    assert told["agents", "2 agents, vectors given", "p99"] > 0
    assert 0 < told["agents", "2 agents, by words", "served of what was asked"] <= 100


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (("speed",), "section"),
        (("--sizes", "few"), "sizes"),
        (("--agents", "0"), "agents"),
        (("turn", "--against", "/nowhere"), "against"),
        (("--picture", "/nowhere/a.svg"), "picture"),
    ],
)
def test_what_cannot_be_measured_is_refused_at_once(arguments: tuple[str, ...], told: str) -> None:
    """With the field, the value and what would do."""
    done = measuring(*arguments)
    assert done.code == 2
    assert told in done.err
    assert "Traceback" not in done.err


def test_a_first_look_has_each_size_once() -> None:
    """Sizes that come down to the same would leave nothing to record between them."""
    sizes = Plan(()).quick().sizes
    assert sizes == tuple(sorted(set(sizes)))
    assert len(sizes) > 1


def test_a_picture_is_well_formed_whatever_was_measured() -> None:
    """Nothing at all, one point, and names that would end a tag."""
    figures = tuple(
        Figure("agents", f"{agents} agents, <by words>", "p50", 3.0 * agents, at=agents)
        for agents in (1, 5, 25)
    )
    for some in ((), figures[:1], figures):
        drawing = ET.fromstring(picture(Report(this_machine(), some)))  # noqa: S314 - our own
        texts = [one.text for one in drawing.iter("{http://www.w3.org/2000/svg}text")]
        assert ("<by words>" in texts) == bool(some)
