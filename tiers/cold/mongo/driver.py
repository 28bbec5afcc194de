"""The two drivers behind one face. PyMongo's own is the default; Motor is for who must keep it.

They differ in what has to be awaited, and in nothing else that is used here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AbstractContextManager, asynccontextmanager, contextmanager
from typing import Any, Literal, TypeAlias, TypeVar

import pymongo
from pymongo import AsyncMongoClient
from pymongo.errors import PyMongoError
from pymongo.read_concern import ReadConcern
from pymongo.write_concern import WriteConcern

from ...concurrency import awaited, to_the_end
from ...errors import ConfigError
from ...extras import needs

DriverName: TypeAlias = Literal["pymongo", "motor"]
Client: TypeAlias = Any
T = TypeVar("T")

MAJORITY = WriteConcern("majority")
SNAPSHOT = ReadConcern("snapshot")

TRANSACTION_ATTEMPTS_MAX = 100
BACKOFF_SECONDS, BACKOFF_SECONDS_MAX, BACKOFF_GROWTH = 0.005, 0.5, 1.5
"""What the drivers' specification of transactions recommends between two attempts."""

_TRANSIENT = "TransientTransactionError"
_UNKNOWN_COMMIT = "UnknownTransactionCommitResult"
_SCHEMES = ("mongodb://", "mongodb+srv://")


@asynccontextmanager
async def connected(
    uri: str, driver: DriverName, *, timeout_seconds: float, connections_max: int
) -> AsyncIterator[Client]:
    """Hold a client for the length of the block. Nothing is sent before the first operation.

    Every write waits for a majority; every read asks the primary, which has what was written.
    ``timeout_seconds`` is the whole time of a command: as long as it lasts the driver tries again
    what is safe to repeat, and the server is told what is left of it.

    Raises:
        ConfigError: The address cannot be read, or the driver is not installed.
    """
    if not uri.startswith(_SCHEMES):  # the driver would take anything for the name of a host
        reason = "it begins with neither mongodb:// nor mongodb+srv://"
        raise ConfigError("EZRA_MONGODB_URI", reason)
    make = AsyncMongoClient if driver == "pymongo" else _motor_client()
    milliseconds = max(1, int(timeout_seconds * 1000))
    with _readable():
        client: Client = make(
            uri,
            appname="ezra",
            w="majority",
            readPreference="primary",
            retryWrites=True,
            retryReads=True,
            timeoutMS=milliseconds,
            serverSelectionTimeoutMS=milliseconds,
            connectTimeoutMS=milliseconds,
            waitQueueTimeoutMS=milliseconds,
            maxPoolSize=connections_max,
        )
    try:
        yield client
    finally:
        await to_the_end(_closed(client, driver))


def limited(seconds: float) -> AbstractContextManager[object]:
    """Let all commands of the block together take at most ``seconds``, with either driver."""
    limit: AbstractContextManager[object] = pymongo.timeout(seconds)
    return limit


@contextmanager
def cancellable() -> Iterator[None]:
    """Let a cancellation that came during the block go on, whatever the block made of it.

    The driver awaits by ``asyncio.wait_for``, which until Python 3.12 answers instead of being
    cancelled where the answer comes at the same moment: https://github.com/python/cpython/issues/86296
    """
    caller = asyncio.current_task()
    before = 0 if caller is None else caller.cancelling()
    yield
    if caller is not None and caller.cancelling() > before:
        raise asyncio.CancelledError


@asynccontextmanager
async def snapshot(client: Client) -> AsyncIterator[Any]:
    """Hold a session for the length of the block whose questions all see one moment.

    It is that of the first question, and has all that a majority of the servers has: so whatever
    was acknowledged before. https://www.mongodb.com/docs/manual/reference/read-concern-snapshot/
    """
    session = await awaited(client.start_session(snapshot=True))
    try:
        yield session
    finally:
        await session.end_session()


async def in_transaction(
    client: Client,
    work: Callable[[Any], Awaitable[T]],
    *,
    timeout_seconds: float,
    command_seconds: float,
) -> T:
    """Run ``work`` with the session of a transaction and commit it.

    Both are repeated while the server calls their failure passing, at most
    ``TRANSACTION_ATTEMPTS_MAX`` times and not after ``timeout_seconds``; a commit or its opposite
    takes at most ``command_seconds`` each time. The drivers have this loop too; Motor's runs for
    two minutes whatever the limit.
    """
    deadline = time.monotonic() + timeout_seconds
    session = await awaited(client.start_session())
    try:
        for attempt in range(1, TRANSACTION_ATTEMPTS_MAX + 1):
            await awaited(session.start_transaction(SNAPSHOT, MAJORITY))
            try:
                answer = await work(session)
                await _committed(session, deadline, command_seconds)
            except PyMongoError as error:
                is_last = attempt == TRANSACTION_ATTEMPTS_MAX or time.monotonic() >= deadline
                if is_last or not error.has_error_label(_TRANSIENT):
                    raise
            else:
                return answer
            if session.in_transaction:
                with limited(command_seconds):
                    await session.abort_transaction()
            await asyncio.sleep(min(BACKOFF_SECONDS * BACKOFF_GROWTH**attempt, BACKOFF_SECONDS_MAX))
        raise AssertionError  # the last attempt returns or raises
    finally:
        with limited(command_seconds):
            await session.end_session()  # rolls back what is open


async def _committed(
    session: Any,  # noqa: ANN401 - of either driver
    deadline: float,
    command_seconds: float,
) -> None:
    """Commit, asking again as long as nobody knows whether it was done."""
    while True:
        try:
            with limited(command_seconds):
                await session.commit_transaction()
        except PyMongoError as error:
            if not error.has_error_label(_UNKNOWN_COMMIT) or time.monotonic() >= deadline:
                raise
            await asyncio.sleep(BACKOFF_SECONDS)
        else:
            return


async def _closed(client: Client, driver: DriverName) -> None:
    if driver == "motor":  # says goodbye to the server, without giving up the loop meanwhile
        await asyncio.to_thread(client.close)
    else:
        await client.close()


@contextmanager
def _readable() -> Iterator[None]:
    """Name the setting when the driver finds an address that is not one.

    Neither the driver's words nor its error go on: they quote what it could not read, and that
    may be half of a password.
    """
    try:
        yield
    except (PyMongoError, TypeError, ValueError):
        reason = (
            "MongoDB's driver cannot read the address; any of : / ? # [ ] @ % in a user name or "
            "password must be percent-encoded, and options must be known and in range"
        )
        raise ConfigError("EZRA_MONGODB_URI", reason) from None


def _motor_client() -> Callable[..., Client]:
    with needs("motor", "EZRA_MONGODB_DRIVER"):
        from motor.motor_asyncio import AsyncIOMotorClient  # noqa: PLC0415 - an optional driver

    def make(uri: str, **options: Any) -> Client:  # noqa: ANN401 - the driver's own
        return AsyncIOMotorClient(uri, io_loop=asyncio.get_running_loop(), **options)

    return make
