"""The legs of a search: who is asked, and what is read around the answers.

Each call to an engine has a deadline, and one that fails or is late is left out and named.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from datetime import timedelta
from time import monotonic

from tiers.concurrency import together
from tiers.forms import hit_of
from tiers.knowledge import NEIGHBOURS_MAX, is_apart
from tiers.known_records import Seen, Sighted, SightedWords
from tiers.previews import has_preview
from tiers.recollection import Said
from tiers.records import Fact, Hit, Rule, SearchQuery, Turn

from ..ranking.cues import shared_words, stems_in
from ..ranking.pool import FORMER
from ..ranking.priors import classes_of_statement
from ..ranking.times import EVER
from ..recaller import with_vector
from ..turn.rings import Rings
from ..turn.shadowing import CoreFacts, core_seen, hidden_among
from .past import find_former
from .request import Search, everything, queries

DENSE_CANDIDATES = 160
"""How many the leg of meaning brings. Measured: with 120 a quarter of a point of recall is lost."""

LEG_CANDIDATES = 40
"""How many a leg brings that adds to those two: inherited, of the time asked for, ended since."""

LOOKED_AROUND_WORDS = 60
LOOKED_AROUND_MEANING = 30
BEFORE, AFTER = 4, 2
"""Around so many of the best turns of each leg, so many turns before and behind are looked at.

Measured: with more, nothing more is found; without the second turn behind, two points are lost
where people answer each other.
"""

LEADING_MAX = 10
COVERED_MAX = 32
"""Summaries among the first ten of a leg bring the turns that they cover, so many in all."""

AWAITED_MAX = 16
AWAITED_SECONDS = 0.2
LOOKED_AGAIN_SECONDS = 0.02
"""A search by meaning alone awaits so many records that are being indexed, so long at most."""

ENDED_MAX = 120
MEASURED_MAX = 64
"""The most texts whose meaning is compared here because no index holds them."""

MEANT_HERE = frozenset({"ended", FORMER, "core of ancestors", "rules of ancestors", "knowledge"})
"""Legs whose records no dense leg may have seen: their meaning is compared here."""

INDEXED_WITHIN = timedelta(minutes=10)
"""A turn of the ring that is younger may wait to be indexed, and is compared here as well."""


async def ask_engines(
    search: Search, also: Callable[[Search], Coroutine[None, None, None]]
) -> None:
    """Ask every leg; those that need the question's vector while the others are under way.

    Args:
        search: What it adds to.
        also: A further leg.
    """
    own = queries(search)
    await together(
        [
            _ask_by_meaning(search, own),
            also(search),
            _count_words(search, own),
            _find_hot(search),
            _find_words(search, own),
            _find_ended(search, own),
            find_former(search, own),
            _find_known(search, own),
            _find_core_of_ancestors(search),
            _find_rules_of_ancestors(search),
        ]
    )


async def _ask_by_meaning(search: Search, own: Sequence[SearchQuery]) -> None:
    """Ask the legs that need the question's vector, once it is there."""
    if search.vector is None and search.request.mode != "keyword":
        recaller, text = search.runtime.recaller, search.request.text
        search.vector = await recaller.vector(search.scope, text, search.names, search.state)
    await together(
        [
            _find_dense(search, own),
            _find_dense_of_that_time(search, own),
            _find_inherited(search),
        ]
    )


async def _count_words(search: Search, own: Sequence[SearchQuery]) -> None:
    """Count how rare the words are, or were at the moment that is asked about."""
    if search.request.mode == "semantic":
        return
    as_of = search.request.as_of
    if len(own) == 1 and as_of is None:
        return  # comes with what is found by them
    kinds = tuple(dict.fromkeys(kind for query in own for kind in query.kinds))
    call = search.runtime.recollection.word_statistics(
        search.scope, search.request.text, kinds, as_of=as_of
    )
    search.statistics = await search.state.answer("cold", "word statistics", call, None)


