"""The board of a graph on a server, as an agent and as the operator have it."""

from __future__ import annotations

from ..board import AgentBoard
from ..graph_board import GraphBoard
from .handle import RemoteHandle


class RemoteAgentBoard(RemoteHandle, AgentBoard, of=AgentBoard):
    """The board of its graph as one agent on a server sees it, and as whom it writes there.

    What is written without an id of the caller's gets one here, so that a call whose answer was
    lost may be made again.
    """


class RemoteGraphBoard(RemoteHandle, GraphBoard, of=GraphBoard):
    """The board of a session graph on a server as its operator sees it."""
