"""What ``status`` and ``top`` show: how a memory is at a moment, through either door."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, TypeVar

from metaagents.reindex.rules import Reembedding
from tiers.errors import PolicyDenied
from tiers.records import AgentRecord, AuditEvent, AuditFilter, SessionGraph, Usage

from ..moving.graph_status import GraphStatus, Health
from .command import plain
from .doors import AnyEzra

_FROM_THE_END = AuditFilter(before=2**53 - 1)
_T = TypeVar("_T")


@dataclass(frozen=True)
class Picture:
    """How a memory is.

    Attributes:
        at: When it was asked.
        where: The folder or the server.
        answered_ms: How long all questions together took.
        health: How the tiers answer; ``None`` where the token covers no more than a graph.
        graphs: What the tiers hold for each graph that is shown, in order of creation.
        more_graphs: How many graphs are not shown.
        members: Of the one graph that was asked for, and what each has used.
        usage_by_agent: Likewise, by agent.
        waiting_work: How much work waits, by kind; ``None`` as ``health``.
        reembedding: How far it has come; ``None`` when there is nothing to do.
        events: The last of the audit feed, the latest first; ids and reasons, never content.
    """

    at: datetime
    where: str
    answered_ms: float
    health: Health | None
    graphs: dict[str, GraphStatus]
    more_graphs: int
    members: tuple[AgentRecord, ...]
    usage_by_agent: dict[str, Usage]
    waiting_work: dict[str, int] | None
    reembedding: Reembedding | None
    events: tuple[AuditEvent, ...]

    def document(self) -> dict[str, Any]:
        """Return it for programs."""
        told: dict[str, Any] = plain(self)
        return told | {"at": self.at.isoformat(), "answered_ms": round(self.answered_ms, 1)}


async def picture_of(
    ezra: AnyEzra, where: str, graph: str | None, *, graphs: int, events: int = 0
) -> Picture:
    """Ask a memory how it is.

    Args:
        ezra: The memory.
        where: What it is called.
        graph: The only graph that is asked for; all if not given.
        graphs: Of all graphs the most that are shown: those in use first, then the latest.
        events: How many of the audit feed, at most 10,000.

    Raises:
        NotFound: There is no such graph.
    """
    started = time.perf_counter()
    if graph is None:
        shown, more = _chosen(await ezra.session_graphs(), graphs)
        health: Health | None = await ezra.health()
        waiting: dict[str, int] | None = await ezra.waiting_work()
    else:
        shown, more = [graph], 0
        health = await _if_allowed(ezra.health())
        waiting = await _if_allowed(ezra.waiting_work())
    members, used = ((), {}) if graph is None else await _members(ezra, graph)
    return Picture(
        at=datetime.now(UTC),
        where=where,
        health=health,
        graphs=await _statuses(ezra, shown),
        more_graphs=more,
        members=members,
        usage_by_agent=used,
        waiting_work=waiting,
        reembedding=None if waiting is None else await _reembedding(ezra),
        events=await _latest(ezra, graph, events) if events else (),
        answered_ms=1000 * (time.perf_counter() - started),
    )


def _chosen(found: Sequence[SessionGraph], limit: int) -> tuple[list[str], int]:
    """Return the graphs that are shown, in order of creation, and how many are not."""
    latest = sorted(
        enumerate(found), key=lambda one: (one[1].state == "active", one[0]), reverse=True
    )
    names = [found[place].id for place in sorted(place for place, _ in latest[:limit])]
    return names, len(found) - len(names)


async def _statuses(ezra: AnyEzra, names: Sequence[str]) -> dict[str, GraphStatus]:
    return {name: await (await ezra.session_graph(name)).status() for name in names}


async def _members(ezra: AnyEzra, graph: str) -> tuple[tuple[AgentRecord, ...], dict[str, Usage]]:
    chosen = await ezra.session_graph(graph)
    return await chosen.agents(), await chosen.usage_by_agent()


async def _reembedding(ezra: AnyEzra) -> Reembedding | None:
    """Return how far re-embedding has come; a server has to be asked."""
    from ..app import Ezra

    return ezra.reembedding if isinstance(ezra, Ezra) else await ezra.reembedding()


async def _latest(ezra: AnyEzra, graph: str | None, count: int) -> tuple[AuditEvent, ...]:
    if graph is None:
        return await ezra.audit(0, count, only=_FROM_THE_END)
    return await (await ezra.session_graph(graph)).audit(0, count, only=_FROM_THE_END)


async def _if_allowed(asked: Awaitable[_T]) -> _T | None:
    """Return the answer, or ``None`` to a token that is for one graph only."""
    try:
        return await asked
    except PolicyDenied:
        return None
