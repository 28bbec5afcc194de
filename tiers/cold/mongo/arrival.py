"""Storing rows that come from another cold tier as they are, with what follows from them.

What can be known is checked before anything is written. What an index refuses after all ends the
transaction, or, on a server without, is taken back: what was inserted is removed again. Only the
belief log takes nothing back; a row of it can only be refused when somebody else writes at the
same moment.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import singledispatch

from bson import ObjectId

from ...board import Card
from ...documents import Passage
from ...errors import Conflict
from ...history.fold import FoldedBelief
from ...records import (
    AuditEvent,
    Episode,
    Fact,
    LoggedBelief,
    ProjectedBelief,
    Record,
    Rule,
    Scope,
    SessionGraph,
    Summary,
    TrustRow,
    Turn,
)
from ...upkeep import FactUse, QueuedWork, RuleOutcome, Table, UsageRow
from ..archive_rows import core_of
from .belief_log import change_document, content_document, mentioned, move_head
from .belief_projection import row_document, span_document
from .board import card_document
from .coverage import episode_document, mark_consolidated, mark_covered, summary_document
from .database import ROWS_MAX, Session
from .documents import Document, document_of
from .graphs import graph_document
from .log import last_number
from .procedural import rule_document
from .scope import of_tenant, own
from .semantic import fact_document
from .shelf_changes import passage_document
from .shelves import Key, Shelf, events_where
from .terms import searchable_fields
from .translation import DuplicateKey


class Arrival:
    """Stores rows of one table of one tenant that are not there yet."""

    def __init__(self, tenant: str, table: Table, shelf: Shelf) -> None:
        self._tenant = tenant
        self._table = table
        self._shelf = shelf

    async def store(self, session: Session, rows: Sequence[Record]) -> list[Record]:
        """Store rows inside the caller's step and return those that are new.

        What follows from rows that are there already is brought about as well: an earlier call
        may have been cut off before it was.

        Raises:
            Conflict: A row differs from the one that is there, or contradicts what is there.
            DuplicateKey: So an index says.
        """
        known = await self._known(session, rows)
        new: list[Record] = []
        for row in rows:
            key = self._key(row)
            if key not in known:
                known[key] = row
                new.append(row)
            elif known[key] != _as_known(row, known[key]):
                # Neither row is shown: it may hold what somebody said.
                raise Conflict(self._name(key), "the row that is imported", "another row")
        if self._table == "belief_events":
            await self._store_events(session, [row for row in new if isinstance(row, LoggedBelief)])
        else:
            documents = await self._documents(session, new)
            await self._store_spans(
                session, [one for one in new if isinstance(one, ProjectedBelief)]
            )
            await self._insert(session, documents)
        await self._follow(session, rows)
        return new

    async def _known(self, session: Session, rows: Sequence[Record]) -> dict[Key, Record]:
        """Return the rows that are there under the names of these."""
        keys = [self._key(row) for row in rows]
        wanted: dict[str, list[object]] = {
            name: list(dict.fromkeys(part))
            for name, part in zip(self._shelf.names, zip(*keys, strict=True), strict=True)
        }
        if self._table == "belief_events":
            seqs = [row.event.seq for row in rows if isinstance(row, LoggedBelief)]
            where = of_tenant(
                self._tenant,
                graph_id={"$in": wanted["graph_id"]},
                first_seq={"$lte": max(seqs)},
                last_seq={"$gte": min(seqs)},
            )
            found = await events_where(session, where, limit=ROWS_MAX)
        else:
            named = {name: {"$in": values} for name, values in wanted.items()}
            collection = session.collection(self._shelf.collection, whole_tenant=True)
            found = await collection.find(of_tenant(self._tenant, **named))
            if self._shelf.beside is not None:
                found = await self._shelf.beside(session, self._tenant, found)
        known = [self._shelf.read(document) for document in found]
        return {self._key(row): row for row in known}

    async def _documents(self, session: Session, rows: Sequence[Record]) -> list[Document]:
        if self._table == "audit":
            return await self._events(session, [r for r in rows if isinstance(r, AuditEvent)])
        if self._table == "fact_uses":
            return await self._uses(session, [row for row in rows if isinstance(row, FactUse)])
        if self._table == "summaries":
            await self._check_turns(session, [row for row in rows if isinstance(row, Summary)])
        if self._table == "rule_outcomes":
            await self._check_rules(session, [row for row in rows if isinstance(row, RuleOutcome)])
        return [_document(row) | {"tenant": self._tenant} for row in rows]

    async def _insert(self, session: Session, documents: Sequence[Document]) -> None:
        collection = session.collection(self._shelf.collection, whole_tenant=True)
        stored = [{"_id": ObjectId()} | document for document in documents]
        try:
            await collection.insert(stored)
        except DuplicateKey:
            if not session.is_atomic:
                mine = {"_id": {"$in": [document["_id"] for document in stored]}}
                await collection.delete(of_tenant(self._tenant, **mine))
            raise

    async def _events(self, session: Session, rows: Sequence[AuditEvent]) -> list[Document]:
        """Return audit events with a position in the tenant's feed: their own if it is free.

        Otherwise, as for events from before there were positions, the next one.
        """
        if not rows:
            return []
        events = session.collection("audit", whole_tenant=True)
        wanted = {"$in": [row.position for row in rows]}
        found = await events.find(of_tenant(self._tenant, position=wanted), fields=["position"])
        taken = {one["position"] for one in found} | {0}
        last = await last_number(session, "position", of_tenant(self._tenant))
        documents = []
        for row in rows:
            position = row.position if row.position not in taken else last + 1
            last = max(last, position)
            taken.add(position)
            documents.append(document_of(row, position=position))
        return documents

    async def _uses(self, session: Session, rows: Sequence[FactUse]) -> list[Document]:
        """Return uses with their numbers: they go on where those of their fact have come to."""
        named = {
            name: {"$in": list({getattr(use, name) for use in rows})}
            for name in ("graph_id", "fact_id")
        }
        uses = session.collection("fact_uses", whole_tenant=True)
        place = {"graph_id": "$graph_id", "fact_id": "$fact_id"}
        highest = await uses.aggregate(
            [
                {"$match": of_tenant(self._tenant, **named)},
                {"$group": {"_id": place, "n": {"$max": "$n"}}},
            ]
        )
        numbers = {(one["_id"]["graph_id"], one["_id"]["fact_id"]): one["n"] for one in highest}
        there = await self._there(session, "facts", [(use.graph_id, use.fact_id) for use in rows])
        documents = []
        for use in rows:
            fact = (use.graph_id, use.fact_id)
            if fact not in there:
                raise Conflict(self._name(self._key(use)), "its fact", "no such fact")
            numbers[fact] = numbers.get(fact, 0) + 1
            documents.append(document_of(use, tenant=self._tenant, n=numbers[fact]))
        return documents

    async def _check_turns(self, session: Session, rows: Sequence[Summary]) -> None:
        covered = {(row.graph_id, turn_id) for row in rows for turn_id in row.covers}
        there = await self._there(session, "turns", covered)
        for row in rows:
            if any((row.graph_id, turn_id) not in there for turn_id in row.covers):
                raise Conflict(self._name(self._key(row)), "the turns it covers", "no such turn")

    async def _check_rules(self, session: Session, rows: Sequence[RuleOutcome]) -> None:
        there = await self._there(session, "rules", [(row.graph_id, row.rule_id) for row in rows])
        for row in rows:
            if (row.graph_id, row.rule_id) not in there:
                raise Conflict(self._name(self._key(row)), "its rule", "no such rule")

    async def _there(
        self, session: Session, collection: str, places: Collection[tuple[str, str]]
    ) -> set[tuple[str, str]]:
        """Return which records there are among some graphs and ids, and maybe others of these."""
        where = of_tenant(
            self._tenant,
            graph_id={"$in": list({graph_id for graph_id, _ in places})},
            id={"$in": list({record_id for _, record_id in places})},
        )
        rows = session.collection(collection, whole_tenant=True)
        found = await rows.find(where, fields=["graph_id", "id"])
        return {(one["graph_id"], one["id"]) for one in found}

    async def _store_events(self, session: Session, rows: Sequence[LoggedBelief]) -> None:
        """Append events to their logs, one to a change, contents first."""
        if not rows:
            return
        log = session.collection("belief_log")
        following: dict[str, int] = {}
        for row in rows:
            scope = self._scope(row.event.graph_id)
            if scope.graph_id not in following:
                last = await log.first(own(scope), sort=[("last_seq", -1)])
                following[scope.graph_id] = 1 if last is None else last["last_seq"] + 1
            wanted = following[scope.graph_id]
            if row.event.seq != wanted:
                raise Conflict(self._name(self._key(row)), f"event {wanted}", "a gap before it")
            following[scope.graph_id] += 1
        contents = session.collection("belief_contents", whole_tenant=True)
        # Contents of events that are not there were left behind by a call that was cut off.
        orphans = {"event_id": {"$in": [row.event.id for row in rows]}}
        named = {"graph_id": {"$in": list(following)}}
        await contents.delete(of_tenant(self._tenant, **named, **orphans))
        await contents.insert([content_document(row) for row in rows if row.salt is not None])
        await log.insert(
            [
                change_document(self._scope(row.event.graph_id), [row.event], [_named(row)])
                for row in rows
            ]
        )

    async def _store_spans(self, session: Session, rows: Sequence[ProjectedBelief]) -> None:
        """Store when beliefs were active, before their rows, which say that this is written."""
        if not rows:
            return
        spans = session.collection("belief_spans", whole_tenant=True)
        ids: dict[str, list[str]] = {}
        for row in rows:
            ids.setdefault(row.belief.graph_id, []).append(row.belief.id)
        for graph_id, belief_ids in ids.items():
            # Spans of beliefs that are not there were left behind by a call that was cut off.
            orphans = {"graph_id": graph_id, "belief_id": {"$in": belief_ids}}
            await spans.delete(of_tenant(self._tenant, **orphans))
        await spans.insert(
            [
                span_document(self._scope(row.belief.graph_id), row.belief.id, span)
                for row in rows
                for span in row.spans
            ]
        )

    async def _follow(self, session: Session, rows: Sequence[Record]) -> None:
        """Mark what summaries and episodes stand for, and how far the log of beliefs has come.

        The projection comes with rows of its own, which is all that is left of a belief whose
        content was destroyed: it is not made from the events.
        """
        covered: dict[str, list[str]] = {}
        reached: dict[str, int] = {}
        for row in rows:
            if isinstance(row, Summary):
                covered.setdefault(row.graph_id, []).extend(row.covers)
            elif isinstance(row, Episode):
                scope = self._scope(row.graph_id)
                await mark_consolidated(session, scope, row.children, row.id, row.grain)
            elif isinstance(row, LoggedBelief):
                reached[row.event.graph_id] = row.event.seq
        for graph_id, turn_ids in covered.items():
            await mark_covered(session, self._scope(graph_id), turn_ids)
        for graph_id, seq in reached.items():
            await move_head(session, self._scope(graph_id), seq)

    def _scope(self, graph_id: str) -> Scope:
        return Scope(tenant=self._tenant, graph_id=graph_id)

    def _key(self, row: Record) -> Key:
        core = core_of(row)
        return tuple(getattr(core, name) for name in self._shelf.names)

    def _name(self, key: Key) -> str:
        return f"{self._table} row {'/'.join(map(str, key))}"


def _as_known(row: Record, known: Record) -> Record:
    """Return a row as it may well be there: an event whose position was taken has another."""
    if isinstance(row, AuditEvent) and isinstance(known, AuditEvent):
        return row.model_copy(update={"position": known.position})
    return row


@singledispatch
def _document(row: Record) -> Document:
    """Return a row in the form in which its own store would have stored it."""
    return document_of(row)


@_document.register
def _of_turn(turn: Turn) -> Document:
    document = document_of(turn, **searchable_fields(turn), covered=False)
    if turn.ref is None:
        del document["ref"]  # the unique index holds those that have one
    return document


@_document.register
def _of_belief(projected: ProjectedBelief) -> Document:
    """Return the row of a belief; its ``changed_seq`` is the last event that is known of it."""
    belief, spans = projected.belief, projected.spans
    if belief.status == "active" and not spans:
        raise Conflict(f"belief {belief.id}", "the span in which it is active", "none")
    folded = FoldedBelief(
        belief.id,
        belief.committed_seq,
        status=belief.status,
        ended_seq=belief.ended_seq,
        superseded_by=belief.superseded_by,
        spans=list(spans),
    )
    ends = [one.until_seq or one.since_seq for one in spans]
    changed_seq = max(belief.committed_seq, belief.ended_seq or 0, *ends)
    return row_document(belief, folded, changed_seq)


@_document.register
def _of_trust(row: TrustRow) -> Document:
    return document_of(row, changed_seq=0)


@_document.register
def _of_usage(row: UsageRow) -> Document:
    return document_of(row, "used", **document_of(row.used))


@_document.register
def _of_work(work: QueuedWork) -> Document:
    unclaimed = dict.fromkeys(("again_at", "lease_owner", "claim"))
    return document_of(work, **unclaimed, token=0)


_document.register(Summary, summary_document)
_document.register(Passage, passage_document)
_document.register(Episode, episode_document)
_document.register(SessionGraph, graph_document)
_document.register(Fact, fact_document)
_document.register(Rule, rule_document)
_document.register(Card, card_document)


def _named(row: LoggedBelief) -> list[str]:
    """Return the beliefs that an event's content names besides the one it is about."""
    return mentioned(row.event.belief_id, json.loads(row.content or "{}"))
