"""Every hot store that must behave alike, and how a test opens one."""

from __future__ import annotations

import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass

from tiers.hot import RedisHotStore, embedded_hot_store, redis_hot_store
from tiers.ports import HotStore

from .hot_reference import ReferenceHotStore
from .redis_server import RedisServer

Opener = Callable[[], AbstractAsyncContextManager[HotStore]]


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
async def _embedded(_server: RedisServer | None) -> AsyncIterator[RedisHotStore]:
    async with embedded_hot_store() as store:
        yield store


@asynccontextmanager
async def _real(server: RedisServer | None) -> AsyncIterator[RedisHotStore]:
    assert server is not None, "this backend needs the server fixture"
    # A prefix of its own keeps tests that share the server apart.
    async with redis_hot_store(server.url, prefix=f"t{uuid.uuid4().hex}") as store:
        yield store


@asynccontextmanager
async def _reference(_server: RedisServer | None) -> AsyncIterator[ReferenceHotStore]:
    async with ReferenceHotStore() as store:
        yield store


HOT_BACKENDS = (
    HotBackend("fakeredis", _embedded),
    HotBackend("redis", _real, needs_server=True),
    HotBackend("reference", _reference, is_redis=False),
)
REDIS_BACKENDS = tuple(backend for backend in HOT_BACKENDS if backend.is_redis)
