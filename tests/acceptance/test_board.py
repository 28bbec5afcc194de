"""Acceptance of the board: rows BR-03 and BR-04, in process and through a running service."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from support.service import DOORS
from support.two_doors import House, house

from ezra import Conflict, UsageError

WRITES = 15


@pytest.mark.parametrize("door", DOORS)
async def test_br_03_messages_between_agents(tmp_path: Path, door: str) -> None:
    """An inbox with priorities and threads, read once by each, and broadcasts that later ones see.

    The last who comes finds what was said to all, and nothing that was for somebody else.
    """
    async with house(tmp_path / "home", door) as opened:
        planner, builder = await _pair(opened)
        asked = await planner.board.send(
            "builder", "Can the parser be split?", type="question", subject="Parser",
            priority="high", tags=["parser"], machine="laptop",
        )  # fmt: skip
        await planner.board.send("*", "Freeze at noon.", type="news", priority="urgent")
        late = await opened.agent(planner.graph_id, "late")
        (news, question) = (await builder.board.inbox(unread=True)).rows
        assert (question.priority, question.title, question.machine) == (
            *("high", "Parser", "laptop"),
        )
        assert (news.priority, news.to) == ("urgent", ())
        answer = await builder.board.reply(question.id, "Yes, in two.")
        assert await builder.board.ack([question.id, news.id]) == (question.id, news.id)
        assert (await builder.board.inbox(unread=True)).rows == ()
        assert len((await builder.board.inbox()).rows) == 2
        assert [card.id for card in (await planner.board.inbox()).rows] == [answer.id]
        thread = await planner.board.thread(asked.id)
        assert [(card.agent_id, card.text) for card in thread] == [
            ("planner", "Can the parser be split?"),
            ("builder", "Yes, in two."),
        ]
        assert [card.text for card in (await late.board.inbox()).rows] == ["Freeze at noon."]
        assert await late.board.thread(asked.id) == ()
        with pytest.raises(UsageError, match=r"to: .* '\*' for everybody"):
            await planner.board.send([], "For those whom nobody found.")
        graph = await opened.runtime.session_graph(planner.graph_id)
        assert await graph.board.unread() == {"planner": 1, "builder": 0, "late": 1}
        (shown,) = await graph.board.cards([news.id])
        assert shown.read_by == ("builder",)


@pytest.mark.parametrize("door", DOORS)
async def test_br_03_concurrent_writers_lose_nothing(tmp_path: Path, door: str) -> None:
    """Two agents write at once, some of it twice: all is there once, in the order of each."""
    async with house(tmp_path / "home", door) as opened:
        one, other = await _pair(opened)

        async def write(agent: Any, number: int) -> None:
            for n in range(WRITES):
                card_id = f"0198a1b2-0c3d-7e4f-8a5b-{number:04x}{n:08x}"
                opened.clock.move(seconds=1)
                for _ in range(2 if n % 5 == 0 else 1):
                    await agent.board.send("*", f"{n}", id=card_id)

        await asyncio.gather(write(one, 1), write(other, 2))
        board = (await opened.runtime.session_graph(one.graph_id)).board
        found, after = [], ""
        while True:
            page = await board.latest("message", after=after, limit=30)
            found += page.rows
            if page.cursor is None:
                break
            after = page.cursor
        assert len(found) == 2 * WRITES
        for agent_id in ("planner", "builder"):
            texts = [int(card.text) for card in reversed(found) if card.agent_id == agent_id]
            assert texts == list(range(WRITES))
        assert await one.board.unread() == await other.board.unread() == WRITES


@pytest.mark.parametrize("door", DOORS)
async def test_br_04_tasks_actions_and_heartbeats(tmp_path: Path, door: str) -> None:
    """A day of two agents: tasks from state to state, a log of what was done, signs of life."""
    async with house(tmp_path / "home", door) as opened:
        planner, builder = await _pair(opened)
        task = await planner.board.start_task("Split the parser", priority="high", tags=["parser"])
        part = await planner.board.start_task("Move the lexer", parent=task.id)
        task = await builder.board.update_task(task.id, status="in_progress", note="taken")
        with pytest.raises(Conflict, match="suspended or completed or failed"):
            await planner.board.update_task(task.id, status="created")
        await builder.board.log(
            "commit", "Lexer moved.", files=["lexer.py"], task_id=task.id, machine="desk"
        )
        assert {one.id for one in await planner.board.suspend_tasks()} == {task.id, part.id}
        opened.clock.move(minutes=10)
        await builder.board.update_task(task.id, status="in_progress")
        done = await builder.board.finish_task(task.id, "in two modules")
        assert (done.status, done.details) == ("completed", {"outcome": "in two modules"})
        with pytest.raises(Conflict, match="final"):
            await planner.board.update_task(task.id, status="in_progress")
        failed = await planner.board.fail_task(part.id, "not needed")
        assert [one.status for one in (await builder.board.tasks()).rows] == ["failed", "completed"]
        assert await builder.board.task(part.id) == failed
        steps = (await planner.board.history(task_id=task.id, limit=100)).rows
        assert [(one.agent_id, one.type, one.text) for one in reversed(steps)] == [
            ("planner", "task_created", ""),
            ("builder", "task_in_progress", "taken"),
            ("builder", "commit", "Lexer moved."),
            ("planner", "task_suspended", ""),
            ("builder", "task_in_progress", ""),
            ("builder", "task_completed", "in two modules"),
        ]
        recent = await planner.board.history(
            agent_id="builder", since=opened.clock() - timedelta(minutes=5)
        )
        assert [one.type for one in recent.rows] == ["task_completed", "task_in_progress"]
        await _beats(opened, builder)


async def _beats(opened: House, agent: Any) -> None:
    graph = await opened.runtime.session_graph(agent.graph_id)
    opened.clock.move(hours=1)
    before = {one.id: one.seen_at for one in await graph.agents()}
    await agent.heartbeat()
    after = {one.id: one.seen_at for one in await graph.agents()}
    assert {name for name in after if after[name] > before[name]} == {agent.id}


async def _pair(opened: House) -> tuple[Any, Any]:
    planner = await opened.agent(name="planner")
    return planner, await opened.agent(planner.graph_id, "builder")
