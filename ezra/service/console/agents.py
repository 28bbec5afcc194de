"""One agent: what it is, and what each tier holds for it, live, and what moved and why."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from tiers.records import AuditEvent, AuditFilter, Summary, Turn, Usage

from ...handles.agent_memory import AgentMemory
from ...handles.graph import Graph
from ..caller import Caller
from ..handle_pool import HandlePool, acting
from ..taking import Names
from .pages import LATEST, View, href, pages

MOVES_SHOWN = 30
_OF_FACTS = frozenset({"promoted", "demoted", "superseded", "deduplicated", "forgotten"})

MOVED: Mapping[str, str] = {
    "promoted": "accent",
    "demoted": "warn",
    "superseded": "warn",
    "deduplicated": "",
    "forgotten": "bad",
    "evicted": "warn",
    "retired": "bad",
    "redacted": "bad",
    "pinned": "accent",
    "unpinned": "",
}
"""Which audit events tell that something moved between tiers or left them, and their tone."""


@dataclass(frozen=True)
class Move:
    """Something that moved between tiers, or left them.

    Attributes:
        kind: What happened.
        tone: How it is shown.
        at: When.
        record_id: What moved.
        why: In words.
        to: Where it is told of; empty when nowhere.
    """

    kind: str
    tone: str
    at: datetime
    record_id: str
    why: str
    to: str = ""


@pages.page("/graphs/{graph_id}/agents/{agent_id}", needs="see", label="Memory", key="i")
async def one_agent(pool: HandlePool, caller: Caller, names: Names) -> View:
    """Show one agent: to who audits all of it, to who acts as it what it sees itself."""
    graph_id, agent_id = names["graph_id"], names["agent_id"]
    if not caller.may("read", graph_id, agent_id):
        agent = await acting(pool, caller, names, watches=True)
        core, used = await asyncio.gather(agent.core(), agent.usage())
        return View("agents_own.html", {"agent": agent, "core": core, "used": used}, agent_id)
    graph = await pool.graph(graph_id)
    memory, values, usage = await asyncio.gather(
        _live(graph, agent_id), _cold(graph, agent_id), graph.usage_by_agent()
    )
    values = {**memory, **values, "used": usage.get(agent_id, Usage())}
    return View("agents.html", values, agent_id)


@pages.page("/graphs/{graph_id}/agents/{agent_id}/live", needs="read")
async def live(graph: Graph, agent_id: str) -> View:
    """Show an agent's hot and warm memory, and what moved."""
    return View("agents_live.html", await _live(graph, agent_id))


@pages.page("/graphs/{graph_id}/agents/{agent_id}/cold", needs="read")
async def cold(graph: Graph, agent_id: str) -> View:
    """Show what the cold tier has for an agent."""
    return View("agents_cold.html", await _cold(graph, agent_id))


async def _live(graph: Graph, agent_id: str) -> Mapping[str, object]:
    only = AuditFilter(kinds=tuple(MOVED), before=LATEST)
    memory, events = await asyncio.gather(
        graph.memory_of(agent_id), graph.audit(0, MOVES_SHOWN, only=only)
    )
    return {"memory": memory, "moves": moves_of(memory, events)}


async def _cold(graph: Graph, agent_id: str) -> Mapping[str, object]:
    core, status = await asyncio.gather(graph.core(agent_id), graph.status())
    return {"core": core, "status": status}


def moves_of(memory: AgentMemory, events: Sequence[AuditEvent]) -> tuple[Move, ...]:
    """Return what moved of late, the latest first. Pure.

    That a turn left the ring, and became part of a summary, is no event of the audit feed: it is
    told by where the turn is.
    """
    moves = [
        *(_eviction(turn, memory.capacity) for turn in memory.waiting),
        *(_compressed(one, memory.capacity) for one in memory.summaries),
        *(_move(event) for event in events),
    ]
    return tuple(sorted(moves, key=lambda move: move.at, reverse=True)[:MOVES_SHOWN])


def _eviction(turn: Turn, capacity: int) -> Move:
    why = f"turn {turn.seq} is older than the last {capacity}; it waits to be compressed"
    to = href("graphs", turn.graph_id, "agents", turn.agent_id, "turns", turn.seq)
    return Move("left the ring", "hot", turn.recorded_at, turn.id, why, to)


def _compressed(summary: Summary, capacity: int) -> Move:
    count = len(summary.covers)
    turns = f"{count} turns that were" if count > 1 else "a turn that was"
    lost = f"; it leaves out {summary.lost} statements of theirs" if summary.lost else ""
    why = f"made of {turns} older than the last {capacity}, by {summary.made_by}{lost}"
    return Move("compressed", "warm", summary.recorded_at, summary.id, why)


def _move(event: AuditEvent) -> Move:
    who = f", by {event.agent_id}" if event.agent_id else ""
    record_id = event.record_ids[0] if event.record_ids else ""
    return Move(
        kind=event.kind,
        tone=MOVED[event.kind],
        at=event.recorded_at,
        record_id=record_id,
        why=event.reason + who,
        to=_place_of(event, record_id),
    )


def _place_of(event: AuditEvent, record_id: str) -> str:
    if event.kind in _OF_FACTS and record_id:
        return href("graphs", event.graph_id, "facts", record_id)
    return ""
