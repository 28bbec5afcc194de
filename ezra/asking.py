"""Recall for a handle: ask the tiers for what its scope may see."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.records import Kind, Scope

from .parts import Parts
from .recall import RecallResult


async def ask(
    parts: Parts, scope: Scope, query: str, limit: int, kinds: Sequence[Kind] | None
) -> RecallResult:
    """Return what the scope may see of ``query``.

    Searching is no use of what is found: a fact is used by the turns whose context it reaches.
    """
    now = parts.clock()
    names = await parts.names.of(scope)
    return await parts.recaller.recall(scope, query, now, limit=limit, kinds=kinds, names=names)