async def _find_hot(search: Search) -> None:
    """Read the ring: what was just said is found even when nothing else answers."""
    request, scope = search.request, search.scope
    if scope.agent_id is None or "session" not in search.classes:
        return
    runtime = search.runtime
    rings = Rings(runtime.hot, runtime.turns, runtime.settings.ring_capacity)
    held = await rings.read(scope, search.state, keeps=False)
    # What had been said by a moment and is in the ring was in it then: the oldest leave first.
    ring = [
        turn
        for turn in held.turns
        if turn.redacted_at is None and (request.as_of is None or turn.recorded_at <= request.as_of)
    ]
    standing = await runtime.recaller.standing_turns(scope, ring, search.now, search.state)
    search.hot = {turn.id: turn for turn in standing}
    if not request.is_narrowed:
        turns = await _whole(search, tuple(reversed(search.hot.values())))
        found = (hit_of(turn, 0.0, scope.graph_id) for turn in turns)
        search.pool.add_leg("hot", found, is_stored=False)  # while cold is away, as previews


async def _whole(search: Search, ring: Sequence[Turn]) -> tuple[Turn, ...]:
    """Return the turns of a ring with what tools returned as it is found.

    The ring has previews of long outputs. Every leg must bring a turn by the same words, else it
    would depend on which comes first how it ranks.
    """
    previews = [turn.id for turn in ring if has_preview(turn)]
    if not previews:
        return tuple(ring)
    call = search.runtime.turns.turns(search.scope, previews)
    found = {one.id: one for one in await search.state.answer("cold", "previews", call, ())}
    return tuple(found.get(turn.id, turn) for turn in ring)


async def _find_words(search: Search, own: Sequence[SearchQuery]) -> None:
    """Ask the cold tier by words, also inside the time that the question speaks of.

    While it is away, the warm index is asked.
    """
    if search.request.mode == "semantic":
        return
    call = _words(search, [*own, *_of_that_time(search, own)])
    answers = await search.state.answer("cold", "words", call, None)
    if answers is None:
        for query in own:
            asked = _then(query.model_copy(update={"mode": "words"}))
            _add_words(search, await _warm(search, "words", asked))
        return
    for answer in answers[: len(own)]:
        _add_words(search, answer.found)
    of_that_time = answers[len(own) :]
    for answer in of_that_time:
        search.pool.add_leg("words of that time", answer.found)
    if of_that_time and not any(answer.found for answer in of_that_time):
        await _find_latest_of_that_time(search, own)
    if len(own) == 1 and search.request.as_of is None:
        search.statistics = answers[0].statistics or search.statistics


def _add_words(search: Search, found: Sequence[Seen]) -> None:
    search.pool.add_leg("words", found)
    _lead(search, found, LOOKED_AROUND_WORDS)


async def _find_dense(search: Search, own: Sequence[SearchQuery]) -> None:
    """Ask the warm index by meaning; what was active then and is not now is ``ended``."""
    if search.vector is None:
        return
    if search.request.mode == "semantic":
        await _await_index(search)
    for query in own:
        asked = query.model_copy(update={"mode": "dense", "limit": DENSE_CANDIDATES})
        found = await _sight(search, "meaning", with_vector(_then(asked), search.vector))
        search.pool.add_leg("meaning", found, are_cosines=True)
        _lead(search, found, LOOKED_AROUND_MEANING)


async def _await_index(search: Search) -> None:
    """Wait a moment for a few records that are being indexed, and say what waits after that.

    Meaning alone finds nothing of what is not indexed yet; words would find it. What was said just
    now is indexed within a tenth of a second.
    """
    until = monotonic() + AWAITED_SECONDS
    while waiting := await _waiting(search):
        if waiting > AWAITED_MAX or monotonic() >= until:
            reason = f"{waiting:,} records of the graph wait to be put into the index"
            search.state.lose("dense", "meaning", reason)
            return
        await asyncio.sleep(LOOKED_AGAIN_SECONDS)


