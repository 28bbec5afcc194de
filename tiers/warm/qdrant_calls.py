"""How long a call to a Qdrant server may take, and when it is made again.

Every operation of the warm tier may be made twice with the same end: points are written whole
under their ids, removed by id or condition, and the rest only reads. So a connection that broke
or a server that says it is busy is worth another try. A late answer is not: whoever waits has
waited enough.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from typing import TypeVar

from qdrant_client.models import UpdateResult, UpdateStatus

from ..errors import TierTimeout
from .qdrant_translation import DRIVER_ERRORS, Failure, meaning

TRIES_MAX = 3
FIRST_WAIT_SECONDS = 0.025

_AnswerT = TypeVar("_AnswerT")


class QdrantCalls:
    """The limits every call to one server shares.

    Args:
        timeout_seconds: For the whole call: connecting, the answer, and every try.
    """

    def __init__(self, timeout_seconds: float) -> None:
        self._timeout_seconds = timeout_seconds

    @property
    def server_seconds(self) -> int:
        """What the server is told to spend at most, in the whole seconds it understands."""
        return math.ceil(self._timeout_seconds)

    async def answer(self, operation: str, call: Callable[[], Awaitable[_AnswerT]]) -> _AnswerT:
        """Return the answer of ``call``, which must be safe to repeat.

        Raises:
            TierError: What the driver raised, translated; of several tries, the last.
            ConfigError: The server wants another key.
        """
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._timeout_seconds
        tries, wait = 0, FIRST_WAIT_SECONDS
        while True:
            try:
                async with asyncio.timeout_at(deadline):
                    return await call()
            except TimeoutError as error:
                failure = self._late(operation, error)
            except DRIVER_ERRORS as error:
                failure = meaning(operation, error)
            tries += 1
            pause = None if failure.repeat_after is None else max(wait, failure.repeat_after)
            if pause is None or tries == TRIES_MAX or clock() + pause >= deadline:
                # Raised out here, so that the driver's error is not even the context.
                raise failure.error from failure.cause
            await asyncio.sleep(pause)
            wait *= 2

    async def done(self, operation: str, call: Callable[[], Awaitable[UpdateResult]]) -> None:
        """Make a write and make sure that it was carried out, not only written down.

        Raises:
            TierError: As ``answer`` does; ``TierTimeout`` too when the server stopped waiting for
                its own work.
            ConfigError: As ``answer`` does.
        """
        result = await self.answer(operation, call)
        if result.status != UpdateStatus.COMPLETED:
            reason = f"written down but not yet carried out ({result.status})"
            raise TierTimeout("warm", operation, reason)

    def _late(self, operation: str, error: TimeoutError) -> Failure:
        reason = f"no answer within {self._timeout_seconds} s"
        return Failure(TierTimeout("warm", operation, reason), error)
