"""What came of records of a graph on a server: the methods of ``Taint``, asked over HTTP."""

from __future__ import annotations

from tiers.taint import RollBack

from ..taint.rolling_back import RollBackReport
from ..taint.tracing import Trace
from ..wire import Nothing
from ..wire import taint as wire
from .connection import Connection


class RemoteTaint:
    """What came of records of one graph on a server, and roll-backs. Made by ``graph.taint``.

    Every method does what the one of the same name does in ``ezra.taint.handle.Taint``.

    Args:
        connection: To the server.
        graph_id: Of which graph.
    """

    def __init__(self, connection: Connection, graph_id: str) -> None:
        self._connection = connection
        self._graph_id = graph_id

    async def trace(self, record_id: str, *, limit: int = 200, after: int = 0) -> Trace:
        """Return what came of a record: the tree, page by page, and what it rests on.

        Raises:
            NotFound: It is no such record of the graph.
            UsageError: A number is out of range.
        """
        asked = wire.TraceAsked(limit=limit, after=after)
        names = {"graph_id": self._graph_id, "record_id": record_id}
        return await self._connection.call(wire.TRACE, asked, **names)

    async def roll_back(
        self, record_id: str, *, reason: str, dry_run: bool = False, exposed: bool = False
    ) -> RollBackReport:
        """Take back everything that is derived from a record, until that is confirmed or undone.

        Args:
            record_id: As of ``trace``.
            reason: Why; must not be blank.
            dry_run: Only say what would be done.
            exposed: Roll back what was only exposed as well.

        Raises:
            NotFound: It is no such record of the graph.
            UsageError: The reason is blank, or too much came of it.
            Conflict: Neither it nor anything that came of it has its content.
        """
        asked = wire.RollBackAsked(
            record_id=record_id, reason=reason, dry_run=dry_run, exposed=exposed
        )
        return await self._connection.call(wire.ROLL_BACK, asked, graph_id=self._graph_id)

    async def undo(self, roll_back_id: str, *, reason: str) -> RollBackReport:
        """Bring back what an open roll-back took.

        Raises:
            NotFound: The graph has no such roll-back.
            Conflict: It was confirmed.
            UsageError: The reason is blank.
        """
        names = {"graph_id": self._graph_id, "roll_back_id": roll_back_id}
        return await self._connection.call(wire.UNDO, wire.EndAsked(reason=reason), **names)

    async def confirm(self, roll_back_id: str, *, reason: str) -> RollBackReport:
        """Make a roll-back final: the content that it keeps is destroyed.

        Raises:
            NotFound: The graph has no such roll-back.
            Conflict: It was undone.
            UsageError: The reason is blank.
        """
        names = {"graph_id": self._graph_id, "roll_back_id": roll_back_id}
        return await self._connection.call(wire.CONFIRM, wire.EndAsked(reason=reason), **names)

    async def roll_backs(self) -> tuple[RollBack, ...]:
        """Return the roll-backs of the graph's records, the latest first."""
        return await self._connection.call(wire.LIST, Nothing(), graph_id=self._graph_id)
