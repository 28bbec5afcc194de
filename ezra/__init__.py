"""ezra: the memory runtime under fleets of AI agents.

    async with Ezra.open() as ezra:
        graph = await ezra.create_session_graph("race-weekend")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await agent.remember("Mediums last about 18 laps.", topics={"tyres"})
        hits = await agent.recall("medium tyre life")

Everything people need is exported here; all other modules may change.
"""

from metaagents.learning.core import CoreBlock
from metaagents.lifecycle.agent import LifecycleReport
from metaagents.lifecycle.conservation import ConservationReport
from metaagents.lifecycle.retirement import RetentionReport
from metaagents.work import WorkReport
from tiers.errors import (
    BudgetExceeded,
    ConfigError,
    Conflict,
    CorruptRecord,
    EzraError,
    IntegrityError,
    NotFound,
    PolicyDenied,
    TierError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)
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
from .contradiction import Contradiction
from .difference import BeliefDiff
from .explaining import Story
from .graph import Graph, GraphStatus
from .history import Explanation, History
from .models import EchoModel, ScriptedModel
from .recall import RecallResult
from .redaction import RedactionReport
from .settings import Settings
from .turn import Completion, OpenTurn

__all__ = [
    "Agent",
    "AgentRecord",
    "Ancestor",
    "AuditEvent",
    "AuditFilter",
    "BeliefDiff",
    "BeliefEvent",
    "BranchPoint",
    "Budget",
    "BudgetExceeded",
    "Catalog",
    "Changed",
    "Commitment",
    "Completion",
    "ConfigError",
    "Conflict",
    "ConservationReport",
    "Contradiction",
    "CoreBlock",
    "CorruptRecord",
    "EchoModel",
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
    "IntegrityError",
    "LifecycleReport",
    "LoggedBelief",
    "MeshResult",
    "NotFound",
    "OpenTurn",
    "Parent",
    "PolicyDenied",
    "RecallResult",
    "Receipt",
    "RedactionReport",
    "Retention",
    "RetentionReport",
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
    "WorkReport",
]
