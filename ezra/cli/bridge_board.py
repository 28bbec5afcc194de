"""The commands of the bridge about messages, and about what agents did."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Annotated

import typer

from tiers.board import Card
from tiers.errors import UsageError
from tiers.upkeep import Page

from ..bridge.client import Bridge
from ..bridge.reading import written_at
from .bridge_door import Home, Json, Priority, Tags, Url, ask, configured, listed_tags, wrote
from .plain import plain
from .screen import Screen
from .standard_input import said
from .turns import shortened

MessageId = Annotated[str, typer.Argument(help="Id of the message.")]
Body = Annotated[str, typer.Argument(help="What it says; - for standard input.")]
Type = Annotated[str, typer.Argument(metavar="TYPE", help="What sort: question, handoff, alert, …")]
After = Annotated[str, typer.Option(help="Where the page before ended: its cursor.")]
PRIORITIES = ("low", "normal", "high", "urgent")

_PERIOD = re.compile(r"(\d{1,4})([mhdw])")
_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def add_to(app: typer.Typer) -> None:
    """Add the commands to a group."""
    for name, function, examples in _COMMANDS:
        app.command(name, epilog=examples)(function)


def send(
    to: Annotated[str, typer.Argument(help="Who it is for; * for everybody, a,b for several.")],
    type_: Type,
    body: Body,
    subject: Annotated[str, typer.Option(help="Its subject.")] = "",
    priority: Priority = "normal",
    tags: Tags = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Send a message to an agent, to several, or to everybody, and say its id."""
    _send(to, type_, body, subject, priority, tags, home, url, json=json)


