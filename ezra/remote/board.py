"""The board of a graph on a server, as an agent and as the operator have it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime

from tiers.board import CARDS_MAX, Card, CardCount, CardKind, Priority, TaskStatus
from tiers.ids import IdFactory
from tiers.upkeep import Page

from ..wire import Nothing
from ..wire import board as wire
from .connection import Connection
from .listing import listed


class RemoteBoardReader:
    """What both handles of a board read; with the methods of ``BoardReader``, which say more.

    Args:
        connection: To the server.
        reads: The operations of agents, or those of graphs.
        names: Of the graph, and of the agent if it is an agent's.
    """

    def __init__(self, connection: Connection, reads: wire.Reads, names: Mapping[str, str]) -> None:
        self._connection = connection
        self._reads = reads
        self._names = dict(names)

    async def cards(self, ids: Sequence[str]) -> tuple[Card, ...]:
        """Return the cards among up to 1,000 ids that are seen here, in the order asked."""
        asked = wire.CardsAsked(ids=listed("ids", ids) or ())
        return await self._connection.call(self._reads.cards, asked, **self._names)

    async def thread(self, thread_id: str, *, limit: int = CARDS_MAX) -> tuple[Card, ...]:
        """Return the last messages of a thread that are seen here, oldest first."""
        asked = wire.ThreadAsked(thread_id=thread_id, limit=limit)
        return await self._connection.call(self._reads.thread, asked, **self._names)

    async def history(
        self,
        *,
        agent_id: str | None = None,
        task_id: str | None = None,
        types: Sequence[str] = (),
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 20,
        after: str = "",
    ) -> Page[Card]:
        """Return what agents did, the latest first, page by page."""
        asked = wire.HistoryAsked(
            agent_id=agent_id,
            task_id=task_id,
            types=listed("types", types) or (),
            since=since,
            until=until,
            limit=limit,
            after=after,
        )
        return await self._connection.call(self._reads.history, asked, **self._names)

    async def tasks(
        self,
        *,
        agent_id: str | None = None,
        statuses: Sequence[TaskStatus] = (),
        tag: str | None = None,
        parent: str | None = None,
        limit: int = 10,
        after: str = "",
    ) -> Page[Card]:
        """Return tasks, those changed last first, page by page."""
        asked = wire.TasksAsked(
            agent_id=agent_id,
            statuses=listed("statuses", statuses) or (),
            tag=tag,
            parent=parent,
            limit=limit,
            after=after,
        )
        return await self._connection.call(self._reads.tasks, asked, **self._names)

    async def task(self, task_id: str) -> Card:
        """Return a task.

        Raises:
            NotFound: There is none that is seen here, or it is redacted.
        """
        asked = wire.TaskAsked(task_id=task_id)
        return await self._connection.call(self._reads.task, asked, **self._names)


class RemoteAgentBoard(RemoteBoardReader):
    """The board as one agent sees it, and as whom it writes there; as ``ezra.board.AgentBoard``.

    What is written gets its id here, so that a call whose answer was lost can be repeated.
    """

    def __init__(self, connection: Connection, names: Mapping[str, str]) -> None:
        super().__init__(connection, wire.AGENT_READS, names)
        self._ids = IdFactory()

    async def send(
        self,
        to: str | Sequence[str],
        text: str,
        *,
        type: str = "message",  # noqa: A002 - what people call it
        subject: str = "",
        priority: Priority = "normal",
        tags: Iterable[str] = (),
        thread: str | None = None,
        id: str | None = None,  # noqa: A002 - what people call it
        machine: str = "",
        topics: Iterable[str] | None = None,
        shared: bool = False,
    ) -> Card:
        """Send a message and return it; to ``"*"`` or nobody it is for everybody."""
        asked = wire.SendAsked(
            to=to if isinstance(to, str) else listed("to", to) or (),
            text=text,
            type=type,
            subject=subject,
            priority=priority,
            tags=listed("tags", tags) or (),
            thread=thread,
            id=id or self._ids.new(),
            machine=machine,
            topics=listed("topics", topics),
            shared=shared,
        )
        return await self._connection.call(wire.SEND, asked, **self._names)

    async def reply(
        self,
        message_id: str,
        text: str,
        *,
        type: str = "message",  # noqa: A002 - what people call it
        priority: Priority = "normal",
        tags: Iterable[str] = (),
        id: str | None = None,  # noqa: A002 - what people call it
        machine: str = "",
        topics: Iterable[str] | None = None,
        shared: bool = False,
    ) -> Card:
        """Answer a message in its thread, to who wrote it.

        Raises:
            NotFound: There is no such message that the agent sees.
        """
        asked = wire.ReplyAsked(
            message_id=message_id,
            text=text,
            type=type,
            priority=priority,
            tags=listed("tags", tags) or (),
            id=id or self._ids.new(),
            machine=machine,
            topics=listed("topics", topics),
            shared=shared,
        )
        return await self._connection.call(wire.REPLY, asked, **self._names)

    async def inbox(
        self,
        *,
        unread: bool = False,
        types: Sequence[str] = (),
        limit: int = 10,
        after: str = "",
    ) -> Page[Card]:
        """Return messages for this agent and for everybody, the latest first, page by page."""
        asked = wire.InboxAsked(
            unread=unread, types=listed("types", types) or (), limit=limit, after=after
        )
        return await self._connection.call(wire.INBOX, asked, **self._names)

    async def unread(self) -> int:
        """Return how many messages for this agent it has not read."""
        return await self._connection.call(wire.UNREAD, Nothing(), **self._names)

    async def ack(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Mark messages as read and return those that were not."""
        given = (ids,) if isinstance(ids, str) else listed("ids", ids) or ()
        return await self._connection.call(wire.ACK, wire.CardsAsked(ids=given), **self._names)

    async def log(
        self,
        action: str,
        text: str = "",
        *,
        tags: Iterable[str] = (),
        files: Sequence[str] = (),
        task_id: str | None = None,
        id: str | None = None,  # noqa: A002 - what people call it
        machine: str = "",
        topics: Iterable[str] | None = None,
        shared: bool = False,
    ) -> Card:
        """Log that the agent did something, and return what was stored."""
        asked = wire.LogAsked(
            action=action,
            text=text,
            tags=listed("tags", tags) or (),
            files=(files,) if isinstance(files, str) else listed("files", files) or (),
            task_id=task_id,
            id=id or self._ids.new(),
            machine=machine,
            topics=listed("topics", topics),
            shared=shared,
        )
        return await self._connection.call(wire.LOG, asked, **self._names)

    async def start_task(
        self,
        title: str,
        *,
        text: str = "",
        priority: Priority = "normal",
        tags: Iterable[str] = (),
        parent: str | None = None,
        id: str | None = None,  # noqa: A002 - what people call it
        machine: str = "",
        topics: Iterable[str] | None = None,
        shared: bool = False,
    ) -> Card:
        """Put a task on the board, in the state ``created``, and return it."""
        asked = wire.StartAsked(
            title=title,
            text=text,
            priority=priority,
            tags=listed("tags", tags) or (),
            parent=parent,
            id=id or self._ids.new(),
            machine=machine,
            topics=listed("topics", topics),
            shared=shared,
        )
        return await self._connection.call(wire.START, asked, **self._names)

    async def update_task(
        self,
        task_id: str,
        *,
        status: TaskStatus | None = None,
        note: str | None = None,
        title: str | None = None,
        text: str | None = None,
        priority: Priority | None = None,
        tags: Iterable[str] | None = None,
        id: str | None = None,  # noqa: A002 - what people call it
        machine: str = "",
    ) -> Card:
        """Change a task that the agent sees, and log it in the same step; return it as it is now.

        Raises:
            NotFound: There is no such task that the agent sees.
            Conflict: It cannot become that from the state it is in.
        """
        asked = wire.UpdateAsked(
            task_id=task_id,
            status=status,
            note=note,
            title=title,
            text=text,
            priority=priority,
            tags=listed("tags", tags),
            id=id or self._ids.new(),
            machine=machine,
        )
        return await self._connection.call(wire.UPDATE, asked, **self._names)

    async def finish_task(
        self,
        task_id: str,
        outcome: str | None = None,
        *,
        id: str | None = None,  # noqa: A002 - what people call it
        machine: str = "",
    ) -> Card:
        """Complete a task from any state that is not final."""
        asked = wire.FinishAsked(
            task_id=task_id, outcome=outcome, id=id or self._ids.new(), machine=machine
        )
        return await self._connection.call(wire.FINISH, asked, **self._names)

    async def fail_task(
        self,
        task_id: str,
        reason: str | None = None,
        *,
        id: str | None = None,  # noqa: A002 - what people call it
        machine: str = "",
    ) -> Card:
        """Let a task fail, from any state that is not final."""
        asked = wire.FailAsked(
            task_id=task_id, reason=reason, id=id or self._ids.new(), machine=machine
        )
        return await self._connection.call(wire.FAIL, asked, **self._names)

    async def suspend_tasks(self, limit: int = 10, *, machine: str = "") -> tuple[Card, ...]:
        """Suspend this agent's own tasks that are open, those changed last; return them."""
        asked = wire.SuspendAsked(limit=limit, machine=machine)
        return await self._connection.call(wire.SUSPEND, asked, **self._names)


