"""The service watched: ``/metrics``, spans over the wire and over MCP, logs; content in none."""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp.client.client import Client
from opentelemetry.trace import SpanKind
from support.load import Load, load, numbers_of, samples, served
from support.processes import PATIENCE_SECONDS
from support.runtime import running
from support.service import bearer, inside, serving
from support.spans import kept_spans

from ezra import Ezra, NotFound
from ezra.service.admission import AT_WORK_MAX, Turnstile
from ezra.service.logs import JsonLines, TextLines, log_to_stderr
from ezra.service.mcp import CALL
from ezra.service.tokens import TokenFile
from ezra.telemetry.numbers import OTHER
from tiers.errors import TierUnavailable

CANARY = "zanzibar"
TURNS = "/v1/graphs/{graph_id}/agents/{agent_id}/turns"
SECONDS, CLIENTS = 5.0, 10


async def test_metrics_are_for_readers_and_operators(behind: Ezra, tokens: TokenFile) -> None:
    """Not for agents, nor for who reads one graph; on loopback without tokens for everybody."""
    await behind.create_session_graph("imola")
    async with inside(behind) as http:
        assert (await http.get("/metrics")).status_code == 200
    allowed = {"operator": 200, "reader": 200, "agent": 403}
    headers = {role: bearer(tokens, role=role) for role in allowed}
    async with inside(behind, tokens) as http:
        for role, status in allowed.items():
            assert (await http.get("/metrics", headers=headers[role])).status_code == status, role
        bound = bearer(tokens, role="reader", graph_id="imola")
        assert (await http.get("/metrics", headers=bound)).status_code == 403
        assert (await http.get("/metrics")).status_code == 401


async def test_requests_are_counted_by_operation_and_status(behind: Ezra) -> None:
    """What was refused before any route too, and no address or name that a caller made up."""
    async with serving(behind) as url, Ezra.connect(url) as remote:
        graph = await remote.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await (await agent.turn(f"{CANARY}?")).reply(CANARY)
        with pytest.raises(NotFound):
            await remote.session_graph(CANARY)
        async with httpx2.AsyncClient(base_url=url) as http:
            await http.get(f"/{CANARY}/x")
            await http.request("BREW", "/v1/graphs", headers={"host": f"{CANARY}.example"})
            text = (await http.get("/metrics")).text
        over_the_wire = samples(await remote.metrics())
    told = samples(text)

    def count(operation: str, status: int) -> float:
        return told[f'ezra_http_requests_total{{operation="{operation}",status="{status}"}}']

    assert count("agent.turn", 200) == count("turn.reply", 200) == 1
    assert count("none", 404) == count("none", 403) == 1
    assert told['ezra_http_request_seconds_count{operation="agent.turn"}'] == 1
    assert told["ezra_event_loop_lag_seconds_count"] > 0
    assert 0 < told["ezra_event_loop_lag_max_seconds"] < 60
    assert CANARY not in text
    assert over_the_wire['ezra_turns_total{event="written"}'] == 1


