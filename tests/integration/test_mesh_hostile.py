"""A live source may send anything: it is bounded, refused in words, and the turn goes on."""

from __future__ import annotations

import asyncio
import gzip
import json
import sqlite3
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest
from bson.datetime_ms import DatetimeMS
from support.mesh_sources import Service, mesh_file, weather
from support.mongo_server import running_mongo
from support.runtime import running

from ezra.mesh.rest import synced_at
from ezra.mesh.sql_session import CELL_BYTES_MAX

PROGRAM = Path(__file__).parent.parent / "support" / "hostile_program.py"
ROW = {"at": "2026-05-14T10:00:00+02:00", "track": {"temperature": 31.5, "is_wet": False}}
ENDLESS = b"x" * 65_536


def bytes_of(document: object) -> bytes:
    """Return a document as JSON."""
    return json.dumps(document).encode()


GOOD = bytes_of({"data": {"rows": [ROW]}, "meta": {"total": 1}})


@asynccontextmanager
async def answering(head: str, body: bytes, *, is_endless: bool = False) -> AsyncIterator[Service]:
    """Serve one answer over HTTP to whoever asks, byte by byte as it is given."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(f"HTTP/1.1 200 OK\r\n{head}\r\n\r\n".encode("latin-1") + body)
            await writer.drain()
            while is_endless:
                writer.write(b"10000\r\n" + ENDLESS + b"\r\n")
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    async with server:
        yield Service(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/api")


@asynccontextmanager
async def turn_with(
    home: Path, declared: Mapping[str, Any], question: str, **slots: Any
) -> AsyncIterator[Any]:
    """Open a turn that asks a source; yields it."""
    home.mkdir(exist_ok=True)  # noqa: ASYNC240 - a test
    file = mesh_file(home / "mesh.yaml", source=dict(declared))
    async with running(home / "home", mesh_file=file) as ezra:
        agent = await (await ezra.create_session_graph("imola")).spawn_agent("strategist")
        ask = {"source": "source", "question": question, "slots": slots}
        turn = await agent.turn("What does it say?", mesh=ask)
        yield turn
        await turn.reply("We go on.")


def reasons(turn: Any) -> str:
    """Return why sources were left out of a turn."""
    return "; ".join(one for one in turn.skipped if one.startswith("mesh source"))


def closed(body: bytes) -> str:
    """Return the head of an answer that is as long as it is."""
    return f"content-length: {len(body)}"


@pytest.mark.parametrize(
    "moment",
    [
        "Last-Modified: Fri, 31 Dec 9999 23:59:59 -2359",
        "Last-Modified: Mon, 01 Jan 0001 00:00:00 +2359",
        "Date: Mon, 01 Jan 0001 00:00:00 GMT\r\nAge: 999999999",
        "Last-Modified: Fri, 31 Dec 9999 23:59:59 -99999999999",
        "Last-Modified: \xff\x00",
    ],
    ids=("last day", "first day", "age", "zone", "bytes"),
)
async def test_r9_37_a_date_beyond_the_calendar_says_nothing(tmp_path: Path, moment: str) -> None:
    """The answer counts, and as of when it is stays unknown."""
    head = f"{closed(GOOD)}\r\n{moment}"
    async with (
        answering(head.replace("\x00", ""), GOOD) as service,
        turn_with(tmp_path, weather(service), "now", track="imola") as turn,
    ):
        assert "31.5" in next(slot.text for slot in turn.slots if slot.kind == "mesh")
        assert "mesh" not in turn.degraded
    assert synced_at({"last-modified": "Fri, 31 Dec 9999 23:59:59 -2359"}) is None


NUMBERS = GOOD.replace(b'"total": 1', b'"total": 1' + b"0" * 400)


@pytest.mark.parametrize(
    ("head", "body", "is_endless", "why"),
    [
        ("transfer-encoding: chunked", b"", True, "more than 1048576 bytes"),
        (
            f"content-encoding: gzip\r\n{closed(gzip.compress(GOOD))}",
            gzip.compress(GOOD),
            False,
            "compressed",
        ),
        (f"{closed(GOOD)}\r\nx: {'y' * 1_000_000}", GOOD, False, "cannot be reached"),
        ("content-length: 8", b"[" * 8, False, "no JSON"),
        (closed(b"[" * 100_000), b"[" * 100_000, False, "no JSON"),
        ("content-length: 3", b"NaN", False, "no JSON"),
        ("content-length: 99", b"{}", False, "cannot be reached"),
    ],
    ids=("endless", "compressed", "head", "open", "deep", "nan", "short"),
)
async def test_r9_37_an_answer_that_cannot_be_read_is_left_out(
    tmp_path: Path,
    head: str,
    body: bytes,
    is_endless: bool,  # noqa: FBT001
    why: str,
) -> None:
    """Without end, compressed, with a head of a megabyte, nested, or not as long as it says."""
    async with (
        answering(head, body, is_endless=is_endless) as service,
        turn_with(tmp_path, weather(service), "now", track="imola") as turn,
    ):
        assert "mesh" in turn.degraded
        assert why in reasons(turn)


async def test_r9_37_odd_values_are_told_and_kept(tmp_path: Path) -> None:
    """Surrogates, a total of 400 digits and cookies hurt nobody, and are not sent back."""
    odd = NUMBERS.replace(b"imola", b"\\ud800")
    head = f"{closed(odd)}\r\nset-cookie: tracks=all"
    async with (
        answering(head, odd) as service,
        turn_with(tmp_path, weather(service), "now", track="imola") as turn,
    ):
        assert "mesh" not in turn.degraded
        assert "1 row" in next(slot.text for slot in turn.slots if slot.kind == "mesh")


def hostile(kind: str, log: Path) -> dict[str, Any]:
    """Return the declaration of a source over the hostile program."""
    return {
        "kind": "mcp",
        "command": [sys.executable, "-I", "-S", str(PROGRAM), kind, str(log)],
        "tools": ["laps"],
        "timeout_seconds": 2.0 if kind == "silent" else 20.0,
        "questions": {
            "laps": {
                "description": "Laps.",
                "tool": "laps",
                "rows": "laps",
                "total": "count",
                "fields": {"lap": "integer"},
            }
        },
    }


async def has_ended(pid: int) -> bool:
    """Return whether a process is gone, or soon is; one that nobody waited for is."""
    for _ in range(200):
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()  # noqa: ASYNC240 - a file of the kernel
        except (FileNotFoundError, ProcessLookupError):  # before it was opened, before it was read
            return True
        if stat.rpartition(")")[2].split()[0] == "Z":
            return True
        await asyncio.sleep(0.01)
    return False


@pytest.mark.parametrize(
    ("kind", "why"),
    [
        ("one line", "without an end of line"),
        ("many lines", "for one question"),
        ("another id", "answered what it was not asked"),
        ("another id from the start", "answered what it was not asked"),
        ("silent", "no answer within 2 s"),
    ],
)
async def test_r9_37_a_program_that_misbehaves_is_ended(
    tmp_path: Path, kind: str, why: str
) -> None:
    """At once where it can be seen; nothing near what it would write is read, the turn goes on."""
    log = tmp_path / "log"
    async with turn_with(tmp_path, hostile(kind, log), "laps") as turn:
        assert "mesh" in turn.degraded
        assert why in reasons(turn)
        told = json.loads(log.read_text())
        assert await has_ended(told["pid"])
        assert told["megabytes"] < 8


@pytest.mark.parametrize(
    ("kind", "why"), [("deep", "nested 32 deep"), ("huge total", "")], ids=("deep", "total")
)
async def test_r9_37_what_a_tool_answers_is_bounded(tmp_path: Path, kind: str, why: str) -> None:
    """A nested answer is refused; a number that no row count is says nothing."""
    async with turn_with(tmp_path, hostile(kind, tmp_path / "log"), "laps") as turn:
        assert ("mesh" in turn.degraded) is bool(why)
        assert why in reasons(turn)


def notes(path: Path, characters: int) -> dict[str, Any]:
    """Make a database with one long text, and return the declaration of a source over it."""
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE notes (id INTEGER, note TEXT, extra JSON, at TEXT)")
        made = "INSERT INTO notes VALUES (1, printf('%.*c', ?, 'x'), '{\"a\": [1]}', NULL)"
        connection.execute(made, (characters,))
    question = {
        "description": "Notes.",
        "table": "notes",
        "select": ["id", "note", "extra"],
        "order_by": ["note"],
    }
    longest = {
        "description": "The last note.",
        "table": "notes",
        "measures": {"last": {"function": "max", "field": "note"}},
    }
    columns = {"columns": ["id", "note", "extra"]}
    return {
        "kind": "sql",
        "url": f"sqlite:///{path}",
        "tables": {"notes": columns},
        "questions": {"notes": question, "last": longest},
    }


async def test_r9_37_a_long_cell_is_cut_by_the_database_and_a_huge_one_refused(
    tmp_path: Path,
) -> None:
    """Two thousand characters come of three million; of more than 16 MiB none is read."""
    declared = notes(tmp_path / "long.db", 3_000_000)
    async with turn_with(tmp_path, declared, "notes") as turn:
        found = next(slot.text for slot in turn.slots if slot.kind == "mesh")
        assert "1 row and more" in found
        assert "mesh" not in turn.degraded
    huge = tmp_path / "huge"
    huge.mkdir()
    declared = notes(huge / "huge.db", CELL_BYTES_MAX + 1)
    for question in ("notes", "last"):
        async with turn_with(huge / question, declared, question) as turn:
            assert "mesh" in turn.degraded
            assert "the database" in reasons(turn)


async def test_r9_37_documents_are_counted_before_they_are_read(tmp_path: Path) -> None:
    """Moments beyond the calendar come as its edge; megabytes of a document are refused."""
    declared = {
        "kind": "mongodb",
        "database": "shop",
        "collections": {"items": {"fields": {"sku": "text", "seen": "datetime"}}},
        "questions": {
            "one": {
                "description": "One.",
                "collection": "items",
                "select": ["sku", "seen"],
                "where": [{"field": "sku", "op": "<", "value": "{below}"}],
                "slots": {"below": {"type": "text", "pattern": "[a-z]", "max_chars": 1}},
            }
        },
    }
    with running_mongo() as server:
        with server.tampering() as client:
            seen = DatetimeMS(2**62)
            rows = [{"sku": "a", "seen": seen}, {"sku": "b" * 2_000_000, "seen": seen}]
            client["shop"]["items"].insert_many(rows)
        declared["url"] = server.uri
        for name, below, is_read in (("near", "b", True), ("far", "c", False)):
            (tmp_path / name).mkdir()
            async with turn_with(tmp_path / name, declared, "one", below=below) as turn:
                assert ("mesh" in turn.degraded) is not is_read


async def test_r9_37_the_last_moment_of_a_table_is_one(tmp_path: Path) -> None:
    """How fresh a table says it is stays unknown where its moment is beyond the calendar."""
    declared = notes(tmp_path / "fresh.db", 10)
    with closing(sqlite3.connect(tmp_path / "fresh.db")) as connection, connection:
        connection.execute("UPDATE notes SET at = '9999-12-31T23:59:59-23:59'")
    declared["tables"]["notes"] = {"columns": ["id", "note", "extra", "at"], "synced_at": "at"}
    async with turn_with(tmp_path, declared, "notes") as turn:
        assert "mesh" not in turn.degraded
