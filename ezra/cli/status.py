"""``ezra status``: what each tier holds, whether it answers, and the work that waits.

Its picture of a memory at a moment, through either door, is what ``ezra top`` shows too.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Annotated, Any, TypeVar

import typer

from metaagents.reindex.rules import Reembedding
from tiers.errors import PolicyDenied
from tiers.records import AgentRecord, AuditEvent, AuditFilter, SessionGraph, Usage

from ..moving.graph_status import GraphStatus, Health
from .command import Answer, Note, Part, Rows, plain
from .doors import AnyEzra, Memory, name_of
from .options import MaybeGraph
from .screen import Screen

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
        document: dict[str, Any] = plain(self)
        return document | {"at": self.at.isoformat(), "answered_ms": round(self.answered_ms, 1)}


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


GRAPHS_SHOWN = 100
HEADINGS = ("graph", "state", "members", "hot", "warm", "turns", "facts", "beliefs", "waiting")


async def status(
    memory: Memory,
    graph: MaybeGraph = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = GRAPHS_SHOWN,
) -> Answer:
    """Show what each tier holds, whether it answers, and the work that waits.

    The embedded rings live in the process that speaks: in a new one the hot tier is empty until
    an agent's next turn rebuilds its ring from cold. A server's are those of its agents.

    Args:
        limit: The most graphs to show: those in use first.

    Examples:
        ezra status
        ezra status imola --json
        ezra status --url http://127.0.0.1:8765
    """
    ezra = await memory.open(background=True)
    found = await picture_of(ezra, name_of(memory.home, memory.url), graph, graphs=limit)
    return Answer(found.document(), _shown(found, is_one=graph is not None))


def _shown(found: Picture, *, is_one: bool) -> Iterator[Part]:
    if is_one:
        for name, one in found.graphs.items():
            yield partial(Screen.status, name=name, status=one)
    elif found.graphs:
        yield Rows(HEADINGS, rows_of(found))
    if found.more_graphs:
        yield Note(
            f"{found.more_graphs} more graphs: --limit {len(found.graphs) + found.more_graphs}"
        )
    if found.health is not None:
        yield f"{found.where}: {health_line(found.health)}"
    if found.waiting_work is not None:
        count = len(found.graphs) + found.more_graphs
        graphs = "1 session graph" if count == 1 else f"{count} session graphs"
        about = "of all session graphs" if is_one else graphs
        yield f"{about}; waiting work: {work_line(found.waiting_work)}"
    if found.reembedding is not None:
        yield reembedding_line(found.reembedding)


def rows_of(found: Picture) -> list[tuple[str, ...]]:
    """Return a row for each graph, under ``HEADINGS``."""
    return [
        (
            name,
            one.state,
            str(one.agents),
            *("?" if count is None else str(count) for count in (one.hot, one.warm)),
            str(one.cold["turns"]),
            str(one.cold["facts_core"] + one.cold["facts_archival"]),
            str(one.cold["beliefs"]),
            str(one.cold["waiting_work"]),
        )
        for name, one in found.graphs.items()
    ]


def health_line(health: Health) -> str:
    """Return how the tiers answer, on one line."""
    tiers = (
        f"{name} {one.state}" + ("" if one.milliseconds is None else f" {one.milliseconds:.1f} ms")
        for name, one in health.tiers.items()
    )
    waits = f", the oldest waits for the index {health.index_age:.0f} s" if health.index_age else ""
    return f"{health.status} ({', '.join(tiers)}){waits}"


def work_line(waiting: dict[str, int]) -> str:
    """Return how much work waits, on one line."""
    return ", ".join(f"{count} {kind}" for kind, count in waiting.items() if count) or "none"


def reembedding_line(going: Reembedding) -> str:
    """Return how far re-embedding has come, on one line."""
    models = f"from {going.model_from or 'words'} to {going.model_to or 'words'}"
    return f"re-embedding {models}: {going.done} of {going.total}"
