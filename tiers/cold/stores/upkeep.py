"""What the only owner of a store may do on opening it, and walks over all its records.

One is for building an index. The other reads everything out, table by table, and puts it into
another store: what follows from a record (coverage, consolidation, words and their totals) is not
read out; the rows that are put in, as they are, bring it about.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, TypeAlias

from ...errors import Conflict, NotFound
from ...evidence import ChainedAudit, EvidenceMarks
from ...fleet import CATALOG
from ...history.audit_chain import chained, placed
from ...moments import microseconds
from ...records import LoggedBelief, Record, Scope
from ...upkeep import PAGE_ROWS_MAX, DiscardedRows, Page, RecordRef, Table
from ..conditions import Among, Condition, Value, holds
from ..ownership import SHARED, check_limit, check_tenant
from ..port import Collection, Find, Index, Steps, count, counts, every
from .archive_tables import check_row, graph_of, kept_of, rows_of, shelf_of
from .belief_log import last_seq, put_entries
from .belief_projection import put_beliefs
from .documents import put_document, put_former
from .episodes import put_episode, put_summary
from .evidence import insert_head
from .known_graphs import GRAPHS
from .leases import free_leases
from .log import AUDIT, raise_marks
from .passages import put_passages
from .questions import MANY, not_by, own, page_of
from .rows import put
from .rules import RULES
from .statements import FACTS
from .store_base import OverEngine, reading
from .unfinished_imports import discard, rows_left
from .words import SEARCHABLE, Filed, file_words
from .work import free_claims

_BOUND = ("salt", "reason_digest", "previous_hash", "hash")
"""What an audit event from before feeds were chained has only got here."""

_Pair: TypeAlias = tuple[Any, Any]
"""A row, and what is kept of it."""


def stored(tenant: str, table: Table, rows: Sequence[Record]) -> Steps[int]:
    """Store the rows that are not there yet, inside a transaction; return how many they are.

    Raises:
        Conflict: A row differs from the one that is there, or contradicts what is there.
        NotFound: It names a record that is not there.
    """
    collection = shelf_of(table).collection
    pairs: dict[str, list[_Pair]] = {}
    for row in rows:
        # Of several graphs, too, what comes later is kept as what was made later.
        pairs.setdefault(graph_of(row), []).append((row, kept_of(tenant, table, row)))
    new = 0
    for graph_id, some in pairs.items():
        new += yield from _stored_in(Scope.of_graph(tenant, graph_id), table, collection, some)
    return new


def _stored_in(
    scope: Scope, table: Table, collection: Collection[Any], pairs: Sequence[_Pair]
) -> Steps[int]:
    """Store the rows of one graph; those of no graph are the catalog's."""
    ids = [collection.key(record) for _, record in pairs]
    found = yield from every(own(collection, scope, ids))
    there = yield from rows_of(scope.tenant, table, found)
    known = dict(zip(map(collection.key, found), there, strict=True))
    new: list[_Pair] = []
    for name, (row, record) in zip(ids, pairs, strict=True):
        if name not in known:
            known[name] = row
            new.append((row, record))
        elif known[name] != _as_known(row, known[name]):
            # Neither row is shown: it may hold what somebody said.
            what = _name(scope, table, name)
            raise Conflict(what, "the row that is imported", "another row")
    new_rows, new_records = [row for row, _ in new], [record for _, record in new]
    yield from _check_unique(scope, table, collection, new_records)
    yield from _check_there(scope, table, new_rows)
    if table in _STORED:
        yield from _STORED[table](scope, new_rows)
    else:  # nothing follows, besides words: a use that is stored here was counted already
        yield from put(collection, scope, *new_records)
    if table in _WORDED:
        yield from file_words(scope, *new_rows)
    return len(new)


def _as_known(row: Record, known: Record) -> Record:
    """Return a row as it may well be there: an event whose position was taken has another."""
    if not isinstance(row, ChainedAudit) or not isinstance(known, ChainedAudit):
        return row
    place: dict[str, object] = {"position": known.position, "placed": known.placed}
    place |= {name: getattr(known, name) for name in _BOUND if not getattr(row, name)}
    return row.model_copy(update=place)


def _check_unique(
    scope: Scope, table: Table, collection: Collection[Any], records: Sequence[Any]
) -> Steps[None]:
    """Refuse rows that have what only one row of a graph may have, and another has.

    Raises:
        Conflict: There is one.
    """
    for name, index in collection.indexes.items():
        if not index.unique or index.of is not None:
            continue
        wanted: dict[tuple[Value, ...], str] = {}
        for record in records:
            values = _only_once(collection, index, record)
            if values in wanted:
                raise _contradicting(scope, table, collection.key(record))
            if values is not None:
                wanted[values] = collection.key(record)
        if not wanted:
            continue
        parts: Any = zip(index.fields, zip(*wanted, strict=True), strict=True)
        where = tuple(Among(field, tuple(dict.fromkeys(part))) for field, part in parts)
        for record in (yield from every(Find(collection, scope, name, where, reach="own"))):
            values = _only_once(collection, index, record)
            if values in wanted:
                raise _contradicting(scope, table, wanted[values])


