"""The command that reads the audit feed."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

import typer

from tiers.records import AuditEvent, AuditFilter

from .doors import Url, opened
from .options import Home, Json, MaybeGraph, in_utc, run
from .screen import Screen

EXAMPLES = (
    "Examples: ezra audit  ·  ezra audit imola --kind denied --since 2026-05-14  ·  "
    "ezra audit feed --after 1000 --limit 1000 --json"
)

HEADINGS = ("no.", "recorded", "graph", "agent", "kind", "records", "reason")


def feed(
    graph: MaybeGraph = None,
    kind: Annotated[
        list[str] | None, typer.Option(help="Only events of this kind. Repeatable.")
    ] = None,
    agent: Annotated[str | None, typer.Option(help="Only events by this agent.")] = None,
    record: Annotated[str | None, typer.Option(help="Only events about this record.")] = None,
    since: Annotated[
        datetime | None, typer.Option(help="Recorded at or after this moment (UTC).")
    ] = None,
    until: Annotated[
        datetime | None, typer.Option(help="Recorded before this moment (UTC).")
    ] = None,
    after: Annotated[
        int, typer.Option(help="Where the page before ended: its last number.", min=0)
    ] = 0,
    limit: Annotated[int, typer.Option(help="The most events to print.", min=1, max=10_000)] = 1000,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show who came, went, wrote and was refused, in order: ids and reasons, never content.

    Events of a graph are numbered in their graph, those of the tenant over all its graphs.
    """
    screen = Screen()
    only = AuditFilter(
        kinds=tuple(kind or ()),
        agent_id=agent,
        record_id=record,
        since=in_utc(since),
        until=in_utc(until),
    )

    async def found() -> tuple[AuditEvent, ...]:
        async with opened(home, url) as ezra:
            if graph is None:
                return await ezra.audit(after, limit, only=only)
            return await (await ezra.session_graph(graph)).audit(after, limit, only=only)

    events = run(found())
    if json:
        screen.document([event.model_dump(mode="json") for event in events])
        return
    numbers = [event.position if graph is None else event.seq for event in events]
    rows = [_cells(event, number) for number, event in zip(numbers, events, strict=True)]
    if screen.is_terminal:
        screen.table(HEADINGS, rows)
    else:
        for row in rows:
            screen.line("  ".join(cell for cell in row if cell))
    if len(events) == limit:
        screen.note(f"there may be more: --after {numbers[-1]}")


def _cells(event: AuditEvent, number: int) -> tuple[str, ...]:
    return (
        f"{number:>6}",
        f"{event.recorded_at:%Y-%m-%d %H:%M:%S}",
        event.graph_id,
        event.agent_id or "-",
        event.kind,
        " ".join(event.record_ids),
        event.reason,
    )
