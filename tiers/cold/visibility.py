"""Who may see what: the only place that turns a ``Scope`` into conditions, and the guard behind it.

``reached`` says what an engine must add to a question. ``check`` looks at each record before it
leaves, by other means, and shares nothing with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from ..errors import CorruptRecord, TierRejected
from ..moments import microseconds
from ..records import ALL_TOPICS, Ancestor, Record, Scope
from .conditions import Absent, Among, Condition, Either, Is, Topics, Within
from .port import Collection, Delete, Find, Put, Replace

SCOPES_REMEMBERED = 4_096


def reached(find: Find[Record]) -> tuple[Condition, ...]:
    """Return what the scope of a question adds to it.

    Raises:
        TierRejected: It goes further than its collection, or names a graph that is no ancestor.
    """
    collection, scope = find.collection, find.scope
    if collection.extent == "store" or find.reach == "store":
        return ()
    if collection.extent == "tenant" or find.reach == "tenant":
        return _owned(scope.tenant, None)
    ancestor = None if find.graph_id in {None, scope.graph_id} else _ancestor(find)
    owner = _owned(scope.tenant, scope.graph_id if ancestor is None else ancestor.graph_id)
    if ancestor is not None and ancestor.as_of is not None:
        owner += (Within("recorded_at", until=microseconds(ancestor.as_of) + 1),)
    if find.reach == "own" or not collection.owned:
        return owner
    # An agent of the same id in another graph is another writer.
    writer = scope.agent_id if ancestor is None else None
    return owner + _seen(writer, scope.user_id, scope.every_user, scope.topics, scope.denied)


@lru_cache(maxsize=SCOPES_REMEMBERED)
def _owned(tenant: str, graph_id: str | None) -> tuple[Condition, ...]:
    """Return whom a record belongs to: a tenant, and a graph if one is meant."""
    whole: tuple[Condition, ...] = (Is("tenant", tenant),)
    return whole if graph_id is None else (*whole, Is("graph_id", graph_id))


@lru_cache(maxsize=SCOPES_REMEMBERED)
def _seen(
    writer: str | None,
    user_id: str | None,
    every_user: bool,  # noqa: FBT001 - of a scope
    topics: tuple[str, ...],
    denied: tuple[str, ...],
) -> tuple[Condition, ...]:
    """Return what holds of every record of a graph that a scope sees, by what the scope says.

    The same scope asks many questions in a row, and its lineage plays no part here.
    """
    found: tuple[Condition, ...] = (Among("private_to", ("",) if writer is None else ("", writer)),)
    if not every_user:
        nobodys: tuple[Condition, ...] = (Absent("user_id"),)
        mine_too = (nobodys, (Is("user_id", user_id),)) if user_id else None
        found += nobodys if mine_too is None else (Either(mine_too),)
    asked = _topics(topics, denied)
    return found if asked is None else (*found, asked)


def _topics(topics: tuple[str, ...], denied: tuple[str, ...]) -> Topics | None:
    if ALL_TOPICS in denied:
        return Topics(any_of=())
    sees_all = ALL_TOPICS in topics
    if sees_all and not denied:
        return None
    return Topics(None if sees_all else topics, denied)


def _ancestor(find: Find[Record]) -> Ancestor:
    for one in find.scope.lineage:
        if one.graph_id == find.graph_id:
            return one
    raise _refused(find.collection, "a question to a graph that is no ancestor")


def check(find: Find[Record], records: Sequence[Record]) -> None:
    """Refuse an answer with a record that its scope does not reach: it lies under another's name.

    Raises:
        CorruptRecord: There is one.
    """
    collection, scope = find.collection, find.scope
    if not records or collection.extent == "store" or find.reach == "store":
        return
    graph_id = find.graph_id or scope.graph_id
    is_seen = find.reach == "seen" and collection.owned
    owner_of, is_of_graph = collection.owner, collection.extent == "graph"
    for record in records:
        owner = owner_of(record)
        if owner[0] != scope.tenant:
            raise _misplaced(collection, "another tenant's record")
        if is_of_graph and find.reach != "tenant" and owner[1] != graph_id:
            raise _misplaced(collection, "another graph's record")
        if is_seen and not _may_see(scope, record):
            raise _misplaced(collection, "a record that the scope does not see")


def _may_see(scope: Scope, record: Any) -> bool:  # noqa: ANN401 - one that is owned
    if record.private:
        is_writer = (scope.agent_id, scope.graph_id) == (record.agent_id, record.graph_id)
        if not is_writer:
            return False
    if record.user_id is not None and not scope.every_user and record.user_id != scope.user_id:
        return False
    topics, denied = record.topics, scope.denied
    if not topics:
        return True
    if denied and (ALL_TOPICS in denied or not set(denied).isdisjoint(topics)):
        return False
    return ALL_TOPICS in scope.topics or not set(scope.topics).isdisjoint(topics)


def check_write(operation: Put[Record] | Replace[Record]) -> None:
    """Refuse a record that its scope does not own, or a change of what is never changed.

    Raises:
        TierRejected: It is one.
    """
    collection = operation.collection
    if collection.owner(operation.record) != collection.owner(operation.scope):
        raise _refused(collection, "a write of another owner's record")
    is_kept = collection.append_only or collection.write_once
    if is_kept and isinstance(operation, Replace):
        raise _refused(collection, "a change of what is never changed")


def check_delete(operation: Delete[Record], standing: Sequence[Record] = ()) -> None:
    """Refuse to delete what is only appended to, or while something is there that forbids it.

    Args:
        operation: What is to be deleted.
        standing: What its ``unless`` finds.

    Raises:
        TierRejected: It is, or there is.
    """
    collection = operation.found.collection
    if collection.append_only and operation.unless is None:
        raise _refused(collection, "a deletion of what is only appended to")
    if standing:
        raise _refused(collection, "a deletion of what has come to be")


def _misplaced(collection: Collection[Record], what: str) -> CorruptRecord:
    return CorruptRecord("cold", "scope guard", f"an answer with {what}: {collection.name}")


def _refused(collection: Collection[Record], what: str) -> TierRejected:
    return TierRejected("cold", "scope guard", f"{what}: {collection.name}")
