"""The history of a graph's beliefs, its proofs and its branches, through either door."""

from __future__ import annotations

import asyncio
import json
import os
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter
from support.runtime import MovingClock

from ezra import (
    Conflict,
    Ezra,
    NotFound,
    PolicyDenied,
    Step,
    TierTimeout,
    TierUnavailable,
    Turn,
    UsageError,
)
from ezra.remote.connection import Connection
from ezra.remote.graph import RemoteHistory
from ezra.service import exporting
from ezra.service.caller import LOCAL, Caller
from ezra.service.handle_pool import HandlePool
from ezra.service.routes import apart, caller_of, handlers, pool_of, router_of
from ezra.wire import graphs, handles
from ezra.wire.handles import BELIEFS
from ezra.wire.operation import Point, PointInQuery
from tiers.history.verification import verify_export
from tiers.saved_file import SavedFile, place_of

START = ("start", "compound")


async def season(runtime: Any, clock: MovingClock) -> Any:
    """Live through three turns that each change one belief; return the graph."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    for value in ("soft", "medium", "hard"):
        turn = await agent.turn(f"start on {value}s?")
        await agent.commit(f"Start on {value}s.", topic="tyres", key=START, value=value)
        await turn.reply("noted")
        clock.move(minutes=1)
    return graph


def names_in(folder: Path) -> list[str]:
    """Return what is in a folder."""
    return sorted(one.name for one in folder.iterdir())


async def test_what_was_believed_when_is_answered_alike(
    runtime: Any, behind: Ezra, clock: MovingClock
) -> None:
    """Every reading method answers with what the handle in process answers, moments typed."""
    noon = clock()
    ours = (await season(runtime, clock)).beliefs
    theirs = (await behind.session_graph("imola")).beliefs
    moment = (await theirs.query())[1].recorded_at
    assert [one.value for one in await ours.as_of(2)] == ["medium"]
    assert await ours.as_of(moment) == await ours.as_of(turn=2) == await theirs.as_of(2)
    assert await ours.as_of(seq=1) == await theirs.as_of(seq=1)
    assert await ours.active() == await theirs.active()
    assert [one.status for one in await ours.query(key=START, status="superseded", limit=9)] == [
        "superseded",
        "superseded",
    ]
    first, second = await ours.query(limit=1), await ours.query(since=2, until=3)
    assert await ours.query(after=first[0].committed_seq, limit=1) == second
    assert await ours.query(until=moment, status=["active", "superseded"]) == first
    assert await ours.query(subject="start", agent_id="strategist", topic="tyres", as_of=2) == (
        second
    )
    assert await ours.query(user_id="nobody", since=noon) == ()
    changed = await ours.diff(1, moment)
    assert [(a.value, b.value) for a, b in changed.changed] == [("soft", "medium")]
    assert changed == await theirs.diff(1, 2)
    told = await ours.explain(second[0].id)
    assert told == await theirs.explain(second[0].id)
    assert [one["winner"] for one in told.contradictions] == ["new", "new"]
    assert told.receipt is not None
    assert told.receipt.query == "start on mediums?"
    assert await ours.replay(2) == await theirs.replay(2)
    assert (await ours.events(1, 2), await ours.logged(1, 2)) == (
        (await theirs.events(1, 2), await theirs.logged(1, 2))
    )
    assert await ours.seq_at() == len(await ours.events()) > await ours.seq_at(1) == 1
    assert await ours.seq_at(noon) == 0


async def test_what_was_believed_is_changed_alike(runtime: Any, clock: MovingClock) -> None:
    """Trust, pins, rewinding, reverting and redacting say what they did, and their errors why."""
    ours = (await season(runtime, clock)).beliefs
    assert await ours.set_trust("strategist", 0.25, topic="Tyres ", reason="three in a row") == 1.0
    assert await ours.trust("strategist", "tyres") == 0.25
    assert [(row.agent_id, row.topic) for row in await ours.trusts()] == [("strategist", "tyres")]
    done = await ours.rewind(2, reason="the forecast was wrong")
    (now,) = await ours.active()
    assert (now.value, done.restored) == ("medium", (now.id,))
    assert (await ours.pin(now.id)).pinned
    assert not (await ours.unpin(now.id)).pinned
    assert (await ours.revert(now.id, reason="typing error")).ended == (now.id,)
    report = await ours.redact(now.id, reason="asked for")
    assert report.is_complete
    assert report.receipt is not None
    assert report.receipt.ids["belief"] == (now.id,)
    assert [one.claim for one in await ours.query(status="redacted")] == ["[redacted]"]
    with pytest.raises(NotFound, match=now.id):
        await ours.pin(now.id)
    with pytest.raises(NotFound, match="strategst"):
        await ours.set_trust("strategst", 0.5, reason="three in a row")
    for wrong in (
        ours.as_of(),
        ours.as_of(1, seq=2),
        ours.as_of(seq=10_000),
        ours.as_of(datetime(2026, 5, 14)),  # noqa: DTZ001 - which is what is wrong with it
        ours.seq_at(-1),
        ours.replay(0),
        ours.query(limit=1_001),
        ours.query(status="gone"),
        ours.events(0, 10_001),
        ours.revert(now.id, reason=" "),
        ours.set_trust("strategist", 1.5, reason="more than all"),
    ):
        with pytest.raises(UsageError):
            await wrong


async def test_proofs_and_exports_hold_on_either_side(
    runtime: Any, behind: Ezra, clock: MovingClock, tmp_path: Path
) -> None:
    """Heads, proofs and a whole export can be checked by who got them, without the server."""
    ours = (await season(runtime, clock)).beliefs
    head = await ours.sign()
    assert await ours.sign() == head == (await ours.heads())[0]
    assert (await ours.heads(after=head.size)) == ()
    proof = await ours.prove(2)
    assert proof.holds()
    assert proof.root == head.root
    assert await ours.prove_growth(1, 3) == await ours.prove_growth(old_size=1, size=3) != ()
    assert await ours.origin() is None
    assert (await ours.verify(anchor=head, public_key=head.public_key)).anchored_size == head.size
    assert not (await ours.verify(public_key="00" * 32)).ok
    path = tmp_path / "out" / "imola.jsonl"
    with pytest.raises(UsageError, match="path"):
        await ours.export(path)
    path.parent.mkdir()
    path.write_text("an older export")
    done = await ours.export(str(path))
    assert (done.path, done.events, done.heads) == (path, head.size, 1)
    assert done.last_hash == head.last_hash
    assert done.key_id is not None
    assert verify_export(path, public_key=await behind.public_key()).ok
    assert list(path.parent.iterdir()) == [path]
    assert path.stat().st_mode & 0o077 == 0


async def test_a_branch_goes_on_alone_on_either_side(runtime: Any, clock: MovingClock) -> None:
    """It leaves at a turn or a time, differs from its origin, and lives through turns again."""
    graph = await season(runtime, clock)
    branch = await graph.branch(turn=1, session_graph_id="what-if")
    assert (type(branch), branch.id, branch.inherits_from) == (type(graph), "what-if", ("imola",))
    left = await branch.beliefs.origin()
    assert left is not None
    assert (left.graph_id, left.turn) == ("imola", 1)
    found = await branch.diff(graph)
    assert [(a.value, b.value) for a, b in found.changed] == [("soft", "hard")]
    assert (await graph.diff(graph)).is_empty
    with pytest.raises(UsageError, match="other: 'what-if'"):
        await graph.diff("what-if")
    zoneless = datetime(2026, 1, 1)  # noqa: DTZ001 - that is the case
    with pytest.raises(UsageError, match=r"since: datetime.* a time with its zone"):
        await graph.beliefs.query(since=zoneless)

    async def take(step: Step) -> tuple[int, str]:
        return step.number, step.turn.input

    assert await branch.run_forward(take) == ((2, "start on mediums?"), (3, "start on hards?"))
    assert await branch.run_forward(take, limit=1) == ((2, "start on mediums?"),)
    assert await branch.run_forward(lambda step: step.number) == (2, 3)
    said = (await graph.beliefs.replay(3)).turn
    assert isinstance(said, Turn)
    assert await graph.run_forward(take, turns=[said]) == ((1, "start on hards?"),)
    assert await graph.run_forward(lambda step: step.number, turns=[said]) == (1,)
    noon = (await graph.beliefs.query())[1].recorded_at
    again = await graph.branch(time=noon, session_graph_id="again")
    assert [one.value for one in await again.beliefs.active()] == ["medium"]
    with pytest.raises(Conflict):
        await graph.branch(session_graph_id="what-if")
    for catalog in ("@catalog", " @catalog"):  # what every graph reads
        with pytest.raises(UsageError, match="another id"):
            await graph.branch(session_graph_id=catalog)
    for wrong in (
        graph.run_forward(take),
        branch.run_forward(take, limit=0),
        graph.branch(session_graph_id="x", turn=1, time=noon),
    ):
        with pytest.raises(UsageError):
            await wrong


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("15", 15),
        (15, 15),
        ("2026-05-14T09:00:00.000001Z", datetime(2026, 5, 14, 9, 0, 0, 1, UTC)),
        ("2026-05-14T11:00:00+02:00", datetime(2026, 5, 14, 9, 0, tzinfo=UTC)),
        *((one, None) for one in ("15.5", 15.5, True, -1, "2026-05-14T09:00", "9" * 5000, "")),
        *((one, None) for one in ("0001-01-01T00:00:00+14:00", 2**53, "\u0661\u0665", None)),
    ],
)
def test_a_point_is_a_turn_or_a_moment_and_never_a_guess(said: object, meant: object) -> None:
    """In a query the text of a number is a turn, not seconds since 1970; else that is refused."""
    adapter: TypeAdapter[Any] = TypeAdapter(PointInQuery)
    if meant is None or said == "15":
        with pytest.raises(ValueError, match="validation error"):
            TypeAdapter(Point).validate_python(said)
    else:
        assert TypeAdapter(Point).validate_python(said) == meant
    if meant is None:
        with pytest.raises(ValueError, match="validation error"):
            adapter.validate_python(said)
        return
    found = adapter.validate_python(said)
    assert (type(found), found) == (type(meant), meant)
    assert adapter.validate_json(adapter.dump_json(found)) == meant


def test_a_moment_that_is_refused_is_told() -> None:
    """By the client of a server as in the process: the time, not what kind of value it was."""
    with pytest.raises(UsageError, match=r"time: datetime\.datetime\(2026, 1, 1, 0, 0\) is not"):
        BELIEFS.offered["as_of"].operation.asks.of(time=datetime(2026, 1, 1))  # noqa: DTZ001


def app_of(ezra: Ezra, caller: Caller) -> FastAPI:
    """Return an app of all that this module speaks of, asked by a given caller; errors pass."""
    pool = HandlePool(ezra, lambda: 0.0)
    app = FastAPI()
    app.include_router(router_of(handlers))
    app.include_router(apart)
    app.dependency_overrides |= {pool_of: lambda: pool, caller_of: lambda: caller}
    return app


def test_no_agent_reads_the_history_of_a_whole_graph() -> None:
    """Its token covers none of the operations, and a reader's none of those that change."""
    agent, reader = Caller("a", "agent"), Caller("r", "reader")
    of_history = [one.operation for one in BELIEFS.offered.values()]
    every = (*of_history, handles.GRAPH.offered["branch"].operation, graphs.DIFF, handles.EXPORT)
    for operation in every:
        with pytest.raises(PolicyDenied):
            agent.check(operation.needs, operation.name, "imola", None)
    changing = {one.name for one in every if one.needs == "operate"}
    assert {one.name for one in every if one.verb != "GET"} - changing == {"beliefs.verify"}
    for operation in every:
        if operation.needs == "operate":
            with pytest.raises(PolicyDenied):
                reader.check(operation.needs, operation.name, "imola", None)


