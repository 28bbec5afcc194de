"""Every collection of the cold tier, and its stores over an opened engine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ...belief_log import BeliefHistory, BeliefStore, HeadStore, RivalSearch
from ...board import Board
from ...documents import DocumentShelf
from ...evidence import Evidence
from ...grains import GrainStore
from ...knowledge import KnowledgeGraph
from ...learning import FactReview, Playbooks, Watermarks
from ...leases import LeaseStore, RenewableWork
from ...ports import (
    EpisodicStore,
    LexicalIndex,
    ProceduralStore,
    RecordLog,
    SemanticStore,
    TurnStore,
    WarmStore,
)
from ...quarantine import Quarantine
from ...recollection import Recollection, Timeline
from ...registry import FleetStore, GraphStore, UsageStore
from ...taint import TaintStore
from ...turn_desk import TurnDesk
from ...upkeep import ColdArchive, ColdUpkeep, Redactor
from ..port import Collection, RecordStore
from .archive import ColdRows
from .asides import ASIDES, ROLL_BACKS
from .belief_history import ColdBeliefHistory
from .belief_log import CONTENTS, EVENTS
from .belief_projection import BELIEFS, TRUSTS
from .belief_spans import SPANS
from .beliefs import ColdBeliefs
from .board import CARDS, ColdBoard
from .desk import ColdDesk
from .documents import DOCUMENTS, FORMERS, ColdDocuments
from .episodes import EPISODES, SUMMARIES, ColdEpisodes
from .evidence import ColdEvidence
from .facts import USES, ColdFacts
from .grains import ColdGrains
from .graphs import AGENTS, LINKS, ColdFleet, ColdGraphs
from .heads import HEADS, ColdHeads
from .held_receipts import HeldReceipts, Settled
from .knowledge import ColdKnowledge
from .known_graphs import GRAPHS
from .leases import LEASES, ColdLeases
from .lexical import ColdLexicalIndex
from .log import AUDIT, MARKS, RECEIPTS, ColdLog
from .passages import PASSAGES
from .quarantine import QUARANTINED, ColdQuarantine
from .recollection import ColdRecollection
from .redaction import ColdRedactor
from .review import ColdReview
from .rivals import ColdRivals
from .rules import OUTCOMES, RULES, ColdPlaybooks, ColdRules
from .statements import FACTS
from .taint import ColdTaint
from .timeline import ColdTimeline
from .turns import TURNS, ColdTurns
from .upkeep import ColdUpkeep as Upkeep
from .usage import USAGE, ColdUsage
from .watermarks import WATERMARKS, ColdWatermarks
from .words import SEARCHABLE, TOTALS
from .work import WORK, ColdWork

COLLECTIONS: tuple[Collection[Any], ...] = (
    *(GRAPHS, LINKS, AGENTS, USAGE, LEASES, WORK),
    *(RECEIPTS, AUDIT, MARKS),
    *(CARDS, QUARANTINED),
    *(EVENTS, CONTENTS, BELIEFS, SPANS, TRUSTS, HEADS),
    *(TURNS, SUMMARIES, EPISODES, WATERMARKS),
    *(DOCUMENTS, FORMERS, PASSAGES),
    *(SEARCHABLE, TOTALS),
    *(FACTS, USES, RULES, OUTCOMES),
    *(ROLL_BACKS, ASIDES),
)


@dataclass(frozen=True)
class ColdStores:
    """Every store of the cold tier, over one database.

    Attributes:
        held: Receipts that wait to be stored; whoever opened the engine opens it too.
    """

    held: HeldReceipts
    graphs: GraphStore
    fleet: FleetStore
    usage: UsageStore
    desk: TurnDesk
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
    evidence: Evidence
    queue: RenewableWork
    leases: LeaseStore
    log: RecordLog
    words: LexicalIndex
    recollection: Recollection
    timeline: Timeline
    board: Board
    quarantine: Quarantine
    upkeep: ColdUpkeep
    redactor: Redactor
    taint: TaintStore
    archive: ColdArchive


def stores_over(store: RecordStore, *, archival_index: WarmStore | None = None) -> ColdStores:
    """Return every store over an engine.

    Args:
        store: The engine.
        archival_index: Finds archival facts by meaning; without it they are found by their words.
    """
    held = HeldReceipts(store)
    settled = Settled(store, held)
    return ColdStores(
        held=held,
        graphs=ColdGraphs(store),
        fleet=ColdFleet(store),
        usage=ColdUsage(settled),
        desk=ColdDesk(store, held),
        leases=ColdLeases(store),
        queue=ColdWork(settled),
        log=ColdLog(settled),
        board=ColdBoard(store),
        quarantine=ColdQuarantine(store),
        beliefs=ColdBeliefs(settled),
        history=ColdBeliefHistory(settled),
        rivals=ColdRivals(store),
        heads=ColdHeads(settled),
        evidence=ColdEvidence(settled),
        turns=ColdTurns(store),
        episodic=ColdEpisodes(store),
        grains=ColdGrains(store),
        watermarks=ColdWatermarks(store),
        shelf=ColdDocuments(store),
        timeline=ColdTimeline(store),
        words=ColdLexicalIndex(store),
        recollection=ColdRecollection(store),
        semantic=ColdFacts(store, archival_index),
        review=ColdReview(store),
        knowledge=ColdKnowledge(store),
        procedural=ColdRules(store),
        playbooks=ColdPlaybooks(store),
        upkeep=Upkeep(settled),
        redactor=ColdRedactor(settled),
        taint=ColdTaint(settled),
        archive=ColdRows(settled),
    )
