"""The gate: what every request passes before it reaches a route, and every answer on its way out.

In this order: who asks, how often, how much, and whether it was asked before. Nothing of a request
is read before its token is checked, and every request leaves one line in the access log: ids and
numbers, never content and never a token.
"""

from __future__ import annotations

import logging
import secrets
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tiers.errors import EzraError

from .admission import Admission
from .caller import LOCAL, Caller
from .limits import (
    BodyTooSlow,
    Buckets,
    Disconnected,
    again,
    body_of,
    check_one_length,
    dropped,
    network_of,
)
from .problem_answers import (
    SECURITY_HEADERS,
    Unauthorized,
    WrongHost,
    failure_answer,
    problem_answer,
)
from .repeats import HEADER, Repeats, fingerprint_of, key_of, only_reads, takes_away
from .watching import operation_of

log = logging.getLogger("ezra.service")
access = logging.getLogger("ezra.access")

_LOOPBACK = frozenset({"localhost", "127.0.0.1", "::1"})
_SHOWN_CHARS = 256
_REFUSED = 4
"""The first digit of the answer to who was refused, and has taken nothing away."""
DROPPED_BYTES_MAX = 64 * 1024 * 1024
DROPPED_SECONDS = 5.0


class Front(Protocol):
    """The part of the service that people look at, where a session stands for a token."""

    def owns(self, path: str) -> bool:
        """Return whether an address is of this part."""

    def is_open(self, path: str) -> bool:
        """Return whether anybody may read an address."""

    def shown(self, headers: Headers) -> str:
        """Return the token that the session of a request stands for, which may be nothing."""

    async def refusal(self, scope: Scope, error: EzraError | None, request_id: str) -> Response:
        """Return how people are told of an error, or of a failure of the service."""


@dataclass(frozen=True)
class Rules:
    """What the gate goes by.

    Attributes:
        tokens: Who may ask; ``None`` lets everybody on this machine in.
        open_paths: What anybody may read.
        requests_per_minute: Per token; ``None`` is no limit.
        body_bytes_max: The largest body.
        body_seconds: How long it may take to arrive.
        front: The pages for people.
    """

    tokens: Admission | None
    open_paths: frozenset[str]
    requests_per_minute: int | None
    body_bytes_max: int
    body_seconds: float
    front: Front


class Gate:
    """ASGI middleware around the whole service."""

    def __init__(
        self, app: ASGIApp, rules: Rules, seconds: Callable[[], float] = time.monotonic
    ) -> None:
        self._app = app
        self._rules = rules
        self._seconds = seconds
        self._buckets = Buckets(rules.requests_per_minute)
        self._repeats = Repeats(seconds)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        # Routes go by the path as it was sent: a name may hold a slash.
        scope["path"] = scope["raw_path"].partition(b"?")[0].decode("latin-1")
        passing = _Passing(scope, send, self._seconds)
        try:
            await self._let_in(scope, receive, passing)
        except Disconnected:
            passing.status = 499
        except EzraError as error:
            answer = await self._refusal(error, scope, passing)
            is_late, headers = isinstance(error, BodyTooSlow), Headers(scope=scope)
            if is_late or (not passing.is_read and not _ends_soon(headers)):
                answer.headers["connection"] = "close"
            elif not passing.is_read and _hangs_up(scope, headers):
                await dropped(receive, DROPPED_SECONDS)
            await answer(scope, receive, passing.send)
        except Exception as error:  # noqa: BLE001 - the service's boundary: told, logged, not fatal
            await self._failed(error, scope, receive, passing)
        finally:
            passing.tell()

    async def _let_in(self, scope: Scope, receive: Receive, passing: _Passing) -> None:
        headers = Headers(scope=scope)
        check_one_length(headers)
        who = await self._asker(scope, headers)
        passing.who = who
        if who != LOCAL.name:
            self._buckets.take(who, self._seconds())
        size = headers.get("content-length")
        body = await body_of(receive, size, self._rules.body_bytes_max, self._rules.body_seconds)
        passing.is_read = True
        rest = again(body, receive)
        key = headers.get(HEADER)
        is_removal = takes_away(scope, body)

        async def work(send: Send) -> None:
            try:
                await self._app(scope, rest, send)
            finally:
                if is_removal and passing.status // 100 != _REFUSED:
                    self._repeats.drop_words()

        if key is None or scope["method"] != "POST" or only_reads(scope):
            await work(passing.send)
            return
        fingerprint = fingerprint_of(scope, body)
        await self._repeats.answer(
            key_of(who, key), fingerprint, passing.send, work, is_removal=is_removal
        )

    async def _asker(self, scope: Scope, headers: Headers) -> str:
        """Return the id of who asks, whose rights go with the request.

        Raises:
            Unauthorized: It shows no token that counts.
            TooManyWrongTokens: Too many wrong ones came from the same address.
            WrongHost: It needs none, but a browser was led here.
        """
        tokens = self._rules.tokens
        if tokens is None or not await tokens.needed():
            _check_local(headers)
            _put(scope, LOCAL, None)
            return LOCAL.name
        path, front = scope["path"], self._rules.front
        if path in self._rules.open_paths or front.is_open(path):
            return "anybody"
        # A session counts on its own pages alone: no other site can have anything done by it.
        shown = _bearer(headers) or (front.shown(headers) if front.owns(path) else "")
        token = await tokens.find(shown, network_of(scope.get("client")))
        if token is None:
            raise Unauthorized
        _put(scope, token.caller, token.id)
        return token.id

    async def _refusal(self, error: EzraError | None, scope: Scope, passing: _Passing) -> Response:
        """Return what tells of an error: to people a page, to programs a problem document."""
        if self._rules.front.owns(scope["path"]):
            return await self._rules.front.refusal(scope, error, passing.id)
        return failure_answer(passing.id) if error is None else problem_answer(error)

    async def _failed(
        self, error: Exception, scope: Scope, receive: Receive, passing: _Passing
    ) -> None:
        """Log where it happened, without the message, which may quote content."""
        where = "".join(traceback.format_tb(error.__traceback__))
        said = {"request": passing.id, "error": type(error).__name__, "where": where}
        log.error("a request failed", extra={"fields": said})
        if not passing.has_begun:
            answer = await self._refusal(None, scope, passing)
            await answer(scope, receive, passing.send)


