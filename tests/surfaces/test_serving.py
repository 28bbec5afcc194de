"""A server that listens: it follows the audit feed, and stops so that nothing is lost."""

from __future__ import annotations

import asyncio
import json
import signal
import subprocess
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.command import COMMAND, started
from support.processes import PATIENCE_SECONDS
from support.runtime import MovingClock, running
from support.service import Slow, bearer, inside, serving
from support.warm_command import warm_command

from ezra import ConfigError, Ezra, Settings
from ezra.service.app import check_place, service_app
from ezra.service.feed import Pace
from ezra.service.listening import listening
from ezra.service.tokens import TokenFile
from tiers.errors import UsageError


class Feed:
    """A client of the audit feed."""

    def __init__(self, lines: AsyncIterator[str]) -> None:
        self._lines = lines

    async def events(self, count: int) -> list[tuple[int, str]]:
        """Return the next positions and graphs."""
        found: list[tuple[int, str]] = []
        async for line in self._lines:
            if line.startswith("data: "):
                event = json.loads(line.removeprefix("data: "))
                found.append((event["position"], event["graph_id"]))
            if len(found) == count:
                return found
        return found

    async def until(self, line: str, count: int) -> list[str]:
        """Read lines until one has come so often; return all of them."""
        read: list[str] = []
        while read.count(line) < count:
            read += [await anext(self._lines)]
        return read

    async def rest(self) -> list[str]:
        """Return what comes until the feed ends."""
        return [line async for line in self._lines if line]


@asynccontextmanager
async def following(
    url: str, headers: dict[str, str] | None = None, **params: Any
) -> AsyncIterator[Feed]:
    """Follow the audit feed of a server."""
    async with (
        httpx2.AsyncClient(base_url=url) as http,
        http.stream("GET", "/v1/audit/feed", params=params, headers=headers) as answer,
    ):
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        yield Feed(answer.aiter_lines())


async def test_the_feed_goes_on_from_where_it_was_left(behind: Ezra) -> None:
    """Events come in order from a position on, old and new ones, also by the last id seen."""
    for name in ("imola", "monaco"):
        await behind.create_session_graph(name)
    app = service_app(behind, tokens=None, settings=behind.settings, pace=Pace(0.01, 0.02))
    async with asyncio.timeout(PATIENCE_SECONDS), listening(app, "127.0.0.1", 0) as url:
        async with following(url) as feed:
            assert await feed.events(2) == [(1, "imola"), (2, "monaco")]
            await behind.create_session_graph("monza")
            assert await feed.events(1) == [(3, "monza")]
        async with following(url, after=1) as feed:
            assert await feed.events(2) == [(2, "monaco"), (3, "monza")]
        async with following(url, {"last-event-id": "2"}, after=0) as feed:
            assert await feed.events(1) == [(3, "monza")]
        async with following(url, graph_id="monaco") as feed:
            assert await feed.events(1) == [(2, "monaco")]
            app.state.stopping.set()
            assert ": still here" in [*await feed.rest(), ": still here"]


async def test_a_silent_feed_says_that_it_lives_and_ends_with_the_service(behind: Ezra) -> None:
    """A comment comes now and then, and stopping ends the stream instead of waiting for it."""
    app = service_app(behind, tokens=None, settings=behind.settings, pace=Pace(0.01, 0.02))
    async with asyncio.timeout(PATIENCE_SECONDS):
        async with listening(app, "127.0.0.1", 0) as url, following(url) as feed:
            said = await feed.until(": still here", 2)
            app.state.stopping.set()
            await feed.rest()
    assert said[0] == "retry: 1000"


async def test_a_feed_shows_what_its_token_covers_and_ends_when_that_is_revoked(
    behind: Ezra, tokens: TokenFile
) -> None:
    """A token of one graph follows that graph alone, and no longer than it counts."""
    for name in ("imola", "monaco", "monza"):
        await behind.create_session_graph(name)
    bound = bearer(tokens, role="reader", graph_id="monaco")
    agents = bearer(tokens, role="agent")
    app = service_app(behind, tokens=tokens, settings=behind.settings, pace=Pace(0.01, 9.0))
    async with asyncio.timeout(PATIENCE_SECONDS), listening(app, "127.0.0.1", 0) as url:
        async with httpx2.AsyncClient(base_url=url) as http:
            other = {"graph_id": "imola"}
            foreign = await http.get("/v1/audit/feed", params=other, headers=bound)
            unread = await http.get("/v1/audit/feed", headers=agents)
        async with following(url, bound) as feed:
            assert await feed.events(1) == [(2, "monaco")]
            tokens.revoke(tokens.tokens()[0].id)
            assert [line for line in await feed.rest() if line.startswith("data")] == []
    assert (foreign.status_code, unread.status_code) == (403, 403)


