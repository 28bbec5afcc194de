"""One MongoDB database: its collections behind a guard, and steps that are all or nothing.

A *step* changes several documents. On a replica set it is one transaction. A standalone server
has none, so every step is written to be cut anywhere: one document decides (its insertion is the
step), what follows from it is idempotent, and whoever finds it unfinished finishes it. A *write*
is decided by one command, so no server needs a transaction for it.

What is sent, all of it: ``hello``, ``buildInfo`` and ``listCollections`` when the database is
opened; on opening a new one ``create``, ``collMod`` and ``createIndexes``, and ``dropIndexes`` on
opening one of an older version, whose documents come up to date; on collections ``find``,
``aggregate``, ``getMore``, ``insert``, ``update``, ``findAndModify`` and ``delete``, by the methods
of ``Collection``; ``commitTransaction`` and ``abortTransaction``; the search index commands of
``search_index``; and what the driver does by itself, ``ping``, ``endSessions`` and ``killCursors``.
Tests hold the code to this list.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any, Literal, NamedTuple, Self, TypeVar
from weakref import WeakValueDictionary

from pymongo import UpdateOne
from pymongo.errors import InvalidName, PyMongoError

from ...errors import (
    ConfigError,
    EzraError,
    TierTimeout,
    TierUnavailable,
)
from .documents import Document
from .driver import Client, in_transaction, limited, settled, to_the_end
from .guard import check_command, check_pipeline
from .translation import translated

T = TypeVar("T")
Sort = Sequence[tuple[str, int]]

_TRANSIENT = "TransientTransactionError"

SERVER_VERSION_MIN = (6, 0)
TIMEOUT_SECONDS = 10.0
CLOSING_SECONDS = 2.0
"""How much longer than an operation may take closing waits: drivers count time in half seconds."""

WAITING_MAX = 256
"""Operations that run at once; who comes after waits for room, as long as for an answer."""

ROWS_MAX = 100_000
"""The most documents that one question may bring back."""


class Server(NamedTuple):
    """What a server said about itself when it was first asked.

    Attributes:
        version: Its release.
        kind: ``standalone``, ``replica set`` or ``sharded cluster``.
    """

    version: tuple[int, ...]
    kind: Literal["standalone", "replica set", "sharded cluster"]

    @property
    def has_transactions(self) -> bool:
        """Whether several documents can change in one transaction."""
        return self.kind != "standalone"


class Collection:
    """The commands that records live by; every one carries the scope or is refused.

    Args:
        raw: The driver's collection.
        session: Of the transaction, if there is one.
        whole_tenant: Whether filters may leave the graph out: upkeep and archives only.
    """

    def __init__(self, raw: Any, session: Any = None, *, whole_tenant: bool = False) -> None:  # noqa: ANN401 - of either driver
        self._raw = raw
        self._session = session
        self._name: str = raw.name
        self._whole_tenant = whole_tenant

    async def insert(self, documents: Sequence[Document]) -> None:
        """Insert documents in order, stopping at the first refusal; none is no error.

        Raises:
            DuplicateKey: A unique index refused one; those before it are in.
        """
        for document in documents:
            self._guard("insert", document)
        with translated(f"insert into {self._name}"):
            if len(documents) == 1:
                await self._raw.insert_one(documents[0], session=self._session)
            elif documents:
                await self._raw.insert_many(documents, ordered=True, session=self._session)

    async def first(self, where: Document, *, sort: Sort = ()) -> Document | None:
        """Return the first matching document, or ``None``."""
        found = await self.find(where, sort=sort, limit=1)
        return found[0] if found else None

    async def find(
        self,
        where: Document,
        *,
        sort: Sort = (),
        limit: int = ROWS_MAX,
        fields: Sequence[str] = (),
    ) -> list[Document]:
        """Return matching documents, at most ``limit``; ``fields`` names the only ones wanted."""
        self._guard("find", where)
        only = dict.fromkeys(fields, 1) or None
        with translated(f"find in {self._name}"):
            cursor = self._raw.find(where, only, limit=limit, session=self._session)
            found: list[Document] = await (cursor.sort(list(sort)) if sort else cursor).to_list(
                length=limit
            )
            return found

    async def count(self, where: Document) -> int:
        """Return how many documents match."""
        self._guard("count", where)
        with translated(f"count in {self._name}"):
            return int(await self._raw.count_documents(where, session=self._session))

    async def aggregate(self, pipeline: Sequence[Document]) -> list[Document]:
        """Return what a pipeline makes; each stage that lets documents in carries the scope."""
        check_pipeline(self._name, pipeline, whole_tenant=self._whole_tenant)
        with translated(f"aggregate {self._name}"):
            cursor = await settled(self._raw.aggregate(list(pipeline), session=self._session))
            found: list[Document] = await cursor.to_list(length=ROWS_MAX)
            return found

    async def update(
        self, where: Document, change: Document, *, upsert: bool = False, many: bool = False
    ) -> int:
        """Change the first matching document, or ``many``; return how many matched or are new."""
        self._guard("update", where)
        with translated(f"update {self._name}"):
            send = self._raw.update_many if many else self._raw.update_one
            result = await send(where, change, upsert=upsert, session=self._session)
            return int(result.matched_count) + (result.upserted_id is not None)

    async def update_each(self, changes: Sequence[tuple[Document, Document]]) -> int:
        """Change the first document that matches each of some filters, in order, by one command.

        It stops at the first refusal; changes before it are made. None is no error. Returns how
        many matched.
        """
        for where, _ in changes:
            self._guard("update", where)
        with translated(f"update {self._name}"):
            if not changes:
                return 0
            updates = [UpdateOne(where, change) for where, change in changes]
            result = await self._raw.bulk_write(updates, session=self._session)
            return int(result.matched_count)

    async def find_and_update(
        self, where: Document, change: Document, *, sort: Sort = (), upsert: bool = False
    ) -> Document | None:
        """Change the first matching document and return it as it now is."""
        self._guard("findAndModify", where)
        with translated(f"update {self._name}"):
            found: Document | None = await self._raw.find_one_and_update(
                where,
                change,
                sort=list(sort) or None,
                upsert=upsert,
                return_document=True,
                session=self._session,
            )
            return found

    async def delete(self, where: Document, *, many: bool = True) -> int:
        """Remove every matching document, or the first; return how many.

        Removing one is tried again by the driver when its answer is lost, removing many is not.
        """
        self._guard("delete", where)
        with translated(f"delete in {self._name}"):
            send = self._raw.delete_many if many else self._raw.delete_one
            result = await send(where, session=self._session)
            return int(result.deleted_count)

    def _guard(self, operation: str, where: Mapping[str, Any]) -> None:
        check_command(operation, self._name, where, whole_tenant=self._whole_tenant)


class Session:
    """What a step works with: the collections, inside its transaction if there is one."""

    def __init__(self, database: Any, session: Any = None) -> None:  # noqa: ANN401 - of either driver
        self._database = database
        self._session = session

    @property
    def is_atomic(self) -> bool:
        """Whether everything done here is kept or undone together by the server."""
        return self._session is not None

    def collection(self, name: str, *, whole_tenant: bool = False) -> Collection:
        """Return a collection; ``whole_tenant`` lets filters leave the graph out."""
        return Collection(self._database[name], self._session, whole_tenant=whole_tenant)


class Database:
    """A MongoDB database for the length of an ``async with`` block.

    Args:
        client: A connected client; who made it closes it.
        name: The database's name.
        prepare: Makes collections and indexes when the database is opened.
        timeout_seconds: The most that an operation may take, and before it the most that it may
            wait for its turn.

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
        self._changing: set[asyncio.Task[Any]] = set()
        self._state: Literal["new", "open", "closed"] = "new"
        self._server = Server((0,), "standalone")

    async def __aenter__(self) -> Self:
        with limited(self._timeout_seconds):
            self._server = await asked(self._client)
        await self._prepare(self.raw)
        self._state = "open"
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        """Let what has begun come to its end; refuse what has not."""
        self._state = "closed"
        await to_the_end(self._drained())

    @property
    def server(self) -> Server:
        """What the server said about itself."""
        return self._server

    async def read(self, operation: str, question: Callable[[Session], Awaitable[T]]) -> T:
        """Run ``question``, which changes nothing that matters.

        Raises:
            TierUnavailable: No server can be reached, or the database is closed.
            TierTimeout: No answer in time.
        """
        async with await self._admitted(operation, ()):
            with limited(self._timeout_seconds):
                return await question(Session(self.raw))

    async def write(
        self,
        operation: str,
        change: Callable[[Session], Awaitable[T]],
        *,
        alone: Sequence[str] = (),
    ) -> T:
        """Run ``change`` outside any transaction: one of its commands decides, the rest may repeat.

        Once begun it comes to its end even when the caller is cancelled; closing waits for it.

        Args:
            operation: For errors.
            change: What to do.
            alone: A key under which this process does one thing after the other.

        Raises:
            TierUnavailable: No server can be reached, or the database is closed.
            TierTimeout: No answer in time; the outcome is unknown.
        """
        return await self._carried_out(operation, alone, lambda: change(Session(self.raw)))

    async def step(
        self,
        operation: str,
        change: Callable[[Session], Awaitable[T]],
        *,
        alone: Sequence[str] = (),
        counted: Callable[[Session, T], Awaitable[object]] | None = None,
    ) -> T:
        """Run ``change``: in one transaction where the server has them, else command by command.

        It may be run again from its start when the server could not commit, so it must keep no
        state outside. A ``DuplicateKey`` ends a transaction: catch it outside the step. Otherwise
        as ``write``.

        Args:
            operation: For errors.
            change: What to do.
            alone: A key under which this process does one thing after the other.
            counted: Brings statistics up to date with what was done, outside the transaction. Its
                failure fails nothing.
        """

        async def whole() -> T:
            return await self._transacted(operation, change)

        async def piecemeal() -> T:
            return await change(Session(self.raw))

        does = whole if self._server.has_transactions else piecemeal
        return await self._carried_out(operation, alone, does, counted)

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
        async with AsyncExitStack() as held:
            if alone:
                await held.enter_async_context(self.one_at_a_time(*alone))
            await self._in_time(operation, self._room.acquire())
            held.callback(self._room.release)
            if self._state != "open":
                raise TierUnavailable("cold", operation, "the store is closed")
            return held.pop_all()

    async def _carried_out(
        self,
        operation: str,
        alone: Sequence[str],
        work: Callable[[], Awaitable[T]],
        counted: Callable[[Session, T], Awaitable[object]] | None = None,
    ) -> T:
        """Run a change in a task of the database's own, which no caller's cancellation reaches."""
        held = await self._admitted(operation, alone)
        ending = self._ended(held, work, counted)
        task = asyncio.create_task(ending, name=f"ezra-cold-{operation}")
        self._changing.add(task)
        task.add_done_callback(self._over)
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError as error:
            caller = asyncio.current_task()
            if not task.cancelled() or (caller is not None and caller.cancelling()):
                raise
            raise TierUnavailable("cold", operation, "the store was closed meanwhile") from error

    async def _ended(
        self,
        held: AsyncExitStack,
        work: Callable[[], Awaitable[T]],
        counted: Callable[[Session, T], Awaitable[object]] | None,
    ) -> T:
        with limited(self._timeout_seconds):
            async with held:
                answer = await work()
            if counted is not None:
                with suppress(EzraError):
                    await counted(Session(self.raw), answer)
            return answer

    def _over(self, task: asyncio.Task[Any]) -> None:
        self._changing.discard(task)
        if not task.cancelled():
            task.exception()  # a caller that was cancelled does not ask for it

    async def _drained(self) -> None:
        if not self._changing:
            return
        limit = self._timeout_seconds + CLOSING_SECONDS
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

    async def _transacted(self, operation: str, change: Callable[[Session], Awaitable[T]]) -> T:
        async def attempt(session: Any) -> T:  # noqa: ANN401 - of either driver
            try:
                return await change(Session(self.raw, session))
            except EzraError as error:
                cause = error.__cause__
                if isinstance(cause, PyMongoError) and cause.has_error_label(_TRANSIENT):
                    raise cause from None  # in its own form, so that it is tried again
                raise

        with translated(operation):
            return await in_transaction(
                self._client, attempt, timeout_seconds=self._timeout_seconds
            )


async def asked(client: Client) -> Server:
    """Return what kind of server this is.

    Raises:
        ConfigError: It is older than ``SERVER_VERSION_MIN``.
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
    return Server(version, "replica set" if hello.get("setName") else "standalone")
