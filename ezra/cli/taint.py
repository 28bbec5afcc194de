"""The commands about poisoned records: trace, roll back, undo, confirm, list."""

from __future__ import annotations

from typing import Annotated

import typer

from ..erasure.taint.rolling_back import RollBackReport
from ..erasure.taint.tracing import Trace
from ..erasure.taint.walk import TaintNode
from .doors import Url, on_graph
from .options import GraphId, Home, Json
from .plain import plain
from .screen import Screen

taint_app = typer.Typer(
    help="A poisoned record: find what came of it, take it back, undo or confirm that.",
    no_args_is_help=True,
)

RecordId = Annotated[str, typer.Argument(help="The id of the poisoned record.")]
RollBackId = Annotated[str, typer.Argument(help="The id of the roll-back.")]
Reason = Annotated[str, typer.Option(help="Why; kept in the audit feed.")]


@taint_app.command(
    "trace",
    epilog="Examples: ezra taint trace imola 01985a4c-…  ·  "
    "ezra taint trace imola 01985a4c-… --after 200 --json",
)
def trace(
    graph: GraphId,
    record: RecordId,
    limit: Annotated[int, typer.Option(help="The most records to show.", min=1, max=1000)] = 200,
    after: Annotated[int, typer.Option(help="Where the page before ended.", min=0)] = 0,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what came of a turn, fact, rule, belief, document, summary or episode, as a tree.

    "derived" names a tainted record as its source: that is certain. "exposed" came of a context
    that showed one: it may say something of it. Changes nothing.
    """
    found = on_graph(
        home, url, graph, lambda chosen: chosen.taint.trace(record, limit=limit, after=after)
    )
    screen = Screen()
    if json:
        screen.document(plain(found))
        return
    _show(screen, found)


@taint_app.command(
    "roll-back",
    epilog="Examples: ezra taint roll-back imola 01985a4c-… --reason 'planted by a page' --dry-run"
    "  ·  ezra taint roll-back imola 01985a4c-… --reason 'planted by a page' --exposed",
)
def roll_back(
    graph: GraphId,
    record: RecordId,
    reason: Reason,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only show what would be done.")
    ] = False,
    exposed: Annotated[
        bool, typer.Option("--exposed", help="Also what a context only showed it to.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Take back everything derived from a record, itself included, until you confirm or undo.

    Turns, facts, rules and documents are set aside, beliefs reverted, summaries and episodes made
    anew of what is left. Receipts stay as evidence.
    """
    done = on_graph(
        *(home, url, graph),
        lambda chosen: chosen.taint.roll_back(
            record, reason=reason, dry_run=dry_run, exposed=exposed
        ),
    )
    _report(done, json=json)


@taint_app.command(
    "undo", epilog="Example: ezra taint undo imola 01985a4c-… --reason 'it was right after all'"
)
def undo(
    graph: GraphId,
    roll_back: RollBackId,
    reason: Reason,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Bring back what an open roll-back took."""
    done = on_graph(home, url, graph, lambda chosen: chosen.taint.undo(roll_back, reason=reason))
    _report(done, json=json)


@taint_app.command(
    "confirm", epilog="Example: ezra taint confirm imola 01985a4c-… --reason 'reviewed by two'"
)
def confirm(
    graph: GraphId,
    roll_back: RollBackId,
    reason: Reason,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Destroy what an open roll-back keeps: it can be undone no longer."""
    done = on_graph(home, url, graph, lambda chosen: chosen.taint.confirm(roll_back, reason=reason))
    _report(done, json=json)


@taint_app.command(
    "list", epilog="Examples: ezra taint list imola  ·  ezra taint list imola --json"
)
def roll_backs(graph: GraphId, home: Home = None, url: Url = None, json: Json = False) -> None:
    """Show the roll-backs of a graph, the latest first."""
    found = on_graph(home, url, graph, lambda chosen: chosen.taint.roll_backs())
    screen = Screen()
    if json:
        screen.document(plain(found))
        return
    rows = [
        (one.id, f"{one.made_at:%Y-%m-%d %H:%M}", one.state, str(len(one.items)), one.reason)
        for one in found
    ]
    screen.table(("roll-back", "made", "state", "records", "reason"), rows)
    if not rows:
        screen.note("no record of this graph was rolled back")


def _show(screen: Screen, found: Trace) -> None:
    for one in found.nodes:
        screen.line(_node(one))
    if found.origins:
        screen.line("it came of")
        for origin in found.origins:
            who, when = origin.agent_id or "nobody", f"{origin.recorded_at:%Y-%m-%d %H:%M}"
            screen.line(f"  {origin.kind} {origin.id} by {who}, {when}: {origin.text}")
    for exposure, kinds in found.counts.items():
        if exposure != "root":
            told = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            screen.line(f"{exposure}: {told}")
    if found.cursor is not None:
        screen.note(f"more: --after {found.cursor} of {found.total}")
    for note in found.notes:
        screen.note(note)


def _node(one: TaintNode) -> str:
    how = f"{one.how}: " if one.how else ""
    gone = " (set aside)" if one.is_kept else " (no content)"
    state = gone if one.is_gone else " (taken back)" if one.is_over else ""
    who = f" by {one.agent_id}" if one.agent_id else ""
    text = f"  {one.text}" if one.text else ""
    return f"{'  ' * one.depth}{one.exposure:8} {how}{one.kind} {one.id}{who}{state}{text}"


def _report(done: RollBackReport, *, json: bool) -> None:
    screen = Screen()
    if json:
        screen.document(plain(done))
        return
    made = done.roll_back
    if made.state == "open":
        for one in made.items:
            again = " and made anew" if one.id in done.rebuilt else ""
            screen.line(f"{one.done}{again}: {one.kind} {one.id} of {one.graph_id}")
    if done.dry_run:
        screen.line(f"{len(made.items)} records would be changed; nothing was done")
        return
    screen.line(f"roll-back {made.id}: {made.state}, {len(made.items)} records")
    for kept in made.kept:
        screen.note(f"stays away: {kept}")
    for note in done.notes:
        screen.note(note)
    for store, why in done.waiting.items():
        screen.line(f"not clean yet: {store}: {why}")
