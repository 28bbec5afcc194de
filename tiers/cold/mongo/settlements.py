"""Judging a fact: what gives way to what, decided at once and carried out as a whole.

In a transaction all of it is one step. A standalone server has none: there a judgement is
announced first, in the one document that ``settlements`` has for each graph, which only changes
while it is as it was seen. Who looked at facts before another judgement was announced comes too
late, and looks again: so two that are made at once never let two facts give way to each other.

What is announced is then carried out, fact by fact. Whoever finds an announcement that a crash has
left behind carries it out before anything else. Carried out late or twice it changes nothing: a
fact gives way once, and its audit event is known by the fact that was judged. What somebody forgot
or redacted in between stays as that left it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from pymongo import ASCENDING

from ...errors import NotFound, TierTimeout
from ...learning import Verdict
from ...moments import microseconds, moment
from ...records import Fact, Scope, WorkDraft
from ..learnt import VERDICT_EVENTS, given_way
from .database import Session
from .documents import Document, document_of, record_of
from .following import ATTEMPTS_MAX, LEFT_BEHIND_MAX, finish
from .log import append_event
from .outbox import UNDER_WAY
from .schema import Index, by, validator
from .scope import of_tenant, own
from .translation import DuplicateKey
from .work_items import queue_work

_LEFT_BEHIND_INDEX = Index(
    (("tenant", ASCENDING), ("announced.at", ASCENDING)), only_with=("announced.at",)
)

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "settlements": (
        [by(unique=True), _LEFT_BEHIND_INDEX],
        validator(("number",), number={"bsonType": ["int", "long"], "minimum": 1}),
    ),
}

IDENTITY = "active_identity"
"""The field by which a live fact is known: one that is over may be stated again."""

_ENDS = (
    *("superseded_by", "superseded_at", "superseded_as", "forgotten_at"),
    *("valid_to", "confidence", "core_spans"),
)


async def settle(
    session: Session,
    scope: Scope,
    fact_id: str,
    verdicts: Sequence[Verdict],
    now: datetime,
    work: Sequence[WorkDraft],
) -> bool:
    """Stamp a fact as judged and carry its verdicts out; ``False`` when the world has changed.

    Raises:
        NotFound: A fact is not in the scope's graph.
        TierTimeout: Others were first again and again.
    """
    settled: Document = {
        "fact_id": fact_id,
        "agent_id": scope.agent_id,
        "verdicts": [document_of(verdict) for verdict in verdicts],
        "work": [document_of(draft) for draft in work],
        "at": microseconds(now),
    }
    named = _named(fact_id, verdicts)
    if session.is_atomic:
        if not await _is_open(session, scope, fact_id, named):
            return False
        await _carry_out(session, scope, settled)
        return True
    for _ in range(ATTEMPTS_MAX):
        number = await _last_number(session, scope)
        await finish(session, scope, "facts", named)
        if not await _is_open(session, scope, fact_id, named):
            return False
        if await _announce(session, scope, number, settled):
            await _finished(session, scope, number + 1, settled)
            return True
    raise TierTimeout("cold", "settle", "others judged facts again and again")


async def finish_all_settlements(session: Session, tenant: str, now: datetime) -> int:
    """Carry out what crashes have left behind of a tenant's graphs; return how many there were."""
    where = of_tenant(tenant, **{"announced.at": {"$lte": microseconds(now - UNDER_WAY)}})
    left = await session.collection("settlements", whole_tenant=True).find(
        where, limit=LEFT_BEHIND_MAX
    )
    for head in left:
        scope = Scope(tenant=tenant, graph_id=head["graph_id"])
        await _finished(session, scope, head["number"], head["announced"])
    return len(left)


def end_of(after: Fact) -> Document:
    """Return the fields of a fact that change when it stops being live, as it is then."""
    stored = document_of(after)
    return {name: stored[name] for name in _ENDS} | {"live": False}


