"""Who was shown a record, and when, through each door."""

from __future__ import annotations

from typing import Any

import pytest
from support.runtime import MovingClock

from ezra import Ezra, Fact, NotFound, UsageError

SAID = "The hard tyre lasts thirty laps."
ASKED = "How long does the hard tyre last?"


async def test_each_showing_is_told_and_nothing_else(
    runtime: Any, behind: Ezra, clock: MovingClock
) -> None:
    """By agent, in turns and recalls; who may not see the record was never shown it."""
    graph = await runtime.create_session_graph("imola")
    writer = await graph.spawn_agent("writer", topics={"tyres"})
    reader = await graph.spawn_agent("reader", topics={"tyres"})
    blind = await graph.spawn_agent("blind", topics={"fuel"})
    fact = await writer.remember(SAID, topics={"tyres"})
    assert (await graph.readings(fact)).readings == ()
    turns = []
    for agent in (reader, blind, reader):
        clock.move(minutes=1)
        turn = await agent.turn(ASKED)
        turns.append(turn.id)
        await turn.reply("Thirty laps.")
    found = await graph.readings(fact)
    shown = [(one.agent_id, one.kind, one.turn_id) for one in found.readings]
    assert shown == [("reader", "turn", turns[2]), ("reader", "turn", turns[0])]
    assert (found.total, found.is_whole) == (2, True)
    assert found.readings[0].shown_at > found.readings[1].shown_at
    for one in found.readings:
        told = await graph.receipt(one.receipt_id)
        assert (told.agent_id, told.kind) == (one.agent_id, one.kind)
    assert found == await (await behind.session_graph("imola")).readings(fact)
    last = await graph.readings(fact, limit=1)
    assert (last.readings, last.total) == (found.readings[:1], 2)


async def test_an_heir_that_read_it_is_told(runtime: Any) -> None:
    """A core fact that a child reads by reference was shown there."""
    parent = await runtime.create_session_graph("monaco")
    writer = await parent.spawn_agent("writer")
    fact = await writer.remember(Fact(text=SAID, tier="core"))
    child = await runtime.create_session_graph("imola", inherits_from=["monaco"])
    heir = await child.spawn_agent("heir")
    turn = await heir.turn(ASKED)
    await turn.reply("Thirty laps.")
    found = await parent.readings(fact)
    assert [(one.graph_id, one.agent_id, one.turn_id) for one in found.readings] == [
        ("imola", "heir", turn.id)
    ]


async def test_wrong_questions_are_named(runtime: Any) -> None:
    """An unknown record, another graph's, and a limit out of range."""
    graph = await runtime.create_session_graph("imola")
    other = await runtime.create_session_graph("monaco")
    agent = await other.spawn_agent("one")
    theirs = await agent.remember(SAID)
    for unknown in ("nothing", theirs):
        with pytest.raises(NotFound):
            await graph.readings(unknown)
    for limit in (0, 1_001):
        with pytest.raises(UsageError):
            await other.readings(theirs, limit=limit)
