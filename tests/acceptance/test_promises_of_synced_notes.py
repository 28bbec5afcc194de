"""Notes that `sync-memories` brought are found as memories are, on either door and backend."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.cli_doors import DOORS, Door, door_to

NOTES = {
    "style.md": "Indent with tabs, never with blanks.\n",
    "tyres.md": "---\ntitle: Degradation handbook\ntype: feedback\ntags: [pirelli]\n---\n"
    "The soft one falls off after nine laps.\n",
    "empty.md": "---\ntitle: Quarantine checklist\n---\n",
}


@pytest.fixture(params=DOORS)
def door(
    request: pytest.FixtureRequest, tiers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Door]:
    """A memory into which an agent has synced its notes, and where it remembers one fact."""
    folder = tmp_path / "memories"
    folder.mkdir()
    for name, text in NOTES.items():
        (folder / name).write_text(text)
    for name, value in {
        "AGENT": "scout",
        "MACHINE": "laptop",
        "STATE": str(tmp_path / "state"),
        "WATCH_DIRS": f"work={tmp_path / 'work'}",
        "MEMORY_PATH": str(folder),
    }.items():
        monkeypatch.setenv(f"EZRA_BRIDGE_{name}", value)
    (tmp_path / "work").mkdir()
    with door_to(request.param, tmp_path / "home") as opened:
        opened.done("bridge", "remember", "decision", "Blanks are for prose.")
        assert opened.told("bridge", "sync-memories")["counts"] == {"pushed": len(NOTES)}
        yield opened


def notes(door: Door, *arguments: object, agent: str = "scout") -> list[str]:
    """Return the names of the notes that a recall of the bridge has, best first."""
    os.environ["EZRA_BRIDGE_AGENT"] = agent
    found = door("bridge", "recall", *arguments, "--json")
    assert found.code in (0, 1), found
    return [one["note"] for one in found.document["memories"] if "note" in one]


def searched(door: Door, *arguments: object) -> list[dict[str, object]]:
    """Return what a search of the notes has; the server of the tests lives long ago."""
    found = door("bridge", "graph", "search", *arguments, "--all-time", "--json")
    assert found.code in (0, 1), found
    rows: list[dict[str, object]] = found.document
    return rows


def test_r9_27_synced_notes_are_recalled_and_searched(door: Door) -> None:
    """By text and by title, by every filter that fits them, and shown whole by their id."""
    both = door.told("bridge", "recall", "tabs or blanks")["memories"]
    assert {one.get("note") for one in both} == {None, "style.md"}
    for title, name in (("degradation handbook", "tyres.md"), ("quarantine", "empty.md")):
        assert notes(door, title) == [name]
        (found,) = searched(door, title)
        assert found["path"] == name
    assert notes(door, "laps", "--type", "feedback", "--tag", "pirelli") == ["tyres.md"]
    assert notes(door, "laps", "--tag", "michelin") == []
    assert notes(door, "laps", "--scope", "private") == []
    assert notes(door, "laps", "--scope", "mine") == ["tyres.md"]
    assert notes(door, "laps", "--scope", "mine", agent="other") == []
    assert notes(door, "laps", "--scope", "shared", agent="other") == ["tyres.md"]
    (typed,) = searched(door, "laps", "--types", "feedback")
    assert typed["path"] == "tyres.md"
    (one,) = door.told("bridge", "recall", "laps", "--limit", 1)["memories"]
    shown = door.told("bridge", "show", one["id"])
    assert (shown["content"], shown["title"]) == (NOTES["tyres.md"], "Degradation handbook")


def test_r9_27_a_note_that_is_gone_or_changed_is_found_as_it_is(door: Door) -> None:
    """A changed title is searched, the former one is not; a removed note is in no answer."""
    folder = Path(os.environ["EZRA_BRIDGE_MEMORY_PATH"])
    changed = NOTES["tyres.md"].replace("Degradation", "Wear")
    (folder / "tyres.md").write_text(changed)
    (folder / "style.md").unlink()
    door.done("bridge", "sync-memories")
    assert notes(door, "wear handbook") == ["tyres.md"]
    assert notes(door, "degradation", "--keyword") == []
    assert notes(door, "tabs", "--keyword") == []
    assert searched(door, "degradation", "--mode", "keyword") == []


def test_r9_27_titles_of_entities_are_searched(door: Door, tmp_path: Path) -> None:
    """Also where front matter alone has the title; `recall` is of memories, not of entities."""
    (tmp_path / "work" / "box.md").write_text("---\ntitle: Overcut primer\n---\nStay out longer.\n")
    door.done("bridge", "entity", "index-all")
    (found,) = searched(door, "overcut")
    assert found["title"] == "Overcut primer"
    assert notes(door, "overcut primer") == []
