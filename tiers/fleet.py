"""Who asks and where: scopes, session graphs, their members, and what these may use."""

from __future__ import annotations

from enum import StrEnum
from functools import lru_cache
from typing import Annotated, Literal, TypeAlias

from pydantic import AfterValidator, Field

from .fields import (
    ALL_TOPICS,
    UNRECORDED,
    Kind,
    Moment,
    Name,
    Number,
    Record,
    Text,
    Topics,
    Whole,
    YesNo,
)
from .plans import AnyGrain, checked_plan

CATALOG = "@catalog"
"""The id of a tenant's catalog: a graph that every other graph of the tenant inherits from."""

SCOPES_REMEMBERED = 1_024
"""Scopes of whole graphs that are made once."""


class Ancestor(Record):
    """A graph that another inherits from, near or far, and how it is read from there.

    Attributes:
        graph_id: The ancestor.
        path: The graphs from the reader's own parent to the ancestor, itself last.
        as_of: It is read as it was at this moment; ``None``: as it is.
        carries: The kinds that come through besides core facts, which always do.
    """

    graph_id: Name
    path: tuple[Name, ...]
    as_of: Moment | None = None
    carries: tuple[Kind, ...] = ("rule",)


class Scope(Record):
    """Who asks, and therefore what may be seen. Made by the runtime, never by callers.

    Visible: same tenant; own graph, or for inherited kinds a graph of ``lineage``; topics that
    meet ``topics``, or a record without topics; no topic of ``denied``; records of the same user
    or of no user; private records only to their writer.

    Attributes:
        tenant: The isolation boundary that nothing crosses.
        graph_id: The session graph of the handle.
        agent_id: The agent of the handle; ``None`` for the runtime acting on a whole graph.
        user_id: The person the agent works for; ``None`` sees only records of no user.
        every_user: The runtime itself, to which all users' records are open.
        topics: What the agent may see; ``("*",)`` is everything, ``()`` only untopiced records.
        denied: Topics whose records stay unseen, whatever else they carry.
        lineage: Ancestor graphs, nearest definition first, without the own graph.
        turn_id: The turn in which beliefs are changed; decides nothing about what is seen.
    """

    tenant: Name
    graph_id: Name
    agent_id: Name | None = None
    user_id: Name | None = None
    every_user: bool = False
    topics: Topics = ()
    denied: Topics = ()
    lineage: tuple[Ancestor, ...] = ()
    turn_id: str | None = None

    @classmethod
    def of_graph(cls, tenant: str, graph_id: str) -> Scope:
        """Return the scope of the runtime itself: every agent, user and topic of a graph."""
        return _whole(tenant, graph_id)

    @property
    def sees_all_topics(self) -> bool:
        """Whether an agent need not hold a topic to see its records, ``denied`` ones aside."""
        return ALL_TOPICS in self.topics

    def carrying(self, *kinds: Kind) -> tuple[Ancestor, ...]:
        """Return the ancestors through which at least one of the kinds comes, in order."""
        return tuple(one for one in self.lineage if not set(kinds).isdisjoint(one.carries))

    def for_graph(self) -> Scope:
        """Return the scope of the runtime itself acting on this graph: everything in it."""
        return Scope.of_graph(self.tenant, self.graph_id)

    def for_agent(self, agent_id: str) -> Scope:
        """Return the scope of the runtime acting for one agent of this graph."""
        return self.model_copy(update={"agent_id": agent_id})

    def during(self, turn_id: str | None) -> Scope:
        """Return the scope of somebody who changes beliefs in a turn."""
        return self.model_copy(update={"turn_id": turn_id})


@lru_cache(maxsize=SCOPES_REMEMBERED)
def _whole(tenant: str, graph_id: str) -> Scope:
    """Return the scope of a whole graph; every write asks for that of its own again."""
    return Scope(tenant=tenant, graph_id=graph_id, topics=(ALL_TOPICS,), every_user=True)


class GraphState(StrEnum):
    """Life of a session graph."""

    ACTIVE = "active"
    CLOSED = "closed"
    ARCHIVED = "archived"


