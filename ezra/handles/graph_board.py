"""The board of a session graph, as its operator sees it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from tiers.board import AGENTS_MAX, Card, CardCount, CardKind, CardQuery, TaskStatus
from tiers.errors import UsageError, check_at_most
from tiers.fields import Word
from tiers.records import Scope
from tiers.upkeep import Page

from ..checks import checked
from ..operations import PageOf100, operation
from ..rights.policy import scope_of
from ..runtime import Runtime
from .board_reading import BoardReader, inbox_query, page_of

COUNTED_DAYS = 30
COUNTED_DAYS_MAX = 3_660

_FIRST = datetime(2, 1, 1, tzinfo=UTC)
"""Before it there may be no moment by which a window could begin."""


class GraphBoard(BoardReader):
    """The board of a session graph as its operator sees it: every topic, every user.

    Args:
        runtime: Of the runtime.
        scope: Of the whole graph.
    """

    def __init__(self, runtime: Runtime, scope: Scope) -> None:
        async def reading() -> Scope:
            return scope

        super().__init__(runtime, reading)
        self._scope = scope

    @operation("POST", "/latest")
    async def latest(
        self,
        kind: CardKind,
        *,
        agent_id: Word | None = None,
        types: Sequence[str] = (),
        statuses: Sequence[TaskStatus] = (),
        thread: str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: PageOf100 = 100,
        after: str = "",
    ) -> Page[Card]:
        """Return cards of one kind, those changed last first, page by page.

        Args:
            kind: ``message``, ``task`` or ``action``.
            agent_id: Only what this agent wrote.
            types: Only messages or actions of these sorts.
            statuses: Only tasks in one of these states.
            thread: Only messages of this thread, parts of this task, actions for this task.
            tag: Only what has this tag.
            since: Only what changed at or after this moment.
            until: Only what changed before this moment.
            limit: 1 to 100.
            after: The ``cursor`` of the page before; empty begins.

        Raises:
            UsageError: An argument is not acceptable.
        """
        query = checked(
            CardQuery,
            kind=kind,
            agent_id=agent_id,
            types=types,
            statuses=statuses,
            thread=thread,
            tag=tag,
            since=since,
            until=until,
        )
        return await page_of(self._runtime.board, self._reading, query, limit, after)

    @operation("POST", "/inbox")
    async def inbox(
        self,
        agent_id: Word,
        *,
        unread: bool = False,
        types: Sequence[str] = (),
        limit: PageOf100 = 10,
        after: str = "",
    ) -> Page[Card]:
        """Return what an agent finds in its inbox; as ``AgentBoard.inbox``.

        Of one that was never there, what it would find if it came with every topic.
        """
        query = inbox_query(agent_id, types, unread=unread)
        scope = await self._scope_of(agent_id)

        async def reading() -> Scope:
            return scope

        return await page_of(self._runtime.board, reading, query, limit, after)

    @operation("POST", "/unread")
    async def unread(self, agent_ids: Sequence[Word] | None = None) -> dict[str, int]:
        """Return how many messages each agent has not read, of those that it sees.

        Args:
            agent_ids: Which agents, up to 1,000; all that are present if not given.

        Raises:
            UsageError: They are more.
        """
        if agent_ids is None:
            members = await self._runtime.fleet.agents(self._scope)
            agent_ids = [one.id for one in members if one.left_at is None]
        check_at_most("agent_ids", len(agent_ids), AGENTS_MAX)
        found: dict[str, int] = {}
        for agent_id in dict.fromkeys(agent_ids):
            checked(CardQuery, kind="message", inbox_of=agent_id)
            scope = await self._scope_of(agent_id)
            found |= await self._runtime.board.unread(scope, (agent_id,))
        return found

    @operation("POST", "/counts")
    async def counts(
        self, since: datetime | None = None, until: datetime | None = None
    ) -> tuple[CardCount, ...]:
        """Return how many cards were recorded per day (UTC), kind, state and agent, in that order.

        Args:
            since: From this moment on; 30 days before ``until`` if not given.
            until: Before this moment; now if not given.

        Raises:
            UsageError: A moment has no zone, the window is empty, longer than 3,660 days, or
                would have more than 10,000 counts.
        """
        end = self._runtime.clock() if until is None else until
        query = checked(CardQuery, kind="message", since=since, until=end)
        begin = query.since or max(end, _FIRST) - timedelta(days=COUNTED_DAYS)
        if not timedelta(0) < end - begin <= timedelta(days=COUNTED_DAYS_MAX):
            accepted = f"a moment before {end}, by {COUNTED_DAYS_MAX:,} days at most"
            raise UsageError("since", begin, accepted)
        return await self._runtime.board.counts(self._scope, begin, end)

    async def _scope_of(self, agent_id: str) -> Scope:
        """Return what a member sees; of somebody who was never there, the whole graph."""
        standing = await self._runtime.graphs.standing(self._scope.for_agent(agent_id))
        if standing is None or standing.agent is None:
            return self._scope
        return scope_of(standing.agent)
