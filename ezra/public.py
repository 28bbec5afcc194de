"""Everything people need. ``ezra`` itself hands it out, loaded when it is first asked for."""

from metaagents.learning.core import CoreBlock
from metaagents.lifecycle.conservation import ConservationReport
from metaagents.lifecycle.reports import LifecycleReport
from metaagents.lifecycle.retirement import RetentionReport
from metaagents.work import WorkReport
from tiers.documents import Citation, Document, Passage, Revised
from tiers.errors import (
    BudgetExceeded,
    ConfigError,
    Conflict,
    CorruptRecord,
    DiskFull,
    ErasedMeanwhile,
    EzraError,
    IntegrityError,
    NotFound,
    PolicyDenied,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UnfitRecord,
    UsageError,
    WasRedacted,
    WriteRefused,
)
from tiers.knowledge import Entity, Neighbour
from tiers.records import (
    AgentRecord,
    Ancestor,
    AuditEvent,
    AuditFilter,
    BeliefEvent,
    BranchPoint,
    Budget,
    Changed,
    Commitment,
    Episode,
    Fact,
    GraphState,
    HistoricBelief,
    Hit,
    LoggedBelief,
    MeshResult,
    Parent,
    Receipt,
    Retention,
    Rule,
    SessionGraph,
    SignedHead,
    Summary,
    ToolOutput,
    Turn,
    Usage,
)

from .app import Ezra
from .beliefs.difference import BeliefDiff
from .beliefs.history import History
from .beliefs.spans import Explanation
from .contradiction import Contradiction
from .documents import Documents
from .erasure.holdings import HeldRecord, Holding
from .erasure.redaction import RedactionReport
from .handles.agent import Agent
from .handles.branches import Step
from .handles.catalog import Catalog
from .handles.explanation import Story
from .handles.graph import Graph
from .handles.knowledge import Applied, Change, Knowledge
from .handles.recording import PastTurn, Recorded
from .handles.remembering_facts import RememberedFact
from .handles.tool_outputs import OutputRange
from .handles.turn import Completion, OpenTurn
from .models import EchoModel, ScriptedModel
from .moving.graph_status import GraphStatus
from .recall.injecting import Injected
from .recall.memory_search import MemorySearch
from .recaller import Reason, RecallResult
from .receipts.comparing import ContextDiff
from .receipts.context_report import ContextReport
from .receipts.readings import Reading, Readings
from .receipts.rebuilding import ReplayedContext
from .settings import Settings

__all__ = [
    "Agent",
    "AgentRecord",
    "Ancestor",
    "Applied",
    "AuditEvent",
    "AuditFilter",
    "BeliefDiff",
    "BeliefEvent",
    "BranchPoint",
    "Budget",
    "BudgetExceeded",
    "Catalog",
    "Change",
    "Changed",
    "Citation",
    "Commitment",
    "Completion",
    "ConfigError",
    "Conflict",
    "ConservationReport",
    "ContextDiff",
    "ContextReport",
    "Contradiction",
    "CoreBlock",
    "CorruptRecord",
    "DiskFull",
    "Document",
    "Documents",
    "EchoModel",
    "Entity",
    "Episode",
    "ErasedMeanwhile",
    "Explanation",
    "Ezra",
    "EzraError",
    "Fact",
    "Graph",
    "GraphState",
    "GraphStatus",
    "HeldRecord",
    "HistoricBelief",
    "History",
    "Hit",
    "Holding",
    "Injected",
    "IntegrityError",
    "Knowledge",
    "LifecycleReport",
    "LoggedBelief",
    "MemorySearch",
    "MeshResult",
    "Neighbour",
    "NotFound",
    "OpenTurn",
    "OutputRange",
    "Parent",
    "Passage",
    "PastTurn",
    "PolicyDenied",
    "Reading",
    "Readings",
    "Reason",
    "RecallResult",
    "Receipt",
    "Recorded",
    "RedactionReport",
    "RememberedFact",
    "ReplayedContext",
    "Retention",
    "RetentionReport",
    "Revised",
    "Rule",
    "ScriptedModel",
    "SessionGraph",
    "Settings",
    "SignedHead",
    "Step",
    "Story",
    "Summary",
    "TierError",
    "TierRejected",
    "TierTimeout",
    "TierUnavailable",
    "ToolOutput",
    "Turn",
    "UnfitRecord",
    "Usage",
    "UsageError",
    "WasRedacted",
    "WorkReport",
    "WriteRefused",
]
