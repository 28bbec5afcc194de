"""What can be asked of the history of a graph's beliefs: the methods of ``graph.beliefs``."""

from __future__ import annotations

from typing import Annotated, Any, TypeAlias

from pydantic import Field, StringConstraints, TypeAdapter

from tiers.fields import NAME_CHARS_MAX, Text
from tiers.records import (
    BeliefEvent,
    BeliefStatus,
    Changed,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    TrustRow,
)

from ..difference import BeliefDiff
from ..history import Explanation
from ..lives import LIVES_MAX, BeliefLife
from ..redaction import RedactionReport
from ..replayed_turn import ReplayedTurn
from .operation import Asked, Nothing, Operation
from .points import Count, Point

EVENTS_MAX = 10_000
BELIEFS_MAX = 1_000
_STATUSES_MAX = 16
BELIEFS = "/v1/graphs/{graph_id}/beliefs"

Word: TypeAlias = Annotated[str, StringConstraints(max_length=NAME_CHARS_MAX)]


class QueryAsked(Asked):
    """Which beliefs: see ``History.query``."""

    topic: Word | None = None
    agent_id: Word | None = None
    user_id: Word | None = None
    subject: Text | None = None
    key: tuple[Text, Text] | None = None
    status: Annotated[tuple[BeliefStatus, ...], Field(max_length=_STATUSES_MAX)] | None = None
    since: Point | None = None
    until: Point | None = None
    as_of: Point | None = None
    as_of_seq: Count | None = None
    after: Count = 0
    limit: Annotated[int, Field(ge=1, le=BELIEFS_MAX)] = 100


class LivesAsked(Asked):
    """Which beliefs, by id."""

    belief_ids: Annotated[tuple[Word, ...], Field(max_length=LIVES_MAX)] = ()


class AsOfAsked(Asked):
    """At which moment: exactly one of the three."""

    time: Point | None = None
    turn: Count | None = None
    seq: Count | None = None


class BetweenAsked(Asked):
    """Two moments."""

    a: Point
    b: Point


class ReplayAsked(Asked):
    """A turn of the graph, counted over all its agents from 1."""

    turn: Annotated[Count, Field(ge=1)]


class PageAsked(Asked):
    """The page after a number, which is the last one of the page before; 0 begins."""

    after: Count = 0
    limit: Annotated[int, Field(ge=1, le=EVENTS_MAX)] = 1000


class SeqAtAsked(Asked):
    """A moment; now if not given."""

    point: Point | None = None


class TrustAsked(Asked):
    """An agent, and about what it is trusted."""

    agent_id: Word
    topic: Word | None = None


class SetTrustAsked(TrustAsked):
    """How far it is to be trusted from now on, and why."""

    trust: Annotated[float, Field(strict=True, ge=0, le=1)]
    reason: Text


class ReasonAsked(Asked):
    """The reason of a change; must not be blank."""

    reason: Text


class RewindAsked(AsOfAsked):
    """To which moment, and why."""

    reason: Text


_Beliefs: TypeAlias = tuple[Commitment, ...]
_CHANGED = TypeAdapter(Changed)
_COMMITMENT = TypeAdapter(Commitment)
_ACTIVE = TypeAdapter(_Beliefs)

