"""The commands of the bridge about messages, and about what agents did."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from typing import Annotated

import typer

from tiers.board import Card
from tiers.errors import UsageError

from ..bridge.reading import written_at
from .bridge_door import Door, Priority, Tags
from .command import Answer, Note, Part, plain
from .options import one_of, said, words_of
from .turns import shortened

Body = Annotated[str, typer.Argument(help="What it says; - for standard input.")]
Type = Annotated[str, typer.Argument(metavar="TYPE", help="What sort: question, handoff, alert, …")]
Subject = Annotated[str, typer.Option(help="Its subject.")]
After = Annotated[str, typer.Option(help="Where the page before ended: its cursor.")]
PRIORITIES = ("low", "normal", "high", "urgent")

_PERIOD = re.compile(r"(\d{1,4})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


async def send(
    door: Door,
    to: str,
    type_: Type,
    body: Body,
    subject: Subject = "",
    priority: Priority = "normal",
    tags: Tags = None,
) -> Answer:
    """Send a message to an agent, to several, or to everybody, and say its id.

    Args:
        to: Who it is for; * for everybody, a,b for several.

    Examples:
        ezra bridge send reviewer question 'Is #12 ready?' --priority high
        ezra bridge send reviewer,builder handoff - --subject 'Tokens' --tags auth --json
    """
    names = [*words_of(to)]
    if not names or ("*" in names and len(names) > 1):
        raise UsageError("to", to, "an agent, several with commas between them, or * alone")
    return await door.write(
        "send",
        to=names,
        type=_named("type", type_),
        text=_text("body", said("body", body)),
        subject=subject,
        priority=one_of("--priority", priority, PRIORITIES),
        tags=[*words_of(tags)],
    )


async def broadcast(
    door: Door,
    type_: Type,
    body: Body,
    subject: Subject = "",
    priority: Priority = "normal",
    tags: Tags = None,
) -> Answer:
    """Send a message to everybody in the graph, now and later.

    Examples:
        ezra bridge broadcast alert 'The build is red.' --priority urgent
        ezra bridge broadcast news - --json
    """
    return await send(door, "*", type_, body, subject, priority, tags)


async def reply(door: Door, message: str, body: Body) -> Answer:
    """Answer a message, in its thread, and say the id of the answer.

    Args:
        message: Id of the message.

    Examples:
        ezra bridge reply 01985a4c-… 'Yes, merge it.'
        ezra bridge reply 01985a4c-… - --json
    """
    return await door.write("reply", id=message, text=_text("body", said("body", body)))


async def ack(door: Door, messages: Annotated[list[str], typer.Argument(metavar="ID…")]) -> Answer:
    """Mark messages as read.

    Args:
        messages: Ids of messages.

    Examples:
        ezra bridge ack 01985a4c-… 01985a4d-… --json
    """
    return await door.write(
        "ack",
        line=lambda one: f"{len(one.result.get('read', ()))} marked as read",
        ids=list(dict.fromkeys(messages)),
    )


async def check(
    door: Door,
    unread: bool = False,
    type_: Annotated[str | None, typer.Option("--type")] = None,
    limit: int = 10,
    after: After = "",
) -> Answer:
    """Show your messages, the latest first. It marks nothing as read: 'ack' does.

    Args:
        unread: Only what was not read.
        type_: Only of this type.
        limit: How many, 1 to 100.

    Examples:
        ezra bridge check --unread
        ezra bridge check --type question --json
    """
    types = (type_,) if type_ else ()
    board = (await door.agent()).board
    page = await board.inbox(unread=unread, types=types, limit=limit, after=after)
    lines = (line for one in page.rows for line in _message(one, door.config.agent))
    return _cards("messages", page.rows, lines, page.cursor)


async def thread(door: Door, thread_id: str) -> Answer:
    """Show a thread, oldest message first.

    Args:
        thread_id: Id of the thread, or of its first message.

    Examples:
        ezra bridge thread 01985a4c-… --json
    """
    board = (await door.agent()).board
    cards = await board.thread(thread_id)
    if not cards:
        # Any message of it will do.
        for card in await board.cards([thread_id]):
            cards = await board.thread(card.thread)
    lines = (line for one in cards for line in _message(one))
    return _cards("messages", cards, lines, code=0 if cards else 1)


async def log(
    door: Door,
    action: str,
    summary: str,
    tags: Tags = None,
    files: Annotated[str | None, typer.Option(metavar="A,B")] = None,
    task: str | None = None,
) -> Answer:
    """Log what you did, for whoever goes on with it.

    Args:
        action: What sort of thing was done.
        summary: What was done; - for standard input.
        files: Files that it touched.
        task: Id of the task it was done for.

    Examples:
        ezra bridge log commit 'Shortened the life of tokens.' --files auth.py
        ezra bridge log session-end 'All tests pass.' --tags auth --json
    """
    return await door.write(
        "log",
        action=_named("action", action),
        text=said("summary", summary),
        tags=[*words_of(tags)],
        files=[*words_of(files)],
        task_id=task,
    )


async def history(
    door: Door,
    agent: str | None = None,
    last: str = "7d",
    task: str | None = None,
    limit: int = 20,
    after: After = "",
) -> Answer:
    """Show what agents did, the latest first.

    Args:
        agent: Only what this agent did.
        last: How far back: 90m, 24h, 7d, 2w.
        task: Only what was done for this task.
        limit: How many, 1 to 100.

    Examples:
        ezra bridge history --last 24h
        ezra bridge history --agent reviewer --limit 50 --json
    """
    back = period(last)
    bridge = await door.bridge(names=False)
    page = await (await bridge.reader()).board.history(
        agent_id=agent, task_id=task, since=bridge.clock() - back, limit=limit, after=after
    )
    return _cards("actions", page.rows, map(_action, page.rows), page.cursor)


def period(text: str) -> timedelta:
    """Return how long a period is.

    Raises:
        UsageError: It is none.
    """
    found = _PERIOD.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise UsageError("--last", text, "a period such as 90m, 24h, 7d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _message(card: Card, reader: str | None = None) -> Iterator[str]:
    """Yield a message with all that it says."""
    to = ", ".join(card.to) or "everybody"
    marks: list[str] = [] if card.priority == "normal" else [card.priority]
    if reader is not None and reader not in card.read_by:
        marks.append("unread")
    head = [f"[{card.type}]", card.id, f"{written_at(card):%Y-%m-%d %H:%M}"]
    head += [f"{card.agent_id} to {to}", *marks, *(f"#{tag}" for tag in card.tags)]
    yield "  ".join(head)
    if card.thread != card.id:
        yield f"thread {card.thread}"
    if card.title:
        yield card.title
    yield card.text
    yield ""


def _action(card: Card) -> str:
    """Return what was done, on one line."""
    parts = [f"{written_at(card):%Y-%m-%d %H:%M}", card.agent_id, card.type, shortened(card.text)]
    if card.machine:
        parts.insert(2, f"({card.machine})")
    if card.thread:
        parts.append(f"task {card.thread}")
    return "  ".join(part for part in parts if part)


def _cards(
    name: str,
    cards: Sequence[Card],
    lines: Iterable[str],
    cursor: str | None = None,
    *,
    code: int = 0,
) -> Answer:
    shown = [{**plain(one), "written_at": written_at(one).isoformat()} for one in cards]
    more: list[Part] = [] if cursor is None else [Note(f"there are more: --after {cursor}")]
    return Answer({name: shown, "cursor": cursor}, [*lines, *more], code=code)


def _named(field: str, value: str) -> str:
    if not value.strip():
        raise UsageError(field, value, "a word that says what sort")
    return value.strip()


def _text(field: str, value: str) -> str:
    if not value.strip():
        raise UsageError(field, value, "text that is not blank")
    return value
