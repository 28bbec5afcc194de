"""What a summary or an episode is made of, as its writer needs it. Pure.

An episode's text is its period on the first line, then notes as ``extract`` renders them, or what a
model wrote and, below it, notes of what that left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypeAlias
from zoneinfo import ZoneInfo

from tiers.lexical import sentences, words
from tiers.moments import local
from tiers.plans import AnyGrain
from tiers.records import EXTRACTED, Episode, Grain, Summary, Turn

from ..claims.clause import AGENT, USER, Voice
from ..claims.support import Said, Sources
from .extract import Sentence, closed, fair, sentences_of, stamp, with_denials
from .statements import is_statement

Note: TypeAlias = tuple[str, str, str]
"""A sentence of a grain: its day, who said it, and what."""

SENTENCES_MAX = 2_048
"""What an extract chooses from."""

PIECE_CHARS_MAX = 8_000
"""What is looked at in one go: one search for a number in a long text without any takes so long
that nothing else of the process runs."""

FORMER_SUPPLEMENT = "Also mentioned: "
"""How a line began that listed words which a text had lost: no statement, and written no more."""

_STAMP = re.compile(r"^\[(\d{4}-\d{2}-\d{2})(?: (\d{2}:\d{2}))?\] ")
_PERIOD = re.compile(r"^\d{4}(?:-\w+)*$")
_BETWEEN = re.compile(r"(?<=[.!?\u2026]) ")
_SPEAKER = re.compile(r"^([^:]{1,64}): ")


@dataclass(frozen=True)
class Material:
    """The sources of one text.

    Attributes:
        grain: Of what is to be written.
        heading: What the text begins with: when it was.
        period: What that is called.
        texts: What the sources say, in pieces.
        said: The same as sentences, source by source.
        lost: Statements that the sources had lost already.
        told: Who said what and when, as far as the sources tell.
        shown: The sources as a model is shown them, oldest first.
    """

    grain: AnyGrain
    heading: str
    period: str
    texts: tuple[str, ...]
    said: tuple[tuple[Sentence, ...], ...]
    lost: int
    told: tuple[Said, ...]
    shown: tuple[Mapping[str, str], ...]

    @cached_property
    def sources(self) -> Sources:
        """What was said, taken apart for the guard."""
        return Sources(self.told)

    @cached_property
    def candidates(self) -> list[Sentence]:
        """The sentences that an extract chooses from, in order, at most ``SENTENCES_MAX``.

        If there are more, each source has its share of them, the first ones it says.
        """
        return [one for part in fair(self.said, SENTENCES_MAX) for one in part]

    @cached_property
    def statements(self) -> list[str]:
        """Everything that could get lost, each once."""
        texts = dict.fromkeys(one.text for part in self.said for one in part)
        return [text for text in texts if is_statement(text)]


def material_of_turns(turns: Sequence[Turn], zone: ZoneInfo) -> Material:
    """Return what a level-0 summary is made of."""
    at = local(turns[0].occurred_at, zone)
    return Material(
        grain="working",
        heading=stamp(at),
        period=f"the conversation that began at {at:%Y-%m-%d %H:%M}",
        texts=tuple(_pieces(text for turn in turns for _, text in _labelled_texts(turn))),
        said=with_denials(
            [
                sentences_of(turn, zone, before)
                for before, turn in zip((None, *turns), turns, strict=False)
            ]
        ),
        lost=0,
        told=tuple(one for turn in turns for one in _said_in(turn, zone)),
        shown=tuple(
            {"at": f"{local(turn.occurred_at, zone):%Y-%m-%d %H:%M}", "by": who, "said": text}
            for turn in turns
            for who, text in _labelled_texts(turn)
            if text.strip()
        ),
    )


def material_of_members(
    grain: Grain, period: str, members: Sequence[Summary | Episode], zone: ZoneInfo
) -> Material:
    """Return what an episode is made of: summaries, or episodes of a finer grain."""
    moments = [moment for one in members for moment in (one.starts_at, one.ends_at)]
    dates = _words_of([*(_spelled(local(moment, zone)) for moment in moments), period])
    notes = [_notes(one, zone) for one in members]
    return Material(
        grain=grain,
        heading=period,
        period=period,
        texts=tuple(
            _pieces("\n".join(_STAMP.sub("", line) for line in _body(one)) for one in members)
        ),
        said=tuple(map(tuple, notes)),
        lost=sum(one.lost for one in members),
        told=tuple(
            Said(said.text, _voice(said.speaker, one.agent_id), at=dates)
            for one, part in zip(members, notes, strict=True)
            for said in part
        ),
        shown=tuple({"of": _called(one, zone), "text": "\n".join(_body(one))} for one in members),
    )


def answers_of(text: str, made_by: str, material: Material) -> tuple[int, ...]:
    """Return the places of those sentences of a text of a material that answer a question."""
    known = {closed(one.text) for one in material.candidates if one.is_answer}
    heading = "" if material.grain == "working" else material.heading
    notes = notes_of(_below(heading, text), made_by, datetime.min.replace(tzinfo=UTC))
    return tuple(place for place, one in enumerate(notes) if closed(one.text) in known)


def _notes(member: Summary | Episode, zone: ZoneInfo) -> list[Sentence]:
    """Return the sentences of a member, those that answer something marked."""
    notes = notes_of(_body(member), member.made_by, local(member.starts_at, zone))
    answers = frozenset(member.answers)
    return [replace(one, is_answer=place in answers) for place, one in enumerate(notes)]


def notes_of(lines: Sequence[str], made_by: str, since: datetime) -> list[Sentence]:
    """Return the sentences of a text, each with who said it and when, as far as the text says.

    Args:
        lines: Of the text, without its heading.
        made_by: ``extract``, or the model that wrote the lines that are no notes.
        since: When what has no date began; its time zone is that of all dates.
    """
    found: list[Sentence] = []
    at, is_noted = since, made_by == EXTRACTED
    for place, line in enumerate(lines):
        if line.startswith(FORMER_SUPPLEMENT):
            continue
        stamped = _STAMP.match(line)
        if stamped:
            at = _moment(stamped, since) or at
            # The first line of a model's summary is dated as well, and is no note.
            is_noted = is_noted or place > 0
        rest = line[stamped.end() :] if stamped else line
        who = _SPEAKER.match(rest) if is_noted else None
        speaker, said = (who[1], rest[who.end() :]) if who else ("", rest)
        found += [Sentence(one, speaker, at) for one in sentences(said)]
    return list(chain.from_iterable(with_denials([found])))


def notes_told(text: str, since: datetime) -> frozenset[Note]:
    """Return what a summary or an episode tells: its sentences, each with its day and its speaker.

    Enough to see whether another tells the same, at a fifteenth of what ``notes_of`` takes.

    Args:
        text: With its heading, which is a period and no sentence.
        since: When what has no date began.
    """
    return frozenset(notes_in(text, since))


def notes_in(text: str, since: datetime) -> list[Note]:
    """Return what ``notes_told`` does in the order of the text, as often as it is there."""
    told: list[Note] = []
    day = f"{since:%Y-%m-%d}"
    for line in map(_taken_apart, text.splitlines()):
        day = line.day or day
        told += [(day, line.speaker, one) for one in line.said]
    return told


def notes_said(day: str, speaker: str, text: str) -> frozenset[Note]:
    """Return what somebody said as ``notes_told`` finds it in what is made of it.

    Args:
        day: On which it was said.
        speaker: Who said it.
        text: One message or answer.
    """
    line = " ".join(closed(" ".join(one.split())) for one in sentences(text))
    return frozenset((day, speaker, one) for one in _BETWEEN.split(line) if one)


def without(text: str, places: Collection[int]) -> str:
    """Return a summary or an episode without some of its sentences, whose places are given.

    A line of which none is left goes; when it was said stands before the next one then.
    """
    lines: list[str] = []
    place, when = 0, ""
    for line in map(_taken_apart, text.splitlines()):
        when = line.stamp or when
        left = [one for at, one in enumerate(line.said, place) if at not in places]
        place += len(line.said)
        if left:
            lines.append(f"{when}{line.label}{' '.join(left)}")
            when = ""
        elif not line.said:
            lines.append(line.text)
    return "\n".join(lines)


class _Line(NamedTuple):
    """A line of a summary or an episode: when and by whom it was said, and its sentences."""

    text: str
    stamp: str = ""
    day: str = ""
    label: str = ""
    speaker: str = ""
    said: tuple[str, ...] = ()


def _taken_apart(line: str) -> _Line:
    """Return a line; one that is blank or a period says nothing."""
    stamped = _STAMP.match(line)
    stamp, day = (stamped[0], stamped[1]) if stamped else ("", "")
    rest = line[len(stamp) :]
    if not rest.strip() or _PERIOD.match(rest):
        return _Line(line, stamp, day)
    who = _SPEAKER.match(rest)
    label, speaker = (who[0], who[1]) if who else ("", "")
    return _Line(line, stamp, day, label, speaker, tuple(_BETWEEN.split(rest[len(label) :])))


def lines_told(text: str) -> list[str]:
    """Return the lines of a summary or an episode without their dates, and without its heading."""
    said = (_STAMP.sub("", line) for line in text.splitlines())
    return [line for line in said if line.strip() and not _PERIOD.match(line)]


def _moment(stamped: re.Match[str], since: datetime) -> datetime | None:
    try:
        at = datetime.fromisoformat(f"{stamped[1]} {stamped[2] or '00:00'}")
    except ValueError:  # a model's line, of a thirtieth of February
        return None
    return at.replace(tzinfo=since.tzinfo)


def _body(member: Summary | Episode) -> list[str]:
    """Return the lines of a member that are not blank, without its heading."""
    return _below(member.period if isinstance(member, Episode) else "", member.text)


def _below(heading: str, text: str) -> list[str]:
    """Return the lines of a text that are not blank, without the first if it is the heading."""
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[1:] if lines[:1] == [heading] else lines


def _called(member: Summary | Episode, zone: ZoneInfo) -> str:
    if isinstance(member, Episode) and member.period:
        return member.period
    return f"{local(member.starts_at, zone):%Y-%m-%d %H:%M}"


def _labelled_texts(turn: Turn) -> list[tuple[str, str]]:
    parts = [(turn.speaker or turn.agent_id, turn.input), (turn.agent_id, turn.response)]
    return parts + [(f"{turn.agent_id}/{one.tool}", one.output) for one in turn.tool_outputs]


def _said_in(turn: Turn, zone: ZoneInfo) -> list[Said]:
    """Return what was said in a turn, each with whose words it is."""
    at = _words_of([_spelled(local(turn.occurred_at, zone))])
    speaker = turn.speaker if turn.speaker != turn.agent_id else turn.user_id or ""
    user, agent = _words_of([speaker]), _words_of([turn.agent_id])
    said = [
        Said(turn.input, Voice("user", user, agent | {AGENT}), turn.id, at),
        Said(turn.response, Voice("agent", agent, user | {USER}), turn.id, at),
    ]
    return said + [
        Said(one.output, Voice("tool", _words_of([one.tool])), turn.id, at)
        for one in turn.tool_outputs
    ]


def _voice(speaker: str, agent_id: str) -> Voice:
    """Return whose words a note has, by its label; a model's own lines have none."""
    if not speaker:
        return Voice("text")
    if speaker == agent_id:
        return Voice("agent", _words_of([agent_id]), frozenset((USER,)))
    kind = "tool" if speaker.startswith(f"{agent_id}/") else "user"
    return Voice(kind, _words_of([speaker]), _words_of([agent_id]) | {AGENT})


def _words_of(texts: Iterable[str]) -> frozenset[str]:
    return frozenset(word for text in texts for word in (*words(text), *text.lower().split()))


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
