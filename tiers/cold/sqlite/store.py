"""Opens every SQLite store over one file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

from ...errors import ConfigError, UsageError, refused
from ...ports import WarmStore
from ..stores import COLLECTIONS, ColdStores, stores_over
from .database import Synchronous
from .records import sqlite_record_store
from .schema import check_file

DATABASE_NAME = "ezra.db"


@asynccontextmanager
async def sqlite_cold_store(
    folder: Path,
    *,
    archival_index: WarmStore | None = None,
    synchronous: Synchronous = "NORMAL",
) -> AsyncIterator[ColdStores]:
    """Open the cold tier in ``folder`` for the length of an ``async with`` block.

    Args:
        folder: Where ``ezra.db`` is, or is made. Owned by one process: see ``own_folder``.
        archival_index: Finds archival facts by meaning.
        synchronous: ``NORMAL``: what was acknowledged survives a killed process. ``FULL``: a
            power cut as well, for a few milliseconds per write.

    Raises:
        ConfigError: The folder cannot be used, or its database has another version or
            is not ezra's.
        TierError: The database cannot be opened or is damaged.
        CorruptRecord: It was emptied or cut short.
    """
    if synchronous not in get_args(Synchronous):
        raise UsageError("synchronous", synchronous, " or ".join(get_args(Synchronous)))
    await asyncio.to_thread(check_file, _new_folder(folder) / DATABASE_NAME)
    path = folder / DATABASE_NAME
    async with sqlite_record_store(path, COLLECTIONS, synchronous=synchronous) as store:
        cold = stores_over(store, archival_index=archival_index)
        async with cold.held:
            yield cold


def _new_folder(folder: Path) -> Path:
    with refused(lambda why: ConfigError("EZRA_HOME", f"cannot make {folder}: {why}")):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
