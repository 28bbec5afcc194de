"""The turns that wait for their reply: so many and so large at most, of one caller and of all.

The oldest goes when there is no room, of whoever has most: a turn that nobody replied to is rarely
replied to late, and its caller can open it anew. Refusing new ones instead would lock a caller out
for an hour whose replies were lost.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from sys import getsizeof
from typing import TypeAlias

from tiers.errors import Conflict, NotFound

from ..handles.turn import OpenTurn

TURN_SECONDS = 3_600.0
"""So long a turn waits. Behind it the caller opens it anew."""

Key: TypeAlias = tuple[str, str, str]
"""The graph, the agent and the turn."""


OBJECT_BYTES = 1_000
"""About what a record or a slot takes besides its text."""


@dataclass(frozen=True)
class TurnBounds:
    """How much may wait.

    Attributes:
        turns_per_caller: The most turns of one caller, by name.
        bytes_per_caller: What these may hold together, about.
        turns: The most turns of all.
        bytes: What all may hold together.
    """

    turns_per_caller: int = 2_500
    bytes_per_caller: int = 64 * 1024 * 1024
    turns: int = 10_000
    bytes: int = 256 * 1024 * 1024


@dataclass(frozen=True)
class _Waiting:
    """A turn; of one that was replied to, only what it is stored as."""

    since: float
    turn: OpenTurn | str
    size: int


class _Held(OrderedDict[Key, _Waiting]):
    """The turns of one caller, oldest first, and what they hold together."""

    size = 0


class OpenTurns:
    """Keeps turns until they are replied to, or too old, or there is no room.

    Args:
        seconds: Monotonic seconds.
        bounds: How much room there is.
    """

    def __init__(self, seconds: Callable[[], float], bounds: TurnBounds | None = None) -> None:
        self._seconds = seconds
        self._bounds = bounds or TurnBounds()
        self._held: dict[str, _Held] = {}
        self._whose: OrderedDict[Key, str] = OrderedDict()

    @property
    def size(self) -> int:
        """About how many bytes wait."""
        return sum(own.size for own in self._held.values())

    def __len__(self) -> int:
        return len(self._whose)

    def keep(self, whose: str, key: Key, turn: OpenTurn) -> None:
        """Keep a turn, and let the oldest go that there is no room for."""
        self._drop_old()
        self._put(whose, key, _Waiting(self._seconds(), turn, size_of(turn)))
        bounds, own = self._bounds, self._held[whose]
        while len(own) > bounds.turns_per_caller or own.size > bounds.bytes_per_caller:
            self._drop(next(iter(own)))
        while len(self._whose) > bounds.turns or self.size > bounds.bytes:
            largest = max(self._held.values(), key=lambda one: (one.size, len(one)))
            self._drop(next(iter(largest)))

    def find(self, key: Key) -> OpenTurn:
        """Return a turn that waits for its reply.

        Raises:
            NotFound: There is none: it was never opened here, or too long or too many turns ago.
            Conflict: It was replied to.
        """
        self._drop_old()
        whose = self._whose.get(key)
        if whose is None:
            raise NotFound("open turn", key[2])
        turn = self._held[whose][key].turn
        if isinstance(turn, str):
            raise Conflict("turn", "no reply yet", f"reply stored as {turn}")
        return turn

    def settle(self, key: Key, stored_as: str) -> None:
        """Note that a turn was replied to: what is kept of it says that alone."""
        whose = self._whose.get(key)
        if whose is None:
            return
        waiting = self._held[whose][key]
        self._held[whose][key] = _Waiting(waiting.since, stored_as, OBJECT_BYTES)
        self._held[whose].size += OBJECT_BYTES - waiting.size

    def _put(self, whose: str, key: Key, waiting: _Waiting) -> None:
        self._drop(key)
        own = self._held.setdefault(whose, _Held())
        own[key] = waiting
        own.size += waiting.size
        self._whose[key] = whose

    def _drop(self, key: Key) -> None:
        whose = self._whose.pop(key, None)
        if whose is None:
            return
        own = self._held[whose]
        own.size -= own.pop(key).size
        if not own:
            del self._held[whose]

    def _drop_old(self) -> None:
        now = self._seconds()
        while self._whose:
            oldest, whose = next(iter(self._whose.items()))
            if now - self._held[whose][oldest].since <= TURN_SECONDS:
                return
            self._drop(oldest)


def size_of(turn: OpenTurn) -> int:
    """Return about how many bytes a turn holds: its texts, and what goes with each.

    By what a turn shows, so that a turn of another server counts as well.
    """
    slots = (*turn.slots, *turn.dropped)
    facts = (*turn.core.facts, *(one for one, _ in turn.core.left_out), *turn.shadowed)
    texts = [
        *(message["content"] for message in turn.messages),
        *(slot.text for slot in slots),
        *(said for slot in slots for _, said in slot.messages),
        *(fact.text for fact in facts),
    ]
    return OBJECT_BYTES * (1 + len(texts)) + sum(map(getsizeof, texts))
