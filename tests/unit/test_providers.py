"""Pace, waits, attempts, deadlines and errors of calls to a provider."""

from __future__ import annotations

import asyncio
import math
import traceback
from collections.abc import Callable
from datetime import UTC, datetime
from random import Random
from typing import Any

import pytest

from tiers.addresses import checked_base_url
from tiers.errors import (
    ConfigError,
    EzraError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)
from tiers.google_api import google_failure
from tiers.provider_clients import checked_key, checked_model
from tiers.providers import (
    CallLimits,
    ProviderCalls,
    ProviderFailure,
    TokenBucket,
    answered,
    retry_after_seconds,
    retry_delay,
    unanswered,
    unreadable,
)

KEY = "sk-secret-0123456789"


def calls(**changes: Any) -> ProviderCalls:
    """Return calls with quick retries."""
    given: dict[str, Any] = {
        "timeout_seconds": 20.0,
        "attempts": 4,
        "concurrency": 2,
        "requests_per_minute": None,
        "first_delay_seconds": 1e-6,
    }
    clock = changes.pop("clock", None)
    extra = {} if clock is None else {"clock": clock}
    limits = CallLimits(**{**given, **changes})
    return ProviderCalls(
        "embedding",
        "gemini",
        "m",
        key=KEY,
        key_variable="EZRA_GEMINI_API_KEY",
        limits=limits,
        random=Random(1),
        **extra,
    )


class Attempts:
    """Fails as told, then answers; counts how often it was asked."""

    def __init__(self, *failures: ProviderFailure) -> None:
        self.failures = list(failures)
        self.made = 0

    async def __call__(self) -> str:
        """Make one attempt."""
        self.made += 1
        if self.failures:
            raise self.failures.pop(0)
        return "answer"


def status(code: int, **headers: str) -> ProviderFailure:
    """Return the failure of an answer."""
    return answered(code, "out of order", headers)


# The pace


