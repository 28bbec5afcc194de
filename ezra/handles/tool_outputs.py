"""What tools returned during a turn, read whole or in ranges: it may be larger than a context."""

from __future__ import annotations

import re
from dataclasses import dataclass

from tiers.errors import NotFound, UsageError, check_whole
from tiers.fields import OUTPUT_CHARS_MAX
from tiers.previews import output_key
from tiers.records import Scope, Turn

from ..runtime import Runtime
from ..turn.output_checks import OUTPUTS_MAX

RANGE_CHARS = 8_000
"""So much of an output is read where nobody says how much."""
_KEY = re.compile(r"(?P<turn>.+)/(?P<index>\d{1,4})", re.DOTALL)


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
    def key(self) -> str:
        """What names the output: ``<turn id>/<index>``."""
        return output_key(self.turn_id, self.index)

    @property
    def next_start(self) -> int | None:
        """Where the next range begins; ``None`` when this was the last."""
        end = self.start + len(self.text)
        return end if end < self.total else None


async def read_tool_output(
    runtime: Runtime, scope: Scope, key: str, *, index: int | None, start: int, length: int | None
) -> OutputRange:
    """Return an output, or a range of it, of a turn that the scope sees in its own graph.

    Args:
        runtime: The runtime.
        scope: Who asks.
        key: ``<turn id>/<index>``, as previews have it; or a turn's id or ``ref``, with ``index``.
        index: Which of the turn's outputs, from 0, where the key does not say.
        start: The first character.
        length: The most characters; all to the end if ``None``.

    Raises:
        NotFound: There is no such turn, or it has no such output.
        UsageError: A number is out of range, or differs from that of the key.
    """
    if index is not None:
        check_whole("index", index, 0, OUTPUTS_MAX)
    check_whole("start", start, 0, OUTPUT_CHARS_MAX)
    if length is not None:
        check_whole("length", length, 1, OUTPUT_CHARS_MAX)
    turn, named = await _turn(runtime, scope, key)
    if named is not None and index not in (None, named):
        raise UsageError("index", index, f"{named}, as the key says, or none")
    place = named if named is not None else index or 0
    if place >= len(turn.tool_outputs):
        raise NotFound("tool output", output_key(turn.id, place))
    said = turn.tool_outputs[place]
    end = len(said.output) if length is None else start + length
    return OutputRange(
        turn_id=turn.id,
        index=place,
        outputs=len(turn.tool_outputs),
        tool=said.tool,
        text=said.output[start:end],
        start=start,
        total=len(said.output),
    )


async def _turn(runtime: Runtime, scope: Scope, key: str) -> tuple[Turn, int | None]:
    """Return a turn by its id, else by its ``ref``, else by a key, whose number comes with it.

    A ``ref`` may look like a key: what is called exactly so comes first.
    """
    parsed = _KEY.fullmatch(key)
    named = [key] if parsed is None else [key, parsed["turn"]]
    by_id = {one.id: one for one in await runtime.turns.turns(scope, named)}
    by_ref = {} if named[-1] in by_id else await runtime.turns.known_refs(scope, named)
    for number, one in enumerate(named):
        found = by_id.get(one) or by_ref.get(one)
        if found is None:
            continue
        if found.redacted_at is not None or found.retired_at is not None:
            break  # an empty text would say that the tool returned nothing
        return found, int(parsed["index"]) if parsed is not None and number else None
    raise NotFound("turn", named[-1])
