"""How much of the conversation a context shows, where the model's window is known. Pure.

The tail is what was said last, up to ``LONG_MESSAGES``. Where the turn before filled more than
``shrink_above`` of the window, as its model counted, the tail is ``SHORT_MESSAGES`` until a turn
fills less than ``grow_below``: the rest is reached by recall.

A provider reads again for little money what a context begins with as the one before did. So the
tail grows at its end and keeps its beginning, until it is too long and is cut once to what leaves
room to grow. From one cut to the next, and from one change of mode to the next, is an epoch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import JsonValue

from tiers.records import Tail, Turn

from .slots import Slot, hot_slot

LONG_MESSAGES = 20
SHORT_MESSAGES = 4
KEPT_MESSAGES = 12
"""So many are left of a tail that was cut, so that it can grow for some turns."""
KEPT_SHARE = 0.6
"""The same where it was cut because it took too many tokens."""
TURNS_MAX = LONG_MESSAGES // 2
TAIL_SHARE = 0.6
"""The most of a context's tokens that the tail takes: what is found needs room too."""

SHORT_NOTE = (
    "Only the last messages are shown. What was said before, and what tools returned, is reached "
    "by recall and read_tool_output: look there before you answer, do not guess."
)


@dataclass(frozen=True)
class WindowPolicy:
    """When a tail is short.

    Attributes:
        window_tokens: What the model can hold.
        shrink_above: From this share of it on, used by the turn before, the tail is short.
        grow_below: Below this share it is long again.
    """

    window_tokens: int
    shrink_above: float = 0.8
    grow_below: float = 0.5


@dataclass(frozen=True)
class TailPlan:
    """What a context shows of the conversation.

    Attributes:
        turns: Oldest first.
        epoch: Which run of alike contexts it belongs to.
        is_short: Whether it is kept short.
        window_tokens: What the model can hold.
    """

    turns: tuple[Turn, ...]
    epoch: int
    is_short: bool
    window_tokens: int

    @property
    def since(self) -> int:
        """The ``seq`` of the first turn that is shown; 1 where there is none."""
        return self.turns[0].seq if self.turns else 1

    @property
    def note(self) -> str:
        """What the model is told of it."""
        return SHORT_NOTE if self.is_short else ""

    def tail_after(self, used_tokens: int, *, is_reported: bool) -> Tail:
        """Return what the turn keeps for the one behind it."""
        return Tail(
            epoch=self.epoch,
            is_short=self.is_short,
            since=self.since,
            used_tokens=used_tokens,
            is_reported=is_reported,
            window_tokens=self.window_tokens,
        )

    def as_json(self) -> dict[str, JsonValue]:
        """Return what a receipt keeps of it."""
        return {
            "epoch": self.epoch,
            "is_short": self.is_short,
            "since": self.since,
            "turns": len(self.turns),
            "window_tokens": self.window_tokens,
        }


def turns_wanted(last: Turn | None) -> int:
    """Return how many of the last turns a tail may need; one more tells that it is too long."""
    if last is None or last.tail is None:
        return TURNS_MAX + 1
    return min(TURNS_MAX + 1, max(KEPT_MESSAGES // 2, last.seq - last.tail.since + 1))


def plan_tail(
    turns: Sequence[Turn], room_tokens: int, policy: WindowPolicy, *, is_named: bool = False
) -> TailPlan:
    """Return what a context shows of the last turns.

    Args:
        turns: The last turns of the agent, oldest first; the last one says how it went.
        room_tokens: The most that they may take.
        policy: When the tail is short.
        is_named: Whether they are shown with the names of who spoke.
    """
    slots = [hot_slot(turn, is_named=is_named) for turn in turns]
    before = turns[-1].tail if turns else None
    is_short = _is_short(before, policy)
    epoch = 0 if before is None else before.epoch
    if is_short:
        shown = _newest(turns, slots, SHORT_MESSAGES, room_tokens)
        is_next = before is not None and not before.is_short
        return TailPlan(shown, epoch + is_next, is_short, policy.window_tokens)
    goes_on = before is None or not before.is_short
    since = 1 if before is None else before.since
    shown = tuple(one for one in turns if one.seq >= since)
    costs = [slot for turn, slot in zip(turns, slots, strict=True) if turn.seq >= since]
    if not (goes_on and _fits(costs, LONG_MESSAGES, room_tokens)):
        shown = _newest(turns, slots, KEPT_MESSAGES, int(room_tokens * KEPT_SHARE))
        epoch += before is not None
    return TailPlan(shown, epoch, is_short, policy.window_tokens)


def _is_short(before: Tail | None, policy: WindowPolicy) -> bool:
    """Whether the window is so full that little of the conversation is shown.

    Once it is, it stays so until there is clearly room: else every other turn would change it.
    """
    if before is None:
        return False
    share = policy.grow_below if before.is_short else policy.shrink_above
    used = before.used_tokens / policy.window_tokens
    return used >= share if before.is_short else used > share


def _newest(
    turns: Sequence[Turn], slots: Sequence[Slot], messages: int, tokens: int
) -> tuple[Turn, ...]:
    """Return the newest turns within both limits; the last one in any case."""
    kept: list[Turn] = []
    for turn, slot in zip(reversed(turns), reversed(slots), strict=True):
        messages -= len(slot.messages)
        tokens -= slot.tokens
        if kept and (messages < 0 or tokens < 0):
            break
        kept.append(turn)
    return tuple(reversed(kept))


def _fits(slots: Sequence[Slot], messages: int, tokens: int) -> bool:
    return (
        len(slots) <= TURNS_MAX
        and sum(len(slot.messages) for slot in slots) <= messages
        and sum(slot.tokens for slot in slots) <= tokens
    )