class _Passing:
    """One request on its way: what the access log says of it."""

    def __init__(self, scope: Scope, send: Send, seconds: Callable[[], float]) -> None:
        self.id = secrets.token_hex(8)
        self.who: str | None = None
        self.status = 0
        self.is_read = False
        self._bytes = 0
        self._scope = scope
        self._send = send
        self._seconds = seconds
        self._since = seconds()

    @property
    def has_begun(self) -> bool:
        """Whether the head of the answer is out."""
        return self.status != 0

    async def send(self, message: Message) -> None:
        """Send on, with the headers that every answer carries."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            headers = MutableHeaders(raw=list(message.get("headers", ())))
            headers["x-request-id"] = self.id
            for name, value in SECURITY_HEADERS.items():
                headers.setdefault(name, value)
            message = {**message, "headers": headers.raw}
        self._bytes += len(message.get("body", b""))
        await self._send(message)

    def tell(self) -> None:
        """Write the line of the access log."""
        if not access.isEnabledFor(logging.INFO):
            return
        route = self._scope.get("route")
        names = self._scope.get("path_params") or {}
        line = {
            "request": self.id,
            "token": self.who,
            "method": self._scope["method"][:_SHOWN_CHARS],
            "operation": operation_of(self._scope),
            "route": getattr(route, "path", None),
            **{name: str(value)[:_SHOWN_CHARS] for name, value in names.items()},
            "status": self.status,
            "bytes": self._bytes,
            "ms": round((self._seconds() - self._since) * 1000, 1),
        }
        access.info("request", extra={"fields": line})


def _put(scope: Scope, caller: Caller, token_id: str | None) -> None:
    state = scope.setdefault("state", {})
    state["caller"], state["token_id"] = caller, token_id


def _ends_soon(headers: Headers) -> bool:
    """Return whether what is left of a refused body can be read and dropped.

    A client that is cut off while it sends may never see why.
    """
    if "transfer-encoding" in headers:
        return False
    size = headers.get("content-length", "0")
    return size.isdigit() and int(size) <= DROPPED_BYTES_MAX


def _hangs_up(scope: Scope, headers: Headers) -> bool:
    """Return whether the connection ends with the answer, while the client may be sending still.

    Where it goes on, the server reads what is left by itself. Who asks first whether to send
    (``Expect``) sends nothing when it is refused.
    """
    is_last = scope["http_version"] == "1.0" or headers.get("connection", "").lower() == "close"
    return is_last and headers.get("content-length", "0") != "0" and "expect" not in headers


def _bearer(headers: Headers) -> str:
    """Return what is shown as a token, which may be nothing."""
    scheme, _, shown = headers.get("authorization", "").partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else ""


def _check_local(headers: Headers) -> None:
    """Refuse requests that a browser sends for a foreign page, by DNS rebinding or from afar.

    Raises:
        WrongHost: It is one.
    """
    host = headers.get("host", "")
    accepted = "localhost, 127.0.0.1 or [::1]; a token lets any other in"
    if _host_of(f"//{host}") not in _LOOPBACK:
        raise WrongHost("Host", host, accepted)
    origin = headers.get("origin")
    if origin is not None and origin != f"http://{host}":
        raise WrongHost("Origin", origin, "none, or this server's own; a token lets any other in")


def _host_of(address: str) -> str | None:
    try:
        return urlsplit(address).hostname
    except ValueError:
        return None
