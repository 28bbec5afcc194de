"""Watches every request, outside the gate: a span, a count and a time by operation and status."""

from __future__ import annotations

from opentelemetry.trace import SpanKind
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from ..telemetry import Telemetry, Watched
from ..telemetry.spans import parent_in

UNKNOWN = "none"
"""What a request is called that reached no route: refused before, or to nowhere."""

_METHODS = frozenset("GET POST PUT PATCH DELETE HEAD OPTIONS".split())
_OTHER_METHOD = "_OTHER"
_SERVER_FAILED = 500


class Watching:
    """ASGI middleware around the gate.

    Spans go by OpenTelemetry's conventions for HTTP, but leave out the path and the query, which
    are the caller's words; the ids that the path named are attributes.
    """

    def __init__(self, app: ASGIApp, telemetry: Telemetry) -> None:
        self._app = app
        self._telemetry = telemetry

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status, request_id = 0, ""

        async def watched_send(message: Message) -> None:
            nonlocal status, request_id
            if message["type"] == "http.response.start":
                status = message["status"]
                request_id = Headers(raw=message.get("headers", ())).get("x-request-id", "")
            await send(message)

        verb = scope["method"] if scope["method"] in _METHODS else _OTHER_METHOD
        about = {"http.request.method": verb, "url.scheme": scope.get("scheme", "http")}
        parent = parent_in(Headers(scope=scope))
        watch = self._telemetry.spans.watch
        with watch(verb, about, kind=SpanKind.SERVER, parent=parent) as watched:
            try:
                await self._app(scope, receive, watched_send)
            finally:
                _note(watched, scope, verb, status, request_id)
        self._telemetry.numbers.answered(operation_of(scope), status, watched.seconds)


def operation_of(scope: Scope) -> str:
    """Return what a request that was routed is called, one of as many names as there are routes."""
    route = scope.get("route")
    name = getattr(route, "operation_id", None)
    if isinstance(name, str):
        return name
    if "endpoint" not in scope:
        return UNKNOWN
    first: str = scope["path"].split("/")[1]  # a route matched, so that this part is our own
    return first


def _note(watched: Watched, scope: Scope, verb: str, status: int, request_id: str) -> None:
    """Say on the span what is known of a request once it was answered."""
    operation = operation_of(scope)
    route = getattr(scope.get("route"), "path", None)
    names = scope.get("path_params") or {}
    watched.note(
        ezra__operation=operation,
        ezra__request__id=request_id,
        http__response__status_code=status,
    )
    if route is not None:
        watched.rename(f"{verb} {route}")
        watched.note(http__route=route)
    for name, attribute in (
        ("graph_id", "gen_ai__conversation__id"),
        ("agent_id", "gen_ai__agent__id"),
        ("turn_id", "ezra__turn__id"),
    ):
        if name in names:
            watched.note(**{attribute: str(names[name])})
    token_id = scope.get("state", {}).get("token_id")
    if token_id is not None:
        watched.note(ezra__token__id=token_id)
    if status >= _SERVER_FAILED:
        watched.fail(str(status))
