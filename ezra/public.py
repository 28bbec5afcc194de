"""Everything people need. ``ezra`` itself hands it out, loaded when it is first asked for."""

from metaagents.learning.core import CoreBlock
from metaagents.lifecycle.agent import LifecycleReport
from metaagents.lifecycle.conservation import ConservationReport
from metaagents.lifecycle.retirement import RetentionReport
from metaagents.work import WorkReport
from tiers.documents import Citation, Document, Passage, Revised
from tiers.errors import (
    BudgetExceeded,
    ConfigError,
    Conflict,
    CorruptRecord,
    DiskFull,
    EzraError,
    IntegrityError,
    NotFound,
    PolicyDenied,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
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

from .agent import Agent
from .app import Ezra
from .branching import Step
from .catalog import Catalog
from .comparing import ContextDiff
from .context_report import ContextReport
from .contradiction import Contradiction
from .difference import BeliefDiff
from .documents import Documents
from .explaining import Story
from .graph import Graph
from .graph_status import GraphStatus
from .history import History
from .injecting import Injected
from .knowledge import Applied, Change, Knowledge
from .lives import Explanation
from .memory_search import MemorySearch
from .models import EchoModel, ScriptedModel
from .rebuilding import ReplayedContext
from .recall import Reason, RecallResult
from .recording import PastTurn, Recorded
from .redaction import RedactionReport
from .remembering_facts import RememberedFact
from .settings import Settings
from .tool_outputs import OutputRange
from .turn import Completion, OpenTurn

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
    "Explanation",
    "Ezra",
    "EzraError",
    "Fact",
    "Graph",
    "GraphState",
    "GraphStatus",
    "HistoricBelief",
    "History",
    "Hit",
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
    "Usage",
    "UsageError",
    "WasRedacted",
    "WorkReport",
    "WriteRefused",
]
