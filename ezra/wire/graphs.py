"""What handles of session graphs and members show, and operations on them that no method offers."""

from __future__ import annotations

from typing import Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from metaagents.reindex.rules import Reembedding
from tiers.fields import TOPICS_MAX, Word
from tiers.fleet import WINDOW_MAX, WINDOW_MIN, Inject
from tiers.plans import AnyGrain
from tiers.records import (
    Ancestor,
    Budget,
    Fact,
    Text,
    Topics,
)

from ..beliefs.difference import BeliefDiff
from .operation import LISTED, Asked, Nothing, Number, Operation

GRAPH_PATH = "/v1/graphs/{graph_id}"
AGENT_PATH = f"{GRAPH_PATH}/agents/{{agent_id}}"

_Names: TypeAlias = Annotated[tuple[str, ...], Field(max_length=TOPICS_MAX), LISTED]


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


class SpawnAsked(Asked):
    """As ``Graph.spawn_agent``.

    What limits an agent beyond its topics, ``sources``, ``denied_topics``, ``denied_sources`` and
    ``budget``, only an operator sets; a member that others spawn again keeps it.
    """

    topics: Topics = Field(default=(), examples=[["tyres", "strategy"]])
    role: Text = Field(default="", examples=["race strategist"])
    user_id: Word | None = None
    sources: _Names | None = None
    denied_topics: _Names | None = None
    denied_sources: _Names | None = None
    budget: Budget | None = None
    prompts: dict[AnyGrain, Text] = Field(default_factory=dict)
    inject: Inject = "off"
    model_window_tokens: Number | None = Field(default=None, ge=WINDOW_MIN, le=WINDOW_MAX)

    @classmethod
    def of(cls, **given: Any) -> Self:  # noqa: ANN401 - its fields check them
        """Return what is asked by a call of ``spawn_agent``, whose ``None`` is what is not said."""
        return super().of(**{name: one for name, one in given.items() if one is not None})


class DiffAsked(Asked):
    """With which graph."""

    other_id: Word


GET = Operation(
    "graph.get",
    "GET",
    GRAPH_PATH,
    Nothing,
    TypeAdapter(GraphAnswer),
    "read",
    "A session graph, and what it inherits from.",
)
DIFF = Operation(
    "graph.diff",
    "GET",
    f"{GRAPH_PATH}/diff",
    DiffAsked,
    TypeAdapter(BeliefDiff),
    "read",
    "How what another graph believes now differs from what this one does.",
)
REEMBEDDING = Operation(
    "reembedding.get",
    "GET",
    "/v1/reembedding",
    Nothing,
    TypeAdapter(Reembedding | None),
    "read",
    "How far re-embedding with another model has come; null when there is nothing to do.",
)
