"""The work that follows from what was said and used. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.records import Turn, WorkDraft


def follow_up(turn: Turn, agent_id: str) -> list[WorkDraft]:
    """Return the work that a new turn causes: indexing it, and compressing what it pushes out."""
    return [
        WorkDraft(kind="index", key=turn.id, agent_id=agent_id, payload={"id": turn.id}),
        WorkDraft(kind="compress", key=agent_id, agent_id=agent_id),
    ]


def uses_work(cause: str, agent_id: str | None, fact_ids: Sequence[str]) -> WorkDraft:
    """Return the work of counting one use of each fact for ``cause``."""
    return WorkDraft(
        kind="learn",
        key=f"uses/{cause}",
        agent_id=agent_id,
        payload={"cause": cause, "used": list(dict.fromkeys(fact_ids))},
    )
