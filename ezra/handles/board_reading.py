"""What the handles of a board read, whoever holds them."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import Field

from tiers.board import CARDS_MAX, Card, CardQuery, TaskStatus
from tiers.errors import NotFound, check_at_most
from tiers.fields import Word
from tiers.recollection import Place
from tiers.records import Scope
from tiers.upkeep import Page

from ..checks import checked
from ..operations import ForModel, Limit, Name, PageOf100, PageOf1000, Tool, operation
from ..runtime import Runtime
from .paging import cursor_of, place_of

if TYPE_CHECKING:
    from tiers.cold.stores import Board

Reading: TypeAlias = Callable[[], Awaitable[Scope]]
"""Returns the scope to read with, as it stands."""

_Statuses: TypeAlias = Annotated[tuple[TaskStatus, ...], Field(max_length=5)]


class BoardReader:
    """What both handles of a board read."""

    def __init__(self, runtime: Runtime, reading: Reading) -> None:
        self._runtime = runtime
        self._reading = reading

    @operation("POST", "/cards")
    async def cards(self, ids: Sequence[str]) -> tuple[Card, ...]:
        """Return the cards among up to 1,000 ids that are seen here, in the order asked.

        One that was redacted says so in ``redacted_at``, and nothing else.

        Raises:
            UsageError: There are more.
        """
        check_at_most("ids", len(ids), CARDS_MAX)
        return await self._runtime.board.cards(await self._reading(), ids)

    @operation("POST", "/thread")
    async def thread(self, thread_id: str, *, limit: PageOf1000 = CARDS_MAX) -> tuple[Card, ...]:
        """Return the last messages of a thread that are seen here, oldest first.

        Args:
            thread_id: The ``thread`` of any of its messages: the id of its first one.
            limit: How many, 1 to 1,000.

        Raises:
            UsageError: ``limit`` is out of range.
        """
        query = checked(CardQuery, {"thread": "thread_id"}, kind="message", thread=thread_id)
        scope = await self._reading()
        found = await self._runtime.board.latest(scope, query, limit=limit)
        return tuple(reversed(found))

    @operation("POST", "/history")
    async def history(
        self,
        *,
        agent_id: Word | None = None,
        task_id: str | None = None,
        types: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        limit: PageOf100 = 20,
        after: str = "",
    ) -> Page[Card]:
        """Return what agents did, the latest first, page by page.

        Args:
            agent_id: Only this agent's actions.
            task_id: Only actions for this task.
            types: Only actions of these sorts.
            since: Only actions at or after this moment.
            until: Only actions before this moment.
            limit: 1 to 100.
            after: The ``cursor`` of the page before; empty begins.

        Raises:
            UsageError: An argument is not acceptable.
        """
        query = checked(
            CardQuery,
            {"thread": "task_id"},
            kind="action",
            agent_id=agent_id,
            thread=task_id,
            types=types,
            since=since,
            until=until,
        )
        return await page_of(self._runtime.board, self._reading, query, limit, after)

    @operation(
        "POST",
        "/tasks/list",
        tool=Tool("reads", "List tasks of this graph, those changed last first.", "list_tasks"),
    )
    async def tasks(
        self,
        *,
        agent_id: Annotated[
            str | None, ForModel("Only tasks that this agent started.", Name)
        ] = None,
        statuses: Annotated[Sequence[TaskStatus], ForModel("All states if empty.", _Statuses)] = (),
        tag: str | None = None,
        parent: str | None = None,
        limit: Annotated[PageOf100, ForModel(hint=Limit)] = 10,
        after: str = "",
    ) -> Page[Card]:
        """Return tasks, those changed last first, page by page.

        A task that is changed meanwhile comes to the top, and not on a later page.

        Args:
            agent_id: Only tasks that this agent started.
            statuses: Only tasks in one of these states.
            tag: Only tasks with this tag.
            parent: Only parts of this task.
            limit: 1 to 100.
            after: The ``cursor`` of the page before; empty begins.

        Raises:
            UsageError: An argument is not acceptable.
        """
        query = checked(
            CardQuery,
            {"thread": "parent"},
            kind="task",
            agent_id=agent_id,
            statuses=statuses,
            tag=tag,
            thread=parent,
        )
        return await page_of(self._runtime.board, self._reading, query, limit, after)

    @operation("POST", "/tasks/one")
    async def task(self, task_id: str) -> Card:
        """Return a task.

        Raises:
            NotFound: There is none that is seen here, or it is redacted.
        """
        return await task_of(self._runtime.board, await self._reading(), task_id)


async def task_of(board: Board, scope: Scope, task_id: str) -> Card:
    """Return a task that a scope sees.

    Raises:
        NotFound: There is none, or it is redacted.
    """
    for card in await board.cards(scope, (task_id,)):
        if card.kind == "task" and card.redacted_at is None:
            return card
    raise NotFound("task", task_id)


async def page_of(
    board: Board, reading: Reading, query: CardQuery, limit: int, after: str
) -> Page[Card]:
    """Return a page of the cards that are asked for, as whoever reads sees them.

    Raises:
        UsageError: No page gave ``after``.
    """
    behind = place_of(after) if after else None
    # One more tells whether there is a further page.
    found = await board.latest(await reading(), query, behind=behind, limit=limit + 1)
    shown = found[:limit]
    is_last = len(found) <= limit
    cursor = None if is_last else cursor_of(Place(shown[-1].changed_at, shown[-1].id))
    return Page(rows=shown, cursor=cursor)


def inbox_query(agent_id: str, types: Sequence[str], *, unread: bool) -> CardQuery:
    """Return the question for what an agent finds in its inbox."""
    return checked(
        CardQuery,
        kind="message",
        inbox_of=agent_id,
        unread_by=agent_id if unread else None,
        types=types,
    )
