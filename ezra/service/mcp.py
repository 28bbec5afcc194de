"""The Model Context Protocol over stdio and streamable HTTP: an agent's memory as tools.

Who asks comes from the process (stdio) or from the bearer token of each request (HTTP), never
from what a tool is given.

What is asked has a span, a count and a time by method and tool. The SDK's own middleware is not
used for it: its spans tell messages of errors and whatever name a caller gives a tool.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from dataclasses import replace
from typing import Any, TypeAlias

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.tools import Tool
from mcp.server.transport_security import TransportSecuritySettings
from mcp.shared.exceptions import MCPError
from mcp_types import INVALID_REQUEST, CallToolResult
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from tiers.errors import PolicyDenied

from ..telemetry import Telemetry, Watched
from ..telemetry.numbers import OTHER
from ..telemetry.spans import own_version, parent_in
from ..wire import Need
from .caller import Caller
from .given_names import names_in
from .handle_pool import HandlePool
from .mcp_agents import Seat, Seats
from .mcp_resources import INSTRUCTIONS, add_prompts, add_resources
from .mcp_server import MemoryServer
from .mcp_tools import MemoryTools, tools_of

_THEIRS = "OpenTelemetryMiddleware"
NO_TOOL = ""
CALL = "tools/call"
METHODS = frozenset(
    (
        *("completion/complete", "initialize", "ping", "prompts/get", "prompts/list"),
        *("resources/list", "resources/read", "resources/templates/list", CALL, "tools/list"),
        *("notifications/initialized", "notifications/cancelled", "server/discover"),
    )
)

_Context: TypeAlias = ServerRequestContext[Any, Any]


def watch_requests(server: MCPServer[Any], telemetry: Telemetry, tools: frozenset[str]) -> None:
    """Watch every request to a server.

    Args:
        server: Which.
        telemetry: Told of each.
        tools: The names of its tools; any other is a caller's word.
    """
    kept = [one for one in server.middleware if type(one).__name__ != _THEIRS]
    server.middleware[:] = [_watching(telemetry, tools), *kept]


def _watching(telemetry: Telemetry, tools: frozenset[str]) -> ServerMiddleware[Any]:
    async def watching(ctx: _Context, call_next: CallNext) -> HandlerResult:
        method = ctx.method if ctx.method in METHODS else OTHER
        tool = _tool(ctx, tools)
        outcome = "failed"

        def observe(seconds: float) -> None:
            telemetry.numbers.used(method, tool, outcome, seconds)

        with _span(telemetry, method, tool, _parent(ctx.meta), observe) as watched:
            try:
                result = await call_next(ctx)
            except MCPError as error:
                watched.note(rpc__response__status_code=str(error.error.code))
                raise
            if _is_refused(result):
                outcome = "refused"
                watched.fail("tool_error")
            else:
                outcome = "answered"
        return result

    return watching


def _tool(ctx: _Context, tools: frozenset[str]) -> str:
    if ctx.method != CALL:
        return NO_TOOL
    name = (ctx.params or {}).get("name")
    return name if isinstance(name, str) and name in tools else OTHER


def _span(
    telemetry: Telemetry,
    method: str,
    tool: str,
    parent: Context | None,
    observe: Callable[[float], None],
) -> Watched:
    about = {"mcp.method.name": method}
    if tool:
        about |= {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool}
    name = f"{method} {tool}".rstrip()
    return telemetry.spans.watch(name, about, kind=SpanKind.SERVER, parent=parent, observe=observe)


def _parent(meta: Mapping[str, Any] | None) -> Context | None:
    """Return the context that a client sent along with a request, if it did (SEP-414)."""
    names = ("traceparent", "tracestate")
    found = {name: value for name in names if isinstance(value := (meta or {}).get(name), str)}
    return parent_in(found)


def _is_refused(result: HandlerResult) -> bool:
    match result:
        case CallToolResult(is_error=True) | {"isError": True}:
            return True
        case _:
            return False


CALLER_STATE = "caller"
"""The key of ``scope["state"]`` under which the service puts the ``Caller`` of a request."""

BODY_BYTES_MAX = 4 * 1024 * 1024
LOOPBACK = ("127.0.0.1", "localhost", "[::1]")

_caller: ContextVar[Caller] = ContextVar("ezra_mcp_caller")


def mcp_server(
    pool: HandlePool, caller: Caller | None = None, *, seats: Seats | None = None
) -> MCPServer[Any]:
    """Return a server that lends the memory of one agent to a model.

    Args:
        pool: Hands out handles, embedded or of a running server: both have the same methods.
        caller: Who asks, for as long as the process lives; ``None`` looks at each HTTP request.
        seats: Finds the agent of a caller, where that is done otherwise than in process.
    """
    found = seats or Seats(pool)

    async def seat() -> Seat:
        return await found.of(_caller.get())

    def drop() -> None:
        found.drop(_caller.get())

    def check(needs: Need, tool: str) -> None:
        asking = _caller.get()
        asking.check(needs, f"call {tool}", asking.graph_id, asking.agent_id)

    tools = tools_of(MemoryTools(pool, found, seat), drop, check)
    with _root_logger_kept():
        server: MCPServer[Any] = MemoryServer(
            "ezra",
            title="ezra memory",
            instructions=INSTRUCTIONS,
            version=own_version(),
            tools=tools,
            subscriptions=False,
            middleware=[_telling_who(caller)],
            log_level="WARNING",
        )
    watch_requests(server, pool.telemetry, frozenset(tool.name for tool in tools))
    add_resources(server, found, seat)
    add_prompts(server, seat)
    return server


def listed_tools(pool: HandlePool) -> list[Tool]:
    """Return the tools to be told of; none of them is to be called."""
    seats = Seats(pool)

    async def nobody() -> Seat:
        raise PolicyDenied("nobody", "use memory", ("a token",), "none")

    def nothing(*_: object) -> None:
        """Drop nothing, check nothing."""

    return tools_of(MemoryTools(pool, seats, nobody), nothing, nothing)


class McpDoor:
    """MCP over streamable HTTP: an ASGI app to be put at ``/mcp``, open while ``running``.

    Every request stands alone: no session is kept, so that none can be taken over, and each is
    done for whoever its own token names.

    Args:
        pool: Shared with the other surfaces of a service.
        hosts: The names by which it may be asked, with any port; ``()`` is any. A service without
            tokens must say, or a web page could reach it under a name of its own.
    """

    def __init__(self, pool: HandlePool, *, hosts: Sequence[str] = LOOPBACK) -> None:
        server = mcp_server(pool)
        server.streamable_http_app(
            json_response=True,
            stateless_http=True,
            max_request_body_size=BODY_BYTES_MAX,
            transport_security=_only(hosts),
        )
        self._requests = server.session_manager

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Answer requests for the length of the block; once."""
        async with self._requests.run():
            yield

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http" or scope["method"] != "POST":
            # Nothing is pushed and no session is kept: there is nothing to GET or DELETE.
            await Response(status_code=405, headers={"allow": "POST"})(scope, receive, send)
            return
        await self._requests.handle_request(scope, receive, send)


