"""What the next session should know: one payload for programs, and the same for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from tiers.board import Card
from tiers.errors import UsageError
from tiers.fencing import flat, inert, on_one_line

from ..memories import Memory
from .blockers import STALE_DAYS, Blocked, check_blockers
from .entity_graph import EntityGraph

HOURS = 8.0
HOURS_MAX = 24.0 * 366
ROWS_MAX = 50
"""So many rows of a kind at most, before the limit of size counts."""
CHARS_MAX = 24_000
"""Of the whole payload as JSON: some six thousand tokens."""
CHARS_LEAST = 1_000
TEXT_CHARS = 400
"""Of one text in it."""

SYNTHESIS = (
    "Below is what happened lately in a project, as JSON. Write a handoff for whoever goes on: "
    "what was done, what is open, what is blocked and by what, and what to do first. Be short, "
    "name ids, and say nothing that is not there.\n\n"
)

_SECTIONS = ("updated", "decisions", "actions", "tasks", "blockers", "messages", "warnings")
"""Parts that give way when the payload is too long."""


@dataclass(frozen=True, slots=True)
class Updated:
    """A note that changed."""

    id: str
    type: str
    title: str
    status: str
    changed_at: datetime
    summary: str


@dataclass(frozen=True, slots=True)
class HandoffEntry:
    """A card of the board, or a decision that was remembered, as a handoff shows it.

    Attributes:
        task: Of an action, the title of the task that it was done for.
    """

    id: str
    by: str
    type: str
    status: str
    priority: str
    title: str
    text: str
    at: datetime
    task: str = ""


@dataclass(frozen=True, slots=True)
class Handoff:
    """What the next session should know.

    Attributes:
        agent: For whom it is.
        generated_at: When it was made.
        since: From when on things are new.
        updated: Notes that changed since, the latest first.
        decisions: Memories of type ``decision`` that were written since, the latest first.
        actions: What was done since, the latest first.
        tasks: Tasks that have not ended, the latest change first.
        blockers: What waits, the longest first.
        messages: Unread messages, the latest first.
        warnings: What is wrong with notes.
        left_out: How many rows of each part are missing, for want of room.
        synthesis: The model's account of all that, where there is one.
        problem: Why there is no synthesis, where one was asked for.
    """

    agent: str
    generated_at: datetime
    since: datetime
    updated: tuple[Updated, ...] = ()
    decisions: tuple[HandoffEntry, ...] = ()
    actions: tuple[HandoffEntry, ...] = ()
    tasks: tuple[HandoffEntry, ...] = ()
    blockers: tuple[Blocked, ...] = ()
    messages: tuple[HandoffEntry, ...] = ()
    warnings: tuple[str, ...] = ()
    left_out: Mapping[str, int] = field(default_factory=dict)
    synthesis: str = ""
    problem: str = ""


@dataclass(frozen=True, slots=True)
class Cards:
    """What the board and the memory have for a handoff, each the latest first.

    Attributes:
        titles: Of the tasks that actions were done for, by their ids.
    """

    actions: Sequence[Card] = ()
    tasks: Sequence[Card] = ()
    messages: Sequence[Card] = ()
    decisions: Sequence[Memory] = ()
    titles: Mapping[str, str] = field(default_factory=dict)


def since_of(now: datetime, hours: float) -> datetime:
    """Return from when on things are new.

    Raises:
        UsageError: The hours are out of range.
    """
    if not 0 < hours <= HOURS_MAX:
        raise UsageError("hours", hours, f"more than 0, {HOURS_MAX:g} at most")
    return now - timedelta(hours=hours)


def handoff_of(
    agent: str,
    graph: EntityGraph,
    cards: Cards,
    now: datetime,
    *,
    hours: float = HOURS,
    chars: int = CHARS_MAX,
) -> Handoff:
    """Return what the next session should know, within a size.

    Each part has the newest ``ROWS_MAX`` rows; while the whole is longer than ``chars``, as JSON or
    as Markdown, the part that takes most room loses its last row. What is missing is counted.

    Raises:
        UsageError: ``hours`` or ``chars`` is out of range.
    """
    if chars < CHARS_LEAST:
        raise UsageError("chars", chars, f"{CHARS_LEAST} at least")
    since = since_of(now, hours)
    changed = sorted(
        (one for one in graph.entities if one.changed_at >= since),
        key=lambda one: (one.changed_at, one.id),
        reverse=True,
    )
    whole = Handoff(
        agent=agent,
        generated_at=now,
        since=since,
        updated=tuple(
            Updated(
                one.id,
                one.type,
                one.title,
                one.status,
                one.changed_at,
                on_one_line(one.summary, TEXT_CHARS),
            )
            for one in changed
        ),
        decisions=tuple(_decided(one) for one in cards.decisions),
        actions=tuple(
            _entry_of_card(one, cards.titles.get(one.thread, "")) for one in cards.actions
        ),
        tasks=tuple(_entry_of_card(one) for one in cards.tasks),
        blockers=check_blockers(graph, now, stale_days=STALE_DAYS).blocked,
        messages=tuple(_entry_of_card(one) for one in cards.messages),
        warnings=_warnings(graph),
    )
    room = chars
    while length_of(fitted := _fitted(whole, room)) > chars and any(
        getattr(fitted, name) for name in _SECTIONS
    ):
        # As JSON is printed, and as Markdown, rows take more room than they do by themselves.
        room -= length_of(fitted) - chars
    return fitted


def length_of(handoff: Handoff) -> int:
    """Return how long a handoff is in the longer of the forms in which it is printed."""
    printed = json.dumps(document_of(handoff), ensure_ascii=False, indent=2)
    return max(len(printed), len(readable(handoff)))


def with_synthesis(handoff: Handoff, said: str, chars: int) -> Handoff:
    """Return a handoff with a model's account, which is cut to the room that is left."""
    short = replace(handoff, synthesis=said)
    while short.synthesis and (over := length_of(short) - chars) > 0:
        short = replace(short, synthesis=short.synthesis[: -(over + 1)].rstrip())
        short = replace(short, synthesis=f"{short.synthesis}…" if short.synthesis else "")
    return short


