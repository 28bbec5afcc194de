"""Every warm store that must behave alike, and how a test opens one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from qdrant_edge import Filter, UpdateOperation

from tiers.ports import WarmStore
from tiers.warm import EdgeWarmStore, edge_warm_store

from .tier_samples import DIMENSIONS
from .warm_reference import ReferenceWarmStore


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
async def _edge(folder: Path) -> AsyncIterator[EdgeWarmStore]:
    # Over-fetching as much as a query may ask for makes answers complete, hence comparable.
    async with edge_warm_store(folder, dimensions=DIMENSIONS, overfetch=200) as store:
        yield store


@asynccontextmanager
async def _reference(_folder: Path) -> AsyncIterator[ReferenceWarmStore]:
    async with ReferenceWarmStore(DIMENSIONS) as store:
        yield store


def _empty_edge(store: WarmStore) -> None:
    assert isinstance(store, EdgeWarmStore)
    store._shard.update(UpdateOperation.delete_points_by_filter(Filter()))


def _empty_reference(store: WarmStore) -> None:
    assert isinstance(store, ReferenceWarmStore)
    store._entries.clear()


WARM_BACKENDS = (
    WarmBackend("edge", _edge, is_durable=True, emptied=_empty_edge),
    WarmBackend("reference", _reference, is_durable=False, emptied=_empty_reference),
)
