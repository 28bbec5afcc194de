"""The handle of a session graph on a server."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from tiers.errors import UsageError
from tiers.records import Turn
from tiers.saved_file import SavedFile

from ..beliefs.difference import BeliefDiff
from ..beliefs.history import History
from ..beliefs.proofs import Exported
from ..handles.graph import Graph
from ..operations import checks_arguments
from ..wire import graphs, handles
from ..wire.graphs import AgentAnswer, GraphAnswer, RevokedAnswer
from ..wire.handles import EXPORT
from .agent import RemoteAgent
from .connection import Connection
from .handle import (
    RemoteDocuments,
    RemoteGraphBoard,
    RemoteHandle,
    RemoteKnowledge,
    RemoteQuarantine,
    RemoteTaint,
)


class RemoteGraph(RemoteHandle, Graph, of=Graph):
    """N agents that work together, and what they remember, on a server."""

    def __init__(self, connection: Connection, shown: GraphAnswer) -> None:
        super().__init__(connection, handles.GRAPH, {"graph_id": shown.id})
        self._shown = shown

    @property
    def id(self) -> str:
        """The graph's id."""
        return self._shown.id

    @property
    def url(self) -> str:
        """The server's address."""
        return self._connection.url

    @property
    def inherits_from(self) -> tuple[str, ...]:
        """The graphs it inherits from directly, in order, as this handle last saw them."""
        return self._shown.inherits_from

    @property
    def knowledge(self) -> RemoteKnowledge:
        """The knowledge graph over the facts of every agent, as the graph's operator sees it."""
        return RemoteKnowledge(self._connection, handles.GRAPH_KNOWLEDGE, self._names)

    @property
    def documents(self) -> RemoteDocuments:
        """The documents of the graph, as its operator sees them, to read and to change."""
        return RemoteDocuments(self._connection, handles.GRAPH_DOCUMENTS, self._names)

    @property
    def board(self) -> RemoteGraphBoard:
        """The graph's board as its operator sees it: messages, tasks, and what agents did."""
        return RemoteGraphBoard(self._connection, handles.GRAPH_BOARD, self._names)

    @property
    def beliefs(self) -> RemoteHistory:
        """The history of the graph's beliefs: what was believed when, by whom, and proof."""
        return RemoteHistory(self._connection, self.id)

    @property
    def taint(self) -> RemoteTaint:
        """What came of a poisoned record of the graph, and rolling that back."""
        return RemoteTaint(self._connection, handles.GRAPH_TAINT, self._names)

    @property
    def quarantine(self) -> RemoteQuarantine:
        """What the write guard has put aside: to look at, release or discard."""
        return RemoteQuarantine(self._connection, handles.GRAPH_QUARANTINE, self._names)

    async def _ask(self, name: str, given: dict[str, Any]) -> Any:  # noqa: ANN401 - as the method
        answer = await super()._ask(name, given)
        if isinstance(answer, AgentAnswer):
            return RemoteAgent(self._connection, self.id, answer)
        if isinstance(answer, RevokedAnswer):
            self._shown = GraphAnswer(id=self.id, inherits_from=answer.inherits_from)
            return answer.revoked
        if not isinstance(answer, GraphAnswer):
            return answer
        if answer.id != self.id:
            return RemoteGraph(self._connection, answer)
        self._shown = answer
        return None

    async def diff(self, other: Graph) -> BeliefDiff:
        """Return how what ``other`` believes now differs from what this graph believes now.

        Raises:
            UsageError: ``other`` is not on this server.
        """
        if not isinstance(other, RemoteGraph) or other.url != self.url:
            raise UsageError("other", getattr(other, "id", other), "a graph of the same server")
        return await self.ask(graphs.DIFF, graphs.DiffAsked(other_id=other.id))

    async def _turns_following(self, graph_id: str, after: int, limit: int) -> AsyncIterator[Turn]:
        """Read each turn of the other graph from its history when its step begins."""
        other = RemoteHistory(self._connection, graph_id)
        for number in range(after + 1, after + 1 + limit):
            turn = (await other.replay(number)).turn
            if turn is None:
                break
            yield turn


class RemoteHistory(RemoteHandle, History, of=History):
    """The belief history of one graph on a server. Made by ``graph.beliefs``.

    ``verify`` lets the server check its own log: who does not trust it verifies an export instead.

    Args:
        connection: To the server.
        graph_id: Of which graph.
    """

    def __init__(self, connection: Connection, graph_id: str) -> None:
        super().__init__(connection, handles.BELIEFS, {"graph_id": graph_id})

    @checks_arguments()
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