class Parent(Record):
    """A link to a graph that another inherits from.

    Attributes:
        id: The parent; it must exist.
        as_of: Reads the parent, and what it inherits, as of this moment, now at the latest;
            ``None``: as it is.
        rules: Whether rules come through, the parent's and those it inherits.
        episodes: Whether episodes do.
        archival: Whether archival facts do: to a branch of the parent.
        linked_at: When the link was made; filled in by the runtime.
    """

    id: Name
    as_of: Moment | None = None
    rules: YesNo = True
    episodes: YesNo = False
    archival: YesNo = False
    linked_at: Moment = UNRECORDED


class Budget(Record):
    """The most that an agent or a graph may use; ``None`` is no limit.

    Attributes:
        tokens: Estimated tokens of contexts handed out, answers and tool outputs.
        model_calls: Calls of the configured language model.
        writes: Turns, facts, rules and belief changes stored.
    """

    tokens: Whole | None = Field(default=None, ge=0)
    model_calls: Whole | None = Field(default=None, ge=0)
    writes: Whole | None = Field(default=None, ge=0)

    @property
    def is_none(self) -> bool:
        """Whether it limits nothing."""
        return self.tokens is None and self.model_calls is None and self.writes is None


class Usage(Record):
    """What was used, in the units of ``Budget``."""

    tokens: int = Field(default=0, ge=0)
    model_calls: int = Field(default=0, ge=0)
    writes: int = Field(default=0, ge=0)

    def plus(self, more: Usage) -> Usage:
        """Return this and what was used besides, together."""
        theirs = more.__dict__
        return Usage.known({unit: count + theirs[unit] for unit, count in self.__dict__.items()})

    @property
    def is_none(self) -> bool:
        """Whether nothing was used."""
        return not (self.tokens or self.model_calls or self.writes)


NOTHING = Usage()

DAYS_MAX = 365_000
"""A thousand years: further back there is no date to compare with."""


class Retention(Record):
    """How long a graph keeps what, where it differs from the settings; ``None`` is no difference.

    Attributes:
        plan: How long turns, summaries and episodes keep their content, by grain: ``keep``,
            ``free``, ``starter``, ``pro``, or a plan of its own such as ``working=48h,daily=30d``.
        summary_ttl_hours: Life of a warm summary.
        archive_after_days: How long a closed graph stays idle before it is archived.
        beliefs_days: How long a belief keeps its content after it was superseded or reverted;
            ``None`` keeps it for ever. Its events stay in any case.
        superseded_facts_days: The same of a fact that gave way to another.
        forgotten_facts_days: The same of a fact that somebody asked to forget.
    """

    plan: Annotated[str, AfterValidator(checked_plan)] | None = None
    summary_ttl_hours: Number | None = Field(default=None, gt=0, le=24 * DAYS_MAX)
    archive_after_days: Number | None = Field(default=None, gt=0, le=DAYS_MAX)
    beliefs_days: Number | None = Field(default=None, gt=0, le=DAYS_MAX)
    superseded_facts_days: Number | None = Field(default=None, gt=0, le=DAYS_MAX)
    forgotten_facts_days: Number | None = Field(default=None, gt=0, le=DAYS_MAX)


MergeStrategy: TypeAlias = Literal["last_write_wins", "highest_trust", "manual", "custom"]


class SessionGraph(Record):
    """N agents bound together; ``parents`` is ordered and names existing graphs only.

    Attributes:
        erasure_id: Names the last erasure that began in it; empty before the first.
    """

    tenant: Name
    id: Name
    state: GraphState = GraphState.ACTIVE
    parents: tuple[Parent, ...] = ()
    merge_strategy: MergeStrategy = "last_write_wins"
    budget: Budget = Budget()
    retention: Retention = Retention()
    created_at: Moment
    closed_at: Moment | None = None
    erasure_id: str = ""

    @property
    def inherits_from(self) -> tuple[str, ...]:
        """The ids of the parents, in order."""
        return tuple(parent.id for parent in self.parents)


