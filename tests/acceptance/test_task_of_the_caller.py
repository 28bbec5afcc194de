"""A part that fails while it is asked leaves the task of whoever asked as it was."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.model_http import KEY, Fault, ModelServer, running_model_server
from support.processes import PATIENCE_SECONDS
from support.runtime import running

from ezra import Agent

TOLD = ("The staging port is 8443.", "The staging host is basil.", "Staging restarts at noon.")


@pytest.fixture(scope="module")
def server() -> Iterator[ModelServer]:
    """A reranker's server that answers every request with an error of its own."""
    with running_model_server() as started:
        started.always = Fault(500)
        yield started


def _cancellations() -> int:
    task = asyncio.current_task()
    assert task is not None
    return task.cancelling()


async def _too_slow(agent: Agent) -> None:
    """Do something with a recall in it for longer than its own deadline."""
    async with asyncio.timeout(0.5):
        await agent.recall("Which staging host?")
        await asyncio.sleep(60)


@pytest.mark.parametrize(
    "fault", [Fault(500), Fault(422), Fault(hang=True)], ids=lambda f: f.status
)
async def test_r9_11_a_failing_reranker_leaves_the_callers_task_alone(
    server: ModelServer, tmp_path: Path, fault: Fault
) -> None:
    """Recalls, turns and injections go on without it, and the caller's deadlines still count."""
    server.always = fault
    chosen = {"rerank_url": server.url, "rerank_api_key": KEY, "rerank_timeout_seconds": 0.2}
    async with running(tmp_path, **chosen) as ezra:
        graph = await ezra.create_session_graph("ops")
        agent = await graph.spawn_agent("scout", inject="turn")
        for text in TOLD:
            await agent.remember(text)
        found = await agent.recall("Which staging port?")
        assert found.degraded.count("rerank") == 1
        assert _cancellations() == 0
        turn = await agent.turn("Which staging port?")
        await turn.reply("8443.")
        assert _cancellations() == 0
        with pytest.raises(TimeoutError):
            await _too_slow(agent)
        assert _cancellations() == 0


async def test_r9_11_a_cancelled_caller_is_cancelled_once(
    server: ModelServer, tmp_path: Path
) -> None:
    """While a reranker does not answer, whoever waits may still be told to stop."""
    server.always = Fault(hang=True)
    chosen = {"rerank_url": server.url, "rerank_api_key": KEY, "rerank_timeout_seconds": 20}
    async with running(tmp_path, **chosen) as ezra:
        graph = await ezra.create_session_graph("ops")
        agent = await graph.spawn_agent("scout")
        for text in TOLD:
            await agent.remember(text)
        asking = asyncio.create_task(agent.recall("Which staging port?"))
        seen = len(server.seen)
        async with asyncio.timeout(PATIENCE_SECONDS):
            while len(server.seen) == seen:  # noqa: ASYNC110 - the server runs in a thread
                await asyncio.sleep(0.005)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert asking.cancelling() == 1