QUERY = Operation(
    "beliefs.query",
    "GET",
    BELIEFS,
    QueryAsked,
    TypeAdapter(tuple[HistoricBelief, ...]),
    "read",
    "Beliefs in the order in which they were committed, active or not.",
)
LIVES = Operation(
    "beliefs.lives",
    "GET",
    f"{BELIEFS}/lives",
    LivesAsked,
    TypeAdapter(tuple[BeliefLife, ...]),
    "read",
    "Beliefs by id, each with the spans in which it was active.",
)
ACTIVE = Operation(
    "beliefs.active", "GET", f"{BELIEFS}/active", Nothing, _ACTIVE, "read", "What is believed now."
)
AS_OF = Operation(
    "beliefs.as_of",
    "GET",
    f"{BELIEFS}/as-of",
    AsOfAsked,
    _ACTIVE,
    "read",
    "What was believed at a time, a turn or an event of the log.",
)
DIFF = Operation(
    "beliefs.diff",
    "GET",
    f"{BELIEFS}/diff",
    BetweenAsked,
    TypeAdapter(BeliefDiff),
    "read",
    "How what was believed changed between two moments.",
)
EXPLAIN = Operation(
    "beliefs.explain",
    "GET",
    f"{BELIEFS}/{{belief_id}}/explanation",
    Nothing,
    TypeAdapter(Explanation),
    "read",
    "Where a belief came from, and what became of it.",
)
REPLAY = Operation(
    "beliefs.replay",
    "GET",
    f"{BELIEFS}/replay",
    ReplayAsked,
    TypeAdapter(ReplayedTurn),
    "read",
    "What a turn said and saw, and what it did to the beliefs.",
)
EVENTS = Operation(
    "beliefs.events",
    "GET",
    f"{BELIEFS}/events",
    PageAsked,
    TypeAdapter(tuple[BeliefEvent, ...]),
    "read",
    "The log: who changed what when, not what was said.",
)
LOGGED = Operation(
    "beliefs.logged",
    "GET",
    f"{BELIEFS}/log",
    PageAsked,
    TypeAdapter(tuple[LoggedBelief, ...]),
    "read",
    "The log with contents and salts.",
)
SEQ_AT = Operation(
    "beliefs.seq_at",
    "GET",
    f"{BELIEFS}/seq",
    SeqAtAsked,
    TypeAdapter(int),
    "read",
    "The last event of the log at a moment.",
)
TRUST = Operation(
    "beliefs.trust",
    "GET",
    f"{BELIEFS}/trust",
    TrustAsked,
    TypeAdapter(float),
    "read",
    "How far an agent is trusted about a topic.",
)
TRUSTS = Operation(
    "beliefs.trusts",
    "GET",
    f"{BELIEFS}/trusts",
    Nothing,
    TypeAdapter(tuple[TrustRow, ...]),
    "read",
    "The trust in every agent and topic of which the log says something.",
)
SET_TRUST = Operation(
    "beliefs.set_trust",
    "PUT",
    f"{BELIEFS}/trust",
    SetTrustAsked,
    TypeAdapter(float),
    "operate",
    "Set the trust in an agent about a topic; answers what it was.",
    repeats=False,
)
PIN = Operation(
    "beliefs.pin",
    "PUT",
    f"{BELIEFS}/{{belief_id}}/pin",
    Nothing,
    _COMMITMENT,
    "operate",
    "Let an active belief come first in every context of those who see it.",
)
UNPIN = Operation(
    "beliefs.unpin",
    "DELETE",
    f"{BELIEFS}/{{belief_id}}/pin",
    Nothing,
    _COMMITMENT,
    "operate",
    "Let a belief no longer come first.",
)
REVERT = Operation(
    "beliefs.revert",
    "POST",
    f"{BELIEFS}/{{belief_id}}/revert",
    ReasonAsked,
    _CHANGED,
    "operate",
    "Take an active belief back; what it had superseded is active again.",
    repeats=False,
)
REWIND = Operation(
    "beliefs.rewind",
    "POST",
    f"{BELIEFS}/rewind",
    RewindAsked,
    _CHANGED,
    "operate",
    "Let exactly those beliefs be active again that were at a moment.",
    repeats=False,
)
REDACT = Operation(
    "beliefs.redact",
    "POST",
    f"{BELIEFS}/{{belief_id}}/redact",
    ReasonAsked,
    TypeAdapter(RedactionReport),
    "operate",
    "Destroy a belief's content for good, in every store and every branch.",
    repeats=False,  # the receipt of a second one would say that nothing was destroyed
)
OPERATIONS: tuple[Operation[Any, Any], ...] = (
    QUERY,
    LIVES,
    ACTIVE,
    AS_OF,
    DIFF,
    EXPLAIN,
    REPLAY,
    EVENTS,
    LOGGED,
    SEQ_AT,
    TRUST,
    TRUSTS,
    SET_TRUST,
    PIN,
    UNPIN,
    REVERT,
    REWIND,
    REDACT,
)
