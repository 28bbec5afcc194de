"""Calling a model provider over HTTP: pace, attempts, one deadline, and what failures mean.

Knows no provider. An adapter turns what its client library raises into a ``ProviderFailure``;
``ProviderCalls`` decides what is tried again and which error of the tree the caller gets.

The libraries' own retries are off. google-genai's take no notice of ``Retry-After`` and give up
when a connection breaks; neither library counts an attempt against a pace or ends at a deadline.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import KW_ONLY, dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from random import Random
from typing import TypeVar

from pydantic import JsonValue, ValidationError

from .errors import (
    ConfigError,
    EzraError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
    check_within,
)
from .fields import Misfit
from .health import TierHealth

PASSING = frozenset({408, 429, 500, 502, 503, 504})
"""HTTP statuses that may pass by themselves; no other answer is asked for again."""

ATTEMPTS_MAX = 10
CONCURRENCY_MAX = 64
TIMEOUT_SECONDS_MAX = 600.0

_LATE = frozenset({408, 504})
_KEY_REFUSED = frozenset({401, 403})
_BUSY = frozenset({429, *range(500, 600)})
_HEALTH_SECONDS = 10.0
_DELAY_SECONDS_MAX = 8.0
_RETRY_AFTER_SECONDS_MAX = 30.0
_BURST_SHARE = 0.1
_REASON_CHARS = 300

_T = TypeVar("_T")


class TokenBucket:
    """At most ``per_minute`` requests in any sixty seconds; pure, time is an argument.

    A tenth of them may come at once, and the rest flow evenly. What a bucket of size b and rate r
    lets through in t seconds is at most b + r t (Cruz 1991, "A calculus for network delay"), so
    with b = 0.1 n and r = 0.9 n / 60 no minute holds more than n.

    Args:
        per_minute: Requests per minute, above 0.
    """

    def __init__(self, per_minute: float) -> None:
        self._size = max(1.0, _BURST_SHARE * per_minute)
        self._rate = (1 - _BURST_SHARE) * per_minute / 60
        self._tokens = self._size
        self._filled_at = -math.inf

    def take(self, now: float) -> float:
        """Take a token and return 0, or take none and return the seconds until there is one."""
        if now > self._filled_at:
            grown = self._tokens + (now - self._filled_at) * self._rate
            self._tokens = min(self._size, grown)
            self._filled_at = now
        if self._tokens >= 1:
            self._tokens -= 1
            return 0.0
        # Never 0 by rounding: that would say that a token was taken.
        return max((1 - self._tokens) / self._rate, 1e-3)


def retry_delay(failed: int, first_seconds: float, asked: float | None, draw: float) -> float:
    """Return how long to wait after ``failed`` attempts, in seconds.

    Doubles up to 8 seconds, with the upper half drawn by chance, so that callers who failed
    together do not come back together; what the provider asked for is the least.

    Args:
        failed: Attempts so far, from 1.
        first_seconds: The wait after the first.
        asked: From ``Retry-After``.
        draw: From 0 to 1.
    """
    longest = min(first_seconds * 2.0 ** (failed - 1), _DELAY_SECONDS_MAX)
    return max(longest * (0.5 + draw / 2), asked or 0.0)


def retry_after_seconds(headers: Mapping[str, str], now: datetime) -> float | None:
    """Return what a ``Retry-After`` asks for (RFC 9110, section 10.2.3), or ``None``."""
    value = headers.get("retry-after", "").strip()
    if value.isascii() and value.isdigit():
        return float(value[:9])
    try:
        at = parsedate_to_datetime(value)
    except ValueError:
        return None
    at = at if at.tzinfo is not None else at.replace(tzinfo=UTC)
    return max(0.0, (at - now).total_seconds())


class ProviderFailure(Exception):
    """One attempt failed. Stays between an adapter and ``ProviderCalls``.

    Args:
        reason: What happened; may hold anything the provider said.
        status: The HTTP status, if there was an answer.
        retry_after: Seconds that the provider asked to wait.
        unreachable: There was no answer, or it broke off.
        late: The library's own limit of time ran out.
        key_refused: The provider does not take the key.
    """

    def __init__(
        self,
        reason: str,
        *,
        status: int | None = None,
        retry_after: float | None = None,
        unreachable: bool = False,
        late: bool = False,
        key_refused: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.status = status
        self.retry_after = retry_after
        self.unreachable = unreachable
        self.late = late or status in _LATE
        self.key_refused = key_refused or status in _KEY_REFUSED

    @property
    def passing(self) -> bool:
        """Whether another attempt may succeed."""
        return self.unreachable or self.status in PASSING


def answered(
    status: int, reason: str, headers: Mapping[str, str], *, key_refused: bool = False
) -> ProviderFailure:
    """Return the failure of an answer with a status that is no success."""
    asked = retry_after_seconds(headers, datetime.now(UTC))
    reason = f"HTTP {status}: {reason}"
    return ProviderFailure(reason, status=status, retry_after=asked, key_refused=key_refused)


def unanswered(problem: BaseException, *, late: bool) -> ProviderFailure:
    """Return the failure of a request that got no answer, or only a part of one."""
    from .bounded_answers import AnswerRefused  # noqa: PLC0415 - loads httpx2

    if isinstance(problem, AnswerRefused):
        return unreadable(problem)  # another attempt would get the same
    reason = f"no answer: {type(problem).__name__}: {problem}"
    return ProviderFailure(reason, unreachable=not late, late=late)


def unreadable(problem: object) -> ProviderFailure:
    """Return the failure of an answer that is not what the provider documents."""
    return ProviderFailure(f"the answer cannot be read: {problem}")


def first_problem(problem: ValidationError) -> str:
    """Return where the first of several problems lies and what it is, without the value."""
    first = Misfit.first_of(problem)
    return f"{first.field()}: {first.problem}" if first.place else first.problem


@dataclass(frozen=True, slots=True)
class CallLimits:
    """What a provider may be asked for.

    Attributes:
        timeout_seconds: From the call to its answer, with every attempt and wait in between.
        attempts: Requests for one answer.
        concurrency: Requests at a time.
        requests_per_minute: Requests in any sixty seconds; ``None`` for no limit of ours.
        first_delay_seconds: The wait before the second attempt, about; doubles each time.

    Raises:
        UsageError: A value is out of range.
    """

    timeout_seconds: float
    attempts: int
    concurrency: int
    requests_per_minute: float | None
    first_delay_seconds: float = 0.5

    def __post_init__(self) -> None:
        if not 0 < self.timeout_seconds <= TIMEOUT_SECONDS_MAX:
            accepted = f"above 0, at most {TIMEOUT_SECONDS_MAX:g}"
            raise UsageError("timeout_seconds", self.timeout_seconds, accepted)
        check_within("attempts", self.attempts, 1, ATTEMPTS_MAX)
        check_within("concurrency", self.concurrency, 1, CONCURRENCY_MAX)
        pace = self.requests_per_minute
        if pace is not None and not 0 < pace < math.inf:
            raise UsageError("requests_per_minute", pace, "above 0, or None for no limit")
        if not 0 < self.first_delay_seconds <= _DELAY_SECONDS_MAX:
            accepted = f"above 0, at most {_DELAY_SECONDS_MAX:g}"
            raise UsageError("first_delay_seconds", self.first_delay_seconds, accepted)


@dataclass(eq=False, repr=False)
class ProviderCalls:
    """Makes calls within limits, and turns failures into the errors of ``tiers.errors``.

    No error, and no cause of one, holds the key.

    Attributes:
        tier: What the errors name: ``embedding`` or ``model``.
        provider: ``gemini`` or ``openai``.
        model: The model's name at the provider.
        key: The key, so that it can be kept out of messages; ``None`` where none is needed.
        key_variable: The setting that holds the key.
        limits: Deadline, attempts and pace.
        random: Where the chance in waits comes from.
        clock: Monotonic seconds, for the pace.
    """

    tier: str
    provider: str
    model: str
    _: KW_ONLY
    key: str | None
    key_variable: str
    limits: CallLimits
    random: Random = field(default_factory=Random)
    clock: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        self.engine = f"{self.provider}/{self.model}"
        pace = self.limits.requests_per_minute
        self._bucket = None if pace is None else TokenBucket(pace)
        self._slots = asyncio.Semaphore(self.limits.concurrency)

    def take_turn(self) -> float:
        """Take leave for one request and return 0, or return the seconds until there is one."""
        return 0.0 if self._bucket is None else self._bucket.take(self.clock())

    async def call(
        self, operation: str, attempt: Callable[[], Awaitable[_T]], *, has_turn: bool = False
    ) -> _T:
        """Return what ``attempt`` gives, trying again while that may help and time is left.

        Args:
            operation: What the errors name.
            attempt: Makes one request; raises ``ProviderFailure``. Safe to repeat.
            has_turn: The caller has taken the turn of the first attempt.

        Raises:
            ConfigError: The provider refuses the key.
            TierUnavailable: Not reachable, or busy, in every attempt.
            TierTimeout: The deadline passed, or the provider says that it took too long.
            TierRejected: The provider refused the request, or its answer cannot be read.
        """
        now, failed = asyncio.get_running_loop().time, 0
        async with self.deadline(operation) as until, self._slots:
            while True:  # ends with an answer, or with ``_wait`` after the last attempt
                if not has_turn:
                    await self._turn()
                has_turn = False
                try:
                    return await attempt()
                except ProviderFailure as failure:
                    failed += 1
                    wait = self._wait(failure, failed)
                    if wait is None or now() + wait >= until:
                        raise self._error(operation, failure, failed) from self._cause(failure)
                await asyncio.sleep(wait)

    @asynccontextmanager
    async def deadline(self, operation: str) -> AsyncIterator[float]:
        """Bound the block by ``timeout_seconds``; gives the loop's time at which it ends.

        Raises:
            TierTimeout: The block took longer, and was cancelled.
        """
        seconds = self.limits.timeout_seconds
        until = asyncio.get_running_loop().time() + seconds
        try:
            async with asyncio.timeout_at(until):
                yield until
        except TimeoutError as late:
            reason = f"{self.engine} gave no answer within {seconds:g} s"
            raise TierTimeout(self.tier, operation, reason) from late

    async def health(
        self, attempt: Callable[[], Awaitable[dict[str, JsonValue]]], details: dict[str, JsonValue]
    ) -> TierHealth:
        """Make one request, once, and return what came of it; a failure is a part of the answer.

        Args:
            attempt: The smallest request there is; returns what it adds to the details.
            details: What is known without it.
        """
        problems: tuple[str, ...] = ()
        reachable, took = True, None
        started = time.perf_counter()
        try:
            async with asyncio.timeout(min(self.limits.timeout_seconds, _HEALTH_SECONDS)):
                details = details | await attempt()
            took = (time.perf_counter() - started) * 1000
        except ProviderFailure as failure:
            reachable = not (failure.unreachable or failure.late)
            error = self._error("health", failure, 1)
            problems = (f"{error}; {self._advice(error)}",)
        except TimeoutError:
            reachable = False
            late = TierTimeout(self.tier, "health", f"{self.engine} gave no answer")
            problems = (f"{late}; {self._advice(late)}",)
        return TierHealth(
            tier=self.tier,
            engine=self.provider,
            reachable=reachable,
            round_trip_ms=took,
            details={"model": self.model, **details},
            problems=problems,
        )

    def _advice(self, error: EzraError) -> str:
        """Return what a person can do about an error."""
        match error:
            case ConfigError():
                return f"set {self.key_variable} to a key that the provider takes"
            case TierRejected():
                return "check the name of the model, its settings and the address"
            case _:
                return "check the address, the network, the quota and the provider's status page"

    async def _turn(self) -> None:
        # Ends: the caller's deadline lies around it, and every wait lets a token grow.
        while (wait := self.take_turn()) > 0:  # noqa: ASYNC110 - waits for time, not for an event
            await asyncio.sleep(wait)

    def _wait(self, failure: ProviderFailure, failed: int) -> float | None:
        """Return the seconds until the next attempt, or ``None`` when there is to be none."""
        asked = failure.retry_after
        if not failure.passing or failed >= self.limits.attempts:
            return None
        if asked is not None and asked > _RETRY_AFTER_SECONDS_MAX:
            return None
        first = self.limits.first_delay_seconds
        return retry_delay(failed, first, asked, self.random.random())

    def _error(self, operation: str, failure: ProviderFailure, failed: int) -> EzraError:
        if failure.key_refused:
            # What the provider says is left out: it may say the key.
            how = "refuses the key" if self.key else "wants a key, and none is set"
            status = f" (HTTP {failure.status})" if failure.status else ""
            return ConfigError(self.key_variable, f"{self.engine} {how}{status}")
        reason = f"{self.engine}: {self._shown(failure.reason)}"
        if failed > 1:
            reason += f" (attempt {failed})"
        if failure.retry_after is not None:
            reason += f"; it asks to wait {failure.retry_after:g} s"
        if failure.late:
            return TierTimeout(self.tier, operation, reason)
        if failure.unreachable or (failure.status or 0) in _BUSY:
            return TierUnavailable(self.tier, operation, reason)
        return TierRejected(self.tier, operation, reason)

    def _cause(self, failure: ProviderFailure) -> BaseException | None:
        cause = failure.__cause__
        if failure.key_refused or cause is None:
            return None
        return None if self.key and self.key in f"{cause} {cause!r}" else cause

    def _shown(self, said: str) -> str:
        """Return what a provider said, as one short line without the key."""
        text = said.replace(self.key, "[key]") if self.key else said
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text if len(text) <= _REASON_CHARS else f"{text[:_REASON_CHARS]}…"
