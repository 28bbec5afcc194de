"""The hot store on a Redis deployment, together with the client it needs."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from ..errors import ConfigError, TierRejected, TierTimeout, TierUnavailable
from .address import URL_KEY, RedisAddress, parse_redis_url
from .calls import CallLimits, limited
from .client import Client, ClientLimits, redis_client
from .health import advice_on_silence, each_server, greetings, obstacles
from .redis_store import RedisHotStore


@asynccontextmanager
async def redis_hot_store(
    url: str,
    *,
    prefix: str = "ezra",
    connections_max: int = 32,
    timeout_seconds: float = 2.0,
    health_check_seconds: float = 30.0,
    retries_max: int = 2,
    must_answer: bool = True,
) -> AsyncIterator[RedisHotStore]:
    """Open a hot store on Redis 7.0 or later: a server, a master behind Sentinel, or a cluster.

    The user of the URL needs the keys ``<prefix>:*`` and the commands of ``STORE_COMMANDS``; see
    ``permissions``.

    Args:
        url: As ``address`` describes.
        prefix: First part of every key.
        connections_max: Calls at the same time; more wait. In a cluster each node may come to
            have so many connections.
        timeout_seconds: For each call as a whole, retries and waiting for a connection included.
        health_check_seconds: A connection idle for longer is tried before it is used; 0 never.
        retries_max: Further tries when Redis cannot be reached; all within ``timeout_seconds``.
        must_answer: Whether an outage at opening is an error. Without it the store opens, its
            calls fail until Redis is there, and nobody has looked at the server's version.

    Raises:
        ConfigError: The URL cannot be understood, the login or the certificate is refused, or
            the server is too old or not what the URL says it is.
        TierUnavailable: Nobody answers there.
        TierTimeout: Somebody is there and does not answer.
    """
    address = parse_redis_url(url)
    calls = CallLimits(timeout_seconds, retries_max)
    limits = ClientLimits(connections_max, timeout_seconds, health_check_seconds)
    async with redis_client(address, limits) as client:
        store = RedisHotStore(client, prefix=prefix, limits=calls)
        try:
            await _check(client, address, calls)
        except (TierUnavailable, TierTimeout) as error:
            if must_answer:
                reason = f"{error.reason}; {advice_on_silence(address)}"
                raise type(error)("hot", "open", reason) from error.__cause__
        async with store:
            yield store


async def _check(client: Client, address: RedisAddress, calls: CallLimits) -> None:
    """See that the server is there, lets us in and will do.

    Raises:
        ConfigError: It is there and will not do.
    """
    try:
        await limited("open", calls, lambda: each_server(client, "PING"))
        found = await limited("open", calls, lambda: greetings(client))
    except TierRejected as error:
        # What is refused before anything was asked for is refused to this URL.
        raise ConfigError(URL_KEY, error.reason) from error
    reasons = obstacles(address.kind, found)
    if reasons:
        raise ConfigError(URL_KEY, "; ".join(reasons))
