"""Moving a fact between archival and core, with what must follow: its audit event and its work.

In a transaction all of it is one step. Without one the update that moves the fact decides, and
carries what must follow in the fact's field ``moved``; that is done next and the field removed.
Whoever finds the field left behind by a crash does it. Doing it twice is harmless: the event is
known by the fact and the number of the move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING

from ...moments import microseconds, moment
from ...records import Fact, FactTier, Scope, WorkDraft
from .database import Session
from .documents import Document, document_of, record_of
from .log import append_event
from .outbox import UNDER_WAY
from .schema import Index
from .scope import of_tenant, own, visible
from .work_items import queue_work

LEFT_BEHIND_MAX = 1_000
LEFT_BEHIND_INDEX = Index((("tenant", ASCENDING), ("moved.at", ASCENDING)), only_with=("moved.at",))


async def move(
    session: Session,
    scope: Scope,
    fact: Fact,
    tier: FactTier,
    reason: str,
    now: datetime,
    work: Sequence[WorkDraft],
) -> bool:
    """Move a visible, current fact that is still in ``fact.tier``; ``False`` when it is not."""
    facts = session.collection("facts")
    if not session.is_atomic:
        await finish_moves(session, scope, [fact.id])
    where = visible(scope, id=fact.id, tier=fact.tier, live=True, moved=None)
    told = {
        "kind": "promoted" if tier == "core" else "demoted",
        "agent_id": scope.agent_id,
        "reason": reason,
        "at": microseconds(now),
        "work": [document_of(draft) for draft in work],
    }
    carried = {} if session.is_atomic else {"moved": told}
    moved = await facts.find_and_update(
        where, {"$set": {"tier": tier} | carried, "$inc": {"moves": 1}}
    )
    if moved is None:
        return False
    await _follow(session, scope, moved, told)
    return True


async def finish_moves(session: Session, scope: Scope, fact_ids: Sequence[str]) -> None:
    """Do what must still follow from moves of these facts of the scope's graph."""
    left = await session.collection("facts").find(
        own(scope, id={"$in": list(fact_ids)}, moved={"$exists": True}), limit=LEFT_BEHIND_MAX
    )
    for fact in left:
        await _follow(session, scope, fact, fact["moved"])


async def finish_all_moves(session: Session, tenant: str, now: datetime) -> int:
    """Do what must still follow from moves that a crash has cut off; return how many there were."""
    where = of_tenant(tenant, **{"moved.at": {"$lte": microseconds(now - UNDER_WAY)}})
    left = await session.collection("facts", whole_tenant=True).find(
        where, limit=LEFT_BEHIND_MAX, fields=["graph_id", "id", "moved", "moves"]
    )
    for fact in left:
        scope = Scope(tenant=tenant, graph_id=fact["graph_id"])
        await _follow(session, scope, fact, fact["moved"])
    return len(left)


async def _follow(session: Session, scope: Scope, fact: Document, told: Mapping[str, Any]) -> None:
    mover = scope.for_graph().model_copy(update={"agent_id": told["agent_id"]})
    now = moment(told["at"])
    cause = f"{fact['id']}/{fact['moves']}"
    await append_event(session, mover, told["kind"], (fact["id"],), told["reason"], now, cause)
    await queue_work(session, mover, [record_of(WorkDraft, one) for one in told["work"]], now)
    if not session.is_atomic:
        where = own(scope, id=fact["id"], moves=fact["moves"])
        await session.collection("facts").update(where, {"$unset": {"moved": ""}})