def _only_once(
    collection: Collection[Any],
    index: Index,
    record: Any,  # noqa: ANN401 - of any collection
) -> tuple[Value, ...] | None:
    """Return what only this record may have, as far as an index holds it."""
    seen = collection.seen(record)
    values = tuple(seen.fields[name] for name in index.fields)
    return None if None in values or not holds(index.where, seen) else values


def _check_there(scope: Scope, table: Table, rows: Sequence[Any]) -> Steps[None]:
    """Refuse rows that are about a record that is not there.

    Raises:
        Conflict: There is one.
    """
    if table not in _ABOUT:
        return
    collection, about = _ABOUT[table]
    ids = set(map(about, rows))
    missing = ids - {one.id for one in (yield from every(own(collection, scope, ids)))}
    if missing:
        name = _name(scope, table, min(missing))
        raise Conflict(name, "the record it is about", "no such record")


def _one_by_one(store: Callable[[Scope, Any], Steps[object]]) -> _Store:
    """Return what stores rows one by one."""

    def each(scope: Scope, rows: Sequence[Any]) -> Steps[None]:
        for row in rows:
            yield from store(scope, row)

    return each


def _events(scope: Scope, rows: Sequence[LoggedBelief]) -> Steps[None]:
    """Append events to their log.

    Raises:
        Conflict: One does not follow the last.
    """
    first = (yield from last_seq(scope)) + 1
    for wanted, row in enumerate(rows, first):
        if row.event.seq != wanted:
            name = _name(scope, "belief_events", str(row.event.seq))
            raise Conflict(name, f"event {wanted}", "a gap before it")
    yield from put_entries(scope, rows)


def _audit(scope: Scope, rows: Sequence[ChainedAudit]) -> Steps[None]:
    """Store audit events with a position in the tenant's feed: their own if it is free.

    Otherwise, as for events from before there were positions, the next one.
    """
    if not rows:
        return
    wanted = (Among("position", tuple(dict.fromkeys(row.position for row in rows))),)
    found, latest, before = yield (
        Find(AUDIT, scope, "position", wanted, reach="tenant"),
        Find(AUDIT, scope, "position", order=("-position",), limit=1, reach="tenant"),
        Find(AUDIT, scope, "seq", order=("-seq",), limit=1),
    )
    taken = {event.position for event in found}
    last = latest[0].position if latest else 0
    previous = before[0].hash if before else ""
    events = []
    for row in rows:
        is_free = row.position > 0 and row.position not in taken
        position = row.position if is_free else last + 1
        last = max(last, position)
        taken.add(position)
        # One from before feeds were chained gets a chain.
        event = row if row.hash else chained(previous, row)
        previous = event.hash
        events.append(placed(event, position))
    yield from put(AUDIT, scope, *events)
    last_event = max(events, key=lambda event: event.seq)
    yield from raise_marks(scope, EvidenceMarks(audit=last_event.seq), last_event.hash)


def _name(scope: Scope, table: Table, record_id: str) -> str:
    return f"{table} row {scope.graph_id}/{record_id}"


def _contradicting(scope: Scope, table: Table, record_id: str) -> Conflict:
    return Conflict(_name(scope, table, record_id), "rows that it fits to", "another such row")


_Store: TypeAlias = Callable[[Scope, Sequence[Any]], Steps[None]]

_STORED: Mapping[Table, _Store] = {
    "summaries": _one_by_one(put_summary),
    "episodes": _one_by_one(put_episode),
    "documents": _one_by_one(put_document),
    "document_revisions": _one_by_one(put_former),
    "passages": put_passages,
    "belief_events": _events,
    # As they stand, which is all that is left of one whose content is destroyed.
    "beliefs": lambda scope, rows: put_beliefs(scope, *rows),
    "heads": _one_by_one(insert_head),
    "audit": _audit,
}
"""How the rows of a graph are stored from which more follows than that they are there."""

_ABOUT: Mapping[Table, tuple[Collection[Any], Callable[[Any], str]]] = {
    "fact_uses": (FACTS, lambda use: use.fact_id),
    "rule_outcomes": (RULES, lambda outcome: outcome.rule_id),
}
"""What rows are about that stand beside the record."""

_WORDED: frozenset[Table] = frozenset({"turns", "facts", "rules"})
"""Tables of which only words follow."""


_ORDER = ("recorded_at", "graph_id", "id")


