"""Does what is asked of the knowledge graphs of agents and of whole graphs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from tiers.knowledge import Entity, Neighbour
from tiers.records import Fact

from ..knowledge import Applied, Knowledge
from ..wire import knowledge as wire
from ..wire.knowledge import KnowledgeOperations
from .acting import acting
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names: TypeAlias = Mapping[str, str]
Finder: TypeAlias = Callable[[Desk, Caller, Names], Awaitable[Knowledge]]


async def _of_agent(desk: Desk, caller: Caller, names: Names) -> Knowledge:
    return (await acting(desk, caller, names)).knowledge


async def _of_graph(desk: Desk, _: Caller, names: Names) -> Knowledge:
    return (await desk.graph(names["graph_id"])).knowledge


def _read(of: KnowledgeOperations, find: Finder) -> None:
    """Register who answers questions to a knowledge graph."""

    @handlers.does(of.entity)
    async def entity(
        desk: Desk, caller: Caller, names: Names, asked: wire.EntityAsked
    ) -> Entity | None:
        return await (await find(desk, caller, names)).entity(**asked.said)

    @handlers.does(of.neighbours)
    async def neighbours(
        desk: Desk, caller: Caller, names: Names, asked: wire.NeighboursAsked
    ) -> tuple[Neighbour, ...]:
        return await (await find(desk, caller, names)).neighbours(**asked.said)

    @handlers.does(of.path)
    async def path(
        desk: Desk, caller: Caller, names: Names, asked: wire.PathAsked
    ) -> tuple[Fact, ...] | None:
        return await (await find(desk, caller, names)).path(**asked.said)

    @handlers.does(of.history)
    async def history(
        desk: Desk, caller: Caller, names: Names, asked: wire.StatementsAsked
    ) -> tuple[Fact, ...]:
        return await (await find(desk, caller, names)).history(**asked.said)


def _change(of: KnowledgeOperations, find: Finder) -> None:
    """Register who changes a knowledge graph."""

    @handlers.does(of.add)
    async def add(desk: Desk, caller: Caller, names: Names, asked: wire.StatementAsked) -> str:
        return await (await find(desk, caller, names)).add(**asked.said)

    @handlers.does(of.update)
    async def update(desk: Desk, caller: Caller, names: Names, asked: wire.StatementAsked) -> str:
        return await (await find(desk, caller, names)).update(**asked.said)

    @handlers.does(of.delete)
    async def delete(
        desk: Desk, caller: Caller, names: Names, asked: wire.DeleteAsked
    ) -> tuple[str, ...]:
        return await (await find(desk, caller, names)).delete(**asked.said)

    @handlers.does(of.alias)
    async def alias(desk: Desk, caller: Caller, names: Names, asked: wire.AliasAsked) -> str:
        return await (await find(desk, caller, names)).alias(**asked.said)

    @handlers.does(of.apply)
    async def apply(
        desk: Desk, caller: Caller, names: Names, asked: wire.ApplyAsked
    ) -> tuple[Applied, ...]:
        return await (await find(desk, caller, names)).apply(asked.changes)


for _operations, _find in ((wire.AGENT_KNOWLEDGE, _of_agent), (wire.GRAPH_KNOWLEDGE, _of_graph)):
    _read(_operations, _find)
    _change(_operations, _find)
