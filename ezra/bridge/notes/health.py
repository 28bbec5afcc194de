"""How the graph of notes is: counts, what was written lately, and what is wrong."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tiers.board import Card

from .entities import Notice
from .entity_graph import EntityGraph

WARNINGS_MAX = 200


@dataclass(frozen=True, slots=True)
class Alert:
    """An unread message that says something failed."""

    id: str
    by: str
    title: str


@dataclass(frozen=True, slots=True)
class GraphHealth:
    """How the graph of notes is.

    Attributes:
        entities: How many there are.
        types: How many of each type.
        statuses: How many of each status; those without one are counted under ``""``.
        agents: How many each agent has indexed.
        edges: How many edges lead to an indexed entity.
        dangling: How many lead nowhere.
        collisions: For each id that several notes claim, what is kept and what is hidden.
        notices: What is wrong with notes; ``WARNINGS_MAX`` at most.
        warnings: How many such notices there are.
        snapshots: How many revisions were recorded in the last 24 hours.
        alerts: Unread messages with a tag of alerts.
    """

    entities: int
    types: Mapping[str, int]
    statuses: Mapping[str, int]
    agents: Mapping[str, int]
    edges: int
    dangling: int
    collisions: tuple[tuple[str, str, str], ...]
    notices: tuple[Notice, ...]
    warnings: int
    snapshots: int
    alerts: tuple[Alert, ...]


def health_of(graph: EntityGraph, yesterday: EntityGraph, alerts: Sequence[Card]) -> GraphHealth:
    """Return how the graph is.

    Args:
        graph: As it is now.
        yesterday: As it was 24 hours ago.
        alerts: Unread messages that say something failed.
    """
    edges = graph.edges()
    notices = [notice for one in graph.entities for notice in one.notices]
    former = {one.document_id: one.revision for one in yesterday.entities}
    return GraphHealth(
        entities=len(graph.entities),
        types=_counted([one.type for one in graph.entities]),
        statuses=_counted([one.status for one in graph.entities]),
        agents=_counted([one.agent for one in graph.entities]),
        edges=sum(edge.target is not None for edge in edges),
        dangling=sum(edge.target is None for edge in edges),
        collisions=tuple((one.id, one.kept.path, one.hidden.path) for one in graph.collisions),
        notices=tuple(notices[:WARNINGS_MAX]),
        warnings=len(notices),
        snapshots=sum(one.revision - former.get(one.document_id, 0) for one in graph.entities),
        alerts=tuple(Alert(one.id, one.agent_id, one.title or one.text[:80]) for one in alerts),
    )


def _counted(values: Sequence[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))