class ColdUpkeep(OverEngine):
    """What the runtime does when it opens, and what building an index needs."""

    async def take_over(self) -> None:
        """Free what an owner that died had claimed, so that it need not wait for its leases.

        Tokens stay, so that nothing the dead owner held could ever be completed.
        """

        def steps() -> Steps[None]:
            yield from free_claims()
            yield from free_leases()

        await self._store.change("take over", steps, is_brief=False)

    @reading
    def searchable_after(
        self, tenant: str, cursor: str, limit: int, now: datetime
    ) -> Steps[Page[RecordRef]]:
        """Return searchable, unexpired, current records after a cursor, in order of recording.

        Args:
            tenant: Whose.
            cursor: Of the page before; ``""`` begins.
            limit: 1 to ``PAGE_ROWS_MAX``.
            now: Records that expire at or before this moment are passed over.

        Raises:
            UsageError: A limit out of range, or a cursor that no page gave.
        """
        check_limit(limit, PAGE_ROWS_MAX)
        whole = Scope.of_graph(tenant, tenant)
        find = Find(SEARCHABLE, whole, "current", _unexpired(now), _ORDER, limit, reach="tenant")
        accepted = "the cursor of a page, or an empty one to begin"
        rows, after = yield from page_of(find, cursor, accepted)
        return Page(rows=tuple(map(_ref, rows)), cursor=after)

    async def count_searchable(self, tenant: str, now: datetime) -> int:
        """Return how many records ``searchable_after`` has to give."""
        whole = Scope.of_graph(tenant, tenant)
        where = _unexpired(now)
        find = Find(SEARCHABLE, whole, "current", where, limit=MANY, reach="tenant")
        return await self._store.read("count_searchable", lambda: count(find))


def _unexpired(now: datetime) -> tuple[Condition, ...]:
    return (not_by("expires_at", microseconds(now)),)


def _ref(filed: Filed) -> RecordRef:
    owner = filed.agent_id if filed.private else SHARED
    return RecordRef(graph_id=filed.graph_id, id=filed.id, agent_id=owner or None)


class ColdArchive(OverEngine):
    """Everything a cold tier holds, table by table, in records that no engine owns.

    What follows from the records (coverage, consolidation, word index) does not move: importing a
    row brings it about again.
    """

    async def tenants(self) -> tuple[str, ...]:
        """Return every tenant that has a graph, sorted."""
        graphs = Find(GRAPHS, Scope.of_graph(CATALOG, CATALOG), limit=MANY, reach="store")
        found = await self._store.read("tenants", lambda: counts(graphs, "tenant"))
        return tuple(sorted(str(tenant) for (tenant,) in found))

    @reading
    def export_rows(
        self, tenant: str, table: Table, cursor: str, limit: int
    ) -> Steps[Page[Record]]:
        """Return rows after a cursor in a stable order; ``""`` begins.

        Graphs, agents and work come as they were made, oldest first; everything else graph by
        graph, events, beliefs and heads in the order of their numbers, episodes after those that
        they are made of, passages revision by revision, the rest in the order of ids.

        Raises:
            UsageError: An unknown table, a limit outside 1 to ``PAGE_ROWS_MAX``, or a cursor that
                no page of the table gave.
        """
        shelf = shelf_of(table)
        check_tenant(tenant)
        check_limit(limit, PAGE_ROWS_MAX)
        whole = Scope.of_graph(tenant, CATALOG)
        find = Find(shelf.collection, whole, shelf.by, (), shelf.order, limit, reach="tenant")
        accepted = "the cursor of a page of the same table"
        shown, end = yield from page_of(find, cursor, accepted)
        rows = yield from rows_of(tenant, table, shown)
        return Page[Record](rows=tuple(rows), cursor=end)

    async def import_rows(self, tenant: str, table: Table, rows: Sequence[Record]) -> int:
        """Store rows as they are, in order, with what follows from them; return how many are new.

        A row that is there already, equal, is passed over. An audit event without a place in the
        tenant's feed, or with one that is taken, is given the next.

        Raises:
            Conflict: A row of the same identity is there and differs, or a row contradicts what
                is there: nothing of the call stays.
            UsageError: A row is of another type or tenant.
        """
        shelf_of(table)
        check_tenant(tenant)
        for row in rows:
            check_row(tenant, table, row)
        if not rows:
            return 0
        try:
            return await self._store.change(
                "import_rows", lambda: stored(tenant, table, rows), is_brief=False
            )
        except NotFound as missing:
            raise Conflict(f"{table} row", "rows that it fits to", str(missing)) from missing

    @reading
    def rows_left(self, scope: Scope) -> Steps[dict[Table, int]]:
        """Return how many rows an import has left of a graph that is not there, by their tables.

        Rows of the index's work aside, and none of a graph that is there.
        """
        return rows_left(scope)

    async def discard(
        self, scope: Scope, now: datetime, before: DiscardedRows | None = None
    ) -> DiscardedRows:
        """Delete some of the rows that an import has left of a graph that is not there.

        To be called with what it returned until that is all; whoever was cut off begins anew. What
        leaves the word index is queued, to leave the warm one. At the end an audit event
        ``discarded`` of the catalog, if there is one, names the graph and how much there was.

        Raises:
            Conflict: The graph is there; nothing was deleted.
        """
        done = partial(discard, scope, before or DiscardedRows(), now)
        return await self._store.change("discard", done, is_brief=False)

    async def count_rows(self, tenant: str, table: Table) -> int:
        """Return how many rows a table has for the tenant."""
        shelf = shelf_of(table)
        check_tenant(tenant)
        whole = Scope.of_graph(tenant, CATALOG)
        find = Find(shelf.collection, whole, shelf.by, limit=MANY, reach="tenant")
        return await self._store.read("count_rows", lambda: count(find))
