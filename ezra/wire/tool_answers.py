"""What tools answer a model: small, flat and limited, because a model has to read it.

Whatever somebody wrote is ``Shown``, ``Inert`` or ``Flat``: between the quotes of JSON it can end
nothing, and it holds nothing that a tokenizer or no eye sees. An answer takes its fields from
what has attributes of their names; its own ``of`` says only what is told otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Self, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, JsonValue

from tiers.board import Card, Priority, TaskStatus
from tiers.fencing import cut, flat, inert
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


def shown(text: str) -> str:
    """Return a text as a model may read it, cut where it is too long."""
    return cut(inert(text), SHOWN_CHARS_MAX)


Shown: TypeAlias = Annotated[str, BeforeValidator(shown)]
Inert: TypeAlias = Annotated[str, BeforeValidator(inert)]
Flat: TypeAlias = Annotated[str, BeforeValidator(flat)]
Key: TypeAlias = tuple[Shown, Shown]
Ids: TypeAlias = Annotated[tuple[str, ...], BeforeValidator(lambda ids: ids[:IDS_MAX])]


class Answer(BaseModel):
    """Base of every answer."""

    model_config = ConfigDict(frozen=True, from_attributes=True)

    @classmethod
    def of(cls, found: Any) -> Self:  # noqa: ANN401 - whatever has its fields
        """Return what was found as it is shown."""
        return cls.model_validate(found)

    @classmethod
    def _with(cls, found: object, **fields: Any) -> Self:  # noqa: ANN401 - its fields check them
        """Return what was found as it is shown, with what is told otherwise."""
        names = [name for name in cls.model_fields if name not in fields]
        return cls(**{name: getattr(found, name) for name in names}, **fields)


class Found(Answer):
    """One record that recall found."""

    id: str
    kind: Kind
    text: Shown
    score: float
    agent_id: Flat
    speaker: Flat
    topics: tuple[str, ...]
    recorded_at: datetime
    occurred_at: datetime | None
    valid_to: datetime | None
    source_ids: Ids
    inherited_from: str | None
    is_cut: bool

    @classmethod
    def of(cls, found: Hit) -> Self:
        """Return a hit as it is shown."""
        is_cut = len(found.text) > SHOWN_CHARS_MAX
        return cls._with(found, score=round(found.score, 4), is_cut=is_cut)


class Recalled(Answer):
    """What recall found, best first. ``degraded`` names what did not take part."""

    items: tuple[Found, ...]
    total: int
    degraded: tuple[str, ...]
    rerank_used: bool

    @classmethod
    def of(cls, found: RecallResult) -> Self:
        """Return an answer of recall as it is shown."""
        return cls._with(found, items=tuple(map(Found.of, found.items)))


class Day(Answer):
    """One record of a window of days: its line begins with its day or period in brackets."""

    id: str
    line: Shown


class Days(Answer):
    """What happened in a window of days. ``hint`` says what to try next."""

    items: tuple[Day, ...]
    since: str
    hint: str | None
    degraded: tuple[str, ...]

    @classmethod
    def of(cls, found: MemorySearch) -> Self:
        """Return a search by days as it is shown."""
        pairs = zip(found.items, found.lines, strict=True)
        items = tuple(Day(id=hit.id, line=line) for hit, line in pairs)
        return cls._with(found, items=items, since=found.since.isoformat())


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
    tool: Flat
    text: Inert
    start: int
    total_chars: int
    next_start: int | None

    @classmethod
    def of(cls, found: OutputRange) -> Self:
        """Return a range as it is shown."""
        return cls._with(found, total_chars=found.total)


class Belief(Answer):
    """A belief, and what became of it."""

    id: str
    claim: Shown
    topic: str | None
    key: Key | None
    value: Shown | None
    agent_id: str
    trust: float
    private: bool
    pinned: bool
    status: BeliefStatus
    superseded_by: str | None
    recorded_at: datetime

    @classmethod
    def of(cls, found: Commitment) -> Self:
        """Return a belief as it is shown."""
        if isinstance(found, HistoricBelief):
            return cls._with(found)
        return cls._with(found, status="active", superseded_by=None)


class Beliefs(Answer):
    """Beliefs in order of commitment; ``left_out`` older ones were more than was asked for."""

    beliefs: tuple[Belief, ...]
    left_out: int

    @classmethod
    def latest(cls, beliefs: Sequence[Commitment], limit: int) -> Self:
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
    title: Shown
    text: Shown
    tags: tuple[str, ...]
    changed_at: datetime


class CardsShown(Answer):
    """Cards, the latest first; with ``has_more`` there are older ones."""

    cards: tuple[CardShown, ...]
    has_more: bool

    @classmethod
    def of(cls, found: Page[Card]) -> Self:
        """Return a page of cards as it is shown."""
        return cls._with(found, cards=found.rows, has_more=found.cursor is not None)


class Acked(Answer):
    """The messages that were not read before."""

    ids: tuple[str, ...]

    @classmethod
    def of(cls, found: tuple[str, ...]) -> Self:
        """Return the ids of messages as they are shown."""
        return cls(ids=found)


class LiveSources(Answer):
    """The sources that the agent may ask."""

    sources: tuple[SourceAbout, ...]

    @classmethod
    def of(cls, found: tuple[SourceAbout, ...]) -> Self:
        """Return sources as they are shown."""
        return cls(sources=found)


class LiveAnswer(Answer):
    """What a source says now, with where it came from."""

    source: str
    question: str
    text: Shown
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
    def of(cls, found: MeshResult) -> Self:
        """Return a result as it is shown."""
        is_cut = found.truncated or len(found.rows) > ROWS_SHOWN
        return cls._with(found, rows=tuple(map(_row, found.rows[:ROWS_SHOWN])), truncated=is_cut)


class Whole(Answer):
    """What was answered, where nothing says what of it a model needs."""

    answer: JsonValue

    @classmethod
    def of(cls, found: JsonValue) -> Self:
        """Return an answer as it is shown: all of it, each text as a model may read it."""
        return cls(answer=_readable(found))


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
