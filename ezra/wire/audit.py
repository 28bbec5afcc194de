"""The audit feed, receipts, and what became of a record, as operations."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, TypeAdapter

from tiers.records import AuditEvent, AuditFilter, Receipt, Turn

from ..explaining import Story
from ..graph_past import TURNS_MAX
from ..rebuilding import ReplayedContext
from ..receipt_finding import TURN_IDS_MAX
from .operation import Asked, Nothing, Operation
from .points import Count, Time

EVENTS_MAX = 10_000
KINDS_MAX = 64


class AuditAsked(Asked):
    """A page of the feed, and the fields of ``AuditFilter`` beside it."""

    after: Count = 0
    limit: Annotated[int, Field(ge=1, le=EVENTS_MAX)] = 1000
    kinds: Annotated[tuple[str, ...], Field(max_length=KINDS_MAX)] = ()
    graph_id: str | None = None
    agent_id: str | None = None
    record_id: str | None = None
    since: Time | None = None
    until: Time | None = None
    before: Annotated[Count, Field(ge=1)] | None = None

    @classmethod
    def page(cls, after: int, limit: int, only: AuditFilter | None) -> AuditAsked:
        """Return what to ask for one page.

        Raises:
            UsageError: A number is out of range.
        """
        wanted = {} if only is None else only.model_dump(exclude_unset=True)
        return cls(after=after, limit=limit, **wanted)

    @property
    def only(self) -> AuditFilter:
        """Which events are wanted."""
        return AuditFilter(**self.model_dump(exclude={"after", "limit"}))


class TurnsAsked(Asked):
    """A page of a member's turns, the last one first."""

    before: Annotated[Count, Field(ge=1)] | None = None
    limit: Annotated[int, Field(ge=1, le=TURNS_MAX)] = 50


class ReceiptsOfAsked(Asked):
    """Of which turns."""

    turn_ids: Annotated[tuple[str, ...], Field(max_length=TURN_IDS_MAX)]


class ReplayAsked(Asked):
    """As ``replay_context``."""

    today: bool = False


TENANT_AUDIT = Operation(
    "audit.read",
    "GET",
    "/v1/audit",
    AuditAsked,
    TypeAdapter(tuple[AuditEvent, ...]),
    "read",
    "The tenant's audit feed after a position, over all graphs: ids and reasons, never content.",
)
GRAPH_AUDIT = Operation(
    "graph.audit",
    "GET",
    "/v1/graphs/{graph_id}/audit",
    AuditAsked,
    TypeAdapter(tuple[AuditEvent, ...]),
    "read",
    "A graph's audit feed after a seq: ids and reasons, never content.",
)
TURNS = Operation(
    "graph.turns",
    "GET",
    "/v1/graphs/{graph_id}/agents/{agent_id}/turns",
    TurnsAsked,
    TypeAdapter(tuple[Turn, ...]),
    "read",
    "The turns of a member of a graph, the last one first.",
)
RECEIPTS_OF = Operation(
    "graph.receipts_of",
    "POST",
    "/v1/graphs/{graph_id}/receipts/lookup",
    ReceiptsOfAsked,
    TypeAdapter(dict[str, Receipt]),
    "read",
    "What turns of a graph saw, by turn.",
)
RECEIPT = Operation(
    "graph.receipt",
    "GET",
    "/v1/graphs/{graph_id}/receipts/{receipt_id}",
    Nothing,
    TypeAdapter(Receipt),
    "read",
    "What a turn or a recall of a graph saw.",
)
GRAPH_REPLAY = Operation(
    "graph.replay_context",
    "GET",
    "/v1/graphs/{graph_id}/receipts/{receipt_id}/replay",
    ReplayAsked,
    TypeAdapter(ReplayedContext),
    "read",
    "What a turn or a recall of a graph was given, byte for byte; with today, also as of now.",
)
REPLAY = Operation(
    "receipt.replay_context",
    "GET",
    "/v1/receipts/{receipt_id}/replay",
    ReplayAsked,
    TypeAdapter(ReplayedContext),
    "read",
    "What a turn or a recall of any graph was given.",
)
EXPLAIN = Operation(
    "record.explain",
    "GET",
    "/v1/records/{record_id}/story",
    Nothing,
    TypeAdapter(Story),
    "read",
    "What became of a record of any graph, and why.",
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    TENANT_AUDIT,
    GRAPH_AUDIT,
    TURNS,
    RECEIPTS_OF,
    RECEIPT,
    GRAPH_REPLAY,
    REPLAY,
    EXPLAIN,
)
