"""What the hot tier asks of a server before it works with it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from support.hot_walk import walk
from support.redis_deployments import free_ports
from support.redis_server import running_redis
from support.tier_samples import scope_of, turn_of

from tiers.errors import ConfigError, TierTimeout
from tiers.hot import redis_health, redis_hot_store
from tiers.hot.health import Greeting, obstacles

SCOPE = scope_of()


@asynccontextmanager
async def _old_server(hello: bytes) -> AsyncIterator[str]:
    """Answer PING, and HELLO with ``hello``, as a version does that cannot be had any more."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while header := await reader.readline():
            words = [
                (await reader.readline(), (await reader.readline()).strip().upper())[1]
                for _ in range(int(header[1:]))
            ]
            writer.write(hello if words[0] == b"HELLO" else b"+PONG\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        yield f"redis://127.0.0.1:{port}"


def _hello(version: str) -> bytes:
    words = ("server", "redis", "version", version, "mode", "standalone", "role", "master")
    return b"*8\r\n" + b"".join(f"${len(word)}\r\n{word}\r\n".encode() for word in words)


@pytest.mark.parametrize(
    ("hello", "found"),
    [
        (_hello("6.2.14"), "6.2.14"),
        (b"-ERR unknown command `HELLO`, with args beginning with: \r\n", "older than 6.0"),
    ],
    ids=["6.2", "5"],
)
async def test_older_server_is_a_config_error(hello: bytes, found: str) -> None:
    """Found and needed version are named, at opening and by the doctor."""
    async with _old_server(hello) as url:
        with pytest.raises(ConfigError, match=f"7.0 or later is needed, found {found}"):
            async with redis_hot_store(url):
                pass
        health = await redis_health(url)
    assert health.reachable
    assert "7.0 or later" in health.problems[0]


@pytest.mark.parametrize(
    ("version", "accepted"),
    [("7.0.0", True), ("7.2.4-v10", True), ("10.1", True), ("6.9.9", False), ("?", False)],
)
def test_versions_are_compared_as_numbers(version: str, accepted: bool) -> None:  # noqa: FBT001
    """10 comes after 7, and what is no version is not trusted."""
    found = (Greeting("redis", version, "standalone", "master"),)
    assert (obstacles("standalone", found) == ()) == accepted


async def test_every_primary_of_a_cluster_is_looked_at() -> None:
    """One node left behind by an upgrade is enough to refuse."""
    good = Greeting("redis", "7.0.15", "cluster", "master")
    old = Greeting("redis", "6.2.14", "cluster", "master")
    assert obstacles("cluster", (good, good)) == ()
    assert len(obstacles("cluster", (good, old, old))) == 1


async def test_frozen_server_is_a_timeout_at_opening() -> None:
    """Somebody listens and does not answer: opening ends all the same, and so does the doctor."""
    with running_redis() as server, server.frozen():
        with pytest.raises(TierTimeout, match="server runs"):
            async with redis_hot_store(server.url, timeout_seconds=0.1):
                pass
        health = await redis_health(server.url, timeout_seconds=0.1)
        assert not health.reachable
        assert len(health.problems) == 1


async def test_plain_tcp_by_name_and_by_address() -> None:
    """A name or an address, and a database of its own for each number."""
    (port,) = free_ports(1)
    with running_redis("--port", str(port)):
        async with redis_hot_store(f"redis://localhost:{port}/5") as store:
            await walk(store, 40)
            await store.append(SCOPE, turn_of(SCOPE, 1), 8)
        async with redis_hot_store(f"redis://127.0.0.1:{port}?db=5&socket_keepalive=no") as store:
            assert len((await store.read(SCOPE)).turns) == 1
        async with redis_hot_store(f"redis://127.0.0.1:{port}") as store:
            assert (await store.read(SCOPE)).turns == ()


async def test_opening_that_fails_leaves_no_connection() -> None:
    """What was opened to look is closed when it will not do."""
    with running_redis("--cluster-enabled", "yes") as server:
        with pytest.raises(ConfigError, match=r"redis\+cluster"):
            async with redis_hot_store(server.url):
                pass
        health = await redis_health(server.url)
        assert "redis+cluster" in health.problems[0]
    with running_redis() as server:
        async with redis_hot_store(server.url) as store:
            await store.append(SCOPE, turn_of(SCOPE, 1), 8)
            health = await redis_health(server.url)
            assert health.problems == ()
            clients = await store._client.client_list()
            assert len(clients) == 1
