"""When a call on the hot tier is made again, and how long it may take."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from redis.exceptions import (
    AuthenticationError,
    BusyLoadingError,
    ClusterDownError,
    ConnectionError,  # noqa: A004 - the driver's own class
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisClusterException,
    ResponseError,
    SlotNotCoveredError,
    TimeoutError,  # noqa: A004 - the driver's own class
)

from tiers.errors import TierRejected, TierTimeout, TierUnavailable, UsageError
from tiers.hot.calls import CallLimits, limited
from tiers.hot.client import ClientLimits


def _failing(error: Exception, times: int) -> tuple[Callable[[], Awaitable[str]], list[int]]:
    """Return a call that fails some times before it answers, and a list as long as its tries."""
    tries: list[int] = []

    async def call() -> str:
        tries.append(1)
        if len(tries) <= times:
            raise error
        return "answer"

    return call, tries


PASSING = [
    ConnectionError("gone"),
    BusyLoadingError("loading"),
    ReadOnlyError("demoted"),
    ClusterDownError("CLUSTERDOWN"),
    SlotNotCoveredError("nobody serves it"),
    ResponseError("BUSY Redis is busy running a script"),
    ResponseError("NOREPLICAS Not enough good replicas to write."),
]
LASTING = [
    AuthenticationError("wrong"),
    NoPermissionError("may not"),
    OutOfMemoryError("full"),
    ResponseError("WRONGTYPE"),
    ConnectionError("[SSL: CERTIFICATE_VERIFY_FAILED] certificate verify failed: expired (_ssl)"),
]


@pytest.mark.parametrize("error", PASSING, ids=repr)
async def test_an_outage_is_tried_again(error: Exception) -> None:
    """What passes by itself, as in a failover, is repeated as often as allowed."""
    call, tries = _failing(error, 2)
    assert await limited("read", CallLimits(retries_max=2), call) == "answer"
    assert len(tries) == 3
    call, tries = _failing(error, 3)
    with pytest.raises(TierUnavailable) as caught:
        await limited("read", CallLimits(retries_max=2), call)
    assert len(tries) == 3
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("error", LASTING, ids=repr)
async def test_a_refusal_is_not_tried_again(error: Exception) -> None:
    """The server said no; asking again changes nothing."""
    call, tries = _failing(error, 1)
    with pytest.raises(TierRejected):
        await limited("read", CallLimits(), call)
    assert len(tries) == 1


async def test_a_late_answer_is_not_tried_again() -> None:
    """After a timeout the outcome is unknown, and the caller is late already."""
    call, tries = _failing(TimeoutError("late"), 1)
    with pytest.raises(TierTimeout):
        await limited("read", CallLimits(), call)
    assert len(tries) == 1


async def test_the_call_as_a_whole_has_a_deadline() -> None:
    """A call that never ends is ended, cleaned up and reported."""
    cleaned: list[str] = []

    async def forever() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            cleaned.append("up")

    with pytest.raises(TierTimeout, match=r"0\.01 s"):
        await limited("read", CallLimits(timeout_seconds=0.01), forever)
    assert cleaned == ["up"]


async def test_no_wait_goes_beyond_the_deadline() -> None:
    """An outage stays an outage: it does not become a timeout by waiting."""
    call, tries = _failing(ConnectionError("gone"), 99)
    with pytest.raises(TierUnavailable):
        await limited("read", CallLimits(timeout_seconds=0.02, retries_max=10), call)
    assert len(tries) == 1


async def test_cancellation_is_not_an_error_of_the_tier() -> None:
    """Whoever cancels sees the cancellation."""

    async def forever() -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(limited("read", CallLimits(), forever))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_an_error_around_the_call_does_not_change_its_meaning() -> None:
    """A call made while another error is handled is judged by its own error."""
    call, _ = _failing(RedisClusterException("All slots are not covered"), 9)
    other, _ = _failing(AuthenticationError("of somebody else"), 9)
    try:
        await other()
    except AuthenticationError:
        with pytest.raises(TierUnavailable):
            await limited("read", CallLimits(retries_max=0), call)


@pytest.mark.parametrize(
    "made",
    [
        lambda: CallLimits(timeout_seconds=0),
        lambda: CallLimits(timeout_seconds=float("nan")),
        lambda: CallLimits(retries_max=-1),
        lambda: CallLimits(retries_max=11),
        lambda: ClientLimits(connections_max=0),
        lambda: ClientLimits(timeout_seconds=-1),
        lambda: ClientLimits(health_check_seconds=-1),
    ],
)
def test_limits_that_are_none_are_refused(made: Callable[[], object]) -> None:
    """Every limit is a positive number, and retries have an upper bound."""
    with pytest.raises(UsageError):
        made()
