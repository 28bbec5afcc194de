"""Watches what is asked over MCP: a span, a count and a time by method and tool.

In the place of the SDK's own middleware, whose spans tell messages of errors and whatever name a
caller gives a tool.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from mcp.server.context import CallNext, HandlerResult, ServerMiddleware, ServerRequestContext
from mcp.server.mcpserver import MCPServer
from mcp.shared.exceptions import MCPError
from mcp_types import CallToolResult
from opentelemetry.context import Context
from opentelemetry.trace import SpanKind

from ..telemetry import Telemetry, Watched
from ..telemetry.numbers import OTHER
from ..telemetry.spans import parent_in

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
