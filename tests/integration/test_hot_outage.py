"""The hot tier when its server is away, slow, restarted, refusing, or holds what it should not."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from redis.asyncio import Redis
from redis.exceptions import ConnectionError, RedisError  # noqa: A004 - the driver's own class
from support.held import held
from support.redis_server import RedisServer, running_redis
from support.tier_samples import belief_of, mesh_of, scope_of, turn_of

from tiers.errors import (
    ConfigError,
    CorruptRecord,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)
from tiers.hot import RedisHotStore, redis_hot_store
from tiers.records import HotState

SCOPE = scope_of()


server = held(running_redis)
"""A Redis of its own for each test, since most of them hurt it."""


@pytest.fixture
async def store(server: RedisServer) -> AsyncIterator[RedisHotStore]:
    """A store whose client waits as long as a busy machine needs."""
    async with redis_hot_store(server.url, timeout_seconds=10.0) as opened:
        yield opened


@pytest.fixture
async def impatient(server: RedisServer) -> AsyncIterator[RedisHotStore]:
    """A store for a server that will not answer."""
    async with redis_hot_store(server.url, timeout_seconds=1.0) as opened:
        yield opened


def _raw(store: RedisHotStore) -> tuple[Redis, str]:
    assert isinstance(store._client, Redis)
    return store._client, store._key(SCOPE, "test")


async def test_no_server_is_unavailable(tmp_path: object) -> None:
    """Opening says at once that nobody answers, with the cause chained."""
    with pytest.raises(TierUnavailable) as caught:
        async with redis_hot_store(f"unix://{tmp_path}/nobody.sock"):
            pass
    assert isinstance(caught.value.__cause__, ConnectionError)
    assert (caught.value.tier, caught.value.operation) == ("hot", "open")


async def test_store_may_be_opened_before_its_server(server: RedisServer) -> None:
    """Where a cache need not be there at the start, its calls fail until it is."""
    server.kill()
    async with redis_hot_store(server.url, must_answer=False) as store:
        with pytest.raises(TierUnavailable):
            await store.read(SCOPE)
        server.start()
        assert await store.append(SCOPE, turn_of(SCOPE, 1), 8) == ()


async def test_killed_server_is_unavailable_and_comes_back(
    server: RedisServer, store: RedisHotStore
) -> None:
    """After a crash and a restart the same store works again, empty, scripts included."""
    await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    server.kill()
    for call in (store.append(SCOPE, turn_of(SCOPE, 2), 8), store.read(SCOPE)):
        with pytest.raises(TierUnavailable):
            await call
    server.start()
    assert await store.read(SCOPE) == HotState()
    assert await store.append(SCOPE, turn_of(SCOPE, 2), 8) == ()


async def test_restart_behind_an_idle_connection_is_not_noticed(
    server: RedisServer, store: RedisHotStore
) -> None:
    """A connection that broke while idle is replaced within the call."""
    await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    server.kill()
    server.start()
    assert await store.append(SCOPE, turn_of(SCOPE, 2), 8) == ()


async def test_frozen_server_times_out(server: RedisServer, impatient: RedisHotStore) -> None:
    """A server that accepts and never answers costs the timeout once, not that of three tries."""
    await impatient.append(SCOPE, turn_of(SCOPE, 1), 8)
    with server.frozen():
        started = time.monotonic()
        with pytest.raises(TierTimeout):
            await impatient.read(SCOPE)
        assert time.monotonic() - started < 2.9
    assert len((await impatient.read(SCOPE)).turns) == 1


async def test_paused_writes_time_out_and_may_be_repeated(
    store: RedisHotStore, impatient: RedisHotStore
) -> None:
    """A write whose outcome is unknown is safe to repeat."""
    client, _ = _raw(store)
    await client.client_pause(60_000, all=False)
    with pytest.raises(TierTimeout):
        await impatient.append(SCOPE, turn_of(SCOPE, 1), 8)
    await client.client_unpause()
    await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    assert len((await store.read(SCOPE)).turns) == 1


async def test_cancelled_call_leaves_a_working_store(
    server: RedisServer, store: RedisHotStore
) -> None:
    """Cancellation passes through, and no later call reads the answer of the cancelled one."""
    await store.put_mesh(SCOPE, mesh_of("m"))
    with server.frozen():
        task = asyncio.create_task(store.read(SCOPE))
        await asyncio.sleep(0.02)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    other = scope_of(agent_id="other")
    assert await store.read(other) == HotState()


async def test_forgotten_scripts_are_sent_again(store: RedisHotStore) -> None:
    """NOSCRIPT, after a restart or SCRIPT FLUSH, is repaired inside the call."""
    await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    client, _ = _raw(store)
    await client.script_flush()
    assert await store.append(SCOPE, turn_of(SCOPE, 2), 1) == (turn_of(SCOPE, 1),)


async def test_a_known_script_is_one_round_trip(store: RedisHotStore) -> None:
    """After the first call a script travels by its digest, one command per call."""
    client, _ = _raw(store)
    for seq in range(1, 12):
        await store.append(SCOPE, turn_of(SCOPE, seq), 8)
    stats = await client.info("commandstats")
    assert stats["cmdstat_eval"]["calls"] == 1
    assert stats["cmdstat_evalsha"]["calls"] == 11


async def test_unreadable_record_is_reported_and_can_be_cleared(store: RedisHotStore) -> None:
    """Garbage in the hash is a CorruptRecord that names the operation; clearing repairs it."""
    client, key = _raw(store)
    await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    await client.hset(key, "turn:1", "{not json")
    with pytest.raises(CorruptRecord, match="read"):
        await store.read(SCOPE)
    await store.clear(SCOPE)
    assert await store.read(SCOPE) == HotState()


async def test_unreadable_evicted_turn_is_reported_once(store: RedisHotStore) -> None:
    """A corrupt turn that leaves the ring raises then, and is gone afterwards."""
    client, key = _raw(store)
    await store.append(SCOPE, turn_of(SCOPE, 1), 1)
    await client.hset(key, "turn:1", "{not json")
    with pytest.raises(CorruptRecord, match="append"):
        await store.append(SCOPE, turn_of(SCOPE, 2), 1)
    assert [turn.seq for turn in (await store.read(SCOPE)).turns] == [2]


async def test_bytes_that_are_no_text_are_corrupt(server: RedisServer) -> None:
    """With a decoding client too, bytes that are not UTF-8 are a CorruptRecord."""
    async with Redis.from_url(server.url, decode_responses=True) as client:
        store = RedisHotStore(client)
        raw = Redis.from_url(server.url)
        await raw.hset(store._key(SCOPE, "test"), "mesh", b"\xff\xfe")
        await raw.aclose()
        with pytest.raises(CorruptRecord):
            await store.read(SCOPE)


async def test_key_of_another_type_is_rejected(store: RedisHotStore) -> None:
    """What the server refuses is a TierRejected with the driver's error as its cause."""
    client, key = _raw(store)
    await client.set(key, "somebody else's")
    for call in (store.read(SCOPE), store.append(SCOPE, turn_of(SCOPE, 1), 8)):
        with pytest.raises(TierRejected) as caught:
            await call
        assert isinstance(caught.value.__cause__, RedisError)


