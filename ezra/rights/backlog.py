"""Pushing back: who writes waits while more waits to be indexed than the index keeps up with.

Writers wait in line and go on one by one as the queue gets shorter, so that nobody waits much
longer than the others. A wait is bounded and never refuses a write. Where nothing is being indexed,
because the warm tier is away or no meta-agent runs, waiting would help nobody and there is none.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable

from tiers.errors import TierError

log = logging.getLogger(__name__)

WRITES_PER_LOOK = 16
"""So many writes go by between two looks at the queue while it is short."""
SHORT_SHARE = 0.75
"""Nobody waits in line any more when the queue is down to this share of what is allowed."""
POLL_SECONDS = 0.05
WAIT_SECONDS_MAX = 10.0
STALLED_SECONDS = 60.0
"""Nobody waits for so long after a wait during which nothing was indexed."""


class Backlog:
    """Holds writers up while too much is queued to be indexed.

    Args:
        depth: Counts what is queued.
        wake: Lets the indexing run now.
        most: So many items may be queued before writers wait.
    """

    def __init__(
        self, depth: Callable[[], Awaitable[int]], wake: Callable[[], None], most: int
    ) -> None:
        self._depth = depth
        self._wake = wake
        self._most = most
        self._line = asyncio.Lock()  # hands itself on in the order in which it was asked for
        self._writes = 0
        self._queued = 0  # when somebody looked last, and what has gone on since
        self._is_long = False
        self._shortened_at = 0.0
        self._stalled_until = 0.0

    async def make_room(self, writes: int = 1) -> None:
        """Wait until there is room for more, 10 s at most. Called before a write.

        Args:
            writes: How many records it writes.
        """
        looked = self._writes // WRITES_PER_LOOK
        self._writes += writes
        if not self._is_long:
            if self._writes // WRITES_PER_LOOK == looked:
                return
            await self._look()
            self._is_long = self._queued > self._most
        now = asyncio.get_running_loop().time
        if not self._is_long or now() < self._stalled_until:
            return
        began = now()
        try:
            async with asyncio.timeout(WAIT_SECONDS_MAX), self._line:
                await self._room()
        except TimeoutError:
            if self._shortened_at < began:
                self._stalled_until = now() + STALLED_SECONDS
                left = self._queued
                log.warning("%d items wait to be indexed, and none is: writes go on", left)
        self._queued += writes

    async def _room(self) -> None:
        """Wait, first in line, until less is queued than may be."""
        now = asyncio.get_running_loop().time
        seen = self._most
        while self._is_long and self._queued >= self._most:
            self._wake()
            await asyncio.sleep(POLL_SECONDS)
            await self._look()
            self._is_long = self._queued > self._most * SHORT_SHARE
            if self._queued < seen:
                self._shortened_at = now()
            seen = self._queued

    async def _look(self) -> None:
        try:
            self._queued = await self._depth()
        except TierError:
            self._queued = 0  # the write itself will say that the tier is away
