"""A service that answers in JSON as a source.

Its address is declared, and so is every path below it. A value becomes one segment of the path, a
parameter, or a field of a body; never a header, a host or a part of a path. Redirects lead to the
same service or nowhere, and an answer is read no further than its limit.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from tiers.errors import ConfigError, TierRejected, TierUnavailable, UsageError
from tiers.provider_clients import make_http_client
from tiers.providers import CallLimits

from .questions import split_at_slots
from .rows import Found, in_utc
from .slots import Value
from .source import TIER, Plan, Source, check_depth, found_in, sent, sent_as_of
from .specs import RestQuestion, RestSpec

if TYPE_CHECKING:
    import httpx2

CONNECTIONS_MAX = 8
REDIRECTS_MAX = 3


class RestSource(Source):
    """A service that answers in JSON; see ``Source``."""

    kind = "rest"
    _declared: RestSpec

    def __init__(self, name: str, spec: RestSpec, seconds: float) -> None:
        super().__init__(name, spec, seconds)
        self._base = _base(spec.url.get_secret_value(), name)
        self._http: httpx2.AsyncClient | None = None

    @property
    def is_open(self) -> bool:
        """Whether there is a client."""
        return self._http is not None

    async def open(self) -> None:
        """Make the client; the service is asked when there is something to ask."""
        async with self._opening:
            if self._http is None:
                limits = CallLimits(self.seconds, 1, CONNECTIONS_MAX, None, 0.1)
                most = self._declared.answer_bytes_max
                self._http = await asyncio.to_thread(
                    make_http_client, limits, answer_bytes_max=most
                )

    async def close(self) -> None:
        """Close every connection."""
        http, self._http = self._http, None
        if http is not None:
            await http.aclose()

    async def reach(self) -> None:
        """See that somebody answers at the service's address, whatever the answer is.

        Raises:
            TierError: Nobody does.
        """
        await self._exchange("HEAD", self._base + "/", {}, None)

    async def find(self, plan: Plan) -> Found:
        """Send one request, and follow redirects inside the service."""
        question: RestQuestion = plan.question
        query = sent_as_of(question.query, plan)
        body = None if question.method == "GET" else sent(question.body, plan.values)
        url = self._base + path_of(question.path, plan.values)
        status, headers, content = await self._exchange(question.method, url, query, body)
        if not 200 <= status < 300:  # noqa: PLR2004 - the successes of HTTP
            raise TierRejected(TIER, self.name, f"it answered {status}")
        document = await asyncio.to_thread(self._document, content)
        return found_in(document, question, self.name, synced_at(headers))

    async def _exchange(
        self, method: str, url: str, query: Mapping[str, Any], body: object
    ) -> tuple[int, Mapping[str, str], bytes]:
        """Return what the service says at an address or where it points inside itself."""
        import httpx2  # noqa: PLC0415 - loaded with the client

        from tiers.bounded_answers import AnswerRefused  # noqa: PLC0415 - likewise

        if self._http is None:
            await self.open()
        try:
            async with asyncio.timeout(self.seconds):
                for _ in range(REDIRECTS_MAX + 1):
                    found = await self._request(method, url, query, body)
                    status, headers, _ = found
                    if status not in {301, 302, 303, 307, 308}:
                        return found
                    url, query = self._inside(url, headers.get("location", ""), method), {}
        except (TimeoutError, httpx2.TimeoutException) as late:
            raise self.late() from late
        except AnswerRefused as error:
            raise TierRejected(TIER, self.name, str(error)) from error
        except (httpx2.HTTPError, httpx2.InvalidURL) as error:
            reason = f"cannot be reached: {type(error).__name__}"
            raise TierUnavailable(TIER, self.name, reason) from error
        raise TierRejected(TIER, self.name, f"it redirects more than {REDIRECTS_MAX} times")

    async def _request(
        self, method: str, url: str, query: Mapping[str, Any], body: object
    ) -> tuple[int, Mapping[str, str], bytes]:
        http = self.there(self._http)
        headers = {"accept": "application/json"}
        headers |= {name: one.get_secret_value() for name, one in self._declared.headers.items()}
        given: dict[str, Any] = {"params": dict(query)} if query else {}
        given |= {} if body is None else {"json": body}
        async with http.stream(method, url, headers=headers, **given) as answer:
            return answer.status_code, dict(answer.headers), await answer.aread()

    def _inside(self, url: str, location: str, method: str) -> str:
        """Return where a redirect leads, which is inside the service."""
        import httpx2  # noqa: PLC0415 - loaded with the client

        if method == "POST" or not location:
            raise TierRejected(TIER, self.name, "it redirects what must not be sent on")
        there = str(httpx2.URL(url).join(location))
        if there != self._base and not there.startswith((self._base + "/", self._base + "?")):
            raise TierRejected(TIER, self.name, "it redirects to elsewhere")
        return there

    def _document(self, content: bytes) -> object:
        try:
            document = json.loads(content, parse_constant=_no_number)
        except (ValueError, RecursionError) as error:
            raise TierRejected(TIER, self.name, "its answer is no JSON") from error
        check_depth(document, self.name)
        return document


def path_of(path: str, values: Mapping[str, Value]) -> str:
    """Return a declared path with its slots filled, each as one segment or a part of one.

    Raises:
        UsageError: A value would be more than that.
    """
    parts = split_at_slots(path)
    made = [parts[0]]
    for slot, text in zip(parts[1::2], parts[2::2], strict=True):
        value = str(values[slot])
        if value in {".", ".."} or "/" in value or "\\" in value or not value.isprintable():
            raise UsageError(f"slots.{slot}", value, "text without slashes, and no dots alone")
        made += [quote(value, safe=""), text]
    return "".join(made)


def synced_at(headers: Mapping[str, str]) -> datetime | None:
    """Return as of when an answer is, by ``Last-Modified``, else ``Date`` less ``Age``."""
    changed = _moment(headers.get("last-modified"))
    if changed is not None:
        return changed
    said, age = _moment(headers.get("date")), headers.get("age", "0")
    if said is None or not age.isascii() or not age.isdigit() or len(age) > 9:  # noqa: PLR2004
        return said
    try:
        return said - timedelta(seconds=int(age))
    except OverflowError:  # a date of the year 1
        return None


def _moment(text: str | None) -> datetime | None:
    if text is None:
        return None
    try:
        found = parsedate_to_datetime(text)
    except (ValueError, IndexError, OverflowError, TypeError):
        return None
    return in_utc(found)


def _no_number(text: str) -> object:
    raise ValueError(f"{text} is no number of JSON")


def _base(url: str, name: str) -> str:
    """Return the service's address without a slash at its end.

    Raises:
        ConfigError: It is no plain http or https address. What it is stays unsaid.
    """
    key = f"mesh source {name}"
    try:
        parts = urlsplit(url)
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        raise ConfigError(key, "url: is no address like https://host/path") from None
    if not usable or not url.isprintable() or " " in url:
        raise ConfigError(key, "url: is no address like https://host/path")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(key, "url: holds a password, a query or a fragment; give host and path")
    return url.rstrip("/")
