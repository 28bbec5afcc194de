"""Moving facts between the tiers, out of the way of others, and out of mind.

Each is the change of one document with what must follow from it: see ``following``.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ...errors import NotFound, TierTimeout
from ...learning import Verdict
from ...records import Fact, FactTier, Scope, WorkDraft
from ..learnt import VERDICT_EVENTS, forgotten, given_way
from ..spans import begun
from ..spans import moved as spans_moved
from .conditions import shown_fields
from .database import Session
from .documents import Document, document_of, record_of
from .following import ATTEMPTS_MAX, changed, finish, finish_all, follow, told
from .scope import visible
from .settlements import IDENTITY, end_of, finish_all_settlements

_FACTS = "facts"
_READ = (*shown_fields(Fact), "live", "moves")


async def move(
    session: Session,
    scope: Scope,
    fact: Fact,
    tier: FactTier,
    reason: str,
    now: datetime,
    work: Sequence[WorkDraft],
) -> bool:
    """Move a visible, live fact that is still in ``fact.tier``; ``False`` when it is not.

    Raises:
        TierTimeout: Others moved it to and fro again and again.
    """
    facts = session.collection(_FACTS)
    if not session.is_atomic:
        await finish(session, scope, _FACTS, [fact.id])
    where = visible(scope, id=fact.id, tier=fact.tier, live=True, redacted_at=None)
    kind = "promoted" if tier == "core" else "demoted"
    follows = told(scope, kind, [fact.id], reason, now, work)
    for _ in range(ATTEMPTS_MAX):
        known = await facts.first(where)
        if known is None:
            return False
        becomes: Document = {"tier": tier, "core_spans": _spans(known, tier, now)}
        as_known = where | _unmoved(known)
        if tier == "archival":
            becomes["earned_from"] = as_known["uses"] = known["uses"]
        moved = await facts.find_and_update(as_known, changed(session, follows, becomes))
        if moved is not None:
            await follow(session, scope, _FACTS, moved, follows)
            return True
        await finish(session, scope, _FACTS, [fact.id])
    raise TierTimeout("cold", "set_tier", "others moved the fact again and again")


async def supersede(
    session: Session, scope: Scope, verdict: Verdict, now: datetime, work: Sequence[WorkDraft]
) -> bool:
    """Let a live fact give way; ``False`` when it is not live, or the other one is forgotten.

    Raises:
        NotFound: One of them is no visible fact of the scope's graph.
        TierTimeout: Others moved it again and again.
    """
    facts = session.collection(_FACTS)
    fact_id, by = verdict.fact_id, verdict.by
    if not session.is_atomic:
        await finish(session, scope, _FACTS, [fact_id])
    both = visible(scope, id={"$in": [fact_id, by]}, redacted_at=None)
    follows = told(scope, VERDICT_EVENTS[verdict.how], [fact_id, by], "", now, work)
    for _ in range(ATTEMPTS_MAX):
        known = {one["id"]: one for one in await facts.find(both, fields=_READ)}
        for name in (fact_id, by):
            if name not in known:
                raise NotFound("fact", name)
        if not known[fact_id]["live"] or known[by].get("forgotten_at") is not None:
            return False
        after = given_way(record_of(Fact, known[fact_id]), verdict, now)
        if await _ended(session, scope, known[fact_id], after, follows):
            return True
    raise TierTimeout("cold", "supersede", "others moved the fact again and again")


async def forget(
    session: Session,
    scope: Scope,
    fact_id: str,
    reason: str,
    now: datetime,
    work: Sequence[WorkDraft],
) -> bool:
    """Mark a visible fact as forgotten; ``False`` when it is no live fact of the scope's graph.

    Raises:
        TierTimeout: Others moved it again and again.
    """
    if not session.is_atomic:
        await finish(session, scope, _FACTS, [fact_id])
    where = visible(scope, id=fact_id, live=True, redacted_at=None)
    follows = told(scope, "forgotten", [fact_id], reason, now, work)
    for _ in range(ATTEMPTS_MAX):
        known = await session.collection(_FACTS).first(where)
        if known is None:
            return False
        if await _ended(session, scope, known, forgotten(record_of(Fact, known), now), follows):
            return True
    raise TierTimeout("cold", "forget", "others moved the fact again and again")


async def finish_all_moves(session: Session, tenant: str, now: datetime) -> int:
    """Do what crashes have left undone of changes of facts and rules; return how many there were.

    Of changes that each were decided by then, and are not as young as to be under way.
    """
    done = await finish_all(session, tenant, now)
    return done + await finish_all_settlements(session, tenant, now)


async def _ended(
    session: Session, scope: Scope, known: Document, after: Fact, follows: Document
) -> bool:
    """Let a live fact be over as it is after that; ``False`` when it is not as it was read."""
    where = visible(scope, id=after.id, live=True, redacted_at=None) | _unmoved(known)
    change = changed(session, follows, end_of(after), without=(IDENTITY,))
    moved = await session.collection(_FACTS).find_and_update(where, change)
    if moved is None:
        await finish(session, scope, _FACTS, [after.id])
        return False
    await follow(session, scope, _FACTS, moved, follows)
    return True


def _unmoved(known: Document) -> Document:
    """Return the condition that a fact was moved by nobody since: its spans are as they were."""
    return {"moves": known.get("moves"), "moved": None}


def _spans(known: Document, tier: FactTier, now: datetime) -> list[Document]:
    """Return the stored spans of a fact after its move to ``tier``."""
    fact = record_of(Fact, known)
    # A core fact of an older ezra has none: it was core from the beginning.
    spans = fact.core_spans or begun(fact).core_spans
    after = fact.model_copy(update={"core_spans": spans_moved(spans, tier, now)})
    stored: list[Document] = document_of(after)["core_spans"]
    return stored