def document_of(handoff: Handoff) -> dict[str, Any]:
    """Return a handoff as JSON has it."""
    document: dict[str, Any] = json.loads(json.dumps(asdict(handoff), default=_moment))
    return document


def readable(handoff: Handoff) -> str:
    """Return a handoff as Markdown for people and models."""
    lines = [f"# Handoff for {handoff.agent}", ""]
    lines += [f"From {handoff.since:%Y-%m-%d %H:%M} to {handoff.generated_at:%Y-%m-%d %H:%M} UTC."]
    if handoff.synthesis:
        said = inert(handoff.synthesis).strip().split("\n")
        lines += ["", "## In short", "", *(f"> {line}".rstrip() for line in said)]
    parts: tuple[tuple[str, str, list[str]], ...] = (
        ("Notes that changed", "updated", [_note(one) for one in handoff.updated]),
        ("Decisions", "decisions", [_decision(one) for one in handoff.decisions]),
        ("What was done", "actions", [_action(one) for one in handoff.actions]),
        ("Open tasks", "tasks", [_task(one) for one in handoff.tasks]),
        ("Waiting", "blockers", [_waiting(one) for one in handoff.blockers]),
        ("Unread messages", "messages", [_message(one) for one in handoff.messages]),
        ("Look at", "warnings", list(handoff.warnings)),
    )
    for heading, name, rows in parts:
        missing = handoff.left_out.get(name, 0)
        if rows or missing:
            lines += ["", f"## {heading}", "", *(f"- {flat(row)}" for row in rows)]
        if missing:
            lines.append(f"- and {missing} more")
    return "\n".join(lines) + "\n"


