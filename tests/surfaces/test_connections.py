"""What a server holds for its callers is bounded: connections, and open turns."""

from __future__ import annotations

import asyncio
import gc
import weakref
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import httpx2
import pytest
from support.processes import PATIENCE_SECONDS
from support.service import Slow, Ticking, bearer

from ezra import Conflict, Ezra, Settings
from ezra.service.app import service_app
from ezra.service.connections import SPARE
from ezra.service.feed import FEEDS_PER_TOKEN_MAX, Pace
from ezra.service.handle_pool import TURN_SECONDS, HandlePool, TurnBounds, size_of
from ezra.service.listening import listening
from ezra.service.tokens import TokenFile

# Connections over real sockets: idle, half-sent and dripped ones take nobody's place for long.

HEAD = b"GET /v1/graphs HTTP/1.1\r\nhost: 127.0.0.1\r\n"
POST = (
    b"POST /v1/graphs HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    b"content-length: 400\r\n\r\n{"
)
LONG = 600.0


class Peer:
    """A client that sends what it likes."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        """Send some bytes; a connection that is closed takes none."""
        with suppress(ConnectionError):
            self._writer.write(data)
            await self._writer.drain()

    async def drip(self, data: bytes, seconds: float) -> None:
        """Send the same bytes over and over, so many seconds apart, until nobody takes them."""
        while not self._reader.at_eof() and not self._writer.is_closing():
            await self.send(data)
            await asyncio.sleep(seconds)

    async def head(self) -> bytes:
        """Return the head of an answer."""
        return await self._reader.readuntil(b"\r\n\r\n")

    async def rest(self) -> bytes:
        """Return what comes until the connection is closed."""
        found = bytearray()
        with suppress(ConnectionError):
            while part := await self._reader.read(65_536):
                found += part
        return bytes(found)

    async def close(self) -> None:
        """Go away."""
        self._writer.close()
        with suppress(ConnectionError):
            await self._writer.wait_closed()


class Server:
    """A server that listens.

    Attributes:
        url: Its address.
    """

    def __init__(self, url: str, exits: AsyncExitStack) -> None:
        self.url = url
        self._exits = exits

    async def peer(self, data: bytes = b"") -> Peer:
        """Connect, and send some bytes."""
        port = int(self.url.rpartition(":")[2])
        peer = Peer(*await asyncio.open_connection("127.0.0.1", port))
        self._exits.push_async_callback(peer.close)
        await peer.send(data)
        return peer


@asynccontextmanager
async def limited(
    ezra: Ezra, tokens: TokenFile | None = None, *, send_seconds: float = LONG, **limits: float
) -> AsyncIterator[Server]:
    """Serve a runtime with limits of its own; deadlines that are not named are long."""
    chosen = {"serve_head_seconds": LONG, "serve_body_seconds": LONG, **limits}
    settings = ezra.settings.model_copy(update=chosen)
    app = service_app(ezra, tokens=tokens, settings=settings, pace=Pace(0.01, 9.0))
    app.state.connections = replace(app.state.connections, send_seconds=send_seconds)
    async with asyncio.timeout(PATIENCE_SECONDS), AsyncExitStack() as exits:
        url = await exits.enter_async_context(listening(app, "127.0.0.1", 0))
        async with AsyncExitStack() as peers:
            yield Server(url, peers)


async def answered(
    url: str, path: str = "/v1/graphs", headers: dict[str, str] | None = None
) -> int:
    """Return the status of an answer to a new client."""
    async with httpx2.AsyncClient(timeout=10) as http:
        return (await http.get(url + path, headers=headers)).status_code


@pytest.mark.parametrize("sent", [b"", HEAD, POST], ids=("idle", "half a head", "half a body"))
async def test_r9_18_connections_that_ask_nothing_lock_nobody_out(
    behind: Ezra, sent: bytes
) -> None:
    """However many a peer holds open, the one of least use makes room for the next."""
    async with limited(behind, serve_requests_at_work_per_peer=8) as server:
        held = [await server.peer(sent) for _ in range(8 + SPARE + 12)]
        assert await answered(server.url) == 200
        assert await answered(server.url, "/health") == 200
        for first in held[:4]:
            assert b" 200 " not in await first.rest()


async def test_r9_18_every_place_may_be_taken_by_many_peers(behind: Ezra) -> None:
    """Where all have as many as may be, the peer with the most makes room."""
    async with limited(behind, serve_requests_at_work=4) as server:
        for _ in range(4 + SPARE + 12):
            await server.peer()
        assert await answered(server.url) == 200


async def test_r9_18_health_is_answered_when_every_place_is_at_work(tmp_path: Path) -> None:
    """What runs is never cut off for another: that one is told, and health is told to all."""
    slow = Slow()
    settings = Settings(home=tmp_path / "home", embedder="off", background=False)
    async with Ezra.open(settings, model=slow) as ezra:
        await (await ezra.create_session_graph("imola")).spawn_agent("strategist")
        async with limited(ezra, serve_requests_at_work_per_peer=1) as server:
            path = f"{server.url}/v1/graphs/imola/agents/strategist/complete"
            async with httpx2.AsyncClient(timeout=10) as http:
                asked = asyncio.create_task(http.post(path, json={"message": "how long?"}))
                await slow.asked.wait()
                refused = await http.get(f"{server.url}/v1/graphs")
                for _ in range(1 + SPARE + 4):
                    await server.peer()
                assert await answered(server.url, "/health") == 200
                slow.let.set()
                assert (await asked).status_code == 200
                assert await answered(server.url) == 200
    assert refused.status_code == 503
    assert "too many requests are at work" in refused.json()["detail"]
    assert (refused.headers["connection"], refused.headers["retry-after"]) == ("close", "1")


@pytest.mark.parametrize("is_guarded", [False, True], ids=("without tokens", "with tokens"))
async def test_r9_18_a_head_has_a_deadline(
    behind: Ezra,
    tokens: TokenFile,
    is_guarded: bool,  # noqa: FBT001
) -> None:
    """Nothing, half of it, or a byte now and then; the first request and any later one."""
    if is_guarded:
        bearer(tokens)
    async with limited(behind, tokens if is_guarded else None, serve_head_seconds=0.2) as server:
        silent, half = await server.peer(), await server.peer(HEAD)
        assert await silent.rest() == b""
        assert (await half.rest()).startswith(b"HTTP/1.1 408 ")
        dripping = await server.peer(HEAD)
        drops = asyncio.create_task(dripping.drip(b"x: y\r\n", 0.02))
        assert (await dripping.rest()).startswith(b"HTTP/1.1 408 ")
        await drops
        again = await server.peer(HEAD.replace(b"/v1/graphs", b"/health") + b"\r\n")
        assert b" 200 " in await again.head()
        await again.send(HEAD)
        assert b"HTTP/1.1 408 " in await again.rest()


@pytest.mark.parametrize("who", ["nobody", "local", "bearer"])
async def test_r9_40_a_body_has_a_deadline(behind: Ezra, tokens: TokenFile, who: str) -> None:
    """Half of it or a byte now and then: refused in time, and the connection is closed."""
    shown = bearer(tokens)["authorization"].encode()
    limits = {"serve_body_seconds": 0.5, "serve_head_seconds": 1.0}  # a busy machine may pause
    sent = POST
    if who == "bearer":
        sent = POST.replace(b"host:", b"authorization: " + shown + b"\r\nhost:")
    status = b"HTTP/1.1 401 " if who == "nobody" else b"HTTP/1.1 408 "
    async with limited(behind, None if who == "local" else tokens, **limits) as server:
        half, dripping = await server.peer(sent), await server.peer(sent)
        drops = asyncio.create_task(dripping.drip(b" ", 0.02))
        for one in (half, dripping):
            assert (await one.rest()).startswith(status)
        await drops


async def test_r9_40_a_chunked_body_that_breaks_off_is_closed(
    behind: Ezra, tokens: TokenFile
) -> None:
    """Also behind a refusal, where an answer is out already and nothing can be said."""
    bearer(tokens)
    head = POST.partition(b"content-length")[0]
    async with limited(behind, tokens) as server:
        peer = await server.peer(head + b"transfer-encoding: chunked\r\n\r\n5\r\nhe")
        assert b" 401 " in await peer.head()
        await peer.send(b"no chunk\r\n")
        await peer.rest()
        declared = await server.peer(POST)
        assert b" 401 " in await declared.head()
        await declared.send(b" " * 399 + b"no HTTP at all\r\n\r\n")
        await declared.rest()
        assert await answered(server.url, "/health") == 200


@pytest.mark.parametrize("has_token", [False, True])
async def test_r9_40_a_request_with_two_lengths_is_refused_and_closed(
    behind: Ezra,
    tokens: TokenFile,
    has_token: bool,  # noqa: FBT001
) -> None:
    """What stands behind it is no second request, whoever asks."""
    shown = bearer(tokens)["authorization"].encode()
    both = POST.replace(b"content-length: 400\r\n\r\n{", b"content-length: 4\r\n")
    both += b"authorization: " + shown + b"\r\n" if has_token else b""
    both += b"transfer-encoding: chunked\r\n\r\n0\r\n\r\n" + HEAD + b"\r\n"
    async with limited(behind, tokens) as server:
        said = await (await server.peer(both)).rest()
    assert said.startswith(b"HTTP/1.1 400 ")
    assert said.count(b"HTTP/1.1 ") == 1
    assert b"connection: close" in said.lower()
    assert b"not both" in said


@pytest.mark.parametrize("sent", [b"GET /v1/graphs?behind=" + b"x" * 100_000, b"no HTTP\r\n\r\n"])
async def test_what_is_no_http_is_told_so_as_any_mistake(behind: Ezra, sent: bytes) -> None:
    """By a problem document, then closed: also a head that is too long to be one."""
    async with limited(behind) as server:
        said = await (await server.peer(sent)).rest()
    assert said.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in said.lower()
    assert b"x-content-type-options: nosniff" in said.lower()
    assert b"urn:ezra:error:UsageError" in said


async def test_r9_40_a_peer_that_takes_no_answer_is_let_go(behind: Ezra) -> None:
    """An answer that nobody reads holds its connection for so long and no longer."""
    async with limited(behind, send_seconds=0.2) as server:
        asked = HEAD.replace(b"/v1/graphs", b"/openapi.json") + b"\r\n"
        peer = await server.peer(asked * 200)
        peer._writer.transport.pause_reading()
        await peer.drip(b"\r\n", 0.05)
        assert await answered(server.url) == 200


async def test_r9_40_one_token_has_its_share_of_feeds(behind: Ezra, tokens: TokenFile) -> None:
    """One too many of a token is refused by name; another token has its own, and places return."""
    one, two = bearer(tokens, role="reader"), bearer(tokens, role="reader")
    path = "/v1/audit/feed"
    async with limited(behind, tokens) as server, AsyncExitStack() as feeds:
        http = await feeds.enter_async_context(httpx2.AsyncClient(base_url=server.url, timeout=10))
        async with AsyncExitStack() as own:
            for _ in range(FEEDS_PER_TOKEN_MAX):
                found = await own.enter_async_context(http.stream("GET", path, headers=one))
                assert found.status_code == 200
            refused = await http.get(path, headers=one)
            assert refused.status_code == 429
            assert (refused.json()["what"], refused.json()["limit"]) == ("open_feeds", 10)
            other = await own.enter_async_context(http.stream("GET", path, headers=two))
            assert other.status_code == 200
        status = 429
        while status == 429:  # the server hears that they were closed
            async with http.stream("GET", path, headers=one) as again:
                status = again.status_code
        assert status == 200


# Turns that wait for their reply: bounded in number and bytes, of one token and of all.

LONG_TEXT = "The tyres held on. " * 1_000
"""Nineteen kilobytes; an open turn holds it several times."""

ROOM = 400_000
PATH = "/v1/graphs/imola/agents/strategist/turns"


class Open:
    """A service whose open turns are bounded.

    Attributes:
        http: Its client.
        pool: What keeps the turns.
        seconds: Its time.
    """

    def __init__(self, http: httpx2.AsyncClient, pool: HandlePool, seconds: Ticking) -> None:
        self.http = http
        self.pool = pool
        self.seconds = seconds

    @property
    def held(self) -> int:
        """About how many bytes wait for a reply."""
        return self.pool.turns.size

    async def turns(self, who: dict[str, str], count: int, message: str = LONG_TEXT) -> list[str]:
        """Open turns; returns their ids."""
        found = []
        for number in range(count):
            said = {"message": f"{number}: {message}"}
            opened = await self.http.post(PATH, json=said, headers=who)
            assert opened.status_code == 200
            found.append(opened.json()["id"])
        return found

    async def reply(self, who: dict[str, str], turn_id: str) -> int:
        """Reply to a turn; returns the status."""
        path = f"{PATH}/{turn_id}/reply"
        said = await self.http.post(path, json={"response": LONG_TEXT}, headers=who)
        return said.status_code


@asynccontextmanager
async def bounded(ezra: Ezra, tokens: TokenFile, bounds: TurnBounds) -> AsyncIterator[Open]:
    """Ask a service with bounds of its own, whose tokens may do everything."""
    await (await ezra.create_session_graph("imola")).spawn_agent("strategist")
    seconds = Ticking()
    app = service_app(ezra, tokens=tokens, settings=ezra.settings, seconds=seconds)
    app.state.pool = HandlePool(ezra, seconds, bounds)
    way = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=way, base_url="http://localhost") as http:
        yield Open(http, app.state.pool, seconds)


def named(tokens: TokenFile, name: str) -> dict[str, str]:
    """Return the header of a new operator of a name."""
    _, shown = tokens.create(name, "operator", expires_at=None)
    return {"authorization": f"Bearer {shown}"}


async def test_r9_19_the_open_turns_of_a_token_are_bounded_in_bytes(
    behind: Ezra, tokens: TokenFile
) -> None:
    """The oldest goes, of the token that has too many; what another opened stays."""
    bounds = TurnBounds(bytes_per_caller=ROOM)
    one, two = named(tokens, "one"), named(tokens, "two")
    async with bounded(behind, tokens, bounds) as service:
        kept = await service.turns(two, 1)
        opened = await service.turns(one, 20)
        assert 0 < service.held <= 2 * ROOM
        assert await service.reply(one, opened[0]) == 404
        assert await service.reply(one, opened[-1]) == 200
        assert await service.reply(two, kept[0]) == 200


async def test_r9_19_the_open_turns_of_a_token_are_bounded_in_number(
    behind: Ezra, tokens: TokenFile
) -> None:
    """However small they are."""
    one = bearer(tokens)
    async with bounded(behind, tokens, TurnBounds(turns_per_caller=3)) as service:
        opened = await service.turns(one, 5, "Box?")
        said = [await service.reply(one, turn_id) for turn_id in opened]
    assert said == [404, 404, 200, 200, 200]


async def test_r9_19_the_open_turns_of_a_tenant_are_bounded(
    behind: Ezra, tokens: TokenFile
) -> None:
    """Where all together are too much, the oldest of the token that holds most goes."""
    bounds = TurnBounds(bytes=ROOM)
    few, many = named(tokens, "few"), named(tokens, "many")
    async with bounded(behind, tokens, bounds) as service:
        kept = await service.turns(few, 1)
        opened = await service.turns(many, 20)
        assert 0 < service.held <= ROOM
        assert await service.reply(few, kept[0]) == 200
        assert await service.reply(many, opened[0]) == 404
        assert await service.reply(many, opened[-1]) == 200


async def test_r9_19_a_turn_that_was_replied_to_holds_next_to_nothing(
    behind: Ezra, tokens: TokenFile
) -> None:
    """It still refuses a further reply, for an hour, and then is forgotten."""
    one = bearer(tokens)
    async with bounded(behind, tokens, TurnBounds(bytes_per_caller=ROOM)) as service:
        opened = await service.turns(one, 1)
        before = service.held
        assert await service.reply(one, opened[0]) == 200
        assert service.held < before / 2
        assert await service.reply(one, opened[0]) == 409
        asked = await service.http.post(f"{PATH}/{opened[0]}/complete", json={}, headers=one)
        assert asked.status_code == 409
        service.seconds.now += TURN_SECONDS + 1
        assert await service.reply(one, opened[0]) == 404
        assert service.held == 0


async def test_r9_19_a_handle_holds_no_turn_that_its_caller_let_go(behind: Ezra) -> None:
    """A runtime has thousands of handles: each remembers which turn was the last, not what of."""
    agent = await (await behind.create_session_graph("imola")).spawn_agent("strategist")
    await (await agent.turn(LONG_TEXT)).reply("Box.")
    turn = await agent.turn("And now? " + LONG_TEXT)
    belief = await agent.commit("We box on lap 20.")
    assert (belief.turn_id, belief.receipt_id) == (turn.id, turn.receipt_id)
    assert size_of(turn) > len(LONG_TEXT)
    held = weakref.ref(turn)
    del turn
    gc.collect()
    assert held() is None


async def test_r9_19_a_waiting_turn_still_replies_once(behind: Ezra) -> None:
    """What was found for it is let go when its context is made, and nothing of it is missed."""
    agent = await (await behind.create_session_graph("imola")).spawn_agent("strategist")
    turn = await agent.turn("Box?")
    shown = turn.messages
    written = await turn.reply("Yes.")
    assert (written.turn.input, turn.messages) == ("Box?", shown)
    with pytest.raises(Conflict, match=written.turn.id):
        await turn.reply("No.")
