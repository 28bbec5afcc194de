"""Opens every SQLite store over one file."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import get_args

from ...errors import ConfigError, UsageError
from ...ports import WarmStore
from ..stores import ColdStores
from .archive import SqliteArchive
from .belief_heads import SqliteHeadStore
from .belief_history import SqliteBeliefHistory
from .beliefs import SqliteBeliefStore
from .board import SqliteBoard
from .database import Database, Synchronous
from .episodic import SqliteEpisodicStore
from .fleet import SqliteFleetStore
from .grains import SqliteGrainStore
from .graphs import SqliteGraphStore
from .knowledge import SqliteKnowledgeGraph
from .leases import SqliteLeaseStore
from .log import SqliteRecordLog
from .playbooks import SqlitePlaybooks
from .procedural import SqliteProceduralStore
from .queue import SqliteWorkQueue
from .recollection import SqliteRecollection
from .redaction import SqliteRedactor
from .review import SqliteFactReview
from .schema import migrate
from .semantic import SqliteSemanticStore
from .shelf import SqliteDocumentShelf
from .timeline import SqliteTimeline
from .turns import SqliteTurnStore
from .upkeep import SqliteUpkeep
from .usage import SqliteUsageStore
from .watermarks import SqliteWatermarks
from .words import SqliteLexicalIndex

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
        ConfigError: The folder cannot be used, or its database is newer or not ezra's.
        TierError: The database cannot be opened or is damaged.
    """
    if synchronous not in get_args(Synchronous):
        raise UsageError("synchronous", synchronous, " or ".join(get_args(Synchronous)))
    async with Database(
        _made(folder) / DATABASE_NAME, migrate, synchronous=synchronous
    ) as database:
        history = SqliteBeliefHistory(database)
        yield ColdStores(
            graphs=SqliteGraphStore(database),
            fleet=SqliteFleetStore(database),
            usage=SqliteUsageStore(database),
            turns=SqliteTurnStore(database),
            episodic=SqliteEpisodicStore(database),
            semantic=SqliteSemanticStore(database, archival_index),
            procedural=SqliteProceduralStore(database),
            grains=SqliteGrainStore(database),
            shelf=SqliteDocumentShelf(database),
            review=SqliteFactReview(database),
            knowledge=SqliteKnowledgeGraph(database),
            playbooks=SqlitePlaybooks(database),
            watermarks=SqliteWatermarks(database),
            beliefs=SqliteBeliefStore(database),
            history=history,
            rivals=history,
            heads=SqliteHeadStore(database),
            queue=SqliteWorkQueue(database),
            leases=SqliteLeaseStore(database),
            log=SqliteRecordLog(database),
            words=SqliteLexicalIndex(database),
            recollection=SqliteRecollection(database),
            timeline=SqliteTimeline(database),
            board=SqliteBoard(database),
            upkeep=SqliteUpkeep(database),
            redactor=SqliteRedactor(database),
            archive=SqliteArchive(database),
        )


def _made(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        reason = f"cannot make {folder}: {error.strerror}"
        raise ConfigError("EZRA_HOME", reason) from error
    return folder
