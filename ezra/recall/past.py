"""When facts hold, what held in a past that a question asks about, and when facts were said."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tiers.concurrency import together
from tiers.records import Fact, Hit, SearchQuery

from ..ranking.choosing import Ranked
from ..ranking.cues import Cues, shared_words, stems_in
from ..ranking.pool import FORMER
from ..ranking.priors import is_used_since
from .request import Search

LATEST_MAX = 64
"""So many of those that gave way last are compared by meaning; words find any."""

LOOKED_AT_MAX = 32
"""Of so many of the best it is asked whether what they say holds still."""

NOT_IN_THE_INDEX = ("valid_from", "valid_to", "uses", "last_used_at")
"""What a hit says of a fact that only the cold tier knows."""


async def find_former(search: Search, own: Sequence[SearchQuery]) -> None:
    """Find facts that held in the past that is asked about and have given way since.

    By words as the cold tier has them; with a model also those that are close in meaning. What was
    forgotten, denied or redacted is not among them.
    """
    if search.cues.past:
        await together([_find(search, query) for query in own if "fact" in query.kinds])


async def _find(search: Search, query: SearchQuery) -> None:
    call = search.runtime.recollection.former(
        search.scope, query, latest=0 if search.goes_by_words else LATEST_MAX
    )
    found = await search.state.answer("cold", "former facts", call, ())
    held = [hit for hit in found if _was_true(search.cues, hit)]
    if not search.goes_by_words:
        held = await _near(search, query.text, held)
    search.pool.add_leg(FORMER, held)


async def _near(search: Search, text: str, hits: Sequence[Hit]) -> list[Hit]:
    """Return the hits that share a word with a question, then those that mean what it does."""
    words = stems_in(text)
    shares = {hit.id: shared_words(words, hit.text) > 0 for hit in hits}
    others = [hit for hit in hits if not shares[hit.id]]
    close = await search.runtime.recaller.relevant(text, others, search.names, search.state)
    return [*(hit for hit in hits if shares[hit.id]), *close]


async def tell_periods(search: Search) -> None:
    """Tell facts when they hold and how often they were used, where only the index found them.

    The index knows neither. A question about days is told of every fact on which day it was said,
    and whether it held then and is over by now.
    """
    cues = search.cues
    asks_days = bool(cues.spans or cues.days or cues.past)
    ids = [
        one.id
        for one in search.pool
        if one.kind == "fact" and FORMER not in one.ranks and (asks_days or _is_bare(one.hit))
    ]
    if not ids:
        return
    call = search.runtime.semantic.facts(search.scope, ids)
    for fact in await search.state.answer("cold", "periods of facts", call, ()):
        candidate = search.pool.get((fact.graph_id, fact.id))
        if candidate is None or candidate.hit is None:
            continue
        fields = {name: getattr(fact, name) for name in NOT_IN_THE_INDEX}
        candidate.hit = candidate.hit.model_copy(update=fields)
        if not asks_days:
            continue
        candidate.happened_at = _day_of(fact, search.now)
        is_over = fact.valid_to is not None and fact.valid_to <= search.now
        if is_over and _was_true(cues, fact):
            candidate.ranks[FORMER] = 1


async def instead_of(search: Search, ranked: Sequence[Ranked]) -> dict[str, frozenset[str]]:
    """Return which records say what holds now, by the ids of turns that said otherwise.

    Of the best turns of the own graph; of none where the past is asked about.
    """
    best = (one.candidate for one in ranked[:LOOKED_AT_MAX])
    turns = [one.id for one in best if one.kind == "turn" and one.graph_id == search.scope.graph_id]
    if search.cues.past or not turns:
        return {}
    call = search.runtime.recollection.outdated(search.scope, turns, as_of=search.request.as_of)
    nothing: dict[str, Fact] = {}
    found = await search.state.answer("cold", "outdated turns", call, nothing)
    return {turn_id: frozenset((fact.id, *fact.source_ids)) for turn_id, fact in found.items()}


def _is_bare(hit: Hit | None) -> bool:
    """Whether what the index knows is all that is known of a fact."""
    return hit is not None and hit.tier == "warm"


async def still(search: Search, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the hits but what has ended, or was forgotten, since it was found."""
    recaller, scope, state = search.runtime.recaller, search.scope, search.state
    former = {one.id for one in search.pool if FORMER in one.ranks}
    rest = [hit for hit in hits if hit.id not in former]
    kept = {hit.id for hit in await recaller.still(scope, rest, search.now, state)}
    ids = [hit.id for hit in hits if hit.id in former]
    if ids:
        call = search.runtime.semantic.facts(scope, ids)
        facts = await state.answer("cold", "former facts", call, ())
        kept |= {fact.id for fact in facts if fact.forgotten_at is None}
    return tuple(hit for hit in hits if hit.id in kept)


def _was_true(cues: Cues, statement: Fact | Hit) -> bool:
    """Whether a statement held at some moment of the past that is asked about."""
    return any(span.meets(statement.valid_from, statement.valid_to) for span in cues.past)


def _day_of(fact: Fact, now: datetime) -> datetime:
    """Return when what a fact tells began or was said; when it was recorded if nobody says."""
    # Of what was said again later it is not kept when it had been said by then.
    said_at = fact.said_at if fact.said_at is not None and fact.said_at <= now else None
    return fact.valid_from or said_at or fact.recorded_at


async def remember_uses(search: Search) -> None:
    """Tell facts that were used after the moment asked about how they had been used by then."""
    moment = search.request.as_of
    if moment is None:
        return
    later = [
        (one, one.hit)
        for one in search.pool
        if one.hit is not None
        and one.kind == "fact"
        and one.graph_id == search.scope.graph_id
        and is_used_since(one.hit, moment)
    ]
    if not later:
        return
    call = search.runtime.recollection.uses_by(search.scope, [one.id for one, _ in later], moment)
    uses = await search.state.answer("cold", "uses", call, {})
    for candidate, hit in later:
        if hit.id in uses:
            fields = {
                "uses": max(0, hit.uses - uses[hit.id].since),
                "last_used_at": uses[hit.id].last,
            }
            candidate.hit = hit.model_copy(update=fields)