async def _waiting(search: Search) -> int:
    call = search.runtime.queue.waiting(search.scope.for_graph())
    return (await search.state.answer("cold", "waiting", call, {})).get("index", 0)


async def _find_dense_of_that_time(search: Search, own: Sequence[SearchQuery]) -> None:
    """Ask by meaning once more inside the time that the question speaks of."""
    if search.vector is None:
        return
    for asked in _of_that_time(search, own):
        dense = with_vector(asked.model_copy(update={"mode": "dense"}), search.vector)
        found = await _sight(search, "meaning of that time", _then(dense))
        search.pool.add_leg("meaning of that time", found, are_cosines=True)


def _of_that_time(search: Search, own: Sequence[SearchQuery]) -> list[SearchQuery]:
    """Return the queries kept to the first time that the question speaks of; none without one.

    A day without a year is the last such day.
    """
    cues = search.cues
    spans = cues.spans or (cues.past if cues.days and cues.names_past else ())
    if not spans or search.request.has_conditions:
        return []
    span = spans[0]
    since = None if span.since == EVER.since else span.since
    until = None if span.until == EVER.until else span.until
    time = {"since": since, "until": until, "limit": LEG_CANDIDATES}
    return [query.model_copy(update=time) for query in own]


async def _find_latest_of_that_time(search: Search, own: Sequence[SearchQuery]) -> None:
    """Bring what was last then, where no meaning is compared and no word was said then.

    "What happened two weeks ago?" has nothing but the time to go by.
    """
    if not search.goes_by_words:
        return
    for asked in _of_that_time(search, own):
        call = search.runtime.timeline.latest(search.scope, asked)
        found = await search.state.answer("cold", "timeline", call, ())
        search.pool.add_leg("latest of that time", found)


async def _find_ended(search: Search, own: Sequence[SearchQuery]) -> None:
    """For a question to the past: what was there then and has ended since."""
    if search.request.as_of is None:
        return
    for query in own:
        asked = query.model_copy(update={"limit": ENDED_MAX})
        call = search.runtime.recollection.ended(search.scope, asked)
        found = await search.state.answer("cold", "what ended since", call, ())
        if search.goes_by_words:
            # As the word index would have: the rest would change how rare words are.
            words = stems_in(query.text)
            found = tuple(hit for hit in found if shared_words(words, hit.text) > 0)
        search.pool.add_leg("ended", found)


async def _find_known(search: Search, own: Sequence[SearchQuery]) -> None:
    """Follow the knowledge graph from what the question names."""
    request, knowledge = search.request, search.runtime.knowledge
    wanted = any("fact" in query.kinds for query in own) and not request.has_conditions
    if not wanted or not request.depth or not search.cues.phrases:
        return

    # The walk does not know scope classes: where not all are asked, it goes on to its end.
    limit = LEG_CANDIDATES if search.asks_all_classes else NEIGHBOURS_MAX

    async def known() -> tuple[Fact, ...]:
        near = await knowledge.neighbours(
            search.scope, search.cues.phrases, request.depth, limit, as_of=request.as_of
        )
        facts = [one.fact for one in near if _is_asked(search, one.fact)]
        hidden = await _hidden_among(search, facts)
        return tuple(fact for fact in facts if fact.id not in hidden)[:LEG_CANDIDATES]

    facts = await search.state.answer("cold", "knowledge", known(), ())
    search.pool.add_leg("knowledge", (_statement_hit(search, fact) for fact in facts))


def _is_asked(search: Search, fact: Fact) -> bool:
    """Whether a fact can be found, and belongs to one of the scope classes that are asked."""
    if is_apart(fact):
        return False
    if fact.graph_id != search.scope.graph_id:
        return "tenant" in search.classes
    return not set(search.classes).isdisjoint(classes_of_statement(fact, search.scope))


