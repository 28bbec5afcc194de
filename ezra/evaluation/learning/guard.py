"""What the guard takes of a model's words: honest statements, and false ones of many families.

Each goes through the doors that a model's words go through: a summary is checked against the turns
that it stands for, a fact against the turns that it cites.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from metaagents.learning.candidates import Limits, Window
from metaagents.learning.checking import checked
from metaagents.learning.prompts import Extraction, FactFound
from metaagents.learning.weighing import Pair as FactPair
from metaagents.learning.weighing import by_opinion
from metaagents.lifecycle.checking import borne_out, cleaned
from metaagents.lifecycle.material import material_of_turns
from tiers.lexical import sentences
from tiers.records import Fact, Turn

from .grammar import FilledClaim
from .labels import Line, Pair, Talk
from .results import Mistake

AGENT = "assistant"
BETWEEN = timedelta(minutes=1)
"""From one turn to the next."""
_ZONE = ZoneInfo("UTC")


class Judged(NamedTuple):
    """A statement, and whether it was taken.

    Attributes:
        kind: ``summary`` or ``fact``; of what nobody said ``false``, or its family.
        taken: As it is worded.
        told: So, or in the words of the sentence that it is about.
    """

    case: str
    kind: str
    text: str
    said: tuple[str, ...]
    taken: bool
    told: bool = False

    @property
    def mistake(self) -> Mistake:
        """What is to be told of it where it went wrong."""
        what = "taken" if self.taken else "refused"
        return Mistake(case=self.case, kind=self.kind, what=what, said=(*self.said, self.text))


def judged_talk(talk: Talk, at: datetime) -> list[Judged]:
    """Return each sentence of the summaries of a conversation, and each fact, as it is judged.

    So is each false sentence, at both doors.
    """
    turns = _turns(talk.turns, at)
    lines = tuple(f"{one.speaker}: {one.text} > {one.answer}" for one in talk.turns)
    found = []
    for summary in talk.summaries:
        kept = sentences(_summary(summary, turns))
        found += [Judged(talk.id, "summary", one, lines, one in kept) for one in sentences(summary)]
    for one in talk.facts:
        stored = _facts(one, turns)
        found.append(Judged(talk.id, "fact", one, lines, one in stored, told=bool(stored)))
    found += [Judged(talk.id, "false", one, lines, _is_taken(one, turns)) for one in talk.false]
    return found


def judged_claim(claim: FilledClaim, at: datetime) -> Judged:
    """Return whether a false statement is taken by any of the doors."""
    turns = _turns(claim.turns, at)
    lines = tuple(f"{one.speaker}: {one.text} > {one.answer}" for one in claim.turns)
    return Judged(claim.id, claim.kind, claim.text, lines, _is_taken(claim.text, turns))


def is_replaced(pair: Pair, at: datetime) -> bool:
    """Whether a fact gives way when a model says that the later one supersedes it."""
    speakers = (pair.speaker, pair.new_speaker or pair.speaker)
    older, newer = (
        Fact(id=f"fact-{place}", text=text, agent_id=speaker, recorded_at=at + place * BETWEEN)
        for place, (text, speaker) in enumerate(zip((pair.old, pair.new), speakers, strict=True))
    )
    return by_opinion(FactPair.of(older, newer), "supersedes") in ("natural", "denial")


def _turns(lines: Sequence[Line], at: datetime) -> tuple[Turn, ...]:
    return tuple(
        Turn(
            id=f"turn-{number:03d}",
            agent_id=AGENT,
            seq=number,
            speaker=line.speaker,
            input=line.text,
            response=line.answer,
            occurred_at=at + number * BETWEEN,
        )
        for number, line in enumerate(lines, 1)
    )


def _summary(text: str, turns: Sequence[Turn]) -> str:
    return borne_out(cleaned(text), material_of_turns(turns, _ZONE).sources).text


def _facts(text: str, turns: Sequence[Turn]) -> list[str]:
    """Return what is stored where a model answers a fact: it, or what it is about as said."""
    found = FactFound(text=text, confidence=1.0, source_ids=[turn.id for turn in turns])
    stored = checked(Window(tuple(turns)), Extraction(facts=[found]), Limits()).facts
    return [one.said.text for one in stored]


def _is_taken(text: str, turns: Sequence[Turn]) -> bool:
    return bool(_summary(text, turns)) or text in _facts(text, turns)
