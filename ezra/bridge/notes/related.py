"""What is related to an entity, over any number of steps up to a limit."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from tiers.errors import UsageError, check_within

from .entity_graph import EntityGraph
from .rules import LINKS, RELATIONS

DEPTH_MAX = 10
LIMIT_MAX = 1_000

Direction: TypeAlias = Literal["forward", "reverse"]


@dataclass(frozen=True, slots=True)
class Step:
    """One edge of a path.

    Attributes:
        relation: By which field, or ``links_to``.
        direction: ``forward`` along what a note says; ``reverse`` against it.
        to: Id of the entity it leads to; in words, where that is not indexed.
    """

    relation: str
    direction: Direction
    to: str


@dataclass(frozen=True, slots=True)
class Related:
    """An entity that is reached.

    Attributes:
        id: Its id; what it is called where it is not indexed.
        is_indexed: Whether there is such an entity.
        type: Of it; empty where it is not indexed, as the other fields are.
        title: Of it.
        status: Of it.
        distance: How many steps away.
        path: A shortest way there.
    """

    id: str
    is_indexed: bool
    type: str
    title: str
    status: str
    distance: int
    path: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class RelatedReport:
    """What is related to an entity.

    Attributes:
        id: Of the entity.
        found: The nearest first.
        left_out: How many more there are within the depth.
    """

    id: str
    found: tuple[Related, ...]
    left_out: int


def related(
    graph: EntityGraph,
    name: str,
    *,
    depth: int = 1,
    relations: Sequence[str] = (),
    limit: int = 20,
    known: Iterable[str] = RELATIONS,
) -> RelatedReport:
    """Return what an entity names and is named by, to a depth; each entity once.

    Args:
        graph: All entities.
        name: The entity: an id, path, slug or title.
        depth: How many steps, 1 to 10.
        relations: Only by these; by all if empty.
        limit: How many, 1 to 1,000.
        known: Relations that there are, beside links and those that are in the graph.

    Raises:
        NotFound: There is no such entity.
        UsageError: A number is out of range, or there is no such relation.
    """
    check_within("depth", depth, 1, DEPTH_MAX)
    check_within("limit", limit, 1, LIMIT_MAX)
    there = sorted({*known, LINKS, *(edge.relation for edge in graph.edges())})
    for one in relations:
        if one not in there:
            raise UsageError("relation", one, ", ".join(there))
    start = graph.named(name).id
    wanted = frozenset(relations)
    paths: dict[str, tuple[Step, ...]] = {start: ()}
    dangling: dict[str, tuple[Step, ...]] = {}
    ring = [start]
    for _ in range(depth):
        following = []
        for entity_id in ring:
            for step, is_indexed in _steps(graph, entity_id, wanted):
                known = paths if is_indexed else dangling
                if step.to not in known:
                    known[step.to] = (*paths[entity_id], step)
                    if is_indexed:
                        following.append(step.to)
        ring = following
    del paths[start]
    reached = [_related(graph, one, path) for one, path in paths.items()]
    reached += [_dangling(name, path) for name, path in dangling.items()]
    reached.sort(key=lambda one: one.distance)
    return RelatedReport(start, tuple(reached[:limit]), max(0, len(reached) - limit))


def _steps(
    graph: EntityGraph, entity_id: str, wanted: frozenset[str]
) -> Iterator[tuple[Step, bool]]:
    """Yield the steps from an entity, and whether they lead to an indexed one."""
    for edge in graph.forward(entity_id):
        if not wanted or edge.relation in wanted:
            yield Step(edge.relation, "forward", edge.target or edge.name), edge.target is not None
    for edge in graph.reverse(entity_id):
        if not wanted or edge.relation in wanted:
            yield Step(edge.relation, "reverse", edge.source), True


def _related(graph: EntityGraph, entity_id: str, path: tuple[Step, ...]) -> Related:
    one = graph[entity_id]
    return Related(
        id=one.id,
        is_indexed=True,
        type=one.type,
        title=one.title,
        status=one.status,
        distance=len(path),
        path=path,
    )


def _dangling(name: str, path: tuple[Step, ...]) -> Related:
    return Related(
        id=name, is_indexed=False, type="", title="", status="", distance=len(path), path=path
    )
