"""Failures that a test has asked for."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass

from .engine import Command


@dataclass(frozen=True)
class Fault:
    """What happens to one command.

    Attributes:
        command_name: Which command.
        code: The error to answer with, or ``None`` to cut the connection.
        message: The error's text.
        labels: The error's labels; ``None`` for those that a server adds by itself.
        after: Whether the command is executed before.
        collection: Only commands on this collection.
    """

    command_name: str
    code: int | None
    message: str
    labels: tuple[str, ...] | None
    after: bool
    collection: str | None

    def meets(self, command: Command) -> bool:
        """Whether the command is one that is to fail."""
        if command.name != self.command_name:
            return False
        return self.collection in {None, command.body[command.name]}


class Faults:
    """The failures to come, in the order asked for."""

    def __init__(self) -> None:
        self._coming: deque[Fault] = deque()

    def add(self, fault: Fault, times: int) -> None:
        """Ask for a failure, ``times`` times."""
        self._coming.extend([fault] * times)

    def take(self, command: Command) -> Fault | None:
        """Return the failure that the command meets, and forget it."""
        found = next((fault for fault in self._coming if fault.meets(command)), None)
        if found is not None:
            self._coming.remove(found)
        return found

    def clear(self) -> None:
        """Forget all failures to come."""
        self._coming.clear()
