"""One search: ask every engine for candidates, look around them, weigh, choose.

Read ``recollect`` top to bottom. What the engines are asked is in ``candidates``; what is decided
about their answers is in ``ezra.ranking``, which is pure.

Of the rules among the candidates it is told how they did, and which steps they have or had: a rule
is refined under its own id, and the index is a moment behind.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from tiers.concurrency import together
from tiers.forms import hit_of
from tiers.previews import has_long_output, may_be_long, shown_outputs, shown_text
from tiers.records import FactTier, Hit, Kind, Rule, Scope, Span, Turn

from ..models.reranking.blending import reranked
from ..ranking.choosing import (
    Ranked,
    current_first,
    folded,
    said_once,
    varied,
    within_budget,
)
from ..ranking.cues import read_cues, wants_each
from ..ranking.pool import FORMER, Candidate, Pool
from ..ranking.priors import classes_of, factors, is_used_since
from ..ranking.scoring import DIGITS, Question, Scored, score
from ..ranking.weights import DEFAULT_WEIGHTS
from ..recaller import QuestionVector, Reason, RecallResult, seen_from_below
from ..runtime import Runtime
from .candidates import (
    ask_engines,
    leave_out_hidden,
    look_around,
    measure,
    read_from_index,
)
from .passages import cited, find_on_shelves
from .past import instead_of, remember_uses, still, tell_periods
from .request import KINDS, RecallRequest, Search


async def remember_outcomes(search: Search) -> None:
    """Tell rules how they did, and their steps, where only the index found them or of the past.

    How they had done by a moment in the past is not known.
    """
    found: dict[str, list[Candidate]] = {}
    for one in search.pool:
        if one.kind == "rule" and one.hit is not None:
            found.setdefault(one.graph_id, []).append(one)
    if not found:
        return
    scope = search.scope
    asked = [(scope, search.request.as_of)]
    asked += [(seen_from_below(scope, one), one.as_of) for one in scope.carrying("rule")]
    await together(
        _tell(search, scope, moment, found[scope.graph_id])
        for scope, moment in asked
        if scope.graph_id in found
    )


async def _tell(
    search: Search, scope: Scope, moment: datetime | None, rules: Sequence[Candidate]
) -> None:
    """Tell rules of one graph, read as of a moment, what the index does not know of them."""
    found = [
        (one, one.hit)
        for one in rules
        if one.hit is not None and (moment is not None or one.hit.successes is None)
    ]
    if not found:
        return
    call = search.runtime.playbooks.rules(scope, [one.id for one, _ in found])
    known = {one.id: one for one in await search.state.answer("cold", "outcomes", call, ())}
    for candidate, hit in found:
        rule = known.get(candidate.id)
        fields = {"version": None} if rule is None else _standing_of(rule, moment)
        if moment is not None:
            fields |= {"successes": None, "failures": None}
        if rule is not None and moment is not None and rule.former_at(moment) is not None:
            # It was found by the steps of now: those of then have to speak for themselves.
            candidate.ranks, candidate.cosine = {"ended": 1}, None
        search.pool.tell(candidate, hit.model_copy(update=fields))


def _standing_of(rule: Rule, moment: datetime | None) -> dict[str, object]:
    then = rule if moment is None else rule.at(moment)
    names = ("text", "successes", "failures", "version")
    return {name: getattr(then, name) for name in names}


RANKED_MAX = 160
"""So many of the best get their priors, which seldom change a score by more than a third."""

UNASKED = frozenset(
    {"hot", "ended", FORMER, "covered", "meaning", "meaning of that time", "latest of that time"}
)
"""Legs that bring what is there, however far from the question: some sign must speak for it."""


async def recollect(
    runtime: Runtime,
    scope: Scope,
    request: RecallRequest,
    vector: QuestionVector | None = None,
) -> RecallResult:
    """Return the best of what the scope may see for a question, with cosines where they are known.

    Args:
        runtime: Where it looks.
        scope: Who asks.
        request: The question.
        vector: Of the question, where somebody has made it already.
    """
    with runtime.telemetry.recall(scope) as watched:
        found = await _recollect(runtime, scope, request, vector)
        watched.note(ezra__items=len(found.items), ezra__degraded=found.degraded)
    return found


async def _recollect(
    runtime: Runtime, scope: Scope, request: RecallRequest, vector: QuestionVector | None
) -> RecallResult:
    request = replace(request, as_of=runtime.apart_from_now(request.as_of))
    now = request.as_of or runtime.clock()
    scope = await runtime.membership.scope_at(scope, request.as_of)
    state = runtime.degradation()
    search = Search(
        runtime, scope, request, now, state, Pool(scope.graph_id, runtime.reader, scope.tenant)
    )
    search.names, search.vector = await runtime.names.of(scope), vector
    search.cues = read_cues(request.text, search.names, now, runtime.settings.zone)
    await ask_engines(search, find_on_shelves)
    await leave_out_hidden(search)
    await look_around(search)
    await tell_periods(search)
    await remember_outcomes(search)
    await measure(search)
    await remember_uses(search)
    weighed = _weighed(search)
    ranked = _chosen(search, current_first(weighed, await instead_of(search, weighed)))
    hits = await cited(search, await _shown(search, ranked))
    answers, rerank_used = await _rerank(search, hits)
    return _result(search, ranked, answers, rerank_used=rerank_used)


def _weighed(search: Search) -> list[Ranked]:
    """Return the candidates that answer, best first."""
    settings, request = search.runtime.settings, search.request
    question = Question(
        request.text, search.cues, search.statistics, search.scope.user_id, settings.zone
    )
    means_alone = request.mode == "semantic"
    weights = replace(DEFAULT_WEIGHTS, words=0.0) if means_alone else DEFAULT_WEIGHTS
    scored = score(search.pool, question, weights)
    present = min(
        search.now, max((one.happened_at for one in scored.candidates), default=search.now)
    )
    kinds, named = _answered(request), request.scope_name
    priors = settings.priors if named == "any" else settings.priors.naming(named)
    asked, asks_all = frozenset(search.classes), search.asks_all_classes
    ranked = []
    for place in scored.best(RANKED_MAX):
        candidate, base = scored.candidates[place], scored.scores[place]
        if candidate.kind not in kinds or (
            UNASKED.issuperset(candidate.ranks) and not scored.has_sign[place]
        ):
            continue
        if not asks_all and asked.isdisjoint(classes_of(candidate, search.scope)):
            continue
        prior = factors(
            candidate,
            search.scope,
            present,
            search.now,
            priors,
            half_life_days=request.half_life_days,
        )
        final = round(base * math.prod(prior.values()), DIGITS)
        ranked.append(Ranked(candidate, final, prior, place))
    ranked.sort(key=lambda one: (-one.score, one.candidate.key))
    search.scored = scored
    return ranked


def _chosen(search: Search, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Fold, vary and cut."""
    settings, request = search.runtime.settings, search.request
    wanted = max(request.limit, settings.rerank_candidates if _reranks(search) else 0)
    apart = "document" in request.kinds and request.kinds != KINDS
    # What is said again takes nobody's place where there is room for all. What tools returned is
    # told by its beginning: the rest of it may be something else.
    has_room = len(ranked) <= wanted
    are_apart = has_room or wants_each(request.text) or _shows_outputs(search)
    once = ranked if are_apart else said_once(ranked)
    return varied(folded(once, documents_apart=apart), wanted)


