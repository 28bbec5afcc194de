"""The board of a graph, as an agent and as the operator have it.

What people said or named travels in bodies. Addresses are for ids: proxies log them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from pydantic import TypeAdapter

from tiers.board import Card, CardCount, CardKind, Priority, TaskStatus
from tiers.upkeep import Page

from .operation import Asked, Need, Nothing, Operation
from .points import Count, Time
from .recalling import GRAPH


class CardsAsked(Asked):
    """Cards by id."""

    ids: tuple[str, ...]


class ThreadAsked(Asked):
    """A thread, and how much of it."""

    thread_id: str
    limit: Count = 1000


class HistoryAsked(Asked):
    """What agents did."""

    agent_id: str | None = None
    task_id: str | None = None
    types: tuple[str, ...] = ()
    since: Time | None = None
    until: Time | None = None
    limit: Count = 20
    after: str = ""


class TasksAsked(Asked):
    """Tasks, those changed last first."""

    agent_id: str | None = None
    statuses: tuple[TaskStatus, ...] = ()
    tag: str | None = None
    parent: str | None = None
    limit: Count = 10
    after: str = ""


class TaskAsked(Asked):
    """A task."""

    task_id: str


class InboxAsked(Asked):
    """What is in an agent's inbox."""

    unread: bool = False
    types: tuple[str, ...] = ()
    limit: Count = 10
    after: str = ""


class MemberInboxAsked(InboxAsked):
    """What is in a member's inbox."""

    agent_id: str


class _Written(Asked):
    """What everything that is written may say of itself."""

    tags: tuple[str, ...] = ()
    id: str | None = None
    machine: str = ""
    topics: tuple[str, ...] | None = None
    shared: bool = False


class SendAsked(_Written):
    """A message."""

    to: str | tuple[str, ...]
    text: str
    type: str = "message"
    subject: str = ""
    priority: Priority = "normal"
    thread: str | None = None


class ReplyAsked(_Written):
    """An answer to a message."""

    message_id: str
    text: str
    type: str = "message"
    priority: Priority = "normal"


class LogAsked(_Written):
    """What an agent did."""

    action: str
    text: str = ""
    files: tuple[str, ...] = ()
    task_id: str | None = None


class StartAsked(_Written):
    """A task."""

    title: str
    text: str = ""
    priority: Priority = "normal"
    parent: str | None = None


class UpdateAsked(Asked):
    """What becomes of a task."""

    task_id: str
    status: TaskStatus | None = None
    note: str | None = None
    title: str | None = None
    text: str | None = None
    priority: Priority | None = None
    tags: tuple[str, ...] | None = None
    id: str | None = None
    machine: str = ""


class FinishAsked(Asked):
    """That a task is completed, and how."""

    task_id: str
    outcome: str | None = None
    id: str | None = None
    machine: str = ""


class FailAsked(Asked):
    """That a task failed, and why."""

    task_id: str
    reason: str | None = None
    id: str | None = None
    machine: str = ""


class SuspendAsked(Asked):
    """That an agent's open tasks are suspended, so many of them."""

    limit: Count = 10
    machine: str = ""


class LatestAsked(Asked):
    """Cards of one kind, those changed last first."""

    kind: CardKind
    agent_id: str | None = None
    types: tuple[str, ...] = ()
    statuses: tuple[TaskStatus, ...] = ()
    thread: str | None = None
    tag: str | None = None
    since: Time | None = None
    until: Time | None = None
    limit: Count = 100
    after: str = ""


class CountsAsked(Asked):
    """A window to count in."""

    since: Time | None = None
    until: Time | None = None


class UnreadAsked(Asked):
    """Of which agents unread messages are counted."""

    agent_ids: tuple[str, ...] | None = None


_CARD = TypeAdapter(Card)
_CARDS = TypeAdapter(tuple[Card, ...])
_PAGE = TypeAdapter(Page[Card])
_IDS = TypeAdapter(tuple[str, ...])
_NUMBER = TypeAdapter(int)
_NUMBERS = TypeAdapter(dict[str, int])
_COUNTS = TypeAdapter(tuple[CardCount, ...])


@dataclass(frozen=True)
class Reads:
    """What may be asked of a board, whoever asks; named as the methods of the handles."""

    cards: Operation[CardsAsked, tuple[Card, ...]]
    thread: Operation[ThreadAsked, tuple[Card, ...]]
    history: Operation[HistoryAsked, Page[Card]]
    tasks: Operation[TasksAsked, Page[Card]]
    task: Operation[TaskAsked, Card]

    def __iter__(self) -> Any:  # noqa: ANN401 - of operations that ask and answer all sorts
        return (getattr(self, one.name) for one in fields(self))


