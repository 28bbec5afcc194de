"""Standard input that ends when a command is stopped, not only when whoever writes closes it."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from threading import Thread

_CHUNK_BYTES = 65_536


async def until_stopped(serve: Callable[[], Awaitable[None]], stopped: asyncio.Event) -> None:
    """Serve standard input to its end, which comes at the latest when somebody stops the process.

    A read of standard input cannot be cancelled: who serves it would wait for the next line.
    """
    with _ending_input() as end:
        serving = asyncio.ensure_future(serve())
        stopping = asyncio.ensure_future(stopped.wait())
        try:
            await asyncio.wait({serving, stopping}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            end()
            stopping.cancel()
            await serving


@contextmanager
def _ending_input() -> Iterator[Callable[[], None]]:
    """Put an input that can be ended in the place of standard input, for the length of the block.

    The thread that fills it is left behind where it waits for the real one.
    """
    former, real = os.dup(0), os.dup(0)
    inner, outer = socket.socketpair()
    os.dup2(inner.fileno(), 0)
    inner.close()

    def end() -> None:
        with suppress(OSError):  # whoever writes may have ended it before
            outer.shutdown(socket.SHUT_WR)

    def fill() -> None:
        with outer, suppress(OSError):
            while chunk := os.read(real, _CHUNK_BYTES):
                outer.sendall(chunk)
        os.close(real)

    Thread(target=fill, name="standard input", daemon=True).start()
    try:
        yield end
    finally:
        os.dup2(former, 0)
        os.close(former)
