"""The knowledge graph of a handle on a server."""

from __future__ import annotations

from ..knowledge import Knowledge
from .handle import RemoteHandle


class RemoteKnowledge(RemoteHandle, Knowledge, of=Knowledge):
    """The knowledge graph as one agent, or the operator of a graph, sees it, on a server."""
