"""Archiving a closed graph now: one pass of compaction after the other, as long as that helps."""

from __future__ import annotations

from tiers.records import GraphState, Scope

from ..runtime import Runtime

PASSES_MAX = 1_000
"""Of compaction before a graph is archived; each does thousands of texts."""


async def archive(runtime: Runtime, scope: Scope) -> bool:
    """Archive a closed graph; ``False`` when it is archived, or cannot be compacted further."""
    done = runtime.lifecycle.done
    # What its last turns taught can still be stored now.
    await runtime.finish_learning(scope)
    for _ in range(PASSES_MAX):
        if await runtime.keeper.archive(scope, runtime.clock()):
            return True
        # One pass does so much and no more; where it did nothing, another one would not either.
        record = await runtime.graphs.graph(scope.tenant, scope.graph_id)
        before, done = done, runtime.lifecycle.done
        if record is None or record.state is GraphState.ARCHIVED or before == done:
            break
    return False
