"""Record ids: UUIDs that sort by time, made new or derived from what they stand for.

New ids follow UUIDv7 (RFC 9562, section 5.7): 48 bits of Unix milliseconds, then a counter that
keeps ids of one millisecond in order, then random bits. Derived ids follow UUIDv8 (section 5.8)
with the same time prefix and a digest, so that work done twice names the same record twice.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from random import Random, SystemRandom

_COUNTER_BITS = 12
_COUNTER_LIMIT = 1 << _COUNTER_BITS
_RANDOM_BITS = 62
_VARIANT = 0b10 << _RANDOM_BITS

HELD_MAX = timedelta(days=1)
"""A clock that is set back by more than this is followed."""
_STEP = timedelta(microseconds=1)

Clock = Callable[[], datetime]


def system_clock() -> datetime:
    """Return the current time, aware and in UTC."""
    return datetime.now(UTC)


class SteadyClock:
    """A clock that later readings follow, where the one below is set back by a day at most.

    For what is ordered by when it was said: of two statements the later one counts, and machines
    have their clocks put right while they run. Who was ahead by more than a day said things at a
    wrong time; the clock below is followed then.

    Args:
        clock: The clock below.
    """

    def __init__(self, clock: Clock = system_clock) -> None:
        self._clock = clock
        self._last = datetime.min.replace(tzinfo=UTC)

    def __call__(self) -> datetime:
        """Return the time; just after the last reading where the clock below is before it."""
        now = self._clock()
        if now < self._last <= now + HELD_MAX:
            now = self._last + _STEP
        self._last = now
        return now


def _milliseconds(moment: datetime) -> int:
    return max(0, int(moment.timestamp() * 1000)) & ((1 << 48) - 1)


class IdFactory:
    """Makes UUIDv7 strings that sort in the order they were made, per factory.

    Args:
        clock: Where the time comes from; a test passes its own.
        random: Where the random bits come from; a seeded one makes ids repeatable.
    """

    def __init__(self, clock: Clock = system_clock, random: Random | None = None) -> None:
        self._clock = clock
        self._random = random or SystemRandom()
        self._last_ms = 0
        self._counter = 0

    def new(self) -> str:
        """Return the next id. Monotonic even when the clock stands still or steps back."""
        now_ms = _milliseconds(self._clock())
        if now_ms > self._last_ms:
            self._last_ms, self._counter = now_ms, 0
        else:
            self._counter += 1
            if self._counter == _COUNTER_LIMIT:
                self._last_ms, self._counter = self._last_ms + 1, 0
        high = self._last_ms << 16 | 7 << _COUNTER_BITS | self._counter
        low = _VARIANT | self._random.getrandbits(_RANDOM_BITS)
        return str(uuid.UUID(int=high << 64 | low))


def first_id(moment: datetime) -> str:
    """Return what no id that was made from a moment on sorts before."""
    return str(uuid.UUID(int=_milliseconds(moment) << 80))


def derived_id(moment: datetime, *parts: str) -> str:
    """Return the UUIDv8 of ``parts``, prefixed with ``moment`` so that it sorts by time.

    The same moment and parts always give the same id; the parts are length-prefixed, so
    ``("ab", "c")`` and ``("a", "bc")`` differ.
    """
    digest = hashlib.sha256()
    for part in parts:
        data = part.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    bits = int.from_bytes(digest.digest()[:16], "big")
    high = _milliseconds(moment) << 16 | 8 << 12 | bits >> 116
    low = _VARIANT | bits & ((1 << _RANDOM_BITS) - 1)
    return str(uuid.UUID(int=high << 64 | low))
