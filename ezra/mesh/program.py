"""A program that speaks MCP over its standard input and output, and may write whatever it likes.

In the place of the SDK's own transport, which reads a line however long it is, on the event loop.
Here a line and all that comes between two questions have a limit, an answer to what nobody asked
is a fault, and a program with a fault is ended, with those it started.
"""

from __future__ import annotations

import asyncio
import os
import signal
from asyncio.subprocess import Process, SubprocessStreamProtocol
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
    from mcp.shared.message import SessionMessage

LEAVE_SECONDS = 2.0
"""For a program to end by itself when its input is closed, and again when it is told to."""

FLUSH_SECONDS = 0.5
LINES_MAX = 10_000
"""Between two questions; each costs the event loop a look."""

IDS_MAX = 10_000
INLINE_BYTES_MAX = 16_384
"""A longer line is read in a thread."""

_READ_BYTES = 65_536


class Program:
    """A program under way; what it writes is bounded.

    Args:
        command: What is started, with its arguments.
        env: Its environment besides the few variables that every program needs.
        bytes_max: Of one line, and of all that it writes between two questions.

    Attributes:
        fault: Why it was ended, if it was.
    """

    def __init__(self, command: Sequence[str], env: Mapping[str, str], bytes_max: int) -> None:
        self.fault: str | None = None
        self._command = tuple(command)
        self._env = dict(env)
        self._bytes_max = bytes_max
        self._bytes_left = bytes_max
        self._lines_left = LINES_MAX
        self._asked: dict[str, None] = {}
        self._process: Process | None = None

    def expect(self) -> None:
        """Let it write as much again: a question is about to be asked."""
        self._bytes_left, self._lines_left = self._bytes_max, LINES_MAX

    def end(self, fault: str) -> None:
        """End it at once, with whatever it started."""
        self.fault = self.fault or fault
        self._signal(signal.SIGKILL)

    @asynccontextmanager
    async def streams(self) -> AsyncIterator[tuple[Any, Any]]:
        """Run it for the length of the block; yields the messages from it and to it."""
        import anyio  # noqa: PLC0415 - loaded with the client
        from mcp.client.stdio import get_default_environment  # noqa: PLC0415 - likewise

        loop = asyncio.get_running_loop()
        with Path(os.devnull).open("wb") as quiet:  # noqa: ASYNC230 - what it says aside is not ours
            transport, protocol = await loop.subprocess_exec(
                lambda: SubprocessStreamProtocol(limit=self._bytes_max, loop=loop),
                *self._command,
                stderr=quiet,
                env={**get_default_environment(), **self._env},
                start_new_session=True,
            )
        process = self._process = Process(transport, protocol, loop)
        to_session, from_program = anyio.create_memory_object_stream[Any](0)
        to_program, from_session = anyio.create_memory_object_stream[Any](0)
        reader = asyncio.create_task(self._read(process, to_session), name="mesh program out")
        writer = asyncio.create_task(self._write(process, from_session), name="mesh program in")
        try:
            yield from_program, to_program
        finally:
            from_program.close()
            to_program.close()
            try:
                with anyio.CancelScope(shield=True):
                    await asyncio.wait({writer}, timeout=FLUSH_SECONDS)
                    await self._leave(process)
            finally:
                self._signal(signal.SIGKILL)
                transport.close()
                reader.cancel()
                writer.cancel()
                await asyncio.gather(reader, writer, return_exceptions=True)
                from_session.close()
                to_session.close()

    async def _read(self, process: Process, to_session: MemoryObjectSendStream[Any]) -> None:
        """Pass on what it says, until it ends or does what it may not."""
        import anyio  # noqa: PLC0415 - loaded with the client

        if process.stdout is None:
            return
        async with to_session:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                while (line := await self._line(process.stdout)) is not None:
                    message = await _read_in(line)
                    if message is None:
                        continue
                    if self._is_uncalled(message):
                        self.end("it answered what it was not asked")
                        break
                    await to_session.send(message)
        # It may still be writing: a full pipe would keep it from ending by itself.
        with suppress(OSError):
            while await process.stdout.read(_READ_BYTES):
                pass

    async def _line(self, stdout: asyncio.StreamReader) -> bytes | None:
        """Return what it says next; ``None`` when nothing more is to be read."""
        try:
            line = await stdout.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            self.end(f"it wrote more than {self._bytes_max} bytes without an end of line")
            return None
        except (asyncio.IncompleteReadError, OSError):
            return None
        self._bytes_left -= len(line)
        self._lines_left -= 1
        if self._bytes_left < 0:
            self.end(f"it wrote more than {self._bytes_max} bytes for one question")
            return None
        if self._lines_left < 0:
            self.end(f"it wrote more than {LINES_MAX} lines for one question")
            return None
        return line

    def _is_uncalled(self, message: SessionMessage) -> bool:
        sent: Any = message.message
        is_answer = not hasattr(sent, "method")
        # An error without an id says that a message could not be read.
        return is_answer and sent.id is not None and str(sent.id) not in self._asked

    async def _write(
        self, process: Process, from_session: MemoryObjectReceiveStream[SessionMessage]
    ) -> None:
        """Send it what it is asked; what it does not take any more is lost with it."""
        if process.stdin is None:
            return
        with suppress(OSError):
            async with from_session:
                async for message in from_session:
                    sent = message.message
                    asked = getattr(sent, "id", None)
                    if asked is not None:
                        self._asked[str(asked)] = None
                        while len(self._asked) > IDS_MAX:
                            del self._asked[next(iter(self._asked))]
                    text = sent.model_dump_json(by_alias=True, exclude_unset=True)
                    process.stdin.write(f"{text}\n".encode())
                    await process.stdin.drain()

    async def _leave(self, process: Process) -> None:
        """End it as the protocol has it: its input is closed, then it is told, then made to."""
        if process.stdin is not None:
            process.stdin.close()
        for sent in (signal.SIGTERM, signal.SIGKILL):
            if await _has_ended(process):
                return
            self._signal(sent)
        await _has_ended(process)

    def _signal(self, sent: signal.Signals) -> None:
        """Tell it, and the programs of its group, unless it has ended."""
        process = self._process
        if process is not None and process.returncode is None:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, sent)


async def _read_in(line: bytes) -> SessionMessage | None:
    """Return a line as a message, read where it does not hold anybody up."""
    if len(line) > INLINE_BYTES_MAX:
        return await asyncio.to_thread(_message, line)
    await asyncio.sleep(0)  # lines may be there by the thousand
    return _message(line)


def _message(line: bytes) -> SessionMessage | None:
    """Return a line as a message; ``None`` for what is none, which programs print by mistake."""
    from mcp.shared.message import SessionMessage  # noqa: PLC0415 - loaded with the client
    from mcp_types import jsonrpc_message_adapter  # noqa: PLC0415 - likewise

    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except (ValueError, RecursionError):
        return None


async def _has_ended(process: Process) -> bool:
    """Return whether it ends in time; its pipes may be held by another, so they do not count."""
    loop = asyncio.get_running_loop()
    until = loop.time() + LEAVE_SECONDS
    while process.returncode is None:
        if loop.time() >= until:
            return False
        await asyncio.sleep(0.01)
    return True
