"""Problem documents as answers: what went wrong, said in one form by every part of the service."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Match

from tiers.errors import ConfigError, EzraError, NotFound, UsageError
from tiers.fields import Misfit

from ..wire.problems import CONTENT_TYPE, problem_of
from .caller import Caller
from .given_names import GivenTwice
from .limits import BodyTooLarge, BodyTooSlow, TooManyRequests, TwoLengths

SECURITY_HEADERS: Mapping[str, str] = {
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
}
"""What every answer says. A problem document says so itself: not every one passes the gate."""

_PATH_CHARS_MAX = 256
_READABLE = "JSON in UTF-8, without thousands of levels or of digits in a number"


class Unauthorized(ConfigError):
    """There is no token, or none that counts. It says the same of every one of them."""

    def __init__(self) -> None:
        super().__init__("EZRA_TOKEN", "this server asks for a token that it knows and that counts")


class WrongHost(UsageError):
    """A browser was led here under a foreign name, or by a foreign page."""


class NotJson(UsageError):
    """A body that does not say that it is JSON."""

    def __init__(self, kind: str) -> None:
        super().__init__("Content-Type", kind, "application/json")


_STATUS: Mapping[type[EzraError], int] = {
    Unauthorized: 401,
    WrongHost: 403,
    BodyTooLarge: 413,
    BodyTooSlow: 408,
    TwoLengths: 400,
    NotJson: 415,
}


def problem_answer(
    error: EzraError, status: int | None = None, *, near: Sequence[str] = ()
) -> Response:
    """Return the answer that tells of an error; ``near`` as ``problem_of``."""
    problem = problem_of(error, near=near)
    problem["status"] = status or status_of(error, problem)
    headers: dict[str, str] = {}
    if isinstance(error, Unauthorized):
        headers["www-authenticate"] = "Bearer"
    if isinstance(error, TooManyRequests):
        headers["retry-after"] = str(error.seconds)
    return document(problem, headers)


def status_of(error: EzraError, problem: Mapping[str, Any]) -> int:
    """Return the status of the answer that tells of an error; ``problem`` is its document."""
    status: int = _STATUS.get(type(error), problem["status"])
    return status


def failure_answer(request_id: str) -> Response:
    """Return the answer to a request on which the service itself failed; it tells no details."""
    problem = {
        "type": "urn:ezra:error:EzraError",
        "title": "The service failed",
        "status": 500,
        "detail": f"an unexpected error; the server's log tells of it under {request_id}",
        "id": request_id,
    }
    return document(problem, {})


def document(problem: Mapping[str, Any], headers: Mapping[str, str]) -> Response:
    """Return a problem document as an answer."""
    # In ASCII: a caller may have sent half a surrogate pair, which UTF-8 cannot carry back.
    content = json.dumps(problem, allow_nan=False)
    all_headers = {**SECURITY_HEADERS, **headers}
    return Response(content, problem["status"], all_headers, media_type=CONTENT_TYPE)


async def on_error(request: Request, error: Exception) -> Response:
    """Answer what ezra raises on purpose."""
    assert isinstance(error, EzraError)  # noqa: S101 - registered for these alone
    return problem_answer(error, near=_near(request, error))


def _near(request: Request, error: EzraError) -> Sequence[str]:
    """Return the names near one that is not there: to who may list names of that kind."""
    if not isinstance(error, NotFound):
        return ()
    where = request.path_params.get("graph_id") if error.kind == "agent" else None
    caller: Caller | None = getattr(request.state, "caller", None)
    return error.near if caller is not None and caller.may("read", where) else ()


async def on_invalid(_: Request, error: Exception) -> Response:
    """Answer a request that does not fit: its first field, what it held, and what is accepted."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - registered for these alone
    first = error.errors()[0]
    where = [str(part) for part in first["loc"]]
    if isinstance(error.__cause__, GivenTwice):
        refusal = error.__cause__.refusal
    elif first["type"] == "json_invalid":
        refusal = UsageError("body", "no JSON", "JSON in UTF-8")
    elif where == ["body"] and first["type"] == "missing":
        refusal = UsageError("body", None, "a JSON object: {} where nothing has to be said")
    else:
        misfit = Misfit.of(first)
        field = ".".join(where[1:]) or where[0]
        refusal = UsageError(field, _scalar(misfit.value), misfit.accepted)
    return problem_answer(refusal)


async def on_http(request: Request, error: Exception) -> Response:
    """Answer what no route answers: unknown paths and methods, bodies that cannot be read."""
    assert isinstance(error, HTTPException)  # noqa: S101 - registered for these alone
    status = error.status_code
    if status == HTTPStatus.METHOD_NOT_ALLOWED:
        allowed = ", ".join(sorted(_methods(request)))
        answer = problem_answer(UsageError("method", request.method, allowed), status)
        answer.headers["allow"] = allowed
        return answer
    refusal: EzraError
    if status == HTTPStatus.NOT_FOUND:
        refusal = NotFound("path", request.scope["path"][:_PATH_CHARS_MAX])
    elif status == HTTPStatus.BAD_REQUEST:  # what reads JSON failed over the body
        refusal = UsageError("body", "no JSON that can be read", _READABLE)
    else:
        refusal = UsageError("request", status, str(error.detail))
    return problem_answer(refusal, status)


def _methods(request: Request) -> set[str]:
    """Return with which methods there is something at an address: each has a route of its own."""
    found: set[str] = set()
    for route in request.app.router.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            found |= getattr(route, "methods", None) or set()
    return found


def _scalar(value: object) -> object:
    """Return a value as it may be said back; of what is composed, only its kind."""
    return value if isinstance(value, str | int | float | bool | None) else type(value).__name__