async def test_full_server_rejects_writes_and_still_reads(store: RedisHotStore) -> None:
    """Out of memory is a refusal of writes, not an outage, and takes nothing away."""
    client, _ = _raw(store)
    await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    await client.config_set("maxmemory", 1)
    for scope in (SCOPE, scope_of(user_id="ada"), scope_of(agent_id="new")):
        with pytest.raises(TierRejected, match="maxmemory"):
            await store.append(scope, turn_of(scope, 2), 8)
    assert (await store.read(SCOPE)).turns == (turn_of(SCOPE, 1),)


@pytest.mark.parametrize("login", ["", ":wrong@"], ids=["no password", "wrong password"])
async def test_refused_login_is_a_config_error(server: RedisServer, login: str) -> None:
    """A URL that is not let in names the setting, and repeats no password."""
    async with Redis.from_url(server.url) as admin:
        await admin.config_set("requirepass", "secret")
    with pytest.raises(ConfigError) as caught:
        async with redis_hot_store(f"unix://{login}{server.socket}"):
            pass
    assert caught.value.key == "EZRA_REDIS_URL"
    assert isinstance(caught.value.__cause__, TierRejected)
    assert "wrong@" not in str(caught.value)


async def test_password_changed_behind_an_open_store_is_rejected(server: RedisServer) -> None:
    """A login refused later is not called an outage: repeating it changes nothing."""
    async with redis_hot_store(server.url) as store, Redis.from_url(server.url) as admin:
        await admin.config_set("requirepass", "secret")
        await admin.client_kill_filter(_type="normal", skipme=True)
        with pytest.raises(TierRejected, match="login"):
            await store.read(SCOPE)


