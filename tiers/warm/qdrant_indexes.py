"""The warm indexes on a Qdrant server: a collection for each embedding model.

How far an index has come for a tenant is written into the collection itself, as a point without
vectors in a graph that no scope can name. So it vanishes with the index, and no search, count or
export meets it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from qdrant_client import AsyncQdrantClient

from ..errors import ConfigError, TierRejected
from ..ids import derived_id
from ..records import UNRECORDED
from ..upkeep import Generation
from .filters import AnyOf, mark_of
from .guard import every_mark, marks_of
from .payload import NO_GRAPH
from .qdrant_calls import QdrantCalls
from .qdrant_collection import collection_name, is_named
from .qdrant_options import QdrantOptions
from .qdrant_points import QdrantPoints
from .qdrant_store import STEP_IDS, QdrantWarmStore, qdrant_warm_store
from .store import Chosen, NewPoint, remove_tenant, walked

_STAYS = "generation"
_LEAVES = "leaving"
_MARK = "generation"


class QdrantGenerations:
    """A ``WarmGenerations`` over the collections of one server that share a prefix.

    Args:
        client: Stays open; whoever made it closes it.
        prefix: First part of every collection's name; separates installations on one server.
        options: How the server is used.

    Raises:
        UsageError: The prefix is not one.
    """

    def __init__(
        self,
        client: AsyncQdrantClient,
        *,
        prefix: str = "ezra",
        options: QdrantOptions | None = None,
    ) -> None:
        collection_name(prefix, None)
        self._client = client
        self._prefix = prefix
        self._options = options or QdrantOptions()
        self._calls = QdrantCalls(self._options.timeout_seconds)
        self._open: Counter[str] = Counter()

    async def generations(self, tenant: str) -> tuple[Generation, ...]:
        """Return the tenant's generations, the one marked last first.

        A mark that cannot be read counts as none: the index is then built from the start.
        """
        listed = await self._calls.answer("generations", self._client.get_collections)
        names = sorted(one.name for one in listed.collections if is_named(self._prefix, one.name))
        found = [mark for name in names if (mark := await self._mark(name, tenant)) is not None]
        return tuple(sorted(found, key=lambda mark: mark.marked_at, reverse=True))

    @asynccontextmanager
    async def opened(self, model_id: str | None, dimensions: int) -> AsyncIterator[QdrantWarmStore]:
        """Open the model's index for the length of the block; made when new.

        Raises:
            ConfigError: It exists with vectors of another length, or was not made by ezra; or
                the server is too old.
            TierError: The server cannot be reached, or refuses.
        """
        name = collection_name(self._prefix, model_id)
        async with qdrant_warm_store(
            self._client,
            prefix=self._prefix,
            model_id=model_id,
            dimensions=dimensions,
            options=self._options,
        ) as store:
            await self._finish_leaving(name)
            self._open[name] += 1
            try:
                yield store
            finally:
                self._open[name] -= 1

    async def mark(self, tenant: str, generation: Generation) -> None:
        """Write down how far a generation, which must have been opened once, has come.

        Raises:
            TierError: The server cannot be reached, or the index is gone.
        """
        name = collection_name(self._prefix, generation.model_id)
        payload = {"generation": generation.model_dump(mode="json")}
        mark = _mark_point(tenant, _STAYS, payload)
        await self._points(name).write("mark", marks_of(tenant), [mark])

    async def drop(self, tenant: str, model_id: str | None) -> None:
        """Remove the tenant's entries and mark; the collection when it is empty then.

        The mark first becomes one of leaving, which is no generation. So a crash in between leaves
        nothing that looks whole, and the next opening finishes what was begun.

        Raises:
            ConfigError: The index is open in this process.
            TierError: The server cannot be reached, or refuses.
        """
        name = collection_name(self._prefix, model_id)
        if self._open[name]:
            raise ConfigError("warm collection", f"{name} is open; close it before it is dropped")
        if not await self._calls.answer("drop", lambda: self._client.collection_exists(name)):
            return
        points = self._points(name)
        await points.write("drop", marks_of(tenant), [_mark_point(tenant, _LEAVES, {})])
        await _remove_tenant(points, tenant)
        if not await points.count_of_everybody("drop"):
            timeout = self._calls.server_seconds
            await self._calls.answer(
                "drop", lambda: self._client.delete_collection(name, timeout=timeout)
            )

    def _points(self, name: str) -> QdrantPoints:
        return QdrantPoints(self._client, name, self._options)

    async def _mark(self, name: str, tenant: str) -> Generation | None:
        stays = (*mark_of(tenant), AnyOf("kind", (_STAYS,)))
        own = Chosen("generations", marks_of(tenant), stays)
        try:
            stored, _ = await self._points(name).page(own, 1)
        except TierRejected:
            # Another process may have dropped it since it was listed.
            exists = partial(self._client.collection_exists, name)
            if await self._calls.answer("generations", exists):
                raise
            return None
        try:
            payloads = [one.payload or {} for one in stored]
            found = [Generation.model_validate(one["generation"]) for one in payloads]
        except (KeyError, TypeError, ValueError):  # pydantic's is a ValueError
            return None
        return found[0] if found else None

    async def _finish_leaving(self, name: str) -> None:
        points = self._points(name)
        condition = (AnyOf("graph", (NO_GRAPH,)), AnyOf("kind", (_LEAVES,)))
        leaving = Chosen("open", every_mark(), condition)
        async for marks in walked(points, leaving, STEP_IDS):
            for mark in marks:
                await _remove_tenant(points, str((mark.payload or {}).get("tenant", "")))


async def _remove_tenant(points: QdrantPoints, tenant: str) -> None:
    """Remove a tenant's entries in steps, then its mark; may be repeated."""
    await remove_tenant(points, tenant, STEP_IDS)
    await points.remove(Chosen("drop", marks_of(tenant), mark_of(tenant)))


def _mark_point(tenant: str, kind: str, values: dict[str, Any]) -> NewPoint:
    mark_id = derived_id(UNRECORDED, tenant, NO_GRAPH, _MARK)
    payload = {"id": _MARK, "tenant": tenant, "graph": NO_GRAPH, "kind": kind, **values}
    return NewPoint(mark_id, {}, payload)
