"""One SQLite file, one writer thread, a few readers.

A transaction is one plain function that runs on the writer's thread between ``BEGIN`` and
``COMMIT``. There is no ``await`` inside it, so cancelling the task that asked for it can only
come before it begins or after it is decided: no half transaction exists. One thread hop
instead of one per statement also makes it three to four times faster.

Questions that are asked in one round of the event loop share a snapshot and a trip to a reader's
thread: what a turn asks side by side costs one trip. One that fails fails alone.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Literal, Self, TypeAlias, TypeVar

from ...concurrency import check_loop, to_the_end
from ...errors import ConfigError, DiskFull, TierTimeout, TierUnavailable
from ...paging import parts
from .file_size import has_no_room
from .threads import Threads
from .translation import translated
from .writing import Asked, WriteQueue, give_answers

TOGETHER_MAX = 16
"""So many questions share a snapshot; more would keep the first waiting for the last."""


def answered(connection: sqlite3.Connection, questions: Sequence[Asked]) -> None:
    """Answer questions from one snapshot, on a reader's thread; whoever has left is passed over."""
    try:
        with translated(questions[0].operation):
            connection.execute("BEGIN")
    except BaseException as error:  # noqa: BLE001 - it goes to who asked, as from any thread
        for one in questions:
            one.refusal = error
        return
    try:
        for one in questions:
            if not one.answer.cancelled():
                _answer(connection, one)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _give_from_thread(loop: asyncio.AbstractEventLoop, asked: Sequence[Asked]) -> None:
    """Give answers from a thread; of a loop that is closed nobody waits for them."""
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(give_answers, asked)


def _answer(connection: sqlite3.Connection | None, question: Asked) -> None:
    try:
        with translated(question.operation):
            question.value = question.function(connection)
    except BaseException as error:  # noqa: BLE001 - as above
        question.refusal = error


Synchronous: TypeAlias = Literal["NORMAL", "FULL"]
T = TypeVar("T")

SQLITE_VERSION_MIN = (3, 38, 0)
"""First with the operator ``->>``; STRICT tables came with 3.37."""

READERS = 2
WAITING_MAX = 256
"""Operations that run or wait; who comes after waits for room."""

BUSY_TIMEOUT_MS = 5_000
CACHE_KIB = 16_384
BUILT_IN_MEMORY_BYTES = 64 * 2**20
"""A file as large is built anew in memory; a larger one by way of the disk."""

WAL_BYTES_MAX = 64 * 1024 * 1024
WAL_PAGES = 4_000
"""So many pages of 4 KiB wait in the write-ahead log before they are written into the file.

A commit touches dozens, mostly the same as the one before: those are then written back once instead
of, with SQLite's own 1,000, again and again.
"""