def _reads(whose: str, root: str, needs: Need) -> Reads:
    name, at = f"{whose}.board", f"{root}/board"
    return Reads(
        cards=Operation(
            f"{name}.cards", "POST", f"{at}/cards", CardsAsked, _CARDS, needs, "Cards by id."
        ),
        thread=Operation(
            f"{name}.thread",
            "POST",
            f"{at}/thread",
            ThreadAsked,
            _CARDS,
            needs,
            "The messages of a thread, oldest first.",
        ),
        history=Operation(
            f"{name}.history",
            "POST",
            f"{at}/history",
            HistoryAsked,
            _PAGE,
            needs,
            "What agents did, the latest first.",
        ),
        tasks=Operation(
            f"{name}.tasks",
            "POST",
            f"{at}/tasks/list",
            TasksAsked,
            _PAGE,
            needs,
            "Tasks, those changed last first.",
        ),
        task=Operation(
            f"{name}.task", "POST", f"{at}/tasks/one", TaskAsked, _CARD, needs, "A task."
        ),
    )


_AGENT = f"{GRAPH}/agents/{{agent_id}}"
_OF_AGENT, _OF_GRAPH = f"{_AGENT}/board", f"{GRAPH}/board"

AGENT_READS = _reads("agent", _AGENT, "see")
GRAPH_READS = _reads("graph", GRAPH, "read")

INBOX = Operation(
    "agent.board.inbox",
    "POST",
    f"{_OF_AGENT}/inbox",
    InboxAsked,
    _PAGE,
    "see",
    "Messages for the agent and for everybody, the latest first.",
)
UNREAD = Operation(
    "agent.board.unread",
    "GET",
    f"{_OF_AGENT}/unread",
    Nothing,
    _NUMBER,
    "see",
    "How many messages the agent has not read.",
)
SEND = Operation(
    "agent.board.send",
    "POST",
    f"{_OF_AGENT}/messages",
    SendAsked,
    _CARD,
    "act",
    "Send a message to agents or to everybody.",
)
REPLY = Operation(
    "agent.board.reply",
    "POST",
    f"{_OF_AGENT}/replies",
    ReplyAsked,
    _CARD,
    "act",
    "Answer a message in its thread.",
)
ACK = Operation(
    "agent.board.ack",
    "POST",
    f"{_OF_AGENT}/read",
    CardsAsked,
    _IDS,
    "act",
    "Mark messages as read.",
)
LOG = Operation(
    "agent.board.log",
    "POST",
    f"{_OF_AGENT}/actions",
    LogAsked,
    _CARD,
    "act",
    "Log that the agent did something.",
)
START = Operation(
    "agent.board.start_task",
    "POST",
    f"{_OF_AGENT}/tasks",
    StartAsked,
    _CARD,
    "act",
    "Put a task on the board.",
)
UPDATE = Operation(
    "agent.board.update_task",
    "POST",
    f"{_OF_AGENT}/tasks/update",
    UpdateAsked,
    _CARD,
    "act",
    "Change a task, and log it.",
)
FINISH = Operation(
    "agent.board.finish_task",
    "POST",
    f"{_OF_AGENT}/tasks/finish",
    FinishAsked,
    _CARD,
    "act",
    "Complete a task.",
)
FAIL = Operation(
    "agent.board.fail_task",
    "POST",
    f"{_OF_AGENT}/tasks/fail",
    FailAsked,
    _CARD,
    "act",
    "Let a task fail.",
)
SUSPEND = Operation(
    "agent.board.suspend_tasks",
    "POST",
    f"{_OF_AGENT}/tasks/suspend",
    SuspendAsked,
    _CARDS,
    "act",
    "Suspend the agent's own open tasks.",
    repeats=False,
)

GRAPH_LATEST = Operation(
    "graph.board.latest",
    "POST",
    f"{_OF_GRAPH}/latest",
    LatestAsked,
    _PAGE,
    "read",
    "Cards of one kind, those changed last first.",
)
GRAPH_INBOX = Operation(
    "graph.board.inbox",
    "POST",
    f"{_OF_GRAPH}/inbox",
    MemberInboxAsked,
    _PAGE,
    "read",
    "What a member finds in its inbox.",
)
GRAPH_UNREAD = Operation(
    "graph.board.unread",
    "POST",
    f"{_OF_GRAPH}/unread",
    UnreadAsked,
    _NUMBERS,
    "read",
    "How many messages each member has not read.",
)
GRAPH_COUNTS = Operation(
    "graph.board.counts",
    "POST",
    f"{_OF_GRAPH}/counts",
    CountsAsked,
    _COUNTS,
    "read",
    "How many cards came per day, kind, state and agent.",
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    *AGENT_READS, INBOX, UNREAD, SEND, REPLY, ACK, LOG, START, UPDATE, FINISH, FAIL, SUSPEND,
    *GRAPH_READS, GRAPH_LATEST, GRAPH_INBOX, GRAPH_UNREAD, GRAPH_COUNTS,
)  # fmt: skip
