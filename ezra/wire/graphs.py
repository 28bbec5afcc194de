"""Session graphs and their members, as operations."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from metaagents.learning.core import CoreBlock
from metaagents.lifecycle.conservation import ConservationReport
from tiers.fields import NAME_CHARS_MAX, TOPICS_MAX
from tiers.fleet import WINDOW_MAX, WINDOW_MIN, Inject
from tiers.plans import AnyGrain
from tiers.records import (
    AgentRecord,
    Ancestor,
    Budget,
    Episode,
    Fact,
    Grain,
    Parent,
    Retention,
    SessionGraph,
    Summary,
    Text,
    Topics,
    Usage,
)

from ..agent_memory import AgentMemory
from ..graph_status import GraphStatus
from .operation import Asked, Nothing, Operation
from .points import Time

PARENTS_MAX = 1_000
"""So many graphs can be named at once; more are linked one by one."""

Strategy: TypeAlias = Literal["last_write_wins", "highest_trust", "manual"]
"""``custom`` needs a function, and a function does not go over the wire."""


class Answer(BaseModel):
    """Base of what is answered where a handle is what a method returns: what the handle shows."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class GraphAnswer(Answer):
    """What the handle of a graph shows."""

    id: str
    inherits_from: tuple[str, ...]


class RevokedAnswer(Answer):
    """Whether a parent was one, and what is inherited from now."""

    revoked: bool
    inherits_from: tuple[str, ...]


class AgentAnswer(Answer):
    """What the handle of an agent shows."""

    id: str
    topics: tuple[str, ...]
    core_at_spawn: tuple[Fact, ...]
    lineage: tuple[Ancestor, ...]


class CreateAsked(Asked):
    """As ``Ezra.create_session_graph``."""

    session_graph_id: str = Field(max_length=NAME_CHARS_MAX, examples=["race-weekend-imola-2026"])
    inherits_from: tuple[str | Parent, ...] = Field(
        default=(), max_length=PARENTS_MAX, examples=[["race-weekend-monaco-2026"]]
    )
    merge_strategy: Strategy | None = None
    inherit_rules: bool = True
    inherit_episodes: bool = False
    budget: Budget | None = None
    retention: Retention | None = None
    exist_ok: bool = False


class ConfigureAsked(Asked):
    """As ``Graph.configure``."""

    budget: Budget | None = None
    retention: Retention | None = None


class InheritAsked(Asked):
    """As ``Graph.inherit``."""

    parent: str | Parent = Field(examples=["race-weekend-bahrain-2026"])


class SpawnAsked(Asked):
    """As ``Graph.spawn_agent``.

    What limits an agent beyond its topics, ``sources``, ``denied_topics``, ``denied_sources`` and
    ``budget``, only an operator sets; a member that others spawn again keeps it.
    """

    topics: Topics = Field(default=(), examples=[["tyres", "strategy"]])
    role: Text = Field(default="", examples=["race strategist"])
    user_id: str | None = Field(default=None, max_length=NAME_CHARS_MAX)
    sources: tuple[str, ...] | None = Field(default=None, max_length=TOPICS_MAX)
    denied_topics: tuple[str, ...] | None = Field(default=None, max_length=TOPICS_MAX)
    denied_sources: tuple[str, ...] | None = Field(default=None, max_length=TOPICS_MAX)
    budget: Budget | None = None
    prompts: dict[AnyGrain, Text] = Field(default_factory=dict)
    inject: Inject = "off"
    model_window_tokens: int | None = Field(default=None, ge=WINDOW_MIN, le=WINDOW_MAX)


class EpisodesAsked(Asked):
    """As ``Graph.episodes``."""

    since: Time | None = None
    until: Time | None = None
    grain: Grain | None = None


