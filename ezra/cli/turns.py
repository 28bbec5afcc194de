"""The commands about turns: speak to an agent, see what it is given, look at what was said.

``ezra replay-context`` rebuilds what a turn or a recall was given from its receipt.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiers.errors import NotFound, UsageError
from tiers.fencing import on_one_line
from tiers.records import Turn

from ..handles.lookup import known_member
from ..handles.tool_outputs import RANGE_CHARS
from ..receipts.comparing import ContextDiff
from ..receipts.context_report import REPORT_TURNS, ContextOfTurn
from ..receipts.rebuilding import ReplayedContext
from ..turn.receipts import KeptSlot
from ..turn.routing import Written
from ..turn.slots import Slot
from .command import Answer, Note, Part, Rows, by_default, command, plain
from .doors import InAgent, Memory
from .options import FROM_INPUT, pairs_of, said

if TYPE_CHECKING:
    from ..handles.graph import Graph
    from ..handles.turn import OpenTurn


SLOTS = ("slot", "record", "score", "tokens", "text")
SLOT_CHARS = 100
SAID_CHARS = 60
TURNS_SHOWN = 20
NUMBER_DIGITS = 15


turn_app = typer.Typer(
    cls=by_default("say"),
    help="Turns: speak to an agent and see its context; look at what was said. "
    "`ezra turn GRAPH AGENT TEXT` is `ezra turn say`.",
    no_args_is_help=True,
)


@command(turn_app)
async def say(
    member: InAgent,
    text: str,
    reply: str | None = None,
    complete: bool = False,
    tool_output: Annotated[list[str] | None, typer.Option(metavar="TOOL=TEXT")] = None,
    speaker: str | None = None,
    at: Annotated[datetime | None, typer.Option(show_default="now")] = None,
    topic: list[str] | None = None,
    private: bool = False,
    ref: str | None = None,
    mesh: str | None = None,
    slots: bool = False,
) -> Answer:
    """Say something to an agent and print the context that its model is to answer.

    With --reply or --complete the turn is remembered; without them nothing is, but the receipt of
    what the context held.

    Args:
        text: What is said; - reads standard input.
        reply: What the agent answers; the turn is remembered. - reads the input.
        complete: Let the configured model answer.
        tool_output: What a tool returned on the way. Repeatable.
        speaker: Who says it.
        at: When it was said (UTC).
        topic: A topic of the turn, of the agent's. Repeatable.
        private: Only this agent may see the turn.
        ref: Your name for the turn; under it it is stored once.
        mesh: A connector to ask.
        slots: Show the slots instead of the messages.

    Examples:
        ezra turn imola strategist 'How long do the mediums last?'
        ezra turn imola strategist 'Box now?' --reply 'Stay out.'
        cat question.txt | ezra turn imola strategist - --complete --json
    """
    _check_answer(text, reply, tool_output, complete=complete)
    given = pairs_of("--tool-output", tool_output or (), "TOOL=TEXT")
    message, outputs = said("text", text), [{"tool": tool, "output": out} for tool, out in given]
    answer = None if reply is None else said("--reply", reply)
    turn = await (await member.member()).turn(
        message,
        at=at,
        speaker=speaker,
        topics=topic or None,
        private=private,
        ref=ref,
        mesh=mesh,
    )
    response = await turn.complete() if complete else answer
    written = None if response is None else await turn.reply(response, outputs)
    stored = None if written is None else plain(written.turn) | {"was_new": written.was_new}
    found = _turn_document(turn, response, written)
    return Answer({**found, "turn": stored}, _shown(found, written, with_slots=slots))


@command(turn_app)
async def output(
    at: InAgent,
    key: str,
    index: Annotated[int | None, typer.Option(min=0)] = None,
    start: Annotated[int, typer.Option(min=0)] = 0,
    length: Annotated[int, typer.Option(min=1)] = RANGE_CHARS,
    whole: Annotated[bool, typer.Option("--all")] = False,
) -> Answer:
    """Print a range of what a tool returned during a turn that the agent sees.

    Args:
        key: Its key, as previews have it; or the turn's id or your name.
        index: Which of the turn's outputs, from 0.
        start: The first character.
        length: The most characters.
        whole: To the end, however long.

    Examples:
        ezra turn output imola strategist 01985a4c-…/0 --all
        ezra turn output imola strategist 01985a4c-… --index 1 --start 6000 --length 2000 --json
    """
    member = await at.member()
    found = await member.read_tool_output(key, index, start, None if whole else length)
    parts: list[Part] = [found.text]
    if found.next_start is not None:
        more = f"there is more: --start {found.next_start} of {found.total} characters"
        parts.append(Note(more))
    return Answer({**plain(found), "key": found.key, "next_start": found.next_start}, parts)


@command(turn_app, "list")
async def list_turns(
    at: InAgent,
    before: Annotated[int | None, typer.Option(min=1)] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000)] = TURNS_SHOWN,
) -> Answer:
    """List the turns of a member, the last one first, as who runs the graph sees them.

    Args:
        before: Where the page before ended: its last number.
        limit: The most turns.

    Examples:
        ezra turn list imola strategist
        ezra turn list imola strategist --before 120 --limit 50 --json
    """
    where = await at.held()
    found = await where.turns(at.agent, before=before, limit=limit)
    if not found:
        await known_member(where, at.agent)
    parts: list[Part] = [Rows(("turn", "said", "by", "input", "response"), map(_turn_row, found))]
    if found and found[-1].seq > 1:
        parts.append(Note(f"there is more: --before {found[-1].seq}"))
    return Answer(found, parts)


@command(turn_app)
async def show(at: InAgent, turn: str) -> Answer:
    """Show a turn in full, and slot by slot what its model was given, rebuilt from its receipt.

    Args:
        turn: Its number, as list prints it, or your name for a shared one.

    Examples:
        ezra turn show imola strategist 12
        ezra turn show imola strategist radio-1 --json
    """
    where = await at.held()
    found = await _turn(where, at.agent, turn)
    receipt = (await where.receipts_of([found.id])).get(found.id)
    context = None if receipt is None else await where.replay_context(receipt.id)
    return Answer({"turn": found, "context": context}, _shown_again(found, context))


@command(turn_app)
async def contexts(
    at: InAgent,
    limit: Annotated[int, typer.Option(min=1, max=50)] = REPORT_TURNS,
) -> Answer:
    """Show what the last contexts of an agent began alike with, and how full its model was.

    Contexts are rebuilt from their receipts. An epoch ends where the tail of the conversation is
    cut anew, or becomes short or long; that needs the model's window to be known.

    Args:
        limit: The most turns, 1 to 50.

    Examples:
        ezra turn contexts imola strategist
        ezra turn contexts imola strategist --limit 30 --json
    """
    found = await (await at.member()).context_report(limit)
    head = ("turn", "epoch", "tail", "messages", "tokens", "begins alike", "model used")
    rows = Rows(head, [_context_row(one) for one in found.turns])
    return Answer(plain(found) | {"epochs": found.epochs}, [rows])


def _turn_row(one: Turn) -> tuple[Any, ...]:
    said_then = [shortened(text, SAID_CHARS) for text in (one.input, one.response)]
    return one.seq, one.occurred_at, one.speaker, *said_then


def _context_row(one: ContextOfTurn) -> tuple[Any, ...]:
    alike = None if one.prefix_chars is None else f"{one.prefix_chars} characters"
    tail = f"{one.tail_turns} turns{', short' if one.is_short else ''}"
    used = None
    if one.used_tokens is not None and one.window_tokens:
        share = f"{one.used_tokens / one.window_tokens:.0%} of {one.window_tokens}"
        used = share if one.is_reported else f"about {share}"
    return one.seq, one.epoch, tail, one.messages, one.tokens, alike, used


def slot_row(slot: Slot) -> tuple[str, str, str, str, str]:
    """Return a slot as kind, record, score, tokens and text, for a table."""
    record = slot.source_ids[0] if slot.source_ids else "-"
    origin = f" from {slot.inherited_from}" if slot.inherited_from else ""
    score = "-" if slot.score is None else f"{slot.score:.4f}"
    return slot.kind, f"{record}{origin}", score, str(slot.tokens), shortened(slot.text)


def shortened(text: str, limit: int = SLOT_CHARS) -> str:
    """Return a text on one line, cut where it is longer than a row can show."""
    return on_one_line(text, limit)


async def _turn(graph: Graph, agent: str, turn: str) -> Turn:
    """Return a turn of a member by its number, or a shared one by its caller's name for it.

    Raises:
        NotFound: There is none.
    """
    found = (await graph.turns_by_ref([turn])).get(turn)
    if found is None and turn.isdecimal() and int(turn[:NUMBER_DIGITS]) > 0:
        page = await graph.turns(agent, before=int(turn[:NUMBER_DIGITS]) + 1, limit=1)
        found = next((one for one in page if str(one.seq) == turn), None)
    if found is None or found.agent_id != agent:
        await known_member(graph, agent)
        raise NotFound("turn", f"{agent} {turn}")
    return found


def _shown_again(turn: Turn, context: ReplayedContext | None) -> Iterator[Part]:
    yield f"turn {turn.seq}  {turn.id}  {turn.occurred_at:%Y-%m-%d %H:%M:%S} UTC"
    yield f"{turn.speaker}: {turn.input}"
    yield f"{turn.agent_id}: {turn.response}"
    for one in turn.tool_outputs:
        yield f"{one.tool}: {shortened(one.output)}"
    if context is None:
        yield Note("there is no receipt of what it was given")
        return
    yield Rows(SLOTS, [slot_row(slot) for slot in context.slots])
    exact = "exact" if context.is_exact else f"not exact: {context.reason}"
    yield Note(f"receipt {context.receipt_id}: {len(context.slots)} slots, {exact}")


def _check_answer(
    text: str, reply: str | None, outputs: Sequence[str] | None, *, complete: bool
) -> None:
    if reply is not None and complete:
        raise UsageError("--complete", complete, "--reply or --complete: one answer")
    if text == reply == FROM_INPUT:
        raise UsageError("--reply", reply, "text: standard input is what is said")
    if outputs and reply is None and not complete:
        raise UsageError("--tool-output", outputs[0], "--reply or --complete with it")


def _turn_document(turn: OpenTurn, response: str | None, written: Written | None) -> dict[str, Any]:
    """Return what came of a turn; its id is that of the stored one, which a ``ref`` may name."""
    return {
        "id": turn.id if written is None else written.turn.id,
        "receipt_id": turn.receipt_id,
        "messages": turn.messages,
        "slots": turn.slots,
        "dropped": turn.dropped,
        "tokens": turn.tokens,
        "tiers_used": turn.tiers_used,
        "degraded": turn.degraded,
        "skipped": turn.skipped,
        "step_ms": turn.step_ms,
        "response": response,
    }


def _shown(found: dict[str, Any], written: Written | None, *, with_slots: bool) -> Iterator[Part]:
    if with_slots:
        yield Rows(SLOTS, [slot_row(slot) for slot in found["slots"]])
        for slot in found["dropped"]:
            yield f"did not fit: {'  '.join(slot_row(slot))}"
    else:
        for message in found["messages"]:
            yield f"[{message['role']}]"
            yield message["content"]
    if found["response"] is not None:
        yield "[assistant]"
        yield found["response"]
    receipt = found["receipt_id"] or "none"
    yield Note(f"about {found['tokens']} tokens, {len(found['slots'])} slots; receipt {receipt}")
    if found["degraded"]:
        yield Note(f"degraded: {', '.join(found['degraded'])}")
    for why in found["skipped"]:
        yield Note(why)
    if written is None:
        yield Note("nothing was remembered: answer with --reply or --complete")
    else:
        known = "" if written.was_new else ", known before"
        yield Note(f"remembered as turn {written.turn.seq}, {written.turn.id}{known}")


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
    parts = _rebuilt(found, with_messages=messages)
    return Answer(document, parts, code=0 if found.is_exact else 1)


def _rebuilt(found: ReplayedContext, *, with_messages: bool) -> Iterator[Part]:
    who = f"{found.graph_id}/{found.agent_id}" if found.agent_id else found.graph_id
    asked = on_one_line(found.query, TEXT_CHARS)
    yield f"{found.kind} of {who} at {found.at:%Y-%m-%d %H:%M}: {asked}"
    if with_messages:
        for message in found.messages:
            yield f"[{message['role']}]"
            yield message["content"]
    else:
        rows = [_slot_row(slot) for slot in found.slots]
        yield Rows(("slot", "record", "score", "text"), rows)
    for one in found.missing:
        yield f"missing  {_slot_name(one.slot)}: {one.why}"
    for why, left_out in (("did not fit", found.dropped), ("told already", found.folded)):
        for slot in left_out:
            yield f"left out {_slot_name(slot)}: {why}"
    if found.today is not None:
        yield from _today(found.today)
    yield "exact" if found.is_exact else f"not exact: {found.reason}"


def _today(diff: ContextDiff) -> Iterator[str]:
    for change in diff.changed:
        yield f"today ~  {_slot_name(change.was)}: {change.why}"
    for gone in diff.gone:
        yield f"today -  {_slot_name(gone.was)}: {gone.why}"
    for slot in diff.new:
        yield f"today +  {_slot_name(slot)}: {on_one_line(slot.text, TEXT_CHARS)}"
    for reason in diff.skipped:
        yield f"today left out {reason}"
    same = "the same" if diff.is_same else f"{len(diff.kept)} slots the same"
    yield f"today: {same}"


def _slot_row(slot: Slot) -> list[str]:
    score = "" if slot.score is None else f"{slot.score:.4f}"
    return [slot.kind, _slot_name(slot), score, on_one_line(slot.text, TEXT_CHARS)]


def _slot_name(slot: Slot | KeptSlot) -> str:
    """Return what a slot is: its record with the graph that it came from, or its kind."""
    if slot.record is None:
        return slot.kind
    origin = f" from {slot.inherited_from}" if slot.inherited_from else ""
    version = "" if slot.version is None else f" v{slot.version}"
    return f"{slot.record} {slot.source_ids[0]}{version}{origin}"
