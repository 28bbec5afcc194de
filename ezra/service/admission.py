"""Who is let in, and when: what a token says of its bearer, a pause for guesses, and a turnstile.

A secret has 256 bits, so nobody guesses one; an address that shows one wrong token after the other
is slowed all the same. It is refused before anything is looked up, at the same small cost each
time, and no connection is held for it. What this server let in before is still let in from there:
several people may come from one address.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections.abc import Callable

from starlette.types import ASGIApp, Receive, Scope, Send

from tiers.errors import BudgetExceeded

from .credentials import Admitted, Credentials
from .limits import Latest, TooManyRequests

WRONG_MAX = 20
"""So many wrong tokens an address may show at once."""

SECONDS_EACH = 3.0
"""After so long it may show one more."""

PEERS_MAX = 10_000
KNOWN_MAX = 10_000
"""Whoever has one IPv6 address has as many as this leaves: they count as one."""


class TooManyWrongTokens(TooManyRequests):
    """An address showed too many wrong tokens.

    Attributes:
        seconds: When the next one is looked at.
    """

    def __init__(self, seconds: int) -> None:
        whose, what = "this address", "wrong_tokens_at_once"
        BudgetExceeded.__init__(self, whose, what, WRONG_MAX, 1, WRONG_MAX)
        self.seconds = seconds


class Admission:
    """Looks at tokens, and slows whoever shows wrong ones.

    Args:
        tokens: Who may ask.
        seconds: Monotonic seconds.
    """

    def __init__(self, tokens: Credentials, seconds: Callable[[], float]) -> None:
        self._tokens = tokens
        self._seconds = seconds
        self._wrong: Latest[str, tuple[float, float]] = Latest(PEERS_MAX)
        self._known: Latest[bytes, None] = Latest(KNOWN_MAX)

    async def needed(self) -> bool:
        """Return whether nobody gets in without a token."""
        return await self._tokens.needed()

    async def find(self, shown: str, peer: str) -> Admitted | None:
        """Return who shows a token; ``None`` if it lets nobody in.

        Args:
            shown: What is shown; nothing is no guess.
            peer: The address that shows it, as ``network_of`` has it.

        Raises:
            TooManyWrongTokens: Too many from there were wrong; this one was not looked at.
        """
        if not shown:
            return None
        digest = hashlib.sha256(shown.encode(errors="replace")).digest()
        # Counted before it is looked at: of many at once no more are looked at than may be wrong.
        self._count(peer, is_known=digest in self._known)
        try:
            found = await self._tokens.find(shown)
        except BaseException:
            self._take_back(peer)  # whether it is wrong was not found out, or it is of a neighbour
            raise
        if found is None:
            self._known.pop(digest, None)
            return None
        self._take_back(peer)
        self._known.put(digest, None)
        return found

    def _count(self, peer: str, *, is_known: bool) -> None:
        now = self._seconds()
        wrong = self._wrong_of(peer, now)
        if wrong + 1 > WRONG_MAX and not is_known:
            raise TooManyWrongTokens(math.ceil((wrong + 1 - WRONG_MAX) * SECONDS_EACH))
        self._put(peer, min(wrong + 1, WRONG_MAX + 1), now)

    def _take_back(self, peer: str) -> None:
        now = self._seconds()
        self._put(peer, self._wrong_of(peer, now) - 1, now)

    def _wrong_of(self, peer: str, now: float) -> float:
        wrong, since = self._wrong.get(peer, (0.0, now))
        return max(0.0, wrong - (now - since) / SECONDS_EACH)

    def _put(self, peer: str, wrong: float, now: float) -> None:
        if wrong <= 0:
            self._wrong.pop(peer, None)
        else:
            self._wrong.put(peer, (wrong, now))


AT_WORK_MAX = 8
TURN_SECONDS = 0.25
"""Whatever takes longer waits for somebody else, as a rule, and makes room although it goes on."""

WAITERS = frozenset(("complete", "feed"))
"""Last parts of the addresses where a request waits, for a model or for events, from the start."""


class Turnstile:
    """Lets so many requests be at work at a time; the others wait for their turn in order.

    A server of one event loop is no faster with fifty requests under way than with ten. But with
    fifty it comes round five times more seldom, for each time it does a bit of every one of them,
    and whoever has a little to ask waits for that.

    ASGI middleware inside the gate, which has read the body by then: nobody is slow in here.
    """

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
