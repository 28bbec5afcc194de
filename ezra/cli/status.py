"""``ezra status``: what each tier holds, whether it answers, and the work that waits."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated

import typer

from metaagents.reindex.rules import Reembedding

from ..moving.graph_status import Health
from .command import Answer, Note, Part, Rows
from .doors import Memory, name_of
from .options import MaybeGraph
from .picture import Picture, picture_of
from .screen import Screen

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
