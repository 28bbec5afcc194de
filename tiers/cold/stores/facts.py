"""Facts: stored once, read through a family of graphs, counted, moved between the tiers."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import NamedTuple, TypeAlias

from ...drafts import index_work
from ...errors import Conflict, NotFound, UsageError
from ...fields import AuditKind
from ...learning import Verdict, check_as_visible, is_live
from ...liveness import widened
from ...ports import WarmStore
from ...records import Fact, FactTier, Hit, Scope, SearchQuery, Superseded, WorkDraft
from ...turn_io import FREE, Charge
from ...upkeep import FactUse
from ..conditions import Absent
from ..learned_state import VERDICT_EVENTS, begun, given_way, id_taken, is_said_again, moved
from ..ownership import check_limit, check_owned, in_order
from ..port import Collection, Index, Put, RecordStore, Replace, Steps, asked, every, one, write
from . import statements
from .graphs import check_writable
from .log import append_event
from .questions import among, own, whole
from .recall import LIMIT_MAX, Ranking, archival_query, narrowed, ranked_by_index, recalled
from .rows import joined_id, put, together
from .sources import has_lost
from .statements import FACTS, move_facts, nearest, of_family, readable
from .store_base import OverEngine, changing, reading
from .usage import charged
from .words import file_words
from .work import queue_indexing, queue_work


class CountedUse(FactUse):
    """One counted use of a fact, as it is kept."""

    tenant: str


LINE_MAX = 1_000
"""So many facts that had one place after each other are read at once."""

USES: Collection[CountedUse] = Collection(
    "fact_uses",
    CountedUse,
    fields={"fact_id": lambda use: use.fact_id},
    indexes={"fact": Index(("fact_id",))},
    key=lambda use: joined_id(use.fact_id, use.cause),
)


PlaceInCore: TypeAlias = Callable[[Fact, Fact], str | None]
"""Says why a fact that takes the place of another one becomes core with that; ``None``: not."""


def no_promotion(new: Fact, old: Fact) -> None:
    """Leave what takes a place in its tier."""
    del new, old


class TakenPlace(NamedTuple):
    """Whose place a fact takes with which it is stored.

    Attributes:
        fact_id: That one's; where it has given way, what has its place since gives way.
        sight: Who sees that.
        in_core: Whether the place is one in core.
        twins: What says the same, and gives way with it.
        corrects: Why that was wrong, for the audit feed: it gives way as by a ``denial``, and must
            not have ended.
    """

    fact_id: str
    sight: Scope
    in_core: PlaceInCore = no_promotion
    twins: tuple[str, ...] = ()
    corrects: str | None = None


class SemanticStore(OverEngine):
    """Facts: core ones are in every context, archival ones are recalled.

    Args:
        store: Where the facts are.
        archival_index: Finds archival facts by meaning; without it words alone decide.
    """

    def __init__(self, store: RecordStore, archival_index: WarmStore | None = None) -> None:
        super().__init__(store)
        self._index = archival_index

    @changing
    def put_fact(
        self,
        scope: Scope,
        fact: Fact,
        work: Sequence[WorkDraft] = (),
        charge: Charge = FREE,
        *,
        restates: bool = False,
        place: TakenPlace | None = None,
        heard_at: datetime | None = None,
        made_of: Sequence[str] = (),
    ) -> Steps[tuple[Fact, bool]]:
        """Store a fact and return it, and whether it is new; a new one is charged.

        A live fact of the same writer, user, text, topics and privacy is returned: only when it
        was said last is noted, if that is later, and its confidence, where this one ``restates``
        it. So is, as it is, one of the same id that says the
        same and is live no more: what was forgotten does not come back by repeating what stored
        it. A core fact begins its first core span.

        ``heard_at`` says when that was said of which the fact is made. Where the same words of the
        same user and privacy were forgotten since, the forgotten one is returned, as it is.

        What is returned takes a ``place`` in the same step, as ``supersede`` has it, unless it has
        ended itself.

        One that was ``made_of`` turns or facts of the graph of which one was redacted or rolled
        back since is returned as not new, and nothing is written.

        Raises:
            BudgetExceeded: It is new, and a count would come to lie above its limit.
            Conflict: The id is another fact's, the graph is archived, or what it corrects has
                ended.
            UsageError: It is private, and what it is to take the place of is not.
        """
        check_owned(scope, fact)
        if (yield from has_lost(scope, made_of)):
            return fact, False
        new = begun(fact)
        stored, is_new = yield from _stored(scope, new, work, charge, heard_at, restates=restates)
        if place is not None and is_live(stored):
            yield from _take_place(place, stored, fact.recorded_at)
        return stored, is_new

    async def core(self, scope: Scope, as_of: datetime | None = None) -> tuple[Fact, ...]:
        """Return visible active core facts of the own graph and the lineage, in one reading.

        Own graph first, then lineage order, then oldest first. Shadowing is the reader's job.
        Of an ancestor read ``as_of`` a moment: what was recorded, core and not yet superseded
        then, as it is stored now. Forgotten facts are gone from every moment. So with the own graph
        as of ``as_of``, where what was forgotten later stood.
        """
        return await self._all("core", *statements.core_of(scope, as_of))

    @reading
    def nearer(
        self, scope: Scope, core: Sequence[Fact], as_of: datetime | None = None
    ) -> Steps[tuple[Fact, ...]]:
        """Return live archival facts that may hide ancestors' core facts: see ``nearer_than``.

        Args:
            scope: Who asks.
            core: As ``core`` returns it.
            as_of: A moment at which the own graph is read; ``None``: now.
        """
        return tuple((yield from statements.nearer_than(scope, core, as_of)))

    async def facts(self, scope: Scope, ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the visible facts among ``ids``, in the order asked, superseded ones included.

        Of the own graph all, forgotten ones too; of the lineage core facts as ``core`` has them,
        and archival ones of ancestors that carry ``fact``, forgotten ones aside.
        """
        finds = of_family(among(FACTS, scope, ids), readable(scope))
        return in_order(nearest(await self._all("facts", *finds)), ids)

    @reading
    def line(self, scope: Scope, fact_id: str) -> Steps[tuple[Fact, ...]]:
        """Return a visible fact and what had its place after it, in order, in one reading.

        As far as the scope sees it, and ``LINE_MAX`` facts at most: the last one says what follows.
        """
        line: dict[str, Fact] = {}
        following: str | None = fact_id
        while following is not None and following not in line and len(line) < LINE_MAX:
            finds = of_family(among(FACTS, scope, (following,)), readable(scope))
            found = nearest((yield from every(*finds))).get(following)
            if found is None:
                break
            line[found.id], following = found, found.superseded_by
        return tuple(line.values())

    async def recall_archival(
        self,
        scope: Scope,
        query: SearchQuery,
        *,
        user_id: str | None = None,
        scope_topics: Sequence[str] | None = None,
        limit: int = 10,
    ) -> tuple[Hit, ...]:
        """Return active archival facts of the own graph, best first.

        ``user_id`` and ``scope_topics`` narrow the scope inside the query; they never widen it.
        The index has weighed meaning and words; facts that it does not hold yet come in at the
        rank that their words have among all, fused by reciprocal ranks. Where nothing has weighed
        the words, all facts come in by them; without an index, words alone decide.

        Raises:
            TierError: The engine or the index failed; no half answer passes for a whole one.
        """
        check_limit(limit, LIMIT_MAX)
        if query.inherited:
            return ()  # what ancestors carry is the index's to find
        if None not in (user_id, query.user_id) and user_id != query.user_id:
            return ()
        asker = narrowed(scope, scope_topics)
        question = archival_query(query, user_id or query.user_id, limit)
        wide = question
        while True:
            by_index = await self._ranked(asker, wide)
            steps = partial(recalled, asker, question, limit, by_index)
            found = await self._store.read("recall_archival", steps)
            if found is not None:
                return found
            wide = widened(wide)

    async def _ranked(self, asker: Scope, query: SearchQuery) -> Ranking:
        """Return what the index ranks for a question."""
        if self._index is None:
            return Ranking()
        return await ranked_by_index(self._index, asker, query)

    @changing
    def add_uses(
        self, used_by: Mapping[Scope, Mapping[str, Sequence[str]]], now: datetime
    ) -> Steps[dict[Scope, tuple[Fact, ...]]]:
        """Count one use of each fact for each cause; return each scope's facts as they now are.

        In every graph of its family that has a fact of such an id for it. The same cause never
        counts twice. Unknown or invisible facts are left out.

        Args:
            used_by: For each scope and cause, the ids of the facts that it used.
            now: When.
        """
        if not all(cause for used in used_by.values() for cause in used):
            raise UsageError("cause", "", "the id of what used the facts")
        named = {
            scope: list(dict.fromkeys(one for ids in used.values() for one in ids))
            for scope, used in used_by.items()
        }
        seen = yield from _facts_seen(named)
        new = yield from _not_counted(
            _use(fact, cause, now)
            for scope, facts in seen.items()
            for fact in facts
            for cause, ids in used_by[scope].items()
            if fact.id in ids
        )
        times = Counter((use.graph_id, use.fact_id) for use in new)
        counted = {
            (fact.graph_id, fact.id): _used(fact, times[fact.graph_id, fact.id], now)
            for facts in seen.values()
            for fact in facts
        }
        puts = (Put(USES, _graph_of(use), use) for use in new)
        changes = (Replace(FACTS, _graph_of(counted[name]), counted[name]) for name in times)
        yield from write(*puts, *changes)
        return {
            scope: in_order(nearest(counted[one.graph_id, one.id] for one in facts), named[scope])
            for scope, facts in seen.items()
        }

    @changing
    def set_tier(
        self,
        scope: Scope,
        fact: Fact,
        tier: FactTier,
        reason: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
    ) -> Steps[bool]:
        """Move a fact between archival and core, with an audit event that holds the reason.

        Compare-and-set on ``fact.tier``: returns ``False``, writing nothing, when it has moved,
        is not live, or is not visible in the scope's own graph. Moving to core begins a core span;
        moving away ends it and sets ``earned_from`` to the uses that the fact has.
        """
        if tier == fact.tier:
            raise UsageError("tier", tier, "the tier that the fact is not in")
        known = yield from one(among(FACTS, scope, [fact.id]))
        if known is None or not is_live(known) or known.tier != fact.tier:
            return False
        yield from move_facts(scope, _in_tier(known, tier, now))
        kind: AuditKind = "promoted" if tier == "core" else "demoted"
        yield from append_event(scope, kind, (fact.id,), reason, now)
        yield from queue_work(scope, work, now)
        return True

    @changing
    def supersede(
        self,
        scope: Scope,
        fact_id: str,
        by: str,
        now: datetime,
        work: Sequence[WorkDraft] = (),
        *,
        how: Superseded = "natural",
        in_core: PlaceInCore = no_promotion,
    ) -> Steps[bool]:
        """Let the fact ``by`` take the place of another, with an audit event ``superseded``.

        Or ``deduplicated`` for a duplicate. Sets ``superseded_by``, ``superseded_at`` and
        ``superseded_as``; the old fact
        stays, and no search and no context has it any more. ``by`` is promoted where ``in_core``
        says why. Both must be visible facts of the scope's own graph. ``False``, writing nothing,
        when the fact is superseded already, or nothing stands that it would give way to.

        Raises:
            NotFound: One of them is no visible fact of the scope's own graph.
            UsageError: They are the same fact, ``by`` has given way to the other one, or is private
                where that is not.
        """
        if by == fact_id:
            raise UsageError("by", by, "another fact")
        verdict = Verdict(fact_id=fact_id, by=by, how=how)
        pair = (verdict.fact_id, verdict.by)
        found = nearest((yield from every(among(FACTS, scope, pair, Absent("redacted_at")))))
        for name in pair:
            if name not in found:
                raise NotFound("fact", name)
        old, new = (found[name] for name in pair)
        check_as_visible(old, is_private=new.private, field="by", value=by)
        if not is_live(old):
            return False
        stands = yield from _stands_for(scope, new)
        if stands is None:
            return False
        if stands.id == fact_id:
            raise UsageError("by", by, "a fact that has not given way to the other one")
        yield from _give_way(scope, old, new, verdict, now, in_core)
        yield from queue_work(scope, work, now)
        return True


