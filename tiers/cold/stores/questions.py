"""Parts of questions that many stores ask."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from ...moments import maybe_microseconds, microseconds
from ...records import Scope
from ..conditions import Absent, Among, Condition, Either, Is, Within
from ..cursors import cursor_of, cut, place_of
from ..port import RECORDS_MAX, Collection, Count, Find, R, Reach, Steps, asked, every

_NUMBERS = frozenset(
    (
        *("seq", "size", "signed_at", "created_at", "committed_seq"),
        *("revision", "coarseness", "since", "number", "recorded_at"),
    )
)
"""The fields of the orders of pages that are numbers; the others are texts."""

MANY = 1 << 40
"""More than there is of anything: what is counted is not brought back."""


def among(
    collection: Collection[R],
    scope: Scope,
    ids: Iterable[str],
    *where: Condition,
    reach: Reach = "seen",
    graph_id: str | None = None,
) -> Find[R]:
    """Ask for records by their ids."""
    named = Among("id", tuple(dict.fromkeys(ids)))
    return Find(collection, scope, where=(named, *where), reach=reach, graph_id=graph_id)


def own(collection: Collection[R], scope: Scope, ids: Iterable[str], *where: Condition) -> Find[R]:
    """Ask for records of the scope's graph by their ids, whoever may see them."""
    return among(collection, scope, ids, *where, reach="own")


def audited(scope: Scope) -> Reach:
    """Return how far a question for a graph goes: who asks for all of it is told all of it."""
    return "own" if scope.agent_id is None and scope.every_user else "seen"


def whole(
    collection: Collection[R],
    scope: Scope,
    by: str,
    *where: Condition,
    order: tuple[str, ...] = (),
    limit: int = RECORDS_MAX,
) -> Find[R]:
    """Ask for what the scope's graph has, whoever may see it, by an index or list."""
    return Find(collection, scope, by, where, order, limit, reach="own")


def page_of(find: Find[R], cursor: str, accepted: str) -> Steps[tuple[Sequence[R], str | None]]:
    """Return a page of what a question finds in its order, and the cursor of the next one.

    Args:
        find: Its limit is the page's, and any two records differ in the fields of its order.
        cursor: Of the page before; ``""`` begins.
        accepted: What would have been a cursor, for the error.

    Raises:
        UsageError: No page gave the cursor.
    """
    place = place_of(cursor, [int if name in _NUMBERS else str for name in find.order], accepted)
    from_there = find if place is None else find.behind(place)
    found = yield from every(from_there._replace(limit=find.limit + 1))
    return cut(found, find.limit, lambda last: cursor_of(find.place(last)))


def numbers(*found: Find[Any]) -> Steps[list[int]]:
    """Return how many records each question finds."""
    counted = yield from asked(*map(Count, found))
    return [one.get((), 0) for one in counted]


def equal(**given: str | int | None) -> tuple[Condition, ...]:
    """Return that fields have values, of those that are given."""
    return tuple(Is(name, value) for name, value in given.items() if value is not None)


def window(field: str, since: datetime | None, until: datetime | None) -> tuple[Condition, ...]:
    """Return that a moment lies in ``[since, until)``, as far as these are given."""
    if since is None and until is None:
        return ()
    return (Within(field, maybe_microseconds(since), maybe_microseconds(until)),)


def by_then(field: str, then: datetime | None) -> tuple[Condition, ...]:
    """Return that a moment is another or before it, if that is given."""
    return () if then is None else (Within(field, until=microseconds(then) + 1),)


def not_by(field: str, number: int) -> Condition:
    """Return that a field is above a number, or not there: what it tells had not happened."""
    return Either(((Absent(field),), (Within(field, since=number + 1),)))
