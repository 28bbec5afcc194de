"""Storing rows that come from another cold tier as they are, with what follows from them."""

from __future__ import annotations

from functools import singledispatchmethod

from ...board import Card
from ...documents import Document, FormerDocument, Passage
from ...errors import Conflict
from ...records import (
    AgentRecord,
    AuditEvent,
    Episode,
    Fact,
    LoggedBelief,
    Owned,
    ProjectedBelief,
    Receipt,
    Record,
    Rule,
    Scope,
    SessionGraph,
    SignedHead,
    Summary,
    TrustRow,
    Turn,
)
from ...upkeep import FactUse, QueuedWork, RuleOutcome, Table, UsageRow, Watermark
from ..ownership import check_placed
from .belief_heads import insert_head
from .belief_projection import insert_belief, insert_event, insert_trust
from .board import insert_card
from .database import Query, Session, Value
from .episodic import put_episode, put_summary
from .graphs import insert_graph
from .identity import fact_digests
from .log import next_position
from .procedural import put_rule
from .rows import fields_of, insert_owned
from .searchable import index_words
from .shelf import insert_document, insert_passage

_PLAIN: dict[type[Record], Table] = {
    AgentRecord: "agents",
    FactUse: "fact_uses",
    RuleOutcome: "rule_outcomes",
    Watermark: "watermarks",
    Receipt: "receipts",
    QueuedWork: "work",
}
"""Rows from which nothing follows: a use that is stored here has been counted already."""


_AT_POSITION = "SELECT a.seq FROM audit a WHERE a.tenant = :tenant AND a.position = :position"


class Arrival:
    """Stores rows of one tenant that are not there yet, inside the caller's transaction."""

    def __init__(self, session: Session, tenant: str) -> None:
        self._session = session
        self._tenant = tenant

    @singledispatchmethod
    def store(self, record: Record) -> None:
        """Insert a row, and bring about what follows from it.

        Raises:
            Conflict: It contradicts what is there.
            NotFound: It names a row that is not there.
            sqlite3.IntegrityError: It breaks a rule of the schema.
        """
        self._session.insert(_PLAIN[type(record)], fields_of(record) | {"tenant": self._tenant})

    @store.register
    def _graph(self, graph: SessionGraph) -> None:
        # A link may name a graph that comes later: it was made after both.
        insert_graph(self._session, graph)

    @store.register
    def _used(self, row: UsageRow) -> None:
        self._session.insert(
            "usage",
            {"tenant": self._tenant, **fields_of(row, "used"), **fields_of(row.used)},
        )

    @store.register
    def _audit(self, event: AuditEvent) -> None:
        place = event.position
        if place < 1 or self._is_taken(place):
            place = next_position(self._session, self._tenant)
        self._session.insert("audit", fields_of(event) | {"position": place})

    @store.register
    def _turn(self, turn: Turn) -> None:
        self._scope(turn)
        insert_owned(self._session, "turns", turn)
        self._session.insert(
            "tail",
            {
                "tenant": turn.tenant,
                "graph_id": turn.graph_id,
                "agent_id": turn.agent_id,
                "seq": turn.seq,
                "turn_id": turn.id,
            },
        )
        index_words(self._session, turn)

    @store.register
    def _summary(self, summary: Summary) -> None:
        put_summary(self._session, self._scope(summary), summary, ())

    @store.register
    def _episode(self, episode: Episode) -> None:
        put_episode(self._session, self._scope(episode), episode, ())

    @store.register
    def _fact(self, fact: Fact) -> None:
        # Not as a new fact is put: one that was superseded may say what a current one says.
        self._scope(fact)
        insert_owned(self._session, "facts", fact, **fact_digests(fact))
        index_words(self._session, fact)

    @store.register
    def _rule(self, rule: Rule) -> None:
        known, is_new = put_rule(self._session, self._scope(rule), rule, ())
        if not is_new:
            raise Conflict("rule of the same content", rule.id, known.id)

    @store.register
    def _document(self, document: Document) -> None:
        self._scope(document)
        insert_document(self._session, document)

    @store.register
    def _former(self, document: FormerDocument) -> None:
        self._scope(document)
        insert_document(self._session, document, "document_revisions")

    @store.register
    def _passage(self, passage: Passage) -> None:
        self._scope(passage)
        insert_passage(self._session, passage)

    @store.register
    def _card(self, card: Card) -> None:
        insert_card(self._session, self._scope(card), card)

    @store.register
    def _event(self, logged: LoggedBelief) -> None:
        insert_event(self._session, logged)

    @store.register
    def _belief(self, projected: ProjectedBelief) -> None:
        scope = self._scope(projected.belief)
        insert_belief(self._session, scope, projected.belief, projected.spans)

    @store.register
    def _trust(self, row: TrustRow) -> None:
        scope = Scope(tenant=self._tenant, graph_id=row.graph_id)
        insert_trust(self._session, scope, row)

    @store.register
    def _head(self, head: SignedHead) -> None:
        insert_head(self._session, head)

    def _is_taken(self, position: int) -> bool:
        place: dict[str, Value] = {"tenant": self._tenant, "position": position}
        query = Query(_AT_POSITION, place, reach="tenant")
        return self._session.one(query) is not None

    def _scope(self, record: Owned) -> Scope:
        """Return the scope of the record's graph, after checking that it can be owned by it."""
        scope = Scope(tenant=self._tenant, graph_id=record.graph_id)
        check_placed(scope, record)
        return scope
