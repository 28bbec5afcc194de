"""What waits to be written, and the transactions in which it is.

Brief writes that wait together share one transaction, each behind a savepoint of its own: one
commit, and where the disk is waited for, one wait, for all of them. One that is refused takes only
itself back. Nobody gets an answer before the commit, a refusal either: what it was refused for may
be what another of them wrote.
"""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NamedTuple

from ...errors import TierUnavailable
from .translation import translated, translation_of

TOGETHER_MAX = 64
TOGETHER_SECONDS = 0.02
"""How many writes share a transaction, and how long it is open to a further one."""


@dataclass(eq=False)
class Asked:
    """A question or a write: what is to be done on a connection, and who gets what it comes to."""

    operation: str
    function: Callable[[Any], Any]
    answer: asyncio.Future[Any]
    is_brief: bool = True
    value: Any = None
    refusal: BaseException | None = None

    def tell(self) -> None:
        """Give the answer, on the event loop; who has left gets none."""
        if self.answer.done():
            return
        if self.refusal is None:
            self.answer.set_result(self.value)
        else:
            self.answer.set_exception(self.refusal)


def give_answers(asked: Sequence[Asked]) -> None:
    """Give every answer, on the event loop."""
    for one in asked:
        one.tell()


class _Group(NamedTuple):
    """Writes that share a transaction.

    Attributes:
        done: Carried out, and there for good with the commit.
        refused: Taken back behind what is done; what refused them may go with it.
        over: Refused, whatever the transaction comes to.
    """

    done: list[Asked]
    refused: list[Asked]
    over: list[Asked]


class WriteQueue:
    """Writes in the order in which they came. Put in anywhere, worked off on one thread."""

    def __init__(self) -> None:
        self._waiting: deque[Asked] = deque()

    def put(self, write: Asked) -> None:
        """Let a write wait for its turn; it is withdrawn by cancelling its answer."""
        self._waiting.append(write)

    def work_off(self, connection: sqlite3.Connection) -> Sequence[Asked]:
        """Carry out the write that came first, with brief ones behind it if it is brief itself.

        Returns what has been decided, to be told on the event loop.
        """
        group = _Group([], [], [])
        until = time.monotonic() + TOGETHER_SECONDS
        while self._waiting and (not group.done or self._may_join(group.done, until)):
            write = self._waiting.popleft()
            if not write.answer.cancelled():
                _carry_out(connection, write, group)
        if group.done:
            _commit(connection, [*group.done, *group.refused])
        return [*group.over, *group.done, *group.refused]

    def _may_join(self, done: list[Asked], until: float) -> bool:
        return (
            done[-1].is_brief
            and self._waiting[0].is_brief
            and len(done) < TOGETHER_MAX
            and time.monotonic() < until
        )


def _carry_out(connection: sqlite3.Connection, write: Asked, group: _Group) -> None:
    """Do a write behind those that are done already, or take it back."""
    try:
        with translated(write.operation):
            connection.execute("SAVEPOINT together" if group.done else "BEGIN IMMEDIATE")
            write.value = write.function(connection)
            if group.done:
                connection.execute("RELEASE together")
    except BaseException as error:  # noqa: BLE001 - it goes to who asked, as from any thread
        write.refusal = error
        _take_back(connection, group)
        (group.refused if group.done else group.over).append(write)
    else:
        group.done.append(write)


def _take_back(connection: sqlite3.Connection, group: _Group) -> None:
    if group.done and connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK TO together")
            connection.execute("RELEASE together")
            return
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
    # Some failures, a full disk among them, have rolled everything back already.
    for one in (*group.done, *group.refused):
        reason = "another write took back the transaction that it shared"
        one.refusal = TierUnavailable("cold", one.operation, reason)
        group.over.append(one)
    group.done.clear()
    group.refused.clear()


def _commit(connection: sqlite3.Connection, writes: list[Asked]) -> None:
    try:
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        for one in writes:
            one.refusal = translation_of(one.operation, error)
