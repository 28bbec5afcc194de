"""Which of the scored candidates are answered: each thing once, every kind its turn. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from metaagents.lifecycle.material import Note, lines_told, notes_told
from tiers.lexical import estimate_tokens, words
from tiers.records import Hit, Kind

from .cues import wants_order
from .pool import FORMER, Candidate, Key
from .terms import bag_of

SHORTER: tuple[Kind, ...] = ("summary", "episode")
"""Kinds that stand for other records and say less."""

SAME_TERMS = 0.9
"""Share of all terms of two texts from which on they say the same."""

REPEATED_WORDS_MIN = 2
"""Turns of fewer words say what was asked before them: one "Yes." is not another."""

COVERED_SHARE = 0.6
COMPARED_MAX = 60
COMPARABLE_SHARE = 0.5
"""What holds now takes the place of what was said before from this share of its score on."""
BEHIND = 0.999
KIND_SHARE_MAX = 0.7
STRONG_SHARE = 0.75
"""From this share of the best score on, a kind that is crowded out is let in."""


class Ranked(NamedTuple):
    """A candidate with its final score and all that made it.

    Attributes:
        candidate: What was found.
        score: What its signs add up to, times the factors.
        factors: Decay, use, outcomes, scope class, inheritance and validity, where they change
            anything.
        place: Where it is among the scored candidates.
        folded: Records that say the same or less, left out for this one.
    """

    candidate: Candidate
    score: float
    factors: Mapping[str, float]
    place: int = 0
    folded: tuple[str, ...] = ()


def said_once(ranked: Sequence[Ranked]) -> list[Ranked]:
    """Return the same, best first, without turns that say word for word what a better one says.

    By the same speaker, what was answered included; the better one carries their ids, and those of
    the summaries and episodes that tell nothing else of other days. Who asks how often or when
    something was said (``cues.wants_each``) wants each of them.

    Args:
        ranked: Candidates, best first.
    """
    repeats = _repeats(_wording(one.candidate) for one in ranked)
    said = {ranked[place].candidate.wording: place for place, others in repeats.items() if others}
    if not said:
        return list(ranked)
    kept = {place: ranked[place] for place in repeats}
    for place, others in repeats.items():
        for other in others:
            kept[place] = _standing_for(kept[place], ranked[other])
    for place, one in enumerate(ranked):
        if one.candidate.kind in SHORTER:
            told = {said.get(bag_of(line)[3]) for line in lines_told(one.candidate.text)}
            first = min((at for at in told if at is not None), default=None)
            if first is None or None in told or ranked[first].score < COVERED_SHARE * one.score:
                continue
            kept[first] = _standing_for(kept[first], kept.pop(place))
    return sorted(kept.values(), key=lambda one: (-one.score, one.candidate.key))


def _standing_for(form: Ranked, other: Ranked) -> Ranked:
    """Return a form that carries the id of another, and its score where that is better."""
    ids = (*form.folded, other.candidate.id, *other.folded)
    return _raised(form._replace(folded=ids), other.score)


def _repeats(wordings: Iterable[Hashable]) -> dict[int, list[int]]:
    """Return the places of what is worded so for the first time, each with those that repeat it.

    What has no wording (``None``) repeats nothing.
    """
    first: dict[Hashable, int] = {}
    found: dict[int, list[int]] = {}
    for place, wording in enumerate(wordings):
        stands = place if wording is None else first.setdefault(wording, place)
        if stands == place:
            found[place] = []
        else:
            found[stands].append(place)
    return found


def _wording(one: Candidate) -> Hashable:
    if one.kind != "turn" or one.words - len(words(one.speaker)) < REPEATED_WORDS_MIN:
        return None
    return one.graph_id, one.user_id, one.speaker or one.agent_id, one.wording


def folded(ranked: Sequence[Ranked], *, documents_apart: bool = False) -> list[Ranked]:
    """Return the same, best first, without what another says already, whose id that one carries.

    A summary or episode leads to the records it covers: where one of them is among the
    candidates and not much worse (``COVERED_SHARE``), the best of them takes its place. Of two
    texts with the same terms, the better stands, and of two summaries or episodes the one that
    tells every sentence of the other; rules are compared among themselves. At most
    ``COMPARED_MAX`` are compared.

    Args:
        ranked: Candidates, best first.
        documents_apart: Whether passages of two documents are two things, however alike: who asks
            for documents wants to know of each.
    """
    places = {
        (one.candidate.graph_id, id_): place
        for place, one in enumerate(ranked)
        for id_ in (one.candidate.id, *one.folded)
    }
    kept = dict(enumerate(ranked))
    stands_for: dict[int, int] = {}
    told = {
        place: notes_told(one.candidate.text, one.candidate.happened_at)
        for place, one in enumerate(ranked[:COMPARED_MAX])
        if one.candidate.kind in SHORTER
    }
    turns: list[int] = []
    others: list[int] = []
    for place, one in enumerate(ranked[:COMPARED_MAX]):
        is_turn = one.candidate.kind == "turn"
        other = _covered_by(one, ranked, places)
        if other is None:
            # Of two turns with the same words ``said_once`` has left one.
            known = others if is_turn else (*turns, *others)
            other = next(
                (
                    it
                    for it in known
                    if (_same(ranked[it], one) or _tells(told, it, place))
                    and not (documents_apart and _of_two_documents(ranked[it], one))
                ),
                None,
            )
        while other in stands_for:
            other = stands_for[other]
        if other is None or other == place:
            (turns if is_turn else others).append(place)
            continue
        # By its own score, not by that of a summary whose place it had taken.
        gone = kept.pop(place)._replace(score=one.score)
        kept[other] = _standing_for(kept[other], gone)
        stands_for[place] = other
    return sorted(kept.values(), key=lambda one: (-one.score, one.candidate.key))


def current_first(ranked: Sequence[Ranked], instead: Mapping[str, frozenset[str]]) -> list[Ranked]:
    """Return the same with what is outdated right behind the best of what holds instead.

    That takes its score, where it has at least ``COMPARABLE_SHARE`` of it: whatever else was said
    with it, a question that hardly meets it is not about it.

    Args:
        ranked: Candidates, best first.
        instead: Which records say what holds, by the id of the turn that said otherwise.
    """
    weighed = {one.candidate.key: one for one in ranked}
    for outdated in (one for one in ranked if one.candidate.id in instead):
        wanted = instead[outdated.candidate.id]
        key = next((it.candidate.key for it in ranked if it.candidate.id in wanted), None)
        if key is None or key == outdated.candidate.key:
            continue
        ours, theirs = weighed[outdated.candidate.key].score, weighed[key].score
        if COMPARABLE_SHARE * ours <= theirs < ours:
            weighed[key] = _scored(weighed[key], ours, "current")
            behind = _scored(weighed[outdated.candidate.key], ours * BEHIND, "outdated")
            weighed[outdated.candidate.key] = behind
    return sorted(weighed.values(), key=lambda one: (-one.score, one.candidate.key))


def _scored(form: Ranked, score: float, why: str) -> Ranked:
    """Return a candidate with another score, of which its factors tell the reason."""
    factor = score / form.score if form.score else 1.0
    return form._replace(score=score, factors={**form.factors, why: factor})


def _raised(form: Ranked, score: float) -> Ranked:
    """Return a form with the score of what it stands for, where that is better."""
    return _scored(form, score, "folded") if score > form.score else form


def varied(ranked: Sequence[Ranked], limit: int) -> list[Ranked]:
    """Return the best ``limit``, of which one kind does not take all where others are strong too.

    A kind that has more than ``KIND_SHARE_MAX`` of the places gives its last ones to the best of
    each kind that has none, if that is strong: with ``STRONG_SHARE`` of the best score, the
    weight of scope classes aside.
    """
    best = list(ranked[:limit])
    most = max(1, round(limit * KIND_SHARE_MAX))
    kinds = Counter(one.candidate.kind for one in best)
    crowding = next((kind for kind, count in kinds.items() if count > most), None)
    if crowding is None:
        return best
    strong = max(map(_strength, best)) * STRONG_SHARE
    guests: dict[Kind, Ranked] = {}
    for one in ranked[limit:]:
        if one.candidate.kind not in kinds and _strength(one) >= strong:
            guests.setdefault(one.candidate.kind, one)
    invited = list(guests.values())[: kinds[crowding] - most]
    leaving = [one for one in best if one.candidate.kind == crowding][::-1][: len(invited)]
    return [one for one in best if one not in leaving] + invited


def _strength(one: Ranked) -> float:
    """Return a score without the weight of its scope class, by which whole kinds differ."""
    return one.score / (one.factors.get("class") or 1.0)


def within_budget(hits: Sequence[Hit], tokens: int | None) -> list[Hit]:
    """Return those that fit a budget of tokens, best first; a smaller one may follow a large."""
    if tokens is None:
        return list(hits)
    kept: list[Hit] = []
    for hit in hits:
        cost = estimate_tokens(hit.text)
        if cost <= tokens:
            tokens -= cost
            kept.append(hit)
    return kept


def in_asked_order(question: str, hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Return the hits of an answer as they are shown to somebody who reads them.

    As given, which is best first; the oldest first where the question asks in which order.
    """
    if not wants_order(question):
        return tuple(hits)
    return tuple(sorted(hits, key=_moment))


