"""The hot tier on a master that Sentinel names: logins, failover, and what happens in between."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest
from redis import Redis
from support.held import held
from support.hot_backends import walk
from support.processes import wait_until
from support.redis_deployments import SERVICE, SentinelDeployment, free_ports, running_sentinel
from support.tier_samples import belief_of, scope_of, turn_of

from tiers.errors import ConfigError, TierError, TierTimeout, TierUnavailable
from tiers.hot import RedisHotStore, redis_health, redis_hot_store, scripts

SCOPE = scope_of()
FAILOVER_SECONDS = 30.0
PATIENT_SECONDS = 10.0
"""What a busy machine may take for an answer that comes."""


deployment = held(running_sentinel)
"""Two servers and a Sentinel of their own for each test, since most of them hurt them."""


async def test_every_operation_goes_to_the_master(deployment: SentinelDeployment) -> None:
    """A Sentinel that is not there is passed over, and the replica follows."""
    async with redis_hot_store(deployment.url(), prefix="walk") as store:
        await walk(store, 60)
    with Redis(unix_socket_path=str(deployment.servers[0].socket)) as master:
        assert master.dbsize() > 0
    health = await redis_health(deployment.url())
    assert health.problems == ()
    assert (health.details["kind"], health.details["role"]) == ("sentinel", "master")
    assert health.details["replicas"] == 1


async def _appended_until(
    store: RedisHotStore, first: int, done: Callable[[], bool]
) -> tuple[int, list[TierError]]:
    """Append until it works and ``done``; return the last ``seq`` and what went wrong before."""
    errors: list[TierError] = []
    async with asyncio.timeout(FAILOVER_SECONDS):
        for seq in range(first, 1_000_000):
            try:
                await store.append(SCOPE, turn_of(SCOPE, seq), 4)
            except TierError as error:
                errors.append(error)
            else:
                if await asyncio.to_thread(done):
                    return seq, errors
            await asyncio.sleep(0.01)
    raise AssertionError("unreachable")


def _only_passing(errors: list[TierError]) -> bool:
    return all(isinstance(error, TierUnavailable | TierTimeout) for error in errors)


async def test_failover_on_request(deployment: SentinelDeployment) -> None:
    """The same store goes on with the new master, which knows none of its scripts.

    A busy store: every connection of the pool has been used with the old master.
    """
    agents = [scope_of(agent_id=f"agent{number}") for number in range(32)]
    with Redis(unix_socket_path=str(deployment.servers[1].socket)) as heir:
        heir.script_flush()
        async with redis_hot_store(deployment.url(), timeout_seconds=PATIENT_SECONDS) as store:
            await asyncio.gather(*(store.append(agent, turn_of(agent, 1), 4) for agent in agents))
            wait_until(lambda: heir.dbsize() == len(agents), "the replica to have everything")
            deployment.fail_over()
            _, errors = await _appended_until(
                store, 1, lambda: heir.role()[0] == b"master" and _is_new(heir)
            )
            assert _only_passing(errors)
            await asyncio.gather(*(store.append(agent, turn_of(agent, 2), 4) for agent in agents))
        for agent in agents:
            key = f"ezra:{{acme/race/{agent.agent_id}}}:hot"
            assert set(heir.hkeys(key)) == {b"turn:1", b"turn:2", b"view"}


async def test_old_master_that_goes_on_is_left(deployment: SentinelDeployment) -> None:
    """Healthy connections to a server that is the master no longer are given up.

    What Sentinel calls the master changes while the old one lives on, unaware of it.
    """
    with (
        running_sentinel() as other,
        Redis(unix_socket_path=str(other.servers[0].socket)) as heir,
        Redis(unix_socket_path=str(deployment.sentinel.socket)) as sentinel,
    ):
        async with redis_hot_store(deployment.url()) as store:
            await asyncio.gather(*(store.append(SCOPE, turn_of(SCOPE, 1), 4) for _ in range(8)))
            sentinel.sentinel_remove(SERVICE)
            sentinel.sentinel_monitor(SERVICE, "127.0.0.1", other.ports[0], 1)
            _, errors = await _appended_until(store, 2, lambda: _is_new(heir))
            assert errors == []


def _is_new(heir: Redis) -> bool:
    """Whether appends go to this server: the scripts are known to whoever has run them."""
    return any(heir.script_exists(scripts.APPEND.sha))


async def test_failover_after_a_crash(deployment: SentinelDeployment) -> None:
    """The master dies: errors are ours and pass, and what the replica had is still there."""
    async with redis_hot_store(deployment.url(), timeout_seconds=PATIENT_SECONDS) as store:
        await store.pin(SCOPE, belief_of(SCOPE, "b"))
        await store.append(SCOPE, turn_of(SCOPE, 1), 4)
        with Redis(unix_socket_path=str(deployment.servers[1].socket)) as heir:
            wait_until(lambda: heir.hlen(store._key(SCOPE, "test")) == 3, "the replica to follow")
        deployment.servers[0].kill()
        last, errors = await _appended_until(store, 2, lambda: deployment.master() == 1)
        assert errors
        assert _only_passing(errors)
        state = await store.read(SCOPE)
        assert [pin.id for pin in state.pinned] == ["b"]
        assert state.turns[-1].seq == last


async def test_master_demoted_under_the_store_is_left(deployment: SentinelDeployment) -> None:
    """A master that turns read-only while connected is an outage that passes, not a refusal."""
    async with redis_hot_store(
        deployment.url(), timeout_seconds=PATIENT_SECONDS, retries_max=0
    ) as store:
        await store.append(SCOPE, turn_of(SCOPE, 1), 4)
        with Redis(unix_socket_path=str(deployment.servers[0].socket)) as master:
            master.replicaof("127.0.0.1", deployment.ports[1])
            with pytest.raises(TierUnavailable):
                await store.append(SCOPE, turn_of(SCOPE, 2), 4)
            master.replicaof("NO", "ONE")
        assert await store.append(SCOPE, turn_of(SCOPE, 2), 4) == ()


async def test_unknown_master_is_unavailable(deployment: SentinelDeployment) -> None:
    """Sentinel may learn of it later; the message says which name it does not know."""
    url = deployment.url().replace("ezra-master", "nobody")
    with pytest.raises(TierUnavailable, match="no master in good health named 'nobody'"):
        async with redis_hot_store(url):
            pass
    health = await redis_health(url)
    assert not health.reachable
    assert "nobody" in health.problems[0]


async def test_no_sentinel_is_unavailable() -> None:
    """When none answers, the reason is why, not that there is no master."""
    one, two = free_ports(2)
    with pytest.raises(TierUnavailable, match="Connect call failed"):
        async with redis_hot_store(f"redis+sentinel://127.0.0.1:{one},127.0.0.1:{two}/main"):
            pass


async def test_hanging_sentinel_leaves_time_for_the_next(deployment: SentinelDeployment) -> None:
    """One that accepts and never answers costs a part of the time, once."""
    with running_sentinel() as other, other.sentinel.frozen():
        hosts = f"127.0.0.1:{other.sentinel_port},127.0.0.1:{deployment.sentinel_port}"
        url = f"redis+sentinel://{hosts}/ezra-master"
        async with redis_hot_store(url, timeout_seconds=4.5) as store:
            assert await store.append(SCOPE, turn_of(SCOPE, 1), 4) == ()


async def test_sentinel_has_logins_of_its_own() -> None:
    """The URL's user is for the servers; Sentinel's come as options, with few rights."""
    server = ("--requirepass", "data secret", "--masterauth", "data secret")
    sentinel = (
        'sentinel auth-pass ezra-master "data secret"\n'
        "user default off\n"
        "user watcher on >watch-secret resetchannels -@all +ping +sentinel|masters\n"
        "user admin on nopass ~* &* +@all\n"
    )
    with running_sentinel(server, sentinel, sentinel_user="admin") as deployment:
        login = ":data%20secret@"
        options = "?sentinel_username=watcher&sentinel_password=watch-secret"
        async with redis_hot_store(deployment.url(login, options)) as store:
            assert await store.append(SCOPE, turn_of(SCOPE, 1), 4) == ()
        for wrong in (
            deployment.url(":wrong@", options),
            deployment.url(login),
            deployment.url(login, options.replace("watch-", "wrong-")),
        ):
            with pytest.raises(ConfigError, match="login") as caught:
                async with redis_hot_store(wrong):
                    pass
            assert "secret" not in str(caught.value)


@pytest.mark.parametrize("target", ["sentinel", "replica"])
async def test_url_of_one_server_to_the_wrong_one_says_so(
    deployment: SentinelDeployment, target: str
) -> None:
    """A Sentinel or a replica behind redis:// is named, and what to use instead."""
    port = deployment.sentinel_port if target == "sentinel" else deployment.ports[1]
    said = "redis\\+sentinel://" if target == "sentinel" else "replica"
    with pytest.raises(ConfigError, match=said):
        async with redis_hot_store(f"redis://127.0.0.1:{port}"):
            pass
    health = await redis_health(f"redis://127.0.0.1:{port}")
    assert health.reachable
    assert health.problems
