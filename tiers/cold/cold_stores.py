"""The stores of the cold tier, as they are handed out: imports none of them, nor an engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from . import stores


@dataclass(frozen=True)
class ColdStores:
    """Every store of the cold tier, over one database.

    Attributes:
        held: Receipts that wait to be stored; whoever opened the engine opens it too.
    """

    held: stores.HeldReceipts
    graphs: stores.GraphStore
    fleet: stores.FleetStore
    usage: stores.UsageStore
    desk: stores.TurnDesk
    turns: stores.TurnStore
    episodic: stores.EpisodicStore
    semantic: stores.SemanticStore
    procedural: stores.ProceduralStore
    grains: stores.GrainStore
    shelf: stores.DocumentShelf
    review: stores.FactReview
    knowledge: stores.KnowledgeGraph
    playbooks: stores.Playbooks
    watermarks: stores.Watermarks
    beliefs: stores.BeliefStore
    history: stores.BeliefHistory
    rivals: stores.RivalSearch
    heads: stores.HeadStore
    evidence: stores.Evidence
    queue: stores.WorkQueue
    leases: stores.LeaseStore
    log: stores.RecordLog
    words: stores.LexicalIndex
    recollection: stores.Recollection
    timeline: stores.Timeline
    board: stores.Board
    quarantine: stores.Quarantine
    upkeep: stores.ColdUpkeep
    redactor: stores.Redactor
    taint: stores.TaintStore
    archive: stores.ColdArchive