def _moment(hit: Hit) -> tuple[datetime, str]:
    happened = hit.occurred_at or hit.valid_from or hit.recorded_at
    return happened, hit.id


def _tells(told: Mapping[int, frozenset[Note]], one: int, other: int) -> bool:
    """Whether of two that tell something in sentences the first tells all that the other does."""
    return one in told and other in told and told[other] <= told[one]


def _covered_by(one: Ranked, ranked: Sequence[Ranked], places: Mapping[Key, int]) -> int | None:
    """Return where the best record is that a summary covers, if it can stand for the summary."""
    hit = one.candidate.hit
    if hit is None or one.candidate.kind not in SHORTER:
        return None
    keys = ((hit.graph_id, covered) for covered in hit.source_ids)
    best = min((places[key] for key in keys if key in places), default=None)
    if best is None or ranked[best].score < COVERED_SHARE * one.score:
        return None
    return best


def _of_two_documents(one: Ranked, other: Ranked) -> bool:
    """Whether two passages stand in different documents."""
    mine, theirs = one.candidate, other.candidate
    if mine.kind != "document" or theirs.kind != "document" or not (mine.hit and theirs.hit):
        return False
    return mine.hit.source_ids != theirs.hit.source_ids


def _same(one: Ranked, other: Ranked) -> bool:
    """Whether two texts have the same terms, and hold both or held both.

    Whatever their kinds, but a rule: what recites its steps does not tell how often they worked.
    """
    if (one.candidate.kind == "rule") != (other.candidate.kind == "rule"):
        return False
    mine, theirs = one.candidate.counts.keys(), other.candidate.counts.keys()
    here, there = len(mine), len(theirs)
    if not here or here < SAME_TERMS * there or there < SAME_TERMS * here:
        return False  # so few cannot be nearly all of so many
    if (FORMER in one.candidate.ranks) != (FORMER in other.candidate.ranks):
        return False
    return len(mine & theirs) >= SAME_TERMS * len(mine | theirs)
