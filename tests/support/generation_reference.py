"""The generations as dictionaries: no engine, and as many owners as there are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from tiers.errors import ConfigError, TierUnavailable
from tiers.ports import Expired
from tiers.records import Hit, IndexEntry, Kind, Scope, SearchQuery
from tiers.upkeep import Generation

from .warm_reference import ReferenceWarmStore


class ReferenceGenerations:
    """A ``WarmGenerations`` in memory, which several runtimes may open at once."""

    def __init__(self) -> None:
        self._stores: dict[str | None, tuple[int, ReferenceWarmStore]] = {}
        self._marks: dict[tuple[str, str | None], Generation] = {}

    async def generations(self, tenant: str) -> tuple[Generation, ...]:
        """Return the tenant's marks, the last one first."""
        found = [mark for (owner, _), mark in self._marks.items() if owner == tenant]
        return tuple(sorted(found, key=lambda mark: mark.marked_at, reverse=True))

    @asynccontextmanager
    async def opened(self, model_id: str | None, dimensions: int) -> AsyncIterator[_Opening]:
        """Open the model's dictionary."""
        if model_id not in self._stores:
            self._stores[model_id] = (dimensions, ReferenceWarmStore(dimensions))
        if self._stores[model_id][0] != dimensions:
            raise ConfigError("warm", f"made for other dimensions than {dimensions}")
        opening = _Opening(self._stores[model_id][1])
        try:
            yield opening
        finally:
            opening.is_open = False

    async def mark(self, tenant: str, generation: Generation) -> None:
        """Remember a mark."""
        self._marks[tenant, generation.model_id] = generation

    async def drop(self, tenant: str, model_id: str | None) -> None:
        """Forget a tenant's mark and entries; with the last tenant, whoever has it open loses."""
        if self._marks.pop((tenant, model_id), None) is None:
            return
        if not any(model == model_id for _, model in self._marks):
            _, store = self._stores.pop(model_id)
            store._closed = True
            return
        entries = self._stores[model_id][1]._entries
        for key in [key for key in entries if key[0] == tenant]:
            del entries[key]


class _Opening:
    """One owner's view of a store, which ends with the owner's block."""

    def __init__(self, store: ReferenceWarmStore) -> None:
        self._store = store
        self.is_open = True

    async def upsert(self, scope: Scope, entries: list[IndexEntry]) -> None:
        await self._checked().upsert(scope, entries)

    async def search(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        return await self._checked().search(scope, query)

    async def delete(self, scope: Scope, ids: list[str]) -> None:
        await self._checked().delete(scope, ids)

    async def delete_expired(self, scope: Scope, now) -> Expired:  # noqa: ANN001
        return await self._checked().delete_expired(scope, now)

    async def count(self, scope: Scope, kind: Kind | None = None) -> int:
        return await self._checked().count(scope, kind)

    async def flush(self) -> None:
        await self._checked().flush()

    def _checked(self) -> ReferenceWarmStore:
        if not self.is_open:
            raise TierUnavailable("warm", "any", "closed")
        return self._store


_ENGINES: dict[Path, ReferenceGenerations] = {}


@asynccontextmanager
async def reference_generations(folder: Path) -> AsyncIterator[ReferenceGenerations]:
    """Open the engine that stands for a folder: the same each time."""
    yield _ENGINES.setdefault(folder, ReferenceGenerations())
