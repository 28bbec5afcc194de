"""The hot tier on a Redis cluster: real nodes, found by URL, and what moves between them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, suppress

import pytest
import redis.asyncio
from redis import Redis
from redis.asyncio.cluster import RedisCluster
from redis.crc import key_slot
from redis.exceptions import MovedError
from support.held import held
from support.hot_backends import walk
from support.processes import PATIENCE_SECONDS, wait_until
from support.redis_deployments import SLOTS, ClusterDeployment, free_ports, running_cluster
from support.redis_server import RedisServer, running_redis
from support.tier_samples import TWIN_SCOPES, belief_of, mesh_of, scope_of, turn_of

from tiers.errors import ConfigError, TierTimeout, TierUnavailable
from tiers.hot import RedisHotStore, redis_health, redis_hot_store
from tiers.hot.health import STORE_COMMANDS
from tiers.records import HotState

AGENTS = [scope_of(agent_id=f"agent{number}") for number in range(40)]


one_node = held(running_cluster, "module")
"""One node that owns every slot."""


@pytest.fixture(scope="module")
def three_nodes() -> Iterator[ClusterDeployment]:
    """Three primaries with a third of the slots each, which do not stop for one that is lost."""
    options = ("--cluster-require-full-coverage", "no", "--cluster-node-timeout", "60000")
    with running_cluster(3, options) as cluster:
        yield cluster


@pytest.fixture
def port(one_node: ClusterDeployment) -> int:
    """Where the one node listens."""
    return one_node.ports[0]


@pytest.fixture
async def cluster(port: int) -> AsyncIterator[RedisCluster]:
    """A client of the cluster that somebody else made."""
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


async def test_cluster_by_url(three_nodes: ClusterDeployment) -> None:
    """Any one node of the URL is enough, agents lie on all nodes, and scripts reach each."""
    (nobody,) = free_ports(1)
    for prefix, hosts in (
        ("one", f"127.0.0.1:{three_nodes.ports[1]}"),
        ("all", f"127.0.0.1:{nobody},{_hosts(three_nodes)}"),
    ):
        async with redis_hot_store(f"redis+cluster://{hosts}", prefix=prefix) as store:
            await walk(store, 150)
            for agent in AGENTS:
                await store.append(agent, turn_of(agent, 1), 4)
                await store.clear(agent)
            for agent in AGENTS[:8]:
                await store.append(agent, turn_of(agent, 2), 4)
    for server in three_nodes.servers:
        with Redis(unix_socket_path=str(server.socket)) as node:
            assert node.dbsize() > 0
            node.flushall()


def _hosts(cluster: ClusterDeployment) -> str:
    return cluster.url.partition("://")[2]


async def test_health_of_a_cluster(three_nodes: ClusterDeployment) -> None:
    """Every primary is looked at: one that may evict is a problem of the whole."""
    health = await redis_health(three_nodes.url)
    assert health.problems == ()
    assert (health.details["kind"], health.details["primaries"]) == ("cluster", 3)
    with Redis(unix_socket_path=str(three_nodes.servers[2].socket)) as node:
        node.config_set("maxmemory-policy", "allkeys-lru")
        health = await redis_health(three_nodes.url)
        node.config_set("maxmemory-policy", "noeviction")
    assert len(health.problems) == 1
    assert health.details["maxmemory_policy"] == "allkeys-lru, noeviction"


async def test_more_calls_than_connections_of_a_node_wait_their_turn(
    three_nodes: ClusterDeployment,
) -> None:
    """The driver's cluster client refuses the call that has no connection; ours lets it wait."""
    async with redis_hot_store(
        three_nodes.url, prefix="many", connections_max=4, timeout_seconds=20
    ) as store:
        await asyncio.gather(
            *(store.append(AGENTS[0], turn_of(AGENTS[0], seq), 256) for seq in range(1, 201))
        )
        assert len((await store.read(AGENTS[0])).turns) == 200
        assert isinstance(store._client, RedisCluster)
        for node in store._client.get_nodes():
            assert len(node._connections) <= 4
            assert len(node._free) == len(node._connections)
        await store.clear(AGENTS[0])


