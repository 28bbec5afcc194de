"""What a graph on a server knows: recall, search by days, facts, turns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Unpack

from tiers.plans import AnyGrain
from tiers.records import Fact, FactTier, Kind, Rule, Turn
from tiers.upkeep import Page

from ..latest import LATEST_MAX
from ..memory_search import MemorySearch
from ..recall import RecallResult
from ..request import Narrowing, ScopeName
from ..wire.knowledge import GRAPH_KNOWLEDGE
from ..wire.recalling import (
    GRAPH_FACTS,
    GRAPH_LATEST_FACTS,
    GRAPH_LATEST_RULES,
    GRAPH_RECALL,
    GRAPH_SEARCH_MEMORY,
    GRAPH_TURNS_BY_REF,
    FactsAsked,
    GraphSearchMemoryAsked,
    LatestFactsAsked,
    LatestRulesAsked,
    RecallAsked,
    TurnsByRefAsked,
)
from .board import RemoteGraphBoard
from .connection import Connection
from .documents import RemoteDocuments, graph_documents
from .knowledge import RemoteKnowledge
from .listing import listed


def recall_asked(
    query: str,
    *,
    limit: int,
    kinds: Sequence[Kind] | None,
    scope: ScopeName,
    as_of: datetime | None,
    rerank: bool,
    more: Narrowing,
) -> RecallAsked:
    """Return a question to recall as it goes over the wire.

    Raises:
        UsageError: An argument is not acceptable.
    """
    said = {"query": query, "limit": limit, "scope": scope, "as_of": as_of, "rerank": rerank}
    lists: dict[str, object] = {"kinds": listed("kinds", kinds)}
    if "grains" in more:
        lists["grains"] = listed("grains", more["grains"])
    if "ids" in more:
        lists["ids"] = listed("ids", more["ids"])
    if "topics" in more:
        lists["topics"] = listed("topics", more["topics"])
    if "all_topics" in more:
        lists["all_topics"] = listed("all_topics", more["all_topics"])
    return RecallAsked.model_validate({**more, **said, **lists})


class GraphRecall:
    """The part of a graph's handle that looks things up, as ``ezra.graph.Graph`` has it."""

    _connection: Connection
    _graph_id: str

    @property
    def knowledge(self) -> RemoteKnowledge:
        """The knowledge graph over the facts of every agent, as the graph's operator sees it."""
        return RemoteKnowledge(self._connection, GRAPH_KNOWLEDGE, {"graph_id": self._graph_id})

    @property
    def documents(self) -> RemoteDocuments:
        """The documents of the graph, as its operator sees them, to read and to change."""
        return graph_documents(self._connection, self._graph_id)

    @property
    def board(self) -> RemoteGraphBoard:
        """The graph's board as its operator sees it: messages, tasks, and what agents did."""
        return RemoteGraphBoard(self._connection, {"graph_id": self._graph_id})

    async def recall(
        self,
        query: str,
        *,
        limit: int = 10,
        kinds: Sequence[Kind] | None = None,
        scope: ScopeName = "any",
        as_of: datetime | None = None,
        rerank: bool = True,
        **more: Unpack[Narrowing],
    ) -> RecallResult:
        """Return what the graph knows about ``query``, best first; as ``Graph.recall``."""
        asked = recall_asked(
            query, limit=limit, kinds=kinds, scope=scope, as_of=as_of, rerank=rerank, more=more
        )
        return await self._connection.call(GRAPH_RECALL, asked, graph_id=self._graph_id)

    async def search_memory(
        self,
        text: str | None = None,
        *,
        grain: AnyGrain = "working",
        min_days_ago: int = 0,
        max_days_ago: int = 365,
        max_results: int = 10,
        agent_id: str | None = None,
    ) -> MemorySearch:
        """Return what happened in a window of days; as ``Graph.search_memory``."""
        asked = GraphSearchMemoryAsked(
            text=text,
            grain=grain,
            min_days_ago=min_days_ago,
            max_days_ago=max_days_ago,
            max_results=max_results,
            agent_id=agent_id,
        )
        return await self._connection.call(GRAPH_SEARCH_MEMORY, asked, graph_id=self._graph_id)

    async def facts(self, ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the shared facts among ``ids``, in the order asked."""
        asked = FactsAsked(ids=listed("ids", ids) or ())
        return await self._connection.call(GRAPH_FACTS, asked, graph_id=self._graph_id)

    async def latest_facts(
        self,
        *,
        tier: FactTier | None = None,
        topics: Iterable[str] | None = None,
        all_topics: Iterable[str] | None = None,
        after: str = "",
        limit: int = LATEST_MAX,
    ) -> Page[Fact]:
        """Return the graph's live shared facts, the latest first; as ``Graph.latest_facts``.

        Raises:
            UsageError: An argument is not acceptable.
        """
        asked = LatestFactsAsked(
            tier=tier,
            topics=listed("topics", topics),
            all_topics=listed("all_topics", all_topics),
            after=after,
            limit=limit,
        )
        return await self._connection.call(GRAPH_LATEST_FACTS, asked, graph_id=self._graph_id)

    async def latest_rules(
        self,
        *,
        topics: Iterable[str] | None = None,
        after: str = "",
        limit: int = LATEST_MAX,
    ) -> Page[Rule]:
        """Return the graph's shared rules, the latest first; as ``Graph.latest_rules``.

        Raises:
            UsageError: An argument is not acceptable.
        """
        asked = LatestRulesAsked(topics=listed("topics", topics), after=after, limit=limit)
        return await self._connection.call(GRAPH_LATEST_RULES, asked, graph_id=self._graph_id)

    async def turns_by_ref(self, refs: Sequence[str]) -> dict[str, Turn]:
        """Return the stored turns among ``refs``, by ``ref``."""
        asked = TurnsByRefAsked(refs=listed("refs", refs) or ())
        return await self._connection.call(GRAPH_TURNS_BY_REF, asked, graph_id=self._graph_id)
