"""Every engine of warm generations that must behave alike, and how a test opens one."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from tiers.upkeep import WarmGenerations
from tiers.warm import edge_generations
from tiers.warm.qdrant_indexes import QdrantGenerations
from tiers.warm.qdrant_opening import qdrant_generations

from .generation_reference import reference_generations
from .qdrant_shim import shared_shim
from .warm_backends import LIVE_KEY, LIVE_PREFIX, LIVE_URL, local_client, prefix_of


@dataclass(frozen=True)
class GenerationBackend:
    """One row of the table.

    Attributes:
        name: Shown as the test's parameter.
        opened: Opens the engine; what one folder's engine holds is there when it is opened again
            with the same folder, and nothing is when the folder is empty.
        is_exclusive: Whether an index that is open cannot be opened or dropped a second time.
    """

    name: str
    opened: Callable[[Path], AbstractAsyncContextManager[WarmGenerations]]
    is_exclusive: bool


@asynccontextmanager
async def _local(folder: Path) -> AsyncIterator[QdrantGenerations]:
    async with local_client(path=str(folder)) as client:
        yield QdrantGenerations(client)


@asynccontextmanager
async def _http(folder: Path) -> AsyncIterator[QdrantGenerations]:
    async with qdrant_generations(shared_shim().url, prefix=prefix_of(folder)) as opened:
        yield opened


@asynccontextmanager
async def _live(folder: Path) -> AsyncIterator[QdrantGenerations]:
    prefix = f"{LIVE_PREFIX}_{prefix_of(folder)}"
    async with qdrant_generations(str(LIVE_URL), api_key=LIVE_KEY, prefix=prefix) as opened:
        yield opened


_LIVE = [GenerationBackend("qdrant live", _live, is_exclusive=False)]

GENERATION_BACKENDS = (
    GenerationBackend("edge", edge_generations, is_exclusive=True),
    GenerationBackend("qdrant local", _local, is_exclusive=False),
    GenerationBackend("qdrant http", _http, is_exclusive=False),
    GenerationBackend("reference", reference_generations, is_exclusive=False),
    *(_LIVE if LIVE_URL is not None else []),
)
"""The engines, for every contract test: no engine can choose its own judge."""