Inject: TypeAlias = Literal["off", "start", "turn"]
"""Whether contexts bring what is known unasked: never, where a conversation begins, always."""

WINDOW_MIN, WINDOW_MAX = 256, 100_000_000
"""Tokens that a model can hold."""


SERVED_MAX = 100
"""So many former stretches of service an agent has."""


class Served(Record):
    """That an agent worked for a user, from a moment on, until another.

    Attributes:
        since: ``None``: for as long as there is anything of the agent.
        until: ``None``: it does still.
    """

    user_id: Name
    since: Moment | None = None
    until: Moment | None = None

    def holds(self, moment: Moment) -> bool:
        """Whether a moment lies in it."""
        began = self.since is None or self.since <= moment
        return began and (self.until is None or moment < self.until)


class AgentRecord(Record):
    """A member of a session graph. ``left_at`` is ``None`` while it is present.

    Attributes:
        serves_since: When it began to work for its user; ``None`` for as long as it is there.
        served: Whom it worked for before, oldest first.
        denied_topics: Topics it may neither see nor write, whatever it holds.
        denied_sources: Mesh sources it may not ask, whatever it holds.
        prompts: What a model is told to write summaries and episodes with, by grain, where it
            differs from the settings.
        inject: When its contexts bring what is known about the message unasked.
        model_window_tokens: What its model can hold, where it differs from the settings.
        seen_at: Its last sign of life.
        released: It did not leave but fell silent, and was let go.
    """

    tenant: Name
    graph_id: Name
    id: Name
    role: Text = ""
    user_id: Name | None = None
    serves_since: Moment | None = None
    served: tuple[Served, ...] = ()
    topics: Topics = ()
    denied_topics: Topics = ()
    sources: Topics = (ALL_TOPICS,)
    denied_sources: Topics = ()
    budget: Budget = Budget()
    prompts: dict[AnyGrain, Text] = Field(default_factory=dict)
    inject: Inject = "off"
    model_window_tokens: int | None = Field(default=None, ge=WINDOW_MIN, le=WINDOW_MAX)
    spawned_at: Moment
    seen_at: Moment = UNRECORDED
    left_at: Moment | None = None
    released: bool = False

    def service_of(self, user_id: str) -> tuple[Served, ...]:
        """Return when it worked for a user: then it shared what that one had said."""
        now = () if self.user_id is None else (self._serving(until=None),)
        return tuple(one for one in (*self.served, *now) if one.user_id == user_id)

    def succeeding(self, known: AgentRecord) -> AgentRecord:
        """Return this one in the place of a member that is there: whom that one served stays."""
        since, served = known.serves_since, known.served
        if known.user_id != self.user_id:
            since = self.seen_at
            if known.user_id is not None:
                served = _within_bounds((*served, known._serving(until=since)))
        return self.model_copy(update={"serves_since": since, "served": served})

    def _serving(self, until: Moment | None) -> Served:
        return Served(user_id=self.user_id or "", since=self.serves_since, until=until)


def _within_bounds(served: tuple[Served, ...]) -> tuple[Served, ...]:
    """Return stretches of service, of which the first two of one user become one where too many.

    It holds what lies between: rather more is a user's than less. Without such two the first goes.
    """
    if len(served) <= SERVED_MAX:
        return served
    for place, one in enumerate(served):
        later = next((two for two in served[place + 1 :] if two.user_id == one.user_id), None)
        if later is not None:
            joined = one.model_copy(update={"until": later.until})
            left = tuple(two for two in served[place + 1 :] if two is not later)
            return (*served[:place], joined, *left)
    return served[1:]


class Departure(Record):
    """What came of leaving: whether the agent was present until now, and how many still are."""

    left: bool
    remaining: int


class Standing(Record):
    """How a scope stands at this moment: its graph, its agent if it names one, and its ancestors.

    ``lineage`` is nearest first, then in list order, each graph once, by the first path to it.
    """

    graph: SessionGraph
    agent: AgentRecord | None = None
    lineage: tuple[Ancestor, ...] = ()
