"""One MongoDB database: readings from one moment, and steps that are all or nothing.

A *step* is one transaction. A server without transactions is refused when the database is opened.

What is sent, all of it: ``hello``, ``buildInfo`` and ``listCollections`` when the database is
opened, with one ``find`` and the list of search indexes; on opening a new one ``create``,
``collMod``, ``createIndexes`` and one ``update``; on collections ``find``, ``aggregate``,
``getMore``, ``insert``, ``update`` and ``delete``; ``commitTransaction`` and ``abortTransaction``;
the search index commands of ``search_index``; for ``ezra doctor`` ``ping``, ``listIndexes``, and an
``update`` and a ``delete`` of a document of its own; and what the driver does by itself, ``ping``,
``endSessions`` and ``killCursors``. Tests hold the code to this list.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager, nullcontext
from typing import Any, Literal, NamedTuple, Self, TypeVar
from weakref import WeakValueDictionary

from pymongo.errors import InvalidName, OperationFailure, PyMongoError

from ...concurrency import check_loop, to_the_end
from ...errors import ConfigError, EzraError, TierRejected, TierTimeout, TierUnavailable
from .driver import Client, cancellable, in_transaction, limited, snapshot
from .translation import translated

T = TypeVar("T")

_TRANSIENT = "TransientTransactionError"
_SNAPSHOT_GONE = frozenset((239, 246))
"""SnapshotTooOld, and SnapshotUnavailable: a collection or an index was made at this moment."""

_NO_SUCH_OPTION = 72
"""InvalidOptions: a command that takes no read concern was sent with one."""

SNAPSHOTS_MAX = 5
"""Tries of a reading whose moment the server cannot show; the next is of a later one."""

SNAPSHOT_PAUSE_SECONDS = 0.05

SERVER_VERSION_MIN = (6, 0)
TIMEOUT_SECONDS = 10.0
LONG_SECONDS = 60.0
"""What work may take that is not brief: as long as a server lets a transaction live by itself.
https://www.mongodb.com/docs/manual/core/transactions-production-consideration/#runtime-limit"""

CLOSING_SECONDS = 2.0
"""How much longer than an operation may take closing waits: drivers count time in half seconds."""

WAITING_MAX = 256
"""Operations that run at once; who comes after waits for room, as long as for an answer."""


class Server(NamedTuple):
    """What a server said about itself when it was first asked.

    Attributes:
        version: Its release.
        kind: ``replica set`` or ``sharded cluster``.
    """

    version: tuple[int, ...]
    kind: Literal["replica set", "sharded cluster"]


class Session(NamedTuple):
    """What a step or a reading works with: the collections, in its transaction or snapshot.

    Attributes:
        raw: The driver's database.
        transaction: The driver's session of the transaction or snapshot, if there is one.
        seconds: The most that a command may take; as long as all of them, if it is not given.
        is_atomic: Whether everything done here is kept or undone together by the server.
    """

    raw: Any
    transaction: Any = None
    seconds: float | None = None
    is_atomic: bool = False

    def limited(self) -> AbstractContextManager[object]:
        """Let the commands of the block take no longer than one may."""
        return nullcontext() if self.seconds is None else limited(self.seconds)


