"""Facts as the learning agent compares them, and how they stop being live."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from itertools import filterfalse

from ...errors import NotFound
from ...learning import (
    TWINS_MAX,
    Verdict,
    is_live,
    may_be_found,
    may_stand_again,
    said_again,
    vouched,
)
from ...moments import microseconds
from ...paging import parts
from ...records import Fact, Scope, WorkDraft
from ...upkeep import PAGE_ROWS_MAX, Page
from ..conditions import Absent, Beyond, Is, Other, Present, Within
from ..cursors import cut
from ..digests import address_of, said_by
from ..learned_state import VERDICT_EVENTS, check_verdicts, forgotten, given_way
from ..ownership import check_whole_graph, in_order, private_to
from ..port import Find, Steps, asked, every, one
from .log import append_event
from .questions import among, own, whole
from .redactable_records import ASIDES, as_it_was, kept_of
from .roll_back_steps import restored_form
from .rows import replace, together
from .statements import FACTS, SPOKEN, move_facts, nearest
from .store_base import OverEngine, changing, reading
from .work import queue_work

FORGOTTEN_AT_ONCE = 20


class FactReview(OverEngine):
    """Facts as the learning agent compares them; asked by the runtime, for a whole graph."""

    async def live_facts(self, scope: Scope, cursor: str, limit: int) -> Page[Fact]:
        """Return every live fact of the graph, of any agent, user and topic, by id.

        ``limit`` is 1 to ``PAGE_ROWS_MAX``.
        """
        check_whole_graph(scope, limit, PAGE_ROWS_MAX)
        where = (Is("live", 1), Beyond(("id",), (cursor,)))
        find = Find(FACTS, scope, "id", where, ("id",), limit + 1, reach="own")
        found = await self._all("live_facts", find)
        rows, cursor_after = cut(found, limit, lambda fact: fact.id)
        return Page(rows=tuple(rows), cursor=cursor_after)

    async def keyed(self, scope: Scope, fact: Fact, limit: int) -> tuple[Fact, ...]:
        """Return the other live facts at the same ``fact_key`` that are of the fact's user.

        And of its privacy; whether one may give way is the reader's to ask. Oldest first; none
        for a fact without a key.
        """
        check_whole_graph(scope, limit)
        address = address_of(fact)
        if address is None:
            return ()
        where = (
            Is("address", address),
            Is("private_to", private_to(fact)),
            Absent("user_id") if fact.user_id is None else Is("user_id", fact.user_id),
            Other("id", fact.id),
        )
        order = ("recorded_at", "id")
        find = Find(FACTS, scope, "address", where, order, limit, reach="own")
        return await self._all("keyed", find)

    async def unjudged(self, scope: Scope, limit: int) -> tuple[Fact, ...]:
        """Return live facts without ``judged_at``, what was said first (``said_order``) first."""
        check_whole_graph(scope, limit)
        find = whole(FACTS, scope, "unjudged", order=SPOKEN, limit=limit)
        return await self._all("unjudged", find)

    @changing
    def settle(
        self,
        scope: Scope,
        fact_id: str,
        verdicts: Sequence[Verdict],
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> Steps[bool]:
        """Stamp a fact as judged, and let facts give way to others, in one step.

        Each verdict sets ``superseded_by``, ``superseded_at``, ``superseded_as`` and, where it is
        given and none is there, ``valid_to``; a denial also takes ``DENIAL_COSTS`` of the
        confidence, down to 0, and what stands for a duplicate was ``said_again``. One audit event
        ``superseded`` (``deduplicated`` for a duplicate) per verdict, with both ids and no
        content. A core fact that gives way ends its core span. ``False``, writing nothing, when
        the fact is not live or was judged before, or one that a verdict names is not live any
        more: the world has changed, look again.

        Raises:
            NotFound: A fact is not in the scope's own graph.
            UsageError: A verdict lets a fact give way to itself, be it by way of others, or two
                are about one fact.
        """
        check_whole_graph(scope)
        check_verdicts(verdicts)
        named = [fact_id, *(name for verdict in verdicts for name in (verdict.fact_id, verdict.by))]
        facts = nearest((yield from every(own(FACTS, scope, named))))
        for name in named:
            if name not in facts:
                raise NotFound("fact", name)
        if facts[fact_id].judged_at is not None or not all(map(is_live, facts.values())):
            return False
        before = dict(facts)
        facts[fact_id] = facts[fact_id].model_copy(update={"judged_at": now})
        for verdict in verdicts:
            stands, old = facts[verdict.by], facts[verdict.fact_id]
            if verdict.how == "duplicate":
                facts[verdict.by] = vouched(said_again(stands, old) or stands, old)
            facts[verdict.fact_id] = given_way(old, verdict, now)
        yield from together(
            _store(scope, [fact for name, fact in facts.items() if fact != before[name]]),
            _tell(scope, verdicts, now),
            queue_work(scope, work, now),
        )
        return True

    async def forget(
        self,
        scope: Scope,
        fact_id: str,
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> bool:
        """Mark a visible fact of the own graph as forgotten, with an audit event ``forgotten``.

        It is in no search and no context any more, and the same statement may be stored again;
        retention destroys its content later. One that a roll-back has set aside stays forgotten
        when that is undone, and one that was denied when what it gave way to is rolled back.
        ``False`` when no search finds it any more, nor would if a roll-back were undone: it is
        neither live nor was true until another took its place.
        """
        return bool(await self.forget_all(scope, (fact_id,), reason, now, work))

    async def forget_all(
        self,
        scope: Scope,
        fact_ids: Sequence[str],
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> tuple[str, ...]:
        """Mark facts as forgotten as ``forget`` does, in few steps; return which could be found.

        Each has an audit event of its own. ``work`` is queued once, if there was any. Where it
        fails some may be forgotten; repeating it does the rest.
        """
        ids = tuple(dict.fromkeys(fact_ids))
        done: list[str] = []
        for page in parts(ids, FORGOTTEN_AT_ONCE):
            drafts = () if done else work
            forgetting = partial(_forget, scope, page, reason, now, drafts)
            done += await self._store.change("forget_all", forgetting)
        return tuple(done)

    @reading
    def twins(self, scope: Scope, fact_id: str) -> Steps[tuple[str, ...]]:
        """Return the other visible facts of the own graph that say the same, by id.

        The same words, of the same user and privacy, whoever wrote them and under whatever
        topics, as what holds and as what once did: an answer about the past tells that too. Also
        what would say so again: what was denied, and what a roll-back has set aside. To a
        fact that has given way only others that have: what is said again since stands. At most
        ``TWINS_MAX`` of each sort, and none of what no question finds or could find.
        """
        aside = yield from _set_aside(scope)
        known = yield from one(among(FACTS, scope, [fact_id], Absent("redacted_at")))
        fact = known or aside.get(fact_id)
        said = None if fact is None else said_by(fact)
        if fact is None or said is None or not may_be_found(fact):
            return ()
        where = (Is("said", said), Is("private_to", private_to(fact)), Other("id", fact_id))
        found = [
            each
            for name, each in aside.items()
            if (said_by(each), private_to(each)) == (said, private_to(fact))
            and name != fact_id
            and (is_live(fact) or not is_live(each))
        ]
        for by in ("said", "superseded") if is_live(fact) else ("superseded",):
            find = Find(FACTS, scope, by, where, ("id",), TWINS_MAX, sorts=True)
            found += yield from every(find)
        return tuple(twin.id for twin in found if may_stand_again(twin))

    @reading
    def rolled_back(self, scope: Scope, ids: Sequence[str]) -> Steps[tuple[Fact, ...]]:
        """Return the visible facts of the own graph among ids that open roll-backs have set aside.

        As they would be if these were undone, in the order asked.
        """
        return in_order((yield from _set_aside(scope, ids)), ids)

    async def ended(
        self, scope: Scope, superseded_before: datetime, forgotten_before: datetime, limit: int
    ) -> tuple[str, ...]:
        """Return ids of facts that gave way, or were forgotten, before a moment; oldest first.

        Redacted and retired ones are left out, and those of which it is not known when.
        """
        check_whole_graph(scope, limit)
        before = (("superseded", superseded_before), ("forgotten", forgotten_before))
        finds = [_ended(scope, by, moment, limit) for by, moment in before]
        given_way_, lost = await self._store.read("ended", lambda: asked(*finds))
        ends = [(fact.superseded_at, fact.id) for fact in given_way_]
        ends += [(fact.forgotten_at, fact.id) for fact in lost]
        return tuple(dict.fromkeys(fact_id for _, fact_id in sorted(ends)))[:limit]


def _ended(scope: Scope, by: str, before: datetime, limit: int) -> Find[Fact]:
    """Ask for what has ended in one way before a moment, oldest first."""
    at = f"{by}_at"
    over = Within(at, until=microseconds(before))
    return whole(FACTS, scope, by, over, order=(at, "id"), limit=limit)


def _forget(
    scope: Scope, fact_ids: Sequence[str], reason: str, now: datetime, work: Sequence[WorkDraft]
) -> Steps[list[str]]:
    """Forget facts inside a transaction; return which could be found, or could be again."""
    found = nearest((yield from every(among(FACTS, scope, fact_ids))))
    over = [name for name, fact in found.items() if fact.redacted_at is not None]
    as_undone = {**found, **((yield from _set_aside(scope, over)) if over else {})}
    gone = [name for name in fact_ids if name in found and may_stand_again(as_undone[name])]
    yield from move_facts(scope, *(forgotten(found[fact_id], now) for fact_id in gone))
    for fact_id in gone:
        yield from append_event(scope, "forgotten", (fact_id,), reason, now)
    if gone:
        yield from queue_work(scope, work, now)
    return [name for name in gone if may_be_found(as_undone[name])]


def _set_aside(scope: Scope, ids: Sequence[str] | None = None) -> Steps[dict[str, Fact]]:
    """Return visible facts that open roll-backs have set aside, as undoing them would leave them.

    All of the scope's graph, or those among some ids.
    """
    kept = whole(ASIDES, scope, "roll_back") if ids is None else kept_of(scope, ids)
    rows = yield from every(kept._replace(where=(*kept.where, Is("kind", "fact"))))
    former = {row.record_id: row for row in rows}
    there = yield from every(among(FACTS, scope, former, Present("redacted_at")))
    undone = {
        fact.id: restored_form(as_it_was(former[fact.id]), fact, former[fact.id].at)
        for fact in there
    }
    return {name: fact for name, fact in undone.items() if isinstance(fact, Fact)}


def _store(scope: Scope, facts: Sequence[Fact]) -> Steps[None]:
    """Store facts as they now are; those that have ended leave every answer."""
    yield from together(
        replace(FACTS, scope, *filter(is_live, facts)),
        move_facts(scope, *filterfalse(is_live, facts)),
    )


def _tell(scope: Scope, verdicts: Sequence[Verdict], now: datetime) -> Steps[None]:
    """Let the audit feed say which facts gave way to which."""
    for verdict in verdicts:
        pair = (verdict.fact_id, verdict.by)
        yield from append_event(scope, VERDICT_EVENTS[verdict.how], pair, "", now)
