"""What every engine checks before it writes on a board, and what a change may change. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..board import CARDS_MAX, Card
from ..errors import UsageError
from ..records import Scope
from .ownership import check_owned, check_placed

_CHANGED = (
    *("type", "thread", "reply_to", "status", "priority", "title", "text", "tags", "details"),
    *("machine", "version", "changed_at"),
)


def changed_columns(task: Card) -> dict[str, object]:
    """Return what a change of a task may change, by field; the rest stays as it was posted."""
    return {name: getattr(task, name) for name in _CHANGED}


def check_log(scope: Scope, log: Card) -> None:
    """Refuse what is to be stored beside a card, and is no action of the scope's own.

    Raises:
        UsageError: It is none.
    """
    check_owned(scope, log)
    if log.kind != "action":
        raise UsageError("log.kind", log.kind, "action")


def check_change(scope: Scope, task: Card, log: Card) -> None:
    """Refuse a change that no board can make, before it is looked whether this one can.

    Raises:
        UsageError: It is no task of the scope's graph, of no later version than the first, or the
            action beside it is none.
    """
    check_placed(scope, task)
    check_log(scope, log)
    if task.kind != "task" or task.status is None:
        raise UsageError("card", task.kind, "a task with a status; only tasks change")
    if task.version < 2:  # noqa: PLR2004 - 1 is what a task is posted with
        raise UsageError("version", task.version, "2 or above")


def check_reader(scope: Scope, ids: Sequence[str], reader: str) -> None:
    """Refuse to mark too much, or for another agent than the scope's.

    Raises:
        UsageError: It is one of these.
    """
    if len(ids) > CARDS_MAX:
        raise UsageError("ids", len(ids), f"at most {CARDS_MAX:,}")
    if not reader or (scope.agent_id is not None and reader != scope.agent_id):
        raise UsageError("reader", reader, f"the scope's agent, {scope.agent_id!r}")