@pytest.mark.parametrize("per_minute", [1, 2, 9, 10, 60, 100, 3_000])
def test_no_minute_holds_more_requests_than_allowed(per_minute: int) -> None:
    """Greedy and random callers over five minutes never exceed the quota in any sixty seconds."""
    random = Random(per_minute)
    for greedy in (True, False):
        bucket, now, taken = TokenBucket(per_minute), 0.0, []
        while now < 300:
            wait = bucket.take(now)
            if wait == 0:
                taken.append(now)
            now += wait if wait or greedy else random.random() * 120 / per_minute
        most = max(
            sum(at <= other < at + 60 for other in taken) for at in taken[:: len(taken) // 50 + 1]
        )
        assert most <= per_minute
        assert len(taken) >= per_minute * 2


def test_a_wait_is_long_enough_and_no_longer() -> None:
    """After the wait that was named there is a token; just before, there is none."""
    bucket = TokenBucket(60)
    while (wait := bucket.take(0.0)) == 0:
        pass
    assert bucket.take(wait * 0.99) > 0
    assert bucket.take(wait + 1e-9) == 0


def test_a_clock_that_steps_back_takes_nothing_away() -> None:
    """Time before the last request counts as no time."""
    bucket = TokenBucket(60)
    assert bucket.take(100.0) == 0
    assert bucket.take(50.0) == 0
    assert bucket.take(100.0) == 0


async def test_attempts_beyond_the_pace_wait_for_it() -> None:
    """A retry takes its turn like a first request; the clock is an argument."""
    now = [0.0]

    def clock() -> float:
        now[0] += 0.5  # every look at it takes half a second
        return now[0]

    paced = calls(requests_per_minute=6_000, clock=clock)
    assert paced.take_turn() == 0
    attempts = Attempts(status(503))
    assert await paced.call("embed", attempts) == "answer"
    assert attempts.made == 2
    slow = calls(requests_per_minute=1, clock=lambda: 7.0)
    assert slow.take_turn() == 0
    assert slow.take_turn() > 60


# Waits between attempts


def test_waits_double_with_chance_and_heed_what_is_asked() -> None:
    """0.25 to 0.5 s, then twice that, at most 8 s; never less than the provider asks for."""
    assert [retry_delay(n, 0.5, None, 1.0) for n in (1, 2, 3, 9)] == [0.5, 1, 2, 8]
    assert [retry_delay(n, 0.5, None, 0.0) for n in (1, 2, 3, 9)] == [0.25, 0.5, 1, 4]
    assert retry_delay(1, 0.5, 20.0, 1.0) == 20.0
    assert retry_delay(9, 0.5, 1.0, 0.0) == 4


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("120", 120.0),
        ("0", 0.0),
        ("Sat, 21 Nov 2026 12:00:30 GMT", 30.0),
        ("Sat, 21 Nov 2026 11:00:00 GMT", 0.0),
        ("Sat, 21 Nov 2026 12:00:30 -0000", 30.0),
        ("9" * 400, 999_999_999.0),
        ("-5", None),
        ("soon", None),
        ("\u0665", None),
        ("", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(value: str, seconds: float | None) -> None:
    """RFC 9110, section 10.2.3; whatever else stands there counts as nothing."""
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    assert retry_after_seconds({"retry-after": value}, now) == seconds
    assert retry_after_seconds({}, now) is None


# What is tried again, and what comes of it


@pytest.mark.parametrize("code", [408, 429, 500, 502, 503, 504])
async def test_passing_failures_are_tried_again(code: int) -> None:
    """Two failures and an answer are an answer."""
    attempts = Attempts(status(code), status(code))
    assert await calls().call("embed", attempts) == "answer"
    assert attempts.made == 3


async def test_a_broken_connection_is_tried_again() -> None:
    """No answer at all, because nothing was there or it broke off, may pass."""
    attempts = Attempts(unanswered(ConnectionError("reset"), late=False))
    assert await calls().call("embed", attempts) == "answer"


@pytest.mark.parametrize(
    ("failure", "kind", "made"),
    [
        (lambda: status(429), TierUnavailable, 4),
        (lambda: status(500), TierUnavailable, 4),
        (lambda: status(503), TierUnavailable, 4),
        (lambda: status(501), TierUnavailable, 1),
        (lambda: status(408), TierTimeout, 4),
        (lambda: status(504), TierTimeout, 4),
        (lambda: status(302), TierRejected, 1),
        (lambda: status(400), TierRejected, 1),
        (lambda: status(404), TierRejected, 1),
        (lambda: status(409), TierRejected, 1),
        (lambda: status(401), ConfigError, 1),
        (lambda: status(403), ConfigError, 1),
        (lambda: unanswered(ConnectionError("x"), late=False), TierUnavailable, 4),
        (lambda: unanswered(TimeoutError("x"), late=True), TierTimeout, 1),
        (lambda: unreadable("half a vector"), TierRejected, 1),
    ],
)
async def test_every_failure_has_its_error(
    failure: Callable[[], ProviderFailure], kind: type[EzraError], made: int
) -> None:
    """Which error of the tree comes of what, and after how many attempts."""
    attempts = Attempts(*(failure() for _ in range(9)))
    with pytest.raises(EzraError) as caught:
        await calls().call("embed", attempts)
    assert type(caught.value) is kind
    assert attempts.made == made


async def test_who_asks_for_too_much_time_is_not_asked_again() -> None:
    """A ``Retry-After`` of two minutes ends the call at once and is told to the caller."""
    attempts = Attempts(status(429, **{"retry-after": "120"}))
    with pytest.raises(TierUnavailable, match="it asks to wait 120 s"):
        await calls(timeout_seconds=600.0).call("embed", attempts)
    assert attempts.made == 1


async def test_a_wait_beyond_the_deadline_is_not_begun() -> None:
    """With 5 s left and 20 s asked for, the failure comes at once and not after 5 s."""
    attempts = Attempts(status(429, **{"retry-after": "20"}))
    with pytest.raises(TierUnavailable, match="HTTP 429"):
        await calls(timeout_seconds=5.0).call("embed", attempts)
    assert attempts.made == 1


async def test_the_deadline_ends_an_attempt_that_hangs() -> None:
    """The attempt is cancelled, and the caller gets a ``TierTimeout``."""
    cancelled = asyncio.Event()

    async def hang() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()

    with pytest.raises(TierTimeout, match=r"gemini/m gave no answer within 0.01 s"):
        await calls(timeout_seconds=0.01).call("embed", hang)
    assert cancelled.is_set()


async def test_the_deadline_holds_for_those_who_wait_for_a_slot() -> None:
    """A caller behind hanging ones is told so, and leaves no slot taken."""
    limited = calls(timeout_seconds=0.02, concurrency=1)
    made = [limited.call("embed", asyncio.Event().wait) for _ in range(3)]
    errors = await asyncio.gather(*made, return_exceptions=True)
    assert [type(error) for error in errors] == [TierTimeout] * 3
    assert await calls(concurrency=1).call("embed", Attempts()) == "answer"
    assert await limited.call("embed", Attempts()) == "answer"


async def test_no_more_calls_run_than_slots() -> None:
    """Ten callers share two slots."""
    running: list[int] = []
    most = 0

    async def attempt() -> None:
        nonlocal most
        running.append(1)
        most = max(most, len(running))
        await asyncio.sleep(0)
        running.pop()

    limited = calls(concurrency=2)
    await asyncio.gather(*(limited.call("complete", attempt) for _ in range(10)))
    assert most == 2


async def test_cancelling_is_not_a_failure() -> None:
    """A cancelled call is cancelled: not retried, not turned into an error."""
    attempts: list[int] = []
    begun = asyncio.Event()

    async def hang() -> None:
        attempts.append(1)
        begun.set()
        await asyncio.Event().wait()

    call = asyncio.create_task(calls().call("embed", hang))
    await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert attempts == [1]


async def test_no_error_and_no_cause_shows_the_key() -> None:
    """Whatever the provider says, in whatever status, a traceback never holds the key."""
    for code in (400, 401, 403, 404, 429, 500):
        failure = answered(code, f"bad key {KEY}\n\x1b[31mred", {})
        failure.__cause__ = RuntimeError(f"Authorization: Bearer {KEY}")
        with pytest.raises(EzraError) as caught:
            await calls(attempts=1).call("embed", Attempts(failure))
        shown = "".join(traceback.format_exception(caught.value))
        assert KEY not in shown
        assert "\x1b" not in str(caught.value)
        assert caught.value.__cause__ is None
    harmless = status(500)
    harmless.__cause__ = RuntimeError("harmless")
    with pytest.raises(TierUnavailable) as kept:
        await calls(attempts=1).call("embed", Attempts(harmless))
    assert kept.value.__cause__ is harmless.__cause__


async def test_a_refused_key_is_named_by_its_setting() -> None:
    """The error says which setting to change, and whether there was a key at all."""
    with pytest.raises(ConfigError, match=r"^EZRA_GEMINI_API_KEY: gemini/m refuses the key"):
        await calls().call("embed", Attempts(status(401)))
    limits = calls().limits
    keyless = ProviderCalls("model", "openai", "m", key=None, key_variable="K", limits=limits)
    with pytest.raises(ConfigError, match=r"^K: openai/m wants a key, and none is set"):
        await keyless.call("complete", Attempts(status(401)))


async def test_what_a_provider_says_is_cut() -> None:
    """A page of HTML does not become an error message."""
    failure = answered(500, "<html>" + "x" * 10_000, {})
    with pytest.raises(TierUnavailable) as caught:
        await calls(attempts=1).call("embed", Attempts(failure))
    assert len(str(caught.value)) < 500


# What Google says in a body


def test_googles_wish_to_wait_and_its_word_for_a_wrong_key_are_read() -> None:
    """``RetryInfo`` counts like a ``Retry-After``; ``API_KEY_INVALID`` makes a 400 a wrong key."""
    wait = {"error": {"details": [{"retryDelay": "37s"}, {"retryDelay": "0.5s"}]}}
    assert google_failure(429, "quota", wait, {}).retry_after == 37
    assert google_failure(429, "quota", wait, {"retry-after": "60"}).retry_after == 60
    wrong = {"error": {"details": [{"reason": "API_KEY_INVALID"}]}}
    assert google_failure(400, "bad", wrong, {}).key_refused
    assert not google_failure(400, "bad", {"error": {"details": [{"reason": "X"}]}}, {}).key_refused


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        "text",
        {"error": None},
        {"error": []},
        {"error": {"details": {}}},
        {"error": {"details": [None, 3, {"retryDelay": 3}, {"retryDelay": "xs"}]}},
        {"error": {"details": [{"retryDelay": "nans"}, {"retryDelay": "-3s"}]}},
        {"error": {"details": [{"retryDelay": "infs"}]}},
    ],
)
def test_a_body_of_any_shape_is_read_as_saying_nothing(body: object) -> None:
    """An error page of some gateway is a failure like any other."""
    failure = google_failure(500, None, body, {})
    assert (failure.retry_after, failure.key_refused, failure.status) == (None, False, 500)


