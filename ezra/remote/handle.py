"""Handles on a server: the methods of a handle that offer themselves, asked over HTTP.

The last of them ask the server for all they do; documents are read and cut on this side.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import wraps
from typing import Any

from tiers.errors import UsageError

from ..documents import Documents
from ..erasure.taint.handle import Taint
from ..handles.board import AgentBoard
from ..handles.graph_board import GraphBoard
from ..handles.knowledge import Knowledge
from ..handles.quarantine import QuarantineReview
from ..operations import checked_arguments, is_composed, offer_of
from ..wire.derivation import Handle
from ..wire.operation import A, Operation, R
from .connection import Connection


class RemoteHandle:
    """Base of a handle on a server.

    A class that derives from it and from the handle's own class, ``of``, has the methods, types and
    words of the latter, each of which asks the server for what the handle offers. What it does not
    offer, the class does by itself: one that would look for it in a memory on this side cannot be
    made.

    Args:
        connection: To the server.
        handle: Where its operations are.
        names: Of the path: of the graph, of the agent.
    """

    def __init__(self, connection: Connection, handle: Handle, names: Mapping[str, str]) -> None:
        self._connection = connection
        self._of = handle
        self._names = dict(names)

    def __init_subclass__(
        cls,
        *,
        of: type | None = None,
        **more: Any,  # noqa: ANN401 - of other classes
    ) -> None:
        super().__init_subclass__(**more)
        for name in () if of is None else dir(of):
            inherited = inspect.getattr_static(of, name)
            is_ours = inspect.getattr_static(cls, name) is not inherited
            if name.startswith("_") or is_ours or isinstance(inherited, classmethod):
                continue
            if is_composed(inherited):
                continue
            if offer_of(inherited) is None:
                raise TypeError(f"{cls.__name__} does nothing for {name}, which asks no server")
            setattr(cls, name, _asking(inherited))

    async def _ask(self, name: str, given: dict[str, Any]) -> Any:  # noqa: ANN401 - as the method
        """Ask the server for what a method of the handle would do.

        Args:
            name: Of the method.
            given: Its arguments by name.
        """
        offered = self._of.offered[name]
        names = {part: given.pop(name) for name, part in offered.in_path.items()}
        own_id = offered.offer.own_id
        if own_id is not None and given.get(own_id) is None:
            given[own_id] = self._connection.ids.new()
        operation = offered.operation
        return await self.ask(operation, operation.asks.of(**given), **names)

    async def ask(self, operation: Operation[A, R], asked: A, **names: str) -> R:
        """Ask the server for an operation on what this handle is about."""
        return await self._connection.call(operation, asked, **self._names, **names)


def _asking(method: Callable[..., Any]) -> Callable[..., Awaitable[Any]]:
    signature, name = inspect.signature(method), method.__name__
    kinds = {one.kind: one.name for one in signature.parameters.values()}
    more = kinds.get(inspect.Parameter.VAR_KEYWORD, "")

    @wraps(method)
    async def ask(self: RemoteHandle, *args: Any, **named: Any) -> Any:  # noqa: ANN401
        _, *bound = signature.bind(self, *args, **named).arguments.items()
        given = dict(bound)
        given |= given.pop(more, {})
        return await self._ask(name, checked_arguments(method, given))

    return ask


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
            raise UsageError("content", error.value, error.accepted) from error


class RemoteKnowledge(RemoteHandle, Knowledge, of=Knowledge):
    """The knowledge graph as one agent, or the operator of a graph, sees it, on a server."""


class RemoteQuarantine(RemoteHandle, QuarantineReview, of=QuarantineReview):
    """What the write guard of a server has put aside of a graph."""


class RemoteTaint(RemoteHandle, Taint, of=Taint):
    """What came of poisoned records of a graph on a server, and roll-backs."""
