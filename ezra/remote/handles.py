"""Handles on a server that ask it for all they do; documents are read and cut on this side."""

from __future__ import annotations

from typing import Any

from tiers.errors import UsageError

from ..documents import Documents
from ..erasure.taint.handle import Taint
from ..handles.board import AgentBoard
from ..handles.graph_board import GraphBoard
from ..handles.knowledge import Knowledge
from ..handles.quarantine import QuarantineReview
from .handle import RemoteHandle


class RemoteAgentBoard(RemoteHandle, AgentBoard, of=AgentBoard):
    """The board of its graph as one agent on a server sees it, and as whom it writes there.

    What is written without an id of the caller's gets one here, so that a call whose answer was
    lost may be made again.
    """


class RemoteGraphBoard(RemoteHandle, GraphBoard, of=GraphBoard):
    """The board of a session graph on a server as its operator sees it."""


class RemoteDocuments(RemoteHandle, Documents, of=Documents):
    """Documents as one agent, the operator of a graph or a catalog sees them, on a server.

    What ``put`` is given is read here, and its text is sent: what the server takes at once is its
    setting ``EZRA_SERVE_BODY_BYTES_MAX``.
    """

    async def _ask(self, name: str, given: dict[str, Any]) -> Any:  # noqa: ANN401 - as the method
        try:
            return await super()._ask(name, given)
        except UsageError as error:
            if error.field != "body":
                raise
            accepted = f"{error.accepted}, as the server's EZRA_SERVE_BODY_BYTES_MAX says"
            raise UsageError("content", error.value, accepted) from error


class RemoteKnowledge(RemoteHandle, Knowledge, of=Knowledge):
    """The knowledge graph as one agent, or the operator of a graph, sees it, on a server."""


class RemoteQuarantine(RemoteHandle, QuarantineReview, of=QuarantineReview):
    """What the write guard of a server has put aside of a graph."""


class RemoteTaint(RemoteHandle, Taint, of=Taint):
    """What came of poisoned records of a graph on a server, and roll-backs."""
