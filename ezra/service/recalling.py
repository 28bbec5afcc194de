"""Does what is asked of what a whole graph knows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from tiers.records import Fact, Rule, Turn
from tiers.upkeep import Page

from ..memory_search import MemorySearch
from ..recall import RecallResult
from ..wire import recalling as wire
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names: TypeAlias = Mapping[str, str]


@handlers.does(wire.GRAPH_RECALL)
async def recall(desk: Desk, _: Caller, names: Names, asked: wire.RecallAsked) -> RecallResult:
    """Return what a graph knows about a question."""
    return await (await desk.graph(names["graph_id"])).recall(**asked.said)


@handlers.does(wire.GRAPH_SEARCH_MEMORY)
async def search_memory(
    desk: Desk, _: Caller, names: Names, asked: wire.GraphSearchMemoryAsked
) -> MemorySearch:
    """Return what happened in a graph in a window of days."""
    return await (await desk.graph(names["graph_id"])).search_memory(**asked.said)


@handlers.does(wire.GRAPH_FACTS)
async def facts(desk: Desk, _: Caller, names: Names, asked: wire.FactsAsked) -> tuple[Fact, ...]:
    """Return shared facts by id."""
    return await (await desk.graph(names["graph_id"])).facts(asked.ids)


@handlers.does(wire.GRAPH_LATEST_FACTS)
async def latest_facts(
    desk: Desk, _: Caller, names: Names, asked: wire.LatestFactsAsked
) -> Page[Fact]:
    """Return a page of live facts."""
    return await (await desk.graph(names["graph_id"])).latest_facts(**asked.said)


@handlers.does(wire.GRAPH_LATEST_RULES)
async def latest_rules(
    desk: Desk, _: Caller, names: Names, asked: wire.LatestRulesAsked
) -> Page[Rule]:
    """Return a page of rules."""
    return await (await desk.graph(names["graph_id"])).latest_rules(**asked.said)


@handlers.does(wire.GRAPH_TURNS_BY_REF)
async def turns_by_ref(
    desk: Desk, _: Caller, names: Names, asked: wire.TurnsByRefAsked
) -> dict[str, Turn]:
    """Return stored turns by the caller's own names for them."""
    return await (await desk.graph(names["graph_id"])).turns_by_ref(asked.refs)
