"""Live data for an agent's handle: which sources it may ask, and asking one without a turn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from tiers.records import AgentRecord, MeshResult, Scope, Standing, Text

from ..mesh import SourceAbout, ask_of
from ..mesh.ask import Slots
from ..operations import Sent, operation
from ..parts import Parts
from ..turn.fetch import Asker


class AsksMesh(ABC):
    """The part of an agent's handle that asks live sources."""

    _parts: Parts
    _record: AgentRecord
    _standing: Standing

    @operation("GET", "/mesh")
    async def mesh_sources(self) -> tuple[SourceAbout, ...]:
        """Return the live sources that the agent may ask, with what they may be asked.

        Raises:
            UsageError: The agent has left.
        """
        await self._scope()
        return self._parts.fetcher.open_to(self._record)

    @operation("POST", "/mesh", changes=True, repeats=False)
    async def ask_mesh(
        self,
        source: str,
        question: str | None = None,
        slots: Annotated[Mapping[str, Any], Sent(Slots)] | None = None,
        as_of: datetime | None = None,
        *,
        message: Text | None = None,
    ) -> MeshResult:
        """Ask a live source now, and keep the answer for the agent's next context.

        Args:
            source: Its name.
            question: One of its questions; the message chooses one if not given.
            slots: What the question is asked about, by slot.
            as_of: A moment of the past, for a question that knows it.
            message: What was said, where no question is named.

        Raises:
            PolicyDenied: The source is not open to the agent; it was not asked.
            NotFound: There is no such source.
            UsageError: A slot is not acceptable, the message asks none of the questions, the past
                is asked of a question that does not know it, or the agent has left.
            TierError: The source failed, or the audit feed is away.
        """
        fields = {"source": source, "question": question, "as_of": as_of}
        ask = ask_of({**fields, "slots": {} if slots is None else slots})
        scope = await self._scope()
        asker = Asker(self._record, scope, self._standing)
        return await self._parts.fetcher.ask(asker, ask, message or "")

    @abstractmethod
    async def _scope(self) -> Scope:
        """Return the agent's scope as it stands now."""
