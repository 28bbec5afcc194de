"""Long outputs of tools are shown by previews: short, pure, and their own previews."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.records import turn

from ezra.turn.slots import hot_slot, hot_slots
from tiers.forms import OUTPUT_CHARS_FOUND
from tiers.previews import (
    PREVIEW_CHARS_MAX,
    elided,
    has_long_output,
    has_preview,
    output_key,
    outputs_within,
    shown_text,
    with_previews,
)
from tiers.records import ToolOutput, Turn

KEY = "turn-1/0"
PIECES = st.text(alphabet=st.sampled_from('ab \n"{}[]:,é\u0130error'), max_size=40)


def told(*outputs: str) -> Turn:
    """Return a turn with these outputs."""
    made = tuple(ToolOutput(tool=f"tool{number}", output=one) for number, one in enumerate(outputs))
    return turn(1, "Read it.", response="Done.", tool_outputs=made)


@given(st.lists(PIECES, min_size=1, max_size=8), st.integers(1, 400))
def test_a_preview_is_short_names_its_key_and_is_its_own_preview(
    pieces: list[str], times: int
) -> None:
    """Whatever the text: cutting again changes nothing, and what is short is left as it is."""
    text = "".join(pieces) * times
    shown = elided(text, KEY)
    assert elided(shown, KEY) == shown
    if len(text) <= OUTPUT_CHARS_FOUND:
        assert shown == text
    else:
        assert len(shown) <= PREVIEW_CHARS_MAX
        assert f'read_tool_output("{KEY}")' in shown


def test_a_preview_has_both_ends_at_borders_of_lines_and_what_went_wrong() -> None:
    """Beginning and end as they are, how much is missing, and the lines that tell of failures."""
    lines = [f"line {number} is fine" for number in range(1_000)]
    lines[500] = "ValueError: no such tyre"
    lines[700] = "Traceback (most recent call last):"
    text = "\n".join(lines)
    shown = elided(text, KEY).split("\n")
    cut = next(place for place, line in enumerate(shown) if line.startswith("[… "))
    end = shown.index("…]")
    assert shown[:cut] == lines[:cut]
    assert shown[end + 1 :] == lines[-len(shown) + end + 1 :]
    assert shown[cut + 1 : end] == [lines[500], lines[700]]
    assert f"of {len(text):,} characters" in shown[cut]
    assert "of 1,000 lines" in shown[cut]


@pytest.mark.parametrize(
    ("document", "shape"),
    [
        ({"total": 3, "rows": [{"id": 1, "name": "x"}] * 300}, "total: number, rows: list of 300"),
        ([{"id": 1, "ok": True}] * 400, "JSON list of 400, each object with id, ok"),
        ({"rows": ["x" * 90_000] * 3, "next": 1}, "JSON object that begins with rows"),
        ([{"id": 1, "text": "x" * 9_000}] * 20, "JSON list that begins with object with id, text"),
        ([[1]] * 3_000, "JSON list of 3,000, each list of 1"),
    ],
    ids=["object", "list", "long object", "long list", "lists"],
)
def test_of_json_the_shape_is_told(document: Any, shape: str) -> None:
    """Keys and lengths, as far as the document is read; what is none has no shape."""
    text = json.dumps(document)
    assert shape in elided(text, KEY)
    assert "JSON" not in elided(f"; {text}", KEY)
    assert "JSON" not in elided("[" * 50_000, KEY)


def test_a_turn_looks_the_same_whole_and_with_previews() -> None:
    """So that contexts from the ring and from cold, and their receipts, are the same bytes."""
    whole = told("x\n" * 9_000, "short", "y " * 3_000)
    ring = with_previews(whole)
    assert has_long_output(whole)
    assert has_preview(ring)
    assert not has_preview(whole)
    assert with_previews(ring) == ring
    assert len(ring.model_dump_json()) < 2 * PREVIEW_CHARS_MAX + 2_000
    assert shown_text(ring) == shown_text(whole)
    assert [one.text for one in hot_slots(ring)] == [one.text for one in hot_slots(whole)]
    assert with_previews(told("short")) == told("short")


def test_what_has_no_room_is_named_by_its_key() -> None:
    """A smaller output behind a large one may still fit; with no room at all, all are named."""
    one = told("x" * 3_000, "y" * 3_000, "short")
    shown = [(output.tool, output.output) for output in outputs_within(one, 4_000)]
    assert shown[0] == ("tool0", "x" * 3_000)
    assert shown[1] == ("tool1", f'[left out here; read_tool_output("{output_key(one.id, 1)}")]')
    assert shown[2] == ("tool2", "short")
    assert all("left out here" in output.output for output in outputs_within(one, 0))
    assert "xxx" not in hot_slot(one, output_chars=0).text
    assert hot_slot(one, output_chars=None).text == "Read it.\nDone."
