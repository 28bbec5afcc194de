"""What one caller may ask of the service: so many requests, bodies of such a size."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import asynccontextmanager, suppress
from ipaddress import IPv6Address, ip_address
from typing import Any, TypeAlias, TypeVar

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from tiers.errors import BudgetExceeded, EzraError, UsageError

BUCKETS_MAX = 10_000

_IPV6_SITE_BITS = 64
_K = TypeVar("_K")
_V = TypeVar("_V")
_Bucket: TypeAlias = tuple[float, float]
"""What was left, and when."""


class Latest(OrderedDict[_K, _V]):
    """What was put in last, so many entries at most; others are forgotten.

    Args:
        most: How many.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self._most = most

    def put(self, key: _K, value: _V) -> None:
        """Keep a value, in the place of any former one of its key."""
        self[key] = value
        self.move_to_end(key)
        while len(self) > self._most:
            self.popitem(last=False)


def network_of(client: Sequence[Any] | None) -> str:
    """Return whose an address is, a host and a port: of IPv6 the site, which has countless ones."""
    host = str(client[0]) if client else ""
    try:
        address = ip_address(host)
    except ValueError:
        return host
    if not isinstance(address, IPv6Address):
        return host
    if address.ipv4_mapped is not None:
        return str(address.ipv4_mapped)
    return f"{int(address) >> _IPV6_SITE_BITS:x}"


def is_loopback(host: str) -> bool:
    """Return whether only this machine reaches a host; of names that is known of one."""
    try:
        return host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False


@asynccontextmanager
async def beside(work: Coroutine[Any, Any, None], name: str) -> AsyncIterator[None]:
    """Let work that has no end go on for the length of the block."""
    task = asyncio.create_task(work, name=name)
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


class TooManyRequests(BudgetExceeded):
    """A token's requests per minute are used up.

    Attributes:
        seconds: When the next one is let in.
    """

    def __init__(self, whose: str, limit: int, seconds: int) -> None:
        super().__init__(whose, "requests_per_minute", limit, 1, limit)
        self.seconds = seconds


class Buckets:
    """A token bucket per caller: a minute's requests at once, then as they come back.

    Args:
        per_minute: The most requests per minute of a caller; ``None`` is no limit.
    """

    def __init__(self, per_minute: int | None) -> None:
        self._per_minute = per_minute
        self._buckets: Latest[str, _Bucket] = Latest(BUCKETS_MAX)

    def take(self, whose: str, now: float) -> None:
        """Count a request.

        Args:
            whose: The caller.
            now: Monotonic seconds.

        Raises:
            TooManyRequests: It is one too many; it was not counted.
        """
        if self._per_minute is None:
            return
        rate = self._per_minute / 60
        left, since = self._buckets.get(whose, (float(self._per_minute), now))
        left = min(float(self._per_minute), left + (now - since) * rate)
        is_let_in = left >= 1
        self._buckets.put(whose, (left - 1 if is_let_in else left, now))
        if not is_let_in:
            raise TooManyRequests(whose, self._per_minute, math.ceil((1 - left) / rate))


class BodyTooLarge(UsageError):
    """A body is larger than the service reads."""

    def __init__(self, bytes_max: int) -> None:
        accepted = f"at most {bytes_max} bytes, as the server's EZRA_SERVE_BODY_BYTES_MAX says"
        super().__init__("body", f"more than {bytes_max} bytes", accepted)


class BodyTooSlow(UsageError):
    """A body did not arrive in time."""

    def __init__(self, seconds: float) -> None:
        accepted = f"a body that arrives within {seconds:g} s"
        super().__init__("body", "it did not arrive", accepted)


class Disconnected(EzraError):
    """The caller went away; nobody waits for an answer."""


class TwoLengths(UsageError):
    """A request says twice how long it is; a proxy before us may go by the other one."""

    def __init__(self) -> None:
        accepted = "a request with Content-Length or with Transfer-Encoding, not both"
        super().__init__("Transfer-Encoding", "both", accepted)


def check_one_length(headers: Headers) -> None:
    """Refuse a request of which two readers may see two ends.

    Raises:
        TwoLengths: It is one.
    """
    if "content-length" in headers and "transfer-encoding" in headers:
        raise TwoLengths


async def body_of(receive: Receive, declared: str | None, bytes_max: int, seconds: float) -> bytes:
    """Return the body of a request; one that says how large it is is refused before reading.

    Args:
        receive: Where it comes from.
        declared: Its ``Content-Length``.
        bytes_max: The most that is read.
        seconds: How long it may take to arrive.

    Raises:
        BodyTooLarge: It is larger.
        BodyTooSlow: It does not arrive.
        Disconnected: The caller went away.
    """
    if declared is not None and declared.isdigit() and int(declared) > bytes_max:
        raise BodyTooLarge(bytes_max)
    chunks: list[bytes] = []
    size = 0
    try:
        async with asyncio.timeout(seconds):
            more = True
            while more:
                message = await receive()
                if message["type"] != "http.request":
                    raise Disconnected("the caller went away")
                chunks.append(message.get("body", b""))
                size += len(chunks[-1])
                if size > bytes_max:
                    raise BodyTooLarge(bytes_max)
                more = message.get("more_body", False)
    except TimeoutError:
        raise BodyTooSlow(seconds) from None
    return b"".join(chunks)


async def dropped(receive: Receive, seconds: float) -> None:
    """Read what is left of a body and keep none of it, for so long at most."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            more = True
            while more:
                more = (await receive()).get("more_body", False)


def again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, and then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received