def _named(fact_id: str, verdicts: Sequence[Verdict]) -> list[str]:
    """Return the facts that a judgement is about, each once."""
    pairs = (name for verdict in verdicts for name in (verdict.fact_id, verdict.by))
    return list(dict.fromkeys((fact_id, *pairs)))


async def _is_open(session: Session, scope: Scope, fact_id: str, named: Sequence[str]) -> bool:
    """Whether the fact waits for its judgement, and all that it names are live.

    Raises:
        NotFound: One of them is not there.
    """
    found = await session.collection("facts").find(
        own(scope, id={"$in": list(named)}), fields=["id", "live", "judged_at"]
    )
    known = {one["id"]: one for one in found}
    for name in named:
        if name not in known:
            raise NotFound("fact", name)
    is_judged = known[fact_id].get("judged_at") is not None
    return not is_judged and all(one["live"] for one in found)


async def _carry_out(session: Session, scope: Scope, settled: Mapping[str, Any]) -> None:
    """Do all of a judgement; what is done already is passed over."""
    judge = scope.for_graph().model_copy(update={"agent_id": settled["agent_id"]})
    now = moment(settled["at"])
    for one in settled["verdicts"]:
        verdict = record_of(Verdict, one)
        if await _gives_way(session, judge, verdict, now):
            kind = VERDICT_EVENTS[verdict.how]
            cause = f"judged/{settled['fact_id']}/{verdict.fact_id}"
            pair = (verdict.fact_id, verdict.by)
            await append_event(session, judge, kind, pair, verdict.how, now, cause)
    waiting = own(scope, id=settled["fact_id"], judged_at=None)
    await session.collection("facts").update(waiting, {"$set": {"judged_at": settled["at"]}})
    await queue_work(session, judge, [record_of(WorkDraft, one) for one in settled["work"]], now)


async def _gives_way(session: Session, scope: Scope, verdict: Verdict, now: datetime) -> bool:
    """Let a fact give way; whether it has, now or when this verdict was carried out before."""
    facts = session.collection("facts")
    for _ in range(ATTEMPTS_MAX):
        known = await facts.first(own(scope, id=verdict.fact_id))
        if known is None:
            return False
        if not known["live"]:
            way = (known["superseded_by"], known["superseded_at"])
            return way == (verdict.by, microseconds(now))
        as_known = own(scope, id=verdict.fact_id, live=True, moves=known.get("moves"))
        after = given_way(record_of(Fact, known), verdict, now)
        change = {"$set": end_of(after), "$unset": {IDENTITY: ""}}
        if await facts.update(as_known, change):
            return True
    raise TierTimeout("cold", "settle", "others moved the fact again and again")


async def _last_number(session: Session, scope: Scope) -> int:
    """Return the number of the graph's last judgement, once nothing announced is left to be done.

    Raises:
        TierTimeout: Others judged again and again.
    """
    heads = session.collection("settlements")
    for _ in range(ATTEMPTS_MAX):
        head = await heads.first(own(scope))
        if head is None:
            return 0
        if "announced" not in head:
            return int(head["number"])
        await _finished(session, scope, head["number"], head["announced"])
    raise TierTimeout("cold", "settle", "others judged facts again and again")


async def _announce(session: Session, scope: Scope, after: int, settled: Document) -> bool:
    """Announce a judgement as the one after number ``after``; ``False`` when another one is."""
    heads = session.collection("settlements")
    if after == 0:
        try:
            await heads.insert([own(scope, number=1, announced=settled)])
        except DuplicateKey:
            return False
        return True
    change = {"$set": {"announced": settled}, "$inc": {"number": 1}}
    return bool(await heads.update(own(scope, number=after, announced=None), change))


async def _finished(
    session: Session, scope: Scope, number: int, settled: Mapping[str, Any]
) -> None:
    """Carry an announced judgement out and take the announcement away."""
    await _carry_out(session, scope, settled)
    done = own(scope, number=number)
    await session.collection("settlements").update(done, {"$unset": {"announced": ""}})
