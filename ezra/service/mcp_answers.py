"""What the tools answer that MCP has besides those of every surface: small, flat and limited.

Explanations and traces tell of whole graphs; an agent is told of that what it sees. The handoff of
a session is what the next one needs to go on, for programs and for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Self

from tiers.errors import NotFound
from tiers.fencing import cut, entry, fenced, labelled
from tiers.history.visibility import sees
from tiers.records import AgentRecord, Fact, HistoricBelief

from ..beliefs.spans import Explanation
from ..erasure.taint.tracing import PAGE_MAX, sees_node
from ..handles.graph import Graph
from ..handles.turn import OpenTurn
from ..rights.policy import scope_of
from ..wire.tool_answers import IDS_MAX, Answer, Belief, Beliefs, Day, Days, Ids, Shown
from .mcp_agents import Seat


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


async def explained(graph: Graph, member: AgentRecord, belief_id: str) -> Explained:
    """Return where a belief came from and what became of it, as far as a member sees it.

    Raises:
        NotFound: There is no such belief, or the member does not see it.
    """
    found = await graph.beliefs.explain(belief_id)
    if not _visible(member, [found.belief]):
        raise NotFound("belief", belief_id)
    return _as_shown(member, found)


def _as_shown(member: AgentRecord, found: Explanation) -> Explained:
    belief = found.belief
    superseded = _visible(member, found.superseded)
    successor = _visible(member, [found.superseded_by] if found.superseded_by else [])
    related = len(found.superseded) + (found.superseded_by is not None)
    shown = Belief.of(belief)
    if not successor:
        shown = shown.model_copy(update={"superseded_by": None})
    return Explained(
        belief=shown,
        # Those of rivals, which name it too, are told by the rivals.
        events=tuple(
            Change.of(one.event) for one in found.events if one.event.belief_id == belief.id
        )[-IDS_MAX:],
        superseded=tuple(map(Belief.of, superseded))[-IDS_MAX:],
        superseded_by=Belief.of(successor[0]) if successor else None,
        hidden=related - len(superseded) - len(successor),
        source_ids=belief.source_ids,
        turn_id=belief.turn_id,
        receipt_id=belief.receipt_id,
        trust_today=found.trust,
    )


def _visible(member: AgentRecord, beliefs: Sequence[HistoricBelief]) -> list[HistoricBelief]:
    scope = scope_of(member)
    return [one for one in beliefs if sees(scope, one)]


async def traced(graph: Graph, member: AgentRecord, record_id: str, limit: int) -> TaintTraced:
    """Return what came of a record, of that what a member sees; of receipts its own.

    Raises:
        NotFound: There is no such record, or the member does not see it.
    """
    found = await graph.taint.trace(record_id, limit=PAGE_MAX)
    scope = scope_of(member)
    seen = [one for one in found.nodes if sees_node(scope, one)]
    if not any(one.exposure == "root" for one in seen):
        raise NotFound("record", record_id)
    shown = tuple(map(TaintedRecord.of, seen[:limit]))
    known = {one.id for one in shown}
    return TaintTraced(
        record_id=record_id,
        # What a record comes of may be what the member does not see.
        records=tuple(
            one if one.parent_id in known else one.model_copy(update={"parent_id": ""})
            for one in shown
        ),
        hidden=len(found.nodes) - len(seen),
        more=len(seen) > limit or found.cursor is not None or not found.is_whole,
    )


BELIEFS_MAX = 50
LINE_CHARS_MAX = 500
_NOTHING = "_None._"


async def handoff_of(seat: Seat, turns: int) -> Handoff:
    """Return what the next session of a seat's agent needs to go on.

    Args:
        seat: Whose session it is.
        turns: How many of the last turns.
    """
    held = Beliefs.latest(await seat.agent.beliefs(), BELIEFS_MAX)
    core = await core_of(seat)
    latest = Days.of(await seat.agent.search_memory(None, max_results=turns))
    last = tuple(reversed(latest.items))
    return Handoff(
        graph_id=seat.graph_id,
        agent_id=seat.agent.id,
        beliefs=held.beliefs,
        beliefs_left_out=held.left_out,
        core_facts=core.facts,
        last_turns=last,
        markdown=_markdown(seat, held.beliefs, core.facts, last),
    )


async def core_of(seat: Seat) -> Core:
    """Return the core facts of an agent's next context."""
    block = await seat.agent.core()
    facts = tuple(Known.to(seat.graph_id, one) for one in block.facts)
    return Core(facts=facts, tokens=block.tokens, left_out=len(block.left_out))


def _markdown(
    seat: Seat, beliefs: Sequence[Belief], facts: Sequence[Known], turns: Sequence[Day]
) -> str:
    parts = [
        f"# Handoff of {seat.agent.id} in {seat.graph_id}",
        "## Active beliefs",
        _listed([_belief(one) for one in beliefs]),
        "## Core facts",
        _listed([_entry(_fact(one), one.text) for one in facts]),
        "## Last turns, oldest first",
        _listed([_entry("turn", one.line) for one in turns]),
    ]
    return "\n\n".join([parts[0], fenced("memory", parts[1:], says_what=True)])


def _belief(one: Belief) -> str:
    about = f" ({one.key[0]}, {one.key[1]}: {one.value})" if one.key else ""
    return _entry(labelled("belief", by=one.agent_id), f"{one.claim}{about}")


def _fact(one: Known) -> str:
    return labelled("fact", among=one.inherited_from or "")


def _entry(source: str, text: str) -> str:
    """Return a text on one line behind where it comes from, so that it cannot look like ours."""
    return cut(entry(source, text, is_flat=True), LINE_CHARS_MAX)


def _listed(entries: Sequence[str]) -> str:
    return "\n".join(entries) or _NOTHING
