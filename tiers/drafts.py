"""The work that follows from what is stored: drafts that go into the queue with it. Pure."""

from __future__ import annotations

from .records import WorkDraft


def index_work(record_id: str, agent_id: str | None) -> WorkDraft:
    """Return the work by which a record enters the warm index, or leaves it.

    Args:
        record_id: Of the record.
        agent_id: The agent as which the index asks for it; none, or an empty one: as anybody.
    """
    return WorkDraft(
        kind="index", key=record_id, agent_id=agent_id or None, payload={"id": record_id}
    )


def judge_work(fact_id: str) -> WorkDraft:
    """Return the work of comparing a new fact with what is known already."""
    return WorkDraft(kind="judge", key=fact_id, payload={"id": fact_id})
