"""Does what is asked of the boards of graphs, by agents and by who reads whole graphs."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import TypeAlias

from tiers.board import Card, CardCount
from tiers.upkeep import Page

from ..board import AgentBoard
from ..board_reading import BoardReader
from ..graph_board import GraphBoard
from ..wire import Nothing
from ..wire import board as wire
from .acting import acting
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names: TypeAlias = Mapping[str, str]
Finder: TypeAlias = Callable[[Desk, Caller, Names], Awaitable[BoardReader]]


async def _of_agent(desk: Desk, caller: Caller, names: Names) -> AgentBoard:
    return (await acting(desk, caller, names)).board


async def _of_graph(desk: Desk, _: Caller, names: Names) -> GraphBoard:
    return (await desk.graph(names["graph_id"])).board


def _read(of: wire.Reads, find: Finder) -> None:
    """Register who answers questions to a board."""

    @handlers.does(of.cards)
    async def cards(
        desk: Desk, caller: Caller, names: Names, asked: wire.CardsAsked
    ) -> tuple[Card, ...]:
        return await (await find(desk, caller, names)).cards(**asked.said)

    @handlers.does(of.thread)
    async def thread(
        desk: Desk, caller: Caller, names: Names, asked: wire.ThreadAsked
    ) -> tuple[Card, ...]:
        return await (await find(desk, caller, names)).thread(**asked.said)

    @handlers.does(of.history)
    async def history(
        desk: Desk, caller: Caller, names: Names, asked: wire.HistoryAsked
    ) -> Page[Card]:
        return await (await find(desk, caller, names)).history(**asked.said)

    @handlers.does(of.tasks)
    async def tasks(desk: Desk, caller: Caller, names: Names, asked: wire.TasksAsked) -> Page[Card]:
        return await (await find(desk, caller, names)).tasks(**asked.said)

    @handlers.does(of.task)
    async def task(desk: Desk, caller: Caller, names: Names, asked: wire.TaskAsked) -> Card:
        return await (await find(desk, caller, names)).task(**asked.said)


_read(wire.AGENT_READS, _of_agent)
_read(wire.GRAPH_READS, _of_graph)


@handlers.does(wire.INBOX)
async def _inbox(desk: Desk, caller: Caller, names: Names, asked: wire.InboxAsked) -> Page[Card]:
    return await (await _of_agent(desk, caller, names)).inbox(**asked.said)


@handlers.does(wire.UNREAD)
async def _unread(desk: Desk, caller: Caller, names: Names, _: Nothing) -> int:
    return await (await _of_agent(desk, caller, names)).unread()


@handlers.does(wire.SEND)
async def _send(desk: Desk, caller: Caller, names: Names, asked: wire.SendAsked) -> Card:
    return await (await _of_agent(desk, caller, names)).send(**asked.said)


@handlers.does(wire.REPLY)
async def _reply(desk: Desk, caller: Caller, names: Names, asked: wire.ReplyAsked) -> Card:
    return await (await _of_agent(desk, caller, names)).reply(**asked.said)


@handlers.does(wire.ACK)
async def _ack(desk: Desk, caller: Caller, names: Names, asked: wire.CardsAsked) -> tuple[str, ...]:
    return await (await _of_agent(desk, caller, names)).ack(asked.ids)


@handlers.does(wire.LOG)
async def _log(desk: Desk, caller: Caller, names: Names, asked: wire.LogAsked) -> Card:
    return await (await _of_agent(desk, caller, names)).log(**asked.said)


@handlers.does(wire.START)
async def _start(desk: Desk, caller: Caller, names: Names, asked: wire.StartAsked) -> Card:
    return await (await _of_agent(desk, caller, names)).start_task(**asked.said)


@handlers.does(wire.UPDATE)
async def _update(desk: Desk, caller: Caller, names: Names, asked: wire.UpdateAsked) -> Card:
    return await (await _of_agent(desk, caller, names)).update_task(**asked.said)


@handlers.does(wire.FINISH)
async def _finish(desk: Desk, caller: Caller, names: Names, asked: wire.FinishAsked) -> Card:
    return await (await _of_agent(desk, caller, names)).finish_task(**asked.said)


@handlers.does(wire.FAIL)
async def _fail(desk: Desk, caller: Caller, names: Names, asked: wire.FailAsked) -> Card:
    return await (await _of_agent(desk, caller, names)).fail_task(**asked.said)


@handlers.does(wire.SUSPEND)
async def _suspend(
    desk: Desk, caller: Caller, names: Names, asked: wire.SuspendAsked
) -> tuple[Card, ...]:
    return await (await _of_agent(desk, caller, names)).suspend_tasks(**asked.said)


@handlers.does(wire.GRAPH_LATEST)
async def _latest(desk: Desk, caller: Caller, names: Names, asked: wire.LatestAsked) -> Page[Card]:
    return await (await _of_graph(desk, caller, names)).latest(**asked.said)


@handlers.does(wire.GRAPH_INBOX)
async def _member_inbox(
    desk: Desk, caller: Caller, names: Names, asked: wire.MemberInboxAsked
) -> Page[Card]:
    return await (await _of_graph(desk, caller, names)).inbox(**asked.said)


@handlers.does(wire.GRAPH_UNREAD)
async def _unread_by_agent(
    desk: Desk, caller: Caller, names: Names, asked: wire.UnreadAsked
) -> dict[str, int]:
    return await (await _of_graph(desk, caller, names)).unread(**asked.said)


@handlers.does(wire.GRAPH_COUNTS)
async def _counts(
    desk: Desk, caller: Caller, names: Names, asked: wire.CountsAsked
) -> tuple[CardCount, ...]:
    return await (await _of_graph(desk, caller, names)).counts(**asked.said)
