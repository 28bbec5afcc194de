"""Committing a belief as somebody who lets the last word win."""

from __future__ import annotations

from typing import Any

from tiers.records import Commitment, Committed, Scope, Settlement

ATTEMPTS_MAX = 100


async def replacing(cold: Any, scope: Scope, belief: Commitment) -> Committed:
    """Commit a belief in the place of its rivals, deciding again while others come first."""
    settled: list[Settlement] = []
    for _ in range(ATTEMPTS_MAX):
        answer: Committed = await cold.beliefs.commit(scope, belief, settled)
        if not answer.unsettled and not answer.is_stale:
            return answer
        settled = [
            Settlement(rival_id=one.belief.id, winner="new", strategy="last_write_wins")
            for one in answer.unsettled
        ]
    message = "others came first again and again"
    raise AssertionError(message)