@pytest.mark.parametrize(
    ("role", "verb", "path"),
    [
        ("agent", "GET", "/beliefs/export"),
        ("reader", "GET", "/diff?other_id=secret"),
        ("operator", "POST", "/branches"),
    ],
)
async def test_what_is_asked_reaches_no_other_graph_than_the_token(
    behind: Ezra, role: Any, verb: str, path: str
) -> None:
    """A graph that is named in a query or a body is checked as the one in the path is."""
    for name in ("imola", "secret"):
        await behind.create_session_graph(name)
    transport = httpx2.ASGITransport(app_of(behind, Caller("bound", role, graph_id="imola")))
    async with httpx2.AsyncClient(transport=transport, base_url="http://ezra") as client:
        with pytest.raises(PolicyDenied):
            await client.request(
                verb, f"/v1/graphs/imola{path}", json={"session_graph_id": "what-if"}
            )
    assert {one.id for one in await behind.session_graphs()} == {"imola", "secret"}


async def sent_by(
    app: FastAPI, on: Callable[[dict[str, Any]], None], *, leaves: bool = False
) -> None:
    """Ask an app for an export; ``on`` is told whatever it sends.

    Who ``leaves`` takes no byte of the file and goes away.
    """
    sending, never = asyncio.Event(), asyncio.Event()

    async def receive() -> dict[str, Any]:
        await (sending if leaves else never).wait()
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        on(message)
        if leaves and message["type"] == "http.response.body":
            sending.set()
            await never.wait()

    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET"}
    path = "/v1/graphs/imola/beliefs/export"
    where = {"path": path, "raw_path": path.encode(), "query_string": b"", "root_path": ""}
    headers = [(b"range", b"bytes=0-9")]
    await app({**scope, **where, "headers": headers, "scheme": "http"}, receive, send)


