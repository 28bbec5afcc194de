"""``ezra replay-context``: what a turn or a recall was given, rebuilt from its receipt."""

from __future__ import annotations

from collections.abc import Iterator

from tiers.fencing import on_one_line

from ..receipts.comparing import ContextDiff
from ..receipts.rebuilding import ReplayedContext
from ..turn.assemble import Slot
from ..turn.receipts import KeptSlot
from .command import Answer, Part, Rows, plain
from .doors import Memory

TEXT_CHARS = 120


async def replay_context(
    memory: Memory,
    receipt: str,
    graph: str | None = None,
    diff: bool = True,
    messages: bool = False,
) -> Answer:
    """Rebuild the context of a turn, or the answer of a recall, from its receipt.

    Byte for byte, whatever was written, superseded or promoted since; a hash proves it. Nothing is
    changed by it. Exit code 1 when it is not exact: something of it was redacted or retired, or the
    receipt is too old.

    Args:
        receipt: Id of a receipt, as a turn names it.
        graph: Its session graph; looked for in all if not given.
        diff: Show how it would be today.
        messages: Print the messages as the model read them.

    Examples:
        ezra replay-context 01985a4c-…
        ezra replay-context 01985a4c-… --no-diff --messages
        ezra replay-context ID --json
    """
    asked = await (memory.open() if graph is None else memory.session_graph(graph))
    found = await asked.replay_context(receipt, today=diff)
    document = plain(found)
    if found.today is not None:
        document["today"]["is_same"] = found.today.is_same
    parts = _shown(found, with_messages=messages)
    return Answer(document, parts, code=0 if found.is_exact else 1)


def _shown(found: ReplayedContext, *, with_messages: bool) -> Iterator[Part]:
    who = f"{found.graph_id}/{found.agent_id}" if found.agent_id else found.graph_id
    asked = on_one_line(found.query, TEXT_CHARS)
    yield f"{found.kind} of {who} at {found.at:%Y-%m-%d %H:%M}: {asked}"
    if with_messages:
        for message in found.messages:
            yield f"[{message['role']}]"
            yield message["content"]
    else:
        rows = [_row(slot) for slot in found.slots]
        yield Rows(("slot", "record", "score", "text"), rows)
    for one in found.missing:
        yield f"missing  {_named(one.slot)}: {one.why}"
    for why, left_out in (("did not fit", found.dropped), ("told already", found.folded)):
        for slot in left_out:
            yield f"left out {_named(slot)}: {why}"
    if found.today is not None:
        yield from _today(found.today)
    yield "exact" if found.is_exact else f"not exact: {found.reason}"


def _today(diff: ContextDiff) -> Iterator[str]:
    for change in diff.changed:
        yield f"today ~  {_named(change.was)}: {change.why}"
    for gone in diff.gone:
        yield f"today -  {_named(gone.was)}: {gone.why}"
    for slot in diff.new:
        yield f"today +  {_named(slot)}: {on_one_line(slot.text, TEXT_CHARS)}"
    for reason in diff.skipped:
        yield f"today left out {reason}"
    same = "the same" if diff.is_same else f"{len(diff.kept)} slots the same"
    yield f"today: {same}"


def _row(slot: Slot) -> list[str]:
    score = "" if slot.score is None else f"{slot.score:.4f}"
    return [slot.kind, _named(slot), score, on_one_line(slot.text, TEXT_CHARS)]


def _named(slot: Slot | KeptSlot) -> str:
    """Return what a slot is: its record with the graph that it came from, or its kind."""
    if slot.record is None:
        return slot.kind
    origin = f" from {slot.inherited_from}" if slot.inherited_from else ""
    version = "" if slot.version is None else f" v{slot.version}"
    return f"{slot.record} {slot.source_ids[0]}{version}{origin}"
