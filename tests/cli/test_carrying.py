"""A session graph as a file, out of one memory and into another, through either door."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from support.cli_doors import DOORS, Door, door_to, module_door
from support.command import ezra

from ezra import Ezra
from tiers.errors import TierUnavailable

AGENT = ("carried", "strategist")


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a graph with a private turn, a receipt, facts, a rule and beliefs."""
    door = module_door(shared, "carried", "strategist")
    if door.told("facts", "list", "carried")["facts"] == []:
        door.done("turn", *AGENT, "Box now?", "--reply", "Stay.", "--ref", "radio-1", "--private")
        door.done("remember", *AGENT, "Mediums last 18 laps.", "--core")
        door.done("remember", *AGENT, "Zeile mit „Zeichen“\nund Ende 🏁", "--topic", "tyres")
        door.done("rules", "add", *AGENT, "it rains", "Box.")
        for value in ("medium", "soft"):
            about = ("--key", "start", "compound", "--value", value, "--topic", "tyres")
            door.done("beliefs", "commit", *AGENT, f"Start on {value}s.", *about)
    return door


@pytest.fixture
def elsewhere(door: Door, tmp_path: Path) -> Iterator[Door]:
    """Another memory with nothing in it, through the other door."""
    (name,) = set(DOORS) - {door.name}
    with door_to(name, tmp_path / "elsewhere") as other:
        yield other


@pytest.fixture
def file(door: Door, tmp_path: Path) -> Path:
    """The graph as a file."""
    path = tmp_path / "carried.ezra"
    told = door.told("export", "carried", path)
    assert told == {
        "graph": "carried", "file": str(path), "lines": len(path.read_bytes().splitlines())
    }  # fmt: skip
    assert path.stat().st_mode & 0o077 == 0
    return path


def known(door: Door) -> dict[str, Any]:
    """Return what is known of the graph, by what shows it."""
    return {
        name: door.told(*asked)
        for name, asked in {
            "agents": ("agent", "list", "carried"),
            "usage": ("agent", "usage", "carried"),
            "turns": ("turn", "list", *AGENT),
            "turn": ("turn", "show", *AGENT, "1"),
            "facts": ("facts", "list", "carried"),
            "rules": ("rules", "list", "carried"),
            "beliefs": ("beliefs", "history", "carried"),
            "log": ("beliefs", "log", "carried", "--contents"),
            "core": ("core", *AGENT),
        }.items()
    }


def test_a_graph_arrives_as_it_was(door: Door, elsewhere: Door, file: Path) -> None:
    """Ids, moments, hashes and contexts are the same; words find it; it can be spoken to again."""
    told = elsewhere.told("import", file)
    rows = told["rows"]
    assert told["new"] == sum(rows.values()) + 1
    assert (rows["turns"], rows["facts"], rows["rules"], rows["beliefs"]) == (1, 2, 1, 2)
    assert known(elsewhere) == known(door)
    assert elsewhere.told("beliefs", "verify", "carried")["ok"] is True
    assert elsewhere.told("lifecycle", "report", "carried")["ok"] is True
    (found, *_) = elsewhere.told("facts", "search", "carried", "Zeichen")["items"]
    assert found["text"] == "Zeile mit „Zeichen“\nund Ende 🏁"
    waiting = elsewhere.told("lifecycle", "run", "carried")["learning"]
    assert waiting["problems"] == []
    assert elsewhere.told("status", "carried")["graphs"]["carried"]["warm"] > 0
    elsewhere.done("agent", "spawn", *AGENT)  # it was silent for half a year of one of the clocks
    said = elsewhere.told("turn", *AGENT, "And now?", "--reply", "Now.")
    assert said["turn"]["seq"] == 2
    (event,) = elsewhere.told("audit", "carried", "--kind", "imported")
    assert event["record_ids"] == []
    again = elsewhere("import", file)
    assert (again.code, again.err.split(":")[0]) == (1, "Conflict")
    assert elsewhere.told("turn", "list", *AGENT)[0]["seq"] == 2


def test_an_export_goes_to_standard_output_and_a_file_alike(door: Door, file: Path) -> None:
    """The same lines; nothing else is printed there."""
    assert door.done("export", "carried", "-").out.encode() == file.read_bytes()
    assert "--json" in door.refused("export", "carried", "-", "--json")


