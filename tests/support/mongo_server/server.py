"""The stand-in as a test holds it: a thread that listens, and what can be done to it."""

from __future__ import annotations

import asyncio
import itertools
import threading
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import mongomock

from ..processes import PATIENCE_SECONDS
from .admin import hello_reply
from .commands import answer, session_id, split
from .engine import Command, Engine, Knobs
from .errors import RETRYABLE_WRITE_CODES, CommandError
from .faults import Fault, Faults
from .values import Document
from .wire import Message, ProtocolError, encode_reply, read_message

T = TypeVar("T")

_HOST = "127.0.0.1"
_GREETINGS = frozenset({"hello", "isMaster", "ismaster"})
_MAX_RECORDED = 200_000


class MongoServer:
    """A MongoDB in appearance, on a port of its own, in a thread of its own.

    Attributes:
        knobs: How it behaves; may be turned while it runs.
    """

    def __init__(self, knobs: Knobs) -> None:
        self.knobs = knobs
        self._engine = Engine(knobs)
        self._faults = Faults()
        self._recorded: deque[Document] = deque(maxlen=_MAX_RECORDED)
        self._names = itertools.count(1)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._listener: asyncio.Server | None = None
        self._connections: dict[asyncio.Task[None], asyncio.StreamWriter] = {}
        self._thawed = asyncio.Event()
        self._thawed.set()
        self._port = 0

    # Its life.

    def start(self) -> None:
        """Listen, on the same port as before."""
        if not self._thread.is_alive():
            self._thread.start()
        self._wait(self._listen())

    def stop(self) -> None:
        """Cut every connection and refuse new ones, as a killed process does; data is kept."""
        self._wait(self._cut())

    def close(self) -> None:
        """Stop for good and end the thread."""
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @contextmanager
    def frozen(self) -> Iterator[None]:
        """Accept connections and commands for the block, and answer nothing.

        What was received is executed when the block ends, as by a process that was suspended:
        a write whose caller has given up may still happen.
        """
        self._call(self._thawed.clear)
        try:
            yield
        finally:
            self._call(self._thawed.set)

    @property
    def uri(self) -> str:
        """The address for clients, with the option that the mode needs."""
        replica_set = self.knobs.mode == "replica_set"
        option = "replicaSet=rs0" if replica_set else "directConnection=true"
        return f"mongodb://{self.address}/?{option}"

    @property
    def address(self) -> str:
        """Host and port."""
        return f"{_HOST}:{self._port}"

    # What it holds, and what it was asked.

    @property
    def client(self) -> mongomock.MongoClient[Any]:
        """A ``mongomock`` client over the stored documents, to read them beside the driver.

        To change what is stored behind the indexes, use ``tampering``.
        """
        return self._engine.store.client

    @contextmanager
    def tampering(self) -> Iterator[mongomock.MongoClient[Any]]:
        """Change stored documents directly; the indexes are built again when the block ends."""
        try:
            yield self._engine.store.client
        finally:
            self._call(self._engine.store.reindex)

    @property
    def commands(self) -> list[Document]:
        """The commands received since the last ``clear_commands``, without greetings, oldest first.

        Each has ``name``, ``database``, ``body`` (document sequences included) and ``envelope``:
        ``lsid``, ``txnNumber``, ``$clusterTime`` and the like.
        """
        return list(self._recorded)

    def clear_commands(self) -> None:
        """Forget the commands received so far."""
        self._recorded.clear()

    def fresh_database(self) -> str:
        """Return the name of a database that nobody uses yet."""
        return f"t{next(self._names):05d}"

    def copy_database(self, source: str, target: str) -> None:
        """Make a database that has what another has; a stored document is never changed."""
        self._call(lambda: self._engine.store.copy_database(source, target))

    def drop_database(self, name: str) -> None:
        """Forget a database of which nobody has a client open any more."""
        self._call(lambda: self._engine.drop_database(name))

    def reset(self) -> None:
        """Drop all databases, open transactions, cursors, faults and recorded commands."""
        self._call(self._forget_all)

    @property
    def open_transactions(self) -> int:
        """How many transactions are open."""
        return self._engine.sessions.open_count

    @property
    def open_cursors(self) -> int:
        """How many cursors wait for ``getMore``."""
        return len(self._engine.cursors)

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    def fail_next(
        self,
        command_name: str,
        *,
        code: int | None = None,
        message: str = "injected",
        error_labels: Sequence[str] | None = None,
        times: int = 1,
        after: bool = False,
        close_connection: bool = False,
        collection: str | None = None,
    ) -> None:
        """Make coming commands fail.

        Args:
            command_name: Which command.
            code: The error to answer with.
            message: Its text.
            error_labels: Its labels; without, those a real server adds by itself.
            times: How many commands fail.
            after: Whether the command is executed nevertheless: the outcome is then unknown to
                the caller.
            close_connection: Cut the connection instead of answering.
            collection: Only commands on this collection.
        """
        if (code is None) == (not close_connection):
            message = "give either a code or close_connection"
            raise ValueError(message)
        labels = None if error_labels is None else tuple(error_labels)
        fault = Fault(command_name, code, message, labels, after=after, collection=collection)
        self._call(lambda: self._faults.add(fault, times))

    # The thread's side.

    def _call(self, function: Callable[[], T]) -> T:
        async def run() -> T:
            return function()

        return self._wait(run())

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(PATIENCE_SECONDS)

    def _forget_all(self) -> None:
        engine = self._engine
        engine.sessions.end_all()
        engine.cursors.clear()
        for name in engine.store.list_created_database_names():
            engine.store.drop_database(name)
        self._faults.clear()
        self._recorded.clear()

    async def _listen(self) -> None:
        self._listener = await asyncio.start_server(self._serve, _HOST, self._port)
        self._port = self._listener.sockets[0].getsockname()[1]

    async def _cut(self) -> None:
        if self._listener is not None:
            self._listener.close()
            self._listener = None
        tasks = tuple(self._connections)
        for task, writer in tuple(self._connections.items()):
            writer.transport.abort()
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._engine.sessions.end_all()
        self._engine.cursors.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections[task] = writer
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError, ProtocolError):
            pass  # the client is gone, or talks what this is not
        except asyncio.CancelledError:
            pass  # stopped; nobody waits for this task
        finally:
            self._engine.sessions.end_of_connection(writer)
            del self._connections[task]
            writer.transport.abort()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Receive one message and answer it; ``False`` when the connection is to be cut."""
        message = await read_message(reader)
        await self._thawed.wait()
        reply = await self._reply(message, writer)
        if reply is not None and message.expects_reply:
            writer.write(encode_reply(message, reply))
            await writer.drain()
        return reply is not None

    async def _reply(self, message: Message, connection: object) -> Document | None:
        body = message.body
        name = next(iter(body))
        command = Command(name, body.get("$db", "admin"), body)
        if name in _GREETINGS:
            return hello_reply(self._engine, self.address, command)
        own, envelope = split(body)
        self._recorded.append(
            {"name": name, "database": command.database, "body": own, "envelope": envelope}
        )
        fault = self._faults.take(command)
        if fault is None:
            return await self._answered(command, connection)
        if fault.after:
            await self._answered(command, connection)
        else:
            self._end_unanswered(command, fault)
        return None if fault.code is None else _injected(command, fault)

    async def _answered(self, command: Command, connection: object) -> Document:
        try:
            return await answer(self._engine, command, connection)
        except Exception as error:  # noqa: BLE001 - the boundary: a mistake here must reach the test
            return CommandError(1, f"the stand-in failed: {type(error).__name__}: {error}").reply()

    def _end_unanswered(self, command: Command, fault: Fault) -> None:
        """Do to the transaction what a statement that was not executed does to it."""
        if "autocommit" not in command.body:
            return
        sessions = self._engine.sessions
        transaction = sessions.session(session_id(command.body)).transaction
        if transaction is None:
            return
        if command.name == "commitTransaction":
            # The driver may ask again, on another connection.
            transaction.outlives_connection = True
        elif fault.code is not None:
            sessions.end(transaction)


def _injected(command: Command, fault: Fault) -> Document:
    labels = fault.labels
    if labels is None:
        is_numbered = "txnNumber" in command.body and (
            "autocommit" not in command.body or command.name == "commitTransaction"
        )
        is_retryable = is_numbered and fault.code in RETRYABLE_WRITE_CODES
        labels = ("RetryableWriteError",) if is_retryable else ()
    assert fault.code is not None
    return CommandError(fault.code, fault.message, labels=labels).reply()


@contextmanager
def running_mongo(**knobs: Any) -> Iterator[MongoServer]:
    """Run a server for the block; the arguments are those of ``Knobs``."""
    server = MongoServer(Knobs(**knobs))
    server.start()
    try:
        yield server
    finally:
        server.close()
