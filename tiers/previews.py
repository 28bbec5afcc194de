"""What a long output of a tool looks like wherever it is shown: a preview that names its key. Pure.

The preview is a function of the output and its key alone, and at most ``PREVIEW_CHARS_MAX`` long,
which is short enough to be shown as it is: the preview of a preview is itself. So a turn reads the
same whether it comes from the cold tier, which has all of it, or from a ring of previews.

What a search finds a turn by is said in ``tiers.forms``, and does not change with this.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from .forms import OUTPUT_CHARS_FOUND, spoken
from .records import ToolOutput, Turn

PREVIEW_CHARS_MAX = 2_400
HEAD_CHARS = 900
TAIL_CHARS = 500
SHAPE_CHARS = 300
NOTABLE_CHARS = 160
NOTABLE_MAX = 3
"""So many lines that tell of a failure come along, each so long at most."""

SHAPE_READ_CHARS = 100_000
"""So much of a JSON document is read for its shape: reading on would take too long."""
KEYS_SHOWN = 20

_ALARMS = ("error", "exception", "traceback", "fatal", "panic:", "failed")
_NOT_SPACE = re.compile(r"\S")
_DECODER = json.JSONDecoder()


def output_key(turn_id: str, index: int) -> str:
    """Return what names an output of a turn, in previews and for ``read_tool_output``."""
    return f"{turn_id}/{index}"


def shown_output_of(turn_id: str, index: int, output: ToolOutput) -> str:
    """Return an output as it is shown, behind the name of its tool."""
    return f"{output.tool}: {elided(output.output, output_key(turn_id, index))}"


def shown_outputs(turn: Turn) -> list[str]:
    """Return the outputs of a turn as they are shown, each behind the name of its tool."""
    return [shown_output_of(turn.id, index, one) for index, one in enumerate(turn.tool_outputs)]


def shown_text(turn: Turn) -> str:
    """Return a turn as an answer of a search shows it: as it is found, long outputs elided."""
    said = spoken(turn.speaker or turn.agent_id, turn.input, turn.response)
    return "\n".join([said, *shown_outputs(turn)]).strip()


def has_long_output(turn: Turn) -> bool:
    """Whether some output of a turn is shown by its preview only."""
    return any(len(one.output) > OUTPUT_CHARS_FOUND for one in turn.tool_outputs)


def has_preview(turn: Turn) -> bool:
    """Whether some output of a turn is a preview already, as a ring holds it."""
    return any(
        f'read_tool_output("{output_key(turn.id, index)}")' in one.output
        for index, one in enumerate(turn.tool_outputs)
    )


def may_be_long(text: str) -> bool:
    """Whether a text that a turn was found by may hold the beginning of an output that is long."""
    return len(text) > OUTPUT_CHARS_FOUND


def with_previews(turn: Turn) -> Turn:
    """Return a turn with its long outputs elided; itself where there are none."""
    if not has_long_output(turn):
        return turn
    outputs = tuple(
        one.model_copy(update={"output": elided(one.output, output_key(turn.id, index))})
        for index, one in enumerate(turn.tool_outputs)
    )
    return turn.model_copy(update={"tool_outputs": outputs})


def elided(text: str, key: str) -> str:
    """Return an output as it is shown: whole up to ``OUTPUT_CHARS_FOUND``, else a preview.

    A preview has the beginning and the end, cut at borders of lines where there are some, and
    between them how much is left out, the key under which all of it is read, the shape of a JSON
    document, and the first lines that tell of a failure.
    """
    if len(text) <= OUTPUT_CHARS_FOUND:
        return text
    head, tail = _head(text), _tail(text)
    middle = text[len(head) : len(text) - len(tail)]
    left_out = f"{len(middle):,} of {len(text):,} characters"
    lines = middle.count("\n")
    if lines > 1:
        left_out += f", {lines:,} of {text.count(chr(10)) + 1:,} lines"
    notes = [f'[… {left_out} left out; all of it: read_tool_output("{key}")']
    shape = _shape(text)
    if shape:
        notes.append(shape[:SHAPE_CHARS])
    notes += _notable(text, len(head), len(text) - len(tail))
    return "\n".join([head.rstrip("\n"), *notes, "…]", tail.lstrip("\n")])[:PREVIEW_CHARS_MAX]


def _head(text: str) -> str:
    border = text.rfind("\n", HEAD_CHARS // 2, HEAD_CHARS)
    return text[: border + 1 if border > 0 else HEAD_CHARS]


def _tail(text: str) -> str:
    first = len(text) - TAIL_CHARS
    border = text.find("\n", first, first + TAIL_CHARS // 2)
    return text[border + 1 if border > 0 else first :]


def _notable(text: str, start: int, end: int) -> list[str]:
    """Return the first lines between two places that tell of a failure, each cut."""
    small = text.lower()
    if len(small) != len(text):
        small = text  # a letter that has no small form of one character: places would shift
    found: dict[int, str] = {}
    for place in _alarms(small, start, end):
        first = text.rfind("\n", 0, place) + 1
        if first in found or first < start:
            continue
        last = text.find("\n", place)
        # Of a long line what stands around the word, else the line from its beginning.
        first_shown = max(first, place - NOTABLE_CHARS // 2)
        line = text[first_shown : len(text) if last < 0 else last][:NOTABLE_CHARS]
        found[first] = " ".join(line.split())
        if len(found) == NOTABLE_MAX:
            break
    return [line for _, line in sorted(found.items())]


def _alarms(small: str, start: int, end: int) -> Iterator[int]:
    """Return places of words that tell of a failure, in order; a bounded number of each word."""
    places: list[int] = []
    for word in _ALARMS:
        place, seen = start, 0
        while seen < NOTABLE_MAX and (place := small.find(word, place, end)) >= 0:
            places.append(place)
            line_end = small.find("\n", place)
            place, seen = (end if line_end < 0 else line_end), seen + 1
    yield from sorted(places)


def _shape(text: str) -> str:
    """Return what a JSON document is made of, in a line; empty for what is none."""
    first = _NOT_SPACE.search(text)
    if first is None or first.group() not in "{[":
        return ""
    part = text[:SHAPE_READ_CHARS]
    if len(part) == len(text):
        try:
            return f"JSON {_outline(json.loads(text))}"
        except (ValueError, RecursionError):
            return ""
    return _shape_of_beginning(part, first.start())


def _outline(value: object, depth: int = 0) -> str:
    """Return the kind of a JSON value: of objects the keys, of lists the length and first item."""
    if isinstance(value, dict):
        names = [
            f"{name}: {_outline(one, depth + 1)}" if not depth else str(name)
            for name, one in list(value.items())[:KEYS_SHOWN]
        ]
        more = ", …" if len(value) > KEYS_SHOWN else ""
        return f"object with {', '.join(names)}{more}" if names else "empty object"
    if isinstance(value, list):
        of = f" of {_outline(value[0], depth + 1)}" if value else ""
        return f"list of {len(value):,}{of}" if not of else f"list of {len(value):,}, each{of[3:]}"
    return {str: "text", bool: "yes or no", type(None): "null"}.get(type(value), "number")


def _shape_of_beginning(part: str, start: int) -> str:
    """Return what can be said of a document that is too long to be read whole."""
    try:
        if part[start] == "[":
            item, _ = _DECODER.raw_decode(part, _next(part, start + 1))
            return f"JSON list that begins with {_outline(item, 1)}"
        names = list(_names(part, start + 1))
    except (ValueError, IndexError, RecursionError):
        return ""
    return f"JSON object that begins with {', '.join(names[:KEYS_SHOWN])}" if names else ""


def _names(part: str, place: int) -> Iterator[str]:
    """Return the names of an object as far as it can be read."""
    for _ in range(KEYS_SHOWN):
        try:
            name, place = _DECODER.raw_decode(part, _next(part, place))
            colon = _next(part, place)
            if not isinstance(name, str) or part[colon] != ":":
                return
            yield name
            _, place = _DECODER.raw_decode(part, _next(part, colon + 1))
            place = _next(part, place)
            if part[place] != ",":
                return
        except (ValueError, IndexError):
            return  # cut off in the middle of a value, or no JSON after all
        place += 1


def _next(part: str, place: int) -> int:
    """Return the place of what is no white space from ``place`` on.

    Raises:
        IndexError: There is nothing more.
    """
    found = _NOT_SPACE.search(part, place)
    if found is None:
        raise IndexError(place)
    return found.start()


def pointer_to(key: str) -> str:
    """Return what stands for an output that has no room where it would be shown."""
    return f'[left out here; read_tool_output("{key}")]'


def outputs_within(turn: Turn, chars: int) -> Sequence[ToolOutput]:
    """Return a turn's outputs as a context shows them: previews, as far as there is room.

    What has no room is named by its key. The same from a turn with previews and from the whole.

    Args:
        turn: Whose outputs.
        chars: How many characters they may take together; pointers aside.
    """
    previews: list[ToolOutput] = []
    for index, one in enumerate(turn.tool_outputs):
        key = output_key(turn.id, index)
        shown = elided(one.output, key)
        cost = len(f"{one.tool}: {shown}")
        fits = cost <= chars
        chars -= cost if fits else 0
        previews.append(one.model_copy(update={"output": shown if fits else pointer_to(key)}))
    return previews
