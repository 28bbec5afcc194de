"""The way to a server: an operation is asked over HTTP, and its answer or error read back."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack, contextmanager
from typing import TYPE_CHECKING, Any, Self, TypeAlias
from urllib.parse import quote, urlsplit

from opentelemetry.trace import SpanKind
from pydantic import ValidationError

from tiers.addresses import checked_base_url
from tiers.concurrency import Lifetime, check_loop
from tiers.errors import EzraError, TierRejected, TierTimeout, TierUnavailable, UsageError
from tiers.ids import IdFactory
from tiers.provider_clients import checked_key, trusted_certificates

from ..arguments import ENCODABLE, checked_name
from ..telemetry import Spans, Watched
from ..telemetry.spans import Attributes, headers_of_current
from ..wire import Nothing, Operation
from ..wire.operation import ANSWER_HEADER, A, R
from ..wire.problems import CONTENT_TYPE, error_of

if TYPE_CHECKING:
    import httpx2

TIMEOUT_SECONDS = 120.0
"""Of one call: a completion waits for a model, a lifecycle tick for its work."""

ANSWER_BYTES_MAX = 64 * 1024 * 1024
FILE_BYTES_MAX = 1 << 40
"""Of a file that comes in chunks: a limit on what fills a disk, not one that is met."""

Taker: TypeAlias = Callable[[bytes], Awaitable[None]]
CONNECTIONS_MAX = 100
ATTEMPTS = 3
Sent: TypeAlias = dict[str, dict[str, Any]]
"""What is asked, as JSON or as a query string."""

_AGAIN = frozenset({429, 502, 503, 504})
_WAIT_SECONDS = 0.2
_WAIT_MAX_SECONDS = 5.0


def _is_a_while(seconds: object) -> bool:
    return isinstance(seconds, int | float) and seconds > 0


class Connection:
    """Calls to one server, with one token. An async context manager.

    What may be repeated is tried again when the server is not reachable or busy. It belongs to the
    event loop in which it was opened: what another one has left in it would break later calls.

    Args:
        url: The server's address.
        token: Who asks; ``None`` for a server on loopback that needs none.
        timeout_seconds: Of one call.

    Raises:
        ConfigError: The address or the token cannot be one.
        UsageError: The seconds are no number above 0.
    """

    def __init__(
        self, url: str, token: str | None, *, timeout_seconds: float = TIMEOUT_SECONDS
    ) -> None:
        if not isinstance(url, str):
            raise UsageError("url", url, "an address such as http://127.0.0.1:8765")
        if not isinstance(token, str | None):
            raise UsageError("token", type(token).__name__, "text")
        if not _is_a_while(timeout_seconds):
            raise UsageError("timeout_seconds", timeout_seconds, "a number of seconds above 0")
        self._url = checked_base_url(url, "EZRA_URL")
        self._token = None if token is None else checked_key(token, "EZRA_TOKEN")
        self._timeout = timeout_seconds
        self._spans = Spans()
        self._http: httpx2.AsyncClient | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._exits = AsyncExitStack()
        self.lifetime = Lifetime()
        self.ids = IdFactory()

    async def __aenter__(self) -> Self:
        if self._http is not None:
            raise UsageError("connection", "opened twice", "one opening at a time")
        async with AsyncExitStack() as exits:
            self._http = await asyncio.to_thread(self._client)
            exits.push_async_callback(self._http.aclose)
            self._exits = exits.pop_all()
        self._loop = asyncio.get_running_loop()
        return self

    async def __aexit__(self, *failed: object) -> None:
        self._http = None
        await self._exits.aclose()

    @property
    def url(self) -> str:
        """The server's address."""
        return self._url

    async def call(self, operation: Operation[A, R], asked: A, **names: str) -> R:
        """Return the server's answer.

        Args:
            operation: What is asked for.
            asked: What it is asked.
            names: Those of the operation's path.

        Raises:
            EzraError: As the server says.
            TierUnavailable: It is not reachable.
            TierTimeout: No answer in time; what was asked may have been done.
            TierRejected: What answers is not ezra.
            UsageError: Another event loop asks than the one in which this was opened.
        """
        path = _path(operation, names)
        document = asked.model_dump(mode="json", exclude_unset=True)
        sent: Sent = {"json": document} if operation.has_body else {"params": _flat(document)}
        return _read(operation, await self._answer(operation, path, sent))

    async def download(self, operation: Operation[Nothing, R], take: Taker, **names: str) -> R:
        """Hand a file over, chunk by chunk as it comes, and return what the server says of it.

        It is asked for once: what was taken cannot be taken back.

        Args:
            operation: What is asked for: its answer comes in ``ANSWER_HEADER``.
            take: Called with each chunk; its error ends the transfer.
            names: Those of the operation's path.

        Raises:
            EzraError: As ``call`` does.
        """
        http, path, taken = self._opened(operation), _path(operation, names), 0
        try:
            with self._watched(operation) as watched, self._errors_translated(operation):
                headers = headers_of_current()
                async with http.stream(operation.verb, path, headers=headers) as answer:
                    _note(watched, answer)
                    if not answer.is_success:
                        await answer.aread()
                        raise _error(operation, answer)
                    async for chunk in answer.aiter_bytes():
                        taken += len(chunk)
                        if taken > FILE_BYTES_MAX:
                            reason = f"a file of more than {FILE_BYTES_MAX} bytes"
                            raise TierRejected("server", operation.name, reason)
                        await take(chunk)
                    return _read(operation, answer.headers.get(ANSWER_HEADER, ""))
        except _Again as again:
            raise again.error from again.__cause__

    async def _answer(self, operation: Operation[Any, Any], path: str, sent: Sent) -> bytes:
        wait = _WAIT_SECONDS
        for attempt in range(1, ATTEMPTS + 1):
            try:
                return await self._once(operation, path, sent)
            except _Again as again:
                if attempt == ATTEMPTS or not operation.repeats:
                    raise again.error from again.__cause__
                await asyncio.sleep(min(again.seconds or wait, _WAIT_MAX_SECONDS))
                wait *= 2
        raise AssertionError  # pragma: no cover - the last attempt returns or raises

    async def _once(self, operation: Operation[Any, Any], path: str, sent: Sent) -> bytes:
        http = self._opened(operation)
        with (
            self._watched(operation) as watched,
            self._errors_translated(operation, next(iter(sent.values()))),
        ):
            answer = await http.request(
                operation.verb,
                path,
                json=sent.get("json"),
                params=sent.get("params"),
                headers=headers_of_current(),
            )
            _note(watched, answer)
        if len(answer.content) > ANSWER_BYTES_MAX:
            reason = f"an answer of more than {ANSWER_BYTES_MAX} bytes"
            raise TierRejected("server", operation.name, reason)
        if answer.is_success:
            return answer.content
        failed = _error(operation, answer)
        if answer.status_code in _AGAIN:
            raise _Again(failed, _seconds(answer.headers.get("retry-after")))
        raise failed

    def _opened(self, operation: Operation[Any, Any]) -> httpx2.AsyncClient:
        if self._http is None:
            raise TierUnavailable("server", operation.name, "the connection is not open")
        check_loop(self._loop)
        return self._http

    def _watched(self, operation: Operation[Any, Any]) -> Watched:
        """Return the span of one request, by OpenTelemetry's conventions for clients of HTTP."""
        where = urlsplit(self._url)
        about: Attributes = {
            "http.request.method": operation.verb,
            "url.template": operation.path,
            "server.address": where.hostname or "",
            "server.port": where.port or (443 if where.scheme == "https" else 80),
            "ezra.operation": operation.name,
        }
        name = f"{operation.verb} {operation.path}"
        return self._spans.watch(name, about, kind=SpanKind.CLIENT)

    @contextmanager
    def _errors_translated(
        self, operation: Operation[Any, Any], document: dict[str, Any] | None = None
    ) -> Iterator[None]:
        """Tell of what the connection does in words of ours; ``said`` is what is asked."""
        import httpx2  # noqa: PLC0415 - only who calls a server pays for it

        try:
            yield
        except UnicodeEncodeError as problem:
            half = problem.object[problem.start : problem.end]
            raise UsageError("text", half, ENCODABLE) from problem
        except httpx2.InvalidURL as problem:
            longest = max(
                document or {"url": ""}, key=lambda name: len(str((document or {}).get(name)))
            )
            accepted = "less: what is asked stands in the address, which has 65,536 characters"
            raise UsageError(longest, (document or {}).get(longest), accepted) from problem
        except ValueError as problem:
            for field, number in _endless(document):
                raise UsageError(field, number, "a finite number") from problem
            raise
        except httpx2.ConnectError as problem:
            error = TierUnavailable("server", operation.name, f"{self._url} is not reachable")
            raise _Again(error, None) from problem
        except httpx2.TimeoutException as problem:
            reason = f"no answer within {self._timeout:g} s"
            raise TierTimeout("server", operation.name, reason) from problem
        except httpx2.HTTPError as problem:
            reason = f"the connection broke: {type(problem).__name__}"
            raise _Again(TierTimeout("server", operation.name, reason), None) from problem

    def _client(self) -> httpx2.AsyncClient:
        import httpx2  # noqa: PLC0415 - only who calls a server pays for it

        headers = {"authorization": f"Bearer {self._token}"} if self._token else {}
        return httpx2.AsyncClient(
            base_url=self._url,
            headers=headers,
            verify=trusted_certificates(),
            timeout=self._timeout,
            limits=httpx2.Limits(max_connections=CONNECTIONS_MAX),
            follow_redirects=False,  # the token would go to wherever a server points
        )


