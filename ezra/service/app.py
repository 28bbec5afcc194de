"""The service over a runtime: routes made of operations, behind a gate."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import cache
from typing import Any
from urllib.parse import unquote

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.convertors import Convertor
from starlette.exceptions import HTTPException
from starlette.routing import Route

from tiers.errors import ConfigError, EzraError

from ..app import Ezra
from ..settings import Settings
from . import (
    exporting,
    feed,
    health,
    offered,
    openapi,
    reference,
)
from .admission import Admission, Turnstile
from .connections import ConnectionLimits
from .console import Console, pages
from .credentials import Credentials, file_of
from .feed import Feeds, Pace
from .gate import Gate, Rules
from .handle_pool import HandlePool
from .health import Pulse
from .limits import is_loopback
from .mcp_door import MCP_PATH, mcp_door
from .openapi import Document, described
from .problem_answers import on_error, on_http, on_invalid
from .routes import apart, handlers, router_of
from .watching import Watching

_DONE_BY = (offered,)
"""Importing them filled ``handlers``."""

_APART = (feed, health, exporting)
"""Importing them filled ``apart``."""

OPEN_PATHS = frozenset({health.PATH, openapi.PATH, reference.PATH, reference.TOOLS_PATH})
"""What anybody may read who reaches the server."""


def service_app(
    ezra: Ezra,
    *,
    tokens: Credentials | None,
    settings: Settings,
    pace: Pace | None = None,
    seconds: Callable[[], float] = time.monotonic,
) -> FastAPI:
    """Return the service over a runtime, which stays its owner's to close.

    ``app.state.stopping`` is to be set when the service stops: it ends the feeds. The pages of
    ``app.state.reference`` are made when first asked for, or before by its ``draw``.

    Args:
        ezra: The runtime.
        tokens: Who may ask. Without tokens, or as long as the file never held one, everybody on
            this machine may do everything, and ``check_place`` must have allowed it.
        settings: The limits.
        pace: How often feeds look and speak.
        seconds: Monotonic seconds.
    """
    app = FastAPI(
        title="ezra", openapi_url=None, docs_url=None, redoc_url=None, redirect_slashes=False
    )
    app.state.stopping = asyncio.Event()
    app.state.pool = HandlePool(ezra, seconds, tokens=file_of(tokens))
    app.state.tokens = tokens
    app.state.connections = ConnectionLimits(
        head_seconds=settings.serve_head_seconds,
        body_seconds=settings.serve_body_seconds,
        total=settings.serve_requests_at_work,
        per_peer=min(settings.serve_requests_at_work_per_peer, settings.serve_requests_at_work),
    )
    app.state.mcp = mcp_door(app.state.pool)
    app.state.feeds = Feeds(app.state.stopping, pace or Pace())
    app.state.pulse = Pulse(ezra)
    app.router.routes.extend(described_routes())
    document = Document(openapi_document)
    app.add_route(openapi.PATH, document.answer, include_in_schema=False)
    app.router.routes.append(Route(MCP_PATH, app.state.mcp))
    admission = None if tokens is None else Admission(tokens, seconds)
    console = _console(app.state.pool, admission, seconds)
    clock = ezra._runtime.clock  # noqa: SLF001 - no handle tells the time of the runtime
    app.state.reference = reference.Reference(document, app.state.pool, clock)
    app.router.routes.extend((*app.state.reference.routes(), *console.routes()))
    app.add_exception_handler(EzraError, on_error)
    app.add_exception_handler(RequestValidationError, on_invalid)
    app.add_exception_handler(HTTPException, on_http)
    rules = Rules(
        tokens=admission,
        open_paths=OPEN_PATHS,
        requests_per_minute=settings.serve_requests_per_minute,
        body_bytes_max=settings.serve_body_bytes_max,
        body_seconds=settings.serve_body_seconds,
        front=console,
    )
    app.add_middleware(Turnstile)
    app.add_middleware(Gate, rules=rules, seconds=seconds)
    app.add_middleware(Watching, telemetry=app.state.pool.telemetry)  # the last is the outermost
    return app


async def check_place(host: str, tokens: Credentials) -> None:
    """Refuse to listen where others can reach a server that asks nobody for a token.

    Raises:
        ConfigError: There is no token that counts, and the host is not loopback; or the file
            cannot be read.
    """
    if not await tokens.has_live() and not is_loopback(host):
        reason = f"{host} is more than loopback, and no token counts; make one: ezra token create"
        raise ConfigError("EZRA_SERVE_HOST", reason)


def _console(pool: HandlePool, tokens: Admission | None, seconds: Callable[[], float]) -> Console:
    clock = pool.ezra._runtime.clock  # noqa: SLF001 - no handle tells the time of the runtime
    return Console(pages, pool, None if tokens is None else tokens.find, clock, seconds)


@cache
def described_routes() -> tuple[APIRoute, ...]:
    """Return the routes that the document describes; they take a while, and hold no state."""
    return (*_with_names(apart), *_with_names(router_of(handlers)))


@cache
def openapi_document() -> dict[str, Any]:
    """Return what every service says of itself; it takes a second to make."""
    return described(described_routes(), handlers)


def _with_names(router: APIRouter) -> tuple[APIRoute, ...]:
    routes = tuple(route for route in router.routes if isinstance(route, APIRoute))
    for route in routes:
        if route.methods == {"GET"} and route.path != feed.PATH:  # which has no end
            route.methods = {"GET", "HEAD"}
        route.param_convertors = dict.fromkeys(route.param_convertors, _NameConvertor())
    return routes


class _NameConvertor(Convertor[str]):
    """A name in a path, which may hold a slash, as it was before it was escaped."""

    regex = "[^/]+"

    def convert(self, value: str) -> str:
        return unquote(value)

    def to_string(self, value: str) -> str:
        return value
