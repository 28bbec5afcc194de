"""What the write guard of a server has put aside."""

from __future__ import annotations

from tiers.quarantine import HELD_PAGE_MAX, Quarantined

from ..wire import quarantine as wire
from .connection import Connection


class RemoteQuarantine:
    """The texts that a session graph has put aside; as ``ezra.quarantine.QuarantineReview``.

    Args:
        connection: To the server.
        graph_id: The graph.
    """

    def __init__(self, connection: Connection, graph_id: str) -> None:
        self._connection = connection
        self._graph_id = graph_id

    async def list(self, *, after: str = "", limit: int = HELD_PAGE_MAX) -> tuple[Quarantined, ...]:
        """Return the texts that wait for a decision, the oldest first."""
        asked = wire.QuarantineAsked(after=after, limit=limit)
        return await self._connection.call(wire.LIST, asked, graph_id=self._graph_id)

    async def release(self, text_id: str, *, reason: str) -> str:
        """Store a text after all, as its writer meant it; return the id of what it became."""
        asked, names = wire.DecisionAsked(reason=reason), self._names(text_id)
        return await self._connection.call(wire.RELEASE, asked, **names)

    async def discard(self, text_id: str, *, reason: str) -> bool:
        """Throw a text away; ``False`` when it was decided about before."""
        asked, names = wire.DecisionAsked(reason=reason), self._names(text_id)
        return await self._connection.call(wire.DISCARD, asked, **names)

    def _names(self, text_id: str) -> dict[str, str]:
        return {"graph_id": self._graph_id, "text_id": text_id}