async def test_more_calls_than_connections_wait_their_turn(server: RedisServer) -> None:
    """The pool is bounded, callers queue, and everything is checked in again."""
    async with redis_hot_store(server.url, connections_max=2) as store:
        await asyncio.gather(
            *(store.pin(SCOPE, belief_of(SCOPE, f"b{number}")) for number in range(100))
        )
        client, _ = _raw(store)
        clients = await client.client_list()
        assert len(clients) <= 2
        assert not client.connection_pool._in_use_connections
        assert len((await store.read(SCOPE)).pinned) == 100


async def test_closing_the_store_closes_its_connections(server: RedisServer) -> None:
    """A store opened from a URL leaves nothing connected."""
    async with Redis.from_url(server.url) as admin:
        async with redis_hot_store(server.url) as store:
            await store.put_mesh(SCOPE, mesh_of("m"))
            assert len(await admin.client_list()) == 2
        async with asyncio.timeout(10.0):  # the server notices a closed socket in its own time
            while len(await admin.client_list()) > 1:  # noqa: ASYNC110 - Redis tells nobody
                await asyncio.sleep(0.01)


@pytest.mark.parametrize("decode", [True, False])
async def test_store_leaves_a_given_client_open(server: RedisServer, *, decode: bool) -> None:
    """Whoever makes a client closes it, and it may decode answers or not."""
    async with Redis.from_url(server.url, decode_responses=decode) as client:
        async with RedisHotStore(client) as store:
            await store.append(SCOPE, turn_of(SCOPE, 1), 8)
            await store.pin(SCOPE, belief_of(SCOPE, "b"))
            assert await store.append(SCOPE, turn_of(SCOPE, 2), 1) == (turn_of(SCOPE, 1),)
            state = await store.read(SCOPE)
        assert [turn.seq for turn in state.turns] == [2]
        assert len(state.pinned) == 1
        assert await client.ping()


async def test_lost_fake_server_is_unavailable() -> None:
    """The emulator's own outage maps to the same error."""
    server = FakeServer(version=(7,))
    async with FakeAsyncRedis(server=server) as client:
        store = RedisHotStore(client)
        server.connected = False
        with pytest.raises(TierUnavailable):
            await store.read(SCOPE)


@pytest.mark.parametrize("url", ["http://localhost", "redis://:hunter2@host:port", ""])
async def test_wrong_address_is_a_config_error(url: str) -> None:
    """A URL of another scheme names the setting and never shows what may hold a password."""
    with pytest.raises(ConfigError) as caught:
        async with redis_hot_store(url):
            pass
    assert caught.value.key == "EZRA_REDIS_URL"
    assert "hunter2" not in str(caught.value)


@pytest.mark.parametrize(("prefix", "ttl_seconds"), [("a{b", 60), ("", 60), ("ezra", 0)])
async def test_wrong_settings_are_refused(prefix: str, ttl_seconds: float) -> None:
    """A prefix that breaks the hash tag, or no time to live, is refused at construction."""
    async with FakeAsyncRedis() as client:
        with pytest.raises(UsageError):
            RedisHotStore(client, prefix=prefix, ttl_seconds=ttl_seconds)


def test_every_failure_is_a_tier_error() -> None:
    """Callers may catch one class for whatever the engine does."""
    for kind in (TierUnavailable, TierTimeout, TierRejected, CorruptRecord):
        assert issubclass(kind, TierError)
