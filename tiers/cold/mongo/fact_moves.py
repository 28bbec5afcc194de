"""Moving facts between the tiers, and out of the way of others, with all that must follow.

What follows is an audit event and work. In a transaction all of it is one step. Without one the
update of the fact decides, and carries what must follow in the fact's field ``moved``; that is
done next and the field removed. Whoever finds the field left behind by a crash does it. Doing it
twice is harmless: the event is known by the fact and the number of the move.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING

from ...errors import NotFound, TierTimeout
from ...moments import microseconds, moment
from ...records import Fact, FactTier, Scope, WorkDraft
from ..spans import begun
from ..spans import moved as spans_moved
from .database import Session
from .documents import Document, document_of, record_of
from .log import append_event
from .outbox import UNDER_WAY
from .schema import Index
from .scope import of_tenant, own, visible
from .work_items import queue_work

ATTEMPTS_MAX = 100
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
    """Move a visible, current fact that is still in ``fact.tier``; ``False`` when it is not.

    Raises:
        TierTimeout: Others moved it to and fro again and again.
    """
    facts = session.collection("facts")
    if not session.is_atomic:
        await finish_moves(session, scope, [fact.id])
    where = visible(scope, id=fact.id, tier=fact.tier, live=True, redacted_at=None)
    told = _told(scope, "promoted" if tier == "core" else "demoted", [fact.id], reason, now, work)
    for _ in range(ATTEMPTS_MAX):
        known = await facts.first(where)
        if known is None:
            return False
        # The spans are those of this move's predecessor, and of no other.
        as_known = where | {"moves": known.get("moves"), "moved": None}
        becomes = {"tier": tier, "core_spans": _spans(known, tier, now)}
        moved = await facts.find_and_update(as_known, _change(session, becomes, told))
        if moved is not None:
            await _follow(session, scope, moved, told)
            return True
        await finish_moves(session, scope, [fact.id])
    raise TierTimeout("cold", "set_tier", "others moved the fact again and again")


async def supersede(
    session: Session, scope: Scope, fact_id: str, by: str, now: datetime, work: Sequence[WorkDraft]
) -> bool:
    """Let ``by`` take the place of a fact; ``False`` when one has taken it already.

    Raises:
        NotFound: One of them is no visible fact of the scope's graph.
        TierTimeout: Others moved it again and again.
    """
    facts = session.collection("facts")
    if not session.is_atomic:
        await finish_moves(session, scope, [fact_id])
    both = visible(scope, id={"$in": [fact_id, by]}, redacted_at=None)
    where = visible(scope, id=fact_id, superseded_by=None, redacted_at=None, moved=None)
    told = _told(scope, "superseded", [fact_id, by], "", now, work)
    becomes = {"superseded_by": by, "superseded_at": microseconds(now), "live": False}
    change = _change(session, becomes, told) | {"$unset": {"active_identity": ""}}
    for _ in range(ATTEMPTS_MAX):
        found = await facts.find(both, fields=["id", "superseded_by"])
        known = {one["id"]: one["superseded_by"] for one in found}
        for name in (fact_id, by):
            if name not in known:
                raise NotFound("fact", name)
        if known[fact_id] is not None:
            return False
        moved = await facts.find_and_update(where, change)
        if moved is not None:
            await _follow(session, scope, moved, told)
            return True
        await finish_moves(session, scope, [fact_id])
    raise TierTimeout("cold", "supersede", "others moved the fact again and again")


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


def _spans(known: Document, tier: FactTier, now: datetime) -> list[Document]:
    """Return the stored spans of a fact after its move to ``tier``."""
    fact = record_of(Fact, known)
    # A core fact of an older ezra has none: it was core from the beginning.
    spans = fact.core_spans or begun(fact).core_spans
    after = fact.model_copy(update={"core_spans": spans_moved(spans, tier, now)})
    stored: list[Document] = document_of(after)["core_spans"]
    return stored


def _told(
    scope: Scope,
    kind: str,
    record_ids: Sequence[str],
    reason: str,
    now: datetime,
    work: Sequence[WorkDraft],
) -> Document:
    return {
        "kind": kind,
        "agent_id": scope.agent_id,
        "record_ids": list(record_ids),
        "reason": reason,
        "at": microseconds(now),
        "work": [document_of(draft) for draft in work],
    }


def _change(session: Session, becomes: Document, told: Document) -> Document:
    carried = {} if session.is_atomic else {"moved": told}
    return {"$set": becomes | carried, "$inc": {"moves": 1}}


async def _follow(session: Session, scope: Scope, fact: Document, told: Mapping[str, Any]) -> None:
    mover = scope.for_graph().model_copy(update={"agent_id": told["agent_id"]})
    now = moment(told["at"])
    cause = f"{fact['id']}/{fact['moves']}"
    about = told.get("record_ids") or [fact["id"]]  # a move of an older ezra names none
    await append_event(session, mover, told["kind"], about, told["reason"], now, cause)
    await queue_work(session, mover, [record_of(WorkDraft, one) for one in told["work"]], now)
    if "moved" in fact:
        where = own(scope, id=fact["id"], moves=fact["moves"])
        await session.collection("facts").update(where, {"$unset": {"moved": ""}})
