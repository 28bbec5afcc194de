"""What tools answer a model: small, flat and limited, because a model has to read it.

Whatever somebody wrote goes through ``shown`` or ``read``: between the quotes of a JSON text it can
end nothing, and it holds nothing that a tokenizer or no eye sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TypeAlias

from pydantic import BaseModel, ConfigDict

from tiers.fencing import flat, inert
from tiers.records import BeliefStatus, Commitment, HistoricBelief, Hit, Kind

from ..handles.tool_outputs import OutputRange
from ..recall.memory_search import MemorySearch
from ..recaller import RecallResult

SHOWN_CHARS_MAX = 4_000
"""Of one text; the stored output of a tool is read in ranges instead."""

IDS_MAX = 50

Key: TypeAlias = tuple[str, str]


class Answer(BaseModel):
    """Base of every answer."""

    model_config = ConfigDict(frozen=True)


class Found(Answer):
    """One record that recall found."""

    id: str
    kind: Kind
    text: str
    score: float
    agent_id: str
    speaker: str
    topics: tuple[str, ...]
    recorded_at: datetime
    occurred_at: datetime | None
    valid_to: datetime | None
    source_ids: tuple[str, ...]
    inherited_from: str | None
    is_cut: bool

    @classmethod
    def of(cls, hit: Hit) -> Found:
        """Return a hit as it is shown."""
        return cls(
            id=hit.id,
            kind=hit.kind,
            text=shown(hit.text),
            score=round(hit.score, 4),
            agent_id=flat(hit.agent_id),
            speaker=flat(hit.speaker),
            topics=hit.topics,
            recorded_at=hit.recorded_at,
            occurred_at=hit.occurred_at,
            valid_to=hit.valid_to,
            source_ids=hit.source_ids[:IDS_MAX],
            inherited_from=hit.inherited_from,
            is_cut=len(hit.text) > SHOWN_CHARS_MAX,
        )


class Recalled(Answer):
    """What recall found, best first. ``degraded`` names what did not take part."""

    items: tuple[Found, ...]
    total: int
    degraded: tuple[str, ...]
    rerank_used: bool

    @classmethod
    def of(cls, found: RecallResult) -> Recalled:
        """Return an answer of recall as it is shown."""
        return cls(
            items=tuple(map(Found.of, found.items)),
            total=found.total,
            degraded=found.degraded,
            rerank_used=found.rerank_used,
        )


class Day(Answer):
    """One record of a window of days: its line begins with its day or period in brackets."""

    id: str
    line: str


class Days(Answer):
    """What happened in a window of days. ``hint`` says what to try next."""

    items: tuple[Day, ...]
    since: str
    hint: str | None
    degraded: tuple[str, ...]

    @classmethod
    def of(cls, found: MemorySearch) -> Days:
        """Return a search by days as it is shown."""
        pairs = zip(found.items, found.lines, strict=True)
        return cls(
            items=tuple(Day(id=hit.id, line=shown(line)) for hit, line in pairs),
            since=found.since.isoformat(),
            hint=found.hint,
            degraded=found.degraded,
        )


class Remembered(Answer):
    """The id of what is remembered now, and whether it was not before."""

    id: str
    was_new: bool


class Forgotten(Answer):
    """Whether a fact was forgotten by this call; ``False`` when there was nothing to forget."""

    fact_id: str
    forgotten: bool


class OutputShown(Answer):
    """A range of a tool's stored output. ``next_start`` reads on; ``None`` at the end."""

    key: str
    turn_id: str
    index: int
    outputs: int
    tool: str
    text: str
    start: int
    total_chars: int
    next_start: int | None

    @classmethod
    def of(cls, found: OutputRange) -> OutputShown:
        """Return a range as it is shown."""
        return cls(
            key=found.key,
            turn_id=found.turn_id,
            index=found.index,
            outputs=found.outputs,
            tool=flat(found.tool),
            text=inert(found.text),
            start=found.start,
            total_chars=found.total,
            next_start=found.next_start,
        )


class Belief(Answer):
    """A belief, and what became of it."""

    id: str
    claim: str
    topic: str | None
    key: Key | None
    value: str | None
    agent_id: str
    trust: float
    private: bool
    pinned: bool
    status: BeliefStatus
    superseded_by: str | None
    recorded_at: datetime

    @classmethod
    def of(cls, belief: Commitment) -> Belief:
        """Return a belief as it is shown."""
        ended = belief if isinstance(belief, HistoricBelief) else None
        key = None if belief.key is None else (shown(belief.key[0]), shown(belief.key[1]))
        return cls(
            id=belief.id,
            claim=shown(belief.claim),
            topic=belief.topic,
            key=key,
            value=None if belief.value is None else shown(belief.value),
            agent_id=belief.agent_id,
            trust=belief.trust,
            private=belief.private,
            pinned=belief.pinned,
            status="active" if ended is None else ended.status,
            superseded_by=None if ended is None else ended.superseded_by,
            recorded_at=belief.recorded_at,
        )


class Beliefs(Answer):
    """Beliefs in order of commitment; ``left_out`` older ones were more than was asked for."""

    beliefs: tuple[Belief, ...]
    left_out: int

    @classmethod
    def of(cls, beliefs: Sequence[Commitment], limit: int) -> Beliefs:
        """Return the latest beliefs as they are shown."""
        latest = beliefs[-limit:]
        return cls(beliefs=tuple(map(Belief.of, latest)), left_out=len(beliefs) - len(latest))


def shown(text: str) -> str:
    """Return a text as a model may read it, cut where it is too long."""
    text = inert(text)
    return text if len(text) <= SHOWN_CHARS_MAX else f"{text[: SHOWN_CHARS_MAX - 1]}…"
