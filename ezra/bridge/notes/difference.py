"""What changed in the graph between two moments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from tiers.errors import UsageError
from tiers.fields import in_utc

from .entities import Entity
from .entity_graph import EntityGraph

STALE_DAYS = 14
"""So long an open entity may stay unchanged before a difference calls it stale."""
MOST_ACTIVE = 10


@dataclass(frozen=True, slots=True)
class Changed:
    """An entity in a difference.

    Attributes:
        id: Of it, at the end; at the beginning for what is removed.
        type: Of it.
        title: Of it.
        before: Its status at the beginning; empty when it said none, or was not there.
        after: Its status at the end; empty when it says none, or is not there.
        at: When its note changed last.
        revisions: How many of its revisions came in between.
    """

    id: str
    type: str
    title: str
    before: str
    after: str
    at: datetime
    revisions: int


@dataclass(frozen=True, slots=True)
class TypeCount:
    """How many entities of a type there were, and what came of them."""

    before: int
    after: int
    created: int
    completed: int
    removed: int


@dataclass(frozen=True, slots=True)
class SemanticDiff:
    """What changed between two moments; lists are by type and id, unless they say otherwise.

    Attributes:
        since: The beginning.
        until: The end.
        breakdown: By type.
        created: Not there at the beginning.
        removed: Not there at the end.
        completed: Brought to its end in between, what was created meanwhile included.
        changed_status: With another status than at the beginning.
        newly_blocked: Waits at the end, and did not, or was not there, at the beginning.
        unblocked: Waited at the beginning, and does not at the end.
        updated: Changed otherwise.
        stale: Open and unchanged for ``STALE_DAYS`` at the end; the longest first.
        most_active: With the most revisions in between; ten at most.
    """

    since: datetime
    until: datetime
    breakdown: Mapping[str, TypeCount]
    created: tuple[Changed, ...]
    removed: tuple[Changed, ...]
    completed: tuple[Changed, ...]
    changed_status: tuple[Changed, ...]
    newly_blocked: tuple[Changed, ...]
    unblocked: tuple[Changed, ...]
    updated: tuple[Changed, ...]
    stale: tuple[Changed, ...]
    most_active: tuple[Changed, ...]


def moment_of(name: str, text: str, *, is_end: bool) -> datetime:
    """Return the moment that a date or time means, in UTC.

    A date is its beginning; as an end it is the end of that day. Without a zone it is
    UTC.

    Raises:
        UsageError: It is neither.
    """
    accepted = "a date or time such as 2026-05-15 or 2026-05-15T12:00:00Z"
    try:
        day = date.fromisoformat(text)
    except ValueError:
        try:
            moment = datetime.fromisoformat(text)
            return in_utc(moment.replace(tzinfo=moment.tzinfo or UTC))
        except ValueError as error:
            raise UsageError(name, text, accepted) from error
    begin = datetime.combine(day, time(), UTC)
    try:
        return begin + timedelta(days=1) if is_end else begin
    except OverflowError as error:
        raise UsageError(name, text, accepted) from error


def semantic_diff(
    before: EntityGraph, after: EntityGraph, since: datetime, until: datetime
) -> SemanticDiff:
    """Return what changed between two states of the graph.

    A note that was moved to another path under the same id is the same entity.

    Raises:
        UsageError: The end is not after the beginning.
    """
    if until <= since:
        raise UsageError("to", until.isoformat(), f"a moment after {since.isoformat()}")
    pairs = _pairs(before, after)
    changes = [(_changed(old, new), old, new) for old, new in pairs]
    changes.sort(key=lambda one: (one[0].type, one[0].id))
    there = [(one, old, new) for one, old, new in changes if old is not None and new is not None]
    moved = [(one, old.status != new.status) for one, old, new in there]
    active = sorted(
        (one for one, _, new in changes if new is not None and one.revisions),
        key=lambda one: (-one.revisions, one.id),
    )
    return SemanticDiff(
        since=since,
        until=until,
        breakdown=_breakdown(pairs),
        created=tuple(one for one, old, _ in changes if old is None),
        removed=tuple(one for one, _, new in changes if new is None),
        completed=tuple(one for one, old, new in changes if _is_completion(old, new)),
        changed_status=tuple(one for one, has_moved in moved if has_moved),
        newly_blocked=tuple(
            one
            for one, old, new in changes
            if _is_blocked(after, new) and not _is_blocked(before, old)
        ),
        unblocked=tuple(
            one
            for one, old, new in there
            if _is_blocked(before, old) and not _is_blocked(after, new)
        ),
        updated=tuple(one for one, has_moved in moved if one.revisions and not has_moved),
        stale=_stale(after, until - timedelta(days=STALE_DAYS)),
        most_active=tuple(active[:MOST_ACTIVE]),
    )


def _pairs(before: EntityGraph, after: EntityGraph) -> list[tuple[Entity | None, Entity | None]]:
    """Return what became of each entity: the same document, else the same id."""
    documents = {one.document_id: one for one in after.entities}
    pairs: list[tuple[Entity | None, Entity | None]] = []
    seen = set()
    for old in before.entities:
        new = documents.get(old.document_id) or after.get(old.id)
        if new is not None and new.document_id in seen:
            new = None
        if new is not None:
            seen.add(new.document_id)
        pairs.append((old, new))
    return pairs + [(None, one) for one in after.entities if one.document_id not in seen]


def _changed(old: Entity | None, new: Entity | None) -> Changed:
    shown = new or old
    assert shown is not None, "a pair has one of two"  # noqa: S101 - for the types
    is_same = old is not None and new is not None and old.document_id == new.document_id
    former = old.revision if old is not None and (is_same or new is None) else 0
    return Changed(
        id=shown.id,
        type=shown.type,
        title=shown.title,
        before="" if old is None else old.status,
        after="" if new is None else new.status,
        at=shown.changed_at,
        revisions=shown.revision - former,
    )


def _is_completion(old: Entity | None, new: Entity | None) -> bool:
    return new is not None and new.is_completed and not (old is not None and old.is_completed)


def _is_blocked(graph: EntityGraph, entity: Entity | None) -> bool:
    return entity is not None and graph.is_blocked(entity.id)


def _breakdown(
    pairs: list[tuple[Entity | None, Entity | None]],
) -> dict[str, TypeCount]:
    counts: dict[str, Counter[str]] = {}
    for old, new in pairs:
        if old is not None:
            counts.setdefault(old.type, Counter())["before"] += 1
        if new is not None:
            counts.setdefault(new.type, Counter())["after"] += 1
            counts[new.type]["created"] += old is None
            counts[new.type]["completed"] += _is_completion(old, new)
        elif old is not None:
            counts[old.type]["removed"] += 1
    names = ("before", "after", "created", "completed", "removed")
    return {kind: TypeCount(*(counts[kind][name] for name in names)) for kind in sorted(counts)}


def _stale(graph: EntityGraph, unchanged_since: datetime) -> tuple[Changed, ...]:
    found = [
        _changed(one, one)
        for one in graph.entities
        if one.status and not one.has_ended and one.changed_at <= unchanged_since
    ]
    return tuple(sorted(found, key=lambda one: (one.at, one.id)))
