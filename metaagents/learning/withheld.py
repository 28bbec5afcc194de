"""What of a talk is not learnt because of what its speaker said of it. Pure.

"Don't save this", "off the record", "forget I said that": what was asked to be forgotten. "Let's
role-play": what is said until the play is over. "Help me polish this letter", and the letter in the
next message: it is somebody else's, or nobody's. The turns stay as they were said; they are only
heard without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from tiers.records import Turn

from .confidences import without_confidences
from .patterns import subject_of
from .play import after_play, announces_text, proposes_play

PLAY_TURNS_MAX = 10
"""So many turns of an agent a play lasts that nobody ends: fewer than a pass sees before it."""

_Who: TypeAlias = tuple[str | None, str]


@dataclass
class _Talk:
    """How far the talk of one speaker with an agent has come.

    Attributes:
        plays_since: The turn in which a play was proposed that is not over.
        awaits: The next message is of no use to memory.
        last: The place of the last message.
    """

    plays_since: int | None = None
    awaits: bool = False
    last: int | None = None


def learnable(turns: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return turns without what their speakers do not want learnt, or did not say of themselves.

    What is left of one of which something goes is its words alone: a reply and what tools returned
    may repeat what is gone.

    Args:
        turns: Of one agent, in order.
    """
    found = list(turns)
    talks: dict[_Who, _Talk] = {}
    for place, turn in enumerate(turns):
        if not turn.input.strip():
            continue
        talk = talks.setdefault((turn.user_id, subject_of(turn)), _Talk())
        said = _as_typed(turn.input)
        kept, covers_last = _left_of(said, turn.seq, talk)
        if covers_last and talk.last is not None:
            found[talk.last] = _only(found[talk.last], "")
        if kept != said:
            found[place] = _only(turn, kept)
        talk.last = place
    return tuple(found)


def _left_of(said: str, seq: int, talk: _Talk) -> tuple[str, bool]:
    """Return what may be learnt of a message, and whether it takes the one before it along."""
    if talk.plays_since is not None and seq - talk.plays_since > PLAY_TURNS_MAX:
        talk.plays_since = None
    if talk.plays_since is not None:
        rest = after_play(said)
        if rest is None:
            return "", False
        talk.plays_since, said = None, rest
    elif talk.awaits:
        talk.awaits = announces_text(said)
        return "", False
    elif proposes_play(said):
        talk.plays_since = seq
        return "", False
    talk.awaits = announces_text(said)
    kept, of = without_confidences(said)
    talk.awaits |= of == "next"
    return kept, of == "last"


def _as_typed(said: str) -> str:
    return said.replace("\u2019", "'")


def _only(turn: Turn, kept: str) -> Turn:
    """Return a turn of which only some of its words are heard."""
    return turn.model_copy(update={"input": kept, "response": "", "tool_outputs": ()})