def caller_of(request: Request) -> Caller:
    """Return who asks: the bearer of the token, narrowed by what the address says.

    ``?graph=…&agent=…`` name the agent of a token that reaches several.

    Raises:
        PolicyDenied: Nobody is known to ask, or the token does not reach what the address names.
    """
    caller = getattr(request.state, CALLER_STATE, None)
    if not isinstance(caller, Caller):
        raise PolicyDenied("nobody", "use memory", ("a token",), "none")
    named = names_in(request.query_params)
    graph_id = named.get("graph", caller.graph_id)
    agent_id = named.get("agent", caller.agent_id)
    caller.check("see", "use memory", graph_id, agent_id)
    return replace(caller, graph_id=graph_id, agent_id=agent_id)


def _telling_who(caller: Caller | None) -> ServerMiddleware[Any]:
    """Return what tells everything behind it who asks."""

    async def telling(ctx: ServerRequestContext[Any, Any], call_next: CallNext) -> HandlerResult:
        try:
            asking = caller or caller_of(ctx.request or Request({"type": "http"}))
        except PolicyDenied as error:
            raise MCPError(INVALID_REQUEST, str(error)) from error
        token = _caller.set(asking)
        try:
            return await call_next(ctx)
        finally:
            _caller.reset(token)

    return telling


def _only(hosts: Sequence[str]) -> TransportSecuritySettings:
    names = [one for host in hosts for one in (host, f"{host}:*")]
    origins = [f"{scheme}://{name}" for name in names for scheme in ("http", "https")]
    return TransportSecuritySettings(
        enable_dns_rebinding_protection=bool(hosts), allowed_hosts=names, allowed_origins=origins
    )


@contextmanager
def _root_logger_kept() -> Iterator[None]:
    """Leave the root logger as it is: the SDK sets it up, and that is for the program to do."""
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    # It would log at INFO what callers said: logs hold ids, never content.
    logging.getLogger("mcp").setLevel(logging.WARNING)
