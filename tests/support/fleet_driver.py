"""A process of its own in which agents spawn, speak and leave at once, on a store of many owners.

Run as ``python -m support.fleet_driver HOME GRAPH NAME AGENTS TURNS`` with the servers in the
environment. It prints ``ready`` once it is in the graph, waits for a line, and prints what was
acknowledged as JSON: for each agent the ``ref`` and ``seq`` of its turns, in the order of its
replies.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Coroutine, Iterable
from pathlib import Path
from typing import Any, TypeVar

from ezra import Ezra, Settings
from ezra.handles.agent import Agent
from ezra.handles.graph import Graph

SHARED_AGENT = "race engineer"
"""Spawned by every process, while it is there already in another one, and left by every one."""

TOPIC = "tyres"
PATIENCE_SECONDS = 900.0
"""The stand-ins serve a few turns at a time, and a large fleet waits in line for them."""

Acknowledged = dict[str, list[tuple[str, int]]]
T = TypeVar("T")


async def at_once(calls: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return the answers of calls made at the same time; the first failure ends them all."""
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(call) for call in calls]
    return [task.result() for task in tasks]


def fleet_settings(home: Path) -> Settings:
    """Return settings under which nothing is given up because the machine is busy."""
    return Settings(
        home=home,
        embedder="off",
        background=False,
        step_timeout_seconds=PATIENCE_SECONDS,
        server_timeout_seconds=PATIENCE_SECONDS,
    )


async def speak(agent: Agent, number: int) -> tuple[str, int]:
    """Carry a turn through all steps and return its ``ref``, and the ``seq`` it was given."""
    ref = f"{agent.id}/{number}"
    turn = await agent.turn(f"Lap {number} of {agent.id}: the mediums lost a tenth.", ref=ref)
    written = await turn.reply(f"Noted, {agent.id}.")
    return ref, written.turn.seq


async def one_life(graph: Graph, agent_id: str, turns: int) -> list[tuple[str, int]]:
    """Spawn, speak one turn after the other, and leave."""
    agent = await graph.spawn_agent(agent_id, topics={TOPIC})
    said = [await speak(agent, number) for number in range(1, turns + 1)]
    await agent.leave()
    return said


async def _run(home: Path, graph_id: str, name: str, agents: int, turns: int) -> Acknowledged:
    async with Ezra.open(fleet_settings(home)) as ezra:
        graph = await ezra.session_graph(graph_id)
        shared = await graph.spawn_agent(SHARED_AGENT, topics={TOPIC})
        print("ready", flush=True)  # noqa: T201
        await asyncio.to_thread(sys.stdin.readline)
        names = [f"{name}-{number}" for number in range(agents)]
        said = await at_once(one_life(graph, one, turns) for one in names)
        await shared.leave()
    return dict(zip(names, said, strict=True))


if __name__ == "__main__":
    _, folder, graph_name, own_name, *sizes = sys.argv
    acknowledged = asyncio.run(_run(Path(folder), graph_name, own_name, *map(int, sizes)))
    print(json.dumps(acknowledged), flush=True)  # noqa: T201
