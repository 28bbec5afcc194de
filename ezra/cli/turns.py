"""The commands about turns: speak to an agent, see what it is given, look at what was said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from tiers.errors import NotFound, UsageError
from tiers.records import Turn

from ..handles.tool_outputs import RANGE_CHARS
from ..receipts.rebuilding import ReplayedContext
from ..turn.assemble import Slot
from ..turn.routing import Written
from .agents import AgentId, member_of
from .default_command import by_default
from .doors import Url, opened
from .options import GraphId, Home, Json, in_utc, run
from .plain import plain
from .platform import CONTEXTS_EXAMPLES, contexts
from .screen import Screen
from .standard_input import FROM_INPUT, said

if TYPE_CHECKING:
    from ..handles.graph import Graph
    from ..handles.turn import OpenTurn

SAY_EXAMPLES = (
    "Examples: ezra turn imola strategist 'How long do the mediums last?'  ·  "
    "ezra turn imola strategist 'Box now?' --reply 'Stay out.'  ·  "
    "cat question.txt | ezra turn imola strategist - --complete --json"
)
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


@turn_app.command("say", epilog=SAY_EXAMPLES)
def say(
    graph: GraphId,
    agent: AgentId,
    text: Annotated[str, typer.Argument(help="What is said; - reads standard input.")],
    reply: Annotated[
        str | None,
        typer.Option(help="What the agent answers; the turn is remembered. - reads the input."),
    ] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="Let the configured model answer.")
    ] = False,
    tool_output: Annotated[
        list[str] | None,
        typer.Option(metavar="TOOL=TEXT", help="What a tool returned on the way. Repeatable."),
    ] = None,
    speaker: Annotated[str | None, typer.Option(help="Who says it.")] = None,
    at: Annotated[
        datetime | None, typer.Option(help="When it was said (UTC).", show_default="now")
    ] = None,
    topic: Annotated[
        list[str] | None, typer.Option(help="A topic of the turn, of the agent's. Repeatable.")
    ] = None,
    private: Annotated[
        bool, typer.Option("--private", help="Only this agent may see the turn.")
    ] = False,
    ref: Annotated[
        str | None, typer.Option(help="Your name for the turn; under it it is stored once.")
    ] = None,
    mesh: Annotated[str | None, typer.Option(help="A connector to ask.")] = None,
    slots: Annotated[
        bool, typer.Option("--slots", help="Show the slots instead of the messages.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Say something to an agent and print the context that its model is to answer.

    With --reply or --complete the turn is remembered; without them nothing is, but the receipt of
    what the context held.
    """
    screen = Screen()
    _check_answer(text, reply, tool_output, complete=complete)
    message, outputs = said("text", text), _outputs(tool_output or [])
    answer = None if reply is None else said("--reply", reply)

    asked: dict[str, Any] = {
        "at": in_utc(at),
        "speaker": speaker,
        "topics": topic or None,
        "private": private,
        "ref": ref,
        "mesh": mesh,
    }

    async def work() -> dict[str, Any]:
        async with opened(home, url) as ezra:
            member = await member_of(ezra, graph, agent)
            turn = await member.turn(message, **asked)
            response = await turn.complete() if complete else answer
            written = None if response is None else await turn.reply(response, outputs)
            return _told(turn, response, written)

    found = run(work())
    if json:
        screen.document(_document(found))
    else:
        _show(screen, found, with_slots=slots)


