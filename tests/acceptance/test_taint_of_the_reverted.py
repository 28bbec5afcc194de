"""Beliefs that somebody had reverted before what they rest on was rolled back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running

ABOUT: dict[str, Any] = {"topic": "tyres", "key": ("start", "compound")}


async def _claims(graph: Any) -> set[str]:
    return {one.claim for one in await graph.beliefs.active()}


@pytest.mark.parametrize("end", ["open", "confirmed", "undone"])
async def test_no_earlier_state_brings_back_what_was_reverted_and_then_rolled_back(
    tmp_path: Path, end: str
) -> None:
    """Neither a rewind nor a branch; once it is undone both do, as with anything reverted."""
    clock = MovingClock()
    async with running(tmp_path, clock, signing_key="5c" * 32) as ezra:
        graph = await ezra.create_session_graph("monza")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await agent.commit("Start on mediums.", value="medium", **ABOUT)
        poison = await agent.remember("Softs last for ever.")
        other = await agent.remember("Softs are the fastest, too.")
        softs = await agent.commit(
            "Start on softs.", value="soft", sources=[poison, other], **ABOUT
        )
        seq, then = await graph.beliefs.seq_at(), clock()
        clock.move(hours=1)
        await graph.beliefs.revert(softs.id, reason="typing error")
        assert await _claims(graph) == {"Start on mediums."}
        ids = [
            (await graph.taint.roll_back(one, reason="planted")).roll_back.id
            for one in (poison, other)
        ]
        assert await _claims(graph) == {"Start on mediums."}
        if end == "confirmed":
            await graph.taint.confirm(ids[0], reason="reviewed")
        if end == "undone":
            await graph.taint.undo(ids[0], reason="true after all")
            first = await graph.branch(session_graph_id="first", time=then)
            assert await _claims(first) == set(), "the other roll-back has it still"
            await graph.taint.undo(ids[1], reason="true after all")
            (trace,) = [
                one for one in (await graph.taint.trace(poison)).nodes if one.id == softs.id
            ]
            assert (trace.is_kept, trace.is_over) == (False, False)
        assert await _claims(graph) == {"Start on mediums."}
        back = {"Start on softs."} if end == "undone" else set()
        branch = await graph.branch(session_graph_id="branch", time=then)
        assert await _claims(branch) == back
        await graph.beliefs.rewind(seq=seq, reason="to the start")
        assert await _claims(graph) == back
        for one in (graph, branch):
            assert (await one.beliefs.verify()).ok
