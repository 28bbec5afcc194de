"""Every hot store that must behave alike, and how a test opens one.

With ``EZRA_TEST_REDIS_URL`` set there is one more: the deployment it names, of whatever kind.
"""

from __future__ import annotations

import os
import random
import uuid
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import pytest
from fakeredis import FakeAsyncRedis, FakeServer
from redis.asyncio import BlockingConnectionPool

from tiers.errors import UsageError
from tiers.hot import EmbeddedHotStore, RedisHotStore, embedded_hot_store, redis_hot_store
from tiers.hot.calls import CallLimits
from tiers.ports import HotStore

from .redis_server import RedisServer
from .tier_samples import belief_of, mesh_of, scope_of, turn_of

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


# One repeatable random walk over every hot operation, on a store and on the embedded one.

VIEWS: list[dict[str, Any]] = [
    *[{}] * 6,
    {"topics": ("tyres",)},
    {"user_id": "ada"},
    {"every_user": True},
]
"""For whom an agent asks: most often the same, now and then somebody else or the runtime."""


async def walk(store: HotStore, steps: int, seed: int = 7) -> None:
    """Take the same steps on both and compare every answer; the store must be empty."""
    draw = random.Random(seed)
    # Many agents: in a cluster they lie on all nodes.
    agents = [f"agent {number}" for number in range(12)]
    reference = EmbeddedHotStore()
    for step in range(steps):
        scope = scope_of(agent_id=draw.choice(agents), **draw.choice(VIEWS))
        seq, capacity, belief_id = draw.randint(1, 12), draw.randint(1, 6), f"b{draw.randint(1, 3)}"
        operation = draw.choice(["append"] * 4 + ["restore", "pin", "unpin", "put_mesh", "clear"])
        answers = []
        for each in (store, reference):
            if operation == "append":
                turn = turn_of(scope, seq, f"step {step}")
                answers.append(await each.append(scope, turn, capacity))
            elif operation == "restore":
                turns = [turn_of(scope, n, f"step {step}") for n in range(seq, seq + 4)]
                await each.restore(scope, turns, capacity)
            elif operation == "pin":
                await each.pin(scope, belief_of(scope, belief_id, f"step {step}"))
            elif operation == "unpin":
                await each.unpin(scope, belief_id)
            elif operation == "put_mesh":
                with pytest.raises(UsageError) if scope.every_user else nullcontext():
                    await each.put_mesh(scope, mesh_of(f"step {step}"))
            else:
                await each.clear(scope)
            answers.append(await each.read(scope))
        half = len(answers) // 2
        assert answers[:half] == answers[half:], f"step {step}: {operation}"
