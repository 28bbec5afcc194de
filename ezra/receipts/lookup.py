"""Which receipt tells what a turn was given."""

from __future__ import annotations

from collections.abc import Sequence

from tiers.errors import UsageError
from tiers.records import Receipt, Scope

from ..runtime import Runtime

TURN_IDS_MAX = 100
RECEIPTS_PER_PAGE = 100
RECEIPT_PAGES_MAX = 20


async def receipts_of(
    runtime: Runtime, scope: Scope, turn_ids: Sequence[str]
) -> dict[str, Receipt]:
    """Return what turns saw, by turn; those without a receipt are left out.

    A receipt is looked for among those made soon after its turn was opened: it is not found
    behind 2,000 others.

    Args:
        runtime: The runtime.
        scope: Of the whole graph.
        turn_ids: At most 100; the nearer to each other in time the cheaper.

    Raises:
        UsageError: There are more.
    """
    if isinstance(turn_ids, str) or len(turn_ids) > TURN_IDS_MAX:
        raise UsageError("turn_ids", len(turn_ids), f"at most {TURN_IDS_MAX} ids")
    wanted, found = set(turn_ids), dict[str, Receipt]()
    after, newest = min(wanted, default=""), max(wanted, default="")
    for _ in range(RECEIPT_PAGES_MAX if wanted else 0):
        page = await runtime.log.receipts(scope, after, RECEIPTS_PER_PAGE)
        for one in page:
            turn_id = one.body.get("turn_id")
            if one.kind == "turn" and turn_id in wanted:
                found[str(turn_id)] = one
        is_past = bool(page) and after > newest  # a whole page behind the newest was read
        if len(found) == len(wanted) or len(page) < RECEIPTS_PER_PAGE or is_past:
            break
        after = page[-1].id
    return {one: found[one] for one in turn_ids if one in found}
