"""``ezra bridge entity``, ``graph`` and ``sync-memories``, through both doors."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from support.cli_doors import Door, command
from support.note_oracle import Oracle
from support.note_repository import TYPES, Note, Repository, repository


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


def test_notes_are_indexed_asked_about_and_removed(shared: Door, made: Repository) -> None:
    """A day with notes: what is printed for people and for programs is the same."""
    first = shared.told("bridge", "entity", "index-all")
    assert first["counts"] == {"new": len(made.notes)}
    again = shared.done("bridge", "entity", "index-all", "--quiet")
    assert again.out == ""
    assert "no front matter" in again.err

    made.write(Note("tasks/pit-wall.md", "task", "pit-wall", "Paint the pit wall", "waiting",
                    (("blocked_by", "tasks/ring-one.md", "ring-one"),)))  # fmt: skip
    done = shared.done("bridge", "entity", "index-file", made.root / "tasks" / "pit-wall.md")
    assert done.lines == ["new       scout-task-pit-wall"]
    skipped = shared.told("bridge", "entity", "index-file", made.root / "index.md")
    assert skipped["counts"] == {"skipped": 1}
    outside = shared.refused("bridge", "entity", "index-file", made.truth)
    assert str(made.root) in outside
    _search_and_relations(shared, made)
    _what_waits_and_changed(shared, made)
    _handoff_and_health(shared)
    if shared.name == "server":  # what is printed is the same behind the other door, only slower
        _for_people(shared)
    _what_is_gone(shared, made)


def _search_and_relations(shared: Door, made: Repository) -> None:
    found = shared.told("bridge", "graph", "search", "pit wall", "--all-time", "--types", "task")
    assert found[0]["id"] == "scout-task-pit-wall"
    assert shared("bridge", "graph", "search", "pit wall", "--all-time", "--types", "x").code == 1
    related = shared.told("bridge", "graph", "related", "pit-wall", "--depth", 2)
    assert {one["id"]: one["distance"] for one in related["found"] if one["is_indexed"]} == (
        Oracle(made.truth, "scout").distances("scout-task-pit-wall", 2)
    )
    assert shared("bridge", "graph", "related", "nowhere").code == 1
    assert "1 to 10" in shared.refused("bridge", "graph", "related", "pit-wall", "--depth", 11)


def _what_waits_and_changed(shared: Door, made: Repository) -> None:
    report = shared.told("bridge", "graph", "check-blockers")
    assert {one["id"] for one in report["blocked"]} == Oracle(made.truth, "scout").blocked()
    diff = shared.told("bridge", "graph", "semantic-diff", "2026-01-01", "2099-01-01")
    assert "scout-task-pit-wall" in {one["id"] for one in diff["newly_blocked"]}
    assert "FROM" in shared.refused("bridge", "graph", "semantic-diff", "monday", "2026-01-01")


def _handoff_and_health(shared: Door) -> None:
    handoff = shared.told("bridge", "graph", "gen-handoff", "--hours", 2)
    assert handoff["agent"] == "scout"
    # The server of the tests lives at a day of its own, which is long ago.
    assert bool(handoff["updated"]) == (shared.name == "embedded")
    assert "--format" in shared.refused("bridge", "graph", "gen-handoff", "--format", "pdf")

    health = shared.told("bridge", "graph", "health")
    assert health["collisions"][0][0] == "scout-task-same-name"
    assert health["warnings"] >= 8


def _for_people(shared: Door) -> None:
    lines = shared.done("bridge", "graph", "related", "Paint the pit wall").lines
    assert lines[1].startswith("  1  -blocked_by-> scout-task-ring-one")
    shown = shared.done("bridge", "entity", "show", "pit-wall")
    assert "status: waiting" in shown.out
    told = shared.done("bridge", "graph", "check-blockers", "--stale-days", 30_000)
    assert "in a circle: scout-task-ring-one" in told.out
    assert "0 of them stale" in told.err
    lines = shared.done("bridge", "graph", "semantic-diff", "2026-01-01", "2099-01-01").lines
    assert "newly blocked" in lines
    assert "in 24 hours" in shared.done("bridge", "graph", "health").out
    markdown = shared.done("bridge", "graph", "gen-handoff", "--format", "markdown", "--synthesize")
    assert markdown.out.startswith("# Handoff for scout")
    assert "no language model" in markdown.err


def _what_is_gone(shared: Door, made: Repository) -> None:
    made.remove("tasks/pit-wall.md")
    removed = shared.done("bridge", "graph", "reconcile")
    assert removed.lines == ["removed  tasks/pit-wall.md"]
    made.remove(*made.notes)
    refused = shared("bridge", "graph", "reconcile")
    assert refused.code == 1
    assert "--force" in refused.err
    assert shared.told("bridge", "graph", "reconcile", "--force")["is_refused"] is False


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
