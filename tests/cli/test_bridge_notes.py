"""``ezra bridge entity``, ``graph`` and ``sync-memories``, through both doors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.cli_doors import Door, command
from support.note_repository import TYPES, Repository, repository


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shared: Door) -> Repository:
    """A repository that is watched, for an agent of a graph of its own."""
    made = repository(tmp_path / "repository", "scout", 20)
    for name, value in {
        "AGENT": "scout",
        "GRAPH": "notes-of-people",
        "MACHINE": "laptop",
        "STATE": str(tmp_path / "state"),
        "WATCH_DIRS": f"work={made.root}",
        "TYPES": TYPES,
        "MEMORY_PATH": str(tmp_path / "memories"),
    }.items():
        monkeypatch.setenv(f"EZRA_BRIDGE_{name}", value)
    return made


def test_notes_are_kept_alike_and_conflicts_are_told(
    shared: Door, made: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two machines, each with a state and a folder of its own; a conflict is exit code 1."""
    folder = Path(os.environ["EZRA_BRIDGE_MEMORY_PATH"])
    folder.mkdir()
    (folder / "style.md").write_text("Tabs.")
    assert shared.told("bridge", "sync-memories")["counts"] == {"pushed": 1}
    quiet = shared.done("bridge", "sync-memories", "--quiet")
    assert (quiet.out, quiet.err) == ("", "")
    monkeypatch.setenv("EZRA_BRIDGE_MACHINE", "desktop")
    monkeypatch.setenv("EZRA_BRIDGE_STATE", str(tmp_path / "other-state"))
    other = tmp_path / "other"
    pulled = shared.done("bridge", "sync-memories", "--folder", other)
    assert pulled.lines == ["pulled    style.md"]
    (folder / "style.md").write_text("Four spaces.")
    (other / "style.md").write_text("Two spaces.")
    assert shared("bridge", "sync-memories", "--folder", other).code == 0
    monkeypatch.setenv("EZRA_BRIDGE_MACHINE", "laptop")
    monkeypatch.setenv("EZRA_BRIDGE_STATE", str(tmp_path / "state"))
    told = shared("bridge", "sync-memories")
    assert told.code == 1
    assert "style.conflict-laptop-" in told.err
    assert {one.read_text() for one in folder.iterdir()} == {"Two spaces.", "Four spaces."}

    for asked in (("sync-memories",), ("graph", "health"), ("entity", "index-all")):
        away = command("bridge", *asked, "--url", "http://127.0.0.1:9")
        assert (away.code, away.out) == (4, ""), asked
    monkeypatch.delenv("EZRA_BRIDGE_MEMORY_PATH")
    nowhere = shared("bridge", "sync-memories")
    assert nowhere.code == 3
    assert "EZRA_BRIDGE_MEMORY_PATH" in nowhere.err


@pytest.mark.usefixtures("made")
def test_an_erasure_leaves_the_files_of_the_user_alone(shared: Door) -> None:
    """It is told what became of the memory of each, also to who wants to hear little."""
    folder = Path(os.environ["EZRA_BRIDGE_MEMORY_PATH"])
    folder.mkdir()
    (folder / "release.md").write_text("Step 1.\n\nThanks to Tamsin Oakwood.")
    shared.done("bridge", "sync-memories")
    shared.done(
        "graph", "erase", "notes-of-people", "--subject", "Tamsin Oakwood", "--reason", "case 1"
    )
    for quiet in ([], ["--quiet"]):
        told = shared.done("bridge", "sync-memories", *quiet)
        assert "release.md  (its memory was redacted: the file is kept" in told.err
        assert "Step 1." in (folder / "release.md").read_text()


def test_folders_are_kept_in_the_configuration_and_variables_override_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What ``setup`` is told means the same wherever a command runs; a wrong list is refused."""
    for name in ("WATCH_DIRS", "MEMORY_PATH", "AGENT"):
        monkeypatch.delenv(f"EZRA_BRIDGE_{name}", raising=False)
    monkeypatch.setenv("EZRA_BRIDGE_STATE", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)
    told = command(
        "bridge", "setup", "--agent", "scout", "--watch-dirs", "notes:plans=more/plans",
        "--memory-path", "memories", "--json",
    ).document  # fmt: skip
    real = Path(os.path.realpath(tmp_path))
    assert told["watch_dirs"] == f"notes={real}/notes:plans={real}/more/plans"
    assert told["memory_path"] == str(tmp_path / "memories")
    refused = command("bridge", "setup", "--watch-dirs", "a/notes:b/notes")
    assert (refused.code, "EZRA_BRIDGE_WATCH_DIRS" in refused.err) == (3, True)
    monkeypatch.setenv("EZRA_BRIDGE_WATCH_DIRS", "other")
    assert command("bridge", "setup", "--json").document["watch_dirs"] == "other"
