"""Recall for a handle: ask the tiers, and count what was found as used."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.records import Kind, Scope

from .follow_up import uses_work
from .parts import Parts
from .recall import Degradation, RecallResult


async def ask(
    parts: Parts, scope: Scope, query: str, limit: int, kinds: Sequence[Kind] | None
) -> RecallResult:
    """Return what the scope may see of ``query``.

    Facts that are about it count as used; those that only fill the list do not.
    """
    now = parts.clock()
    names = await parts.names.of(scope)
    found = await parts.recaller.recall(scope, query, now, limit=limit, kinds=kinds, names=names)
    facts = [hit for hit in found.items if hit.kind == "fact"]
    # Counting comes after the answer: what fails here counts fewer uses and changes no hit.
    counting = Degradation(parts.settings.step_timeout_seconds)
    about = await parts.recaller.relevant(query, facts, names, counting)
    if about:
        used = uses_work(parts.ids.new(), scope.agent_id, [hit.id for hit in about])
        await parts.queue.enqueue(scope, [used], now)
        parts.wake_learning()
    return found
