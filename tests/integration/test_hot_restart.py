"""The hot tier over crashes and restarts of its server, with and without an append-only file."""

from __future__ import annotations

import asyncio

import pytest
from redis import Redis
from support.redis_server import running_redis
from support.tier_samples import belief_of, mesh_of, scope_of, turn_of

from tiers.errors import TierError, TierTimeout, TierUnavailable
from tiers.hot import redis_health, redis_hot_store

SCOPE = scope_of()
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
