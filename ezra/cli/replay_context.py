"""``ezra replay-context``: what a turn or a recall was given, rebuilt from its receipt."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from ..receipts.comparing import ContextDiff
from ..receipts.rebuilding import ReplayedContext
from ..turn.assemble import Slot
from ..turn.receipts import KeptSlot
from .doors import Url, opened
from .options import Home, Json, run
from .plain import plain
from .screen import Screen

TEXT_CHARS = 120
EXAMPLES = (
    "Examples: ezra replay-context 01985a4c-…  ·  "
    "ezra replay-context 01985a4c-… --no-diff --messages  ·  ezra replay-context ID --json"
)


def replay_context(
    receipt: Annotated[str, typer.Argument(help="Id of a receipt, as a turn names it.")],
    graph: Annotated[
        str | None, typer.Option(help="Its session graph; looked for in all if not given.")
    ] = None,
    diff: Annotated[
        bool, typer.Option("--diff/--no-diff", help="Show how it would be today.")
    ] = True,
    messages: Annotated[
        bool, typer.Option("--messages", help="Print the messages as the model read them.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Rebuild the context of a turn, or the answer of a recall, from its receipt.

    Byte for byte, whatever was written, superseded or promoted since; a hash proves it. Nothing is
    changed by it. Exit code 1 when it is not exact: something of it was redacted or retired, or the
    receipt is too old.
    """
    screen = Screen()

    async def work() -> ReplayedContext:
        async with opened(home, url) as ezra:
            if graph is None:
                return await ezra.replay_context(receipt, today=diff)
            return await (await ezra.session_graph(graph)).replay_context(receipt, today=diff)

    found = run(work())
    if json:
        screen.document(_document(found))
    else:
        _show(screen, found, with_messages=messages)
    if not found.is_exact:
        raise typer.Exit(1)


def _document(found: ReplayedContext) -> dict[str, Any]:
    document: dict[str, Any] = plain(found)
    if found.today is not None:
        document["today"]["is_same"] = found.today.is_same
    return document


def _show(screen: Screen, found: ReplayedContext, *, with_messages: bool) -> None:
    who = f"{found.graph_id}/{found.agent_id}" if found.agent_id else found.graph_id
    screen.line(f"{found.kind} of {who} at {found.at:%Y-%m-%d %H:%M}: {_short(found.query)}")
    if with_messages:
        for message in found.messages:
            screen.line(f"[{message['role']}]")
            screen.line(message["content"])
    else:
        screen.table(("slot", "record", "score", "text"), [_row(slot) for slot in found.slots])
    for one in found.missing:
        screen.line(f"missing  {_named(one.slot)}: {one.why}")
    for why, left_out in (("did not fit", found.dropped), ("told already", found.folded)):
        for slot in left_out:
            screen.line(f"left out {_named(slot)}: {why}")
    if found.today is not None:
        _show_today(screen, found.today)
    screen.line("exact" if found.is_exact else f"not exact: {found.reason}")


def _show_today(screen: Screen, diff: ContextDiff) -> None:
    for change in diff.changed:
        screen.line(f"today ~  {_named(change.was)}: {change.why}")
    for gone in diff.gone:
        screen.line(f"today -  {_named(gone.was)}: {gone.why}")
    for slot in diff.new:
        screen.line(f"today +  {_named(slot)}: {_short(slot.text)}")
    for reason in diff.skipped:
        screen.line(f"today left out {reason}")
    same = "the same" if diff.is_same else f"{len(diff.kept)} slots the same"
    screen.line(f"today: {same}")


def _row(slot: Slot) -> list[str]:
    score = "" if slot.score is None else f"{slot.score:.4f}"
    return [slot.kind, _named(slot), score, _short(slot.text)]


def _named(slot: Slot | KeptSlot) -> str:
    """Return what a slot is: its record with the graph that it came from, or its kind."""
    if slot.record is None:
        return slot.kind
    origin = f" from {slot.inherited_from}" if slot.inherited_from else ""
    version = "" if slot.version is None else f" v{slot.version}"
    return f"{slot.record} {slot.source_ids[0]}{version}{origin}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= TEXT_CHARS else f"{flat[: TEXT_CHARS - 1]}…"
