"""What ``ezra doctor`` learns of the hot tier."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from redis import Redis
from support.redis_deployments import free_ports
from support.redis_server import RedisServer, running_redis

from tiers.hot import embedded_hot_health, redis_health

SHOWN_NOWHERE = "hunter2"


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    """A Redis that writes an append-only file."""
    with running_redis("--appendonly", "yes", "--maxmemory", "64mb") as running:
        yield running


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
