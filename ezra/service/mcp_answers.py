"""What the tools answer that MCP has besides those of every surface: small, flat and limited."""

from __future__ import annotations

from datetime import datetime
from typing import Self

from tiers.records import Fact

from ..handles.turn import OpenTurn
from ..wire.tool_answers import Answer, Belief, Day, Ids, Shown


class Change(Answer):
    """One event of a belief's history: who did what when."""

    kind: str
    agent_id: str
    turn: int
    recorded_at: datetime


class Explained(Answer):
    """Where a belief came from, and what became of it.

    Only what the asking agent sees: rivals that it may not see are counted in ``hidden``.
    """

    belief: Belief
    events: tuple[Change, ...]
    superseded: tuple[Belief, ...]
    superseded_by: Belief | None
    hidden: int
    source_ids: Ids
    turn_id: str | None
    receipt_id: str | None
    trust_today: float


class Said(Answer):
    """One message of a context."""

    role: str
    content: str


class Started(Answer):
    """The context of a turn, to be answered and then finished under ``turn_id``."""

    turn_id: str
    messages: tuple[Said, ...]
    tokens: int
    receipt_id: str | None
    degraded: tuple[str, ...]

    @classmethod
    def of(cls, found: OpenTurn) -> Self:
        """Return a turn's context; the budget of tokens limits it."""
        return cls._with(found, turn_id=found.id)


class Finished(Answer):
    """The turn as it is remembered."""

    turn_id: str
    seq: int
    was_new: bool


class Known(Answer):
    """A core fact: it is in every context."""

    id: str
    text: Shown
    fact_type: str
    inherited_from: str | None

    @classmethod
    def to(cls, graph_id: str, fact: Fact) -> Self:
        """Return a fact as it is shown to an agent of a graph."""
        return cls._with(fact, inherited_from=None if fact.graph_id == graph_id else fact.graph_id)


class Core(Answer):
    """The core facts of the agent's next context; ``left_out`` did not fit."""

    facts: tuple[Known, ...]
    tokens: int
    left_out: int


class TaintedRecord(Answer):
    """A record that came of another; without its text, which may be what somebody planted.

    ``exposure`` is ``root``, ``derived`` (it names a tainted record as its source) or ``exposed``
    (it came of a context that showed one).
    """

    kind: str
    id: str
    exposure: str
    parent_id: str
    how: str
    agent_id: str
    recorded_at: datetime


class TaintTraced(Answer):
    """What came of a record, each behind what it comes of; ``hidden`` are those you do not see.

    ``more`` says that there are more of them than are shown.
    """

    record_id: str
    records: tuple[TaintedRecord, ...]
    hidden: int
    more: bool


class Handoff(Answer):
    """What the next session needs to go on; ``markdown`` says the same for people."""

    graph_id: str
    agent_id: str
    beliefs: tuple[Belief, ...]
    beliefs_left_out: int
    core_facts: tuple[Known, ...]
    last_turns: tuple[Day, ...]
    markdown: str
