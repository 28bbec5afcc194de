"""Memories, notes, messages, tasks and actions as NDJSON: out of one memory and into another.

One line each, oldest first, so that what is named comes before what names it. Every line keeps its
id: reading a file in again changes nothing. Who wrote something is its writer in the other memory
too; tasks are led again through the changes that were logged of them, notes through their
revisions, and memories that were forgotten or gave way do so again.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING, Any

from tiers.board import EVERYBODY, STATES_AFTER, Card, CardKind
from tiers.errors import EzraError, NotFound, PolicyDenied, UsageError
from tiers.forms import FORGOTTEN
from tiers.learning import is_live

from .carried_records import note_lines, tombstones, write_note_line
from .client import Bridge
from .memories import fact_of
from .reading import PAGE, memories, written_at
from .sending import REASON, verdict_of

if TYPE_CHECKING:
    from ..handles.agent import Agent


VERSION = 1
LINES_MAX = 1_000_000
LINE_BYTES_MAX = 8 * 1024 * 1024
SHOWN_MAX = 100
NUMBER = "line number"
"""Where a line that was read says which it is; no line of a file has such a field."""

NOT_THERE = "it gave way to what is gone"

_CARDS: tuple[CardKind, ...] = ("message", "task", "action")
_FIELDS = {
    "memory": ("id", "type", "content", "agent", "created_at"),
    "message": ("id", "agent", "type", "text", "at"),
    "task": ("id", "agent", "title", "at"),
    "action": ("id", "agent", "type", "at"),
    "note": ("id", "agent", "shelf", "name", "text", "at"),
}
_SHAPES: Mapping[str, tuple[type, str]] = {
    "private": (bool, "true or false"),
    "details": (dict, "an object"),
    **dict.fromkeys(("title", "category", "machine", "priority"), (str, "text")),
    **dict.fromkeys(("tags", "topics", "to", "read_by"), (list, "a list")),
}
"""Of fields that a line may have: one text would be read as a list of letters, "false" as true."""
_CREATED = "task_created"
_CHANGES = "task_"


@dataclass
class Imported:
    """What came of an import.

    Attributes:
        counts: Lines by kind.
        problems: The first lines that were refused, with the reason.
        refused: How many were.
    """

    counts: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)
    refused: int = 0


async def exported(bridge: Bridge) -> list[dict[str, Any]]:
    """Return everything that whoever asks sees, oldest first, as JSON values.

    Raises:
        Away: The memory is away.
        PolicyDenied: The token does not look at a whole graph.
    """
    lines = [{"kind": "memory", **memory.document} async for memory in memories(bridge)]
    graph = await bridge.graph()
    lines += await tombstones(bridge, {one["id"] for one in lines})
    lines += [one async for one in note_lines((await bridge.reader()).documents)]
    for kind in _CARDS:
        after = ""
        while len(lines) < LINES_MAX:
            page = await graph.board.latest(kind, limit=PAGE, after=after)
            lines += (_line(card) for card in page.rows if card.redacted_at is None)
            if page.cursor is None:
                break
            after = page.cursor
    lines.sort(
        key=lambda one: (
            str(one.get("at") or one["created_at"]),
            one["id"],
            one.get("revision", 0),
        )
    )
    return [{"v": VERSION, **one} for one in lines]


def _line(card: Card) -> dict[str, Any]:
    document = card.model_dump(
        mode="json",
        include={
            "id", "kind", "type", "to", "thread", "reply_to", "status", "priority", "title",
            "text", "tags", "details", "machine", "read_by",
        },
        exclude_defaults=True,
    )  # fmt: skip
    at = written_at(card).isoformat()
    return {"kind": card.kind, "id": card.id, "agent": card.agent_id, "at": at, **document}


def read_line(number: int, data: bytes) -> dict[str, Any] | None:
    """Return what a line says, and its number; ``None`` for an empty one.

    Raises:
        UsageError: It is no line of an export; names its number.
    """
    where = f"line {number}"
    if not data.strip():
        return None
    if len(data) > LINE_BYTES_MAX:
        raise UsageError(where, f"{len(data):,} bytes", f"at most {LINE_BYTES_MAX:,}")
    try:
        document = json.loads(data.decode("utf-8-sig"))  # an editor may have put a mark before it
    except (ValueError, RecursionError) as error:
        shown = data[:80].decode(errors="backslashreplace")
        raise UsageError(where, shown, "a JSON object in UTF-8") from error
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind not in _FIELDS:
        raise UsageError(where, kind, f"an object whose kind is {', '.join(_FIELDS)}")
    if document.get("v", VERSION) != VERSION:
        raise UsageError(f"{where}: v", document["v"], f"{VERSION}, as this ezra writes it")
    for name in _FIELDS[kind]:
        if not isinstance(document.get(name), str):
            raise UsageError(f"{where}: {name}", document.get(name), f"text; a {kind} has it")
    for name, (shape, accepted) in _SHAPES.items():
        if not isinstance(document.get(name), shape | None):
            raise UsageError(f"{where}: {name}", document[name], accepted)
    return {**document, NUMBER: number}


async def imported(bridge: Bridge, lines: Iterable[Mapping[str, Any]]) -> Imported:
    """Write lines of an export; those that are there already stay as they are.

    A line that the memory does not take is told with its number, and the rest is written.

    Args:
        bridge: Where to.
        lines: As ``read_line`` returned them, oldest first.

    Raises:
        Away: The memory is away.
        EzraError: The memory went away; what came before is there, and it may be repeated.
    """
    done = Imported()
    known: dict[str, Agent] = {}
    later: list[Mapping[str, Any]] = []
    giving_way: dict[str, list[Mapping[str, Any]]] = {}
    for line in lines:
        async with _noting(done, line):
            agent = await _entered(bridge, known, str(line["agent"]))
            await _WRITE[line["kind"]](agent, line)
            done.counts[line["kind"]] += 1
            if line["kind"] == "memory" and line.get("superseded_by"):
                giving_way.setdefault(str(line["superseded_by"]), []).append(line)
            if line["kind"] == "task" or line.get("read_by"):
                later.append(line)
        if line["kind"] == "memory":
            for former in giving_way.pop(str(line["id"]), ()):
                async with _noting(done, former):
                    await _give_way(await _entered(bridge, known, str(former["agent"])), former)
    for line in (*(one for waiting in giving_way.values() for one in waiting), *later):
        async with _noting(done, line):
            await _settle(bridge, known, line)
    return done


async def _entered(bridge: Bridge, known: dict[str, Agent], name: str) -> Agent:
    if name not in known:
        known[name] = await bridge.entered_as(name)
    return known[name]


@asynccontextmanager
async def _noting(done: Imported, line: Mapping[str, Any]) -> AsyncIterator[None]:
    """Note a line that is refused in the block, and go on."""
    try:
        yield
    except EzraError as error:
        _note(done, line, error)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        # Somebody's hand: a number where a list is, a field that is missing.
        problem = f"{type(error).__name__}: {error}"[:200]
        _note(done, line, UsageError("fields", problem, f"those of a {line['kind']}"))


def _note(done: Imported, line: Mapping[str, Any], error: EzraError) -> None:
    """Note that a line was refused.

    Raises:
        EzraError: It was not: the memory cannot be reached, or does not let us.
    """
    if verdict_of(error) != "refused" or isinstance(error, PolicyDenied):
        raise error
    done.refused += 1
    if len(done.problems) < SHOWN_MAX:
        where = f"line {line[NUMBER]}: " if NUMBER in line else ""
        done.problems.append(f"{where}{line['kind']} {line['id']}: {error}")


async def _memory(agent: Agent, line: Mapping[str, Any]) -> None:
    """Write a memory that is not there, and forget it again where it was."""
    there = await agent.facts([line["id"]])
    if not there and line.get("forgotten_at") and line["content"] == FORGOTTEN:
        return  # whoever exported it was not shown its words
    if not there:
        fact = fact_of(line, _moment(line["created_at"]))
        await agent.remember(fact, topics=fact.topics, private=fact.private, id=line["id"])
    # At once: what was said again later is another memory, and must not be taken for this one.
    if line.get("forgotten_at") and not line.get("superseded_by"):
        await _forgotten(agent, line, str(line.get("reason") or REASON))


async def _give_way(agent: Agent, line: Mapping[str, Any]) -> None:
    """Let a memory give way to the one that took its place, which is there."""
    (known,) = await agent.facts([line["id"]])
    if not is_live(known):
        return
    try:
        await agent.forget(line["id"], reason=REASON, superseded_by=line["superseded_by"])
    except UsageError:  # a private one took its place, when that could be
        await agent.forget(line["id"], reason=REASON)


async def _forgotten(agent: Agent, line: Mapping[str, Any], reason: str) -> None:
    (known,) = await agent.facts([line["id"]])
    if is_live(known):
        await agent.forget(line["id"], reason=reason)


async def _message(agent: Agent, line: Mapping[str, Any]) -> None:
    more: dict[str, Any] = {
        "type": line["type"],
        "priority": line.get("priority", "normal"),
        "tags": line.get("tags", ()),
        "id": line["id"],
        "machine": line.get("machine", ""),
    }
    if line.get("reply_to"):
        try:
            await agent.board.reply(line["reply_to"], line["text"], **more)
        except NotFound:
            pass  # what it answers was not exported
        else:
            return
    thread = line.get("thread")
    await agent.board.send(
        line.get("to") or EVERYBODY,  # as it is stored, a message to everybody names nobody
        line["text"],
        subject=line.get("title", ""),
        thread=None if thread == line["id"] else thread,
        **more,
    )


async def _task(agent: Agent, line: Mapping[str, Any]) -> None:
    """Start a task that is not there; one that is may have changed since, or been changed here."""
    with suppress(NotFound):
        await agent.board.task(line["id"])
        return
    if line.get("status") not in (None, *STATES_AFTER):  # it is brought into it when it is there
        raise UsageError("status", line["status"], ", ".join(STATES_AFTER))
    await agent.board.start_task(
        line["title"],
        text=line.get("text", ""),
        priority=line.get("priority", "normal"),
        tags=line.get("tags", ()),
        parent=line.get("thread") or None,
        id=line["id"],
        machine=line.get("machine", ""),
    )


async def _action(agent: Agent, line: Mapping[str, Any]) -> None:
    action, task_id, text = line["type"], line.get("thread"), line.get("text") or None
    if action == _CREATED:
        return  # starting the task logs it
    if action.startswith(_CHANGES) and task_id and "to" in line.get("details", {}):
        await _change(agent, line, task_id, text)
        return
    await agent.board.log(
        action,
        text or "",
        tags=line.get("tags", ()),
        files=line.get("details", {}).get("files", ()),
        task_id=task_id or None,
        id=line["id"],
        machine=line.get("machine", ""),
    )


async def _change(agent: Agent, line: Mapping[str, Any], task_id: str, text: str | None) -> None:
    """Change a task as it was changed then."""
    given = {"id": line["id"], "machine": line.get("machine", "")}
    status = line["details"]["to"]
    is_new = status != line["details"].get("from")
    if is_new and status == "completed":
        await agent.board.finish_task(task_id, text, **given)
    elif is_new and status == "failed":
        await agent.board.fail_task(task_id, text, **given)
    elif is_new or text is not None:
        await agent.board.update_task(
            task_id, status=status if is_new else None, note=text, **given
        )


async def _settle(bridge: Bridge, known: dict[str, Agent], line: Mapping[str, Any]) -> None:
    """Bring a task into its last state, a message to who has read it, a memory to its end."""
    if line["kind"] == "memory":  # what took its place is not in the file, or was refused
        await _forgotten(known[str(line["agent"])], line, NOT_THERE)
        return
    for name in line.get("read_by", ()):
        if name not in known:
            known[name] = await bridge.entered_as(name)
        await known[name].board.ack((line["id"],))
    status = line.get("status")
    if line["kind"] != "task" or status in (None, "created"):
        return
    agent = known[str(line["agent"])]
    if (await agent.board.task(line["id"])).status == status:
        return
    details = line.get("details", {})
    if status == "completed":
        await agent.board.finish_task(line["id"], details.get("outcome"))
    elif status == "failed":
        await agent.board.fail_task(line["id"], details.get("reason"))
    else:
        await agent.board.update_task(line["id"], status=status)


def _moment(text: str) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError as error:
        raise UsageError("created_at", text, "a time such as 2026-05-15T12:00:00Z") from error
    if found.tzinfo is None:
        raise UsageError("created_at", text, "a time with its zone")
    return found


_WRITE = {
    "memory": _memory,
    "message": _message,
    "task": _task,
    "action": _action,
    "note": write_note_line,
}
