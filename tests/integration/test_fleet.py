"""Fleets: many agents of one graph spawn, speak and leave at once, and nothing is lost."""

from __future__ import annotations

import asyncio
import json
import os
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from support.fleet_driver import SHARED_AGENT, TOPIC, Acknowledged, at_once, fleet_settings, speak
from support.servers import on_servers
from support.warm_command import warm_python

from ezra import AuditEvent, Ezra
from ezra.handles.agent import Agent
from ezra.handles.graph import Graph

TESTS = Path(__file__).parents[1]
GRAPH = "race"
PAGE = 100
TICKS_MAX = 20
ANSWER_BYTES_MAX = 2**24


async def _audit(graph: Graph) -> list[AuditEvent]:
    """Return the whole feed, page by page."""
    events: list[AuditEvent] = []
    while page := await graph.audit(events[-1].seq if events else 0, PAGE):
        events += page
    return events


def _times(events: Sequence[AuditEvent], kind: str) -> Counter[str | None]:
    """Return how often each agent has an event of a kind."""
    return Counter(event.agent_id for event in events if event.kind == kind)


async def _said(agent: Agent, turns: int, *, patient: bool) -> list[tuple[str, int]]:
    """Let an agent speak: one turn after the other when patient, otherwise all at once."""
    numbers = range(1, turns + 1)
    if patient:
        return [await speak(agent, number) for number in numbers]
    return await at_once(speak(agent, number) for number in numbers)


async def _check_stored(graph: Graph, acknowledged: Acknowledged, turns: int) -> set[str]:
    """See that each agent's turns are there as acknowledged, without gaps; return their ids."""
    seqs = {ref: seq for said in acknowledged.values() for ref, seq in said}
    assert len(seqs) == len(acknowledged) * turns
    for said in acknowledged.values():
        assert sorted(seq for _, seq in said) == list(range(1, turns + 1))
    ids: set[str] = set()
    refs = list(seqs)
    for first in range(0, len(refs), PAGE):
        stored = await graph.turns_by_ref(refs[first : first + PAGE])
        assert {ref: turn.seq for ref, turn in stored.items()} == {
            ref: seqs[ref] for ref in refs[first : first + PAGE]
        }
        ids |= {turn.id for turn in stored.values()}
    assert len(ids) == len(refs)
    return ids


async def _check_coverage(ezra: Ezra, graph: Graph, ids: set[str]) -> None:
    """Let the lifecycle work until nothing is left; see each turn in exactly one summary."""
    for _ in range(TICKS_MAX):
        await ezra.run_lifecycle_tick(graph.id)
        if (await graph.status()).cold["covered_turns"] == len(ids):
            break
    summaries = await graph.summaries()
    assert Counter(turn for one in summaries for turn in one.covers) == Counter(ids)
    assert {one.level for one in summaries} == {0}


async def _check_fleet(home: Path, agents: int, turns: int) -> None:
    """Half of the agents speak one turn after the other, the others all their turns at once."""
    async with Ezra.open(fleet_settings(home)) as ezra:
        graph = await ezra.create_session_graph(GRAPH)
        names = [f"agent {number}" for number in range(agents)]
        fleet = await at_once(graph.spawn_agent(name, topics={TOPIC}) for name in names)
        said = await at_once(
            _said(agent, turns, patient=place % 2 == 0) for place, agent in enumerate(fleet)
        )
        for in_order in said[::2]:
            assert [seq for _, seq in in_order] == list(range(1, turns + 1))
        ids = await _check_stored(graph, dict(zip(names, said, strict=True)), turns)
        status = await graph.status()
        assert (status.agents, status.cold["turns"]) == (agents, agents * turns)
        assert status.hot == agents * min(turns, ezra.settings.ring_capacity)

        await graph.close()
        await _check_coverage(ezra, graph, ids)
        status = await graph.status()
        assert (status.state, status.agents, status.hot) == ("closed", 0, 0)
        assert status.cold["turns"] == status.cold["covered_turns"] == agents * turns

        events = await _audit(graph)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert _times(events, "spawned") == _times(events, "left") == Counter(names)
        assert _times(events, "closed") == Counter({None: 1})