async def _find_core_of_ancestors(search: Search) -> None:
    """Core facts of ancestors that share a word with the question."""
    request, scope = search.request, search.scope
    asks_tenant = "tenant" in search.classes
    if (
        "fact" not in request.kinds
        or not scope.lineage
        or not asks_tenant
        or request.has_conditions
    ):
        return
    core = await search.state.answer("cold", "inherited", _core(search), CoreFacts())
    words = stems_in(request.text)
    about = (
        _statement_hit(search, fact)
        for fact in core.visible
        if fact.graph_id != scope.graph_id and shared_words(words, fact.text) > 0
    )
    search.pool.add_leg("core of ancestors", list(about)[:LEG_CANDIDATES])


async def _find_rules_of_ancestors(search: Search) -> None:
    """Rules of ancestors whose trigger the question has: at once, the index has them later."""
    request, scope = search.request, search.scope
    if request.has_conditions or "rule" not in request.kinds or "tenant" not in search.classes:
        return
    if not scope.carrying("rule"):
        return
    call = search.runtime.procedural.match_rules(
        scope, request.text, LEG_CANDIDATES, inherited=True
    )
    found = await search.state.answer("cold", "inherited rules", call, ())
    search.pool.add_leg("rules of ancestors", (_statement_hit(search, rule) for rule in found))


async def _core(search: Search) -> CoreFacts:
    """Return the core facts of the own graph and of its ancestors, as of the moment."""
    runtime = search.runtime
    moment = search.request.as_of
    return await core_seen(runtime.semantic, search.scope, runtime.clock, moment)


async def _find_inherited(search: Search) -> None:
    """What ancestors carry and is about the question."""
    request, scope = search.request, search.scope
    if "tenant" not in search.classes or not scope.carrying(*request.kinds):
        return
    base = everything(search).model_copy(update={"inherited": True, "limit": LEG_CANDIDATES})
    base = _then(base)
    asks = {"meaning": "dense", "words": "words"}
    for leg, mode in asks.items():
        if request.mode not in ("hybrid", {"dense": "semantic", "words": "keyword"}[mode]):
            continue
        if mode == "dense" and search.vector is None:
            continue
        asked = base.model_copy(update={"mode": mode})
        if mode == "dense":
            asked = with_vector(asked, search.vector)
        recaller = search.runtime.recaller
        found = await recaller.found(search.scope, asked, "inherited", search.state)
        about = await recaller.relevant(request.text, found, search.names, search.state)
        search.pool.add_leg(f"inherited {leg}", about, are_cosines=mode == "dense")


async def leave_out_hidden(search: Search) -> None:
    """Leave out facts of ancestors, whichever leg found them, that a nearer definition hides."""
    own = search.scope.graph_id
    ids = [one.id for one in search.pool if one.kind == "fact" and one.graph_id != own]
    if not ids:
        return

    async def hidden() -> frozenset[str]:
        return await _hidden_among(search, await search.runtime.semantic.facts(search.scope, ids))

    gone = await search.state.answer("cold", "definitions", hidden(), frozenset())
    search.pool.leave_out([one.key for one in search.pool if one.id in gone])


async def _hidden_among(search: Search, facts: Sequence[Fact]) -> frozenset[str]:
    semantic, clock = search.runtime.semantic, search.runtime.clock
    return await hidden_among(semantic, search.scope, facts, clock, search.request.as_of)


async def look_around(search: Search) -> None:
    """Read the conversation around the best turns, and the turns that summaries cover."""
    await together([_read_conversations(search), _follow_summaries(search)])


async def _read_conversations(search: Search) -> None:
    if not search.leads:
        return
    call = _around(search, list(search.leads))
    stretches = await search.state.answer("cold", "conversations", call, ())
    # What only stands beside a hit was not asked whether it is of the wanted time or topic.
    search.pool.add_conversations(stretches, joins=not search.request.is_narrowed)


