"""The backends under attack: opened, planted, attacked through their ports, read behind them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from tiers.hot import embedded_hot_store, redis_hot_store
from tiers.records import Scope, Work

from ..cold_backends import COLD_BACKENDS
from ..cold_mongo import server as mongo_server
from ..qdrant_shim import shared_shim
from ..redis_server import running_redis
from ..warm_backends import WARM_BACKENDS
from .attempts import Method
from .belief_moves import BELIEF_METHODS
from .board_moves import BOARD_METHODS
from .cold_fleet import COLD_FLEET
from .cold_grains import COLD_GRAINS
from .cold_learning import COLD_KNOWLEDGE, COLD_LEARNING
from .cold_reads import COLD_READS
from .cold_shelf import COLD_SHELF
from .cold_writes import COLD_WRITES, VECTOR_METHODS
from .hot_moves import HOT_METHODS
from .planting import plant_cold, plant_hot, plant_warm
from .quarantine_moves import QUARANTINE_METHODS
from .raw import LocalPoints, Raw, kept_raw, mongo_raw, redis_raw, shard_raw, sqlite_raw
from .sight_moves import COLD_SIGHTS, WARM_SIGHTS
from .warm_moves import WARM_METHODS
from .worlds import World

COLD_METHODS = (
    *(*COLD_READS, *COLD_WRITES, *BELIEF_METHODS, *BOARD_METHODS),
    *(*COLD_FLEET, *COLD_GRAINS, *COLD_LEARNING, *COLD_KNOWLEDGE, *COLD_SHELF),
    *(*QUARANTINE_METHODS, *COLD_SIGHTS),
)
MONGO_METHODS = (*COLD_METHODS, *VECTOR_METHODS)
_WARM_METHODS = (*WARM_METHODS, *WARM_SIGHTS)

Reader = Callable[[], Awaitable[Raw]]
Counts = Callable[[Any, Scope], Awaitable[dict[str, int]]]


@dataclass(frozen=True)
class Target:
    """An open backend with a world in it.

    Attributes:
        ports: What attempts call.
        raw: Reads everything behind it.
    """

    ports: Any
    raw: Reader


Opener = Callable[[World, Path], AbstractAsyncContextManager[Target]]


@dataclass(frozen=True)
class Bench:
    """One row of the table of backends.

    Attributes:
        name: Shown as the test's parameter and in the report.
        tier: ``hot``, ``warm`` or ``cold``.
        methods: By which it is attacked.
        opened: Opens it in a folder and plants a world.
        counts: What it says that a scope's graph holds, by table.
        houses_max: The most houses that a world for it may have, where it is slow.
    """

    name: str
    tier: str
    methods: Sequence[Method]
    opened: Opener
    counts: Counts
    houses_max: int = 1_000


class ColdPorts:
    """Every port of the cold tier, and work that is under way.

    Attributes:
        held: Items that the graphs of the world have claimed.
        parked: Items that are parked.
    """

    def __init__(self, stores: Any, held: Sequence[Work], parked: Sequence[Work]) -> None:
        self._stores = stores
        self.held = held
        self.parked = parked

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stores, name)


@asynccontextmanager
async def _in_process(world: World, _folder: Path) -> AsyncIterator[Target]:
    async with embedded_hot_store() as store:
        await plant_hot(store, world)
        yield Target(store, _at_once(lambda: kept_raw(store)))


@asynccontextmanager
async def _redis(world: World, _folder: Path) -> AsyncIterator[Target]:
    with running_redis() as server:
        async with redis_hot_store(server.url, prefix="ezra*") as store:
            await plant_hot(store, world)
            yield Target(store, partial(redis_raw, store._client, "ezra*"))


def _warm(name: str) -> Opener:
    backend = next(one for one in WARM_BACKENDS if one.name == name)

    @asynccontextmanager
    async def opened(world: World, folder: Path) -> AsyncIterator[Target]:
        async with backend.opened(folder) as store:
            await plant_warm(store, world)
            yield Target(store, WARM_RAW[name](store))

    return opened


def _edge_raw(store: Any) -> Reader:
    return _at_once(lambda: shard_raw(store._points._shard.engine))


def _memory_raw(store: Any) -> Reader:
    return LocalPoints(store._points._client, store._points._collection).raw


def _http_raw(store: Any) -> Reader:
    collection = shared_shim().collections[store._points._collection]
    return _at_once(lambda: shard_raw(collection._shard))


WARM_RAW: dict[str, Callable[[Any], Reader]] = {
    "edge": _edge_raw,
    "qdrant memory": _memory_raw,
    "qdrant local": _memory_raw,
    "qdrant http": _http_raw,
}


def _at_once(read: Callable[[], Raw]) -> Reader:
    async def reader() -> Raw:
        return read()

    return reader


def _cold(name: str, raw: Callable[[Path], Raw]) -> Opener:
    backend = next(one for one in COLD_BACKENDS if one.name == name)

    @asynccontextmanager
    async def opened(world: World, folder: Path) -> AsyncIterator[Target]:
        async with backend.opened(folder) as stores:
            held, parked = await plant_cold(stores, world)
            yield Target(ColdPorts(stores, held, parked), _at_once(lambda: raw(folder)))

    return opened


def _mongo(name: str) -> Opener:
    backend = next(one for one in COLD_BACKENDS if one.name == name)
    databases: Any = getattr(backend.opened, "__self__")  # noqa: B009 - a bound method

    def raw(folder: Path) -> Raw:
        # The stand-in's own documents, past its wire and past the driver.
        store = mongo_server()._engine.store
        found = store.collections(databases.name(folder))
        return mongo_raw({one.name: one.every() for one in found})

    return _cold(name, raw)


async def _hot_counts(_hot: Any, _scope: Scope) -> dict[str, int]:
    return {}


async def _warm_counts(warm: Any, scope: Scope) -> dict[str, int]:
    return {"points": await warm.count(scope)}


async def _cold_counts(cold: Any, scope: Scope) -> dict[str, int]:
    census = await cold.words.census(scope)
    waiting = await cold.queue.waiting(scope)
    found = {name: census[name] for name in ("turns", "summaries", "episodes", "rules")}
    return found | {"work": sum(waiting.values())}


def counted(raw: Raw, scope: Scope, tables: Sequence[str]) -> dict[str, int]:
    """Return how many rows of a scope's graph the raw engine has, by table."""
    owners = [(place[0], row.tenant, row.graph_id) for place, row in raw.items()]
    house = (scope.tenant, scope.graph_id)
    return {table: owners.count((table, *house)) for table in tables}


BENCHES = (
    Bench("in process", "hot", HOT_METHODS, _in_process, _hot_counts),
    Bench("redis", "hot", HOT_METHODS, _redis, _hot_counts),
    Bench("edge", "warm", _WARM_METHODS, _warm("edge"), _warm_counts),
    Bench("qdrant local", "warm", _WARM_METHODS, _warm("qdrant memory"), _warm_counts, 3),
    Bench("qdrant http", "warm", _WARM_METHODS, _warm("qdrant http"), _warm_counts),
    Bench("sqlite", "cold", COLD_METHODS, _cold("sqlite", sqlite_raw), _cold_counts),
    Bench("mongo", "cold", MONGO_METHODS, _mongo("mongo"), _cold_counts, 7),
)
"""Every backend; the runtime as a whole is another one."""
