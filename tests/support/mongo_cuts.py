"""Making the k-th command of an operation fail, whatever command it is."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from .mongo_server import MongoServer
from .mongo_server.engine import Command
from .mongo_server.faults import Fault

_BY_THE_DRIVER = frozenset(("ping", "endSessions", "killCursors", "abortTransaction"))
"""What the driver sends by itself, when it likes."""


class Cut:
    """Takes the place of a server's failures to come, and counts its commands.

    Attributes:
        happened: Whether the command came, and failed.
        seen: How many commands came until then.
    """

    def __init__(self, number: int, fault: Fault) -> None:
        self._number = number
        self._fault = fault
        self.happened = False
        self.seen = 0

    def take(self, command: Command) -> Fault | None:
        """Return the failure of the command, if it is the one."""
        if command.name in _BY_THE_DRIVER or self.happened:
            return None
        self.seen += 1
        if self.seen < self._number:
            return None
        self.happened = True
        return self._fault


@contextmanager
def cut_at(
    server: MongoServer,
    number: int,
    *,
    code: int | None = None,
    labels: tuple[str, ...] | None = None,
    after: bool = False,
) -> Iterator[Cut]:
    """Let the ``number``-th command in the block fail, counted from 1.

    Args:
        server: Which receives it.
        number: How many commands later.
        code: The error to answer with; without, the connection is cut, and the driver looks for
            the server again for half a second.
        labels: The error's labels; without, those a real server adds by itself.
        after: Whether the command is executed all the same.
    """
    faults = server._faults
    fault = Fault("", code, "injected", labels, after=after, collection=None)
    server._faults = cut = Cut(number, fault)  # type: ignore[assignment]
    try:
        yield cut
    finally:
        server._faults = faults
