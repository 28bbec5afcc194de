"""Gemini's API: its client, what its library raises, and what an error's JSON says (AIP-193)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from .extras import needs
from .provider_clients import transport_failures, trusted_certificates
from .providers import ProviderFailure, answered, unreadable

if TYPE_CHECKING:
    import httpx2
    from google import genai

BASE_URL = "https://generativelanguage.googleapis.com"

_KEY_INVALID = "API_KEY_INVALID"


def google_client(key: str, url: str, http: httpx2.AsyncClient, *, setting: str) -> genai.Client:
    """Return a client that goes by its arguments; takes 0.4 s the first time.

    What the surroundings say (a key, Vertex AI or an address in the environment, aiohttp because
    it happens to be installed) does not count; only the version of the API is the library's.

    Args:
        key: The key.
        url: The server's address.
        http: What it sends with; whoever made that closes it.
        setting: What asked for it; named where the library is not installed.
    """
    with needs("gemini", setting):
        from google import genai  # noqa: PLC0415 - 0.3 s, paid by those who use Gemini
        from google.genai import types  # noqa: PLC0415

    options = types.HttpOptions(
        base_url=url,
        httpx_async_client=http,
        # For what it makes besides and never uses here: a blocking client and websockets.
        client_args={"verify": trusted_certificates()},
        async_client_args={"ssl": trusted_certificates()},
    )
    return genai.Client(vertexai=False, api_key=key, http_options=options)


@contextmanager
def google_failures() -> Iterator[None]:
    """Turn what ``google-genai`` raises in the block into a ``ProviderFailure``."""
    from google.genai import errors  # noqa: PLC0415 - loaded with the client

    try:
        with transport_failures():
            yield
    except errors.APIError as problem:
        headers = getattr(problem.response, "headers", {})
        raise google_failure(problem.code, problem.message, problem.details, headers) from problem
    except (ValueError, TypeError, AttributeError, KeyError) as problem:
        # The library takes an answer apart without looking at it first.
        raise unreadable(f"{type(problem).__name__}: {problem}") from problem


def google_failure(
    status: int, message: object, body: object, headers: Mapping[str, str]
) -> ProviderFailure:
    """Return the failure of an answer that is no success.

    A wrong key is a 400 there, told from other bad requests by its reason only. How long to wait
    is said in the body (``google.rpc.RetryInfo``), not in a ``Retry-After``.

    Args:
        status: The HTTP status.
        message: What the error says.
        body: The JSON of the answer, whatever it is.
        headers: Of the answer.
    """
    details = list(_details(body))
    refused = any(detail.get("reason") == _KEY_INVALID for detail in details)
    failure = answered(status, str(message), headers, key_refused=refused)
    asked = [_seconds(detail.get("retryDelay")) for detail in details]
    failure.retry_after = max([failure.retry_after or 0.0, *asked]) or None
    return failure


def _details(body: object) -> Iterator[Mapping[str, object]]:
    error = body.get("error") if isinstance(body, dict) else None
    details = error.get("details") if isinstance(error, dict) else None
    for detail in details if isinstance(details, list) else []:
        if isinstance(detail, dict):
            yield detail


def _seconds(duration: object) -> float:
    """Return the seconds of a protobuf ``Duration`` in JSON, like ``37s`` or ``0.5s``; else 0."""
    if not isinstance(duration, str) or not duration.endswith("s"):
        return 0.0
    try:
        seconds = float(duration[:-1])
    except ValueError:
        return 0.0
    return seconds if math.isfinite(seconds) and seconds > 0 else 0.0
