"""The hot tier on a Redis cluster: one real node that owns every slot."""

from __future__ import annotations

import socket
import time
from collections.abc import AsyncIterator, Iterator

import pytest
import redis.asyncio
from redis import Redis
from redis.asyncio.cluster import RedisCluster
from redis.crc import key_slot
from support.redis_server import running_redis
from support.tier_samples import TWIN_SCOPES, belief_of, mesh_of, scope_of, turn_of

from tiers.errors import TierUnavailable
from tiers.hot import RedisHotStore
from tiers.records import HotState

SLOTS = 16384


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """Run the node; a new cluster takes two seconds before it accepts writes."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        free_port = probe.getsockname()[1]
    with running_redis("--cluster-enabled", "yes", "--port", str(free_port)) as server:
        with Redis(unix_socket_path=str(server.socket)) as admin:
            admin.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
            deadline = time.monotonic() + 20
            while admin.cluster("INFO")["cluster_state"] != "ok":
                assert time.monotonic() < deadline, "the cluster did not come up"
                time.sleep(0.02)
        yield free_port


@pytest.fixture
async def cluster(port: int) -> AsyncIterator[RedisCluster]:
    """A client of the cluster."""
    async with RedisCluster(host="127.0.0.1", port=port) as client:
        yield client


async def test_every_operation_works_on_a_cluster(cluster: RedisCluster) -> None:
    """Scripts, their reload after NOSCRIPT, and plain commands reach the node of the key."""
    scope = scope_of()
    store = RedisHotStore(cluster)
    for seq in (1, 2):
        await store.append(scope, turn_of(scope, seq), 2)
    assert await store.append(scope, turn_of(scope, 3), 2) == (turn_of(scope, 1),)
    await store.restore(scope, [turn_of(scope, 2)], 8)
    await store.pin(scope, belief_of(scope, "b"))
    await store.put_mesh(scope, mesh_of("m"))
    state = await store.read(scope)
    assert [turn.seq for turn in state.turns] == [2, 3]
    assert state.mesh == mesh_of("m")
    await store.unpin(scope, "b")
    await store.clear(scope)
    assert await store.read(scope) == HotState()


async def test_hash_tag_is_the_agent_whatever_its_name(cluster: RedisCluster) -> None:
    """The server hashes exactly the names between the braces, hostile ones included."""
    store = RedisHotStore(cluster)
    for names in (names for pair in TWIN_SCOPES for names in pair):
        key = store._key(scope_of(*names), "test")
        tag = key[key.index("{") + 1 : key.index("}")]
        assert key == f"ezra:{{{tag}}}:hot"
        assert await cluster.cluster_keyslot(key) == key_slot(tag.encode())


async def test_slot_that_nobody_serves_is_unavailable(port: int) -> None:
    """A cluster in the middle of a failover is an outage, which passes, not a refusal."""
    async with redis.asyncio.Redis(port=port) as node:
        store = RedisHotStore(node)
        slot = key_slot(store._key(scope_of(), "test").encode())
        await node.cluster("DELSLOTS", slot)
        try:
            with pytest.raises(TierUnavailable):
                await store.read(scope_of())
        finally:
            await node.cluster("ADDSLOTS", slot)