async def test_an_export_leaves_nothing_on_the_server(
    behind: Ezra, clock: MovingClock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its file is gone when it was sent, and when who asked went away; too many are refused.

    It is sent whole, since the next part would be one of another file.
    """
    room = tmp_path / "room"
    room.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(room))
    await season(behind, clock)
    app, seen = app_of(behind, LOCAL), []

    def count(message: dict[str, Any]) -> None:
        seen.append((message, len(list(room.glob("*/*")))))

    await sent_by(app, count)
    assert seen[0][1] == 1
    assert list(room.iterdir()) == []
    body = b"".join(message.get("body", b"") for message, _ in seen)
    headers = dict(seen[0][0]["headers"])
    assert int(headers[b"content-length"]) == len(body)
    events = [line for line in body.splitlines() if b'"event":' in line]
    assert json.loads(headers[b"ezra-answer"])["events"] == len(events)
    seen.clear()
    await sent_by(app, count, leaves=True)
    assert seen[-1][1] == 1
    assert list(room.iterdir()) == []
    monkeypatch.setattr(exporting, "EXPORTS_MAX", 0)
    with pytest.raises(TierUnavailable):
        await sent_by(app, count)


def test_a_file_that_is_not_whole_is_never_there(tmp_path: Path) -> None:
    """What broke off leaves the file of before, and nothing beside it."""
    path = tmp_path / "imola.jsonl"
    path.write_bytes(b"before")
    saved = SavedFile(path)
    saved.open()
    saved.write(b"half of ")
    saved.close()
    saved.close()
    assert path.read_bytes() == b"before"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(UsageError):
        saved.write(b"it")
    for nameless in (Path(), Path("/")):
        with pytest.raises(UsageError, match="the name of a file"):
            SavedFile(nameless)


def test_a_file_is_put_where_its_link_leads(tmp_path: Path) -> None:
    """The link stays, and so does what is no file and would be gone for who reads from it."""
    real = tmp_path / "elsewhere" / "imola.jsonl"
    real.parent.mkdir()
    link = tmp_path / "imola.jsonl"
    link.symlink_to(real)
    for content in (b"first", b"second"):  # at first nothing is there
        saved = SavedFile(link)
        saved.open()
        saved.write(content)
        saved.finish()
        saved.close()
        assert link.is_symlink()
        assert real.read_bytes() == content
    assert [*real.parent.iterdir()] == [real]

    pipe, loop = tmp_path / "pipe", tmp_path / "loop"
    os.mkfifo(pipe)
    loop.symlink_to(loop)
    for path in (pipe, loop):
        saved = SavedFile(path)
        with pytest.raises(UsageError, match=rf"path: .*{path.name}.*a file that can be written"):
            saved.open()
        saved.close()
    assert pipe.is_fifo()
    with pytest.raises(OSError, match="no regular file; - is standard output"):
        place_of(pipe)


async def test_an_export_that_breaks_off_is_an_error_and_no_file(tmp_path: Path) -> None:
    """A server that goes away in the middle leaves nothing that could be taken for an export."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf of it")
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Connection(f"http://127.0.0.1:{port}", None) as connection:
        with pytest.raises(TierTimeout, match="the connection broke"):
            await RemoteHistory(connection, "imola").export(tmp_path / "imola.jsonl")
    assert names_in(tmp_path) == []
