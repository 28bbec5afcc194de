"""The board of a graph: messages between its agents, tasks, and what each of them did.

A card is one of these. What state a task may go to from which is decided here too, by ``moved``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Annotated, Literal, NamedTuple, TypeAlias

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from .errors import Conflict
from .fields import NAME_CHARS_MAX, Moment, Name, Record, Text, printable
from .owned import Owned

CardKind: TypeAlias = Literal["message", "task", "action"]
Priority: TypeAlias = Literal["low", "normal", "high", "urgent"]
TaskStatus: TypeAlias = Literal["created", "in_progress", "suspended", "completed", "failed"]

TAGS_MAX = 32
RECIPIENTS_MAX = 256
DETAILS_CHARS_MAX = 64_000
"""Of all details of a card together, as JSON."""
CARDS_MAX = 1_000
"""As many are read, or marked as read, with one call."""
COUNTS_MAX = 10_000
TYPES_MAX = 64
AGENTS_MAX = 1_000
"""Of so many agents the unread messages are counted with one call."""

TASK_LOGS: Mapping[TaskStatus | Literal["changed", "note"], str] = {
    "created": "task_created",
    "in_progress": "task_in_progress",
    "suspended": "task_suspended",
    "completed": "task_completed",
    "failed": "task_failed",
    "changed": "task_changed",
    "note": "task_note",
}
"""Types of the actions that tell of a change of a task, their ``thread``, by what it came to.

They are made of the task, and redacted with it. Redaction leaves these words.
"""

EVERYBODY = "*"
"""Whoever writes this as a recipient means all agents of the graph, at present and later."""

STATES_AFTER: Mapping[TaskStatus, tuple[TaskStatus, ...]] = {
    "created": ("in_progress", "suspended"),
    "in_progress": ("suspended", "completed", "failed"),
    "suspended": ("in_progress",),
    "completed": (),
    "failed": (),
}
"""Where a task may go from each state; where there is nothing, the state is final."""


_MaybeName: TypeAlias = Annotated[
    str,
    StringConstraints(max_length=NAME_CHARS_MAX, strip_whitespace=True),
    AfterValidator(printable),
]
Tag: TypeAlias = Name
Sort: TypeAlias = _MaybeName
Machine: TypeAlias = _MaybeName
Reference: TypeAlias = _MaybeName
"""The id of another card, which may not be there (yet)."""


def _bounded(details: dict[str, JsonValue]) -> dict[str, JsonValue]:
    # No number that JSON lacks, no half of a character, and no more than a list of cards bears.
    text = json.dumps(details, ensure_ascii=False, allow_nan=False)
    text.encode()
    if len(text) > DETAILS_CHARS_MAX:
        message = f"at most {DETAILS_CHARS_MAX} characters as JSON"
        raise ValueError(message)
    return details


Details: TypeAlias = Annotated[dict[str, JsonValue], AfterValidator(_bounded)]


def moved(task: str, status: TaskStatus, wanted: TaskStatus) -> TaskStatus:
    """Return the state that a task is to be in, which may be the one it is in.

    Args:
        task: Its id, for the error.
        status: The state it is in.
        wanted: The state asked for.

    Raises:
        Conflict: There is no way from one to the other; says which there are.
    """
    possible = STATES_AFTER[status]
    if wanted == status or wanted in possible:
        return wanted
    accepted = " or ".join(possible) or f"{status}, which is final"
    raise Conflict(f"what becomes of task {task}, now {status}", accepted, wanted)


class Card(Owned):
    """A message, a task, or an action. ``agent_id`` is who wrote it.

    Attributes:
        kind: Which of them.
        type: What sort of message or action, in the words of its writer: ``question``, ``commit``.
        to: Of a message, the agents it is for; of nobody in particular it is for all of them.
        thread: Of a message, the id of the first of its thread; of an action, the task it is for;
            of a task, the task that it is a part of.
        reply_to: Of a message, the one it answers.
        status: Of a task.
        priority: Of a message or a task.
        title: A message's subject, a task's title.
        text: What it says.
        tags: For finding it.
        details: What else is known of it, as JSON values: files, outcome, reason.
        machine: Where it was written.
        version: Rises with each change, from 1.
        changed_at: When it changed last.
        read_by: Of a message, the agents that have read it, sorted.
    """

    kind: CardKind
    type: Sort = ""
    to: tuple[Name, ...] = Field(default=(), max_length=RECIPIENTS_MAX)
    thread: Reference = ""
    reply_to: Reference | None = None
    status: TaskStatus | None = None
    priority: Priority = "normal"
    title: Text = ""
    text: Text = ""
    tags: tuple[Tag, ...] = Field(default=(), max_length=TAGS_MAX)
    details: Details = Field(default_factory=dict)
    machine: Machine = ""
    version: int = Field(default=1, ge=1)
    changed_at: Moment
    read_by: tuple[Name, ...] = ()


class CardQuery(Record):
    """Which cards are wanted; ``None`` and the empty tuple restrict nothing.

    Attributes:
        kind: Which kind.
        inbox_of: Messages for this agent, and those for all that it did not write itself.
        unread_by: Messages that this agent has not read.
        agent_id: Written by this agent.
        types: Of any of these types.
        statuses: Tasks in any of these.
        thread: Of this thread; a thread's first message belongs to it.
        tag: With this tag.
        since: Changed at or after this moment.
        until: Changed before this moment.
    """

    kind: CardKind
    inbox_of: Name | None = None
    unread_by: Name | None = None
    agent_id: Name | None = None
    types: tuple[Sort, ...] = Field(default=(), max_length=TYPES_MAX)
    statuses: tuple[TaskStatus, ...] = Field(default=(), max_length=TYPES_MAX)
    thread: Reference | None = None
    tag: Tag | None = None
    since: Moment | None = None
    until: Moment | None = None


class CardCount(NamedTuple):
    """How many cards of one kind, state and writer were recorded on a day (UTC).

    ``state`` is a task's status; of messages and actions it is their type.
    """

    day: str
    kind: CardKind
    state: str
    agent_id: str
    number: int