CREATE = Operation(
    "graph.create",
    "POST",
    "/v1/graphs",
    CreateAsked,
    TypeAdapter(GraphAnswer),
    "operate",
    "Create a session graph.",
    repeats=False,
)
LIST = Operation(
    "graph.list",
    "GET",
    "/v1/graphs",
    Nothing,
    TypeAdapter(tuple[SessionGraph, ...]),
    "read",
    "All session graphs of the tenant, oldest first.",
)
GET = Operation(
    "graph.get",
    "GET",
    "/v1/graphs/{graph_id}",
    Nothing,
    TypeAdapter(GraphAnswer),
    "read",
    "A session graph, and what it inherits from.",
)
CONFIGURE = Operation(
    "graph.configure",
    "PATCH",
    "/v1/graphs/{graph_id}",
    ConfigureAsked,
    TypeAdapter(GraphAnswer),
    "operate",
    "Replace a graph's budget or retention; what is not given stays.",
)
INHERIT = Operation(
    "graph.inherit",
    "POST",
    "/v1/graphs/{graph_id}/parents",
    InheritAsked,
    TypeAdapter(GraphAnswer),
    "operate",
    "Inherit from one more graph, after those it inherits from already.",
    repeats=False,
)
REVOKE = Operation(
    "graph.revoke",
    "DELETE",
    "/v1/graphs/{graph_id}/parents/{parent_id}",
    Nothing,
    TypeAdapter(RevokedAnswer),
    "operate",
    "Inherit from a parent no longer.",
    repeats=False,
)
STATUS = Operation(
    "graph.status",
    "GET",
    "/v1/graphs/{graph_id}/status",
    Nothing,
    TypeAdapter(GraphStatus),
    "read",
    "A graph's state and what each tier holds for it.",
)
SUMMARIES = Operation(
    "graph.summaries",
    "GET",
    "/v1/graphs/{graph_id}/summaries",
    Nothing,
    TypeAdapter(tuple[Summary, ...]),
    "read",
    "All shared summaries of a graph, oldest period first.",
)
EPISODES = Operation(
    "graph.episodes",
    "GET",
    "/v1/graphs/{graph_id}/episodes",
    EpisodesAsked,
    TypeAdapter(tuple[Episode, ...]),
    "read",
    "All shared episodes that overlap a window, oldest first.",
)
CORE = Operation(
    "graph.core",
    "GET",
    "/v1/graphs/{graph_id}/core/{agent_id}",
    Nothing,
    TypeAdapter(CoreBlock),
    "read",
    "The core facts in the next context of a member, what is left out, and the cost.",
)
CONSERVATION = Operation(
    "graph.conservation",
    "GET",
    "/v1/graphs/{graph_id}/conservation",
    Nothing,
    TypeAdapter(ConservationReport),
    "read",
    "Count every turn of a graph at every grain.",
)
USAGE = Operation(
    "graph.usage",
    "GET",
    "/v1/graphs/{graph_id}/usage",
    Nothing,
    TypeAdapter(Usage),
    "read",
    "What a graph has used of its budget.",
)
USAGE_BY_AGENT = Operation(
    "graph.usage_by_agent",
    "GET",
    "/v1/graphs/{graph_id}/usage/agents",
    Nothing,
    TypeAdapter(dict[str, Usage]),
    "read",
    "What each agent has used that has used anything, by id.",
)
CLOSE = Operation(
    "graph.close",
    "POST",
    "/v1/graphs/{graph_id}/close",
    Nothing,
    TypeAdapter(None),
    "operate",
    "Let every agent leave and clear hot memory; everything else is kept.",
)
REOPEN = Operation(
    "graph.reopen",
    "POST",
    "/v1/graphs/{graph_id}/reopen",
    Nothing,
    TypeAdapter(bool),
    "operate",
    "Open a closed graph again; false when it is open already.",
    repeats=False,
)
ARCHIVE = Operation(
    "graph.archive",
    "POST",
    "/v1/graphs/{graph_id}/archive",
    Nothing,
    TypeAdapter(bool),
    "operate",
    "Close a graph and archive it now; false when it is archived already, or cannot be yet.",
    repeats=False,
)
MEMBERS = Operation(
    "graph.agents",
    "GET",
    "/v1/graphs/{graph_id}/agents",
    Nothing,
    TypeAdapter(tuple[AgentRecord, ...]),
    "read",
    "All members of a graph in order of spawn, those who left included.",
)
SPAWN = Operation(
    "agent.spawn",
    "PUT",
    "/v1/graphs/{graph_id}/agents/{agent_id}",
    SpawnAsked,
    TypeAdapter(AgentAnswer),
    "act",
    "Add an agent; one of the same id is re-attached with all that is given here.",
)
MEMBER = Operation(
    "agent.get",
    "GET",
    "/v1/graphs/{graph_id}/agents/{agent_id}",
    Nothing,
    TypeAdapter(AgentAnswer),
    "see",
    "A member of a graph as it is.",
)
MEMORY = Operation(
    "graph.memory_of",
    "GET",
    "/v1/graphs/{graph_id}/agents/{agent_id}/memory",
    Nothing,
    TypeAdapter(AgentMemory),
    "read",
    "What each tier holds for a member: its ring, what waits to be compressed, its summaries.",
)
LEAVE = Operation(
    "agent.leave",
    "DELETE",
    "/v1/graphs/{graph_id}/agents/{agent_id}",
    Nothing,
    TypeAdapter(None),
    "act",
    "Let an agent leave; the graph closes when its last agent has left.",
)
HEARTBEAT = Operation(
    "agent.heartbeat",
    "POST",
    "/v1/graphs/{graph_id}/agents/{agent_id}/heartbeat",
    Nothing,
    TypeAdapter(None),
    "act",
    "Give a sign of life now.",
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    CREATE,
    LIST,
    GET,
    CONFIGURE,
    INHERIT,
    REVOKE,
    STATUS,
    SUMMARIES,
    EPISODES,
    CORE,
    CONSERVATION,
    USAGE,
    USAGE_BY_AGENT,
    CLOSE,
    REOPEN,
    ARCHIVE,
    MEMBERS,
    SPAWN,
    MEMBER,
    MEMORY,
    LEAVE,
    HEARTBEAT,
)
