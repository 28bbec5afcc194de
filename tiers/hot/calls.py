"""How long a call on the hot tier may take, and when it is made again.

Every operation of the hot tier may be made twice with the same end: a turn is written under its
``seq``, a belief under its id, the mesh result as a whole; ``restore`` never replaces; ``unpin``
and ``clear`` remove what may be gone already; ``read`` changes nothing. Between the two tries
another caller may get in, and the end is as if it had been first. One thing is lost with the
answer of a first try: which turns its ``append`` evicted; the cold tier still knows them.

So a broken connection is worth a second try. A late answer is not: whoever waits has waited
enough, and a server that was frozen may still carry out what it has read.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

from ..errors import TierTimeout, TierUnavailable, UsageError, check_within
from .translation import translated

RETRIES_MAX = 10
FIRST_WAIT_SECONDS = 0.025

_AnswerT = TypeVar("_AnswerT")


@dataclass(frozen=True, slots=True)
class CallLimits:
    """The limits of one call.

    Attributes:
        timeout_seconds: For the whole call: waiting for a free connection, connecting, asking
            Sentinel or the cluster where to go, the answer, and every try.
        retries_max: Tries after the first, when Redis was not reachable. The first wait is
            25 ms, each further one twice as long; no wait goes beyond ``timeout_seconds``.
    """

    timeout_seconds: float = 2.0
    retries_max: int = 2

    def __post_init__(self) -> None:
        if not self.timeout_seconds > 0:
            raise UsageError("timeout_seconds", self.timeout_seconds, "more than 0")
        check_within("retries_max", self.retries_max, 0, RETRIES_MAX)


async def limited(
    operation: str, limits: CallLimits, call: Callable[[], Awaitable[_AnswerT]]
) -> _AnswerT:
    """Return the answer of ``call``, which must be safe to repeat.

    Raises:
        TierError: What the driver raised, translated; of several tries, the last.
    """
    try:
        async with asyncio.timeout(limits.timeout_seconds) as deadline:
            wait = FIRST_WAIT_SECONDS
            for _ in range(limits.retries_max):
                try:
                    with translated(operation):
                        return await call()
                except TierUnavailable:
                    if _too_late(deadline, wait):
                        raise
                await asyncio.sleep(wait)
                wait *= 2
            with translated(operation):
                return await call()
    except TimeoutError as error:
        reason = f"no answer within {limits.timeout_seconds} s"
        raise TierTimeout("hot", operation, reason) from error


def _too_late(deadline: asyncio.Timeout, wait: float) -> bool:
    """Whether waiting would end in a timeout, which says less than the error at hand."""
    ends_at = deadline.when()
    return ends_at is not None and asyncio.get_running_loop().time() + wait >= ends_at
