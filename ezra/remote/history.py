"""The history of a graph's beliefs on a server: the methods of ``History``, asked over HTTP."""

from __future__ import annotations

import asyncio
from pathlib import Path

from ..beliefs.history import History
from ..beliefs.proofs import Exported
from ..wire import handles
from ..wire.proofs import EXPORT
from .connection import Connection
from .handle import RemoteHandle
from .saving import SavedFile


class RemoteHistory(RemoteHandle, History, of=History):
    """The belief history of one graph on a server. Made by ``graph.beliefs``.

    ``verify`` lets the server check its own log: who does not trust it verifies an export instead.

    Args:
        connection: To the server.
        graph_id: Of which graph.
    """

    def __init__(self, connection: Connection, graph_id: str) -> None:
        super().__init__(connection, handles.BELIEFS, {"graph_id": graph_id})

    async def export(self, path: Path | str) -> Exported:
        """Write the whole log into one file on this side that anybody can verify.

        It is there when all of it is. It has every content that was not destroyed.

        Raises:
            UsageError: The file cannot be written.
        """
        chosen = Path(path)
        saved = SavedFile(chosen)

        async def take(chunk: bytes) -> None:
            await asyncio.to_thread(saved.write, chunk)

        try:
            await asyncio.to_thread(saved.open)
            done = await self._connection.download(EXPORT, take, **self._names)
            await asyncio.to_thread(saved.finish)
        finally:
            await asyncio.to_thread(saved.close)
        return Exported(chosen, **done.model_dump())
