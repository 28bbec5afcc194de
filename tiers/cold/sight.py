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
from .port import Collection, Find, Put, Reach, Replace

SCOPES_REMEMBERED = 4_096


def reached(find: Find[Record]) -> tuple[Condition, ...]:
    """Return what the scope of a question adds to it.

    Raises:
        TierRejected: It goes further than its collection, or names a graph that is no ancestor.
    """
    return _reached(find.collection, find.scope, find.reach, find.graph_id)


@lru_cache(maxsize=SCOPES_REMEMBERED)
def _reached(
    collection: Collection[Record], scope: Scope, reach: Reach, asked: str | None
) -> tuple[Condition, ...]:
    """Return what a scope adds to every question that goes so far; one asks many in a row."""
    if collection.extent == "store" or reach == "store":
        return ()
    owner: tuple[Condition, ...] = (Is("tenant", scope.tenant),)
    if collection.extent == "tenant" or reach == "tenant":
        return owner
    ancestor = None if asked in {None, scope.graph_id} else _ancestor(collection, scope, asked)
    graph_id = scope.graph_id if ancestor is None else ancestor.graph_id
    owner += (Is("graph_id", graph_id),)
    if ancestor is not None and ancestor.as_of is not None:
        owner += (Within("recorded_at", until=microseconds(ancestor.as_of) + 1),)
    if reach == "own" or not collection.owned:
        return owner
    return owner + _seen(scope, is_own=ancestor is None)


def _seen(scope: Scope, *, is_own: bool) -> tuple[Condition, ...]:
    """Return what holds of every record that the scope sees, in its own graph or another.

    An agent of the same id in another graph is another writer.
    """
    mine = is_own and scope.agent_id is not None
    found: tuple[Condition, ...] = (
        Among("private_to", ("", scope.agent_id or "") if mine else ("",)),
    )
    if not scope.every_user:
        nobodys: tuple[Condition, ...] = (Absent("user_id"),)
        mine_too = (nobodys, (Is("user_id", scope.user_id),)) if scope.user_id else None
        found += nobodys if mine_too is None else (Either(mine_too),)
    topics = topics_of(scope)
    return found if topics is None else (*found, topics)


def topics_of(scope: Scope) -> Topics | None:
    """Return what the scope's topics ask of a record; ``None``: nothing."""
    if ALL_TOPICS in scope.denied:
        return Topics(any_of=())
    if scope.sees_all_topics and not scope.denied:
        return None
    return Topics(None if scope.sees_all_topics else tuple(scope.topics), tuple(scope.denied))


def _ancestor(collection: Collection[Record], scope: Scope, graph_id: str | None) -> Ancestor:
    for one in scope.lineage:
        if one.graph_id == graph_id:
            return one
    raise _refused(collection, "a question to a graph that is no ancestor")


def check(find: Find[Record], records: Sequence[Record]) -> None:
    """Refuse an answer with a record that its scope does not reach: it lies under another's name.

    Raises:
        CorruptRecord: There is one.
    """
    collection, scope = find.collection, find.scope
    if collection.extent == "store" or find.reach == "store":
        return
    graph_id = find.graph_id or scope.graph_id
    is_seen = find.reach == "seen" and collection.owned
    for record in records:
        tenant, *graph = collection.owner(record)
        if tenant != scope.tenant:
            raise _misplaced(collection, "another tenant's record")
        if find.reach != "tenant" and graph not in ([], [graph_id]):
            raise _misplaced(collection, "another graph's record")
        if is_seen and not _may_see(scope, record):
            raise _misplaced(collection, "a record that the scope does not see")


def _may_see(scope: Scope, record: Any) -> bool:  # noqa: ANN401 - one that is owned
    is_writer = (scope.agent_id, scope.graph_id) == (record.agent_id, record.graph_id)
    if record.private and not is_writer:
        return False
    if record.user_id is not None and not scope.every_user and record.user_id != scope.user_id:
        return False
    topics = set(record.topics)
    if topics & set(scope.denied) or (topics and ALL_TOPICS in scope.denied):
        return False
    return not topics or ALL_TOPICS in scope.topics or bool(topics & set(scope.topics))


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


def check_delete(find: Find[Record]) -> None:
    """Refuse to delete what is only appended to.

    Raises:
        TierRejected: It is.
    """
    if find.collection.append_only:
        raise _refused(find.collection, "a deletion of what is only appended to")


def _misplaced(collection: Collection[Record], what: str) -> CorruptRecord:
    return CorruptRecord("cold", "scope guard", f"an answer with {what}: {collection.name}")


def _refused(collection: Collection[Record], what: str) -> TierRejected:
    return TierRejected("cold", "scope guard", f"{what}: {collection.name}")