async def test_slot_that_moves_is_followed(three_nodes: ClusterDeployment) -> None:
    """An agent whose slot goes to another node is found there, scripts included.

    Between the move of the key and the move of the slot the old node answers ASK, which the
    driver cannot follow with more than one connection: an outage that passes with the move.
    """
    agent = scope_of(agent_id="mover")
    with ExitStack() as stack:
        nodes = [
            stack.enter_context(Redis(unix_socket_path=str(server.socket)))
            for server in three_nodes.servers
        ]
        async with redis_hot_store(three_nodes.url, prefix="moves") as store:
            await asyncio.gather(*(store.append(each, turn_of(each, 1), 4) for each in AGENTS))
            await store.append(agent, turn_of(agent, 1), 4)
            key = store._key(agent, "test")
            slot = key_slot(key.encode())
            place = next(place for place, node in enumerate(nodes) if _holds(node, key))
            source, target = nodes[place], nodes[place - 1]
            source_id, target_id = (str(node.cluster("MYID"), "ascii") for node in (source, target))
            target.execute_command("CLUSTER", "SETSLOT", slot, "IMPORTING", source_id)
            source.execute_command("CLUSTER", "SETSLOT", slot, "MIGRATING", target_id)
            assert (await store.read(agent)).turns == (turn_of(agent, 1),)
            source.migrate("127.0.0.1", three_nodes.ports[place - 1], key, 0, 5000)
            with suppress(TierUnavailable):
                await store.append(agent, turn_of(agent, 2), 4)
            for node in (target, source):
                node.execute_command("CLUSTER", "SETSLOT", slot, "NODE", target_id)
            for seq in (2, 3):
                await store.append(agent, turn_of(agent, seq), 4)
            assert [turn.seq for turn in (await store.read(agent)).turns] == [1, 2, 3]
            assert target.hlen(key) == 4
            await asyncio.gather(*(store.clear(each) for each in (agent, *AGENTS)))


def _holds(node: Redis, key: str) -> bool:
    try:
        return bool(node.exists(key))
    except MovedError:
        return False


async def test_slot_that_the_driver_has_not_heard_of_is_unavailable(
    three_nodes: ClusterDeployment,
) -> None:
    """A hole in what the driver knows of the slots is an outage, and mended by the next call."""
    async with redis_hot_store(three_nodes.url, prefix="hole", retries_max=0) as store:
        assert isinstance(store._client, RedisCluster)
        slot = key_slot(store._key(AGENTS[0], "test").encode())
        del store._client.nodes_manager.slots_cache[slot]
        with pytest.raises(TierUnavailable):
            await store.read(AGENTS[0])
        assert await store.read(AGENTS[0]) == HotState()


async def test_redirection_to_a_node_never_heard_of_makes_it_known(
    one_node: ClusterDeployment,
) -> None:
    """A node too new to have slots is reached where a redirection says it is, and closed."""
    async with redis_hot_store(one_node.url) as store:
        assert isinstance(store._client, RedisCluster)
        (port,) = free_ports(1)
        with running_redis("--port", str(port)) as new:
            node = store._client.get_node(node_name=f"127.0.0.1:{port}")
            assert node is not None
            assert await node.execute_command("PING")
            assert node in store._client.get_nodes()
            await store._client.aclose()
            wait_until(lambda: _clients([new]) == [1], "the connection to be closed")


async def test_lost_node_is_an_outage_of_its_agents_only(three_nodes: ClusterDeployment) -> None:
    """Errors are ours and pass; agents on other nodes go on; the node comes back on one store.

    Closing the store while a node is away leaves no connection open, as the driver would.
    """
    lost_server = three_nodes.servers[0]
    async with redis_hot_store(three_nodes.url, timeout_seconds=10.0, retries_max=1) as store:
        await asyncio.gather(*(_appended(store, number) for number in range(len(AGENTS))))
        with Redis(unix_socket_path=str(lost_server.socket)) as node:
            lost = {key.decode() for key in node.scan_iter()}
        assert 0 < len(lost) < len(AGENTS)
        lost_server.kill()
        for agent in AGENTS:
            append = store.append(agent, turn_of(agent, 2), 4)
            if store._key(agent, "test") in lost:
                with pytest.raises(TierUnavailable):
                    await append
            else:
                await append
    wait_until(lambda: _clients(three_nodes.servers[1:]) == [1, 1], "every client to be gone")
    async with redis_hot_store(three_nodes.url, timeout_seconds=10.0, must_answer=False) as store:
        lost_server.start()
        async with asyncio.timeout(PATIENCE_SECONDS):
            await asyncio.gather(*(_appended(store, number) for number in range(len(AGENTS))))