def _stored(
    scope: Scope,
    fact: Fact,
    work: Sequence[WorkDraft],
    charge: Charge,
    heard_at: datetime | None,
    *,
    restates: bool,
) -> Steps[tuple[Fact, bool]]:
    """Store a fact, or find the one that says the same; return it, and whether it is new."""
    alike = whole(FACTS, scope, "said", *statements.the_same(fact), limit=1)
    known, taken = yield alike, own(FACTS, scope, [fact.id])
    if known:
        return (yield from statements.say_again(scope, known[0], fact, restates=restates)), False
    if taken:
        if is_said_again(taken[0], fact):
            return taken[0], False
        raise id_taken("fact", taken[0], fact)
    if heard_at is not None:
        lost = yield from statements.forgotten_since(scope, fact, heard_at)
        if lost is not None:
            return lost, False
    yield from together(
        _admitted(scope, fact, charge),
        file_words(scope, fact),
        queue_work(scope, work, fact.recorded_at),
    )
    return fact, True


def _admitted(scope: Scope, fact: Fact, charge: Charge) -> Steps[None]:
    """Store a fact that its graph takes and its budget bears."""
    yield from check_writable(scope)
    yield from charged(scope, charge)
    yield from put(FACTS, scope, fact)


def _take_place(place: TakenPlace, new: Fact, now: datetime) -> Steps[None]:
    """Let what has a place give way to a fact, as far as that is seen; itself takes none."""
    if place.corrects is not None:
        yield from _correct(place, new, place.corrects, now)
        return
    passed = {new.id}
    following: str | None = place.fact_id
    while following is not None and following not in passed:
        passed.add(following)
        old = yield from one(among(FACTS, place.sight, [following], Absent("redacted_at")))
        if old is None:
            return
        if is_live(old):
            yield from _leave_place(place, old, new, "natural", now)
            return
        following = old.superseded_by


