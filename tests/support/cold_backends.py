"""Every cold tier that must behave alike, how a test opens one, and how it looks behind it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tiers.belief_log import BeliefHistory, BeliefStore, HeadStore, RivalSearch
from tiers.board import Board
from tiers.cold.sqlite import DATABASE_NAME, sqlite_cold_store
from tiers.documents import DocumentShelf
from tiers.grains import GrainStore
from tiers.knowledge import KnowledgeGraph
from tiers.learning import FactReview, Playbooks, Watermarks
from tiers.leases import LeaseStore
from tiers.ports import (
    EpisodicStore,
    LexicalIndex,
    ProceduralStore,
    RecordLog,
    SemanticStore,
    TurnStore,
    WarmStore,
    WorkQueue,
)
from tiers.recollection import Recollection, Timeline
from tiers.registry import FleetStore, GraphStore, UsageStore
from tiers.upkeep import ColdArchive, ColdUpkeep, Redactor

from .cold_mongo import MongoDatabases, live, stand_in


class Cold(Protocol):
    """Every port of the cold tier."""

    graphs: GraphStore
    fleet: FleetStore
    usage: UsageStore
    turns: TurnStore
    episodic: EpisodicStore
    semantic: SemanticStore
    procedural: ProceduralStore
    grains: GrainStore
    shelf: DocumentShelf
    review: FactReview
    knowledge: KnowledgeGraph
    playbooks: Playbooks
    watermarks: Watermarks
    beliefs: BeliefStore
    history: BeliefHistory
    rivals: RivalSearch
    heads: HeadStore
    queue: WorkQueue
    leases: LeaseStore
    log: RecordLog
    words: LexicalIndex
    recollection: Recollection
    timeline: Timeline
    board: Board
    upkeep: ColdUpkeep
    redactor: Redactor
    archive: ColdArchive


class Opener(Protocol):
    """Opens the tier in a folder, which is empty the first time."""

    def __call__(
        self, folder: Path, *, archival_index: WarmStore | None = None
    ) -> AbstractAsyncContextManager[Cold]:
        """Return the tier, to be entered."""
        ...


@dataclass(frozen=True)
class ColdBackend:
    """One row of the table.

    Attributes:
        name: Shown as the test's parameter.
        opened: Opens it.
        rows: Reads a table or collection in the raw engine, beside or after the store.
    """

    name: str
    opened: Opener
    rows: Callable[[Path, str], list[dict[str, Any]]]


def raw_sqlite(folder: Path) -> sqlite3.Connection:
    """Return a plain connection to the file, as anybody with access to it could make."""
    connection = sqlite3.connect(folder / DATABASE_NAME, isolation_level=None)
    connection.row_factory = sqlite3.Row
    return connection


def _sqlite_rows(folder: Path, table: str) -> list[dict[str, Any]]:
    with closing(raw_sqlite(folder)) as connection:
        return [dict(row) for row in connection.execute(f"SELECT * FROM {table}")]  # noqa: S608


def _mongo_rows() -> list[ColdBackend]:
    databases: dict[str, MongoDatabases | None] = {
        "mongo": stand_in("replica_set"),
        "mongo-standalone": stand_in("standalone"),
        "motor": stand_in("replica_set", "motor"),
        "mongo-live": live(),
    }
    return [
        ColdBackend(name, found.opened, found.rows)
        for name, found in databases.items()
        if found is not None
    ]


COLD_BACKENDS = (ColdBackend("sqlite", sqlite_cold_store, _sqlite_rows), *_mongo_rows())
