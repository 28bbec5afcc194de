"""The hot tier's server: what is asked of it, what the doctor learns, and its crashes."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from redis import Redis
from support.held import held
from support.hot_backends import walk
from support.redis_deployments import free_ports
from support.redis_server import RedisServer, running_redis
from support.tier_samples import belief_of, mesh_of, scope_of, turn_of

from tiers.errors import ConfigError, TierError, TierTimeout, TierUnavailable
from tiers.hot import embedded_hot_health, redis_health, redis_hot_store
from tiers.hot.health import Greeting, obstacles

# What ``ezra doctor`` learns of the hot tier.

SHOWN_NOWHERE = "hunter2"


server = held(lambda: running_redis("--appendonly", "yes", "--maxmemory", "64mb"), "module")
"""A Redis that writes an append-only file."""


async def test_healthy_server(server: RedisServer) -> None:
    """Everything that can be known, and no problem."""
    health = await redis_health(server.url)
    assert (health.tier, health.engine, health.reachable) == ("hot", "redis", True)
    assert health.version.startswith("7.")
    assert health.round_trip_ms is not None
    assert health.round_trip_ms > 0
    assert health.problems == ()
    assert health.details["kind"] == "standalone"
    assert health.details["role"] == "master"
    assert health.details["appendonly"] is True
    assert health.details["maxmemory"] == 64 * 2**20
    assert health.details["maxmemory_policy"] == "noeviction"
    assert str(health.details["last_save"]).startswith("20")


@pytest.mark.parametrize("policy", ["allkeys-lru", "allkeys-random", "volatile-ttl"])
async def test_eviction_is_a_problem(server: RedisServer, policy: str) -> None:
    """A policy that may take an agent's state is named with what to set instead.

    That is ``volatile-*`` too: every key of the store has a time to live.
    """
    with Redis(unix_socket_path=str(server.socket)) as admin:
        admin.config_set("maxmemory-policy", policy)
        health = await redis_health(server.url)
        admin.config_set("maxmemory-policy", "noeviction")
    assert len(health.problems) == 1
    assert policy in health.problems[0]
    assert "noeviction" in health.problems[0]


async def test_full_server_is_a_problem(server: RedisServer) -> None:
    """A server that takes no more writes is told from one without the right to write."""
    with Redis(unix_socket_path=str(server.socket)) as admin:
        admin.config_set("maxmemory", 1)
        health = await redis_health(server.url)
        admin.config_set("maxmemory", 64 * 2**20)
    assert health.reachable
    assert "maxmemory" in health.problems[0]


async def test_nobody_there_is_a_problem() -> None:
    """An address without a server: not reachable, and what to look at."""
    (port,) = free_ports(1)
    for url in (
        f"redis://me:{SHOWN_NOWHERE}@127.0.0.1:{port}",
        f"redis+sentinel://me:{SHOWN_NOWHERE}@127.0.0.1:{port}/main",
        f"redis+cluster://me:{SHOWN_NOWHERE}@127.0.0.1:{port}",
        "unix:///nowhere/redis.sock",
    ):
        health = await redis_health(url)
        assert not health.reachable
        assert health.round_trip_ms is None
        assert len(health.problems) == 1
        assert "server runs" in health.problems[0]
        assert SHOWN_NOWHERE not in health.model_dump_json()


async def test_unusable_url_is_a_problem_not_an_error() -> None:
    """The doctor shows what a start would say, without the secret."""
    health = await redis_health(f"redis://me:{SHOWN_NOWHERE}@host:port")
    assert not health.reachable
    assert "name:port" in health.problems[0]
    assert SHOWN_NOWHERE not in health.model_dump_json()


async def test_wrong_kind_of_url_is_a_problem(server: RedisServer) -> None:
    """A single server behind a cluster's URL."""
    (port,) = free_ports(1)
    with running_redis("--port", str(port)):
        health = await redis_health(f"redis+cluster://127.0.0.1:{port}")
    assert health.reachable
    assert "redis://" in health.problems[0]


async def test_embedded_engine() -> None:
    """The engine in this process says that it is one, and that it keeps nothing."""
    health = await embedded_hot_health()
    assert (health.tier, health.engine, health.reachable) == ("hot", "in-process", True)
    assert health.version
    assert health.round_trip_ms is not None
    assert health.details["kind"] == "embedded"
    assert health.problems == ()


