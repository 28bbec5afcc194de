"""What tools returned during a turn, read in ranges: one output may be larger than a context."""

from __future__ import annotations

from dataclasses import dataclass

from tiers.errors import NotFound, UsageError
from tiers.fields import TEXT_CHARS_MAX
from tiers.records import Scope, Turn

from .parts import Parts

RANGE_CHARS = 8_000
"""So much of an output is read where nobody says how much."""


@dataclass(frozen=True)
class OutputRange:
    """A range of what a tool returned during a turn, as it was stored.

    Attributes:
        turn_id: The turn.
        index: Which of its outputs, from 0.
        outputs: How many it has.
        tool: What the tool is called.
        text: The range.
        start: Where it begins, in characters.
        total: The characters of the whole output.
    """

    turn_id: str
    index: int
    outputs: int
    tool: str
    text: str
    start: int
    total: int

    @property
    def next_start(self) -> int | None:
        """Where the next range begins; ``None`` when this was the last."""
        end = self.start + len(self.text)
        return end if end < self.total else None


async def read_tool_output(
    parts: Parts, scope: Scope, turn_id: str, *, index: int, start: int, length: int
) -> OutputRange:
    """Return a range of an output of a turn that the scope sees in its own graph.

    Raises:
        NotFound: There is no such turn, or it has no such output.
        UsageError: A number is out of range.
    """
    _between("index", index, 0, TEXT_CHARS_MAX)
    _between("start", start, 0, TEXT_CHARS_MAX)
    _between("length", length, 1, TEXT_CHARS_MAX)
    turn = await _turn(parts, scope, turn_id)
    if index >= len(turn.tool_outputs):
        raise NotFound("tool output", f"{turn_id}/{index}")
    said = turn.tool_outputs[index]
    return OutputRange(
        turn_id=turn.id,
        index=index,
        outputs=len(turn.tool_outputs),
        tool=said.tool,
        text=said.output[start : start + length],
        start=start,
        total=len(said.output),
    )


async def _turn(parts: Parts, scope: Scope, turn_id: str) -> Turn:
    """Return a turn by its id, or else by its ``ref``."""
    found = await parts.turns.turns(scope, [turn_id])
    if not found:
        found = tuple((await parts.turns.known_refs(scope, [turn_id])).values())
    if not found or found[0].redacted_at is not None or found[0].retired_at is not None:
        # An empty text would say that the tool returned nothing.
        raise NotFound("turn", turn_id)
    return found[0]


def _between(name: str, value: int, least: int, most: int) -> None:
    if isinstance(value, bool) or not least <= value <= most:
        raise UsageError(name, value, f"a whole number, {least} to {most}")