class RemoteGraphBoard(RemoteBoardReader):
    """The board as the operator of its graph sees it; as ``ezra.graph_board.GraphBoard``."""

    def __init__(self, connection: Connection, names: Mapping[str, str]) -> None:
        super().__init__(connection, wire.GRAPH_READS, names)

    async def latest(
        self,
        kind: CardKind,
        *,
        agent_id: str | None = None,
        types: Sequence[str] = (),
        statuses: Sequence[TaskStatus] = (),
        thread: str | None = None,
        tag: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 100,
        after: str = "",
    ) -> Page[Card]:
        """Return cards of one kind, those changed last first, page by page."""
        asked = wire.LatestAsked(
            kind=kind,
            agent_id=agent_id,
            types=listed("types", types) or (),
            statuses=listed("statuses", statuses) or (),
            thread=thread,
            tag=tag,
            since=since,
            until=until,
            limit=limit,
            after=after,
        )
        return await self._connection.call(wire.GRAPH_LATEST, asked, **self._names)

    async def inbox(
        self,
        agent_id: str,
        *,
        unread: bool = False,
        types: Sequence[str] = (),
        limit: int = 10,
        after: str = "",
    ) -> Page[Card]:
        """Return what an agent finds in its inbox."""
        asked = wire.MemberInboxAsked(
            agent_id=agent_id,
            unread=unread,
            types=listed("types", types) or (),
            limit=limit,
            after=after,
        )
        return await self._connection.call(wire.GRAPH_INBOX, asked, **self._names)

    async def unread(self, agent_ids: Sequence[str] | None = None) -> dict[str, int]:
        """Return how many messages each agent has not read, of those that it sees."""
        asked = wire.UnreadAsked(agent_ids=listed("agent_ids", agent_ids))
        return await self._connection.call(wire.GRAPH_UNREAD, asked, **self._names)

    async def counts(
        self, since: datetime | None = None, until: datetime | None = None
    ) -> tuple[CardCount, ...]:
        """Return how many cards were recorded per day (UTC), kind, state and agent."""
        asked = wire.CountsAsked(since=since, until=until)
        return await self._connection.call(wire.GRAPH_COUNTS, asked, **self._names)
