"""What waits to be written, and the transactions in which it is.

Brief writes that wait together share one transaction, each behind a savepoint of its own: one
commit, and where the disk is waited for, one wait, for all of them. One that is refused takes only
itself back. Nobody gets an answer before the commit, a refusal either: what it was refused for may
be what another of them wrote.
"""

from __future__ import annotations

import sqlite3
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeVar

from ...errors import TierUnavailable
from .translation import translated, translation_of

T = TypeVar("T")

TOGETHER_MAX = 64
TOGETHER_SECONDS = 0.02
"""How many writes share a transaction, and how long it is open to a further one."""


@dataclass(eq=False)
class _Write:
    """One write: what is to be done, and who gets its value or its refusal after the commit."""

    operation: str
    transaction: Callable[[sqlite3.Connection], Any]
    is_brief: bool
    answer: Future[Any] = field(default_factory=Future)
    value: Any = None
    refusal: BaseException | None = None

    def tell(self) -> None:
        """Give the answer."""
        if self.refusal is None:
            self.answer.set_result(self.value)
        else:
            self.answer.set_exception(self.refusal)


class WriteQueue:
    """Writes in the order in which they came. Put in anywhere, worked off on one thread."""

    def __init__(self) -> None:
        self._waiting: deque[_Write] = deque()

    def put(
        self,
        operation: str,
        transaction: Callable[[sqlite3.Connection], T],
        *,
        is_brief: bool = False,
    ) -> Future[T]:
        """Let a write wait for its turn; it is withdrawn by cancelling what is returned."""
        write = _Write(operation, transaction, is_brief)
        self._waiting.append(write)
        return write.answer

    def work_off(self, connection: sqlite3.Connection) -> None:
        """Carry out the write that came first, with brief ones behind it if it is brief itself."""
        done: list[_Write] = []
        refused: list[_Write] = []
        until = time.monotonic() + TOGETHER_SECONDS
        while self._waiting and (not done or self._may_join(done, until)):
            write = self._waiting.popleft()
            if write.answer.set_running_or_notify_cancel():
                _carry_out(connection, write, done, refused)
        if done:
            _commit(connection, [*done, *refused])

    def _may_join(self, done: list[_Write], until: float) -> bool:
        return (
            done[-1].is_brief
            and self._waiting[0].is_brief
            and len(done) < TOGETHER_MAX
            and time.monotonic() < until
        )


def _carry_out(
    connection: sqlite3.Connection, write: _Write, done: list[_Write], refused: list[_Write]
) -> None:
    """Do a write behind those that are done already, or take it back."""
    try:
        with translated(write.operation):
            connection.execute("SAVEPOINT together" if done else "BEGIN IMMEDIATE")
            write.value = write.transaction(connection)
            if done:
                connection.execute("RELEASE together")
    except BaseException as error:  # noqa: BLE001 - it goes to who asked, as from any thread
        write.refusal = error
        _take_back(connection, done, refused)
        if done:
            refused.append(write)
        else:
            write.tell()
    else:
        done.append(write)


def _take_back(connection: sqlite3.Connection, done: list[_Write], refused: list[_Write]) -> None:
    if done and connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK TO together")
            connection.execute("RELEASE together")
            return
    if connection.in_transaction:
        with suppress(sqlite3.Error):
            connection.execute("ROLLBACK")
    # Some failures, a full disk among them, have rolled everything back already.
    for one in (*done, *refused):
        reason = "another write took back the transaction that it shared"
        one.answer.set_exception(TierUnavailable("cold", one.operation, reason))
    done.clear()
    refused.clear()


def _commit(connection: sqlite3.Connection, writes: list[_Write]) -> None:
    try:
        connection.execute("COMMIT")
    except sqlite3.Error as error:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        for one in writes:
            one.answer.set_exception(translation_of(one.operation, error))
    else:
        for one in writes:
            one.tell()