async def _follow_summaries(search: Search) -> None:
    """Bring the turns that the found summaries cover, where turns are wanted."""
    if search.request.is_narrowed:
        return
    covered: dict[str, None] = {}
    own = search.scope.graph_id
    for candidate in search.pool:
        if candidate.kind != "summary" or candidate.graph_id != own or candidate.hit is None:
            continue
        if min(candidate.ranks.values(), default=LEADING_MAX + 1) <= LEADING_MAX:
            covered.update(dict.fromkeys(candidate.hit.source_ids))
    missing = [one for one in covered if search.pool.get((own, one)) is None]
    if not missing:
        return
    call = search.runtime.turns.turns(search.scope, missing[:COVERED_MAX])
    turns = await search.state.answer("cold", "covered turns", call, ())
    search.pool.add_leg(
        "covered",
        (hit_of(one, 0.0, search.scope.graph_id) for one in turns if one.redacted_at is None),
    )


async def measure(search: Search) -> None:
    """Compare the meaning of records that no index of today holds."""
    if search.vector is None or search.runtime.embedder is None:
        return
    if search.vector.model_id != search.runtime.embedder.model_id:
        return
    young = {
        turn.id for turn in search.hot.values() if search.now - turn.recorded_at <= INDEXED_WITHIN
    }
    unknown = [
        one
        for one in search.pool
        if one.cosine is None and (one.id in young or not MEANT_HERE.isdisjoint(one.ranks))
    ][:MEASURED_MAX]
    if not unknown:
        return
    call = search.runtime.embedder.embed([one.text for one in unknown], urgent=True)
    vectors = await search.state.answer("dense", "meaning", call, ())
    search.state.used.pop("dense", None)
    for candidate, vector in zip(unknown, vectors, strict=False):
        candidate.cosine = sum(map(float.__mul__, vector, search.vector.vector))


async def _words(search: Search, queries: Sequence[SearchQuery]) -> tuple[SightedWords, ...]:
    return await search.runtime.words.sight_words(search.scope, queries, search.pool.known)


async def _sight(search: Search, leg: str, query: SearchQuery) -> tuple[Seen, ...]:
    recaller, known = search.runtime.recaller, search.pool.known
    return await recaller.sight(search.scope, query, leg, search.state, known)


async def _around(search: Search, turn_ids: Sequence[str]) -> Sequence[Sequence[Said | Sighted]]:
    return await search.runtime.recollection.sight_around(
        search.scope, turn_ids, BEFORE, AFTER, search.pool.known, as_of=search.request.as_of
    )


async def _warm(search: Search, leg: str, query: SearchQuery) -> tuple[Hit, ...]:
    """Ask the index alone, for while the cold tier is away: nothing else knows what stands."""
    call = search.runtime.warm.search(search.scope, query)
    return await search.state.answer("warm", leg, call, ())


async def read_from_index(search: Search, turn_ids: Sequence[str]) -> dict[str, Hit]:
    """Return known turns as the warm index tells them, for while the cold tier is away."""
    if search.vector is None or not turn_ids:
        return {}
    narrow = {"mode": "dense", "ids": tuple(turn_ids), "limit": len(turn_ids)}
    query = with_vector(everything(search).model_copy(update=narrow), search.vector)
    return {hit.id: hit for hit in await _warm(search, "turns", _then(query))}


def _then(query: SearchQuery) -> SearchQuery:
    """Return a query to the warm index, whose entries expire by the moment that is asked about."""
    return query if query.as_of is None else query.model_copy(update={"now": query.as_of})


def _lead(search: Search, found: Iterable[Seen], most: int) -> None:
    """Note the best own turns of a leg, to look around them."""
    own = (
        one.id
        for one in found
        if isinstance(one, Sighted) or (one.kind == "turn" and one.inherited_from is None)
    )
    for _, turn_id in zip(range(most), own, strict=False):
        search.leads.setdefault(turn_id)


def _statement_hit(search: Search, one: Fact | Rule) -> Hit:
    """Return a fact or rule as a hit, with the way by which it was inherited."""
    paths = {kin.graph_id: kin.path for kin in search.scope.lineage}
    hit = hit_of(one, 0.0, search.scope.graph_id)
    return hit.model_copy(update={"path": paths.get(one.graph_id, ())})
