"""Storing rows that come from another cold tier as they are, with what follows from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from ...errors import Conflict
from ...evidence import ChainedAudit, EvidenceMarks
from ...history.audit_chain import chained, placed
from ...records import LoggedBelief, Record, Scope
from ...upkeep import Table
from ..conditions import Among, Value, holds
from ..port import Collection, Find, Index, Steps, every
from .belief_log import last_seq, put_entries
from .belief_projection import put_beliefs
from .documents import put_document, put_former
from .episodes import put_episode, put_summary
from .evidence import insert_head
from .log import AUDIT, raise_marks
from .passages import put_passages
from .questions import own
from .rows import put
from .rules import RULES
from .shelves import graph_of, kept_of, rows_of, shelf_of
from .statements import FACTS
from .words import file_words

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


def _each(store: Callable[[Scope, Any], Steps[object]]) -> _Store:
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
    "summaries": _each(put_summary),
    "episodes": _each(put_episode),
    "documents": _each(put_document),
    "document_revisions": _each(put_former),
    "passages": put_passages,
    "belief_events": _events,
    # As they stand, which is all that is left of one whose content is destroyed.
    "beliefs": lambda scope, rows: put_beliefs(scope, *rows),
    "heads": _each(insert_head),
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
