"""Handles on a server that ask it for all they do, and nothing of their own."""

from __future__ import annotations

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


class RemoteKnowledge(RemoteHandle, Knowledge, of=Knowledge):
    """The knowledge graph as one agent, or the operator of a graph, sees it, on a server."""


class RemoteQuarantine(RemoteHandle, QuarantineReview, of=QuarantineReview):
    """What the write guard of a server has put aside of a graph."""


class RemoteTaint(RemoteHandle, Taint, of=Taint):
    """What came of poisoned records of a graph on a server, and roll-backs."""
