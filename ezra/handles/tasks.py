"""What a change makes of a task, and what is logged of it. Pure."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from tiers.board import STATES_AFTER, TASK_LOGS, Card, Machine, Priority, Tag, TaskStatus, moved
from tiers.errors import Conflict
from tiers.ids import derived_id
from tiers.records import ALL_TOPICS, UNRECORDED, Record, Scope, Text

from ..checks import checked

_LOW_BITS = 64
"""Of an id: the rest says when it was made, and in which order."""

_ENDING = {"completed": "outcome", "failed": "reason"}
"""Under what name a task's ``details`` say how it ended, by its final state."""


class Change(Record):
    """What somebody wants of a task; what is ``None`` stays as it is.

    Attributes:
        status: The state that it is to be in.
        note: What is logged of it.
        ends: Whether the task ends by it, from whatever state it may; the note then says how.
    """

    status: TaskStatus | None = None
    note: Text | None = None
    title: Text | None = None
    text: Text | None = None
    priority: Priority | None = None
    tags: tuple[Tag, ...] | None = None
    ends: bool = False
    machine: Machine = ""

    @property
    def edits(self) -> dict[str, object]:
        """The new contents, by field."""
        fields = ("title", "text", "priority", "tags")
        given = {name: getattr(self, name) for name in fields}
        return {name: value for name, value in given.items() if value is not None}


def changed_task(task: Card, change: Change, now: datetime) -> Card | None:
    """Return a task after a change, or ``None`` where there is nothing to change or to log.

    Args:
        task: As it is stored.
        change: What is wanted.
        now: When; a task never changes before it changed last.

    Raises:
        Conflict: There is no way from the state it is in, or it is final and would say otherwise.
        UsageError: What it would become is not acceptable: too much is said of how it ended.
    """
    status = task.status or "created"
    new = _ended(task, status, change) if change.ends else _updated(task, status, change)
    if new is None:
        return None
    places = {"version": task.version + 1, "changed_at": max(now, task.changed_at)}
    return checked(Card, **{**dict(task), **new, **places, "machine": change.machine})


def _ended(task: Card, status: TaskStatus, change: Change) -> dict[str, object] | None:
    wanted = change.status or "completed"
    name = _ENDING[wanted]
    if status == wanted:
        if change.note is None or change.note == task.details.get(name):
            return None
        # Neither is shown: who asks sees the task.
        raise Conflict(f"the {name} of task {task.id}, which is {status}", "the same", "another")
    if STATES_AFTER[status]:
        status = moved(task.id, status, "in_progress")
    new: dict[str, object] = {"status": moved(task.id, status, wanted)}
    if change.note is not None:
        new["details"] = {**task.details, name: change.note}
    return new


def _updated(task: Card, status: TaskStatus, change: Change) -> dict[str, object] | None:
    new: dict[str, object] = {
        name: value for name, value in change.edits.items() if value != getattr(task, name)
    }
    if new and not STATES_AFTER[status]:
        raise Conflict(f"task {task.id}, which is {status}", "a note at most", sorted(new))
    if change.status is not None and moved(task.id, status, change.status) != status:
        new["status"] = change.status
    return new if new or change.note is not None else None


def log_of(scope: Scope, task: Card, change: Change, before: Card | None, log_id: str) -> Card:
    """Return the action that says what was done to a task; whoever sees the task may see it.

    Args:
        scope: Who does it.
        task: As it is now.
        change: What was asked for.
        before: As it was; ``None`` for a new one.
        log_id: Of the action.
    """
    former = None if before is None else before.status
    if former != task.status:
        what = TASK_LOGS[task.status or "created"]
    else:
        what = TASK_LOGS["changed" if change.edits else "note"]
    action = checked(
        Card,
        kind="action",
        type=what,
        text=change.note or "",
        thread=task.id,
        details={"from": former, "to": task.status},
        machine=change.machine,
        changed_at=task.changed_at,
    )
    owner = {"topics": _topics(scope, task), "user_id": task.user_id}
    return action.stamped(scope, log_id, task.changed_at).model_copy(update=owner)


def is_log_of(log: Card, change: Change) -> bool:
    """Whether an action may be what was logged of a change: what it edited is in no action."""
    if log.redacted_at is not None:
        return True
    is_there = change.status in (None, log.details.get("to"))
    return is_there and log.text == (change.note or "")


def _topics(scope: Scope, task: Card) -> tuple[str, ...]:
    """Return those of a task's topics that whoever changes it may write."""
    if ALL_TOPICS in scope.topics:
        return task.topics
    return tuple(topic for topic in task.topics if topic in scope.topics)


def begun_id(task_id: str) -> str:
    """Return the id of the action that a task was begun with.

    It follows from the task's, and sorts with it: whoever carries the task into another memory
    finds the action under its id again.
    """
    given, low = UUID(task_id).int, UUID(derived_id(UNRECORDED, "task begun", task_id)).int
    return str(UUID(int=given >> _LOW_BITS << _LOW_BITS | low & ((1 << _LOW_BITS) - 1)))
