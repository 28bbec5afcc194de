"""The hot store on a Redis server, together with the client it needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError  # noqa: A004 - the driver's own class

from ..errors import ConfigError
from .redis_store import TTL_SECONDS, RedisHotStore


@asynccontextmanager
async def redis_hot_store(
    url: str,
    *,
    prefix: str = "ezra",
    ttl_seconds: float = TTL_SECONDS,
    connections_max: int = 32,
    timeout_seconds: float = 2.0,
) -> AsyncIterator[RedisHotStore]:
    """Open a hot store on a Redis server; nothing is sent before the first call.

    Args:
        url: ``redis://``, ``rediss://`` or ``unix://``.
        prefix: First part of every key.
        ttl_seconds: How long an agent without a write is kept.
        connections_max: Calls at the same time; more wait, at most ``timeout_seconds``.
        timeout_seconds: For connecting and for each answer.

    Raises:
        ConfigError: The URL cannot be understood.
    """
    try:
        pool = BlockingConnectionPool.from_url(
            url,
            max_connections=connections_max,
            timeout=timeout_seconds,
            socket_connect_timeout=timeout_seconds,
            socket_timeout=timeout_seconds,
            # One retry and only for a broken connection: the server may have been restarted
            # behind an idle one. After a timeout the caller is already late.
            retry=Retry(NoBackoff(), 1, supported_errors=(ConnectionError,)),
        )
    except ValueError as error:
        # The URL is not repeated: it may hold a password.
        reason = "is not a redis://, rediss:// or unix:// URL"
        raise ConfigError("EZRA_REDIS_URL", reason) from error
    async with (
        Redis.from_pool(pool) as client,
        RedisHotStore(client, prefix=prefix, ttl_seconds=ttl_seconds) as store,
    ):
        yield store