def broadcast(
    type_: Type,
    body: Body,
    subject: Annotated[str, typer.Option(help="Its subject.")] = "",
    priority: Priority = "normal",
    tags: Tags = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Send a message to everybody in the graph, now and later."""
    _send("*", type_, body, subject, priority, tags, home, url, json=json)


def _send(
    to: str,
    type_: str,
    body: str,
    subject: str,
    priority: str,
    tags: str | None,
    home: Home,
    url: Url,
    *,
    json: bool,
) -> None:
    names = listed_tags(to)
    if not names or ("*" in names and len(names) > 1):
        raise UsageError("to", to, "an agent, several with commas between them, or * alone")
    wrote(
        home,
        url,
        "send",
        json=json,
        to=names,
        type=_named("type", type_),
        text=_text("body", said("body", body)),
        subject=subject,
        priority=checked_priority(priority),
        tags=listed_tags(tags),
    )


def reply(
    message: MessageId,
    body: Body,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Answer a message, in its thread, and say the id of the answer."""
    wrote(home, url, "reply", json=json, id=message, text=_text("body", said("body", body)))


def ack(
    messages: Annotated[list[str], typer.Argument(metavar="ID…", help="Ids of messages.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Mark messages as read."""
    wrote(
        home,
        url,
        "ack",
        json=json,
        told=lambda one: f"{len(one.result.get('read', ()))} marked as read",
        ids=list(dict.fromkeys(messages)),
    )


def check(
    unread: Annotated[bool, typer.Option("--unread", help="Only what was not read.")] = False,
    type_: Annotated[str | None, typer.Option("--type", help="Only of this type.")] = None,
    limit: Annotated[int, typer.Option(help="How many, 1 to 100.")] = 10,
    after: After = "",
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show your messages, the latest first. It marks nothing as read: 'ack' does."""

    async def work(bridge: Bridge) -> Page[Card]:
        board = bridge.agent().board
        types = (type_,) if type_ else ()
        return await board.inbox(unread=unread, types=types, limit=limit, after=after)

    show = partial(show_message, reader=configured(home, url).agent)
    _show_page("messages", ask(home, url, work, names=True), show, json=json)


def thread(
    thread_id: Annotated[str, typer.Argument(help="Id of the thread, or of its first message.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show a thread, oldest message first."""

    async def work(bridge: Bridge) -> tuple[Card, ...]:
        board = bridge.agent().board
        found = await board.thread(thread_id)
        if not found:
            # Any message of it will do.
            for card in await board.cards([thread_id]):
                found = await board.thread(card.thread)
        return found

    cards = ask(home, url, work, names=True)
    _show_cards("messages", cards, show_message, None, json=json)
    if not cards:
        raise typer.Exit(1)


def log(
    action: Annotated[str, typer.Argument(help="What sort of thing was done.")],
    summary: Annotated[str, typer.Argument(help="What was done; - for standard input.")],
    tags: Tags = None,
    files: Annotated[str | None, typer.Option(metavar="A,B", help="Files that it touched.")] = None,
    task: Annotated[str | None, typer.Option(help="Id of the task it was done for.")] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Log what you did, for whoever goes on with it."""
    wrote(
        home,
        url,
        "log",
        json=json,
        action=_named("action", action),
        text=said("summary", summary),
        tags=listed_tags(tags),
        files=listed_tags(files),
        task_id=task,
    )


def history(
    agent: Annotated[str | None, typer.Option(help="Only what this agent did.")] = None,
    last: Annotated[str, typer.Option(help="How far back: 90m, 24h, 7d, 2w.")] = "7d",
    task: Annotated[str | None, typer.Option(help="Only what was done for this task.")] = None,
    limit: Annotated[int, typer.Option(help="How many, 1 to 100.")] = 20,
    after: After = "",
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Show what agents did, the latest first."""
    back = period(last)

    async def work(bridge: Bridge) -> Page[Card]:
        board = (await bridge.reader()).board
        since = bridge.clock() - back
        return await board.history(
            agent_id=agent, task_id=task, since=since, limit=limit, after=after
        )

    _show_page("actions", ask(home, url, work, names=False), show_action, json=json)


def period(text: str) -> timedelta:
    """Return how long a period is.

    Raises:
        UsageError: It is none.
    """
    found = _PERIOD.fullmatch(text.strip())
    if found is None or not int(found[1]):
        raise UsageError("--last", text, "a period such as 90m, 24h, 7d or 2w")
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def checked_priority(priority: str) -> str:
    """Return a priority.

    Raises:
        UsageError: It is none.
    """
    if priority not in PRIORITIES:
        raise UsageError("--priority", priority, ", ".join(PRIORITIES))
    return priority


def show_message(screen: Screen, card: Card, reader: str | None = None) -> None:
    """Print a message with all that it says."""
    to = ", ".join(card.to) or "everybody"
    marks: list[str] = [] if card.priority == "normal" else [card.priority]
    if reader is not None and reader not in card.read_by:
        marks.append("unread")
    head = [f"[{card.type}]", card.id, f"{written_at(card):%Y-%m-%d %H:%M}"]
    head += [f"{card.agent_id} to {to}", *marks, *(f"#{tag}" for tag in card.tags)]
    screen.line("  ".join(head))
    if card.thread != card.id:
        screen.line(f"thread {card.thread}")
    if card.title:
        screen.line(card.title)
    screen.line(card.text)
    screen.line("")


def show_action(screen: Screen, card: Card) -> None:
    """Print what was done, on one line."""
    parts = [f"{written_at(card):%Y-%m-%d %H:%M}", card.agent_id, card.type, shortened(card.text)]
    if card.machine:
        parts.insert(2, f"({card.machine})")
    if card.thread:
        parts.append(f"task {card.thread}")
    screen.line("  ".join(part for part in parts if part))


def _show_page(
    name: str, page: Page[Card], show: Callable[[Screen, Card], None], *, json: bool
) -> None:
    _show_cards(name, page.rows, show, page.cursor, json=json)


def _show_cards(
    name: str,
    cards: Sequence[Card],
    show: Callable[[Screen, Card], None],
    cursor: str | None,
    *,
    json: bool,
) -> None:
    screen = Screen()
    if json:
        shown = [{**plain(one), "written_at": written_at(one).isoformat()} for one in cards]
        screen.document({name: shown, "cursor": cursor})
        return
    for card in cards:
        show(screen, card)
    if cursor is not None:
        screen.note(f"there are more: --after {cursor}")


def _named(field: str, value: str) -> str:
    if not value.strip():
        raise UsageError(field, value, "a word that says what sort")
    return value.strip()


def _text(field: str, value: str) -> str:
    if not value.strip():
        raise UsageError(field, value, "text that is not blank")
    return value


_COMMANDS: tuple[tuple[str, Callable[..., None], str], ...] = (
    (
        "send",
        send,
        (
            "Examples: ezra bridge send reviewer question 'Is #12 ready?' --priority high  ·  "
            "ezra bridge send reviewer,builder handoff - --subject 'Tokens' --tags auth --json"
        ),
    ),
    (
        "broadcast",
        broadcast,
        (
            "Examples: ezra bridge broadcast alert 'The build is red.' --priority urgent  ·  "
            "ezra bridge broadcast news - --json"
        ),
    ),
    (
        "check",
        check,
        "Examples: ezra bridge check --unread  ·  ezra bridge check --type question --json",
    ),
    (
        "reply",
        reply,
        (
            "Examples: ezra bridge reply 01985a4c-… 'Yes, merge it.'  ·  "
            "ezra bridge reply 01985a4c-… - --json"
        ),
    ),
    ("ack", ack, "Example: ezra bridge ack 01985a4c-… 01985a4d-… --json"),
    ("thread", thread, "Example: ezra bridge thread 01985a4c-… --json"),
    (
        "log",
        log,
        (
            "Examples: ezra bridge log commit 'Shortened the life of tokens.' --files auth.py  ·  "
            "ezra bridge log session-end 'All tests pass.' --tags auth --json"
        ),
    ),
    (
        "history",
        history,
        (
            "Examples: ezra bridge history --last 24h  ·  "
            "ezra bridge history --agent reviewer --limit 50 --json"
        ),
    ),
)