# What the hot tier asks of a server before it works with it.

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


# The hot tier over crashes and restarts of its server, with and without an append-only file.

AOF = ("--appendonly", "yes", "--appendfsync", "always")


async def test_append_only_file_keeps_the_hot_state_over_a_crash() -> None:
    """Ring, pins and mesh result are there after SIGKILL and restart, on the same store."""
    with running_redis(*AOF) as server:
        async with redis_hot_store(server.url) as store:
            for seq in range(1, 7):
                await store.append(SCOPE, turn_of(SCOPE, seq), 4)
            for belief_id in ("kept", "dropped"):
                await store.pin(SCOPE, belief_of(SCOPE, belief_id))
            await store.unpin(SCOPE, "dropped")
            await store.put_mesh(SCOPE, mesh_of("m"))
            before = await store.read(SCOPE)
            server.kill()
            server.start()
            assert await store.read(SCOPE) == before
            assert [turn.seq for turn in before.turns] == [3, 4, 5, 6]
            assert await store.append(SCOPE, turn_of(SCOPE, 7), 4) == (turn_of(SCOPE, 3),)
            with Redis(unix_socket_path=str(server.socket)) as admin:
                assert admin.pttl(store._key(SCOPE, "test")) > 6 * 86_400_000
        assert (await redis_health(server.url)).details["appendonly"] is True


async def test_crash_in_the_middle_of_a_run_of_appends() -> None:
    """Many writers at once: errors are ours, and when the server is back so is every one.

    With the file always synced, no turn is lost that was acknowledged.
    """
    with running_redis(*AOF) as server:
        async with redis_hot_store(server.url, connections_max=4) as store:
            agents = [scope_of(agent_id=f"agent{number}") for number in range(8)]
            errors: list[TierError] = []
            progress, broken = asyncio.Semaphore(0), asyncio.Event()

            async def run_of_appends(number: int) -> None:
                for seq in range(1, 41):
                    while True:
                        try:
                            turn = turn_of(agents[number], seq)
                            await store.append(agents[number], turn, 64)
                        except TierError as error:
                            errors.append(error)
                            broken.set()
                        else:
                            break
                    progress.release()

            async with asyncio.timeout(60), asyncio.TaskGroup() as tasks:
                for number in range(len(agents)):
                    tasks.create_task(run_of_appends(number))
                for _ in range(100):
                    await progress.acquire()
                server.kill()
                await broken.wait()
                await asyncio.to_thread(server.start)
            assert errors
            assert all(isinstance(error, TierUnavailable | TierTimeout) for error in errors)
            for agent in agents:
                turns = (await store.read(agent)).turns
                assert [turn.seq for turn in turns] == list(range(1, 41))


async def test_two_hundred_calls_on_a_frozen_server_all_time_out() -> None:
    """Those that wait for a connection wait no longer than those that have one."""
    with running_redis() as server:
        async with redis_hot_store(server.url, connections_max=4, timeout_seconds=2.0) as store:
            await store.append(SCOPE, turn_of(SCOPE, 1), 4)
            with server.frozen():
                # Not a measurement: without a bound on waiting this would be 50 timeouts long.
                async with asyncio.timeout(60):
                    answers = await asyncio.gather(
                        *(store.read(SCOPE) for _ in range(200)), return_exceptions=True
                    )
            assert {type(answer) for answer in answers} == {TierTimeout}
            pool = store._client.connection_pool
            assert not pool._in_use_connections
            async with asyncio.timeout(60):
                while True:
                    try:
                        assert [turn.seq for turn in (await store.read(SCOPE)).turns] == [1]
                        break
                    except TierTimeout:
                        continue


@pytest.mark.parametrize("health_check_seconds", [0, 0.001])
async def test_idle_connection_is_tried_before_it_is_used(health_check_seconds: float) -> None:
    """With health checks PING goes out before the command of an idle connection."""
    with running_redis() as server:
        async with redis_hot_store(
            server.url, connections_max=1, health_check_seconds=health_check_seconds
        ) as store:
            client = store._client
            await client.config_resetstat()
            await asyncio.sleep(0.005)
            await store.read(SCOPE)
            pings = (await client.info("commandstats")).get("cmdstat_ping", {"calls": 0})["calls"]
            assert (pings > 0) == (health_check_seconds > 0)
