"""Sessions: numbered writes that are done once, and transactions that see one point in time.

A transaction keeps its writes to itself until it commits, and sees the store as it was when it
began: MongoDB's snapshot isolation, so a test can meet a lost race, a write conflict and write
skew. For each of its statements what that asks is turned into what it sees, and back again; nothing
waits in between, because a statement inside a transaction never waits. A question of a snapshot
outside of transactions sees the store in the same way.

https://www.mongodb.com/docs/manual/core/transactions-production-consideration/
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Protocol

from .errors import TRANSIENT, Blocked, CommandError
from .store import Collection
from .values import Document, Key

_MAX_SESSIONS = 10_000
_MAX_HISTORY = 5_000
"""So many writes can be looked behind; more as long as a transaction is open."""

Place = tuple[Collection, Key]
Collections = frozenset[Collection]


class Limits(Protocol):
    """The knobs that matter here."""

    transaction_seconds: float
    lock_wait_seconds: float


@dataclass(eq=False)
class Transaction:
    """One transaction of one session.

    Attributes:
        number: Its number in the session.
        snapshot: The version of the store that it sees.
        state: ``open``, ``committed`` or ``aborted``.
        writes: What it wrote: the new document, or ``None`` for a removed one.
        connection: The one that carried its last statement.
        outlives_connection: Its commit is on the way, and may be asked for again.
    """

    number: int
    snapshot: int
    state: str = "open"
    writes: dict[Place, Document | None] = field(default_factory=dict)
    connection: object = None
    outlives_connection: bool = False
    timer: asyncio.TimerHandle | None = None


@dataclass
class Session:
    """What the server remembers of a session: the last number and what became of it."""

    number: int = -1
    answer: asyncio.Future[dict[str, Any]] | None = None
    transaction: Transaction | None = None


class Sessions:
    """All sessions, and the only way in which documents are written."""

    def __init__(self, knobs: Limits) -> None:
        self._knobs = knobs
        self._sessions: OrderedDict[bytes, Session] = OrderedDict()
        self._open: list[Transaction] = []
        self._current: Transaction | None = None
        self._under_view: dict[Place, Document | None] = {}
        self._version = 0
        # What older snapshots must not see yet: each write's version and what was before.
        self._history: deque[tuple[int, Place, Document | None]] = deque()
        self._forgotten = 0
        self._ended = asyncio.Event()

    @property
    def open_count(self) -> int:
        """How many transactions are open."""
        return len(self._open)

    @property
    def is_inside(self) -> bool:
        """Whether the running statement belongs to a transaction."""
        return self._current is not None

    def session(self, session_id: bytes) -> Session:
        """Return a session, known or new."""
        found = self._sessions.setdefault(session_id, Session())
        self._sessions.move_to_end(session_id)
        while len(self._sessions) > _MAX_SESSIONS:
            self._sessions.popitem(last=False)
        return found

    # Transactions.

    def begin(self, session: Session, number: int) -> Transaction:
        """Start the session's next transaction; one before that is open is rolled back."""
        if session.transaction is not None:
            self.end(session.transaction)
        transaction = Transaction(number, self._version)
        session.number, session.transaction, session.answer = number, transaction, None
        loop = asyncio.get_running_loop()
        transaction.timer = loop.call_later(self._knobs.transaction_seconds, self.end, transaction)
        self._open.append(transaction)
        return transaction

    def commit(self, transaction: Transaction) -> None:
        """Make its writes everybody's."""
        writes, transaction.writes = transaction.writes, {}
        self._close(transaction, "committed")
        for place, document in writes.items():
            self._put(place, document)

    def end(self, transaction: Transaction) -> None:
        """Roll a transaction back; nothing happens to one that has ended."""
        if transaction.state == "open":
            transaction.writes = {}
            self._close(transaction, "aborted")

    def _close(self, transaction: Transaction, state: str) -> None:
        transaction.state = state
        if transaction.timer is not None:
            transaction.timer.cancel()
        self._open.remove(transaction)
        self._trim()
        # Wakes everybody who waits now.
        self._ended.set()
        self._ended.clear()

    def end_session(self, session_id: bytes) -> None:
        """Forget a session; an open transaction is rolled back."""
        session = self._sessions.pop(session_id, None)
        if session is not None and session.transaction is not None:
            self.end(session.transaction)

    def end_of_connection(self, connection: object) -> None:
        """Roll back what the connection carried.

        MongoDB keeps such a transaction until its lifetime is over; here nobody has to wait.
        """
        for transaction in tuple(self._open):
            if transaction.connection is connection and not transaction.outlives_connection:
                self.end(transaction)

    def end_all(self) -> None:
        """Roll back everything that is open, as the end of the process does."""
        for transaction in tuple(self._open):
            self.end(transaction)

    def forget(self, dropped: list[Collection]) -> None:
        """Roll back what touches collections that are dropped."""
        for transaction in tuple(self._open):
            if any(target in dropped for target, _ in transaction.writes):
                self.end(transaction)
        self._history = deque(entry for entry in self._history if entry[1][0] not in dropped)

    @contextmanager
    def view(self, transaction: Transaction, asked: Collections) -> Iterator[None]:
        """Turn the collections that are asked into what the transaction sees, for one statement."""
        self._current = transaction
        places = {**self._hidden(transaction), **transaction.writes}
        seen = {place: document for place, document in places.items() if place[0] in asked}
        self._under_view = {place: place[0].get(place[1]) for place in seen}
        try:
            for (target, id_key), document in seen.items():
                target.put(id_key, document)
            yield
        finally:
            self._current = None
            for (target, id_key), document in self._under_view.items():
                target.put(id_key, document)
            self._under_view = {}

    def _hidden(self, transaction: Transaction) -> dict[Place, Document | None]:
        """Return what was there before all that was written since the transaction began."""
        hidden: dict[Place, Document | None] = {}
        for version, place, before in reversed(self._history):
            if version <= transaction.snapshot:
                break
            hidden[place] = before
        return hidden

    @contextmanager
    def moment(self, version: int | None, asked: Collections) -> Iterator[int]:
        """Turn the store into what it was at a version, or is now, for one question.

        Raises:
            CommandError: That was too long ago.
        """
        if version is not None and version < self._forgotten:
            raise CommandError(239, "Read timestamp is older than the oldest available timestamp")
        seen = Transaction(-1, self._version if version is None else version)
        with self.view(seen, asked):
            yield seen.snapshot

    def _trim(self) -> None:
        """Forget the oldest writes, as far as no open transaction looks behind them."""
        oldest = min((one.snapshot for one in self._open), default=self._version)
        while len(self._history) > _MAX_HISTORY and self._history[0][0] <= oldest:
            self._forgotten = self._history.popleft()[0]

    # Writes.

    def insert(self, target: Collection, id_key: Key, document: Document) -> None:
        """Put a document that must not be there yet; raises as ``write`` does."""
        if self._open:
            self._check_conflict(target, id_key, document)
        if target.get(id_key) is not None:
            raise target.duplicate_id(document, id_key)
        self.write(target, id_key, document)

    def write(self, target: Collection, id_key: Key, document: Document | None) -> None:
        """Put or remove one document, for the running transaction or for everybody.

        Raises:
            Blocked: An open transaction holds it; to be waited for.
            CommandError: A duplicate key; or a write conflict, inside a transaction.
        """
        current = self._current
        if self._open:
            self._check_conflict(target, id_key, document)
        if document is not None:
            target.check_unique(id_key, document)
        if current is None:
            self._put((target, id_key), document)
            return
        place = (target, id_key)
        self._under_view.setdefault(place, target.get(id_key))
        current.writes[place] = document
        target.put(id_key, document)

    def _put(self, place: Place, document: Document | None) -> None:
        target, id_key = place
        self._version += 1
        self._history.append((self._version, place, target.get(id_key)))
        self._trim()
        target.create()
        target.put(id_key, document)

    def _check_conflict(self, target: Collection, id_key: Key, document: Document | None) -> None:
        current = self._current
        others: dict[Place, Document | None] = {}
        if current is not None:
            # What was written since the snapshot, as it is under the view.
            others = {
                place: self._under_view[place]
                for place in self._hidden(current)
                if place[0] is target
            }
        for transaction in self._open:
            if transaction is not current:
                others.update(transaction.writes)
        if not any(self._collides(target, id_key, document, other) for other in others.items()):
            return
        if current is None:
            raise Blocked
        raise write_conflict()

    @staticmethod
    def _collides(
        target: Collection,
        id_key: Key,
        document: Document | None,
        other: tuple[Place, Document | None],
    ) -> bool:
        (other_target, other_key), other_document = other
        if other_target is not target:
            return False
        if other_key == id_key:
            return True
        if document is None or other_document is None:
            return False
        return any(
            index.unique and not set(index.keys(document)).isdisjoint(index.keys(other_document))
            for index in target.declared.values()
        )

    async def wait(self, deadline: float) -> None:
        """Wait until any transaction ends; a write conflict when that takes too long."""
        try:
            async with asyncio.timeout_at(deadline):
                await self._ended.wait()
        except TimeoutError:
            raise write_conflict(labels=()) from None

    def deadline(self) -> float:
        """Return until when a write may wait for transactions to end, in the loop's time."""
        return asyncio.get_running_loop().time() + self._knobs.lock_wait_seconds


def write_conflict(labels: tuple[str, ...] = (TRANSIENT,)) -> CommandError:
    """Return the error of a write that lost against another transaction."""
    return CommandError(
        112,
        "Caused by :: Write conflict during plan execution and yielding is disabled. :: "
        "Please retry your operation or multi-document transaction.",
        labels=labels,
    )


def no_such_transaction(number: int, state: str) -> CommandError:
    """Return the error for a statement of a transaction that is not open."""
    return CommandError(
        251,
        f"Given transaction number {number} does not match any in-progress transactions: {state}",
        labels=(TRANSIENT,),
    )
