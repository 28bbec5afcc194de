"""A service on a port: it listens, and stops so that what runs is finished and no stream hangs."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, nullcontext

import uvicorn
from fastapi import FastAPI

from tiers.errors import ConfigError

from .connections import ConnectionLimits, Guard
from .console.sampling import sampled
from .lag import lag_watched

KEEP_ALIVE_SECONDS = 30
STOP_SECONDS = 30
"""So long does what runs have to finish; then it is cancelled."""

HEAD_BYTES_MAX = 64 * 1024
_BACKLOG = 512


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
        server = _Server(_config(app))
        task = asyncio.create_task(_serve(app, server, listener), name="ezra-serve")
        try:
            yield _url(listener)  # who connects before the server has begun is kept waiting
        finally:
            app.state.stopping.set()
            server.should_exit = True
            await task


async def _serve(app: FastAPI, server: uvicorn.Server, listener: socket.socket) -> None:
    # In one task: what answers MCP must be closed by the task that opened it.
    pool = app.state.pool
    watched = lag_watched(pool.telemetry.numbers)
    async with app.state.mcp.running(), watched, sampled(pool):
        await server.serve(sockets=[listener])


class _Server(uvicorn.Server):
    """Leaves signals alone: who opened the runtime decides when it ends."""

    def capture_signals(self) -> nullcontext[None]:  # type: ignore[override]
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