def prompt_of(handoff: Handoff) -> str:
    """Return what a model is asked for a synthesis."""
    return SYNTHESIS + json.dumps(document_of(handoff), ensure_ascii=False)


def _fitted(whole: Handoff, chars: int) -> Handoff:
    """Return a handoff with as many rows as there is room for."""
    rows: dict[str, list[Any]] = {name: list(getattr(whole, name)) for name in _SECTIONS}
    total = {name: len(found) for name, found in rows.items()}
    sizes = {name: [_size(one) for one in found[:ROWS_MAX]] for name, found in rows.items()}
    empty: dict[str, Any] = dict.fromkeys(_SECTIONS, ())
    bare = _size(asdict(replace(whole, **empty)))
    # What is left out is counted in the payload too: room for that is kept.
    room = chars - bare - sum(len(name) + 12 for name in _SECTIONS)
    while sum(map(sum, sizes.values())) > room and any(sizes.values()):
        max(sizes.values(), key=sum).pop()
    kept: dict[str, Any] = {name: tuple(rows[name][: len(size)]) for name, size in sizes.items()}
    left_out = {
        name: total[name] - len(found) for name, found in kept.items() if total[name] > len(found)
    }
    return replace(whole, **kept, left_out=left_out)


def _size(row: object) -> int:
    """Return how long something is as JSON, with what separates it from the next."""
    plain = asdict(row) if not isinstance(row, str | dict) else row  # type: ignore[call-overload]
    return len(json.dumps(plain, default=_moment, ensure_ascii=False)) + 2


def _moment(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _decided(memory: Memory) -> HandoffEntry:
    return HandoffEntry(
        id=memory.id,
        by=memory.agent,
        type=memory.type,
        status="",
        priority="",
        title=on_one_line(memory.title, TEXT_CHARS),
        text=on_one_line(memory.content, TEXT_CHARS),
        at=memory.created_at,
    )


def _entry_of_card(card: Card, task: str = "") -> HandoffEntry:
    return HandoffEntry(
        id=card.id,
        by=card.agent_id,
        type=card.type,
        status=card.status or "",
        priority=card.priority,
        title=on_one_line(card.title, TEXT_CHARS),
        text=on_one_line(card.text, TEXT_CHARS),
        at=card.changed_at,
        task=on_one_line(task, TEXT_CHARS),
    )


def _warnings(graph: EntityGraph) -> tuple[str, ...]:
    lines = [
        f"{one.id}: {one.kept.path} and {one.hidden.path} claim one id" for one in graph.collisions
    ]
    lines += [
        f"{notice.path}:{notice.line}: {notice.problem}"
        for entity in graph.entities
        for notice in entity.notices
    ]
    return tuple(lines)


def _note(one: Updated) -> str:
    status = f" ({one.status})" if one.status else ""
    return f"`{one.id}` {one.title}{status}: {one.summary}".rstrip(": ")


def _action(one: HandoffEntry) -> str:
    about = f" “{one.task}”" if one.task else ""
    said = one.text or one.title
    return f"{one.at:%Y-%m-%d %H:%M} {one.by} {one.type}{about}: {said}".rstrip(": ")


def _decision(one: HandoffEntry) -> str:
    title = f" {one.title}:" if one.title else ""
    return f"`{one.id}` {one.at:%Y-%m-%d %H:%M} {one.by}:{title} {one.text}"


def _task(one: HandoffEntry) -> str:
    return f"`{one.id}` {one.title} ({one.status}, {one.priority}, {one.by})"


def _message(one: HandoffEntry) -> str:
    subject = f" {one.title}:" if one.title else ""
    return f"`{one.id}` from {one.by} ({one.priority}):{subject} {one.text}"


def _waiting(one: Blocked) -> str:
    names = [f"{by.id}{'' if by.is_indexed else ' (not indexed)'}" for by in one.blockers]
    behind = f" for {', '.join(names)}" if names else ""
    return f"`{one.id}` {one.title} waits {one.days} days{behind}"
