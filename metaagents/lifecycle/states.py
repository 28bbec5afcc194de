"""When a member is let go and a graph changes its state, as pure functions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from tiers.fleet import CATALOG
from tiers.records import AgentRecord, GraphState, SessionGraph


@dataclass(frozen=True)
class StatePolicy:
    """How long silence and idleness last before something follows from them.

    Attributes:
        agent_timeout: A member without a sign of life for so long is taken for crashed.
        archive_after: A graph that has been closed for so long is archived, unless its own
            retention says otherwise (the original's default: 90 days).
    """

    agent_timeout: timedelta = timedelta(minutes=5)
    archive_after: timedelta = timedelta(days=90)

    def silent_since(self, now: datetime) -> datetime:
        """Return the moment by which a member must have shown a sign of life."""
        return now - self.agent_timeout


def is_deserted(graph: SessionGraph, members: Sequence[AgentRecord]) -> bool:
    """Whether an active graph has had members and none is left: then it is to be closed.

    A graph that never had one waits for its first.
    """
    return (
        graph.state is GraphState.ACTIVE
        and bool(members)
        and all(member.left_at is not None for member in members)
    )


def is_due_for_archive(graph: SessionGraph, now: datetime, policy: StatePolicy) -> bool:
    """Whether a closed graph has been idle past its threshold. A catalog never is."""
    if graph.state is not GraphState.CLOSED or graph.closed_at is None or graph.id == CATALOG:
        return False
    days = graph.retention.archive_after_days
    idle = policy.archive_after if days is None else timedelta(days=days)
    return now - graph.closed_at >= idle
