"""What `ezra bridge export` writes is everything, and `import` brings it back under its ids."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from support.cli_doors import DOORS, Door, door_to


@pytest.fixture(params=DOORS)
def door(
    request: pytest.FixtureRequest, tiers: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Door]:
    """A memory of a coding agent that watches notes and keeps some of its own."""
    for name, value in {
        "AGENT": "scout",
        "GRAPH": "before",
        "MACHINE": "laptop",
        "STATE": str(tmp_path / "state"),
        "WATCH_DIRS": f"work={tmp_path / 'work'}",
        "MEMORY_PATH": str(tmp_path / "memories"),
    }.items():
        monkeypatch.setenv(f"EZRA_BRIDGE_{name}", value)
    (tmp_path / "work").mkdir()
    (tmp_path / "memories").mkdir()
    with door_to(request.param, tmp_path / "home") as opened:
        yield opened


def done(door: Door, *arguments: object) -> str:
    """Run a command of the bridge, which must succeed; return what it printed."""
    return door.done("bridge", *arguments).out.strip()


def lines_of(path: Path) -> list[dict[str, Any]]:
    """Return what the lines of an export say."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def carried(line: dict[str, Any]) -> str:
    """Return what a line must say again: all but when it was written into this memory."""
    when = {"at", "forgotten_at", "removed_at"}
    kept = {name: one for name, one in line.items() if name not in when}
    kept["ended"] = "forgotten_at" in line or "removed_at" in line
    if line["kind"] == "note":
        del kept["id"]  # it follows from the graph, the shelf and the name
    if kept.get("superseded_by"):
        kept.pop("reason", None)
    return json.dumps(kept, sort_keys=True)


def lived(door: Door, folder: Path) -> dict[str, str]:
    """Let an agent live: memories of every end, tasks, notes that change and go."""
    known = {"gone": done(door, "remember", "note", "Said twice.")}
    done(door, "forget", known["gone"], "--reason", "it was wrong")
    known["again"] = done(door, "remember", "note", "Said twice.")
    known["old"] = done(door, "remember", "decision", "Tokens live for a day.")
    known["new"] = done(
        door, "remember", "decision", "Tokens live for an hour.", "--supersedes", known["old"]
    )
    known["old again"] = done(door, "remember", "decision", "Tokens live for a day.")
    known["mine"] = done(door, "remember", "note", "Only mine.", "--scope", "private")
    for title in ("Write tests", "Write docs", "Rest"):
        done(door, "task", "start", title)
        done(door, "task", "done", "--outcome", "all of it")
    entity, own = folder / "work" / "login.md", folder / "memories" / "style.md"
    for status in ("open", "done"):
        entity.write_text(f"---\ntype: task\ntitle: Login page\nstatus: {status}\n---\nTokens.\n")
        own.write_text(f"Tabs, {status}.\n")
        (folder / "work" / "old.md").write_text("Of no use.\n")
        done(door, "entity", "index-all")
        door("bridge", "sync-memories")
    (folder / "work" / "old.md").unlink()
    done(door, "graph", "reconcile", "--force")
    return known


def test_r9_29_an_export_carries_everything_under_its_ids(
    door: Door, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Notes, their snapshots, synced notes and tombstones; reading it in twice adds nothing."""
    known = lived(door, tmp_path)
    first, second, third = (tmp_path / f"{name}.ndjson" for name in ("first", "second", "third"))
    done(door, "export", first)
    lines = lines_of(first)
    notes = [(one["name"], one["revision"]) for one in lines if one["kind"] == "note"]
    assert sorted(notes) == [
        ("login.md", 1), ("login.md", 2), ("old.md", 1), ("style.md", 1), ("style.md", 2),
    ]  # fmt: skip
    assert set(known.values()) <= {one["id"] for one in lines}
    monkeypatch.setenv("EZRA_BRIDGE_GRAPH", "after")
    for path in (second, third):
        told = door("bridge", "import", first, "--json")
        assert (told.code, told.document["refused"]) == (0, 0), told
        done(door, "export", path)
        assert sorted(map(carried, lines_of(path))) == sorted(map(carried, lines))
    recalled = door.told("bridge", "recall", "said twice", "--limit", 20)["memories"]
    ids = {one["id"] for one in recalled if "note" not in one}
    assert known["again"] in ids
    assert not ids & {known["gone"], known["old"]}
    shown = door.told("bridge", "show", known["old"])
    assert shown["superseded_by"] == known["new"]
    assert "forgotten_at" in door.told("bridge", "show", known["gone"])
    (found,) = door.told("bridge", "graph", "search", "login", "--all-time")
    assert found["status"] == "done"
    note = door.told("bridge", "recall", "tabs done")["memories"][0]
    assert note["note"] == "style.md"


def test_r9_29_a_bad_line_is_told_by_its_number_and_the_rest_is_imported(
    door: Door, tmp_path: Path
) -> None:
    """No JSON, no line of an export, fields of a wrong kind, bytes that are no text."""
    good = {"kind": "memory", "type": "note", "agent": "scout", "tags": [], "title": "",
            "created_at": "2026-01-01T00:00:00+00:00"}  # fmt: skip
    ids = [f"01985a4c-0000-7000-8000-00000000000{number}" for number in range(3)]
    rows = [json.dumps(good | {"id": one, "content": f"Fact {one}."}).encode() for one in ids]
    bad = [b"{", b'{"kind": "song"}', b'["memory"]', b"\xff\xfe", b"[" * 100_000,
           json.dumps(good | {"id": ids[0][:-1] + "9", "content": "x", "tags": 7}).encode(),
           json.dumps(good | {"id": "no id", "content": "x"}).encode(),
           json.dumps(good | {"id": ids[0][:-1] + "8", "content": "x", "agent": " "}).encode(),
           b'{"kind": "memory", "id": 7}']  # fmt: skip
    file = tmp_path / "some.ndjson"
    file.write_bytes(b"\n".join([rows[0], *bad, *rows[1:]]))
    told = door("bridge", "import", file, "--json")
    assert (told.code, told.document["memory"], told.document["refused"]) == (1, 3, len(bad))
    numbers = range(2, len(bad) + 2)
    for number in numbers:
        assert any(f"line {number}" in one for one in told.document["problems"]), number
    for one in ids:
        assert door.told("bridge", "show", one)["content"] == f"Fact {one}."
    again = door("bridge", "import", file)
    assert again.code == 1
    assert len(again.err.splitlines()) == len(bad)
