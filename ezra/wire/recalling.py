"""Recall, search by days, facts and turns of a whole graph: the operations.

What people said or named travels in bodies. Addresses are for ids: proxies log them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field, TypeAdapter

from tiers.records import Fact, FactTier, Grain, Kind, Rule, Turn
from tiers.upkeep import Page

from ..latest import LATEST_MAX
from ..memory_search import MemorySearch
from ..recall import RecallResult
from ..request import KIND_ALIASES, KINDS, ModeName, ScopeName, kind_named
from .operation import Asked, Operation
from .points import Count, Time

IDS_MAX = 10_000
GRAPH = "/v1/graphs/{graph_id}"


KINDS_MAX = len(KINDS) + len(KIND_ALIASES)
KindNamed: TypeAlias = Annotated[Kind, BeforeValidator(kind_named)]
"""A kind, or what platforms call it: ``chat_message``, ``document_chunk``."""


class RecallAsked(Asked):
    """A question to recall, and what narrows it."""

    query: str
    limit: Count = 10
    kinds: Annotated[tuple[KindNamed, ...], Field(max_length=KINDS_MAX)] | None = None
    scope: ScopeName = "any"
    as_of: Time | None = None
    rerank: bool = True
    mode: ModeName = "hybrid"
    grains: tuple[Grain, ...] = ()
    min_days_ago: Count = 0
    max_days_ago: Count | None = None
    topics: tuple[str, ...] | None = None
    all_topics: tuple[str, ...] | None = None
    ids: tuple[str, ...] = ()
    token_budget: Count | None = None
    depth: Count = 1
    explain: bool = False
    receipt: bool = False
    half_life_days: float | None = None

    @property
    def writes(self) -> bool:
        """A receipt is kept."""
        return self.receipt


class SearchMemoryAsked(Asked):
    """A window of days, and what is looked for in it."""

    text: str | None = None
    grain: Literal["working", Grain] = "working"
    min_days_ago: Count = 0
    max_days_ago: Count = 365
    max_results: Count = 10


class GraphSearchMemoryAsked(SearchMemoryAsked):
    """The same of a graph: as a member sees it, where one is named."""

    agent_id: str | None = None


class FactsAsked(Asked):
    """Which facts."""

    ids: tuple[str, ...] = Field(max_length=IDS_MAX)


class LatestRulesAsked(Asked):
    """A page of rules, the latest first."""

    topics: tuple[str, ...] | None = None
    after: str = ""
    limit: Count = LATEST_MAX


class LatestFactsAsked(LatestRulesAsked):
    """A page of facts, the latest first."""

    all_topics: tuple[str, ...] | None = None
    tier: FactTier | None = None


class TurnsByRefAsked(Asked):
    """Which turns."""

    refs: tuple[str, ...] = Field(max_length=IDS_MAX)


RECALL = TypeAdapter(RecallResult)
MEMORY_SEARCH = TypeAdapter(MemorySearch)

GRAPH_RECALL = Operation(
    "graph.recall",
    "POST",
    f"{GRAPH}/recall",
    RecallAsked,
    RECALL,
    "read",
    "What a graph knows about a question, best first.",
)
GRAPH_SEARCH_MEMORY = Operation(
    "graph.search_memory",
    "POST",
    f"{GRAPH}/search-memory",
    GraphSearchMemoryAsked,
    MEMORY_SEARCH,
    "read",
    "What happened in a graph in a window of days.",
)
GRAPH_FACTS = Operation(
    "graph.facts",
    "POST",
    f"{GRAPH}/facts/lookup",
    FactsAsked,
    TypeAdapter(tuple[Fact, ...]),
    "read",
    "Shared facts by id, in the order asked.",
)
GRAPH_LATEST_FACTS = Operation(
    "graph.latest_facts",
    "GET",
    f"{GRAPH}/facts",
    LatestFactsAsked,
    TypeAdapter(Page[Fact]),
    "read",
    "The shared facts of a graph that are live, the latest first, page by page.",
)
GRAPH_LATEST_RULES = Operation(
    "graph.latest_rules",
    "GET",
    f"{GRAPH}/rules",
    LatestRulesAsked,
    TypeAdapter(Page[Rule]),
    "read",
    "The shared rules of a graph, the latest first, page by page.",
)
GRAPH_TURNS_BY_REF = Operation(
    "graph.turns_by_ref",
    "POST",
    f"{GRAPH}/turns/lookup",
    TurnsByRefAsked,
    TypeAdapter(dict[str, Turn]),
    "read",
    "Stored turns by the caller's own names for them.",
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    GRAPH_RECALL,
    GRAPH_SEARCH_MEMORY,
    GRAPH_FACTS,
    GRAPH_LATEST_FACTS,
    GRAPH_LATEST_RULES,
    GRAPH_TURNS_BY_REF,
)
