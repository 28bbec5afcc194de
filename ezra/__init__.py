"""ezra: the memory runtime under fleets of AI agents.

    async with Ezra.open() as ezra:
        graph = await ezra.create_session_graph("race-weekend")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await agent.remember("Mediums last about 18 laps.", topics={"tyres"})
        hits = await agent.recall("medium tyre life")

Everything people need is exported here; all other modules may change.
"""

from tiers.errors import (
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
    AuditEvent,
    Commitment,
    Episode,
    Fact,
    Hit,
    MeshResult,
    Receipt,
    Rule,
    SessionGraph,
    Summary,
    ToolOutput,
    Turn,
)

from .agent import Agent, Completion, OpenTurn
from .app import Ezra
from .graph import Graph
from .models import EchoModel, ScriptedModel
from .recall import RecallResult
from .settings import Settings

__all__ = [
    "Agent",
    "AuditEvent",
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
    "Hit",
    "IntegrityError",
    "MeshResult",
    "NotFound",
    "OpenTurn",
    "PolicyDenied",
    "RecallResult",
    "Receipt",
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
    "UsageError",
]
