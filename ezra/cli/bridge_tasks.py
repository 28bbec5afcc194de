"""The commands of the bridge about tasks."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Annotated, cast, get_args

import typer

from tiers.board import Card, TaskStatus
from tiers.errors import UsageError
from tiers.upkeep import Page

from ..bridge.client import Bridge
from ..bridge.noted import CurrentTask, Notes
from ..bridge.reading import current_task
from ..bridge.sending import Outcome
from ..handles.listings import LATEST_MAX
from .bridge_board import After, checked_priority
from .bridge_door import Home, Json, Priority, Tags, Url, ask, configured, listed_tags, wrote
from .plain import plain
from .screen import Screen
from .turns import shortened

STATUSES: tuple[TaskStatus, ...] = get_args(TaskStatus)

task_app = typer.Typer(
    help="Tasks: created, in_progress, suspended, and in the end completed or failed.",
    no_args_is_help=True,
)

TaskId = Annotated[str | None, typer.Argument(help="Id of the task; the one at hand if not given.")]


@task_app.command(
    "start",
    epilog="Examples: ezra bridge task start 'Shorten the life of tokens' --priority high  ·  "
    "ezra bridge task start 'Write the tests' --parent 01985a4c-… --json",
)
def start(
    title: Annotated[str, typer.Argument(help="What is to be done.")],
    description: Annotated[str, typer.Option(help="The same at length.")] = "",
    priority: Priority = "normal",
    tags: Tags = None,
    parent: Annotated[str | None, typer.Option(help="Id of the task that it is a part of.")] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Start a task and say its id; it is the one at hand on this machine from now on."""
    if not title.strip():
        raise UsageError("title", title, "text that is not blank")

    def note(bridge: Bridge, outcome: Outcome) -> None:
        with contextlib.suppress(OSError):  # it is stored; the note is for convenience
            Notes(bridge.config).begin(CurrentTask(outcome.id, title, "created"))

    wrote(
        home,
        url,
        "task_start",
        json=json,
        after=note,
        title=title,
        text=description,
        priority=checked_priority(priority),
        tags=listed_tags(tags),
        parent=parent,
    )


@task_app.command(
    "update",
    epilog="Examples: ezra bridge task update --status in_progress  ·  "
    "ezra bridge task update 01985a4c-… --note 'Half of the tests pass.' --json",
)
def update(
    task: TaskId = None,
    status: Annotated[
        str | None, typer.Option(help="created, in_progress, suspended, completed, failed.")
    ] = None,
    note: Annotated[str | None, typer.Option(help="Logged with it.")] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Change the state of a task, or note something about it; both are logged."""
    if status is not None and status not in STATUSES:
        raise UsageError("--status", status, ", ".join(STATUSES))
    if status is None and (note is None or not note.strip()):
        raise UsageError("--note", note, "a note, or --status")
    ends = status in ("completed", "failed")
    arguments = {"id": _at_hand(task, home, url), "status": status, "note": note}
    wrote(
        home,
        url,
        "task_update",
        json=json,
        told=_state,
        after=_ended if ends else _followed(status),
        **arguments,
    )


@task_app.command(
    "done",
    epilog="Examples: ezra bridge task done --outcome 'Tokens live for 15 minutes.'  ·  "
    "ezra bridge task done 01985a4c-… --json",
)
def done(
    task: TaskId = None,
    outcome: Annotated[str | None, typer.Option(help="What came of it.")] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Complete a task."""
    task_id = _at_hand(task, home, url)
    wrote(
        home,
        url,
        "task_done",
        json=json,
        told=_state,
        after=_ended,
        id=task_id,
        outcome=outcome,
    )


@task_app.command(
    "fail",
    epilog="Examples: ezra bridge task fail --reason 'The library cannot do it.'  ·  "
    "ezra bridge task fail 01985a4c-… --json",
)
def fail(
    task: TaskId = None,
    reason: Annotated[str | None, typer.Option(help="Why.")] = None,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Say that a task failed."""
    task_id = _at_hand(task, home, url)
    wrote(
        home,
        url,
        "task_fail",
        json=json,
        told=_state,
        after=_ended,
        id=task_id,
        reason=reason,
    )


@task_app.command(
    "list",
    epilog="Examples: ezra bridge task list --status in_progress  ·  "
    "ezra bridge task list --agent reviewer --limit 50 --json",
)
def list_tasks(
    agent: Annotated[str | None, typer.Option(help="Only tasks that this agent started.")] = None,
    status: Annotated[
        list[str] | None, typer.Option(help="Only tasks in this state. Repeatable.")
    ] = None,
    limit: Annotated[int, typer.Option(help="How many, 1 to 100.")] = 10,
    after: After = "",
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """List tasks of all agents, those changed last first."""
    for one in status or ():
        if one not in STATUSES:
            raise UsageError("--status", one, ", ".join(STATUSES))
    wanted = cast("list[TaskStatus]", status or [])
    screen = Screen()

    async def work(bridge: Bridge) -> Page[Card]:
        board = (await bridge.reader()).board
        return await board.tasks(agent_id=agent, statuses=wanted, limit=limit, after=after)

    page = ask(home, url, work, names=False)
    if json:
        screen.document({"tasks": [plain(one) for one in page.rows], "cursor": page.cursor})
        return
    rows = [
        (one.id, one.status or "", one.priority, one.agent_id, shortened(one.title))
        for one in page.rows
    ]
    screen.table(("task", "state", "priority", "by", "title"), rows)
    if page.cursor is not None:
        screen.note(f"there are more: --after {page.cursor}")


@task_app.command("current", epilog="Example: ezra bridge task current --json")
def current(home: Home = None, url: Url = None, json: Json = False) -> None:
    """Show the task at hand: as the memory has it, or while that is away as noted here.

    Exit code 1 when there is none.
    """
    screen = Screen()
    found = ask(home, url, current_task, names=True)
    if json:
        where = "this machine" if found.is_noted else "memory"
        screen.document({"task": plain(found.task), "from": where})
    elif found.task is not None:
        screen.line(f"{found.task.id}  {found.task.status}  {found.task.title}")
        if found.is_noted:
            screen.note("as noted on this machine; the memory is away")
    if found.task is None:
        raise typer.Exit(1)


def suspend_tasks(
    limit: Annotated[int, typer.Option(help="How many at most, 1 to 100.")] = 10,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Suspend your open tasks, for the next session to take up again."""
    if not 1 <= limit <= LATEST_MAX:
        raise UsageError("--limit", limit, f"1 to {LATEST_MAX}")
    wrote(
        home,
        url,
        "suspend_tasks",
        json=json,
        told=lambda one: f"{len(one.result.get('suspended', ()))} suspended",
        limit=limit,
    )


def _at_hand(task: str | None, home: Home, url: Url) -> str:
    """Return the id of the task that is meant.

    Raises:
        UsageError: None is named, and none is at hand on this machine.
    """
    if task is not None:
        return task
    noted = Notes(configured(home, url)).current()
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
