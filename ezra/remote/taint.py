"""What came of records of a graph on a server, and roll-backs."""

from __future__ import annotations

from ..taint.handle import Taint
from .handle import RemoteHandle


class RemoteTaint(RemoteHandle, Taint, of=Taint):
    """What came of records of one graph on a server. Made by ``graph.taint``."""
