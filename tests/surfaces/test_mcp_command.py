"""``ezra mcp`` as a process and what to paste for it, and two models on one board."""

from __future__ import annotations

import asyncio
import fcntl
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters
from support.mcp_client import refused, resource, told
from support.runtime import MovingClock, running
from support.warm_command import warm_python
from typer.testing import CliRunner

from ezra import Ezra
from ezra.cli.mcp import CLIENTS, PLACEHOLDER, mcp_app, until_stopped
from ezra.cli.screen import NOBODY_READS
from ezra.service.caller import Caller
from ezra.service.handle_pool import HandlePool
from ezra.service.mcp import mcp_server

# ``ezra mcp``: the process that a client starts, and what to paste into its configuration.

GRAPH = "race-weekend-imola-2026"


async def test_stdio_is_a_process_that_remembers(tmp_path: Path) -> None:
    """Its standard output is the protocol's, and what it was told is there when it has ended."""
    home = tmp_path / "home"
    named = f"run --create --graph {GRAPH} --agent strategist --topic Tyres --home".split()
    program = StdioServerParameters(
        command=sys.executable,
        args=["-c", "from ezra.cli.mcp import mcp_app; mcp_app()", *named, str(home)],
        env={"EZRA_EMBEDDER": "off"},
    )
    async with Client(program) as client:
        assert client.server_info is not None
        assert client.server_info.name == "ezra"
        await told(client, "remember_fact", text="Mediums last about 18 laps.")
        graph = await resource(client, "ezra://graph")
    assert (graph["topics"], graph["tiers"]["agents"]) == (["tyres"], 1)
    async with running(home) as ezra:
        found = await (await ezra.session_graph(GRAPH)).recall("medium laps")
    assert [one.text for one in found.items] == ["Mediums last about 18 laps."]


async def test_what_cannot_be_read_is_answered(tmp_path: Path) -> None:
    """Half of a surrogate pair, as of an emoji cut in two: who asked need not wait for good."""
    call = '{"jsonrpc":"2.0","id":%s,"method":"tools/call","params":{"name":"recall"%s}}'
    program = "from ezra.cli.mcp import mcp_app; mcp_app()"
    named = f"run --create --graph {GRAPH} --agent strategist --home {tmp_path / 'home'}".split()
    child = await asyncio.create_subprocess_exec(
        *(warm_python(), "-c", program, *named),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=os.environ | {"EZRA_EMBEDDER": "off"},
    )
    assert child.stdin is not None
    assert child.stdout is not None
    lines = [
        call % (7, r',"arguments":{"query":"laps \ud83d"}'),
        "",
        call % ('"eight"', ',"arguments":{"query":"laps"'),
        r'{"jsonrpc":"2.0","id":9,"method":["tools/call"]}',
    ]
    found = []
    for line in lines:
        child.stdin.write(line.encode() + b"\n")
        if line:
            answer = json.loads(await asyncio.wait_for(child.stdout.readline(), 60))
            found.append((answer["id"], answer["error"]["code"]))
    child.stdin.close()
    assert await asyncio.wait_for(child.wait(), 60) == 0
    assert found == [(7, -32700), (None, -32700), (9, -32600)]


@pytest.mark.parametrize(("method", "code"), [("ping", 0), ("tools/list", NOBODY_READS)])
async def test_who_has_gone_is_waited_for_no_longer(tmp_path: Path, method: str, code: int) -> None:
    """The process ends, without a word, though the input is open; idle, or in an answer."""
    program = "from ezra.cli.mcp import mcp_app; mcp_app()"
    named = f"run --create --graph {GRAPH} --agent strategist --home {tmp_path / 'home'}".split()
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, 4096)  # it holds a pong, and no list of tools
    child = await asyncio.create_subprocess_exec(
        *(warm_python(), "-c", program, *named),
        stdin=asyncio.subprocess.PIPE,
        stdout=writer,
        stderr=asyncio.subprocess.PIPE,
        env=os.environ | {"EZRA_EMBEDDER": "off"},
    )
    os.close(writer)
    assert child.stdin is not None
    assert child.stderr is not None
    who = {"name": "who goes", "version": "1"}
    about = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who}
    hello = {"id": 1, "method": "initialize", "params": about}
    for message in (hello, {"method": "notifications/initialized"}, {"id": 2, "method": method}):
        child.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    while await asyncio.to_thread(os.read, reader, 1) != b"\n":
        pass  # the first answer
    assert await asyncio.to_thread(os.read, reader, 1)
    os.close(reader)
    assert await asyncio.wait_for(child.wait(), 60) == code
    assert await child.stderr.read() == b""


async def test_a_stop_ends_what_waits_for_a_line() -> None:
    """Of an input that nobody closes; what came before is served."""
    quiet, writer = os.pipe()
    former, stopped, served = os.dup(0), asyncio.Event(), list[bytes]()

    async def serve() -> None:
        while line := await asyncio.to_thread(os.read, 0, 100):
            served.append(line)
            stopped.set()

    os.dup2(quiet, 0)
    try:
        os.write(writer, b"a line\n")
        await until_stopped(serve, stopped)
        assert served == [b"a line\n"]
        assert os.fstat(0) == os.fstat(quiet), "the process has its own input again"
    finally:
        os.dup2(former, 0)
        for one in (former, writer, quiet):
            os.close(one)