class Database:
    """A MongoDB database for the length of an ``async with`` block.

    Args:
        client: A connected client; who made it closes it.
        name: The database's name.
        prepare: Makes collections and indexes when the database is opened.
        timeout_seconds: The most that an operation may take, and before it the most that it may
            wait for its turn; of one that is not brief the most that a command may take.

    Raises:
        ConfigError: The name cannot be a database's.
    """

    def __init__(
        self,
        client: Client,
        name: str,
        prepare: Callable[[Any], Awaitable[None]],
        *,
        timeout_seconds: float = TIMEOUT_SECONDS,
    ) -> None:
        self._client = client
        try:
            self.raw = client[name]
        except InvalidName as error:
            raise ConfigError("EZRA_MONGODB_DATABASE", str(error)) from error
        self._prepare = prepare
        self._timeout_seconds = timeout_seconds
        self._room = asyncio.Semaphore(WAITING_MAX)
        self._turns: WeakValueDictionary[tuple[str, ...], asyncio.Lock] = WeakValueDictionary()
        self._changing: dict[asyncio.Task[Any], float] = {}
        self._state: Literal["new", "open", "closed"] = "new"
        self._loop: asyncio.AbstractEventLoop | None = None
        self.server = Server((0,), "replica set")
        """What the server said about itself."""

    async def __aenter__(self) -> Self:
        with limited(self._timeout_seconds):
            self.server = await asked(self._client)
        await self._prepare(self.raw)
        self._state, self._loop = "open", asyncio.get_running_loop()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """Let what has begun come to its end; refuse what has not."""
        self._state = "closed"
        await to_the_end(self._drained())

    async def read(self, operation: str, question: Callable[[Session], Awaitable[T]]) -> T:
        """Run ``question``, which changes no record; each command sees the moment it comes in.

        Raises:
            TierUnavailable: No server can be reached, or the database is closed.
            TierTimeout: No answer in time.
        """
        async with await self._admitted(operation, ()):
            with cancellable(), limited(self._timeout_seconds):
                return await question(Session(self.raw))

    async def snapshot(self, operation: str, question: Callable[[Session], Awaitable[T]]) -> T:
        """Run ``question``, all of whose commands see one moment. It may be run again.

        An answer of more than one reply (16 MB) cannot be had so, since a ``getMore`` takes no
        read concern: there, each command sees the moment it comes in.

        Raises:
            TierUnavailable: No server can be reached, or the database is closed.
            TierTimeout: No answer in time.
        """
        async with await self._admitted(operation, ()):
            with cancellable(), limited(self._timeout_seconds):
                for _ in range(SNAPSHOTS_MAX - 1):
                    try:
                        return await self._translated(question)
                    except TierRejected as error:
                        if _code_of(error) == _NO_SUCH_OPTION:
                            return await question(Session(self.raw))
                        if _code_of(error) not in _SNAPSHOT_GONE:
                            raise
                    await asyncio.sleep(SNAPSHOT_PAUSE_SECONDS)
                return await self._translated(question)

    async def _translated(self, question: Callable[[Session], Awaitable[T]]) -> T:
        async with snapshot(self._client) as session:
            return await question(Session(self.raw, session))

    async def step(
        self,
        operation: str,
        change: Callable[[Session], Awaitable[T]],
        *,
        alone: Sequence[str] = (),
        is_brief: bool = True,
    ) -> T:
        """Run ``change`` in one transaction.

        It may be run again from its start when the server could not commit, so it must keep no
        state outside. A ``DuplicateKey`` ends a transaction: catch it outside the step. Once begun
        it comes to its end even when the caller is cancelled; closing waits for it.

        Args:
            operation: For errors.
            change: What to do.
            alone: A key under which this process does one thing after the other.
            is_brief: Whether it has to end in the time of an operation, or in ``LONG_SECONDS``.

        Raises:
            TierUnavailable: No server can be reached, or the database is closed.
            TierTimeout: No answer in time; the outcome is unknown.
        """
        seconds = self._timeout_seconds
        if not is_brief:
            seconds = max(seconds, LONG_SECONDS)
        held = await self._admitted(operation, alone)

        async def ended() -> T:
            """Carry it out in a task of the database's own, which no cancellation reaches."""
            with limited(seconds):
                async with held:
                    return await self._transacted(operation, change, seconds)

        task = asyncio.create_task(ended(), name=f"ezra-cold-{operation}")
        self._changing[task] = seconds
        task.add_done_callback(self._over)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError as error:
            caller = asyncio.current_task()
            if not task.cancelled() or (caller is not None and caller.cancelling()):
                raise
            raise TierUnavailable("cold", operation, "the store was closed meanwhile") from error

    @asynccontextmanager
    async def one_at_a_time(self, *key: str) -> AsyncIterator[None]:
        """Do things of one key after each other in this process, for the length of the block.

        It spares steps that take the next number of something from racing each other; what makes
        them right, between processes too, is a unique index.

        Raises:
            TierTimeout: Its turn did not come in time.
        """
        lock = self._turns.get(key)
        if lock is None:
            lock = self._turns[key] = asyncio.Lock()
        await self._in_time(key[0], lock.acquire())
        try:
            yield
        finally:
            lock.release()

    async def _admitted(self, operation: str, alone: Sequence[str]) -> AsyncExitStack:
        """Wait for the key's turn and for room; both are given back when the stack is closed."""
        check_loop(self._loop)
        async with AsyncExitStack() as held:
            if alone:
                await held.enter_async_context(self.one_at_a_time(*alone))
            await self._in_time(operation, self._room.acquire())
            held.callback(self._room.release)
            if self._state != "open":
                raise TierUnavailable("cold", operation, "the store is closed")
            return held.pop_all()

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._changing.pop(task, None)
        if not task.cancelled():
            task.exception()  # a caller that was cancelled does not ask for it

    async def _drained(self) -> None:
        if not self._changing:
            return
        limit = max(self._changing.values()) + CLOSING_SECONDS
        _, late = await asyncio.wait(self._changing, timeout=limit)
        for task in late:
            task.cancel()
        await asyncio.gather(*late, return_exceptions=True)

    async def _in_time(self, operation: str, turn: Awaitable[object]) -> None:
        try:
            async with asyncio.timeout(self._timeout_seconds):
                await turn
        except TimeoutError as error:
            raise TierTimeout("cold", operation, "too many others were first") from error

    async def _transacted(
        self, operation: str, change: Callable[[Session], Awaitable[T]], seconds: float
    ) -> T:
        command_seconds = self._timeout_seconds

        async def attempt(session: Any) -> T:  # noqa: ANN401 - of either driver
            inside = Session(self.raw, session, command_seconds, is_atomic=True)
            try:
                return await change(inside)
            except EzraError as error:
                cause = error.__cause__
                if isinstance(cause, PyMongoError) and cause.has_error_label(_TRANSIENT):
                    raise cause from None  # in its own form, so that it is tried again
                raise

        with translated(operation):
            return await in_transaction(
                self._client, attempt, timeout_seconds=seconds, command_seconds=command_seconds
            )