def _answered(request: RecallRequest) -> frozenset[Kind]:
    kinds = set(request.kinds)
    return frozenset(kinds | {"turn"} if "tool_output" in kinds else kinds)


async def _shown(search: Search, ranked: Sequence[Ranked]) -> list[Hit]:
    """Return the chosen candidates as hits, the form that callers get."""
    turns = await _turns_of(search, ranked)
    by_index: dict[str, Hit] = {}
    if "cold" in search.state.lost:
        warm = (one.candidate for one in ranked if one.candidate.tier == "warm")
        wanted = [one.id for one in warm if one.hit is None and one.id not in turns]
        by_index = await read_from_index(search, wanted)
    then = await _tiers_then(search, ranked)
    hits = []
    for one in ranked:
        hit = one.candidate.hit or by_index.get(one.candidate.id)
        shown = _hit(search, one, hit, turns.get(one.candidate.id))
        if shown is not None and shown.id in then:
            past: dict[str, object] = {"fact_tier": then[shown.id]}
            if is_used_since(shown, search.now):
                past |= {"uses": 0, "last_used_at": None}
            shown = shown.model_copy(update=past)
        if shown is not None:
            hits.append(shown)
    return hits


async def _turns_of(search: Search, ranked: Sequence[Ranked]) -> dict[str, Turn]:
    """Return the turns among the chosen that are not told yet, or have long outputs to elide."""
    bare = [
        one.candidate.id
        for one in ranked
        if one.candidate.hit is None
        or (
            one.candidate.kind == "turn"
            and (_shows_outputs(search) or may_be_long(one.candidate.text))
        )
    ]
    if not bare:
        return {}
    call = search.runtime.turns.turns(search.scope, bare)
    found = await search.state.answer("cold", "turns", call, ())
    return {turn.id: turn for turn in found if turn.redacted_at is None}