def _clients(servers: Sequence[RedisServer]) -> list[int]:
    """Return how many clients each has, other nodes not counted and the one asking included."""
    counts = []
    for server in servers:
        with Redis(unix_socket_path=str(server.socket)) as node:
            counts.append(len(node.client_list(_type="normal")))
    return counts


async def _appended(store: RedisHotStore, number: int) -> None:
    """Append until it works; what passes is waited for, anything else is a failure."""
    while True:
        try:
            await store.append(AGENTS[number], turn_of(AGENTS[number], 3), 4)
        except (TierUnavailable, TierTimeout):
            await asyncio.sleep(0.05)
        else:
            return


@pytest.mark.slow
async def test_cluster_whose_nodes_all_moved_is_found_by_its_url() -> None:
    """When no node that was learnt answers any more, those of the URL are asked again.

    The node is known to the client as 127.0.0.1, and after its restart only as 127.0.0.3.
    """
    (port,) = free_ports(1)

    def options(address: str) -> tuple[str, ...]:
        listen = ("--port", str(port), "--bind", "127.0.0.2", address)
        return ("--cluster-enabled", "yes", *listen, "--cluster-announce-ip", address)

    with running_redis(*options("127.0.0.1")) as server:
        with Redis(unix_socket_path=str(server.socket)) as node:
            node.execute_command("CLUSTER", "ADDSLOTSRANGE", 0, SLOTS - 1)
        _wait_for(server)
        async with redis_hot_store(f"redis+cluster://127.0.0.2:{port}") as store:
            await store.append(AGENTS[0], turn_of(AGENTS[0], 1), 4)
            server.kill()
            server.restart(*options("127.0.0.3"))
            _wait_for(server)
            assert await store.append(AGENTS[0], turn_of(AGENTS[0], 2), 4) == ()
            assert isinstance(store._client, RedisCluster)
            assert {node.host for node in store._client.get_nodes()} == {"127.0.0.3"}


def _wait_for(server: RedisServer) -> None:
    with Redis(unix_socket_path=str(server.socket)) as node:
        wait_until(lambda: node.cluster("INFO")["cluster_state"] == "ok", "the cluster")


async def test_frozen_node_is_a_timeout(one_node: ClusterDeployment) -> None:
    """A node that hangs costs the timeout once, and the store goes on afterwards."""
    async with redis_hot_store(one_node.url, prefix="frozen", timeout_seconds=2.0) as store:
        await store.append(AGENTS[0], turn_of(AGENTS[0], 1), 4)
        with one_node.servers[0].frozen():
            answers = await asyncio.gather(
                *(store.read(AGENTS[0]) for _ in range(50)), return_exceptions=True
            )
        assert {type(answer) for answer in answers} == {TierTimeout}
        async with asyncio.timeout(PATIENCE_SECONDS):
            await _appended(store, 0)
        assert [turn.seq for turn in (await store.read(AGENTS[0])).turns] == [1, 3]


async def test_single_server_behind_a_cluster_url_says_so() -> None:
    """The wrong scheme is said to be the wrong scheme."""
    (port,) = free_ports(1)
    with (
        running_redis("--port", str(port)),
        pytest.raises(ConfigError, match="not part of a cluster"),
    ):
        async with redis_hot_store(f"redis+cluster://127.0.0.1:{port}"):
            pass


async def test_smallest_rule_on_a_cluster(one_node: ClusterDeployment) -> None:
    """A cluster is found by CLUSTER SLOTS and nothing else besides; its absence is named."""
    url = one_node.url.replace("//", "//keeper:pw@")
    grants = [f"+{name.lower()}" for name in STORE_COMMANDS]
    with Redis(unix_socket_path=str(one_node.servers[0].socket)) as admin:
        admin.execute_command("ACL", "SETUSER", "keeper", "on", ">pw", "~ezra:*", "-@all", *grants)
        with pytest.raises(ConfigError, match=r"cluster\|slots"):
            async with redis_hot_store(url):
                pass
        assert "cluster|slots" in (await redis_health(url)).problems[0]
        admin.execute_command("ACL", "SETUSER", "keeper", "+cluster|slots")
        admin.acl_log_reset()
        async with redis_hot_store(url) as store:
            await walk(store, 30)
        assert admin.acl_log() == []
        assert (await redis_health(url)).problems == ()
        admin.flushall()
