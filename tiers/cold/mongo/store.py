"""Opens every MongoDB store over one database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, get_args

from ...errors import UsageError
from ...ports import WarmStore
from ..stores import ColdStores
from . import (
    archive,
    belief_heads,
    belief_log,
    belief_projection,
    board,
    episodic,
    fleet,
    graphs,
    leases,
    log,
    playbooks,
    procedural,
    queue,
    redaction,
    retirement,
    review,
    semantic,
    shelf_changes,
    turns,
    upkeep,
    usage,
    watermarks,
    word_counts,
    words,
)
from .archive import ORDER_INDEX, MongoArchive
from .belief_heads import MongoHeadStore
from .belief_history import MongoBeliefHistory
from .beliefs import MongoBeliefStore
from .board import MongoBoard
from .database import TIMEOUT_SECONDS, Database
from .driver import DriverName, connected
from .episodic import MongoEpisodicStore
from .fleet import MongoFleetStore
from .grains import MongoGrainStore
from .graphs import MongoGraphStore
from .knowledge import MongoKnowledgeGraph
from .leases import MongoLeaseStore
from .log import MongoRecordLog
from .outbox import OUTBOX_COLLECTIONS, OUTBOX_INDEX
from .playbooks import MongoPlaybooks
from .procedural import MongoProceduralStore
from .queue import MongoWorkQueue
from .recollection import MongoRecollection
from .redaction import MongoRedactor
from .review import MongoFactReview
from .schema import Specification, prepare
from .search_index import planned
from .semantic import MongoSemanticStore
from .shelf import MongoDocumentShelf
from .shelves import BY_STORING
from .timeline import MongoTimeline
from .turns import MongoTurnStore
from .upgrade import upgrade
from .upkeep import MongoUpkeep
from .usage import MongoUsageStore
from .watermarks import MongoWatermarks
from .words import MongoLexicalIndex

CONNECTIONS_MAX = 50
_CONNECTIONS_LIMIT = 10_000
_TIMEOUT_SECONDS_LIMIT = 3_600

_MODULES = (
    graphs, fleet, usage, turns, episodic, semantic, shelf_changes, procedural, review, playbooks,
    watermarks, board, belief_log, belief_projection, belief_heads, queue, leases, log, words,
    word_counts, upkeep, archive, redaction, retirement,
)  # fmt: skip


def collections() -> dict[str, Specification]:
    """Return the indexes and the validator of every collection, by its name."""
    found: dict[str, Specification] = {}
    for module in _MODULES:
        found |= getattr(module, "COLLECTIONS", {})
    for name in OUTBOX_COLLECTIONS:
        indexes, schema = found[name]
        found[name] = ([*indexes, OUTBOX_INDEX], schema)
    for name in BY_STORING:
        indexes, schema = found[name]
        found[name] = ([*indexes, ORDER_INDEX], schema)
    return found


@asynccontextmanager
async def mongo_cold_store(
    uri: str,
    *,
    database: str = "ezra",
    driver: DriverName = "pymongo",
    archival_index: WarmStore | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
    connections_max: int = CONNECTIONS_MAX,
) -> AsyncIterator[ColdStores]:
    """Open the cold tier in a MongoDB database for the length of an ``async with`` block.

    Any number of processes may have the same database open.

    Args:
        uri: ``mongodb://`` or ``mongodb+srv://``, with user and password if need be.
        database: Its name; collections and indexes are made when they are missing.
        driver: ``pymongo``, or ``motor`` for who must keep it.
        archival_index: Finds archival facts by meaning where the server cannot.
        timeout_seconds: The most that an operation may take.
        connections_max: The most connections to a server.

    Raises:
        ConfigError: The address, the name or the user is wrong, the server too old, or the
            database was written by a newer ezra.
        UsageError: Another argument is out of range.
        TierError: The server cannot be reached.
    """
    _check(driver, timeout_seconds, connections_max)

    async def made(raw: Any) -> None:  # noqa: ANN401 - of either driver
        await prepare(raw, collections(), upgrade)

    async with (
        connected(
            uri, driver, timeout_seconds=timeout_seconds, connections_max=connections_max
        ) as client,
        Database(client, database, made, timeout_seconds=timeout_seconds) as opened,
    ):
        plan = await planned(opened, has_warm=archival_index is not None)
        history = MongoBeliefHistory(opened)
        yield ColdStores(
            graphs=MongoGraphStore(opened),
            fleet=MongoFleetStore(opened),
            usage=MongoUsageStore(opened),
            turns=MongoTurnStore(opened),
            episodic=MongoEpisodicStore(opened),
            semantic=MongoSemanticStore(opened, archival_index, plan),
            procedural=MongoProceduralStore(opened),
            grains=MongoGrainStore(opened),
            shelf=MongoDocumentShelf(opened),
            review=MongoFactReview(opened),
            knowledge=MongoKnowledgeGraph(opened),
            playbooks=MongoPlaybooks(opened),
            watermarks=MongoWatermarks(opened),
            beliefs=MongoBeliefStore(opened),
            history=history,
            rivals=history,
            heads=MongoHeadStore(opened),
            queue=MongoWorkQueue(opened),
            leases=MongoLeaseStore(opened),
            log=MongoRecordLog(opened),
            words=MongoLexicalIndex(opened),
            recollection=MongoRecollection(opened),
            timeline=MongoTimeline(opened),
            board=MongoBoard(opened),
            upkeep=MongoUpkeep(opened),
            redactor=MongoRedactor(opened),
            archive=MongoArchive(opened),
        )


def _check(driver: str, timeout_seconds: float, connections_max: int) -> None:
    if driver not in get_args(DriverName):
        raise UsageError("driver", driver, " or ".join(get_args(DriverName)))
    if not 0 < timeout_seconds <= _TIMEOUT_SECONDS_LIMIT:
        accepted = f"above 0, at most {_TIMEOUT_SECONDS_LIMIT}"
        raise UsageError("timeout_seconds", timeout_seconds, accepted)
    if not 1 <= connections_max <= _CONNECTIONS_LIMIT:
        raise UsageError("connections_max", connections_max, f"1 to {_CONNECTIONS_LIMIT}")
