"""The board of a graph: messages between its agents, tasks, and what each of them did.

A card is one of these. The rules of ``tiers.ports`` hold. What state a task may go to from which
is decided here too, by ``moved``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Literal, NamedTuple, Protocol, TypeAlias

from pydantic import AfterValidator, Field, JsonValue, StringConstraints

from .errors import Conflict
from .fields import NAME_CHARS_MAX, Moment, Name, Record, Text
from .fleet import Scope
from .owned import Owned
from .recollection import Place

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


def _plain(name: str) -> str:
    if not name.isprintable():
        message = "must not contain control characters"
        raise ValueError(message)
    return name


_MaybeName: TypeAlias = Annotated[
    str,
    StringConstraints(max_length=NAME_CHARS_MAX, strip_whitespace=True),
    AfterValidator(_plain),
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


class Board(Protocol):
    """Cards of session graphs.

    Visible as every record is (topics, user, privacy), and of messages those only that are for the
    scope's agent, for all, or written by it; the runtime itself, a scope without an agent, sees
    all. The engine's query carries all of this. Redacted cards are in ``cards`` and nowhere else.

    Every change leaves an event in the audit feed of the graph (``posted``, ``changed``, ``read``)
    with the ids of the cards and their kind or state, in the same step where the engine has
    transactions.
    """

    async def post(self, scope: Scope, card: Card, log: Card | None = None) -> tuple[Card, bool]:
        """Store a card and return it, and whether it is new.

        One of its id that the same agent wrote is returned as it stands, and nothing is written:
        posting again, under an id that the caller chose, is harmless. ``log`` is a second card, an
        action, that is stored in the same step.

        Raises:
            Conflict: The id is another agent's card, or a card of another kind, or the graph is
                archived.
        """

    async def change(self, scope: Scope, card: Card, log: Card) -> bool:
        """Replace a visible task; ``card.version`` is one more than the stored one's.

        ``False``, writing nothing, when it is not: somebody else was faster, or there is none.
        Writer, kind, owner, ``to``, ``recorded_at`` and ``read_by`` stay as they are. ``log``, an
        action that says what was done, is stored in the same step.

        Raises:
            Conflict: The id of ``log`` is taken, or the graph is archived.
            UsageError: It is not a task.
        """

    async def mark_read(
        self, scope: Scope, ids: Sequence[str], reader: str, now: datetime
    ) -> tuple[str, ...]:
        """Note that an agent has read messages; return the ids of those it had not read before.

        Only messages that an inbox of it has, at most ``CARDS_MAX``.
        ``changed_at`` and ``version`` stay.

        Raises:
            Conflict: The graph is archived, and there would be something to write.
            UsageError: There are too many, or the scope is another agent's.
        """

    async def cards(self, scope: Scope, ids: Sequence[str]) -> tuple[Card, ...]:
        """Return the visible cards among ``ids``, redacted ones too, in the order asked."""

    async def latest(
        self, scope: Scope, query: CardQuery, *, behind: Place | None = None, limit: int = 100
    ) -> tuple[Card, ...]:
        """Return visible cards, the latest change first, ties by id downwards; behind a place.

        ``limit`` is 1 to ``CARDS_MAX``.
        """

    async def counts(self, scope: Scope, since: datetime, until: datetime) -> tuple[CardCount, ...]:
        """Return how many visible cards were recorded in ``[since, until)``, in order of day.

        Raises:
            UsageError: That would be more than ``COUNTS_MAX`` rows.
        """

    async def unread(self, scope: Scope, agent_ids: Sequence[str]) -> Mapping[str, int]:
        """Return how many visible messages each of the agents has not read yet.

        Raises:
            UsageError: They are more than ``AGENTS_MAX``.
        """
