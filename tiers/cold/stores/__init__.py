"""The stores of the cold tier, written once over ``tiers.cold.port``; an engine knows none.

The rules of ``tiers.ports`` hold of them, and their docstrings are the specification. Each asks
with the scope of whoever asks, which is part of the engine's own question.
"""

from __future__ import annotations

from typing import Any

from ...ports import WarmStore
from ..cold_stores import ColdStores as ColdStores
from ..port import Collection, RecordStore
from .belief_history import BeliefHistory as BeliefHistory
from .belief_history import RivalSearch as RivalSearch
from .belief_log import CONTENTS, EVENTS
from .belief_projection import BELIEFS, TRUSTS
from .belief_spans import SPANS
from .beliefs import BeliefStore as BeliefStore
from .board import CARDS
from .board import Board as Board
from .documents import DOCUMENTS, FORMERS
from .documents import DocumentShelf as DocumentShelf
from .episodes import EPISODES, SUMMARIES
from .episodes import EpisodicStore as EpisodicStore
from .erasures import Erasures
from .evidence import HEADS
from .evidence import Evidence as Evidence
from .evidence import HeadStore as HeadStore
from .facts import USES
from .facts import SemanticStore as SemanticStore
from .grains import GrainStore as GrainStore
from .graphs import AGENTS, LINKS
from .graphs import FleetStore as FleetStore
from .graphs import GraphStore as GraphStore
from .knowledge import KnowledgeGraph as KnowledgeGraph
from .known_graphs import GRAPHS
from .leases import LEASES
from .leases import Lease as Lease
from .leases import LeaseStore as LeaseStore
from .lexical import LexicalIndex as LexicalIndex
from .log import AUDIT, MARKS, RECEIPTS
from .log import RecordLog as RecordLog
from .passages import PASSAGES
from .quarantine import QUARANTINED
from .quarantine import Quarantine as Quarantine
from .recollection import Recollection as Recollection
from .recollection import Timeline as Timeline
from .redactable_records import ASIDES, ROLL_BACKS
from .redaction import Redactor as Redactor
from .review import FactReview as FactReview
from .rules import OUTCOMES, RULES
from .rules import Playbooks as Playbooks
from .rules import ProceduralStore as ProceduralStore
from .statements import FACTS
from .taint import TaintStore as TaintStore
from .turn_io import HeldReceipts as HeldReceipts
from .turn_io import TurnDesk as TurnDesk
from .turns import TURNS
from .turns import TurnStore as TurnStore
from .upkeep import ColdArchive as ColdArchive
from .upkeep import ColdUpkeep as ColdUpkeep
from .usage import USAGE
from .usage import UsageStore as UsageStore
from .watermarks import WATERMARKS
from .watermarks import Watermarks as Watermarks
from .words import SEARCHABLE, TOTALS
from .work import WORK
from .work import WorkQueue as WorkQueue

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


def stores_over(store: RecordStore, *, archival_index: WarmStore | None = None) -> ColdStores:
    """Return every store over an engine.

    Args:
        store: The engine.
        archival_index: Finds archival facts by meaning; without it they are found by their words.
    """
    held = HeldReceipts(store)
    erasures = Erasures()
    return ColdStores(
        held=held,
        graphs=GraphStore(store),
        fleet=FleetStore(store),
        usage=UsageStore(held),
        desk=TurnDesk(store, held, erasures),
        leases=LeaseStore(store),
        queue=WorkQueue(held),
        log=RecordLog(held),
        board=Board(store),
        quarantine=Quarantine(store),
        beliefs=BeliefStore(held),
        history=BeliefHistory(held),
        rivals=RivalSearch(store),
        heads=HeadStore(held),
        evidence=Evidence(held),
        turns=TurnStore(store),
        episodic=EpisodicStore(store),
        grains=GrainStore(store),
        watermarks=Watermarks(store),
        shelf=DocumentShelf(store),
        timeline=Timeline(store),
        words=LexicalIndex(store),
        recollection=Recollection(store),
        semantic=SemanticStore(store, archival_index),
        review=FactReview(store),
        knowledge=KnowledgeGraph(store),
        procedural=ProceduralStore(store),
        playbooks=Playbooks(store),
        upkeep=ColdUpkeep(held),
        redactor=Redactor(held, erasures),
        taint=TaintStore(held),
        archive=ColdArchive(held),
    )
