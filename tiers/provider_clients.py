"""What a client of a model provider is made of: key, address, name of the model, connections."""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import Iterator
from contextlib import AsyncExitStack, contextmanager
from functools import cache
from http.cookiejar import CookieJar, DefaultCookiePolicy
from typing import TYPE_CHECKING, Self

from pydantic import JsonValue

from .errors import ConfigError, TierUnavailable, UsageError
from .providers import CallLimits, ProviderCalls, answered, unanswered, unreadable

if TYPE_CHECKING:
    import httpx2

ANSWER_BYTES_MAX = 4 * 1024 * 1024
"""Of one answer of a ``JsonEndpoint``; far above what a list of scores takes."""

PROVIDER_BYTES_MAX = 16 * 1024 * 1024
"""Of one answer of a provider: above what the most vectors, or a million characters, take.

Who answers without end would fill the memory of this process until its time is up.
"""

_CONNECT_SECONDS = 10.0
_KEY_CHARS = 4096
_MODEL_CHARS = 200
_MODEL = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:@+-]*(/[A-Za-z0-9][A-Za-z0-9._:@+-]*)*")


def checked_key(key: str, variable: str) -> str:
    """Return the key without blanks around it.

    Raises:
        ConfigError: It is empty, or cannot be the value of an HTTP header.
    """
    bare = key.strip()
    if not bare:
        raise ConfigError(variable, "is empty; set it to the provider's API key")
    if len(bare) > _KEY_CHARS or not bare.isascii() or not bare.isprintable() or " " in bare:
        raise ConfigError(variable, "is no API key: it has blanks, control or other characters")
    return bare


def checked_model(model: str) -> str:
    """Return the name of a model, which becomes part of an address.

    Raises:
        UsageError: It has characters that no model's name has.
    """
    if len(model) > _MODEL_CHARS or _MODEL.fullmatch(model) is None:
        raise UsageError(
            "model", model, f"letters, digits and . _ : @ + - /, at most {_MODEL_CHARS}"
        )
    return model


@cache
def trusted_certificates() -> ssl.SSLContext:
    """Return the certificates to trust, loaded once per process: 30 ms, google-genai does it twice.

    Goes by ``SSL_CERT_FILE`` and ``SSL_CERT_DIR``, like the client libraries.
    """
    import httpx2  # noqa: PLC0415 - only who uses a provider pays for it

    return httpx2.create_ssl_context()


def make_http_client(
    limits: CallLimits, *, answer_bytes_max: int = PROVIDER_BYTES_MAX
) -> httpx2.AsyncClient:
    """Return a client for one provider, made for these limits; the caller closes it.

    Takes some 0.1 s (imports, certificates): call it in a thread. Redirects are not followed:
    google-genai's key is a header that would go to wherever a server points.

    Args:
        limits: Of time and connections.
        answer_bytes_max: The most that is read of an answer, which comes as it is; see ``bounded``.
    """
    import httpx2  # noqa: PLC0415 - only who uses a provider pays for it

    from .bounded_answers import bounded  # noqa: PLC0415 - loads httpx2

    _load_connecting()
    seconds = limits.timeout_seconds
    return httpx2.AsyncClient(
        verify=trusted_certificates(),
        timeout=httpx2.Timeout(seconds, connect=min(seconds, _CONNECT_SECONDS)),
        limits=httpx2.Limits(max_connections=limits.concurrency),
        follow_redirects=False,
        # A jar that takes nothing: what a stranger sets would pile up and be sent back.
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),
        event_hooks=bounded(answer_bytes_max),
    )


@cache
def _load_connecting() -> None:
    """Load in this thread, once, what ``httpx2`` would load with its first connection.

    That is on the event loop, which would stand still for 40 ms in the midst of a first turn.
    """
    import httpcore2  # noqa: PLC0415 - loaded with httpx2
    from anyio import connect_tcp  # noqa: F401, PLC0415 - anyio loads each name with its first use

    asyncio.run(httpcore2.AnyIOBackend().sleep(0))


@contextmanager
def transport_failures() -> Iterator[None]:
    """Turn what ``httpx2`` raises in the block into a ``ProviderFailure``."""
    import httpx2  # noqa: PLC0415 - loaded with the client

    try:
        yield
    except httpx2.HTTPError as problem:
        late = isinstance(problem, httpx2.TimeoutException)
        raise unanswered(problem, late=late) from problem


class JsonEndpoint:
    """One address of a provider that takes JSON and answers with JSON of limited size.

    An async context manager: entering makes the client in a thread, leaving closes it.

    Args:
        calls: Limits, retries, and what errors call the provider.
        url: The whole address.
        key: Sent as a bearer; ``None`` for servers that need none.
    """

    def __init__(self, calls: ProviderCalls, url: str, key: str | None) -> None:
        self._calls = calls
        self._url = url
        self._key = key
        self._http: httpx2.AsyncClient | None = None
        self._exits = AsyncExitStack()

    async def __aenter__(self) -> Self:
        if self._http is not None:
            raise UsageError(self._calls.engine, "opened twice", "one opening at a time")
        async with AsyncExitStack() as exits:
            self._http = await asyncio.to_thread(make_http_client, self._calls.limits)
            exits.push_async_callback(self._http.aclose)
            self._exits = exits.pop_all()
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        self._http = None
        await self._exits.aclose()

    def check_open(self, operation: str) -> None:
        """Raise ``TierUnavailable`` outside of ``async with``."""
        if self._http is None:
            raise TierUnavailable(self._calls.tier, operation, f"{self._calls.engine} is not open")

    async def post(self, body: JsonValue) -> bytes:
        """Return the body of a success, read no further than ``ANSWER_BYTES_MAX``.

        One request, without retries; see ``ProviderCalls.call``.

        Raises:
            ProviderFailure: No answer, a refusal, or one that is too long.
            TierUnavailable: Not open.
        """
        http = self._http
        if http is None:
            raise TierUnavailable(self._calls.tier, "post", f"{self._calls.engine} is not open")
        headers = {"authorization": f"Bearer {self._key}"} if self._key else {}
        content = bytearray()
        with transport_failures():
            async with http.stream("POST", self._url, json=body, headers=headers) as answer:
                async for part in answer.aiter_bytes():
                    content += part
                    if len(content) > ANSWER_BYTES_MAX:
                        break
        if not answer.is_success:
            said = content.decode(errors="replace") if answer.is_error else answer.reason_phrase
            raise answered(answer.status_code, said, answer.headers)
        if len(content) > ANSWER_BYTES_MAX:
            raise unreadable(f"it has more than {ANSWER_BYTES_MAX} bytes")
        return bytes(content)
