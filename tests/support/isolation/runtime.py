"""The whole runtime on one folder, one tenant at a time, as people hold it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from ezra import Agent, Ezra, Fact, Rule
from ezra.handles.graph import Graph
from tiers.cold.sqlite import DATABASE_NAME
from tiers.errors import NotFound
from tiers.fleet import CATALOG
from tiers.records import Scope

from ..cold_mongo import server as mongo_server
from ..qdrant_shim import shared_shim
from ..runtime import MovingClock, running
from ..servers import server_variables
from .engines import BENCHES, Bench, Target
from .raw import Raw, mongo_raw, redis_raw, shard_raw, sqlite_raw
from .runtime_moves import RUNTIME_METHODS
from .worlds import SHARED_WORDS, Corner, Planted, PlantedKind, World

NOBODYS = ("leases", "kept")
"""Tables about jobs of whoever has the folder open."""


class Runtimes:
    """Opens the stores for the tenant that is asked for, and closes them for the one before.

    Args:
        home: The folder of what is embedded.
        world: Who lives in it.
        settings: Where the tiers are, if not in the folder.
    """

    def __init__(self, home: Path, world: World, **settings: str) -> None:
        self._home = home
        self._settings = settings
        self.clock = MovingClock()
        self._stack = AsyncExitStack()
        self._tenant: str | None = None
        self._ezra: Ezra | None = None
        self.world = world

    async def of(self, tenant: str) -> Ezra:
        """Return the tenant's runtime."""
        if self._ezra is None or self._tenant != tenant:
            await self.aclose()
            # No use of a fact makes it core, so that every record stays what the world says.
            chosen = {"tenant": tenant, "promote_at_uses": 10**6, **self._settings}
            opened = running(self._home, self.clock, **chosen)
            self._ezra = await self._stack.enter_async_context(opened)
            self._tenant = tenant
        return self._ezra

    async def graph(self, scope: Scope) -> Graph:
        """Return the scope's graph, made when it is not there."""
        ezra = await self.of(scope.tenant)
        try:
            return await ezra.session_graph(scope.graph_id)
        except NotFound:
            return await ezra.create_session_graph(scope.graph_id)

    async def agent(self, scope: Scope) -> Agent:
        """Return the scope's agent, attached anew with the scope's topics and user."""
        graph = await self.graph(scope)
        return await graph.spawn_agent(
            scope.agent_id or "nobody",
            topics=scope.topics,
            user_id=scope.user_id,
            denied_topics=scope.denied,
        )

    async def raw(self) -> Raw:
        """Return everything on disk: the rows of the database and the points of the index."""
        assert self._ezra is not None
        await self._settled()
        warm: Any = self._ezra._runtime.warm
        points = shard_raw(warm._generations.serving.store._points._shard.engine)
        rows = sqlite_raw(next(self._home.rglob(DATABASE_NAME)).parent)
        kept = {place: row for place, row in rows.items() if place[0] not in NOBODYS}
        return {**kept, **points}

    async def _settled(self) -> None:
        """Let receipts that wait be stored now: they are of the attempts before, not of the next.

        Whoever asks for a receipt has them stored first.
        """
        if self._ezra is not None and self._tenant is not None:
            await self._ezra._runtime.log.receipt(Scope.of_graph(self._tenant, "none"), "none")

    async def aclose(self) -> None:
        """Close what is open."""
        self._ezra = self._tenant = None
        await self._stack.aclose()


class ServedRuntimes(Runtimes):
    """The same with every tier on a server."""

    def __init__(self, home: Path, world: World) -> None:
        found = server_variables()
        super().__init__(
            home, world, **{name.removeprefix("EZRA_").lower(): found[name] for name in found}
        )

    async def raw(self) -> Raw:
        """Return everything on the servers: documents, points and hashes, as they are stored."""
        await self._settled()
        found = self._settings
        database = mongo_server()._engine.store.collections(found["mongodb_database"])
        rows = mongo_raw({one.name: one.every() for one in database if one.name not in NOBODYS})
        for name, collection in shared_shim().collections.items():
            if name.startswith(found["qdrant_prefix"]):
                points = shard_raw(collection._shard)
                rows |= {(table, f"{name} {place}"): row for (table, place), row in points.items()}
        async with Redis.from_url(found["redis_url"]) as client:
            return rows | await redis_raw(client, found["redis_prefix"], dumped=True)


