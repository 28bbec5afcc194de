"""The commands of the bridge about tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Annotated, get_args

import typer

from tiers.board import TaskStatus
from tiers.errors import UsageError, check_within

from ..bridge.client import Bridge
from ..bridge.noted import CurrentTask, Notes
from ..bridge.reading import current_task
from ..bridge.sending import Outcome
from ..operations import SHORT_PAGE_MAX
from .bridge_board import PRIORITIES, After
from .bridge_door import Door, Priority, Tags
from .command import Answer, Note, Part, Rows, command, group
from .options import one_of, words_of
from .turns import shortened

STATUSES: tuple[TaskStatus, ...] = get_args(TaskStatus)

task_app = group("Tasks: created, in_progress, suspended, and in the end completed or failed.")

TaskId = Annotated[str | None, typer.Argument(help="Id of the task; the one at hand if not given.")]


@command(task_app)
async def start(
    door: Door,
    title: str,
    description: str = "",
    priority: Priority = "normal",
    tags: Tags = None,
    parent: str | None = None,
) -> Answer:
    """Start a task and say its id; it is the one at hand on this machine from now on.

    Args:
        title: What is to be done.
        description: The same at length.
        parent: Id of the task that it is a part of.

    Examples:
        ezra bridge task start 'Shorten the life of tokens' --priority high
        ezra bridge task start 'Write the tests' --parent 01985a4c-… --json
    """
    if not title.strip():
        raise UsageError("title", title, "text that is not blank")

    def note(bridge: Bridge, outcome: Outcome) -> None:
        with contextlib.suppress(OSError):  # it is stored; the note is for convenience
            Notes(bridge.config).begin(CurrentTask(outcome.id, title, "created"))

    return await door.write(
        "task_start",
        after=note,
        title=title,
        text=description,
        priority=one_of("--priority", priority, PRIORITIES),
        tags=[*words_of(tags)],
        parent=parent,
    )


@command(task_app)
async def update(
    door: Door, task: TaskId = None, status: str | None = None, note: str | None = None
) -> Answer:
    """Change the state of a task, or note something about it; both are logged.

    Args:
        status: created, in_progress, suspended, completed, failed.
        note: Logged with it.

    Examples:
        ezra bridge task update --status in_progress
        ezra bridge task update 01985a4c-… --note 'Half of the tests pass.' --json
    """
    if status is not None:
        one_of("--status", status, STATUSES)
    if status is None and (note is None or not note.strip()):
        raise UsageError("--note", note, "a note, or --status")
    after = _ended if status in ("completed", "failed") else _followed(status)
    task_id = _at_hand(door, task)
    return await door.write(
        "task_update", line=_state, after=after, id=task_id, status=status, note=note
    )


@command(task_app)
async def done(door: Door, task: TaskId = None, outcome: str | None = None) -> Answer:
    """Complete a task.

    Args:
        outcome: What came of it.

    Examples:
        ezra bridge task done --outcome 'Tokens live for 15 minutes.'
        ezra bridge task done 01985a4c-… --json
    """
    task_id = _at_hand(door, task)
    return await door.write("task_done", line=_state, after=_ended, id=task_id, outcome=outcome)


@command(task_app)
async def fail(door: Door, task: TaskId = None, reason: str | None = None) -> Answer:
    """Say that a task failed.

    Args:
        reason: Why.

    Examples:
        ezra bridge task fail --reason 'The library cannot do it.'
        ezra bridge task fail 01985a4c-… --json
    """
    task_id = _at_hand(door, task)
    return await door.write("task_fail", line=_state, after=_ended, id=task_id, reason=reason)


@command(task_app, "list")
async def list_tasks(
    door: Door,
    agent: str | None = None,
    status: list[str] | None = None,
    limit: int = 10,
    after: After = "",
) -> Answer:
    """List tasks of all agents, those changed last first.

    Args:
        agent: Only tasks that this agent started.
        status: Only tasks in this state. Repeatable.
        limit: How many, 1 to 100.

    Examples:
        ezra bridge task list --status in_progress
        ezra bridge task list --agent reviewer --limit 50 --json
    """
    wanted = [one_of("--status", one, STATUSES) for one in status or ()]
    board = (await (await door.bridge(names=False)).reader()).board
    page = await board.tasks(agent_id=agent, statuses=wanted, limit=limit, after=after)
    rows = [
        (one.id, one.status or "", one.priority, one.agent_id, shortened(one.title))
        for one in page.rows
    ]
    listed = Rows(("task", "state", "priority", "by", "title"), rows)
    more = [] if page.cursor is None else [f"there are more: --after {page.cursor}"]
    document = {"tasks": page.rows, "cursor": page.cursor}
    return Answer(document, [listed, *map(Note, more)])


@command(task_app)
async def current(door: Door) -> Answer:
    """Show the task at hand: as the memory has it, or while that is away as noted here.

    Exit code 1 when there is none.

    Examples:
        ezra bridge task current --json
    """
    found = await current_task(await door.bridge())
    document = {"task": found.task, "from": "this machine" if found.is_noted else "memory"}
    if found.task is None:
        return Answer(document, code=1)
    parts: list[Part] = [f"{found.task.id}  {found.task.status}  {found.task.title}"]
    if found.is_noted:
        parts.append(Note("as noted on this machine; the memory is away"))
    return Answer(document, parts)


async def suspend_tasks(door: Door, limit: int = 10) -> Answer:
    """Suspend your open tasks, for the next session to take up again.

    Args:
        limit: How many at most, 1 to 100.

    Examples:
        ezra bridge suspend-tasks
        ezra bridge suspend-tasks --json
    """
    check_within("--limit", limit, 1, SHORT_PAGE_MAX)
    return await door.write(
        "suspend_tasks",
        line=lambda one: f"{len(one.result.get('suspended', ()))} suspended",
        limit=limit,
    )


def _at_hand(door: Door, task: str | None) -> str:
    """Return the id of the task that is meant.

    Raises:
        UsageError: None is named, and none is at hand on this machine.
    """
    if task is not None:
        return task
    noted = Notes(door.config).current()
    if noted is None:
        raise UsageError("task", None, "the id of a task; none is at hand on this machine")
    return noted.id


def _state(outcome: Outcome) -> str:
    return f"{outcome.id}  {outcome.result.get('status', '')}".rstrip()


def _ended(bridge: Bridge, outcome: Outcome) -> None:
    with contextlib.suppress(OSError):  # the note is for convenience
        Notes(bridge.config).end(str(outcome.item.arguments["id"]))


def _followed(status: str | None) -> Callable[[Bridge, Outcome], None]:
    """Return what notes the new state of the task at hand."""

    def note(bridge: Bridge, outcome: Outcome) -> None:
        notes, task_id = Notes(bridge.config), str(outcome.item.arguments["id"])
        now = notes.current()
        if status is not None and now is not None and now.id == task_id:
            with contextlib.suppress(OSError):
                notes.begin(CurrentTask(now.id, now.title, status))

    return note