def _shows_outputs(search: Search) -> bool:
    """Whether of turns only what tools returned is asked for."""
    return "tool_output" in search.request.kinds and "turn" not in search.request.kinds


def _hit(search: Search, one: Ranked, hit: Hit | None, turn: Turn | None) -> Hit | None:
    """Return a candidate as it is shown; ``None`` if it was redacted between two reads."""
    only_outputs = _shows_outputs(search)
    if turn is not None and (hit is None or only_outputs):
        hit = hit_of(turn, 0.0, search.scope.graph_id)
    if hit is None:
        return None
    cosine = one.candidate.cosine
    fields: dict[str, object] = {"score": one.score, "folded": one.folded, "cosine": cosine}
    if hit.kind == "turn":
        fields |= {"tier": one.candidate.tier, "words_only": one.candidate.words_only}
    if hit.id in search.hot:
        fields["tier"] = "hot"
    if turn is not None and has_long_output(turn):
        fields["text"] = shown_text(turn)
    if only_outputs and turn is not None:
        fields |= {"kind": "tool_output", "text": "\n".join(shown_outputs(turn))}
    return hit.model_copy(update=fields)


async def _tiers_then(search: Search, ranked: Sequence[Ranked]) -> dict[str, FactTier]:
    """For a question to the past: whether each fact was core or archival at that moment."""
    moment = search.request.as_of
    ids = [one.candidate.id for one in ranked if one.candidate.kind == "fact"]
    if moment is None or not ids:
        return {}
    call = search.runtime.semantic.facts(search.scope, ids)
    facts = await search.state.answer("cold", "facts", call, ())
    return {
        fact.id: "core" if any(_holds(span, moment) for span in fact.core_spans) else "archival"
        for fact in facts
    }


def _holds(span: Span, moment: datetime) -> bool:
    return span.since <= moment and (span.until is None or moment < span.until)


async def _rerank(search: Search, hits: Sequence[Hit]) -> tuple[Sequence[Hit], bool]:
    settings = search.runtime.settings
    if not _reranks(search):
        return hits, False
    with search.state.telemetry.leg("rerank", "rerank"):
        answers, is_used = await reranked(
            search.runtime.reranker,
            search.request.text,
            hits,
            search.state,
            candidates=settings.rerank_candidates,
            timeout_seconds=settings.rerank_timeout_seconds,
        )
    if search.request.as_of is not None:  # the past does not change meanwhile
        return answers, is_used
    return await still(search, answers), is_used


def _reranks(search: Search) -> bool:
    return search.request.rerank and search.runtime.reranker is not None


def _result(
    search: Search, ranked: Sequence[Ranked], hits: Sequence[Hit], *, rerank_used: bool
) -> RecallResult:
    request, state = search.request, search.state
    items = within_budget(hits[: request.limit], request.token_budget)
    within = set(map(id, items))
    reasons = (
        {one.candidate.id: _reason(one, search.scored) for one in ranked} if request.explain else {}
    )
    return RecallResult(
        items=tuple(items),
        degraded=tuple(state.lost),
        tiers_used=tuple(state.used),
        skipped=tuple(state.skipped),
        rerank_used=rerank_used,
        reasons={hit.id: reasons[hit.id] for hit in items if hit.id in reasons},
        considered=tuple((one.candidate.id, one.score) for one in ranked),
        left_out=tuple(hit.id for hit in hits[: request.limit] if id(hit) not in within),
        model_id=search.vector.model_id if search.vector else None,
    )


def _reason(one: Ranked, scored: Scored | None) -> Reason:
    return Reason(
        ranks=dict(one.candidate.ranks),
        cosine=one.candidate.cosine,
        parts=scored.contributions(one.place) if scored else {},
        factors=dict(one.factors),
        path=one.candidate.hit.path if one.candidate.hit else (),
    )