def _correct(place: TakenPlace, new: Fact, reason: str, now: datetime) -> Steps[None]:
    """Let a fact that was wrong, and what says the same, give way to what is right."""
    ids = (*place.twins, place.fact_id)
    found = nearest((yield from every(among(FACTS, place.sight, ids, Absent("redacted_at")))))
    live = {old.id: old for old in found.values() if is_live(old)}
    if place.fact_id not in live:
        raise Conflict(f"fact {place.fact_id}", "one that has not ended", "one that has")
    for old in live.values():
        if old.id != new.id:
            yield from _leave_place(place, old, new, "denial", now)
    yield from append_event(place.sight, "corrected", (place.fact_id, new.id), reason, now)


def _leave_place(
    place: TakenPlace, old: Fact, new: Fact, how: Superseded, now: datetime
) -> Steps[None]:
    verdict = Verdict(fact_id=old.id, by=new.id, how=how)
    check_as_visible(old, is_private=new.private, field="private", value=True)
    yield from _give_way(place.sight, old, new, verdict, now, place.in_core)
    yield from queue_work(place.sight, [index_work(old.id, place.sight.agent_id or "")], now)


def _give_way(
    scope: Scope, old: Fact, new: Fact, verdict: Verdict, now: datetime, in_core: PlaceInCore
) -> Steps[None]:
    """Let one live fact give way to another, which is promoted where the place is one in core."""
    why = in_core(new, old)
    if why is not None:
        yield from move_facts(scope, _in_tier(new, "core", now))
        yield from append_event(scope, "promoted", (new.id,), why, now)
        yield from queue_indexing(scope, [new], now)
    yield from move_facts(scope, given_way(old, verdict, now))
    yield from append_event(scope, VERDICT_EVENTS[verdict.how], (old.id, new.id), "", now)


