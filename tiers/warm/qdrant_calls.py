"""How long a call to a Qdrant server may take, and when it is made again.

Every operation of the warm tier may be made twice with the same end: points are written whole
under their ids, removed by id or condition, and the rest only reads. So a connection that broke
or a server that says it is busy is worth another try. A late answer is not: whoever waits has
waited enough.

The driver's exceptions become those of ``tiers.errors`` here. What a server answers may repeat what
it was sent, hence records, and what the driver cannot read it quotes. So no answer's body gets into
an error: the causes that are chained here have the driver's class and the status, and nothing that
was stored.
"""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import NamedTuple, TypeVar

import httpx
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import (
    ApiException,
    ResponseHandlingException,
    UnexpectedResponse,
)
from qdrant_client.models import UpdateResult, UpdateStatus

from ..errors import ConfigError, EzraError, TierRejected, TierTimeout, TierUnavailable

DRIVER_ERRORS = (
    ApiException,
    QdrantException,
    AssertionError,  # an answer without a result
    json.JSONDecodeError,  # an answer that is no JSON
    UnicodeDecodeError,
)
"""Everything the driver raises over an answer, or over none."""

_NO_SERVICE = (
    HTTPStatus.TOO_MANY_REQUESTS,
    HTTPStatus.BAD_GATEWAY,
    HTTPStatus.SERVICE_UNAVAILABLE,
)
_LATE = (HTTPStatus.REQUEST_TIMEOUT, HTTPStatus.GATEWAY_TIMEOUT)
_NO_ENTRY = (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN)


class Failure(NamedTuple):
    """What a failed call means.

    Attributes:
        error: What to raise.
        cause: What to chain: of the driver's class, without what was answered.
        repeat_after: Seconds after which another try is worth it; ``None`` when it is not.
    """

    error: EzraError
    cause: Exception
    repeat_after: float | None = None


def meaning(operation: str, error: Exception) -> Failure:
    """Return what one of ``DRIVER_ERRORS`` means."""
    if isinstance(error, UnexpectedResponse):
        return _refusal(operation, error)
    if isinstance(error, ResourceExhaustedResponse):
        seconds = max(0, error.retry_after_s)
        reason = f"Qdrant has too much to do; it says to come back in {seconds} s"
        cause = ResourceExhaustedResponse("", seconds)
        return Failure(TierUnavailable("warm", operation, reason), cause, float(seconds))
    if isinstance(error, ResponseHandlingException) and isinstance(error.source, httpx.HTTPError):
        return _broken_connection(operation, error.source)
    name = type(error.source if isinstance(error, ResponseHandlingException) else error).__name__
    reason = f"what answers does not answer as Qdrant does ({name}); look at EZRA_QDRANT_URL"
    unreadable = ResponseHandlingException(ValueError(f"{name}: the answer is not shown"))
    return Failure(TierUnavailable("warm", operation, reason), unreadable)


def _refusal(operation: str, error: UnexpectedResponse) -> Failure:
    status = error.status_code or 0
    cause = UnexpectedResponse(status, error.reason_phrase, b"", httpx.Headers())
    answer = f"{status} {error.reason_phrase}".strip()
    if status in _NO_ENTRY:
        reason = f"Qdrant does not let this key {operation.replace('_', ' ')} ({answer})"
        return Failure(ConfigError("EZRA_QDRANT_API_KEY", reason), cause)
    if status in _LATE:
        reason = f"Qdrant took too long ({answer})"
        return Failure(TierTimeout("warm", operation, reason), cause)
    if status in _NO_SERVICE:
        reason = f"Qdrant cannot serve this now ({answer})"
        return Failure(TierUnavailable("warm", operation, reason), cause, 0.0)
    if status >= HTTPStatus.INTERNAL_SERVER_ERROR and status != HTTPStatus.NOT_IMPLEMENTED:
        reason = f"Qdrant failed ({answer}); its log says why"
        return Failure(TierUnavailable("warm", operation, reason), cause)
    if status == HTTPStatus.NOT_FOUND:
        reason = f"the collection does not exist, or not any more ({answer})"
        return Failure(TierRejected("warm", operation, reason), cause)
    reason = f"Qdrant refused ({answer}); its log says why"
    return Failure(TierRejected("warm", operation, reason), cause)


def _broken_connection(operation: str, source: httpx.HTTPError) -> Failure:
    if isinstance(source, httpx.TimeoutException):
        reason = f"no answer in time ({type(source).__name__})"
        return Failure(TierTimeout("warm", operation, reason), source)
    if isinstance(source, httpx.ConnectError):
        if "SSL" in str(source):
            reason = f"no TLS connection to Qdrant is possible ({source})"
            return Failure(TierRejected("warm", operation, reason), source)
        reason = f"Qdrant cannot be reached ({source})"
        return Failure(TierUnavailable("warm", operation, reason), source, 0.0)
    # A protocol error quotes the bytes it stumbled over: only its name is kept.
    cause = type(source)("the connection broke")
    reason = f"the connection to Qdrant broke ({type(source).__name__})"
    return Failure(TierUnavailable("warm", operation, reason), cause, 0.0)


TRIES_MAX = 3
FIRST_WAIT_SECONDS = 0.025

_AnswerT = TypeVar("_AnswerT")


class QdrantCalls:
    """The limits every call to one server shares.

    Args:
        timeout_seconds: For the whole call: connecting, the answer, and every try.
    """

    def __init__(self, timeout_seconds: float) -> None:
        self._timeout_seconds = timeout_seconds

    @property
    def server_seconds(self) -> int:
        """What the server is told to spend at most, in the whole seconds it understands."""
        return math.ceil(self._timeout_seconds)

    async def answer(self, operation: str, call: Callable[[], Awaitable[_AnswerT]]) -> _AnswerT:
        """Return the answer of ``call``, which must be safe to repeat.

        Raises:
            TierError: What the driver raised, translated; of several tries, the last.
            ConfigError: The server wants another key.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._timeout_seconds
        tries, wait = 0, FIRST_WAIT_SECONDS
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await call()
            except TimeoutError as error:
                failure = self._late(operation, error)
            except DRIVER_ERRORS as error:
                failure = meaning(operation, error)
            tries += 1
            pause = None if failure.repeat_after is None else max(wait, failure.repeat_after)
            if pause is None or tries == TRIES_MAX or clock() + pause >= deadline:
                # Raised out here, so that the driver's error is not even the context.
                raise failure.error from failure.cause
            await asyncio.sleep(pause)
            wait *= 2

    async def done(self, operation: str, call: Callable[[], Awaitable[UpdateResult]]) -> None:
        """Make a write and make sure that it was carried out, not only written down.

        Raises:
            TierError: As ``answer`` does; ``TierTimeout`` too when the server stopped waiting for
                its own work.
            ConfigError: As ``answer`` does.
        """
        result = await self.answer(operation, call)
        if result.status != UpdateStatus.COMPLETED:
            reason = f"written down but not yet carried out ({result.status})"
            raise TierTimeout("warm", operation, reason)

    def _late(self, operation: str, error: TimeoutError) -> Failure:
        reason = f"no answer within {self._timeout_seconds} s"
        return Failure(TierTimeout("warm", operation, reason), error)
