"""The cold tier as a whole: every port over one database, whatever engine it is."""

from __future__ import annotations

from dataclasses import dataclass

from ..belief_log import BeliefHistory, BeliefStore, HeadStore, RivalSearch
from ..board import Board
from ..documents import DocumentShelf
from ..grains import GrainStore
from ..knowledge import KnowledgeGraph
from ..learning import FactReview, Playbooks, Watermarks
from ..leases import LeaseStore, RenewableWork
from ..ports import (
    EpisodicStore,
    LexicalIndex,
    ProceduralStore,
    RecordLog,
    SemanticStore,
    TurnStore,
)
from ..recollection import Recollection, Timeline
from ..registry import FleetStore, GraphStore, UsageStore
from ..upkeep import ColdArchive, ColdUpkeep, Redactor


@dataclass(frozen=True)
class ColdStores:
    """Every store of the cold tier, over one database."""

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
    queue: RenewableWork
    leases: LeaseStore
    log: RecordLog
    words: LexicalIndex
    recollection: Recollection
    timeline: Timeline
    board: Board
    upkeep: ColdUpkeep
    redactor: Redactor
    archive: ColdArchive