async def test_fleet_speaks_at_once_without_gaps(tmp_path: Path, tiers: str) -> None:
    """Counts, order and coverage are exact for a small fleet."""
    await _check_fleet(tmp_path, agents=20 if tiers == "embedded" else 10, turns=5)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("tiers")
async def test_large_fleet_speaks_at_once_without_gaps(tmp_path: Path) -> None:
    """Two hundred agents with twenty turns each."""
    await _check_fleet(tmp_path, agents=200, turns=20)


@asynccontextmanager
async def _fleet_process(home: Path, name: str, agents: int, turns: int) -> AsyncIterator[Process]:
    """Run the driver until it is in the graph and waits; end it with the block at the latest."""
    process = await asyncio.create_subprocess_exec(
        warm_python(),
        "-m",
        "support.fleet_driver",
        *(str(home / name), GRAPH, name, str(agents), str(turns)),
        stdin=PIPE,
        stdout=PIPE,
        cwd=TESTS,
        env={**os.environ, "PYTHONPATH": f"{TESTS}{os.pathsep}{TESTS.parent}"},
        limit=ANSWER_BYTES_MAX,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()


async def _acknowledged(process: Process) -> Acknowledged:
    answer, _ = await process.communicate(b"go\n")
    assert process.returncode == 0
    told: Acknowledged = json.loads(answer)
    return told


async def _from_two_processes(home: Path, agents: int, turns: int) -> Acknowledged:
    """Let two processes bring in their agents at the same time; return what was acknowledged."""
    async with (
        _fleet_process(home, "left", agents, turns) as left,
        _fleet_process(home, "right", agents, turns) as right,
    ):
        for process in (left, right):
            assert process.stdout is not None
            assert await process.stdout.readline() == b"ready\n"
        answers = await at_once(_acknowledged(process) for process in (left, right))
    return answers[0] | answers[1]


async def _check_two_processes(home: Path, agents: int, turns: int) -> None:
    async with Ezra.open(fleet_settings(home / "parent")) as ezra:
        graph = await ezra.create_session_graph(GRAPH)
        acknowledged = await _from_two_processes(home, agents, turns)
        names = [f"{side}-{number}" for side in ("left", "right") for number in range(agents)]
        assert sorted(acknowledged) == sorted(names)
        for said in acknowledged.values():
            assert [seq for _, seq in said] == list(range(1, turns + 1))
        ids = await _check_stored(graph, acknowledged, turns)

        members = await graph.agents()
        assert sorted(one.id for one in members) == sorted([*names, SHARED_AGENT])
        assert all(one.left_at is not None and not one.released for one in members)
        status = await graph.status()
        assert (status.state, status.agents, status.hot) == ("closed", 0, 0)
        assert status.cold["turns"] == 2 * agents * turns

        events = await _audit(graph)
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        everybody = Counter([*names, SHARED_AGENT])
        assert _times(events, "spawned") == _times(events, "left") == everybody
        assert _times(events, "reattached") == Counter([SHARED_AGENT])
        closed, reopened = _times(events, "closed"), _times(events, "reopened")
        assert closed.total() == reopened.total() + 1
        assert {event.kind for event in events} <= {
            "created",
            "spawned",
            "reattached",
            "left",
            "closed",
            "reopened",
        }
        await _check_coverage(ezra, graph, ids)


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tiers on servers, which several processes share."""
    on_servers(monkeypatch)


@pytest.mark.usefixtures("servers")
async def test_two_processes_share_a_graph(tmp_path: Path) -> None:
    """Agents of both come, speak and go at once: no update is lost, no event is there twice."""
    await _check_two_processes(tmp_path, agents=5, turns=2)


@pytest.mark.slow
@pytest.mark.timeout(1800)
@pytest.mark.usefixtures("servers")
async def test_two_processes_share_a_graph_with_many_agents(tmp_path: Path) -> None:
    """Two hundred agents, half of them in each process."""
    await _check_two_processes(tmp_path, agents=100, turns=5)
