"""The board through MCP: two models write to each other and share tasks."""

from __future__ import annotations

import time
from pathlib import Path

from mcp.client.client import Client
from support.mcp_client import refused, told
from support.runtime import MovingClock, running

from ezra import Ezra
from ezra.service.caller import Caller
from ezra.service.handle_pool import HandlePool
from ezra.service.mcp import mcp_server

TOPICS = ("tyres",)


def _asking(ezra: Ezra, agent_id: str) -> Client:
    caller = Caller("ci", "agent", "race", agent_id, None, TOPICS)
    return Client(mcp_server(HandlePool(ezra, time.monotonic), caller))


async def test_two_models_write_to_each_other_and_share_a_task(tmp_path: Path) -> None:
    """Messages, answers, read state, tasks and the log are those of the handles."""
    async with running(tmp_path / "home", MovingClock()) as ezra:
        graph = await ezra.create_session_graph("race")
        async with _asking(ezra, "planner") as planner, _asking(ezra, "builder") as builder:
            asked = await told(
                planner, "send_message", text="Which tyres?", to=["builder"], priority="high"
            )
            await told(planner, "send_message", text="Freeze at noon.", subject="All")
            inbox = await told(builder, "inbox", limit=1)
            assert ([one["title"] for one in inbox["cards"]], inbox["has_more"]) == (["All"], True)
            answer = await told(builder, "send_message", text="Softs.", reply_to=asked["id"])
            assert (answer["to"], answer["thread"]) == (["planner"], asked["id"])
            acked = await told(builder, "ack_messages", ids=[asked["id"], "unknown"])
            assert acked == {"ids": [asked["id"]]}
            unread = await told(builder, "inbox")
            assert [one["text"] for one in unread["cards"]] == ["Freeze at noon."]
            task = await told(planner, "start_task", title="Fit the wing", tags=["wing"])
            await told(builder, "update_task", task_id=task["id"], status="in_progress", note="on")
            done = await told(
                builder, "update_task", task_id=task["id"], status="completed", note="fitted"
            )
            assert done["status"] == "completed"
            assert "final" in await refused(
                planner, "update_task", task_id=task["id"], status="suspended"
            )
            assert "NotFound" in await refused(planner, "update_task", task_id="unknown", note="x")
            listed = await told(planner, "list_tasks", statuses=["completed"], agent_id="planner")
            assert [one["id"] for one in listed["cards"]] == [task["id"]]
            logged = await told(builder, "log_action", action="commit", files=["wing.py"])
            assert (logged["type"], logged["agent_id"]) == ("commit", "builder")
        counts = await graph.board.counts()
        assert sum(one.number for one in counts if one.kind == "message") == 3
        assert [one.agent_id for one in counts if one.state == "commit"] == ["builder"]


async def test_a_single_name_needs_no_list(tmp_path: Path) -> None:
    """Models leave the brackets out; handles take a single name as well."""
    async with running(tmp_path, MovingClock()) as ezra:
        await ezra.create_session_graph("race")
        async with _asking(ezra, "planner") as planner, _asking(ezra, "builder") as builder:
            await told(builder, "inbox")
            sent = await told(planner, "send_message", text="Which tyres?", to="builder")
            assert sent["to"] == ["builder"]
            acked = await told(builder, "ack_messages", ids=sent["id"])
            assert acked == {"ids": [sent["id"]]}
            await told(builder, "log_action", action="commit", files="wing.py")
            assert "a list" in await refused(planner, "send_message", text="To whom?", to="")