def _code_of(error: TierRejected) -> int | None:
    """Return by which code the server refused something."""
    cause = error.__cause__
    return cause.code if isinstance(cause, OperationFailure) else None


async def asked(client: Client) -> Server:
    """Return what kind of server this is.

    Raises:
        ConfigError: It is older than ``SERVER_VERSION_MIN``, or has no transactions.
        TierError: It cannot be reached, or refuses us.
    """
    with translated("open"):
        hello = await client.admin.command("hello")
        build = await client.admin.command("buildInfo")
    version = tuple(int(part) for part in build["versionArray"][:3])
    if version < SERVER_VERSION_MIN:
        found, needed = (".".join(map(str, one)) for one in (version, SERVER_VERSION_MIN))
        raise ConfigError("EZRA_MONGODB_URI", f"MongoDB {found} answered, {needed} is needed")
    if hello.get("msg") == "isdbgrid":
        return Server(version, "sharded cluster")
    if hello.get("setName"):
        return Server(version, "replica set")
    raise ConfigError("EZRA_MONGODB_URI", _without_transactions(client))


def _without_transactions(client: Client) -> str:
    """Return why a server is refused that belongs to no replica set, and how it becomes one."""
    server = ", ".join(f"{host}:{port}" for host, port in sorted(client.nodes))
    return (
        f"the MongoDB server {server} is a standalone and has no transactions; a replica set with "
        "one member is enough: start it with mongod --replSet rs0, then run rs.initiate() once "
        "in mongosh"
    )
