"""What a graph on a server holds, read out row by row."""

from __future__ import annotations

from tiers.upkeep import Table

from ..carrying import ROWS_PER_CALL, CarriedRows
from ..wire.carrying import EXPORT_ROWS, ExportRowsAsked
from .connection import Connection


class RemoteRows:
    """The part of a graph's handle that reads out everything it holds, as ``Graph`` has it."""

    _connection: Connection
    _graph_id: str

    async def export_rows(
        self, table: Table, after: str = "", limit: int = ROWS_PER_CALL
    ) -> CarriedRows:
        """Return everything that a table holds of the graph; as ``Graph.export_rows``.

        Raises:
            UsageError: An argument is not acceptable.
        """
        asked = ExportRowsAsked(table=table, after=after, limit=limit)
        return await self._connection.call(EXPORT_ROWS, asked, graph_id=self._graph_id)
