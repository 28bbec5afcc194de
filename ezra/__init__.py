"""ezra: the memory runtime under fleets of AI agents.

    async with Ezra.open() as ezra:
        graph = await ezra.create_session_graph("race-weekend")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await agent.remember("Mediums last about 18 laps.", topics={"tyres"})
        hits = await agent.recall("medium tyre life")

Everything people need is exported here; all other modules may change.
"""

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
    Budget,
    Commitment,
    Episode,
    Fact,
    GraphState,
    Hit,
    MeshResult,
    Parent,
    Receipt,
    Retention,
    Rule,
    SessionGraph,
    Summary,
    ToolOutput,
    Turn,
    Usage,
)

from .agent import Agent, Completion, OpenTurn
from .app import Ezra
from .catalog import Catalog
from .graph import Graph, GraphStatus
from .models import EchoModel, ScriptedModel
from .recall import RecallResult
from .redaction import RedactionReport
from .settings import Settings

__all__ = [
    "Agent",
    "AgentRecord",
    "Ancestor",
    "AuditEvent",
    "AuditFilter",
    "Budget",
    "BudgetExceeded",
    "Catalog",
    "Commitment",
    "Completion",
    "ConfigError",
    "Conflict",
    "CorruptRecord",
    "EchoModel",
    "Episode",
    "Ezra",
    "EzraError",
    "Fact",
    "Graph",
    "GraphState",
    "GraphStatus",
    "Hit",
    "IntegrityError",
    "MeshResult",
    "NotFound",
    "OpenTurn",
    "Parent",
    "PolicyDenied",
    "RecallResult",
    "Receipt",
    "RedactionReport",
    "Retention",
    "Rule",
    "ScriptedModel",
    "SessionGraph",
    "Settings",
    "Summary",
    "TierError",
    "TierRejected",
    "TierTimeout",
    "TierUnavailable",
    "ToolOutput",
    "Turn",
    "Usage",
    "UsageError",
]
