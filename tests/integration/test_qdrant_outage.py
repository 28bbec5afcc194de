"""The warm tier when its server is away, slow, restarted, refusing, or answers nonsense."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import AsyncIterator, Iterator

import httpx
import pytest
from qdrant_client import AsyncQdrantClient
from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
from support.qdrant_shim import Fault, QdrantShim, running_shim
from support.tier_samples import DIMENSIONS, NOW, entry_of, query_of, record_id, scope_of

from tiers.errors import (
    ConfigError,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)
from tiers.upkeep import Generation
from tiers.warm.qdrant_calls import TRIES_MAX
from tiers.warm.qdrant_indexes import QdrantGenerations
from tiers.warm.qdrant_opening import qdrant_generations
from tiers.warm.qdrant_options import QdrantOptions
from tiers.warm.qdrant_store import QdrantWarmStore, qdrant_warm_store

SCOPE = scope_of()
KEY = "hunter2-of-the-server"
IMPATIENT = QdrantOptions(timeout_seconds=2.0)
PATIENT = QdrantOptions(timeout_seconds=30)  # for what is refused at once, however busy we are
WORDS = "the words of a stored record"


@pytest.fixture
def server(shim: QdrantShim) -> Iterator[QdrantShim]:
    """A server that is well and empty at the beginning of each test."""
    yield shim
    shim.heal()


@pytest.fixture
async def store(server: QdrantShim) -> AsyncIterator[QdrantWarmStore]:
    """A store with an impatient client and one entry."""
    async with qdrant_warm_store(server.url, dimensions=DIMENSIONS, options=IMPATIENT) as opened:
        await opened.upsert(SCOPE, [entry_of(SCOPE, 1)])
        server.requests.clear()
        yield opened


def _shown(error: BaseException) -> str:
    """Return all that a log would hold: the error, its causes, and what they were raised over."""
    contexts = []
    found: BaseException | None = error
    while found is not None:
        contexts += [repr(found), str(found)]
        found = found.__cause__ or found.__context__
    return "".join([*traceback.format_exception(error), *contexts])


async def test_no_server_is_unavailable(server: QdrantShim) -> None:
    """Opening an index says that nobody answers, with the cause chained."""
    server.stop()
    with pytest.raises(TierUnavailable, match="cannot be reached") as caught:
        async with qdrant_warm_store(server.url, dimensions=DIMENSIONS, options=PATIENT):
            pass
    assert isinstance(caught.value.__cause__, httpx.ConnectError)
    assert (caught.value.tier, caught.value.operation) == ("warm", "open")


async def test_opening_generations_sends_nothing(server: QdrantShim) -> None:
    """A runtime can be built while the server is away; the first call says so."""
    server.stop()
    async with qdrant_generations(server.url, options=IMPATIENT) as generations:
        with pytest.raises(TierUnavailable):
            await generations.generations("acme")
        server.start()
        assert await generations.generations("acme") == ()


async def test_stopped_server_is_unavailable_and_comes_back(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Every call says so, and after the restart the same store works on the same data."""
    server.stop()
    for call in (
        store.upsert(SCOPE, [entry_of(SCOPE, 2)]),
        store.search(SCOPE, query_of()),
        store.delete(SCOPE, [record_id(1)]),
        store.delete_expired(SCOPE, NOW),
        store.count(SCOPE),
        store.export_entries("acme", "", 10),
    ):
        with pytest.raises(TierUnavailable):
            await call
    server.start()
    assert await store.count(SCOPE) == 1
    await store.upsert(SCOPE, [entry_of(SCOPE, 2)])
    assert len(await store.search(SCOPE, query_of())) == 2