class Database:
    """A SQLite file for the length of an ``async with`` block.

    Args:
        path: The file; made when new.
        prepare: Makes the tables of a new file, and checks those of any other.
        synchronous: ``NORMAL`` survives a killed process, ``FULL`` a power cut as well.
    """

    def __init__(
        self,
        path: Path,
        prepare: Callable[[sqlite3.Connection], object],
        *,
        synchronous: Synchronous = "NORMAL",
    ) -> None:
        self._path = path
        self._prepare = prepare
        self._synchronous = synchronous
        self._room = asyncio.Semaphore(WAITING_MAX)
        self._writing = Threads(1, "ezra-cold-write")
        self._reading = Threads(READERS, "ezra-cold-read")
        self._writer: sqlite3.Connection | None = None
        self._writes: WriteQueue = WriteQueue()
        self._readers: SimpleQueue[sqlite3.Connection] = SimpleQueue()
        self._asked: list[Asked] = []
        self._state: Literal["new", "open", "closed"] = "new"
        self._loop: asyncio.AbstractEventLoop | None = None

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Open the file and make its tables when it is new. Opening an open database does nothing.

        Raises:
            ConfigError: The file has another version, or is not ezra's.
            DiskFull: There is no room to open it, not even for reading.
            TierError: The file cannot be opened or is damaged.
        """
        if self._state == "open":
            return
        if self._state == "closed":
            raise TierUnavailable("cold", "open", "the database is closed")
        self._writing.start()
        self._reading.start()
        try:
            await self._on_writer("open", self._open)
        except BaseException as error:
            await self.close()
            if isinstance(error, TierUnavailable) and has_no_room(self._path.parent):
                raise DiskFull("cold", "open", str(error.__cause__)) from error
            raise
        self._state, self._loop = "open", asyncio.get_running_loop()

    async def close(self) -> None:
        """Finish what was begun, write the log back into the file and close it.

        May be repeated. A cancelled close still closes before the cancellation goes on.
        """
        if self._state == "closed":
            return
        was_open, self._state = self._state == "open", "closed"
        await to_the_end(asyncio.to_thread(self._close, write_back=was_open))

    async def write(
        self,
        operation: str,
        transaction: Callable[[sqlite3.Connection], T],
        *,
        is_brief: bool = False,
    ) -> T:
        """Run ``transaction`` between ``BEGIN IMMEDIATE`` and ``COMMIT``; all of it, or nothing.

        Brief ones that wait together are committed together. One that takes its time would keep
        those before it waiting for their answers.

        Raises:
            TierTimeout: Another process kept the file locked.
            TierUnavailable: Closed, or the disk is full or failing.
            TierRejected: The engine refused; whatever ``transaction`` itself raises goes through.
        """
        async with self._room:
            self._check_open(operation)
            loop = asyncio.get_running_loop()
            write = Asked(operation, transaction, loop.create_future(), is_brief)
            self._writes.put(write)
            # One for each write: what shares another's transaction leaves nothing to be done.
            self._writing.submit(self._work_off, loop)
            answer: T = await write.answer
            return answer

    async def read(self, operation: str, question: Callable[[sqlite3.Connection], T]) -> T:
        """Run ``question`` on one consistent state of the database; it cannot change anything.

        Questions that are asked in the same round of the event loop share that state, and a trip.
        """
        async with self._room:
            self._check_open(operation)
            loop = asyncio.get_running_loop()
            asked = Asked(operation, question, loop.create_future())
            if not self._asked:
                loop.call_soon(self._ask, loop)
            self._asked.append(asked)
            answer: T = await asked.answer
            return answer

    async def write_back(self, *, anew: bool = False) -> None:
        """Bring everything into the file and leave nothing in its write-ahead log.

        A checkpoint alone leaves pages as they were before a change in the log until later ones
        are written over them: what was redacted could be read there for as long. May be repeated.

        Args:
            anew: Build the file anew first, so that there is nothing between its rows. Other
                writes wait for as long, some seconds a gigabyte; readers go on.

        Raises:
            TierTimeout: Somebody was reading an older state all the time.
            TierError: There is no room for a second file, or somebody else was writing.
        """
        async with self._room:
            self._check_open("write back")
            if anew:
                await self._on_writer("write back", self._built_anew)
            is_empty = await self._on_writer("write back", self._emptied)
        if not is_empty:
            raise TierTimeout("cold", "write back", "old pages are in use; repeating removes them")

    def _built_anew(self) -> None:
        """Build the file anew, on the writer's thread; a large one by way of the disk."""
        if self._writer is None:
            return
        is_small = self._path.stat().st_size <= BUILT_IN_MEMORY_BYTES
        self._writer.execute(f"PRAGMA temp_store = {'MEMORY' if is_small else 'FILE'}")
        try:
            self._writer.execute("VACUUM")
        finally:
            self._writer.execute("PRAGMA temp_store = MEMORY")

    def _emptied(self) -> bool:
        """Empty the write-ahead log, on the writer's thread, where no transaction is open then."""
        if self._writer is None:
            return True
        return not self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()["busy"]

    async def _on_writer(self, operation: str, function: Callable[[], T]) -> T:
        """Return what a function returns on the writer's thread, between two transactions."""
        loop = asyncio.get_running_loop()
        asked = Asked(operation, lambda _: function(), loop.create_future())
        self._writing.submit(self._carry_out, asked, loop)
        answer: T = await asked.answer
        return answer

    def _carry_out(self, asked: Asked, loop: asyncio.AbstractEventLoop) -> None:
        _answer(self._writer, asked)
        _give_from_thread(loop, (asked,))

    def _check_open(self, operation: str) -> None:
        check_loop(self._loop)
        if self._state != "open":
            raise TierUnavailable("cold", operation, "the store is closed")

    def _work_off(self, loop: asyncio.AbstractEventLoop) -> None:
        decided = () if self._writer is None else self._writes.work_off(self._writer)
        if decided:
            _give_from_thread(loop, decided)

    def _ask(self, loop: asyncio.AbstractEventLoop) -> None:
        """Hand what was asked in this round to readers."""
        asked, self._asked = self._asked, []
        if self._state != "open":
            for one in asked:
                one.refusal = TierUnavailable("cold", one.operation, "the store is closed")
            give_answers(asked)
            return
        for some in parts(asked, TOGETHER_MAX):
            self._reading.submit(self._answer, some, loop)

    def _answer(self, asked: Sequence[Asked], loop: asyncio.AbstractEventLoop) -> None:
        connection = self._readers.get_nowait()  # as many connections as threads: never empty
        try:
            answered(connection, asked)
        finally:
            self._readers.put(connection)
            _give_from_thread(loop, asked)

    def _open(self) -> None:
        if sqlite3.sqlite_version_info < SQLITE_VERSION_MIN:
            needed = ".".join(map(str, SQLITE_VERSION_MIN))
            reason = f"Python was built with SQLite {sqlite3.sqlite_version}, {needed} is needed"
            raise ConfigError("sqlite", reason)
        self._writer = self._connect()
        if self._writer.execute("PRAGMA journal_mode = WAL").fetchone()[0] != "wal":
            reason = f"the file system of {self._path} does not support a write-ahead log"
            raise ConfigError("EZRA_HOME", reason)
        self._writer.execute(f"PRAGMA journal_size_limit = {WAL_BYTES_MAX}")
        self._writer.execute(f"PRAGMA wal_autocheckpoint = {WAL_PAGES}")
        self._prepare(self._writer)
        for _ in range(READERS):
            reader = self._connect()
            self._readers.put(reader)
            reader.execute("PRAGMA query_only = ON")

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(
            self._path,
            timeout=BUSY_TIMEOUT_MS / 1000,
            isolation_level=None,  # BEGIN and COMMIT are ours
            check_same_thread=False,  # opened on one thread, used by one other at a time
            cached_statements=256,
        )
        try:
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA foreign_keys = ON")
            connection.execute("PRAGMA recursive_triggers = ON")
            connection.execute(f"PRAGMA synchronous = {self._synchronous}")
            connection.execute(f"PRAGMA cache_size = -{CACHE_KIB}")
            connection.execute("PRAGMA temp_store = MEMORY")
            # What is redacted is overwritten, not only given free.
            connection.execute("PRAGMA secure_delete = ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _close(self, *, write_back: bool) -> None:
        self._writing.stop()
        self._reading.stop()
        while not self._readers.empty():
            self._readers.get().close()
        writer, self._writer = self._writer, None
        if writer is None:
            return
        try:
            if write_back:
                # On a full disk the log keeps what it has until the next opening.
                with suppress(DiskFull), translated("close"):
                    writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            writer.close()
