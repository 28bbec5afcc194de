"""Live data for the handle of an agent on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from datetime import datetime
from typing import Any, TypeVar

from tiers.records import MeshResult

from ..mesh import SourceAbout
from ..wire import Asked, Nothing, Operation
from ..wire.mesh import AGENT_SOURCES, ASK_MESH, AskMeshAsked

_A = TypeVar("_A", bound=Asked)
_R = TypeVar("_R")


class RemoteAsksMesh(ABC):
    """The part of an agent's handle that asks live sources; as ``ezra.mesh_asking.AsksMesh``."""

    async def mesh_sources(self) -> tuple[SourceAbout, ...]:
        """Return the live sources that the agent may ask, with what they may be asked."""
        return await self.ask(AGENT_SOURCES, Nothing())

    async def ask_mesh(
        self,
        source: str,
        question: str | None = None,
        slots: Mapping[str, Any] | None = None,
        as_of: datetime | None = None,
        *,
        message: str | None = None,
    ) -> MeshResult:
        """Ask a live source now, and keep the answer for the agent's next context."""
        given = {"source": source, "question": question, "as_of": as_of, "message": message}
        slotted = {} if slots is None else {"slots": dict(slots)}
        return await self.ask(ASK_MESH, AskMeshAsked.model_validate({**given, **slotted}))

    @abstractmethod
    async def ask(self, operation: Operation[_A, _R], asked: _A, **names: str) -> _R:
        """Ask the server for something that this agent does."""
