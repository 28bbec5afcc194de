"""What is promised of a graph that is carried: a file whose rows do not fit brings nothing."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Callable, Iterator
from copy import deepcopy
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from support.command import ezra as command
from support.runtime import MovingClock, running

from ezra import Conflict, Rule, UsageError
from ezra.moving.carried_file import checked_file, lines_of, put_in
from ezra.moving.carrying import TABLES

SEED = "5c" * 32
START = ("start", "compound")
Lines = list[dict[str, Any]]


async def _carried(path: Path) -> Lines:
    """Return the lines of a file of a graph that has rows of every table that agents fill."""
    clock = MovingClock()
    async with running(path / "from", clock, signing_key=SEED, ring_capacity=2) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"}, user_id="ada")
        other = await graph.spawn_agent("engineer", topics={"tyres"})
        softs = await agent.remember("Softs last eleven laps.")
        await agent.remember("Softs last nine laps.", supersedes=softs)
        await agent.remember(Rule(trigger="it rains", steps=("Box.",)))
        for number in range(9):
            turn = await agent.turn(f"How long do softs last in lap {number}?", ref=f"r{number}")
            await turn.reply("Nine laps.", tool_outputs=[{"tool": "x", "output": "y"}])
            await (await other.turn("Radio check?")).reply("Loud.")
            if number % 3 == 2:
                clock.move(days=1)
                await ezra.drain_learning()
                await ezra.run_lifecycle_tick("imola")
        about: dict[str, Any] = {"topic": "tyres", "key": START}
        await agent.commit("Start on softs.", value="soft", sources=[softs], **about)
        await agent.commit("Start on mediums.", value="medium", **about)
        rain = await other.commit("It may rain.", private=True)
        await graph.beliefs.pin(rain.id)
        gone = await other.commit("Nobody needs to know.", topic="tyres")
        await graph.beliefs.sign()
        await graph.beliefs.set_trust("engineer", 0.5, topic="tyres", reason="wrong twice")
        await graph.beliefs.redact(gone.id, reason="asked for")
        await graph.beliefs.sign()
        for text in ("The kettle.", "The kettle moved."):
            await agent.documents.put("a.md", f"# Kettles\n\n{text}", keep_text=True)
        await agent.board.send("*", "Hello.")
        for hours in (24, 24 * 7, 24 * 31):
            clock.move(hours=hours)
            await ezra.run_lifecycle_tick("imola")
            await ezra.drain_learning()
        return [json.loads(line) async for line in lines_of(graph)]


def _written(path: Path, lines: Lines) -> Path:
    """Write a file of these lines whose end is right, whoever made them."""
    whole = [json.dumps(one, ensure_ascii=False).encode() + b"\n" for one in lines[:-1]]
    counts = {table: sum(one.get("table") == table for one in lines) for table in TABLES}
    end = {"rows": counts, "sha256": sha256(b"".join(whole)).hexdigest()}
    path.write_bytes(b"".join([*whole, json.dumps(end).encode() + b"\n"]))
    return path


_LATER = "2027-05-14T09:00:00Z"
_NOBODY = "019e25b6-0000-7000-8000-000000000000"

# Table, which of its rows, the field, and what it says instead: a value, or what is added to it.
_FORGERIES: tuple[tuple[str, int, str, Any], ...] = (
    *(("agents", 1, "id", value) for value in ("strategist", "stranger")),
    *(("usage", 0, f"used.{name}", -1) for name in ("tokens", "writes")),
    *(("usage", 1, "agent_id", value) for value in ("stranger", "")),
    *(("turns", 3, name, "first") for name in ("id", "seq", "ref")),
    *(("turns", -1, "seq", value) for value in (0, 1_000)),
    *(("turns", 0, name, "stranger") for name in ("agent_id", "id")),
    *(("turns", 0, name, _LATER) for name in ("occurred_at", "redacted_at", "retired_at")),
    ("turns", 0, "private", True),
    ("summaries", 1, "covers", "first"),
    ("summaries", 0, "covers", [_NOBODY]),
    *(("summaries", 0, name, _LATER) for name in ("starts_at", "ends_at", "redacted_at")),
    *(("summaries", 0, name, value) for name, value in (("id", _NOBODY), ("agent_id", "engineer"))),
    *(("summaries", 0, name, value) for name, value in (("private", True), ("level", 1))),
    *(("episodes", 0, "children", value) for value in ([_NOBODY], [])),
    *(("episodes", 0, name, _LATER) for name in ("starts_at", "ends_at", "redacted_at")),
    *(("episodes", 0, name, value) for name, value in (("grain", "yearly"), ("id", _NOBODY))),
    *(("facts", 0, name, value) for name, value in (("superseded_by", _NOBODY), ("uses", +7))),
    *(("facts", 0, name, None) for name in ("superseded_by", "superseded_at")),
    *(("facts", 1, name, value) for name, value in (("uses", 0), ("last_used_at", _LATER))),
    *(("facts", 1, name, "first") for name in ("id", "superseded_at")),
    *(("fact_uses", 0, name, value) for name, value in (("fact_id", _NOBODY), ("used_at", _LATER))),
    ("fact_uses", 1, "cause", "first"),
    *(("rules", 0, name, 3) for name in ("successes", "failures", "version")),
    *(("watermarks", 0, name, value) for name, value in (("seq", 10), ("agent_id", "stranger"))),
    *(("documents", 0, name, value) for name, value in (("id", _NOBODY), ("name", "b.md"))),
    *(("documents", 0, name, value) for name, value in (("revision", 3), ("passages", 2))),
    *(("documents", 0, name, value) for name, value in (("removed_at", _LATER), ("private", True))),
    *(("document_revisions", 0, name, value) for name, value in (("revision", 2), ("id", _NOBODY))),
    *(("passages", 1, name, value) for name, value in (("document_id", _NOBODY), ("number", 1))),
    *(("passages", 1, name, value) for name, value in (("text", "Tea."), ("digest", "0" * 64))),
    *(("passages", 0, name, None) for name in ("until", "retired_at")),
    *(("cards", 0, name, value) for name, value in (("version", 2), ("status", "created"))),
    *(("belief_events", 2, f"event.{name}", "first") for name in ("id", "seq", "hash")),
    *(("belief_events", 1, f"event.{name}", "x") for name in ("belief_id", "agent_id", "turn_id")),
    *(("belief_events", 1, f"event.{name}", 40) for name in ("turn", "seq")),
    *(("belief_events", 1, name, value) for name, value in (("content", "{}"), ("salt", "00"))),
    *(("belief_events", 0, f"event.{name}", "0" * 64) for name in ("previous_hash", "hash")),
    *(("beliefs", 0, f"belief.{name}", value) for name, value in (
        ("status", "active"), ("superseded_by", None), ("ended_seq", 2), ("ended_seq", None),
        ("committed_seq", 2), ("claim", "Start on hards."), ("value", "hard"), ("trust", 0.25),
        ("agent_id", "engineer"), ("user_id", None), ("topic", "chassis"), ("topics", []),
        ("key", ["a", "b"]), ("turn_id", _NOBODY), ("receipt_id", None), ("source_ids", []),
        ("private", True), ("recorded_at", _LATER), ("redacted_at", _LATER), ("id", _NOBODY),
        ("pinned", True),
    )),
    *(("beliefs", 3, f"belief.{name}", value) for name, value in (
        ("claim", "Somebody knows."), ("redacted_at", None), ("status", "active"),
    )),
    *(("beliefs", row, "spans", value) for row, value in (
        (0, []), (0, [{"since_seq": 1, "until_seq": None, "pinned": False}]), (1, []),
    )),
    *(("trust", 0, name, value) for name, value in (("trust", 1.0), ("agent_id", "strategist"))),
    ("trust", 0, "topic", None),
    *(("heads", 0, name, value) for name, value in (
        ("size", 2), ("root", "0" * 64), ("signature", "00" * 64), ("number", 2), ("turn", 1),
        ("signed_at", _LATER), ("audit_size", 1), ("previous", "0" * 64),
    )),
    ("receipts", 0, "agent_id", "stranger"),
    ("receipts", 1, "id", "first"),
    *(("audit", 2, name, "first") for name in ("seq", "position", "hash")),
    *(("audit", 1, name, value) for name, value in (
        ("kind", "left"), ("reason", "no"), ("record_ids", [_NOBODY]), ("agent_id", None),
        ("recorded_at", _LATER), ("position", 90), ("seq", 40), ("previous_hash", "0" * 64),
    )),
)  # fmt: skip


ON_SERVERS_EVERY = 6


def _forged(lines: Lines) -> Iterator[tuple[str, Lines]]:
    """Yield files in which one field of one row says something else, or one row is missing."""
    for table, row, path, said in _FORGERIES:
        places = [at for at, line in enumerate(lines) if line.get("table") == table]
        at = places[row]
        line = deepcopy(lines[at])
        field, first = line["row"], lines[places[0]]["row"]
        *parents, name = path.split(".")
        for parent in parents:
            field, first = field[parent], first[parent]
        value = first[name] if said == "first" else said
        field[name] = field[name] // 2 - 1 if said == -1 else value
        if line != lines[at]:
            yield f"{table} {row} {path} {said}", [*lines[:at], line, *lines[at + 1 :]]
    for table in ("turns", "belief_events", "beliefs", "trust", "heads", "audit"):
        at = next(at for at, line in enumerate(lines) if line.get("table") == table)
        yield f"no first row of {table}", [*lines[:at], *lines[at + 1 :]]


@pytest.mark.parametrize("whole", [False, pytest.param(True, marks=pytest.mark.slow)])
async def test_r9_39_a_file_whose_rows_do_not_fit_is_refused_before_anything_is_written(
    tmp_path: Path,
    tiers: str,
    whole: bool,  # noqa: FBT001 - of the parameters
) -> None:
    """One field at a time, under a right hash: the line is named, and nothing of it is told.

    A file is checked without any tier: of one that servers wrote the short form tries a share.
    """
    every = 1 if whole or tiers == "embedded" else ON_SERVERS_EVERY
    lines = await _carried(tmp_path)
    path = tmp_path / "imola.ezra"
    whole = await asyncio.to_thread(checked_file, _written(path, lines))
    assert min(whole.rows[one] for one in ("summaries", "episodes", "fact_uses", "heads")) > 1
    missed, count = [], 0
    for what, forged in islice(_forged(lines), 0, None, every):
        count += 1
        try:
            await asyncio.to_thread(checked_file, _written(path, forged))
        except UsageError as error:
            if "line " not in error.accepted or "softs" in str(error).casefold():
                missed.append(f"{what}: {error}")
        else:
            missed.append(what)
    assert missed == []
    assert count > 120 / every


def _elsewhere(tiers: str) -> dict[str, object]:
    other = f"to{uuid4().hex[:16]}"
    own = dict.fromkeys(("redis_prefix", "qdrant_prefix", "mongodb_database"), other)
    return dict(own) if tiers == "servers" else {}


async def test_r9_39_a_whole_file_arrives_and_forged_beliefs_never_become_active(
    tmp_path: Path, tiers: str
) -> None:
    """Through the door for rows too, at which nobody has seen the whole file."""
    lines = await _carried(tmp_path)
    path = tmp_path / "imola.ezra"
    async with running(tmp_path / "to", **_elsewhere(tiers)) as other:
        await _rows_into(other, lines, lambda row: row["belief"].update(claim="Start on hards."))
        with pytest.raises(Conflict, match="belief log"):
            await other.import_rows("imola", "graphs", [lines[0]["graph"]])
        assert await other.session_graphs() == ()
    async with running(tmp_path / "there", **_elsewhere(tiers)) as there:
        carried = await asyncio.to_thread(checked_file, _written(path, lines))
        _written(path, [*lines[:5], lines[5], *lines[5:]])
        with pytest.raises(UsageError, match="changed meanwhile"):
            await put_in(there, path, carried)
        assert await there.session_graphs() == ()
        assert await put_in(there, _written(path, lines), carried) > 0
        graph = await there.session_graph("imola")
        assert {one.claim for one in await graph.beliefs.active()} == {
            *("Start on mediums.", "It may rain.")
        }
        again = [json.loads(line) async for line in lines_of(graph)]
        kept = [one for one in again if one.get("table") != "audit"]
        assert [one for one in lines if one.get("table") not in {"audit", "work"}][:-1] == kept[:-1]
        await asyncio.to_thread(checked_file, _written(path, again))


async def test_a_graph_that_was_just_closed_arrives(tmp_path: Path, tiers: str) -> None:
    """With the work of summarising what was in the rings of its agents, which is done there."""
    async with running(tmp_path / "from") as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await (await agent.turn("How long do softs last?")).reply("Nine laps.")
        await graph.close()
        lines = [json.loads(line) async for line in lines_of(graph)]
    assert [one["row"]["key"] for one in lines if one.get("table") == "work"].count(
        "strategist/everything"
    )
    path = _written(tmp_path / "imola.ezra", lines)
    carried = await asyncio.to_thread(checked_file, path)
    async with running(tmp_path / "to", **_elsewhere(tiers)) as there:
        assert await put_in(there, path, carried) > 0
        await there.run_lifecycle_tick("imola")
        found = await (await there.session_graph("imola")).recall("softs", kinds=["summary"])
        assert found.items


async def _rows_into(ezra: Any, lines: Lines, forge: Callable[[Any], None]) -> None:
    for table in TABLES[:-1]:
        rows = [deepcopy(one["row"]) for one in lines if one.get("table") == table]
        if table == "beliefs":
            forge(rows[1])
        if rows:
            await ezra.import_rows("imola", table, rows)


def test_r9_39_a_pipe_is_refused_at_once(tmp_path: Path) -> None:
    """It could be read only once; so could standard input, and a directory never."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for file in (pipe, tmp_path, Path("/dev/zero")):
        with pytest.raises(UsageError, match="twice"):
            checked_file(file)
    for arguments in ((pipe,), ("-", "--check")):
        done = command(tmp_path / "home", "import", *arguments)
        assert (done.returncode, "twice" in done.stderr) == (2, True), done.stderr
    assert not (tmp_path / "home").exists()