async def test_outage_in_the_middle_of_a_run_loses_nothing_acknowledged(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """A writer that repeats what failed has everything in the end."""

    async def written(number: int) -> int:
        for failures in range(200):
            try:
                await store.upsert(SCOPE, [entry_of(SCOPE, number)])
            except TierError:
                await asyncio.sleep(0.01)
            else:
                return failures
        raise AssertionError(number)

    async def outage() -> None:
        await asyncio.sleep(0.05)
        await asyncio.to_thread(server.stop)
        await asyncio.sleep(0.3)
        server.start()

    async def writer() -> int:
        return sum([await written(number) for number in range(100)])

    ended = asyncio.create_task(outage())
    failures = await writer()
    while not ended.done():
        failures += await written(1)
    await ended
    assert failures, "the outage was not felt"
    assert await store.count(SCOPE) == 100


async def test_restart_behind_an_idle_connection_is_not_noticed(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """A connection that broke while idle is replaced within the call."""
    server.stop()
    server.start()
    assert await store.count(SCOPE) == 1


async def test_frozen_server_times_out(server: QdrantShim, store: QdrantWarmStore) -> None:
    """A server that accepts and never answers costs the timeout once, not a multiple of it."""
    with server.frozen(), pytest.raises(TierTimeout, match=r"within 2\.0 s"):
        await store.search(SCOPE, query_of())
    assert len(server.requests) == 1
    assert len(await store.search(SCOPE, query_of())) == 1


async def test_write_of_unknown_outcome_may_be_repeated(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Whether the late write was carried out or not, repeating ends the same."""
    with server.frozen(), pytest.raises(TierTimeout):
        await store.upsert(SCOPE, [entry_of(SCOPE, 2)])
    await store.upsert(SCOPE, [entry_of(SCOPE, 2)])
    assert await store.count(SCOPE) == 2


async def test_cancelled_call_leaves_a_working_store(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Cancellation passes through, and no later call reads the answer of the cancelled one."""
    with server.frozen():
        task = asyncio.create_task(store.count(SCOPE))
        while not server.requests:  # noqa: ASYNC110 - another thread sees it arrive
            await asyncio.sleep(0.002)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    assert await store.count(scope_of(graph_id="other")) == 0


async def test_busy_server_is_asked_again(server: QdrantShim, store: QdrantWarmStore) -> None:
    """What says that it passes is tried again, so often and no more."""
    with server.failing(Fault(503, times=TRIES_MAX - 1)):
        assert await store.count(SCOPE) == 1
    assert len(server.requests) == TRIES_MAX
    server.requests.clear()
    with server.failing(Fault(503)), pytest.raises(TierUnavailable, match="503"):
        await store.count(SCOPE)
    assert len(server.requests) == TRIES_MAX


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        (Fault(500), TierUnavailable),
        (Fault(504), TierTimeout),
        (Fault(408), TierTimeout),
        (Fault(400), TierRejected),
        (Fault(413), TierRejected),
        (Fault(422), TierRejected),
        (Fault(501), TierRejected),
        (Fault(429, headers=(("retry-after", "60"),)), TierUnavailable),
        (Fault(429, headers=(("retry-after", "Tue, 03 Mar 2026 12:00:00 GMT"),)), TierUnavailable),
        (Fault(301, headers=(("location", "http://127.0.0.1:1/"),)), TierRejected),
    ],
    ids=lambda value: str(getattr(value, "status", "")),
)
async def test_what_does_not_pass_is_asked_once(
    server: QdrantShim, store: QdrantWarmStore, fault: Fault, kind: type[TierError]
) -> None:
    """Each refusal has its error, with the status, the driver's class as cause, and one request."""
    with server.failing(fault), pytest.raises(kind) as caught:
        await store.count(SCOPE)
    assert len(server.requests) == 1
    assert caught.value.__cause__ is not None
    assert await store.count(SCOPE) == 1


async def test_short_waits_that_a_server_asks_for_are_kept(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Too many requests, with a wait that fits: the call succeeds by itself."""
    with server.failing(Fault(429, headers=(("retry-after", "0"),), times=1)):
        assert await store.count(SCOPE) == 1
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "fault",
    [
        Fault(body=f'{{"result": {{"count": "{WORDS}"}}}}', cut=True),
        Fault(body=WORDS),
        Fault(body=""),
        Fault(body="{}"),
        Fault(body='{"result": null}'),
        Fault(body=f'{{"result": {{"count": "{WORDS}"}}}}'),
        Fault(body=f'["{WORDS}"]'),
        Fault(400, WORDS),
        Fault(500, WORDS),
        Fault(503, WORDS),
        Fault(429, WORDS, headers=(("retry-after", "60"),)),
        Fault(401, WORDS),
    ],
    ids=[
        "cut short",
        "no json",
        "empty",
        "no result",
        "null",
        "other type",
        "list",
        "400",
        "500",
        "503",
        "429",
        "401",
    ],
)
async def test_nothing_of_an_answer_gets_into_an_error(
    server: QdrantShim, store: QdrantWarmStore, fault: Fault
) -> None:
    """Answers may repeat records: no error, cause or context holds a word of them."""
    with server.failing(fault), pytest.raises((TierError, ConfigError)) as caught:
        await store.count(SCOPE)
    assert WORDS not in _shown(caught.value)
    assert caught.value.__cause__ is not None
    assert await store.count(SCOPE) == 1


async def test_answers_that_make_no_sense_name_the_address(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Another program's answers are an outage, with where to look."""
    with (
        server.failing(Fault(body="<html>It works!</html>")),
        pytest.raises(TierUnavailable, match="EZRA_QDRANT_URL") as caught,
    ):
        await store.search(SCOPE, query_of())
    assert isinstance(caught.value.__cause__, ResponseHandlingException)


async def test_write_that_is_only_acknowledged_is_late(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """A server that stopped waiting for itself answers 200; the write may not be found yet."""
    for status in ("acknowledged", "wait_timeout"):
        body = f'{{"result": {{"operation_id": 1, "status": "{status}"}}}}'
        with server.failing(Fault(body=body)), pytest.raises(TierTimeout, match=status):
            await store.upsert(SCOPE, [entry_of(SCOPE, 2)])


@pytest.mark.parametrize("given", [None, "wrong-" + KEY], ids=["no key", "wrong key"])
async def test_refused_key_is_a_config_error(given: str | None) -> None:
    """The setting is named, and neither key is shown."""
    with running_shim(api_key=KEY) as server:
        with pytest.raises(ConfigError) as caught:
            async with qdrant_warm_store(server.url, api_key=given, dimensions=DIMENSIONS):
                pass
        assert len(server.requests) == 2, "the root page, which needs no key, and one try"
        async with qdrant_warm_store(server.url, api_key=KEY, dimensions=DIMENSIONS) as store:
            await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
            assert KEY not in repr(store)
    assert caught.value.key == "EZRA_QDRANT_API_KEY"
    assert isinstance(caught.value.__cause__, UnexpectedResponse)
    assert KEY not in _shown(caught.value)


async def test_key_changed_on_the_server_is_a_config_error(
    server: QdrantShim, store: QdrantWarmStore
) -> None:
    """Also in the middle of a run, and the store works again with the key it has."""
    server.api_key = KEY
    with pytest.raises(ConfigError, match="EZRA_QDRANT_API_KEY"):
        await store.search(SCOPE, query_of())
    server.api_key = None
    assert len(await store.search(SCOPE, query_of())) == 1


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:6333",
        "redis://localhost",
        "http://",
        "http://host:port",
        "http://host:0",
        "http://user:hunter2@host",
        "http://host/?api_key=hunter2",
        "http://ho st",
        "http://[::1",
        "http://host\n",
    ],
)
async def test_wrong_address_is_a_config_error(url: str) -> None:
    """The setting is named, and the URL, which may hold a password, is not shown."""
    with pytest.raises(ConfigError) as caught:
        async with qdrant_generations(url):
            pass
    assert caught.value.key == "EZRA_QDRANT_URL"
    assert "hunter2" not in _shown(caught.value)


@pytest.mark.parametrize("key", [f"{KEY}\n", f"{KEY} ", f"{KEY}é", "\x00"])
async def test_key_that_no_header_carries_is_a_config_error(key: str) -> None:
    """The driver would quote it; here only the setting is named."""
    with pytest.raises(ConfigError) as caught:
        async with qdrant_generations("http://localhost", api_key=key):
            pass
    assert caught.value.key == "EZRA_QDRANT_API_KEY"
    assert KEY not in _shown(caught.value)


@pytest.mark.parametrize(
    "fields",
    [
        {"shard_number": 0},
        {"replication_factor": -1},
        {"quantization": "product"},
        {"rrf_k": 0},
        {"overfetch": 0},
        {"timeout_seconds": 0},
        {"connections_max": 0},
    ],
    ids=lambda fields: next(iter(fields)),
)
def test_wrong_options_are_refused(fields: dict[str, int]) -> None:
    """The error names the option."""
    with pytest.raises(UsageError, match=next(iter(fields))):
        QdrantOptions(**fields)


@pytest.mark.parametrize("version", ["1.18.3", "0.11.0", "nightly", ""])
async def test_old_server_is_a_config_error(server: QdrantShim, version: str) -> None:
    """A server that counts everybody's words is refused, with the needed version."""
    server.version = version
    with pytest.raises(ConfigError, match=r"1\.19"):
        async with qdrant_warm_store(server.url, prefix="old", dimensions=DIMENSIONS):
            pass
    assert not [name for name in server.collections if name.startswith("old")]


async def test_later_server_is_welcome(server: QdrantShim) -> None:
    """Of a version not known yet."""
    server.version = "2.0.0-dev"
    async with qdrant_warm_store(server.url, dimensions=DIMENSIONS) as store:
        assert await store.count(SCOPE) == 0


async def test_vanished_collection_is_rejected(server: QdrantShim, store: QdrantWarmStore) -> None:
    """Somebody removed it: said as it is, and not repeated."""
    server.collections.popitem()[1].close()
    with pytest.raises(TierRejected, match="does not exist"):
        await store.search(SCOPE, query_of())
    mark = Generation(model_id=None, dimensions=DIMENSIONS, marked_at=NOW)
    async with qdrant_generations(server.url) as generations:
        with pytest.raises(TierRejected, match="does not exist"):
            await generations.mark("acme", mark)


async def test_more_calls_than_connections_wait_their_turn(server: QdrantShim) -> None:
    """The pool is bounded and callers queue."""
    options = QdrantOptions(connections_max=2, timeout_seconds=20)
    async with qdrant_warm_store(server.url, dimensions=DIMENSIONS, options=options) as store:
        await asyncio.gather(
            *(store.upsert(SCOPE, [entry_of(SCOPE, number)]) for number in range(60))
        )
        assert await store.count(SCOPE) == 60


async def test_store_leaves_a_given_client_open(server: QdrantShim) -> None:
    """Whoever makes a client closes it."""
    client = AsyncQdrantClient(url=server.url, check_compatibility=False)
    async with qdrant_warm_store(client, dimensions=DIMENSIONS) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
    async with QdrantGenerations(client).opened(None, DIMENSIONS) as again:
        assert await again.count(SCOPE) == 1
    assert (await client.get_collections()).collections
    await client.close()


async def test_nothing_is_left_running(server: QdrantShim) -> None:
    """After the block no task of ours exists, also when the block was left by an error."""
    with pytest.raises(ZeroDivisionError):
        async with qdrant_warm_store(server.url, dimensions=DIMENSIONS):
            raise ZeroDivisionError
    assert asyncio.all_tasks() == {asyncio.current_task()}
