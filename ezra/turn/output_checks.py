"""What a caller says of an answer beside its words, checked before anything is stored."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from tiers.errors import UsageError, check_whole
from tiers.fields import OUTPUT_CHARS_MAX
from tiers.records import ToolOutput

from ..checks import checked

OUTPUTS_MAX = 1_000
TURN_OUTPUT_CHARS_MAX = 2_000_000
"""Of all outputs of a turn together."""
CONTROL_SHARE_MAX = 0.1
"""From this share of control characters on, a text is none."""
USAGE_MAX = 1_000_000_000

_CONTROLS = tuple(chr(code) for code in range(32) if chr(code) not in "\t\n\r\f\v\x1b")
_UNREADABLE = (*_CONTROLS, "\x7f", "\ufffd")

ToolOutputLike: TypeAlias = ToolOutput | dict[str, str]


def check_usage(tokens: object) -> None:
    """Refuse what is no number of tokens, where one is given.

    Raises:
        UsageError: It is none.
    """
    if tokens is not None:
        check_whole("usage_tokens", tokens, 0, USAGE_MAX)


def outputs_of(given: Iterable[ToolOutputLike]) -> list[ToolOutput]:
    """Return what tools returned as it is stored.

    Raises:
        UsageError: One is no text, too long, or not ``{"tool": …, "output": …}``; the field says
            which. Or they are too many, or too long together.
    """
    outputs: list[ToolOutput] = []
    total = 0
    for index, one in enumerate(given):
        if index == OUTPUTS_MAX:
            raise UsageError("tool_outputs", f"more than {index:,}", f"at most {OUTPUTS_MAX:,}")
        output = _output_of(one, f"tool_outputs[{index}]")
        total += len(output.output)
        if total > TURN_OUTPUT_CHARS_MAX:
            accepted = f"at most {TURN_OUTPUT_CHARS_MAX:,} characters of one turn together"
            raise UsageError("tool_outputs", f"{total:,} characters and more", accepted)
        outputs.append(output)
    return outputs


def _output_of(one: ToolOutputLike, field: str) -> ToolOutput:
    if not isinstance(one, ToolOutput):
        if not isinstance(one, dict):
            raise UsageError(field, type(one).__name__, 'a ToolOutput or {"tool": …, "output": …}')
        text = one.get("output")
        if not isinstance(text, str):
            raise UsageError(f"{field}.output", type(text).__name__, "text")
        _check_length(text, f"{field}.output")
        try:
            one = checked(ToolOutput, **one)
        except UsageError as error:
            raise UsageError(f"{field}.{error.field}", error.value, error.accepted) from error
    _check_length(one.output, f"{field}.output")
    _check_text(one.output, f"{field}.output")
    return one


def _check_length(text: str, field: str) -> None:
    if len(text) > OUTPUT_CHARS_MAX:
        raise UsageError(
            field, f"{len(text):,} characters", f"at most {OUTPUT_CHARS_MAX:,} characters"
        )


def _check_text(text: str, field: str) -> None:
    """Refuse what was binary before somebody decoded it."""
    if "\x00" in text:
        raise UsageError(field, "text with NUL characters", "text; say where binary data lie")
    unreadable = sum(map(text.count, _UNREADABLE))
    if unreadable > CONTROL_SHARE_MAX * len(text):
        shown = f"{unreadable:,} unreadable of {len(text):,} characters"
        raise UsageError(field, shown, "text; say where binary data lie")