def test_checking_needs_no_store(file: Path) -> None:
    """What is in it, and that it is whole; nobody is asked and nothing is made."""
    home = file.parent / "none" / "home"
    home.parent.mkdir()
    done = ezra(home, "import", file, "--check", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["rows"]["turns"] == 1
    assert not home.exists()


def changed(lines: list[bytes], how: str) -> list[bytes]:
    """Return the lines of a file after an accident or a hand."""
    at = next(place for place, line in enumerate(lines) if b'"table":"facts"' in line)
    acts: dict[str, Callable[[], list[bytes]]] = {
        "cut off": lambda: lines[:-1],
        "cut inside": lambda: [*lines[:-1], lines[-1][:20]],
        "a line gone": lambda: lines[:at] + lines[at + 1 :],
        "a word changed": lambda: [line.replace(b"18 laps", b"81 laps") for line in lines],
        "lines swapped": lambda: [*lines[:at], lines[at + 1], lines[at], *lines[at + 2 :]],
        "a line more": lambda: [*lines, lines[at]],
        "no beginning": lambda: lines[1:],
        "another format": lambda: [lines[0].replace(b'"version":1', b'"version":9'), *lines[1:]],
        "no json": lambda: [*lines[:at], b"{nothing\n", *lines[at:]],
        "a list": lambda: [*lines[:at], b"[]\n", *lines[at:]],
        "nesting": lambda: [*lines[:at], b"[" * 100_000 + b"\n", *lines[at:]],
        "another graph": lambda: [
            lines[0], *(line.replace(b'"carried"', b'"other"') for line in lines[1:])
        ],
        "nothing": list,
    }  # fmt: skip
    return acts[how]()


HURT = (
    "cut off", "cut inside", "a line gone", "a word changed", "lines swapped", "a line more",
    "no beginning", "another format", "no json", "a list", "nesting", "another graph", "nothing",
)  # fmt: skip


def test_a_file_that_is_not_whole_is_refused_before_anything_is_written(
    file: Path, tmp_path: Path
) -> None:
    """One line with exit code 2 that names the file and tells nothing of what it holds."""
    lines = file.read_bytes().splitlines(keepends=True)
    home = tmp_path / "home"
    door = Door("embedded", ("--home", str(home)))
    hurt = tmp_path / "hurt.ezra"
    for how in HURT:
        hurt.write_bytes(b"".join(changed(lines, how)))
        line = door.refused("import", hurt)
        assert "UsageError: file" in line, how
        assert "laps" not in line, how
    assert "can be read" in door.refused("import", tmp_path / "missing.ezra")
    assert "can be read" in door.refused("import", tmp_path)
    assert not home.exists()


@pytest.mark.parametrize(
    ("kind", "content"),
    [
        ("mem0", [{"id": "m1", "memory": "Likes tea.", "user_id": "jane"}]),
        ("mem0", {"results": [{"id": "m1", "memory": "Likes tea."}]}),
        ("chatgpt", [{"title": "Box", "mapping": {}, "current_node": None}]),
        ("openai", [{"role": "user", "content": "Box?"}]),
    ],
)
def test_a_file_of_something_else_is_told_what_takes_it(
    kind: str, content: object, tmp_path: Path
) -> None:
    """Where another command does; what nothing takes is no whole export, as before."""
    path = tmp_path / "some.json"
    path.write_text(json.dumps(content))
    door = Door("embedded", ("--home", str(tmp_path / "home")))
    assert f"seems to be {kind}: ezra replay takes it" in door.refused("import", path)
    path.write_text('{"some": "thing"}')
    assert "replay" not in door.refused("import", path)


def test_a_log_that_somebody_rewrote_is_refused(file: Path, tmp_path: Path) -> None:
    """With a right hash over the lines, too: the chain of beliefs is checked for itself."""
    *lines, end = file.read_bytes().splitlines(keepends=True)
    forged = [line.replace(b"Start on mediums", b"Start on hards") for line in lines]
    assert forged != lines
    said = json.loads(end) | {"sha256": sha256(b"".join(forged)).hexdigest()}
    hurt = tmp_path / "hurt.ezra"
    hurt.write_bytes(b"".join(forged) + json.dumps(said).encode() + b"\n")
    door = Door("embedded", ("--home", str(tmp_path / "home")))
    assert "belief log" in door.refused("import", hurt)


def test_an_import_that_was_cut_off_is_finished_by_repeating_it(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until it is whole the graph is not there, and nothing of it twice afterwards."""
    put, calls = Ezra.import_rows, 0

    async def cut(self: Ezra, graph: str, table: Any, rows: Any) -> int:
        nonlocal calls
        calls += 1
        if table == "receipts":
            raise TierUnavailable("cold", "import_rows", "the disk is full")
        return await put(self, graph, table, rows)

    door = Door("embedded", ("--home", str(tmp_path / "home")))
    with monkeypatch.context() as patched:
        patched.setattr(Ezra, "import_rows", cut)
        assert door("import", file).code == 1
    assert calls > 1
    assert door.told("graph", "list") == []
    taken = door("graph", "create", "carried")
    assert (taken.code, "cut off" in taken.err) == (1, True)
    told = door.told("import", file)
    assert 0 < told["new"] < sum(told["rows"].values())
    assert len(door.told("beliefs", "history", "carried")) == 2
    assert door.told("beliefs", "verify", "carried")["ok"] is True


def test_an_import_that_was_cut_off_can_be_discarded(
    elsewhere: Door, file: Path, tmp_path: Path
) -> None:
    """Where its file is lost: nothing of it is left, and the id is free for whatever comes."""
    rows = [json.loads(line) for line in file.read_bytes().splitlines()][1:-1]
    elsewhere.done("graph", "create", "other")
    elsewhere.done("call", "catalog.core")  # so that there is a feed to tell of it
    for table in ("agents", "usage", "turns", "facts", "belief_events", "audit"):
        some = json.dumps([one["row"] for one in rows if one["table"] == table])
        put = (f"--with=table={table}", f"--with=rows={some}")
        elsewhere.done("call", "graph.import_rows", "carried", *put)
    assert "discard it" in elsewhere("graph", "create", "carried").err
    left = elsewhere.told("call", "graph.unfinished_import", "carried")
    told = elsewhere.told("import", "--discard", "carried")
    assert (told["graph"], told["rows"], told["waiting"]) == ("carried", left, {})
    assert told["rows"]["belief_events"] > 0
    (event,) = [one for one in elsewhere.told("audit", "feed") if one["kind"] == "discarded"]
    assert (event["graph_id"], event["record_ids"]) == ("@catalog", ["carried"])
    again = elsewhere("import", "--discard", "carried")
    assert (again.code, "does not exist" in again.err) == (1, True)
    assert "exists" in elsewhere("import", "--discard", "other").err
    elsewhere.refused("import", file, "--discard", "carried")
    elsewhere.refused("import")
    elsewhere.done("graph", "create", "carried")
    elsewhere.done("graph", "show", "carried")


def test_what_a_graph_inherits_from_comes_first(door: Door, tmp_path: Path) -> None:
    """Without its parent nothing is put in; with it the heir finds it again."""
    if "heir" not in {one["id"] for one in door.told("graph", "list")}:
        door.done("graph", "create", "heir", "--inherits-from", "carried")
    files = {name: tmp_path / f"{name}.ezra" for name in ("heir", "carried")}
    for name, path in files.items():
        door.done("export", name, path)
    other = Door("embedded", ("--home", str(tmp_path / "home")))
    refused = other("import", files["heir"])
    assert (refused.code, "carried" in refused.err) == (1, True)
    assert other.told("graph", "list") == []
    other.done("import", files["carried"])
    other.done("import", files["heir"])
    lineage = other.told("graph", "show", "heir")["lineage"]
    assert [one["graph_id"] for one in lineage] == ["carried"]


def live_by_the_catalog(door: Door, folder: Path) -> None:
    """Put a core fact, a rule and two revisions of a document into the catalog of a memory."""
    fact = {"subject": "pit limit", "predicate": "is", "object": "80 km/h", "tier": "core"}
    rule = {"trigger": "it rains", "steps": ["Box."], "topics": ["tyres"]}
    door.done("graph", "create", "monza")
    for memory in (fact, rule):
        door.done("call", "catalog.remember", "--with", f"what={json.dumps(memory)}")
    document = folder / "limits.md"
    for limit in ("80", "60"):
        document.write_text(f"# Limits\n\nThe pit lane limit is {limit} km/h.\n")
        door.done("ingest", document, "--tenant")
    door.done("agent", "spawn", "monza", "strategist", "--topic", "tyres")
    asked = "What is the pit limit when it rains?"
    door.done("turn", "monza", "strategist", asked, "--reply", "80 km/h.")


def of_the_catalog(door: Door) -> dict[str, Any]:
    """Return what agents know by the catalog, and what it is asked itself."""
    recalled = door.told("recall", "monza", "limit", "--agent", "strategist")["sources"]
    shown = ("id", "text", "inherited_from")
    (document,) = door.told("documents", "list", "--tenant")["documents"]
    return {
        "recalled": [{name: one[name] for name in shown} for one in recalled],
        "core": door.told("call", "catalog.core"),
        "rules": door.told("call", "catalog.rules", "--with", "text=it rains"),
        "revisions": door.told("documents", "revisions", document["id"], "--tenant"),
        "audit": [
            one["kind"] for one in door.told("call", "catalog.audit") if one["kind"] != "imported"
        ],
    }


@pytest.mark.parametrize("name", DOORS)
def test_the_catalog_is_carried_by_its_name(name: str, tmp_path: Path) -> None:
    """With the graphs that read it: nothing of a whole memory is lost, and no catalog is mixed."""
    (other,) = set(DOORS) - {name}
    files = [tmp_path / "catalog.ezra", tmp_path / "monza.ezra"]
    with door_to(name, tmp_path / "here") as here, door_to(other, tmp_path / "there") as there:
        live_by_the_catalog(here, tmp_path)
        for graph, file in zip(("@catalog", "monza"), files, strict=True):
            assert here.told("export", graph, file)["graph"] == graph
            there.done("import", file, "--check")
            there.done("import", file)
        assert of_the_catalog(there) == of_the_catalog(here)
        again = there("import", files[0])
        assert (again.code, again.err.split(":")[0]) == (1, "Conflict")
        assert of_the_catalog(there) == of_the_catalog(here)


def test_no_catalog_is_made_of_an_import_that_was_cut_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever asks for the catalog is told, until the import is repeated."""
    here, there = (Door("embedded", ("--home", str(tmp_path / one))) for one in ("here", "there"))
    live_by_the_catalog(here, tmp_path)
    file = tmp_path / "catalog.ezra"
    here.done("export", "@catalog", file)
    put = Ezra.import_rows

    async def cut(self: Ezra, graph: str, table: Any, rows: Any) -> int:
        if table == "graphs":
            raise TierUnavailable("cold", "import_rows", "the disk is full")
        return await put(self, graph, table, rows)

    with monkeypatch.context() as patched:
        patched.setattr(Ezra, "import_rows", cut)
        assert there("import", file).code == 1
    taken = there("documents", "list", "--tenant")
    assert (taken.code, "cut off" in taken.err) == (1, True)
    there.done("import", file)
    assert there.told("call", "catalog.core") == here.told("call", "catalog.core")


def test_a_file_that_cannot_be_written_leaves_nothing(door: Door, tmp_path: Path) -> None:
    """Exit code 2 for a place that takes none, 1 for a graph that is not there."""
    assert "path" in door.refused("export", "carried", tmp_path / "no" / "where.ezra")
    assert door("export", "nowhere", tmp_path / "nowhere.ezra").code == 1
    assert list(tmp_path.iterdir()) == []


def test_what_a_roll_back_has_set_aside_stays_behind_and_that_is_told(tmp_path: Path) -> None:
    """By a file of the graph, of an heir that it reached, and by a move, until it is decided."""
    with door_to("embedded", tmp_path / "home") as door:
        door.done("graph", "create", "monza")
        door.done("graph", "create", "heir", "--inherits-from", "monza")
        for graph in ("monza", "heir"):
            door.done("agent", "spawn", graph, "strategist")
        poison = door.told("remember", "monza", "strategist", "Softs last for ever.")["id"]
        kept = ("beliefs", "commit", "heir", "strategist", "Start on softs.", "--source", poison)
        door.done(*kept)
        named = ("monza", poison, "--reason", "planted")
        made = door.told("taint", "roll-back", *named)["roll_back"]
        assert {one["graph_id"] for one in made["items"]} == {"monza", "heir"}
        exports = [("export", graph, tmp_path / f"{graph}.ezra") for graph in ("monza", "heir")]
        stays = "1 open roll-back: what is set aside is not carried; confirm or undo it first"
        for export in exports:
            assert stays in door.done(*export).err, export
    ends = ("--from", "embedded", "--to", "embedded", "--home", tmp_path / "home", "--to-home")
    moved = ezra(tmp_path / "home", "migrate", *ends, tmp_path / "third")
    assert (moved.returncode, f"tenant default: {stays}" in moved.stdout) == (0, True), moved
    with door_to("embedded", tmp_path / "home") as door:
        door.done("taint", "undo", "monza", made["id"], "--reason", "true after all")
        for export in exports:
            assert "roll-back" not in door.done(*export).err, export
