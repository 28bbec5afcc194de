"""Reading everything out of the database, and putting it into another, table by table.

What follows from a record (the tail, coverage, consolidation, word index, trigger words) is not
read out. The rows that are put in bring it about, through what the stores themselves use.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from ...documents import Document, FormerDocument, Passage
from ...errors import Conflict, NotFound, UsageError
from ...moments import moment
from ...records import (
    AgentRecord,
    AuditEvent,
    BeliefSpan,
    Episode,
    Fact,
    ProjectedBelief,
    Receipt,
    Record,
    Rule,
    SessionGraph,
    Summary,
    Turn,
    Usage,
)
from ...upkeep import (
    PAGE_ROWS_MAX,
    FactUse,
    Page,
    QueuedWork,
    RuleOutcome,
    Table,
    UsageRow,
    Watermark,
)
from ..archive_rows import check_row, check_tenant, core_of
from ..ownership import check_limit
from .arrival import Arrival
from .belief_heads import head_of
from .belief_history import logged_of, trust_of
from .belief_projection import NO_TOPIC_TRUSTED, historic_of
from .board import card_of
from .database import Database, Query, Session, Value
from .graphs import GRAPHS
from .rows import record_of


@dataclass(frozen=True)
class _Shelf:
    """How one table is read.

    Attributes:
        select: Up to its condition; the table is called ``t``.
        read: Makes the record of a row.
        names: Columns that name a row inside its tenant.
        order: Columns in whose order rows are read, each with what comes before the first. The
            row's number is the order of storing; where there is none, the table's key stands in.
    """

    select: str
    read: Callable[[sqlite3.Row], Record]
    names: tuple[str, ...] = ("graph_id", "id")
    order: Mapping[str, Value] | None = None

    def page(self, tenant: str, cursor: str, limit: int) -> Query:
        """Return the question for the rows after a cursor."""
        order = self.order or {"row": 0}
        columns = ", ".join(f"t.{name}" for name in order)
        marks = ", ".join(f":after_{name}" for name in order)
        # The plus keeps the engine from sorting all rows of the tenant for each page.
        owner = "t.tenant = :tenant" if self.order else "+t.tenant = :tenant"
        params: dict[str, Value] = {"tenant": tenant, "limit": limit}
        params |= {f"after_{name}": place for name, place in _places(cursor, order).items()}
        return Query(
            f"{self.select} WHERE {owner} AND ({columns}) > ({marks})"
            f" ORDER BY {columns} LIMIT :limit",
            params,
            reach="tenant",
        )

    def cursor(self, row: sqlite3.Row) -> str:
        """Return where to go on after a row."""
        return json.dumps([row[name] for name in self.order or ("row",)], ensure_ascii=False)

    def same(self, tenant: str, record: Record) -> Query:
        """Return the question for the row of the same identity."""
        named = " AND ".join(f"t.{name} = :{name}" for name in self.names)
        names = {name: getattr(core_of(record), name) for name in self.names}
        if names.get("topic", "") is None:
            names["topic"] = NO_TOPIC_TRUSTED
        return Query(
            f"{self.select} WHERE t.tenant = :tenant AND {named}",
            {"tenant": tenant} | names,
            reach="tenant",
        )


def _projected(row: sqlite3.Row) -> ProjectedBelief:
    spans = [
        BeliefSpan(since_seq=since, until_seq=until, pinned=bool(pinned))
        for since, until, pinned in sorted(json.loads(row["spans"]))
    ]
    return ProjectedBelief(belief=historic_of(row), spans=tuple(spans))


def _use(row: sqlite3.Row) -> FactUse:
    return record_of(FactUse, row, used_at=moment(row["used_at"]))


def _used(row: sqlite3.Row) -> UsageRow:
    return record_of(UsageRow, row, used=record_of(Usage, row))


def _work(row: sqlite3.Row) -> QueuedWork:
    return record_of(QueuedWork, row, due_at=moment(row["due"]))


def _owned(table: str, read: Callable[[sqlite3.Row], Record]) -> _Shelf:
    joined = f"SELECT t.*, s.topics FROM {table} t JOIN topic_sets s ON s.id = t.topic_set"
    return _Shelf(joined, read)


_STORED_AS: Mapping[Table, str] = {"trust": "belief_trust", "heads": "belief_heads"}
"""Tables that are called otherwise in the database than in an archive."""

_PER_GRAPH: Mapping[str, Value] = {"graph_id": "", "seq": 0}

_SHELVES: Mapping[Table, _Shelf] = {
    "graphs": _Shelf(GRAPHS, partial(record_of, SessionGraph), ("id",)),
    "agents": _Shelf("SELECT t.* FROM agents t", partial(record_of, AgentRecord)),
    "usage": _Shelf(
        "SELECT t.* FROM usage t",
        _used,
        ("graph_id", "agent_id"),
        {"graph_id": "", "agent_id": ""},
    ),
    "turns": _owned("turns", partial(record_of, Turn)),
    "summaries": _owned("summaries", partial(record_of, Summary)),
    "episodes": _owned("episodes", partial(record_of, Episode)),
    "facts": _owned("facts", partial(record_of, Fact)),
    "fact_uses": _Shelf(
        "SELECT t.* FROM fact_uses t",
        _use,
        ("graph_id", "fact_id", "cause"),
        {"graph_id": "", "fact_id": "", "cause": ""},
    ),
    "rules": _owned("rules", partial(record_of, Rule)),
    "rule_outcomes": _Shelf(
        "SELECT t.* FROM rule_outcomes t",
        partial(record_of, RuleOutcome),
        ("graph_id", "rule_id", "cause"),
        {"graph_id": "", "rule_id": "", "cause": ""},
    ),
    "watermarks": _Shelf(
        "SELECT t.* FROM watermarks t",
        partial(record_of, Watermark),
        ("graph_id", "agent_id", "name"),
        {"graph_id": "", "agent_id": "", "name": ""},
    ),
    "documents": _owned("documents", partial(record_of, Document)),
    "document_revisions": replace(
        _owned("document_revisions", partial(record_of, FormerDocument)),
        names=("graph_id", "id", "revision"),
    ),
    "passages": _owned("passages", partial(record_of, Passage)),
    "cards": _Shelf(
        "SELECT t.*, s.topics, (SELECT json_group_array(d.agent_id) FROM card_reads d"
        " WHERE d.tenant = t.tenant AND d.graph_id = t.graph_id AND d.card_id = t.id) AS readers"
        " FROM cards t JOIN topic_sets s ON s.id = t.topic_set",
        card_of,
    ),
    "belief_events": _Shelf(
        "SELECT t.*, c.salt, c.content FROM belief_events t LEFT JOIN belief_contents c"
        " ON c.tenant = t.tenant AND c.graph_id = t.graph_id AND c.event_id = t.id",
        logged_of,
        ("graph_id", "seq"),
        _PER_GRAPH,
    ),
    "beliefs": _Shelf(
        "SELECT t.*, s.topics, (SELECT json_group_array(json_array("
        "o.since_seq, o.until_seq, o.pinned)) FROM belief_spans o"
        " WHERE o.tenant = t.tenant AND o.graph_id = t.graph_id AND o.belief_id = t.id) AS spans"
        " FROM beliefs t JOIN topic_sets s ON s.id = t.topic_set",
        _projected,
    ),
    "trust": _Shelf(
        "SELECT t.* FROM belief_trust t",
        trust_of,
        ("graph_id", "agent_id", "topic"),
        {"graph_id": "", "agent_id": "", "topic": ""},
    ),
    "heads": _Shelf(
        "SELECT t.* FROM belief_heads t",
        head_of,
        ("graph_id", "size", "public_key"),
        {"graph_id": "", "size": 0, "public_key": ""},
    ),
    "receipts": _Shelf(
        "SELECT t.* FROM receipts t",
        partial(record_of, Receipt),
        order={"graph_id": "", "id": ""},
    ),
    "audit": _Shelf(
        "SELECT t.* FROM audit t",
        partial(record_of, AuditEvent),
        ("graph_id", "seq"),
        _PER_GRAPH,
    ),
    # A claim ends with its process: what was claimed is due as it was when it was queued.
    "work": _Shelf(
        "SELECT t.*, CASE WHEN t.lease_owner IS NULL THEN t.due_at ELSE t.queued_at END AS due"
        " FROM work t",
        _work,
        ("graph_id", "kind", "key"),
    ),
}


class SqliteArchive:
    """A ``ColdArchive`` in SQLite."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def tenants(self) -> tuple[str, ...]:
        """Return every tenant that has a graph, sorted."""
        query = Query("SELECT DISTINCT tenant FROM graphs ORDER BY tenant", {}, reach="store")
        return await self._database.read(
            "tenants", lambda session: tuple(row["tenant"] for row in session.all(query))
        )

    async def export_rows(self, tenant: str, table: Table, cursor: str, limit: int) -> Page[Record]:
        """Return rows after a cursor in the order in which they were stored; ``""`` begins.

        Counts, uses, outcomes, watermarks and receipts are in the order of their key, as they are
        stored under nothing else; belief and audit events graph by graph.

        Raises:
            UsageError: An unknown table, a limit outside 1 to ``PAGE_ROWS_MAX``, or a cursor that
                no page of the table gave.
        """
        shelf = _shelf(table)
        check_tenant(tenant)
        check_limit(limit, PAGE_ROWS_MAX)
        query = shelf.page(tenant, cursor, limit + 1)

        def question(session: Session) -> Page[Record]:
            rows = session.all(query)
            more = len(rows) > limit
            return Page[Record](
                rows=tuple(shelf.read(row) for row in rows[:limit]),
                cursor=shelf.cursor(rows[limit - 1]) if more else None,
            )

        return await self._database.read("export_rows", question)

    async def import_rows(self, tenant: str, table: Table, rows: Sequence[Record]) -> int:
        """Store rows as they are, in order, with what follows from them; return how many are new.

        A row that is there already, equal, is passed over. An audit event without a place in the
        tenant's feed, or with one that is taken, is given the next.

        Raises:
            Conflict: A row of the same identity is there and differs, or a row contradicts what
                is there: nothing of the call stays.
            UsageError: A row is of another type or tenant.
        """
        shelf = _shelf(table)
        check_tenant(tenant)
        for record in rows:
            check_row(tenant, table, record)
        if not rows:
            return 0

        def transaction(session: Session) -> int:
            return sum(_import(session, tenant, table, shelf, record) for record in rows)

        return await self._database.write("import_rows", transaction)

    async def count_rows(self, tenant: str, table: Table) -> int:
        """Return how many rows a table has for the tenant."""
        _shelf(table)
        check_tenant(tenant)
        query = Query(
            f"SELECT COUNT(*) AS found FROM {_STORED_AS.get(table, table)} t"
            " WHERE t.tenant = :tenant",
            {"tenant": tenant},
            reach="tenant",
        )
        return await self._database.read(
            "count_rows", lambda session: int(session.all(query)[0]["found"])
        )


