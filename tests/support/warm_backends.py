"""Every warm store that must behave alike, and how a test opens one."""

from __future__ import annotations

import atexit
import gc
import hashlib
import os
import sys
import uuid
import warnings
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from qdrant_client import AsyncQdrantClient, QdrantClient, models
from qdrant_edge import Filter, UpdateOperation

from tiers.ports import WarmStore
from tiers.warm import EdgeWarmStore, edge_warm_store
from tiers.warm.edge_folder import INDEXED_FROM
from tiers.warm.qdrant_options import QdrantOptions
from tiers.warm.qdrant_store import QdrantWarmStore, qdrant_warm_store

from .qdrant_shim import shared_shim
from .tier_samples import DIMENSIONS
from .warm_reference import ReferenceWarmStore

OVERFETCH = 200
"""As much as a query may ask for, which makes answers complete, hence comparable."""

LIVE_URL = os.environ.get("EZRA_TEST_QDRANT_URL")
LIVE_KEY = os.environ.get("EZRA_TEST_QDRANT_API_KEY")
LIVE_PREFIX = f"ezra_test_{uuid.uuid4().hex[:8]}"


@dataclass(frozen=True)
class WarmBackend:
    """One row of the table.

    Attributes:
        name: Shown as the test's parameter.
        opened: Opens the store in a folder, which is empty the first time.
        is_durable: Whether a store opened again in the same folder holds what it held.
        emptied: Takes everything out of an open store, behind its back.
    """

    name: str
    opened: Callable[[Path], AbstractAsyncContextManager[WarmStore]]
    is_durable: bool
    emptied: Callable[[WarmStore], None]


@asynccontextmanager
async def _edge(folder: Path, indexed_from: int = 1) -> AsyncIterator[EdgeWarmStore]:
    opening = edge_warm_store(
        folder, dimensions=DIMENSIONS, overfetch=OVERFETCH, indexed_from=indexed_from
    )
    async with opening as store:
        yield store


@asynccontextmanager
async def _reference(_folder: Path) -> AsyncIterator[ReferenceWarmStore]:
    async with ReferenceWarmStore(DIMENSIONS) as store:
        yield store


@asynccontextmanager
async def _memory(_folder: Path) -> AsyncIterator[QdrantWarmStore]:
    async with local_client(location=":memory:") as client:
        options = QdrantOptions(overfetch=OVERFETCH)
        async with qdrant_warm_store(client, dimensions=DIMENSIONS, options=options) as store:
            yield store


@asynccontextmanager
async def _http(folder: Path) -> AsyncIterator[QdrantWarmStore]:
    options = QdrantOptions(overfetch=OVERFETCH, timeout_seconds=20)
    async with qdrant_warm_store(
        shared_shim().url, prefix=prefix_of(folder), dimensions=DIMENSIONS, options=options
    ) as store:
        yield store


@asynccontextmanager
async def _live(folder: Path) -> AsyncIterator[QdrantWarmStore]:
    assert LIVE_URL is not None
    prefix = f"{LIVE_PREFIX}_{prefix_of(folder)}"
    options = QdrantOptions(overfetch=OVERFETCH, timeout_seconds=60)
    async with qdrant_warm_store(
        LIVE_URL, api_key=LIVE_KEY, prefix=prefix, dimensions=DIMENSIONS, options=options
    ) as store:
        yield store


def prefix_of(folder: Path) -> str:
    """Return the prefix that keeps one test's collections apart on a shared server."""
    return f"t{hashlib.sha256(str(folder).encode()).hexdigest()[:12]}"


@asynccontextmanager
async def local_client(**place: str) -> AsyncIterator[AsyncQdrantClient]:
    """Open the driver's local mode, which warns that it makes no payload indexes.

    For each collection it opens databases that it lets go of unclosed, of which Python 3.13 warns
    once they are collected.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Payload indexes have no effect")
        warnings.filterwarnings("ignore", "unclosed database", ResourceWarning)
        client = AsyncQdrantClient(**place)
        try:
            yield client
        finally:
            await client.close()
            if sys.version_info >= (3, 13):
                del client
                gc.collect()


def _empty_edge(store: WarmStore) -> None:
    assert isinstance(store, EdgeWarmStore)
    store._points._shard.engine.update(UpdateOperation.delete_points_by_filter(Filter()))


def _empty_reference(store: WarmStore) -> None:
    assert isinstance(store, ReferenceWarmStore)
    store._entries.clear()


def _empty_memory(store: WarmStore) -> None:
    assert isinstance(store, QdrantWarmStore)
    # Local mode never waits for anything, so its coroutine ends with the first step.
    everything = models.FilterSelector(filter=models.Filter())
    delete = store._points._client.delete(store._points._collection, everything)
    try:
        delete.send(None)
    except StopIteration:
        return
    message = "local mode did wait"
    raise AssertionError(message)


def _empty_http(store: WarmStore) -> None:
    assert isinstance(store, QdrantWarmStore)
    shared_shim().collections[store._points._collection].empty()


def _empty_live(store: WarmStore) -> None:
    assert isinstance(store, QdrantWarmStore)
    with _live_client() as client:
        everything = models.FilterSelector(filter=models.Filter())
        client.delete(store._points._collection, everything, wait=True)


@contextmanager
def _live_client() -> Iterator[QdrantClient]:
    headers = {"api-key": LIVE_KEY} if LIVE_KEY else {}
    client = QdrantClient(url=LIVE_URL, headers=headers, timeout=60, check_compatibility=False)
    try:
        yield client
    finally:
        client.close()


def _remove_live() -> None:
    with _live_client() as client:
        for collection in client.get_collections().collections:
            if collection.name.startswith(LIVE_PREFIX):
                client.delete_collection(collection.name)


_ROWS = [
    WarmBackend("edge", _edge, is_durable=True, emptied=_empty_edge),
    WarmBackend(
        "edge of few",
        partial(_edge, indexed_from=INDEXED_FROM),
        is_durable=True,
        emptied=_empty_edge,
    ),
    WarmBackend("reference", _reference, is_durable=False, emptied=_empty_reference),
    WarmBackend("qdrant memory", _memory, is_durable=False, emptied=_empty_memory),
    WarmBackend("qdrant http", _http, is_durable=True, emptied=_empty_http),
]
if LIVE_URL is not None:
    _ROWS.append(WarmBackend("qdrant live", _live, is_durable=True, emptied=_empty_live))
    atexit.register(_remove_live)

WARM_BACKENDS = tuple(_ROWS)
