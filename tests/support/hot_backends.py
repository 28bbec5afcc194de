"""Every hot store that must behave alike, and how a test opens one.

With ``EZRA_TEST_REDIS_URL`` set there is one more: the deployment it names, of whatever kind.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from typing import Any

from fakeredis import FakeAsyncRedis, FakeServer
from redis.asyncio import BlockingConnectionPool

from tiers.hot import EmbeddedHotStore, RedisHotStore, embedded_hot_store, redis_hot_store
from tiers.hot.calls import CallLimits
from tiers.ports import HotStore

from .redis_server import RedisServer

LIVE_KEY = "EZRA_TEST_REDIS_URL"


@dataclass(frozen=True)
class HotBackend:
    """One row of the table.

    Attributes:
        name: Shown as the test's parameter.
        opened: Opens an empty store; the server is given when ``needs_server``.
        needs_server: Whether a real Redis must run.
        is_redis: Whether the raw engine behind the store speaks Redis commands.
    """

    name: str
    opened: Callable[[RedisServer | None], AbstractAsyncContextManager[HotStore]]
    needs_server: bool = False
    is_redis: bool = True


@asynccontextmanager
async def _embedded(_server: RedisServer | None) -> AsyncIterator[EmbeddedHotStore]:
    async with embedded_hot_store() as store:
        yield store


@asynccontextmanager
async def _fake(_server: RedisServer | None) -> AsyncIterator[RedisHotStore]:
    client = FakeAsyncRedis(
        server=FakeServer(version=(7,)),
        # The default pool refuses the hundredth call at the same time; this one lets it wait.
        connection_pool_class=BlockingConnectionPool,
    )
    # Nothing is slow here but this process itself, so a call waits longer than for a server.
    limits = CallLimits(20.0, retries_max=0)
    async with client, RedisHotStore(client, limits=limits) as store:
        yield store


@asynccontextmanager
async def _real(server: RedisServer | None) -> AsyncIterator[RedisHotStore]:
    assert server is not None, "this backend needs the server fixture"
    # A prefix of its own keeps tests that share the server apart.
    async with redis_hot_store(server.url, prefix=f"t{uuid.uuid4().hex}") as store:
        yield store


@asynccontextmanager
async def _live(_server: RedisServer | None) -> AsyncIterator[RedisHotStore]:
    prefix = f"ezra-test-{uuid.uuid4().hex}"
    async with redis_hot_store(os.environ[LIVE_KEY], prefix=prefix) as store:
        try:
            yield store
        finally:
            await _removed(store._client, prefix)


async def _removed(client: Any, prefix: str) -> None:
    """Remove what a test left on a server that is not ours."""
    async for key in client.scan_iter(match=f"{prefix}:*", count=1000):
        await client.delete(key)


_LIVE_BACKENDS = (HotBackend("live", _live),) if os.environ.get(LIVE_KEY) else ()

HOT_BACKENDS = (
    HotBackend("embedded", _embedded, is_redis=False),
    HotBackend("fakeredis", _fake),
    HotBackend("redis", _real, needs_server=True),
    *_LIVE_BACKENDS,
)
REDIS_BACKENDS = tuple(backend for backend in HOT_BACKENDS if backend.is_redis)
