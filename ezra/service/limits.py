"""What one caller may ask of the service: so many requests, bodies of such a size."""

from __future__ import annotations

import asyncio
import math
from collections import OrderedDict
from typing import TypeAlias

from starlette.datastructures import Headers
from starlette.types import Message, Receive

from tiers.errors import BudgetExceeded, EzraError, UsageError

BUCKETS_MAX = 10_000

_Bucket: TypeAlias = tuple[float, float]
"""What was left, and when."""


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
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

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
        self._buckets[whose] = (left - 1 if is_let_in else left, now)
        self._buckets.move_to_end(whose)
        while len(self._buckets) > BUCKETS_MAX:
            self._buckets.popitem(last=False)
        if not is_let_in:
            raise TooManyRequests(whose, self._per_minute, math.ceil((1 - left) / rate))


class BodyTooLarge(UsageError):
    """A body is larger than the service reads."""

    def __init__(self, bytes_max: int) -> None:
        super().__init__("body", f"more than {bytes_max} bytes", f"at most {bytes_max} bytes")


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


def again(body: bytes, receive: Receive) -> Receive:
    """Return what gives a body that was read, and then what comes after it."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def received() -> Message:
        return waiting.pop() if waiting else await receive()

    return received