@pytest.mark.parametrize("client", CLIENTS)
def test_configurations_can_be_pasted(
    client: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The started program is the one that exists; with an address no token is in the file."""
    monkeypatch.delenv("EZRA_STEP_TIMEOUT_SECONDS", raising=False)  # the tests' own patience
    names = ["--graph", GRAPH, "--agent", "strategist"]
    local = _config("--client", client, *names, "--home", str(tmp_path), "--topic", "tyres")
    (entry,) = local["configuration"][CLIENTS[client].key].values()
    assert local["file"] == CLIENTS[client].file
    assert local["variables"] == ["EZRA_REDIS_URL"]
    assert "secret" not in json.dumps(local)
    assert entry["args"][:2] == ["mcp", "run"]
    assert entry["args"][entry["args"].index("--home") + 1] == str(tmp_path)
    remote = _config("--client", client, *names, "--url", "https://memory.example.com/")
    (entry,) = remote["configuration"][CLIENTS[client].key].values()
    if client == "claude":
        assert entry["env"] == {"EZRA_TOKEN": PLACEHOLDER}
        assert entry["args"][-2:] == ["--url", "https://memory.example.com/"]
    else:
        address = f"https://memory.example.com/mcp?graph={GRAPH}&agent=strategist"
        assert entry[CLIENTS[client].address] == address
        assert entry["headers"] == {"Authorization": f"Bearer {CLIENTS[client].token}"}


def test_a_program_that_no_shell_finds_is_named_by_its_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where only a virtual environment has it, a client could not start ``ezra`` by its name."""
    monkeypatch.setenv("PATH", str(tmp_path))
    local = _config("--client", "claude", "--graph", GRAPH, "--agent", "strategist")
    (entry,) = local["configuration"][CLIENTS["claude"].key].values()
    program = Path(entry["command"])
    assert program.is_absolute()
    assert program.parent == Path(sys.executable).parent


def _config(*arguments: str) -> dict[str, Any]:
    """Return what ``ezra mcp config --json`` prints; without it, the configuration in it."""
    environment = {"EZRA_TOKEN": "secret", "EZRA_REDIS_URL": "redis://:secret@hot/"}
    ask = CliRunner(env=environment).invoke
    plain = ask(mcp_app, ["config", *arguments])
    whole = ask(mcp_app, ["config", *arguments, "--json"])
    assert (plain.exit_code, whole.exit_code) == (0, 0)
    found: dict[str, Any] = json.loads(whole.stdout)
    assert json.loads(plain.stdout) == found["configuration"]
    return found


# The board through MCP: two models write to each other and share tasks.

TOPICS = ("tyres",)


def _asking(ezra: Ezra, agent_id: str) -> Client:
    caller = Caller("ci", "agent", "race", agent_id, None, TOPICS)
    return Client(mcp_server(HandlePool(ezra, time.monotonic), caller))


async def test_two_models_write_to_each_other_and_share_a_task(tmp_path: Path) -> None:
    """Messages, answers, read state, tasks and the log are those of the handles."""
    async with running(tmp_path / "home", MovingClock()) as ezra:
        graph = await ezra.create_session_graph("race")
        async with _asking(ezra, "planner") as planner, _asking(ezra, "builder") as builder:
            asked = await told(
                planner, "send_message", text="Which tyres?", to=["builder"], priority="high"
            )
            await told(planner, "send_message", text="Freeze at noon.", subject="All")
            inbox = await told(builder, "inbox", limit=1)
            assert ([one["title"] for one in inbox["cards"]], inbox["has_more"]) == (["All"], True)
            answer = await told(builder, "send_message", text="Softs.", reply_to=asked["id"])
            assert (answer["to"], answer["thread"]) == (["planner"], asked["id"])
            acked = await told(builder, "ack_messages", ids=[asked["id"], "unknown"])
            assert acked == {"ids": [asked["id"]]}
            unread = await told(builder, "inbox")
            assert [one["text"] for one in unread["cards"]] == ["Freeze at noon."]
            task = await told(planner, "start_task", title="Fit the wing", tags=["wing"])
            await told(builder, "update_task", task_id=task["id"], status="in_progress", note="on")
            done = await told(
                builder, "update_task", task_id=task["id"], status="completed", note="fitted"
            )
            assert done["status"] == "completed"
            assert "final" in await refused(
                planner, "update_task", task_id=task["id"], status="suspended"
            )
            assert "NotFound" in await refused(planner, "update_task", task_id="unknown", note="x")
            listed = await told(planner, "list_tasks", statuses=["completed"], agent_id="planner")
            assert [one["id"] for one in listed["cards"]] == [task["id"]]
            logged = await told(builder, "log_action", action="commit", files=["wing.py"])
            assert (logged["type"], logged["agent_id"]) == ("commit", "builder")
        counts = await graph.board.counts()
        assert sum(one.number for one in counts if one.kind == "message") == 3
        assert [one.agent_id for one in counts if one.state == "commit"] == ["builder"]


async def test_a_single_name_needs_no_list(tmp_path: Path) -> None:
    """Models leave the brackets out; handles take a single name as well."""
    async with running(tmp_path, MovingClock()) as ezra:
        await ezra.create_session_graph("race")
        async with _asking(ezra, "planner") as planner, _asking(ezra, "builder") as builder:
            await told(builder, "inbox")
            sent = await told(planner, "send_message", text="Which tyres?", to="builder")
            assert sent["to"] == ["builder"]
            acked = await told(builder, "ack_messages", ids=sent["id"])
            assert acked == {"ids": [sent["id"]]}
            await told(builder, "log_action", action="commit", files="wing.py")
            assert "a list" in await refused(planner, "send_message", text="To whom?", to="")
