"""A service on a port: it listens, and stops so that what runs is finished and no stream hangs."""

from __future__ import annotations

import asyncio
import itertools
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext, suppress

import uvicorn
from fastapi import FastAPI

from tiers.errors import ConfigError

from ..telemetry.lag import watch_lag
from .connections import ConnectionLimits, Guard
from .console.sampling import look_on
from .limits import beside

KEEP_ALIVE_SECONDS = 30
STOP_SECONDS = 30
"""So long does what runs have to finish; then it is cancelled."""

HEAD_BYTES_MAX = 64 * 1024
_BACKLOG = 512
_TICK_SECONDS = 0.1
"""uvicorn counts its ticks: with every tenth it tells another date."""

_LOOK_SECONDS = 0.01
"""From one look to the next whether a server that stops has finished."""


@asynccontextmanager
async def listening(app: FastAPI, host: str, port: int) -> AsyncIterator[str]:
    """Serve an app in this event loop for the length of the block; yields its address.

    At the end nothing new is accepted, streams are told to end, and what runs is finished.

    Args:
        app: What ``service_app`` made.
        host: Where to listen.
        port: 0 takes a free one.

    Raises:
        ConfigError: The address cannot be listened on.
    """
    with _bound(host, port) as listener:
        server = PromptServer(_config(app))
        task = asyncio.create_task(_serve(app, server, listener), name="ezra-serve")
        try:
            yield _url(listener)  # who connects before the server has begun is kept waiting
        finally:
            app.state.stopping.set()
            server.stop()
            await task


async def _serve(app: FastAPI, server: PromptServer, listener: socket.socket) -> None:
    # In one task: what answers MCP must be closed by the task that opened it.
    pool = app.state.pool
    lag, samples = watch_lag(pool.telemetry.numbers), look_on(pool)
    async with app.state.mcp.running(), beside(lag, "ezra-lag"), beside(samples, "ezra-samples"):
        await server.serve(sockets=[listener])


class PromptServer(uvicorn.Server):
    """Stops when it is told, where uvicorn looks ten times a second whether it was.

    Leaves signals alone: who opened the runtime decides when it ends.
    """

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self._changed = asyncio.Event()

    def stop(self) -> None:
        """Accept nothing more, and end when what runs is finished."""
        self.should_exit = True
        self._changed.set()

    async def main_loop(self) -> None:
        """Tick as uvicorn does, until told to stop."""
        ticks = itertools.count()
        while not await self.on_tick(next(ticks)):
            with suppress(TimeoutError):
                async with asyncio.timeout(_TICK_SECONDS):
                    await self._changed.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close what is idle and let the rest finish, without a fixed wait before looking.

        Instead of uvicorn's own. An app with a lifespan would have to be told; none is served here.
        """
        for closed in (*self.servers, *(sockets or ())):
            closed.close()
        for connection in tuple(self.server_state.connections):
            connection.shutdown()
        try:
            async with asyncio.timeout(self.config.timeout_graceful_shutdown):
                await asyncio.sleep(0)  # then what was idle is gone
                while self._is_at_work() and not self.force_exit:  # noqa: ASYNC110 - nobody tells
                    await asyncio.sleep(_LOOK_SECONDS)
                for server in self.servers:
                    await server.wait_closed()
        except TimeoutError:
            for task in self.server_state.tasks:
                task.cancel(msg="what runs had its time to finish")

    def _is_at_work(self) -> bool:
        return bool(self.server_state.connections or self.server_state.tasks)

    def capture_signals(self) -> nullcontext[None]:  # type: ignore[override]
        """Take no signals."""
        return nullcontext()


def _config(app: FastAPI) -> uvicorn.Config:
    limits: ConnectionLimits = getattr(app.state, "connections", ConnectionLimits())
    return uvicorn.Config(
        app,
        interface="asgi3",
        lifespan="off",
        http=Guard(limits).protocol(),
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,  # who sends them is not known to be a proxy
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=STOP_SECONDS,
        h11_max_incomplete_event_size=HEAD_BYTES_MAX,
    )


@contextmanager
def _bound(host: str, port: int) -> Iterator[socket.socket]:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Named, because asyncio leaves out TCP_NODELAY for protocol 0, which costs 40 ms a request.
    with socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((host, port))
            listener.listen(_BACKLOG)
        except (OSError, OverflowError) as error:
            reason = f"cannot listen on {host} port {port}: {error}"
            raise ConfigError("EZRA_SERVE_PORT", reason) from error
        listener.setblocking(False)  # noqa: FBT003 - the name is positional
        yield listener


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
