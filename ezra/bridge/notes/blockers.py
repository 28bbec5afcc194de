"""What waits, for what, and for how long already."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tiers.errors import check_within

from .entity_graph import EntityGraph

STALE_DAYS = 3
STALE_DAYS_MAX = 36_500
CYCLES_MAX = 100


@dataclass(frozen=True, slots=True)
class Blocker:
    """What something waits for.

    Attributes:
        id: Of the entity; in words, where it is not indexed.
        is_indexed: Whether there is such an entity.
        title: Of it.
        status: Of it.
        is_open: Whether it has not ended; ``False`` where it is not indexed.
    """

    id: str
    is_indexed: bool
    title: str
    status: str
    is_open: bool


@dataclass(frozen=True, slots=True)
class Blocked:
    """An entity that waits.

    Attributes:
        id: Of it.
        type: Of it.
        title: Of it.
        status: Of it.
        changed_at: When its note changed last.
        days: How many whole days ago that is.
        is_stale: Whether that is too long.
        is_released: Whether its status says that it waits, though all that blocks it has ended.
        blockers: What it waits for.
    """

    id: str
    type: str
    title: str
    status: str
    changed_at: datetime
    days: int
    is_stale: bool
    is_released: bool
    blockers: tuple[Blocker, ...]


@dataclass(frozen=True, slots=True)
class BlockersReport:
    """Everything that waits.

    Attributes:
        blocked: The longest unchanged first.
        stale: How many of them are stale.
        cycles: Entities that wait for each other, which nothing can end; each group by id.
    """

    blocked: tuple[Blocked, ...]
    stale: int
    cycles: tuple[tuple[str, ...], ...]


def check_blockers(
    graph: EntityGraph, now: datetime, *, stale_days: int = STALE_DAYS
) -> BlockersReport:
    """Return what waits, by its status or for something that has not ended.

    Args:
        graph: All entities.
        now: The time.
        stale_days: From so many days without a change of its note something is stale; 0 to 36,500.

    Raises:
        UsageError: ``stale_days`` is out of range.
    """
    check_within("stale_days", stale_days, 0, STALE_DAYS_MAX)
    stale_before = now - timedelta(days=stale_days)
    waiting = [
        _blocked(graph, one.id, now, is_stale=one.changed_at <= stale_before)
        for one in graph.entities
        if graph.is_blocked(one.id)
    ]
    waiting.sort(key=lambda one: (one.changed_at, one.id))
    stale = sum(one.is_stale for one in waiting)
    return BlockersReport(tuple(waiting), stale, _cycles(graph))


def _blocked(graph: EntityGraph, entity_id: str, now: datetime, *, is_stale: bool) -> Blocked:
    entity = graph[entity_id]
    blockers = tuple(_blocker(graph, edge.target, edge.name) for edge in graph.blockers(entity_id))
    return Blocked(
        id=entity.id,
        type=entity.type,
        title=entity.title,
        status=entity.status,
        changed_at=entity.changed_at,
        days=max(0, (now - entity.changed_at).days),
        is_stale=is_stale,
        is_released=bool(blockers) and all(one.is_indexed and not one.is_open for one in blockers),
        blockers=blockers,
    )


def _blocker(graph: EntityGraph, target: str | None, name: str) -> Blocker:
    entity = None if target is None else graph[target]
    if entity is None:
        return Blocker(id=name, is_indexed=False, title="", status="", is_open=False)
    return Blocker(
        id=entity.id,
        is_indexed=True,
        title=entity.title,
        status=entity.status,
        is_open=not entity.has_ended,
    )


def _cycles(graph: EntityGraph) -> tuple[tuple[str, ...], ...]:
    """Return groups of open entities each of which waits for itself, over the others."""
    waits: dict[str, list[str]] = {
        one.id: [edge.target for edge in graph.blockers(one.id) if edge.target is not None]
        for one in graph.entities
        if not one.has_ended
    }
    return tuple(sorted(_knots(waits)))[:CYCLES_MAX]


def _knots(waits: Mapping[str, Sequence[str]]) -> list[tuple[str, ...]]:
    """Return the strongly connected components of two and more (Kosaraju's two passes)."""
    waited_for: dict[str, list[str]] = {node: [] for node in waits}
    for node, others in waits.items():
        for other in others:
            if other in waited_for:
                waited_for[other].append(node)
    seen: set[str] = set()
    found = []
    for start in reversed(_finished(waits)):
        knot, stack = [], [start]
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                knot.append(node)
                stack += waited_for[node]
        if len(knot) > 1:
            found.append(tuple(sorted(knot)))
    return found


def _finished(waits: Mapping[str, Sequence[str]]) -> list[str]:
    """Return all nodes, each behind those that were reached from it first."""
    seen: set[str] = set()
    order: list[str] = []
    for start in waits:
        path = [(start, iter(waits[start]))] if start not in seen else []
        seen.add(start)
        while path:
            node, following = path[-1]
            other = next((one for one in following if one in waits and one not in seen), None)
            if other is None:
                order.append(node)
                path.pop()
            else:
                seen.add(other)
                path.append((other, iter(waits[other])))
    return order
