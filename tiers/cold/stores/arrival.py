"""Storing rows that come from another cold tier as they are, with what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...documents import Document, Passage
from ...errors import Conflict
from ...evidence import ChainedAudit, EvidenceMarks
from ...history.audit_chain import chained, placed
from ...records import (
    Episode,
    LoggedBelief,
    Owned,
    ProjectedBelief,
    Record,
    Scope,
    SignedHead,
    Summary,
)
from ...registry import CATALOG
from ...upkeep import FactUse, RuleOutcome, Table
from ..conditions import Among, Value, holds
from ..port import Collection, Find, Index, Put, Steps, every, write
from .belief_log import last_seq, put_entries
from .belief_projection import put_beliefs
from .documents import put_document, put_former
from .episodes import put_episode, put_summary
from .heads import insert_head
from .log import AUDIT, raise_marks
from .passages import put_passages
from .rules import RULES
from .shelves import Key, Shelf, by_graph, rows_of, shelf_of
from .statements import FACTS
from .words import file_words

_BOUND = ("salt", "reason_digest", "previous_hash", "hash")
"""What an audit event from before feeds were chained has only got here."""


def stored(tenant: str, table: Table, rows: Sequence[Record]) -> Steps[int]:
    """Store the rows that are not there yet, inside a transaction; return how many they are.

    Raises:
        Conflict: A row differs from the one that is there, or contradicts what is there.
        NotFound: It names a record that is not there.
    """
    shelf = shelf_of(table)
    records = [shelf.keeps(tenant, row) for row in rows]
    known = yield from _known(tenant, table, shelf, records)
    new: list[tuple[Any, Any]] = []
    for row, record in zip(rows, records, strict=True):
        key = shelf.key(record)
        if key not in known:
            known[key] = row
            new.append((row, record))
        elif known[key] != _as_known(row, known[key]):
            # Neither row is shown: it may hold what somebody said.
            raise Conflict(_name(table, *key), "the row that is imported", "another row")
    yield from _check_unique(tenant, table, shelf, [record for _, record in new])
    store = _STORED.get(table)
    if store is None:
        yield from _put(tenant, shelf.collection, [record for _, record in new])
    else:
        yield from store(tenant, [row for row, _ in new])
    if table in _WORDED:
        yield from _file_words(tenant, [row for row, _ in new])
    return len(new)


def _known(
    tenant: str, table: Table, shelf: Shelf, records: Sequence[Any]
) -> Steps[dict[Key, Record]]:
    """Return the rows that are there under the ids of these."""
    ids: dict[str, list[str]] = {}
    for graph_id, record_id in map(shelf.key, records):
        ids.setdefault(graph_id, []).append(record_id)
    found = yield from every(
        *(_named(shelf.collection, tenant, graph_id, some) for graph_id, some in ids.items())
    )
    rows = yield from rows_of(tenant, table, found)
    return dict(zip(map(shelf.key, found), rows, strict=True))


def _named(
    collection: Collection[Any], tenant: str, graph_id: str, ids: Sequence[str]
) -> Find[Any]:
    where = (Among("id", tuple(dict.fromkeys(ids))),)
    return Find(collection, Scope.of_graph(tenant, graph_id), where=where, reach="own")


def _as_known(row: Record, known: Record) -> Record:
    """Return a row as it may well be there: an event whose position was taken has another."""
    if not isinstance(row, ChainedAudit) or not isinstance(known, ChainedAudit):
        return row
    place: dict[str, object] = {"position": known.position, "placed": known.placed}
    place |= {name: getattr(known, name) for name in _BOUND if not getattr(row, name)}
    return row.model_copy(update=place)


def _check_unique(tenant: str, table: Table, shelf: Shelf, records: Sequence[Any]) -> Steps[None]:
    """Refuse rows that have what only one row of a graph may have, and another has.

    Raises:
        Conflict: There is one.
    """
    for index in shelf.collection.indexes.values():
        if not index.unique or index.of is not None:
            continue
        for graph_id, some in by_graph(records).items():
            wanted: dict[tuple[Value, ...], str] = {}
            for record in some:
                values = _only_once(shelf.collection, index, record)
                if values is None:
                    continue
                if values in wanted:
                    raise _contradicting(table, graph_id, shelf.collection.key(record))
                wanted[values] = shelf.collection.key(record)
            if not wanted:
                continue
            taken = yield from _having(tenant, graph_id, shelf.collection, index, list(wanted))
            for values in taken:
                raise _contradicting(table, graph_id, wanted[values])


def _having(
    tenant: str,
    graph_id: str,
    collection: Collection[Any],
    index: Index,
    wanted: Sequence[tuple[Value, ...]],
) -> Steps[list[tuple[Value, ...]]]:
    """Return which of some values of a unique index records of a graph have."""
    name = next(name for name, one in collection.indexes.items() if one is index)
    parts: Any = zip(*wanted, strict=True)
    where = tuple(
        Among(field, tuple(dict.fromkeys(part)))
        for field, part in zip(index.fields, parts, strict=True)
    )
    scope = Scope.of_graph(tenant, graph_id)
    found = yield from every(Find(collection, scope, name, where, reach="own"))
    have = (_only_once(collection, index, record) for record in found)
    return [values for values in have if values in set(wanted)]


def _only_once(
    collection: Collection[Any],
    index: Index,
    record: Any,  # noqa: ANN401 - of any collection
) -> tuple[Value, ...] | None:
    """Return what only this record may have, as far as an index holds it."""
    seen = collection.seen(record)
    values = tuple(seen.fields[name] for name in index.fields)
    return None if None in values or not holds(index.where, seen) else values


def _put(tenant: str, collection: Collection[Any], records: Sequence[Any]) -> Steps[None]:
    """Store records from which nothing follows: a use that is stored here was counted already."""
    yield from write(
        *(
            Put(collection, Scope.of_graph(tenant, getattr(record, "graph_id", CATALOG)), record)
            for record in records
        )
    )


def _file_words(tenant: str, rows: Sequence[Owned]) -> Steps[None]:
    for graph_id, some in by_graph(rows).items():
        yield from file_words(Scope.of_graph(tenant, graph_id), *some)


def _summaries(tenant: str, rows: Sequence[Summary]) -> Steps[None]:
    for row in rows:
        yield from put_summary(Scope.of_graph(tenant, row.graph_id), row, ())


def _episodes(tenant: str, rows: Sequence[Episode]) -> Steps[None]:
    for row in rows:
        yield from put_episode(Scope.of_graph(tenant, row.graph_id), row, ())


def _documents(tenant: str, rows: Sequence[Document]) -> Steps[None]:
    for row in rows:
        yield from put_document(Scope.of_graph(tenant, row.graph_id), row)


def _formers(tenant: str, rows: Sequence[Document]) -> Steps[None]:
    for row in rows:
        yield from put_former(Scope.of_graph(tenant, row.graph_id), row)


def _passages(tenant: str, rows: Sequence[Passage]) -> Steps[None]:
    for graph_id, some in by_graph(rows).items():
        yield from put_passages(Scope.of_graph(tenant, graph_id), some)


def _heads(tenant: str, rows: Sequence[SignedHead]) -> Steps[None]:
    for row in rows:
        yield from insert_head(Scope.of_graph(tenant, row.graph_id), row)


def _events(tenant: str, rows: Sequence[LoggedBelief]) -> Steps[None]:
    """Append events to their logs.

    Raises:
        Conflict: One does not follow the last.
    """
    for graph_id, some in by_graph(rows, lambda row: row.event.graph_id).items():
        scope = Scope.of_graph(tenant, graph_id)
        first = (yield from last_seq(scope)) + 1
        for wanted, row in enumerate(some, first):
            if row.event.seq != wanted:
                name = _name("belief_events", graph_id, str(row.event.seq))
                raise Conflict(name, f"event {wanted}", "a gap before it")
        yield from put_entries(scope, some)


def _beliefs(tenant: str, rows: Sequence[ProjectedBelief]) -> Steps[None]:
    """Store beliefs as they stand, which is all that is left of one whose content is destroyed."""
    for graph_id, some in by_graph(rows, lambda row: row.belief.graph_id).items():
        yield from put_beliefs(Scope.of_graph(tenant, graph_id), *some)


def _uses(tenant: str, rows: Sequence[FactUse]) -> Steps[None]:
    facts = [(row.graph_id, row.fact_id) for row in rows]
    yield from _check_there(tenant, "fact_uses", FACTS, facts)
    shelf = shelf_of("fact_uses")
    yield from _put(tenant, shelf.collection, [shelf.keeps(tenant, row) for row in rows])


def _outcomes(tenant: str, rows: Sequence[RuleOutcome]) -> Steps[None]:
    rules = [(row.graph_id, row.rule_id) for row in rows]
    yield from _check_there(tenant, "rule_outcomes", RULES, rules)
    shelf = shelf_of("rule_outcomes")
    yield from _put(tenant, shelf.collection, [shelf.keeps(tenant, row) for row in rows])


def _check_there(
    tenant: str, table: Table, collection: Collection[Any], keys: Sequence[Key]
) -> Steps[None]:
    """Refuse rows that are about a record that is not there.

    Raises:
        Conflict: There is one.
    """
    ids = {
        graph_id: [one for _, one in some]
        for graph_id, some in by_graph(keys, lambda key: key[0]).items()
    }
    found = yield from every(
        *(_named(collection, tenant, graph_id, some) for graph_id, some in ids.items())
    )
    missing = set(keys) - {(one.graph_id, one.id) for one in found}
    if missing:
        raise Conflict(_name(table, *min(missing)), "the record it is about", "no such record")


def _audit(tenant: str, rows: Sequence[ChainedAudit]) -> Steps[None]:
    """Store audit events with a position in the tenant's feed: their own if it is free.

    Otherwise, as for events from before there were positions, the next one.
    """
    whole = Scope.of_graph(tenant, CATALOG)
    wanted = (Among("position", tuple(dict.fromkeys(row.position for row in rows))),)
    found, latest = yield (
        Find(AUDIT, whole, "position", wanted, reach="tenant"),
        Find(AUDIT, whole, "position", order=("-position",), limit=1, reach="tenant"),
    )
    taken = {event.position for event in found}
    last = latest[0].position if latest else 0
    before = yield from _last_audited(tenant, rows)
    events = []
    for row in rows:
        is_free = row.position > 0 and row.position not in taken
        position = row.position if is_free else last + 1
        last = max(last, position)
        taken.add(position)
        # One from before feeds were chained gets a chain.
        event = row if row.hash else chained(before.get(row.graph_id, ""), row)
        before[row.graph_id] = event.hash
        events.append(placed(event, position))
    yield from _put(tenant, AUDIT, events)
    for graph_id, some in by_graph(events).items():
        reached = max(event.seq for event in some)
        scope = Scope.of_graph(tenant, graph_id)
        yield from raise_marks(scope, EvidenceMarks(audit=reached))


def _last_audited(tenant: str, rows: Sequence[ChainedAudit]) -> Steps[dict[str, str]]:
    """Return by graph the hash of the last event, of the graphs of rows that have none."""
    graphs = dict.fromkeys(row.graph_id for row in rows if not row.hash)
    last = yield from every(
        *(
            Find(AUDIT, Scope.of_graph(tenant, graph_id), "seq", order=("-seq",), limit=1)
            for graph_id in graphs
        )
    )
    return {event.graph_id: event.hash for event in last}


def _name(table: Table, graph_id: str, record_id: str) -> str:
    return f"{table} row {graph_id}/{record_id}"


def _contradicting(table: Table, graph_id: str, record_id: str) -> Conflict:
    return Conflict(_name(table, graph_id, record_id), "rows that it fits to", "another such row")


_Store: TypeAlias = Callable[[str, Sequence[Any]], Steps[None]]

_STORED: Mapping[Table, _Store] = {
    "summaries": _summaries,
    "episodes": _episodes,
    "fact_uses": _uses,
    "rule_outcomes": _outcomes,
    "documents": _documents,
    "document_revisions": _formers,
    "passages": _passages,
    "belief_events": _events,
    "beliefs": _beliefs,
    "heads": _heads,
    "audit": _audit,
}
"""How the rows are stored from which more follows than that they are there."""

_WORDED: frozenset[Table] = frozenset({"turns", "facts", "rules"})
"""Tables of which only words follow."""