# What is accepted


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("timeout_seconds", 0.0),
        ("timeout_seconds", math.nan),
        ("timeout_seconds", 601.0),
        ("attempts", 0),
        ("attempts", 11),
        ("concurrency", 0),
        ("concurrency", 65),
        ("requests_per_minute", 0.0),
        ("requests_per_minute", math.inf),
        ("first_delay_seconds", 0.0),
        ("first_delay_seconds", 9.0),
    ],
)
def test_limits_out_of_range_are_refused(name: str, value: float) -> None:
    """No limit can be set to none by a strange value."""
    with pytest.raises(UsageError, match=name):
        calls(**{name: value})


def test_keys_lose_blanks_around_them() -> None:
    """A key pasted with a line end works."""
    assert checked_key(f" {KEY}\n", "K") == KEY


@pytest.mark.parametrize("key", ["", " \n", "two words", "line\nbreak", "clé", "x" * 5_000])
def test_what_is_no_key_is_refused_without_showing_it(key: str) -> None:
    """The setting is named; what it holds is not."""
    with pytest.raises(ConfigError, match=r"^K: is") as caught:
        checked_key(key, "K")
    assert not key.strip() or key not in str(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "localhost:11434/v1",
        "ftp://host",
        "https://",
        "https://host:99999",
        "https://[::1",
        "https://user:hunter2@host/v1",
        "https://host/v1?key=hunter2",
        "https://host/v1#hunter2",
        "https://ho\nst/hunter2",
    ],
)
def test_what_is_no_address_is_refused_without_showing_it(url: str) -> None:
    """Passwords are written into addresses; none of them is repeated."""
    with pytest.raises(ConfigError, match=r"^U: ") as caught:
        checked_base_url(url, "U")
    assert "hunter2" not in str(caught.value)


def test_addresses_lose_the_slash_at_the_end() -> None:
    """With and without, it is the same server."""
    assert checked_base_url(" http://localhost:11434/v1/ ", "U") == "http://localhost:11434/v1"


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "nomic-embed-text:latest", "BAAI/bge-m3"])
def test_names_of_models_are_taken_as_they_are(model: str) -> None:
    """Of Google, Ollama and Hugging Face."""
    assert checked_model(model) == model


@pytest.mark.parametrize(
    "model", ["", " ", "../secret", "a/../b", "a//b", "a?b", "a b", "m\n", "/a"]
)
def test_names_that_would_change_the_address_are_refused(model: str) -> None:
    """A model's name is a part of a path, so it must not lead out of it."""
    with pytest.raises(UsageError, match="model"):
        checked_model(model)
