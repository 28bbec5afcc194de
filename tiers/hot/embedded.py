"""The hot store inside this process: the same store and scripts over fakeredis, no server."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fakeredis import FakeAsyncRedis, FakeServer
from redis.asyncio import BlockingConnectionPool

from .calls import CallLimits
from .redis_store import TTL_SECONDS, RedisHotStore

CONNECTIONS_MAX = 32
TIMEOUT_SECONDS = 20.0
"""Nothing is slow here but this process itself, so a call waits longer than for a server."""


@asynccontextmanager
async def embedded_hot_store(
    *, prefix: str = "ezra", ttl_seconds: float = TTL_SECONDS
) -> AsyncIterator[RedisHotStore]:
    """Open a hot store of its own; what it holds ends with the block, as befits a cache."""
    fake = FakeAsyncRedis(
        server=FakeServer(version=(7,)),
        # The default pool refuses the hundredth call at the same time; this one lets it wait.
        connection_pool_class=BlockingConnectionPool,
        max_connections=CONNECTIONS_MAX,
    )
    limits = CallLimits(TIMEOUT_SECONDS, retries_max=0)
    async with (
        fake as client,
        RedisHotStore(client, prefix=prefix, ttl_seconds=ttl_seconds, limits=limits) as store,
    ):
        yield store