@asynccontextmanager
async def opened(
    world: World, folder: Path, make: Callable[[Path, World], Runtimes] = Runtimes
) -> AsyncIterator[Target]:
    """Let the agents of the world live through the public API, and hand over their runtimes."""
    world.corners = tuple(one for one in world.corners if one.graph_id != CATALOG)
    for former in (world.planted, world.by_mark, world.by_place):
        former.clear()
    runtimes = make(folder, world)
    try:
        for tenant in world.tenants:
            await _live(await runtimes.of(tenant), world, tenant)
        yield Target(runtimes, runtimes.raw)
    finally:
        await runtimes.aclose()


async def _live(ezra: Ezra, world: World, tenant: str) -> None:
    graphs = [graph_id for owner, graph_id in world.houses if owner == tenant]
    parents = {child: [parent] for parent, child in pairwise(graphs)}
    await _fill_catalog(ezra, world, tenant)
    for graph_id in graphs:
        graph = await ezra.create_session_graph(graph_id, inherits_from=parents.get(graph_id, []))
        for number, corner in enumerate(world.of_house((tenant, graph_id))):
            await _life(world, graph, corner, number)
        await ezra.run_lifecycle_tick(graph_id)
    await ezra.drain_learning()


async def _fill_catalog(ezra: Ezra, world: World, tenant: str) -> None:
    catalog = await ezra.catalog()
    for topics in ((), ("tyres",)):
        corner = Corner(tenant, CATALOG, "", None, topics, private=False)
        note = partial(_note, world, corner)
        for tier in ("core", "archival"):
            mark = world.new_mark()
            fact = Fact(text=f"{mark} {SHARED_WORDS}", tier=tier)
            note(tier, mark, await catalog.remember(fact, topics=topics))


async def _life(world: World, graph: Graph, corner: Corner, number: int) -> None:
    agent = await graph.spawn_agent(corner.agent_id, topics=corner.topics, user_id=corner.user_id)
    note = partial(_note, world, corner)
    for time in range(2):
        mark = world.new_mark()
        turn = await agent.turn(
            f"{mark} {SHARED_WORDS}", private=corner.private, ref=f"chat:{number}:{time}"
        )
        written = await turn.reply(f"{mark} about 18")
        note("turn", mark, written.turn.id, written.turn)
    for tier in ("core", "archival"):
        mark = world.new_mark()
        fact = Fact(
            text=f"{mark} {SHARED_WORDS}",
            subject=f"mediums {mark}",  # one of another subject would shadow it
            predicate="last",
            object="18",
            tier=tier,
        )
        note(tier, mark, await agent.remember(fact, private=corner.private))
    mark = world.new_mark()
    rule = Rule(trigger=f"{mark} {SHARED_WORDS}", steps=(f"{mark} box",))
    note("rule", mark, await agent.remember(rule, private=corner.private))
    if not corner.private:
        mark = world.new_mark()
        key = ("start", f"compound {number}")
        topic = corner.topics[0] if corner.topics else None
        belief = await agent.commit(f"{mark} {SHARED_WORDS}", topic=topic, key=key, value=mark)
        note("belief", mark, belief.id, belief, topics=belief.topics)


def _note(
    world: World,
    corner: Corner,
    kind: PlantedKind,
    mark: str,
    record_id: str,
    record: Any = None,
    *,
    topics: tuple[str, ...] | None = None,
) -> None:
    owner = corner if topics is None else replace(corner, topics=topics)
    at = MovingClock()()
    world.note(Planted(kind, owner, mark, record_id, at, record), is_first=True)


async def _no_counts(_runtimes: Any, _scope: Scope) -> dict[str, int]:
    return {}


RUNTIME_BENCH = Bench("runtime", "all", RUNTIME_METHODS, opened, _no_counts, houses_max=5)
"""The embedded runtime through its public API."""

EVERY_BENCH = (*BENCHES, RUNTIME_BENCH)
"""Every backend, and all of them together."""
