"""What a summary or an episode is made of, as its writer needs it. Pure.

An episode's text is its period on the first line, then lines that each begin with when they were
said or are sentences of a model, then perhaps a line that puts back what the rest lost.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from zoneinfo import ZoneInfo

from tiers.lexical import sentences
from tiers.plans import AnyGrain
from tiers.records import EXTRACTED, Episode, Grain, Summary, Turn

from .checking import ALSO, PIECE_CHARS_MAX
from .extract import fair, local, stamp

LINES_MAX = 512
"""What an extract of an episode chooses from, at most."""

_STAMP = re.compile(r"^\[\d{4}-\d{2}-\d{2} \d{2}:\d{2}\] ")


@dataclass(frozen=True)
class Material:
    """The sources of one text.

    Attributes:
        grain: Of what is to be written.
        heading: What the text begins with: when it was.
        period: What that is called.
        texts: What the sources say, in pieces: of this, nothing in particular may get lost.
        known: What a text may say besides: names of speakers and tools, and dates.
        shown: The sources as a model is shown them, oldest first.
    """

    grain: AnyGrain
    heading: str
    period: str
    texts: tuple[str, ...]
    known: tuple[str, ...]
    shown: tuple[Mapping[str, str], ...]


def material_of_turns(turns: Sequence[Turn], zone: ZoneInfo) -> Material:
    """Return what a level-0 summary is made of."""
    at = local(turns[0].occurred_at, zone)
    known = [_spelled(local(turn.occurred_at, zone)) for turn in turns]
    known += [f"{turn.speaker} {turn.agent_id}" for turn in turns]
    known += [one.tool for turn in turns for one in turn.tool_outputs]
    return Material(
        grain="working",
        heading=stamp(at),
        period=f"the conversation that began at {at:%Y-%m-%d %H:%M}",
        texts=tuple(_pieces(text for turn in turns for _, text in _parts(turn))),
        known=tuple(known),
        shown=tuple(
            {"at": f"{local(turn.occurred_at, zone):%Y-%m-%d %H:%M}", "by": who, "said": text}
            for turn in turns
            for who, text in _parts(turn)
            if text.strip()
        ),
    )


def material_of_members(
    grain: Grain, period: str, members: Sequence[Summary | Episode], zone: ZoneInfo
) -> Material:
    """Return what an episode is made of: summaries, or episodes of a finer grain."""
    moments = [moment for one in members for moment in (one.starts_at, one.ends_at)]
    return Material(
        grain=grain,
        heading=period,
        period=period,
        texts=tuple(
            _pieces("\n".join(_STAMP.sub("", line) for line in _body(one)) for one in members)
        ),
        known=(
            *(one.text for one in members),
            *(_spelled(local(moment, zone)) for moment in moments),
            period,
        ),
        shown=tuple({"of": _called(one, zone), "text": "\n".join(_body(one))} for one in members),
    )


def lines_of(members: Sequence[Summary | Episode]) -> list[str]:
    """Return the lines of which an extract is made, in order, at most ``LINES_MAX``."""
    return [line for lines in fair([_lines(one) for one in members], LINES_MAX) for line in lines]


def _lines(member: Summary | Episode) -> list[str]:
    """Return what a member says, line by line; what a model wrote, sentence by sentence."""
    lines = [line for line in _body(member) if not line.startswith(ALSO)]
    if member.made_by == EXTRACTED:
        return lines
    return [sentence for line in lines for sentence in sentences(line)]


def _body(member: Summary | Episode) -> list[str]:
    """Return the lines of a member that are not blank, without its heading."""
    lines = [line for line in member.text.splitlines() if line.strip()]
    is_headed = isinstance(member, Episode) and lines[:1] == [member.period]
    return lines[1:] if is_headed else lines


def _called(member: Summary | Episode, zone: ZoneInfo) -> str:
    if isinstance(member, Episode) and member.period:
        return member.period
    return f"{local(member.starts_at, zone):%Y-%m-%d %H:%M}"


def _parts(turn: Turn) -> list[tuple[str, str]]:
    parts = [(turn.speaker or turn.agent_id, turn.input), (turn.agent_id, turn.response)]
    return parts + [(f"{turn.agent_id}/{one.tool}", one.output) for one in turn.tool_outputs]


def _pieces(texts: Iterable[str]) -> Iterator[str]:
    """Cut texts at white space so that none is too long to be looked at in one go."""
    for text in texts:
        rest = text.strip()
        while len(rest) > PIECE_CHARS_MAX:
            space = rest.rfind(" ", PIECE_CHARS_MAX // 2, PIECE_CHARS_MAX)
            end = space if space > 0 else PIECE_CHARS_MAX
            yield rest[:end]
            rest = rest[end:].lstrip()
        if rest:
            yield rest


def _spelled(at: datetime) -> str:
    """Return a moment in the ways in which a text may name it."""
    return f"{at:%Y-%m-%d %H:%M} {at.day} {at:%B} {at:%b} {at:%A} {at.year}"