async def test_a_trace_goes_on_from_the_client_into_the_tiers(
    behind: Ezra, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Caller, client, server, turn, step: one trace, by the W3C header."""
    del behind  # a runtime takes the application's SDK when it opens
    with kept_spans(monkeypatch) as kept:
        async with running(tmp_path) as ezra, serving(ezra) as url, Ezra.connect(url) as remote:
            graph = await remote.create_session_graph("imola")
            agent = await graph.spawn_agent("strategist", topics={"tyres"})
            await agent.turn(f"{CANARY}?")
            with pytest.raises(NotFound):
                await remote.session_graph("monza")
        server, client = (one for one in kept.spans if one.name == f"POST {TURNS}")
    assert (client.kind, server.kind) == (SpanKind.CLIENT, SpanKind.SERVER)
    assert kept.under(client) == [server.name]
    assert "ezra.turn" in kept.under(server)
    assert kept.one("ezra.turn").context.trace_id == client.context.trace_id
    about = dict(server.attributes or {})
    assert (about["http.route"], about["http.request.method"]) == (TURNS, "POST")
    assert (about["http.response.status_code"], about["ezra.operation"]) == (200, "agent.turn")
    assert (about["gen_ai.conversation.id"], about["gen_ai.agent.id"]) == ("imola", "strategist")
    assert len(str(about["ezra.request.id"])) == 16
    failed = [one for one in kept.spans if "error.type" in (one.attributes or {})]
    assert [(one.kind, (one.attributes or {})["error.type"]) for one in failed] == [
        (SpanKind.CLIENT, "404")
    ]
    assert CANARY not in kept.said()


async def test_tool_calls_are_watched_by_known_names_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A span under the request, the recall under it; a name that a caller made up is in none."""
    with kept_spans(monkeypatch) as kept:
        async with running(tmp_path) as ezra:
            graph = await ezra.create_session_graph("imola")
            await graph.spawn_agent("strategist", topics={"tyres"})
            async with (
                serving(ezra) as url,
                Client(f"{url}/mcp?graph=imola&agent=strategist") as client,
            ):
                await client.call_tool("recall", {"query": f"the {CANARY}?"})
                await client.call_tool("read_tool_output", {"turn_id": CANARY})
                await client.call_tool(CANARY, {})
            told = samples(await ezra.metrics())
    call = kept.one(f"{CALL} recall")
    about = dict(call.attributes or {})
    assert (about["mcp.method.name"], about["gen_ai.tool.name"]) == (CALL, "recall")
    assert "ezra.recall" in kept.under(call)
    assert kept.one(f"{CALL} {OTHER}").status.description is None
    assert CANARY not in kept.said()

    def count(tool: str, outcome: str) -> float:
        labels = f'method="{CALL}",outcome="{outcome}",tool="{tool}"'
        return told.get(f"ezra_mcp_requests_total{{{labels}}}", 0.0)

    assert count("recall", "answered") == 1
    assert count("read_tool_output", "refused") == 1
    assert count(OTHER, "refused") + count(OTHER, "failed") == 1


class Doing:
    """An app whose requests last until they are let go."""

    def __init__(self) -> None:
        self.now = 0
        self.most = 0
        self.let = asyncio.Event()
        self._came = asyncio.Condition()

    async def reached(self, count: int) -> None:
        """Wait until so many are at work."""
        async with self._came:
            await self._came.wait_for(lambda: self.now >= count)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Take part in what is at work."""
        del scope, receive, send
        self.now += 1
        self.most = max(self.most, self.now)
        async with self._came:
            self._came.notify_all()
        try:
            await self.let.wait()
        finally:
            self.now -= 1


async def test_so_many_requests_are_at_work_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """The others wait; who waits for a model takes no place, and a slow one gives its own back."""
    doing = Doing()
    turnstile = Turnstile(doing)

    async def ask(path: str) -> None:
        await turnstile({"type": "http", "path": path}, None, None)  # type: ignore[arg-type]

    async def settled() -> int:
        for _ in range(5):
            await asyncio.sleep(0)
        return doing.now

    monkeypatch.setattr("ezra.service.admission.TURN_SECONDS", 60.0)
    async with asyncio.TaskGroup() as tasks:
        asked = [tasks.create_task(ask("/v1/graphs")) for _ in range(3 * AT_WORK_MAX)]
        assert await settled() == AT_WORK_MAX
        waiting = tasks.create_task(ask("/v1/graphs/a/agents/b/complete"))
        assert await settled() == AT_WORK_MAX + 1
        asked[0].cancel()  # who goes away gives a place back, at work or waiting
        asked[-1].cancel()
        assert await settled() == AT_WORK_MAX + 1
        doing.let.set()
        await asyncio.wait([*asked, waiting])
    assert doing.most == AT_WORK_MAX + 1

    doing.let.clear()
    monkeypatch.setattr("ezra.service.admission.TURN_SECONDS", 0.0)
    async with asyncio.timeout(PATIENCE_SECONDS), asyncio.TaskGroup() as tasks:
        for _ in range(3 * AT_WORK_MAX):
            tasks.create_task(ask("/v1/graphs"))
        await doing.reached(3 * AT_WORK_MAX)
        doing.let.set()


def record(name: str, message: str, *args: object, **more: Any) -> logging.LogRecord:
    """Return what somebody logs."""
    made = logging.LogRecord(
        name, logging.WARNING, "place.py", 7, message, args, more.pop("error", None)
    )
    vars(made).update(more)
    return made


def test_a_line_names_errors_and_quotes_none() -> None:
    """Neither an error that a message was given, nor a traceback, nor another library's words."""
    error = TierUnavailable("hot", "read", CANARY)
    try:
        int(CANARY)
    except ValueError:
        raised = sys.exc_info()
    records = [
        record("ezra.recall", "%s left out: %s", "hot", error),
        record("metaagents.clock", "the %(name)s pass failed", {"name": ValueError(CANARY)}),
        record("ezra.assembly.schedule", "the %s pass failed", "signing", error=raised),
        record("asyncio", f"Task exception was never retrieved: {CANARY}", error=raised),
    ]
    lines = [json.loads(JsonLines().format(one)) for one in records]
    assert [one["message"] for one in lines] == [
        "hot left out: TierUnavailable (hot, read)",
        "the ValueError pass failed",
        "the signing pass failed",
        "a message from place:7, whose words stay out of this log",
    ]
    assert lines[2]["error"] == "ValueError"
    assert "test_a_line_names_errors" in lines[2]["where"]
    assert CANARY not in json.dumps(lines) + "".join(map(TextLines().format, records))


def test_a_line_of_text_is_one_line() -> None:
    """Names and values as they are where they are plain, else quoted: nobody adds a line."""
    fields = {"operation": "agent.turn", "graph_id": 'a b\nERROR "x"', "status": 200, "route": None}
    line = TextLines().format(record("ezra.access", "request", fields=fields))
    assert line.endswith(
        'WARNING ezra.access request operation=agent.turn graph_id="a b\\nERROR \\"x\\"" status=200'
    )
    assert "\n" not in TextLines().format(record("ezra", "two\nlines"))


def test_logging_is_set_up_for_the_whole_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever logs: ours, and what other libraries warn of, in the same form."""
    root, access = logging.getLogger(), logging.getLogger("ezra.access")
    kept = (root.handlers, root.level, access.level)
    try:
        log_to_stderr(has_access=True, style="text")
        (handler,) = root.handlers
        assert isinstance(handler.formatter, TextLines)
        assert access.isEnabledFor(logging.INFO)
        log_to_stderr(has_access=False)
        assert isinstance(root.handlers[0].formatter, JsonLines)
        assert not access.isEnabledFor(logging.INFO)
    finally:
        root.handlers, root.level = kept[0], kept[1]
        access.setLevel(kept[2])
        root.setLevel(kept[1])


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Load, dict[str, float], str]:
    """What came of a short load on a real server, its numbers, and everything that it logged."""
    home = tmp_path_factory.mktemp("load") / "home"
    log = home.with_name("log")
    settings = {"EZRA_EMBEDDER": "off", "EZRA_SERVE_LOG": "text"}
    with served(home, log=log, **settings) as url:
        done = asyncio.run(load(url, CLIENTS, SECONDS))
        numbers = numbers_of(url)
    return done, numbers, log.read_text()


def test_a_server_under_load_answers_everything(loaded: tuple[Load, dict[str, float], str]) -> None:
    """No error in some hundred calls of ten clients, and every call is in the numbers."""
    done, numbers, _ = loaded
    assert done.errors == []
    assert min(len(done.times[one]) for one in ("turn", "reply", "recall", "commit")) > 0

    def count(operation: str) -> float:
        return numbers[f'ezra_http_requests_total{{operation="{operation}",status="200"}}']

    assert count("agent.turn") == len(done.times["turn"])
    assert count("turn.reply") == len(done.times["reply"])
    assert (
        count("agent.recall") == len(done.times["recall"]) == numbers["ezra_recall_seconds_count"]
    )
    assert numbers['ezra_turns_total{event="opened"}'] == len(done.times["turn"])
    failed = [name for name in numbers if 'status="5' in name]
    assert failed == []
    # How long the longest stall may be is for tests/benchmarks/serve_load.py to say: here other
    # tests are at work as well.
    assert numbers["ezra_event_loop_lag_seconds_count"] > 0


def test_the_log_of_a_server_under_load_holds_no_content(
    loaded: tuple[Load, dict[str, float], str],
) -> None:
    """A line a request, as text, with ids, operation, status and milliseconds; no words said."""
    done, _, log = loaded
    lines = [line for line in log.splitlines() if " ezra.access request " in line]
    assert len(lines) > done.calls
    turn = next(line for line in lines if "operation=agent.turn " in line)
    for part in ("request=", "token=local", "status=200", "ms=", "graph_id=race-"):
        assert part in turn
    for word in ("undercut", "degradation", "pace"):
        assert f" {word} " not in log
