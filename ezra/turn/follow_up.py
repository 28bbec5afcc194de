"""The work that follows from what was said and used. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.drafts import index_work
from tiers.records import Turn, WorkDraft


def follow_up(turn: Turn, agent_id: str) -> list[WorkDraft]:
    """Return the work of a new turn: indexing it, learning from it, compressing what it pushes out.

    Learning and compressing are one item per agent, however many turns wait for them.
    """
    return [
        index_work(turn.id, agent_id),
        WorkDraft(kind="extract", key=agent_id, agent_id=agent_id),
        WorkDraft(kind="compress", key=agent_id, agent_id=agent_id),
    ]


def uses_work(
    receipt_id: str, ref: str | None, agent_id: str | None, fact_ids: Sequence[str]
) -> WorkDraft:
    """Return the work of counting one use of each fact that a context showed, once per turn.

    Every context of one ``ref`` is of one turn, however often its caller has to open it anew.
    """
    cause = receipt_id if ref is None else f"ref/{ref}"
    return WorkDraft(
        kind="learn",
        key=f"uses/{receipt_id}",
        agent_id=agent_id,
        payload={"cause": cause, "used": list(dict.fromkeys(fact_ids))},
    )