@turn_app.command(
    "output",
    epilog="Examples: ezra turn output imola strategist 01985a4c-…/0 --all  ·  "
    "ezra turn output imola strategist 01985a4c-… --index 1 --start 6000 --length 2000 --json",
)
def output(
    graph: GraphId,
    agent: AgentId,
    key: Annotated[
        str, typer.Argument(help="Its key, as previews have it; or the turn's id or your name.")
    ],
    index: Annotated[
        int | None, typer.Option(help="Which of the turn's outputs, from 0.", min=0)
    ] = None,
    start: Annotated[int, typer.Option(help="The first character.", min=0)] = 0,
    length: Annotated[int, typer.Option(help="The most characters.", min=1)] = RANGE_CHARS,
    whole: Annotated[bool, typer.Option("--all", help="To the end, however long.")] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Print a range of what a tool returned during a turn that the agent sees."""
    screen = Screen()

    async def work() -> Any:  # noqa: ANN401 - an OutputRange
        async with opened(home, url) as ezra:
            member = await member_of(ezra, graph, agent)
            return await member.read_tool_output(key, index, start, None if whole else length)

    found = run(work())
    if json:
        screen.document({**plain(found), "key": found.key, "next_start": found.next_start})
        return
    screen.line(found.text)
    if found.next_start is not None:
        screen.note(f"there is more: --start {found.next_start} of {found.total} characters")


@turn_app.command(
    "list",
    epilog="Examples: ezra turn list imola strategist  ·  "
    "ezra turn list imola strategist --before 120 --limit 50 --json",
)
def list_turns(
    graph: GraphId,
    agent: AgentId,
    before: Annotated[
        int | None, typer.Option(help="Where the page before ended: its last number.", min=1)
    ] = None,
    limit: Annotated[int, typer.Option(help="The most turns.", min=1, max=1000)] = TURNS_SHOWN,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List the turns of a member, the last one first, as who runs the graph sees them."""
    screen = Screen()

    async def work() -> tuple[Turn, ...]:
        async with opened(home, url) as ezra:
            where = await ezra.session_graph(graph)
            return await where.turns(agent, before=before, limit=limit)

    found = run(work())
    if json:
        screen.document([plain(one) for one in found])
        return
    rows = [
        (
            str(one.seq),
            f"{one.occurred_at:%Y-%m-%d %H:%M}",
            one.speaker,
            shortened(one.input, SAID_CHARS),
            shortened(one.response, SAID_CHARS),
        )
        for one in found
    ]
    screen.table(("turn", "said", "by", "input", "response"), rows)
    if found and found[-1].seq > 1:
        screen.note(f"there is more: --before {found[-1].seq}")


@turn_app.command(
    "show",
    epilog="Examples: ezra turn show imola strategist 12  ·  "
    "ezra turn show imola strategist radio-1 --json",
)
def show(
    graph: GraphId,
    agent: AgentId,
    turn: Annotated[
        str, typer.Argument(help="Its number, as list prints it, or your name for a shared one.")
    ],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show a turn in full, and slot by slot what its model was given, rebuilt from its receipt."""
    screen = Screen()

    async def work() -> tuple[Turn, ReplayedContext | None]:
        async with opened(home, url) as ezra:
            where = await ezra.session_graph(graph)
            found = await _turn(where, agent, turn)
            receipt = (await where.receipts_of([found.id])).get(found.id)
            return found, None if receipt is None else await where.replay_context(receipt.id)

    found, context = run(work())
    if json:
        screen.document({"turn": plain(found), "context": plain(context)})
        return
    _show_turn(screen, found)
    if context is None:
        screen.note("there is no receipt of what it was given")
        return
    screen.table(
        ("slot", "record", "score", "tokens", "text"), [slot_row(slot) for slot in context.slots]
    )
    exact = "exact" if context.is_exact else f"not exact: {context.reason}"
    screen.note(f"receipt {context.receipt_id}: {len(context.slots)} slots, {exact}")


def slot_row(slot: Slot) -> tuple[str, str, str, str, str]:
    """Return a slot as kind, record, score, tokens and text, for a table."""
    record = slot.source_ids[0] if slot.source_ids else "-"
    origin = f" from {slot.inherited_from}" if slot.inherited_from else ""
    score = "-" if slot.score is None else f"{slot.score:.4f}"
    return slot.kind, f"{record}{origin}", score, str(slot.tokens), shortened(slot.text)


def shortened(text: str, limit: int = SLOT_CHARS) -> str:
    """Return a text on one line, cut where it is longer than a row can show."""
    flat = " ".join(text.split())
    return flat if len(flat) <= limit else f"{flat[: limit - 1]}…"


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
        raise NotFound(f"turn of {agent}", turn)
    return found


def _show_turn(screen: Screen, turn: Turn) -> None:
    screen.line(f"turn {turn.seq}  {turn.id}  {turn.occurred_at:%Y-%m-%d %H:%M:%S} UTC")
    screen.line(f"{turn.speaker}: {turn.input}")
    screen.line(f"{turn.agent_id}: {turn.response}")
    for one in turn.tool_outputs:
        screen.line(f"{one.tool}: {shortened(one.output)}")


def _check_answer(
    text: str, reply: str | None, outputs: Sequence[str] | None, *, complete: bool
) -> None:
    if reply is not None and complete:
        raise UsageError("--complete", complete, "--reply or --complete: one answer")
    if text == reply == FROM_INPUT:
        raise UsageError("--reply", reply, "text: standard input is what is said")
    if outputs and reply is None and not complete:
        raise UsageError("--tool-output", outputs[0], "--reply or --complete with it")


def _outputs(given: Sequence[str]) -> list[dict[str, str]]:
    outputs = []
    for one in given:
        tool, equals, text = one.partition("=")
        if not equals or not tool.strip():
            raise UsageError("--tool-output", one, "TOOL=TEXT")
        outputs.append({"tool": tool, "output": text})
    return outputs


def _told(turn: OpenTurn, response: str | None, written: Written | None) -> dict[str, Any]:
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
        "written": written,
    }


def _document(found: dict[str, Any]) -> dict[str, Any]:
    written: Written | None = found["written"]
    turn = None if written is None else plain(written.turn) | {"was_new": written.was_new}
    document: dict[str, Any] = plain(
        {name: one for name, one in found.items() if name != "written"}
    )
    return document | {"turn": turn}


def _show(screen: Screen, found: dict[str, Any], *, with_slots: bool) -> None:
    if with_slots:
        screen.table(
            ("slot", "record", "score", "tokens", "text"),
            [slot_row(slot) for slot in found["slots"]],
        )
        for slot in found["dropped"]:
            screen.line(f"did not fit: {'  '.join(slot_row(slot))}")
    else:
        for message in found["messages"]:
            screen.line(f"[{message['role']}]")
            screen.line(message["content"])
    if found["response"] is not None:
        screen.line("[assistant]")
        screen.line(found["response"])
    receipt = found["receipt_id"] or "none"
    screen.note(f"about {found['tokens']} tokens, {len(found['slots'])} slots; receipt {receipt}")
    if found["degraded"]:
        screen.note(f"degraded: {', '.join(found['degraded'])}")
    for why in found["skipped"]:
        screen.note(why)
    written: Written | None = found["written"]
    if written is None:
        screen.note("nothing was remembered: answer with --reply or --complete")
    else:
        known = "" if written.was_new else ", known before"
        screen.note(f"remembered as turn {written.turn.seq}, {written.turn.id}{known}")


turn_app.command("contexts", epilog=CONTEXTS_EXAMPLES)(contexts)
