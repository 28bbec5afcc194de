"""How the tables of an archive lie in collections, and how their rows are read back."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeAlias

from ...documents import Document as Shelved
from ...documents import FormerDocument, Passage
from ...moments import moment
from ...records import (
    AgentRecord,
    AuditEvent,
    BeliefEvent,
    Episode,
    Fact,
    HistoricBelief,
    LoggedBelief,
    ProjectedBelief,
    Receipt,
    Record,
    Rule,
    SessionGraph,
    SignedHead,
    Summary,
    TrustRow,
    Turn,
    Usage,
)
from ...upkeep import FactUse, QueuedWork, RuleOutcome, Table, UsageRow, Watermark
from .belief_log import whole_events
from .belief_spans import span_of
from .board import card_of
from .database import Session
from .documents import Document, record_of
from .scope import of_tenant

Key: TypeAlias = tuple[str | int | None, ...]


@dataclass(frozen=True)
class Shelf:
    """Where one table lies.

    Attributes:
        collection: Its collection.
        read: Makes the row of a document.
        names: Fields that name a row inside its tenant.
        order: Fields in whose order rows are read. ``_id`` is the order of storing; what is stored
            under a key of its own is read in the order of that.
        beside: Puts into documents of one tenant what lies in other collections.
        where: What holds of those documents that are rows, where not all are.
    """

    collection: str
    read: Callable[[Document], Record]
    names: tuple[str, ...] = ("graph_id", "id")
    order: tuple[str, ...] = ("_id",)
    beside: Callable[[Session, str, list[Document]], Awaitable[list[Document]]] | None = None
    where: Mapping[str, object] = field(default_factory=dict)


def _projected(document: Document) -> ProjectedBelief:
    """Return a belief with the spans that were put beside it."""
    spans = tuple(span_of(span) for span in document["spans"])
    return ProjectedBelief(belief=record_of(HistoricBelief, document), spans=spans)


async def _with_spans(session: Session, tenant: str, rows: list[Document]) -> list[Document]:
    """Return rows of beliefs with the spans in which they were active, in order."""
    if not rows:
        return []
    named = {
        "graph_id": {"$in": list({row["graph_id"] for row in rows})},
        "belief_id": {"$in": list({row["id"] for row in rows})},
    }
    found = await session.collection("belief_spans", whole_tenant=True).find(
        of_tenant(tenant, **named), sort=[("since_seq", 1)]
    )
    spans: dict[tuple[str, str], list[Document]] = {}
    for one in found:
        spans.setdefault((one["graph_id"], one["belief_id"]), []).append(one)
    return [row | {"spans": spans.get((row["graph_id"], row["id"]), [])} for row in rows]


def _work(document: Document) -> QueuedWork:
    """Return an item as it waits. A claim ends with its process: it is due as it once was."""
    is_claimed = document["lease_owner"] is not None
    due_at = document["queued_at"] if is_claimed else document["due_at"]
    return record_of(QueuedWork, document, due_at=moment(due_at))


def _used(document: Document) -> UsageRow:
    return record_of(UsageRow, document, used=record_of(Usage, document))


def _event(document: Document) -> LoggedBelief:
    """Return an event of the log, with the salt and the content that were put beside it."""
    salt = document.get("salt")
    return LoggedBelief(
        event=record_of(BeliefEvent, document),
        salt=None if salt is None else bytes(salt).hex(),
        content=document.get("content"),
    )


SHELVES: Mapping[Table, Shelf] = {
    "graphs": Shelf("graphs", partial(record_of, SessionGraph), ("id",)),
    "agents": Shelf("agents", partial(record_of, AgentRecord)),
    "usage": Shelf("usage", _used, ("graph_id", "agent_id"), ("graph_id", "agent_id")),
    "turns": Shelf("turns", partial(record_of, Turn)),
    "summaries": Shelf("summaries", partial(record_of, Summary)),
    "episodes": Shelf("episodes", partial(record_of, Episode)),
    "facts": Shelf("facts", partial(record_of, Fact)),
    "fact_uses": Shelf(
        "fact_uses",
        partial(record_of, FactUse),
        ("graph_id", "fact_id", "cause"),
        ("graph_id", "fact_id", "cause"),
    ),
    "rules": Shelf("rules", partial(record_of, Rule)),
    "rule_outcomes": Shelf(
        "rule_outcomes",
        partial(record_of, RuleOutcome),
        ("graph_id", "rule_id", "cause"),
        ("graph_id", "rule_id", "cause"),
    ),
    "watermarks": Shelf(
        "watermarks",
        partial(record_of, Watermark),
        ("graph_id", "agent_id", "name"),
        ("graph_id", "agent_id", "name"),
    ),
    "documents": Shelf("documents", partial(record_of, Shelved)),
    "document_revisions": Shelf(
        "document_revisions", partial(record_of, FormerDocument), ("graph_id", "id", "revision")
    ),
    # What is staged belongs to no revision yet.
    "passages": Shelf("passages", partial(record_of, Passage), where={"staged": None}),
    "cards": Shelf("cards", card_of),
    "belief_events": Shelf("belief_log", _event, ("graph_id", "seq"), ("graph_id", "seq")),
    "beliefs": Shelf("beliefs", _projected, beside=_with_spans),
    "trust": Shelf("belief_trust", partial(record_of, TrustRow), ("graph_id", "agent_id", "topic")),
    "heads": Shelf(
        "signed_heads", partial(record_of, SignedHead), ("graph_id", "size", "public_key")
    ),
    "receipts": Shelf("receipts", partial(record_of, Receipt), order=("graph_id", "id")),
    "audit": Shelf(
        "audit", partial(record_of, AuditEvent), ("graph_id", "seq"), ("graph_id", "seq")
    ),
    "work": Shelf("work", _work, ("graph_id", "kind", "key")),
}

BY_STORING = tuple(shelf.collection for shelf in SHELVES.values() if shelf.order == ("_id",))
"""Collections that are read in the order of storing, over all graphs of a tenant."""


async def events_where(
    session: Session, where: Document, *, sort: Sequence[tuple[str, int]] = (), limit: int
) -> list[Document]:
    """Return the events of some changes as documents of their own, each with its content.

    A content that was destroyed, or that belongs to an event that never came to be, is not there.
    """
    changes = await session.collection("belief_log", whole_tenant=True).find(
        where, sort=sort, limit=limit
    )
    events = [event for change in changes for event in whole_events(change)]
    if not events:
        return []
    contents = await session.collection("belief_contents", whole_tenant=True).find(
        of_tenant(where["tenant"], event_id={"$in": [event["id"] for event in events]})
    )
    said = {_content_key(one, "event_id"): one for one in contents}
    return [event | _said(said.get(_content_key(event, "id"))) for event in events]


def _content_key(document: Mapping[str, Any], name: str) -> tuple[str, str, str]:
    return document["graph_id"], document[name], document["content_digest"]


def _said(content: Document | None) -> Document:
    return {} if content is None else {name: content[name] for name in ("salt", "content")}
