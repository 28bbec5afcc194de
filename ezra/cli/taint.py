"""The commands about poisoned records, and about texts that the write guard has put aside."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from tiers.quarantine import HELD_PAGE_MAX, Quarantined

from ..erasure.taint.rolling_back import RollBackReport
from ..erasure.taint.tracing import Trace
from ..erasure.taint.walk import TaintNode
from .cleaning import not_clean
from .command import Answer, Note, Part, Rows, command, group
from .doors import InGraph
from .options import Reason

taint_app = group("A poisoned record: find what came of it, take it back, undo or confirm that.")

RecordId = Annotated[str, typer.Argument(help="The id of the poisoned record.")]
RollBackId = Annotated[str, typer.Argument(help="The id of the roll-back.")]


@command(taint_app)
async def trace(
    at: InGraph,
    record: RecordId,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 200,
    after: Annotated[int, typer.Option(min=0)] = 0,
) -> Answer:
    """Show what came of a turn, fact, rule, belief, document, summary or episode, as a tree.

    "derived" names a tainted record as its source: that is certain. "exposed" came of a context
    that showed one: it may say something of it. Changes nothing.

    Args:
        limit: The most records to show.
        after: Where the page before ended.

    Examples:
        ezra taint trace imola 01985a4c-…
        ezra taint trace imola 01985a4c-… --after 200 --json
    """
    taint = (await at.held()).taint
    found = await taint.trace(record, limit=limit, after=after)
    return Answer(found, _traced(found))


@command(taint_app)
async def roll_back(
    at: InGraph,
    record: RecordId,
    reason: Reason,
    dry_run: bool = False,
    exposed: bool = False,
) -> Answer:
    """Take back everything derived from a record, itself included, until you confirm or undo.

    Turns, facts, rules and documents are set aside, beliefs reverted, summaries and episodes made
    anew of what is left. Receipts stay as evidence.

    Args:
        dry_run: Only show what would be done.
        exposed: Also what a context only showed it to.

    Examples:
        ezra taint roll-back imola 01985a4c-… --reason 'planted by a page' --dry-run
        ezra taint roll-back imola 01985a4c-… --reason 'planted by a page' --exposed
    """
    taint = (await at.held()).taint
    done = await taint.roll_back(record, reason=reason, dry_run=dry_run, exposed=exposed)
    return Answer(done, _rolled_back(done))


@command(taint_app)
async def undo(at: InGraph, roll_back: RollBackId, reason: Reason) -> Answer:
    """Bring back what an open roll-back took.

    Examples:
        ezra taint undo imola 01985a4c-… --reason 'it was right after all'
    """
    done = await (await at.held()).taint.undo(roll_back, reason=reason)
    return Answer(done, _rolled_back(done))


@command(taint_app)
async def confirm(at: InGraph, roll_back: RollBackId, reason: Reason) -> Answer:
    """Destroy what an open roll-back keeps: it can be undone no longer.

    Examples:
        ezra taint confirm imola 01985a4c-… --reason 'reviewed by two'
    """
    done = await (await at.held()).taint.confirm(roll_back, reason=reason)
    return Answer(done, _rolled_back(done))


@command(taint_app, "list")
async def roll_backs(at: InGraph) -> Answer:
    """Show the roll-backs of a graph, the latest first.

    Examples:
        ezra taint list imola
        ezra taint list imola --json
    """
    found = await (await at.held()).taint.roll_backs()
    rows = [(one.id, one.made_at, one.state, len(one.items), one.reason) for one in found]
    parts: list[Part] = [Rows(("roll-back", "made", "state", "records", "reason"), rows)]
    if not rows:
        parts.append(Note("no record of this graph was rolled back"))
    return Answer(found, parts)


def _traced(found: Trace) -> Iterator[Part]:
    yield from map(_node, found.nodes)
    if found.origins:
        yield "it came of"
        for origin in found.origins:
            who, when = origin.agent_id or "nobody", f"{origin.recorded_at:%Y-%m-%d %H:%M}"
            yield f"  {origin.kind} {origin.id} by {who}, {when}: {origin.text}"
    for exposure, kinds in found.counts.items():
        if exposure != "root":
            text = ", ".join(f"{count} {kind}" for kind, count in kinds.items())
            yield f"{exposure}: {text}"
    if found.cursor is not None:
        yield Note(f"more: --after {found.cursor} of {found.total}")
    yield from map(Note, found.notes)


def _node(one: TaintNode) -> str:
    how = f"{one.how}: " if one.how else ""
    gone = " (set aside)" if one.is_kept else " (no content)"
    state = gone if one.is_gone else " (taken back)" if one.is_over else ""
    who = f" by {one.agent_id}" if one.agent_id else ""
    text = f"  {one.text}" if one.text else ""
    return f"{'  ' * one.depth}{one.exposure:8} {how}{one.kind} {one.id}{who}{state}{text}"


def _rolled_back(done: RollBackReport) -> Iterator[Part]:
    made = done.roll_back
    if made.state == "open":
        for one in made.items:
            again = " and made anew" if one.id in done.rebuilt else ""
            yield f"{one.done}{again}: {one.kind} {one.id} of {one.graph_id}"
    if done.dry_run:
        yield f"{len(made.items)} records would be changed; nothing was done"
        return
    yield f"roll-back {made.id}: {made.state}, {len(made.items)} records"
    for kept in made.kept:
        yield Note(f"stays away: {kept}")
    yield from map(Note, done.notes)
    yield from not_clean(done.waiting)


quarantine_app = group(
    "Texts that the write guard has put aside: look at them, release or discard them."
)

TextId = Annotated[str, typer.Argument(help="Id of the text.")]
SHOWN_CHARS = 300


@command(quarantine_app, "list")
async def list_waiting(
    at: InGraph,
    after: str = "",
    limit: Annotated[int, typer.Option(min=1, max=HELD_PAGE_MAX)] = 20,
) -> Answer:
    """List the texts that wait for a decision, the oldest first, with what was found in them.

    Args:
        after: Id of the last text of the page before.
        limit: The most on a page.

    Examples:
        ezra quarantine list imola
        ezra quarantine list imola --json
    """
    found = await (await at.held()).quarantine.list(after=after, limit=limit)
    return Answer({"graph": at.graph, "texts": found}, _waiting_lines(found))


@command(quarantine_app)
async def release(at: InGraph, text: TextId, reason: Reason) -> Answer:
    """Store a text after all, as its writer meant it, and say the id of what it became.

    Examples:
        ezra quarantine release imola 01985a4c-… --reason 'A quotation, no order.'
    """
    stored = await (await at.held()).quarantine.release(text, reason=reason)
    return Answer({"graph": at.graph, "text": text, "id": stored}, stored)


@command(quarantine_app)
async def discard(at: InGraph, text: TextId, reason: Reason) -> Answer:
    """Throw a text away: its content is destroyed, what was found in it stays on record.

    Examples:
        ezra quarantine discard imola 01985a4c-… --reason 'An attack.' --json
    """
    done = await (await at.held()).quarantine.discard(text, reason=reason)
    what = "discarded" if done else "it was decided about before"
    return Answer({"graph": at.graph, "text": text, "discarded": done}, what)


def _waiting_lines(found: Sequence[Quarantined]) -> Iterator[Part]:
    for one in found:
        names = ", ".join(dict.fromkeys(finding.detector for finding in one.findings))
        yield f"{one.id}  {one.held} of {one.agent_id or 'ezra'} ({one.source}): {names}"
        text = " ".join(one.text.split())
        yield f"  {text if len(text) <= SHOWN_CHARS else text[:SHOWN_CHARS] + '…'}"
    if not found:
        yield Note("nothing is in quarantine")
