"""The turnstile: so many requests are at work at a time, the others wait for their turn in order.

A server of one event loop is no faster with fifty requests under way than with ten. But with fifty
it comes round five times more seldom, for each time it does a bit of every one of them, and
whoever has a little to ask waits for that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

AT_WORK_MAX = 8
TURN_SECONDS = 0.25
"""Whatever takes longer waits for somebody else, as a rule, and makes room although it goes on."""

WAITERS = frozenset(("complete", "feed"))
"""Last parts of the addresses where a request waits, for a model or for events, from the start."""


class Turnstile:
    """ASGI middleware inside the gate, which has read the body by then: nobody is slow in here."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app
        self._room = asyncio.Semaphore(AT_WORK_MAX)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through when it is its turn."""
        if scope["type"] != "http" or scope["path"].rpartition("/")[2] in WAITERS:
            await self._app(scope, receive, send)
            return
        await self._room.acquire()
        leave = _once(self._room.release)
        timer = asyncio.get_running_loop().call_later(TURN_SECONDS, leave)
        try:
            await self._app(scope, receive, send)
        finally:
            timer.cancel()
            leave()


def _once(work: Callable[[], None]) -> Callable[[], None]:
    """Return what does something the first time that it is called."""
    left = [work]

    def done() -> None:
        if left:
            left.pop()()

    return done
