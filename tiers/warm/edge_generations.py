"""The embedded warm indexes, one per embedding model, each in a folder of its own."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from ..errors import CorruptRecord
from ..upkeep import Generation
from .edge_folder import check_folder, disk_call, opened_shard, owned, set_aside, unusable
from .edge_layout import Marks, forget_marks, prepare, read_marks, remove, slug_of, write_marks
from .edge_points import EdgePoints
from .edge_store import STEP_POINTS, EdgeWarmStore, edge_warm_store
from .store import remove_tenant

log = logging.getLogger(__name__)


class EdgeGenerations:
    """A ``WarmGenerations`` over folders. Opened by ``edge_generations``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    async def generations(self, tenant: str) -> tuple[Generation, ...]:
        """Return the tenant's generations, the one marked last first.

        Raises:
            ConfigError: Something that is no folder is where the index without a model has its.
        """
        check_folder(self._folder_of(None))
        with disk_call("generations"):
            known = [read_marks(folder) for folder in sorted(self._folder.iterdir())]
        marked = [marks.generation(tenant) for marks in known if marks]
        found = [mark for mark in marked if mark is not None]
        return tuple(sorted(found, key=lambda one: one.marked_at, reverse=True))

    @asynccontextmanager
    async def opened(self, model_id: str | None, dimensions: int) -> AsyncIterator[EdgeWarmStore]:
        """Open the model's index for the length of the block; made when new.

        Raises:
            ConfigError: The folder is in use, cannot be used, or was made for other vectors.
            CorruptRecord: What was in the folder cannot be loaded. It was set aside with its marks,
                so that opening it again makes a new index, to be built from the start.
        """
        folder = self._folder_of(model_id)
        check_folder(folder)
        with disk_call("open"):
            marks = read_marks(folder)
            if marks is None:
                # Of an index that is gone: they must not speak for the one that is made now.
                forget_marks(folder)
        if marks is not None and marks.leaving:
            await _finish_leaving(folder, marks, dimensions)
        async with AsyncExitStack() as stack:
            opening = edge_warm_store(folder, dimensions=dimensions)
            try:
                store = await stack.enter_async_context(opening)
            except CorruptRecord as damage:
                kept = await asyncio.to_thread(set_aside, folder)
                with disk_call("open"):
                    forget_marks(folder)
                log.warning("a damaged index was set aside as %s: %s", kept, damage.reason)
                raise
            yield store

    async def mark(self, tenant: str, generation: Generation) -> None:
        """Write down how far a generation, which must have been opened once, has come.

        Raises:
            TierUnavailable: The disk is full or failing.
        """
        folder = self._folder_of(generation.model_id)
        with disk_call("mark"):
            marks = read_marks(folder) or Marks(model_id=generation.model_id)
            tenants = {**marks.tenants, tenant: generation}
            write_marks(folder, marks.model_copy(update={"tenants": tenants}))

    async def drop(self, tenant: str, model_id: str | None) -> None:
        """Remove the tenant's entries and mark; the folder with its last tenant.

        An unknown one is no error. What a crash leaves over is removed at the next opening.

        Raises:
            ConfigError: The index is open.
            TierUnavailable: The disk is failing.
        """
        folder = self._folder_of(model_id)
        with disk_call("drop"):
            marks = read_marks(folder)
            if marks is None or tenant not in marks.tenants:
                return
            stay = {name: mark for name, mark in marks.tenants.items() if name != tenant}
            with owned(folder):
                if stay:
                    leaving = (*marks.leaving, tenant)
                    marks = marks.model_copy(update={"tenants": stay, "leaving": leaving})
                    write_marks(folder, marks)
            if not stay:
                await asyncio.to_thread(remove, folder)
                return
        await _finish_leaving(folder, marks, next(iter(stay.values())).dimensions)

    def _folder_of(self, model_id: str | None) -> Path:
        return self._folder / slug_of(model_id)


@asynccontextmanager
async def edge_generations(folder: Path) -> AsyncIterator[EdgeGenerations]:
    """Open the warm folder.

    Args:
        folder: Owned by one process at a time; made when new.

    Raises:
        ConfigError: The folder cannot be used.
    """
    try:
        await asyncio.to_thread(prepare, folder)
    except OSError as error:
        raise unusable(folder, error) from error
    yield EdgeGenerations(folder)


async def _finish_leaving(folder: Path, marks: Marks, dimensions: int) -> None:
    """Remove the entries of tenants that have left; may be repeated.

    In steps with the event loop in between: the engine holds the interpreter's lock.
    """
    with opened_shard(folder, dimensions) as shard:
        points = EdgePoints(shard)
        for tenant in marks.leaving:
            await remove_tenant(points, tenant, STEP_POINTS)
        points.flush("drop")
        with disk_call("drop"):
            write_marks(folder, marks.model_copy(update={"leaving": ()}))
