"""Pushing back: who writes waits while more waits to be indexed than the index keeps up with.

A wait is bounded and never refuses a write. Where nothing is being indexed, because the warm tier
is away or no meta-agent runs, waiting would help nobody and there is none.
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
"""Who waits goes on when the queue is down to this share of what is allowed."""
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
        self._writes = 0
        self._is_long = False
        self._stalled_until = 0.0
        self._seen = (0.0, 0, 0)

    async def make_room(self, writes: int = 1) -> None:
        """Wait until there is room for more, 10 s at most. Called before a write.

        Args:
            writes: How many records it writes.
        """
        looked = self._writes // WRITES_PER_LOOK
        self._writes += writes
        if not self._is_long and self._writes // WRITES_PER_LOOK == looked:
            return
        now = asyncio.get_running_loop().time
        if now() < self._stalled_until:
            return
        began, first = now(), await self._look()
        self._is_long = first > self._most
        while self._is_long:
            self._wake()
            await asyncio.sleep(POLL_SECONDS)
            left = await self._look()
            self._is_long = left > self._most * SHORT_SHARE
            if self._is_long and now() - began > WAIT_SECONDS_MAX:
                if left >= first:
                    self._stalled_until = now() + STALLED_SECONDS
                    log.warning("%d items wait to be indexed, and none is: writes go on", left)
                return

    async def _look(self) -> int:
        """Return how much is queued; all that wait at one time share one question.

        An answer is too old once so many have written since that it would be asked again anyway.
        """
        now = asyncio.get_running_loop().time()
        seen_at, seen, by_then = self._seen
        if now - seen_at < POLL_SECONDS / 2 and self._writes - by_then < WRITES_PER_LOOK:
            return seen
        try:
            depth = await self._depth()
        except TierError:
            depth = 0  # the write itself will say that the tier is away
        self._seen = (now, depth, self._writes)
        return depth
