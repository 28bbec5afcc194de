"""``ezra ingest`` and ``ezra documents``, on the embedded store and through a server."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, Queue
from threading import Thread
from typing import Any

import pytest
from support.cli_doors import Door, module_door
from support.document_files import pdf_of, word_of
from support.processes import PATIENCE_SECONDS
from support.warm_command import warm_command

from ezra.cli.ingest import PATIENCE_POLLS, POLL_SECONDS


@pytest.fixture
def door(shared: Door) -> Door:
    """Each way to a memory with a graph."""
    return module_door(shared, "papers", "reader")


@pytest.fixture
def book(tmp_path: Path) -> Path:
    """A folder of documents in every format, one of them malformed and one that is none."""
    root = tmp_path / "book"
    (root / "tyres").mkdir(parents=True)
    (root / "a.md").write_text("---\ntags: [pit]\n---\n# Pit\n\nSixty km/h.\n\n# Lane\n\nLong.\n")
    (root / "tyres/b.txt").write_text("Mediums last 18 laps.")
    (root / "tyres/c.html").write_text("<h1>Softs</h1><p>Nine laps.</p>")
    (root / "d.pdf").write_bytes(pdf_of(1, 2))
    (root / "e.docx").write_bytes(word_of())
    (root / "bad.md").write_text("---\na: [\n---\nStill read.")
    (root / "broken.pdf").write_bytes(b"%PDF-1.7 nothing")
    (root / "picture.png").write_bytes(b"\x89PNG")
    return root


def _ingest(door: Door, book: Path, shelf: str, *more: object) -> Any:
    """Return what ``ezra ingest`` tells programs, whatever its exit code."""
    given = (*("ingest", book, "--graph", "papers", "--shelf", shelf), *more, "--json")
    return door(*given).document


def _states(told: Any) -> dict[str, str]:
    return {one["name"]: one["state"] for one in told["files"]}


def test_a_folder_becomes_documents_and_one_bad_file_stops_nothing(door: Door, book: Path) -> None:
    """New, then unchanged; of a change only what is new is added; progress and reasons are told."""
    done = door("ingest", book, "--graph", "papers", "--shelf", "book")
    assert done.code == 1
    assert "files 7/7 [##########]" in done.err
    assert "failed     book/broken.pdf: content:" in done.err
    assert "book/bad.md: front matter cannot be read" in done.err
    assert "1 files were left out" in done.err
    assert done.lines[-1].startswith("6 new, 0 changed, 0 unchanged, 1 failed; passages:")
    told = _ingest(door, book, "book")
    assert set(_states(told).values()) == {"unchanged", "failed"}
    assert told["totals"]["passages_added"] == 0
    (book / "a.md").write_text((book / "a.md").read_text().replace("Long.", "Short."))
    told = _ingest(door, book, "book")
    (changed,) = [one for one in told["files"] if one["state"] == "changed"]
    assert (changed["name"], changed["added"], changed["kept"], changed["retired"]) == (
        *("book/a.md", 1, 1, 1),
    )
    found = door.told("recall", "papers", "Is the pit lane short?", "--kind", "document")
    assert any("Short." in one["text"] for one in found["sources"])


def test_topics_come_from_the_option_the_file_or_the_folder(door: Door, book: Path) -> None:
    """In this order."""
    _ingest(door, book, "topics", "--topics-from-folder")
    assert _topics(door, "topics")["book/tyres/b.txt"] == ["tyres"]
    assert _topics(door, "topics")["book/a.md"] == ["pit"]
    assert _topics(door, "topics")["book/d.pdf"] == ["book"]
    told = _ingest(door, book, "topics", "--topic", "All", "--exclude", "*.pdf")
    assert set(_states(told).values()) == {"changed"}
    assert _topics(door, "topics")["book/a.md"] == ["all"]
    refused = door.refused(
        *("ingest", book, "--graph", "papers", "--topic", "a", "--topics-from-folder")
    )
    assert "topics" in refused


def _topics(door: Door, shelf: str) -> dict[str, list[str]]:
    listed = door.told("documents", "list", "--graph", "papers", "--shelf", shelf)
    return {one["name"]: one["topics"] for one in listed["documents"]}


def test_a_dry_run_writes_nothing_and_tells_what_would_be(door: Door, book: Path) -> None:
    """Of what is there too."""
    told = _ingest(door, book, "dry", "--dry-run")
    assert (told["dry_run"], told["totals"]["new"], told["totals"]["failed"]) == (True, 6, 1)
    assert _topics(door, "dry") == {}
    _ingest(door, book, "dry", "--include", "a.md", "--include", "*.txt")
    (book / "a.md").write_text("# Other")
    (book / "tyres/b.txt").unlink()
    told = _ingest(door, book, "dry", "--dry-run", "--prune", "--include", "*.md")
    assert _states(told) == {"book/a.md": "changed", "book/bad.md": "new"}
    assert told["removed"] == ["book/tyres/b.txt"]
    assert len(_topics(door, "dry")) == 2


def test_pruning_removes_what_is_gone_but_not_most_of_it_by_accident(
    door: Door, book: Path, tmp_path: Path
) -> None:
    """Files that are only left out stay, and so do those of other folders."""
    other = tmp_path / "other"
    other.mkdir()
    (other / "x.md").write_text("x")
    _ingest(door, book, "pruned")
    _ingest(door, other, "pruned")
    (book / "tyres/b.txt").unlink()
    told = _ingest(door, book, "pruned", "--prune", "--exclude", "*.docx")
    assert told["removed"] == ["book/tyres/b.txt"]
    left = set(_topics(door, "pruned"))
    assert {"other/x.md", "book/e.docx"} <= left
    for name in ("a.md", "d.pdf", "e.docx", "bad.md"):
        (book / name).unlink()
    refused = door.refused("ingest", book, "--graph", "papers", "--shelf", "pruned", "--prune")
    assert "4 of 5 documents would be removed" in refused
    assert set(_topics(door, "pruned")) == left
    _ingest(door, book, "pruned", "--prune", "--force")
    assert set(_topics(door, "pruned")) == {"other/x.md", "book/tyres/c.html"}


def test_documents_are_listed_shown_and_removed(door: Door, book: Path) -> None:
    """By id and by name, for people and for programs."""
    _ingest(door, book / "a.md", "shown")
    where = ("--graph", "papers", "--shelf", "shown")
    listed = door.told("documents", "list", *where)
    (one,) = listed["documents"]
    assert (one["name"], one["passages"], "text" in one) == ("a.md", 2, False)
    assert "a.md" in door.done("documents", "list", *where).out
    assert door.told("documents", "show", "a.md", *where)["id"] == one["id"]
    shown = door.done("documents", "show", one["id"], *where)
    assert shown.lines[0] == f"{one['id']}  Pit"
    assert "topics pit" in shown.out
    passages = door.told("documents", "passages", "a.md", *where)
    assert [(p["headings"], p["text"]) for p in passages] == [
        (["Pit"], "Sixty km/h."),
        (["Lane"], "Long."),
    ]
    (line, _) = door.done("documents", "passages", "a.md", *where).lines
    assert line.split() == ["0", "Pit", "Sixty", "km/h."]
    (book / "a.md").write_text("# Pit\n\nEighty km/h.\n")
    _ingest(door, book / "a.md", "shown")
    revisions = door.told("documents", "revisions", "a.md", *where)
    assert [one["revision"] for one in revisions] == [2, 1]
    removed = door.told("documents", "remove", "a.md", *where, "--reason", "old")
    assert removed == {"removed": [one["id"]]}
    assert door("documents", "remove", "a.md", *where, "--reason", "old").code == 1
    assert door.told("documents", "list", *where)["documents"] == []
    assert len(door.told("documents", "list", *where, "--removed")["documents"]) == 1
    assert "removed" in door.done("documents", "list", *where, "--removed").out


def test_documents_of_the_tenant_and_of_an_agent(door: Door, book: Path) -> None:
    """Each is whose it is said to be."""
    told = door.told("ingest", book / "tyres", "--tenant", "--shelf", "all")
    assert told["totals"]["new"] == 2
    assert len(door.told("documents", "list", "--tenant", "--shelf", "all")["documents"]) == 2
    module_door(door, "others")
    question = ("recall", "others", "How long do mediums last?", "--kind", "document")
    source = door.told(*question)["sources"][0]
    assert (source["inherited_from"], source["citation"]["name"]) == ("@catalog", "tyres/b.txt")
    assert "tyres/b.txt" in door.done(*question).out
    of_agent = ("--graph", "papers", "--agent", "reader")
    own = door.told("ingest", book / "tyres/b.txt", *of_agent, "--shelf", "own")
    assert own["totals"]["new"] == 1
    listed = door.told("documents", "list", *of_agent, "--shelf", "own")["documents"]
    assert listed[0]["topics"] == ["strategy", "tyres"]


@pytest.mark.parametrize(
    ("arguments", "about"),
    [
        (("ingest", "nowhere", "--graph", "papers"), "nowhere"),
        (("ingest", ".", "--graph", "papers", "--tenant"), "--graph"),
        (("ingest", "."), "--graph"),
        (("ingest", ".", "--tenant", "--agent", "x"), "--agent"),
        (("ingest", ".", "--graph", "papers", "--include", " "), "include"),
        (("ingest", ".", "--graph", "papers", "--topic", " "), "topics"),
        (("ingest", ".", "--graph", "papers", "--watch", "--dry-run"), "--watch"),
        (("documents", "list", "--graph", "papers", "--limit", "0"), "limit"),
        (("documents", "remove", "x", "--graph", "papers", "--reason", ""), "x"),
    ],
    ids=range(9),
)
def test_bad_input_is_one_line(
    door: Door, arguments: tuple[str, ...], about: str, tmp_path: Path
) -> None:
    """What is wrong by name, and no traceback."""
    done = door(*(str(tmp_path) if one == "." else one for one in arguments))
    assert done.code in (1, 2)
    (line,) = done.err.splitlines()
    assert about in line


def test_what_changes_in_a_watched_folder_changes_in_the_documents(
    tmp_path: Path, book: Path
) -> None:
    """New, changed and deleted files, until Ctrl-C; the exit code is that of a clean end."""
    home = tmp_path / "home"
    variables = {"PATH": os.environ["PATH"], "EZRA_HOME": str(home), "EZRA_EMBEDDER": "off"}
    door = Door("embedded", ("--home", str(home)))
    door.done("graph", "create", "papers")
    (book / "broken.pdf").unlink()
    command = [warm_command(), "ingest", book, "--graph", "papers", "--watch", "--json"]
    with _lines(command, variables) as (process, lines):
        first = _next(lines)
        assert first["totals"]["new"] == 6
        (book / "new.md").write_text("# New\n\nJust written.")
        told = _until(lines, lambda seen: seen.get("book/new.md") == "new")
        assert told.keys() == {"book/new.md"}
        (book / "new.md").write_text("# New\n\nWritten again.")
        _until(lines, lambda seen: seen.get("book/new.md") == "changed")
        (book / "new.md").unlink()
        _until(lines, lambda seen: "removed book/new.md" in seen)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=PATIENCE_SECONDS) == 0
    assert door.told("documents", "list", "--graph", "papers")["count"] == 6


def test_nobody_is_waited_for_where_nobody_works_in_the_background(
    door: Door, book: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The command indexes what it wrote itself, and ends."""
    monkeypatch.setenv("EZRA_BACKGROUND", "false")
    begun = time.monotonic()
    done = door.done("ingest", book / "tyres", "--graph", "papers", "--shelf", "idle")
    assert time.monotonic() - begun < PATIENCE_POLLS * POLL_SECONDS
    assert done.lines[-1].startswith("2 new, ")
    assert "not yet by meaning" not in done.err


@contextmanager
def _lines(
    command: list[Any], variables: dict[str, str]
) -> Iterator[tuple[subprocess.Popen[str], Queue[str]]]:
    """Run a command, and collect what it prints line by line."""
    lines: Queue[str] = Queue()
    with subprocess.Popen(
        command, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        assert process.stdout is not None
        out = process.stdout
        reader = Thread(target=lambda: [lines.put(line) for line in out])
        reader.start()
        try:
            yield process, lines
        finally:
            process.kill()
            reader.join()


def _next(lines: Queue[str]) -> Any:
    try:
        return json.loads(lines.get(timeout=PATIENCE_SECONDS))
    except Empty:
        pytest.fail("nothing was told")


def _until(lines: Queue[str], done: Any) -> dict[str, str]:
    """Return the states of the first telling that will do: an editor's change may be seen twice."""
    limit = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < limit:
        told = _next(lines)
        seen = _states(told) | {f"removed {name}": "" for name in told["removed"]}
        if done(seen):
            return seen
    pytest.fail("the change was not told")