def _stands_for(scope: Scope, fact: Fact) -> Steps[Fact | None]:
    """Return what stands at the end of what a fact gave way to: itself, if it has not."""
    passed = {fact.id}
    last = fact
    while last.superseded_by is not None:
        known = yield from one(own(FACTS, scope, [last.superseded_by]))
        if known is None or known.id in passed:
            return None
        passed.add(known.id)
        last = known
    return last if is_live(last) and last.redacted_at is None else None


def _use(fact: Fact, cause: str, now: datetime) -> CountedUse:
    return CountedUse(
        tenant=fact.tenant, graph_id=fact.graph_id, fact_id=fact.id, cause=cause, used_at=now
    )


def _graph_of(one: Fact | CountedUse) -> Scope:
    return Scope.of_graph(one.tenant, one.graph_id)


def _facts_seen(named: Mapping[Scope, Sequence[str]]) -> Steps[dict[Scope, list[Fact]]]:
    """Return named facts as each scope sees them, the nearest first; asked at one time."""
    asking = {
        scope: of_family(among(FACTS, scope, ids), readable(scope)) for scope, ids in named.items()
    }
    answers = iter((yield from asked(*(find for finds in asking.values() for find in finds))))
    return {
        scope: [fact for _ in finds for fact in next(answers)] for scope, finds in asking.items()
    }


def _not_counted(uses: Iterable[CountedUse]) -> Steps[list[CountedUse]]:
    """Return those uses that were not counted before."""
    by_graph: dict[Scope, dict[str, CountedUse]] = defaultdict(dict)
    for use in uses:
        by_graph[_graph_of(use)][joined_id(use.fact_id, use.cause)] = use
    kept = yield from every(*(among(USES, graph, theirs) for graph, theirs in by_graph.items()))
    counted = {(use.graph_id, use.fact_id, use.cause) for use in kept}
    return [
        use
        for theirs in by_graph.values()
        for use in theirs.values()
        if (use.graph_id, use.fact_id, use.cause) not in counted
    ]


def _used(fact: Fact, times: int, now: datetime) -> Fact:
    if not times:
        return fact
    last = now if fact.last_used_at is None else max(fact.last_used_at, now)
    return fact.model_copy(update={"uses": fact.uses + times, "last_used_at": last})


def _in_tier(fact: Fact, tier: FactTier, now: datetime) -> Fact:
    # One that came from elsewhere may be core without a span.
    spans = moved(fact.core_spans or begun(fact).core_spans, tier, now)
    earned_from = fact.uses if tier == "archival" else fact.earned_from
    changed = {"tier": tier, "core_spans": spans, "earned_from": earned_from}
    return fact.model_copy(update=changed)