async def test_stopping_finishes_what_runs(tmp_path: Path) -> None:
    """A completion under way gets its answer; who comes later finds nobody listening."""
    slow = Slow()
    settings = Settings(home=tmp_path / "home", embedder="off", background=False)
    async with asyncio.timeout(PATIENCE_SECONDS), Ezra.open(settings, model=slow) as ezra:
        await (await ezra.create_session_graph("imola")).spawn_agent("strategist")
        app = service_app(ezra, tokens=None, settings=settings)
        async with httpx2.AsyncClient(timeout=PATIENCE_SECONDS) as http:
            async with listening(app, "127.0.0.1", 0) as url:
                path = f"{url}/v1/graphs/imola/agents/strategist/complete"
                asked = asyncio.create_task(http.post(path, json={"message": "how long?"}))
                await slow.asked.wait()
                asyncio.get_running_loop().call_later(0.2, slow.let.set)
            answer = await asked
            with pytest.raises(httpx2.ConnectError):
                await http.get(f"{url}/health")
    assert answer.status_code == 200
    assert "eighteen laps" in answer.text


async def test_beyond_loopback_a_token_has_to_count(
    tokens: TokenFile, clock: MovingClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only loopback is served without tokens; a dead token opens nothing."""
    for host in ("127.0.0.1", "127.8.8.8", "::1", "localhost"):
        await check_place(host, tokens)
    beyond = ("0.0.0.0", "::", "192.168.1.4", "ezra.example", "localhost.example")  # noqa: S104
    for host in beyond:
        with pytest.raises(ConfigError, match="EZRA_SERVE_HOST"):
            await check_place(host, tokens)
    token, _ = tokens.create("one", "operator", expires_at=None)
    for host in beyond:
        await check_place(host, tokens)
    tokens.revoke(token.id)
    with pytest.raises(ConfigError):
        await check_place("::", tokens)


async def test_a_port_in_use_is_a_problem_of_the_configuration(behind: Ezra) -> None:
    """It is said which address is taken."""
    async with serving(behind) as url:
        port = int(url.rpartition(":")[2])
        app = service_app(behind, tokens=None, settings=behind.settings)
        with pytest.raises(ConfigError, match=str(port)):
            async with listening(app, "127.0.0.1", port):
                pass


def serve(home: Path, *arguments: str, program: Path) -> subprocess.Popen[str]:
    """Start the command as a person does."""
    variables = {"EZRA_HOME": str(home), "EZRA_EMBEDDER": "off"}
    return started("serve", *arguments, program=program, **variables)


@pytest.mark.parametrize(
    ("stop", "program"),
    [(signal.SIGTERM, lambda: COMMAND), (signal.SIGINT, warm_command)],
    ids=["SIGTERM", "SIGINT"],
)
def test_the_command_serves_until_it_is_told_to_stop(
    tmp_path: Path, stop: signal.Signals, program: Callable[[], Path]
) -> None:
    """One line says where; a signal stops it with code 0, and the log holds JSON alone."""
    with serve(tmp_path / "home", "--port", "0", "--json", program=program()) as process:
        assert process.stdout is not None
        started = json.loads(process.stdout.readline())
        assert started["tokens"] is False
        assert httpx2.get(f"{started['url']}/health").json()["status"] == "ok"
        httpx2.post(f"{started['url']}/v1/graphs", json={"session_graph_id": "imola"})
        process.send_signal(stop)
        _, told = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 0, told
    *lines, last = told.strip().splitlines()
    assert last == "stopping; what runs is finished"
    assert [json.loads(line)["route"] for line in lines] == ["/health", "/v1/graphs"]


def test_the_command_opens_nothing_where_it_may_not_listen(tmp_path: Path) -> None:
    """Refused with the code of the configuration, before the data folder is made."""
    with serve(tmp_path / "home", "--host", "0.0.0.0", program=warm_command()) as process:  # noqa: S104
        out, told = process.communicate(timeout=PATIENCE_SECONDS)
    assert process.returncode == 3
    assert out == ""
    assert "ezra token create" in told
    assert not (tmp_path / "home").exists()


async def test_two_runtimes_do_not_share_a_service(tmp_path: Path) -> None:
    """Each service serves the runtime that it was made for."""
    async with running(tmp_path / "a") as one, running(tmp_path / "b") as two:
        await one.create_session_graph("imola")
        async with inside(one) as first, inside(two) as second:
            found = [len((await http.get("/v1/graphs")).json()) for http in (first, second)]
    assert found == [1, 0]


async def test_a_connection_belongs_to_its_event_loop(behind: Ezra) -> None:
    """A framework that runs its calls in a loop of its own is told, and breaks nobody's call."""
    async with serving(behind) as url, Ezra.connect(url) as ezra:
        graph = await ezra.create_session_graph("monza")
        agent = await graph.spawn_agent("pit")
        for number in range(3):
            with pytest.raises(UsageError, match="another event loop"):
                await asyncio.to_thread(asyncio.run, agent.recall("mediums"))
            await agent.remember(f"Set {number} of the mediums is worn.")
        assert len((await agent.recall("mediums")).items) == 3
