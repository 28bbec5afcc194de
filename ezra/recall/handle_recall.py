"""Recall for a handle: check who asks, search, keep a receipt where one is wanted."""

from __future__ import annotations

import secrets
from dataclasses import replace

from tiers.forms import as_answered
from tiers.records import Receipt, Scope

from ..recaller import RecallResult
from ..runtime import Runtime
from ..turn.receipts import SALT_BYTES, recall_receipt_body
from .request import RecallRequest, arguments_of, check_identity
from .search import recollect


async def ask(runtime: Runtime, scope: Scope, request: RecallRequest) -> RecallResult:
    """Return what the scope may see of a question.

    Searching is no use of what is found: a fact is used by the turns whose context it reaches.

    Raises:
        UsageError: A scope class needs somebody whom the handle does not name.
    """
    check_identity(request, scope)
    found = await recollect(runtime, scope, request)
    found = replace(found, items=tuple(map(as_answered, found.items)))
    if not request.receipt and not runtime.settings.recall_receipts:
        return found
    return await _with_receipt(runtime, scope, request, found)


async def _with_receipt(
    runtime: Runtime, scope: Scope, request: RecallRequest, found: RecallResult
) -> RecallResult:
    """Keep what was seen. While the cold tier is away the answer goes without a receipt."""
    answered = {hit.id for hit in found.items}
    receipt = Receipt(
        id=runtime.ids.new(),
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        agent_id=scope.agent_id or "",
        kind="recall",
        query=request.text,
        body=recall_receipt_body(
            arguments=arguments_of(request),
            items=found.items,
            considered=[one for one in found.considered if one[0] not in answered],
            models={
                "dense": found.model_id,
                "rerank": runtime.reranker.name if runtime.reranker and found.rerank_used else None,
            },
            degraded=found.degraded,
            skipped=found.skipped,
            rerank_used=found.rerank_used,
            salt=secrets.token_hex(SALT_BYTES),
        ),
        recorded_at=runtime.clock(),
    )
    state = runtime.degradation()

    async def keep() -> str:
        await runtime.log.put_receipt(scope, receipt)
        return receipt.id

    kept = await state.answer("cold", "receipt", keep(), None)
    return replace(
        found,
        receipt_id=kept,
        degraded=tuple(dict.fromkeys((*found.degraded, *state.lost))),
        skipped=(*found.skipped, *state.skipped),
    )