class _Again(Exception):
    """A call that may be tried again, and the error that it ends with otherwise."""

    def __init__(self, error: EzraError, seconds: float | None) -> None:
        super().__init__(str(error))
        self.error = error
        self.seconds = seconds


def _path(operation: Operation[Any, Any], names: Mapping[str, str]) -> str:
    """Return the address of an operation."""
    return operation.path.format(**{name: _escaped(name, one) for name, one in names.items()})


def _escaped(name: str, value: object) -> str:
    """Return a name as one part of an address.

    Raises:
        UsageError: It cannot be one.
    """
    value = checked_name(name, value)
    if value in (".", ".."):
        return value.replace(".", "%2E")  # as they are they would lead to another address
    return quote(value, safe="")


def _endless(document: object, field: str = "") -> Iterator[tuple[str, float]]:
    """Yield the numbers of a body that JSON has no form for, each with where it stands."""
    if isinstance(document, float) and not math.isfinite(document):
        yield field, document
    elif isinstance(document, Mapping):
        for name, one in document.items():
            yield from _endless(one, f"{field}.{name}" if field else str(name))
    elif isinstance(document, list):
        for number, one in enumerate(document):
            yield from _endless(one, f"{field}[{number}]")


def _read(operation: Operation[Any, R], content: bytes | str) -> R:
    """Return what an answer says."""
    try:
        return operation.answers.validate_json(content)
    except ValidationError as error:
        problem = f"an answer that does not fit, {error.error_count()} problems"
        raise TierRejected("server", operation.name, problem) from None


def _error(operation: Operation[Any, Any], answer: httpx2.Response) -> EzraError:
    if answer.headers.get("content-type", "").startswith(CONTENT_TYPE):
        return error_of(answer.json())
    return TierRejected("server", operation.name, f"status {answer.status_code}, not from ezra")


def _note(watched: Watched, answer: httpx2.Response) -> None:
    watched.note(http__response__status_code=answer.status_code)
    if not answer.is_success:
        watched.fail(str(answer.status_code))


def _seconds(header: str | None) -> float | None:
    return float(header) if header is not None and header.isdigit() else None


def _flat(document: dict[str, Any]) -> dict[str, Any]:
    """Return what is asked as a query string takes it: nothing for what is not said."""
    return {name: value for name, value in document.items() if value is not None}