def _import(session: Session, tenant: str, table: Table, shelf: _Shelf, record: Record) -> bool:
    """Store one row; ``False`` when it is there already."""
    query = shelf.same(tenant, record)
    name = f"{table} row {'/'.join(str(query.params[column]) for column in shelf.names)}"
    found = session.one(query)
    if found is None:
        try:
            Arrival(session, tenant).store(record)
        except (sqlite3.IntegrityError, NotFound) as clash:
            raise Conflict(name, "rows that it fits to", str(clash)) from clash
    elif _as_moved(shelf.read(found)) != _as_moved(record):
        # Neither row is shown: it may hold what somebody said.
        raise Conflict(name, "the row that is imported", "another row")
    return found is None


def _as_moved(record: Record) -> Record:
    """Return a row without what moving may change: an event's place where its own was taken."""
    return record.model_copy(update={"position": 0}) if isinstance(record, AuditEvent) else record


def _shelf(table: Table) -> _Shelf:
    if table not in _SHELVES:
        raise UsageError("table", table, ", ".join(_SHELVES))
    return _SHELVES[table]


def _places(cursor: str, order: Mapping[str, Value]) -> dict[str, Value]:
    """Return where a page begins: column by column, what it comes after."""
    if not cursor:
        return dict(order)
    try:
        places = json.loads(cursor)
    except ValueError:
        places = None
    kinds = [type(first) for first in order.values()]
    if not isinstance(places, list) or [type(place) for place in places] != kinds:
        raise UsageError("cursor", cursor, "the cursor of a page of the same table")
    return dict(zip(order, places, strict=True))
