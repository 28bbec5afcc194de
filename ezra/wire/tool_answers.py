"""What tools answer a model: small, flat and limited, because a model has to read it.

Whatever somebody wrote goes through ``shown`` or ``read``: between the quotes of a JSON text it can
end nothing, and it holds nothing that a tokenizer or no eye sees.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, JsonValue

from tiers.board import Card, Priority, TaskStatus
from tiers.fencing import flat, inert
from tiers.mesh import FieldType, MeshResult
from tiers.records import BeliefStatus, Commitment, HistoricBelief, Hit, Kind
from tiers.upkeep import Page

from ..handles.tool_outputs import OutputRange
from ..mesh import SourceAbout
from ..recall.memory_search import MemorySearch
from ..recaller import RecallResult

SHOWN_CHARS_MAX = 4_000
"""Of one text; the stored output of a tool is read in ranges instead."""

IDS_MAX = 50

ROWS_SHOWN = 50
"""Of a live source; a model reads no more, and who needs all of them asks the handle."""

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


class CardShown(Answer):
    """A message, a task or an action, as far as a model needs it."""

    id: str
    type: str
    agent_id: str
    to: tuple[str, ...]
    thread: str
    reply_to: str | None
    status: TaskStatus | None
    priority: Priority
    title: str
    text: str
    tags: tuple[str, ...]
    changed_at: datetime

    @classmethod
    def of(cls, card: Card) -> CardShown:
        """Return a card as it is shown."""
        given = {name: getattr(card, name) for name in cls.model_fields}
        return cls(**{**given, "title": shown(card.title), "text": shown(card.text)})


class CardsShown(Answer):
    """Cards, the latest first; with ``has_more`` there are older ones."""

    cards: tuple[CardShown, ...]
    has_more: bool

    @classmethod
    def of(cls, page: Page[Card]) -> CardsShown:
        """Return a page of cards as it is shown."""
        return cls(cards=tuple(map(CardShown.of, page.rows)), has_more=page.cursor is not None)


class Acked(Answer):
    """The messages that were not read before."""

    ids: tuple[str, ...]

    @classmethod
    def of(cls, ids: tuple[str, ...]) -> Acked:
        """Return the ids of messages as they are shown."""
        return cls(ids=ids)


class LiveSources(Answer):
    """The sources that the agent may ask."""

    sources: tuple[SourceAbout, ...]

    @classmethod
    def of(cls, sources: tuple[SourceAbout, ...]) -> LiveSources:
        """Return sources as they are shown."""
        return cls(sources=sources)


class LiveAnswer(Answer):
    """What a source says now, with where it came from."""

    source: str
    question: str
    text: str
    rows: tuple[dict[str, JsonValue], ...]
    rows_total: int | None
    truncated: bool
    field_types: dict[str, FieldType]
    queried_at: datetime
    synced_at: datetime | None
    as_of: datetime | None
    confidence: float
    time_travel_available: bool

    @classmethod
    def of(cls, found: MeshResult) -> LiveAnswer:
        """Return a result as it is shown."""
        given: dict[str, Any] = {name: getattr(found, name) for name in cls.model_fields}
        given["text"] = shown(found.text)
        given["rows"] = tuple(map(_row, found.rows[:ROWS_SHOWN]))
        given["truncated"] = found.truncated or len(found.rows) > ROWS_SHOWN
        return cls(**given)


class Whole(Answer):
    """What was answered, where nothing says what of it a model needs."""

    answer: JsonValue

    @classmethod
    def of(cls, answer: JsonValue) -> Whole:
        """Return an answer as it is shown: all of it, each text as a model may read it."""
        return cls(answer=_readable(answer))


ANSWERS: Mapping[str, type[Answer]] = {
    "search_memory": Days,
    "commit_belief": Belief,
    "inbox": CardsShown,
    "list_tasks": CardsShown,
    "start_task": CardShown,
    "log_action": CardShown,
    "ack_messages": Acked,
    "mesh_sources": LiveSources,
    "ask_mesh": LiveAnswer,
}
"""What a model is shown of what a method of a handle returns, by the name of the tool.

What is not named here is shown as a whole."""


def _row(row: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {name: inert(cell) if isinstance(cell, str) else cell for name, cell in row.items()}


def _readable(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return shown(value)
    if isinstance(value, dict):
        return {inert(name): _readable(one) for name, one in value.items()}
    return [_readable(one) for one in value] if isinstance(value, list) else value


def shown(text: str) -> str:
    """Return a text as a model may read it, cut where it is too long."""
    text = inert(text)
    return text if len(text) <= SHOWN_CHARS_MAX else f"{text[: SHOWN_CHARS_MAX - 1]}…"
