"""What makes two engines answer alike: the words of a text, and the order of candidates."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from operator import itemgetter, mul
from typing import Any, NamedTuple, TypeAlias

from qdrant_edge import Bm25, Bm25Config, SparseVector

from ..known_records import Seen, Sighted
from ..records import Hit, Scope
from .payload import hit_of

QUERY_CHARS = 2_000
"""Most of a question that the lexical leg reads; 300 different words take 5 ms."""

TIES_MAX = 200
"""Most candidates beyond those wanted that are looked at because they may tie with the last."""

SCORE_DIGITS = 5
"""Significant digits of a leg's score that count; engines add up 32-bit floats."""

Payload: TypeAlias = Mapping[str, Any]


class Bm25Words:
    """Texts as sparse vectors: weighted words for entries, plain ones for questions.

    Computed on this side for every engine, so that all of them cut and weigh words alike. How
    rare a word is, the engine adds when it searches.
    """

    def __init__(self) -> None:
        self._bm25 = Bm25(Bm25Config())

    def of_entry(self, text: str) -> SparseVector:
        """Return the words of a stored text; none when it says nothing."""
        return self._bm25.embed_document(text)

    def of_question(self, text: str) -> SparseVector:
        """Return the words of a question, of a long one those at both ends."""
        return self._bm25.embed_query(_ends(text))


FoundId: TypeAlias = int | str
"""What an engine names a point by; whatever of its id is cheapest to tell apart by."""


class Candidates(NamedTuple):
    """What one of several legs found, best first: scores there, ``rounded``, and the engine's ids.

    Two lists, and not a list of pairs: a turn looks at hundreds.
    """

    scores: list[float]
    found_ids: list[FoundId]


class Held(NamedTuple):
    """What is stored under an id: the payload, and the direction of its meaning where asked for."""

    payload: Payload
    vector: Sequence[float] | None = None


async def with_ties(
    ask: Callable[[int], Awaitable[list[Candidates]]], most: int, likely: int
) -> list[Candidates]:
    """Return the first ``most`` of each leg, and those that tie with the last of them.

    Args:
        ask: Returns so many of each leg; asked again for more where they may tie.
        most: How many are wanted of each.
        likely: How many more are asked for at first.
    """
    found: list[Candidates] = []
    for asked in (most + likely, most + TIES_MAX):
        found = await ask(asked)
        if not any(goes_on(leg, most, asked) for leg in found):
            break
    return [through_ties(leg, most) for leg in found]


def goes_on(leg: Candidates, most: int, asked: int) -> bool:
    """Whether an engine that was asked for so many may have more that tie with the ``most``-th."""
    return len(leg.scores) == asked > most and leg.scores[-1] == leg.scores[most - 1]


def through_ties(leg: Candidates, most: int) -> Candidates:
    """Return the first candidates, and those that tie with the last of them.

    Which of those that tie an engine returns first depends on where it happens to hold them.
    """
    if len(leg.scores) <= most:
        return leg
    least = leg.scores[most - 1]
    end = most + sum(score >= least for score in leg.scores[most:])
    return Candidates(leg.scores[:end], leg.found_ids[:end])


def best(legs: Sequence[Candidates], rrf_k: int, limit: int) -> dict[FoundId, float]:
    """Return the engine's ids of the best candidates with their scores.

    Of one leg the scores are its own. Several are fused by reciprocal rank (Cormack, Clarke and
    Büttcher, 2009): the sum of ``1 / (rrf_k + rank)``, ranks counted from 0. Candidates that a leg
    scores alike share a rank there, so that the order does not depend on the order in which an
    engine happens to hold them, which differs from engine to engine and from copy to copy.

    Args:
        legs: What each leg found.
        rrf_k: How much the first ranks are favoured; smaller favours them more.
        limit: How many to return, and besides those that tie with the last.
    """
    scores: dict[FoundId, float] = {}
    for leg in legs:
        weights = _reciprocal_ranks(leg.scores, rrf_k) if len(legs) > 1 else leg.scores
        for found_id, weight in zip(leg.found_ids, weights, strict=True):
            scores[found_id] = scores.get(found_id, 0.0) + weight
    ordered = sorted(scores.values(), reverse=True)
    least = ordered[limit - 1] if len(ordered) > limit else -math.inf
    return {found_id: score for found_id, score in scores.items() if score >= least}


def answer(
    scores: Mapping[FoundId, float],
    stored: Mapping[FoundId, Held],
    scope: Scope,
    limit: int,
    cosines: Mapping[FoundId, float],
) -> tuple[Hit, ...]:
    """Return what was found as hits, best first, ties by id; what is gone meanwhile is left out.

    Args:
        scores: By the engine's ids, at least those of the answer.
        stored: What is stored, by the engine's ids.
        scope: Who asks.
        limit: How many to return.
        cosines: To the question, by the engine's ids, where known.

    Raises:
        CorruptRecord: A payload is not one that ``payload_of`` makes.
    """
    there = [found_id for found_id in scores if found_id in stored]
    found = [(scores[one], cosines.get(one), stored[one].payload) for one in there]
    # Two ancestors may hold records of one id.
    found.sort(key=lambda one: (-one[0], str(one[2].get("id")), str(one[2].get("graph"))))
    return tuple(hit_of(payload, score, scope, cosine) for score, cosine, payload in found[:limit])


def cosines_to(asked: Sequence[float], stored: Mapping[FoundId, Held]) -> dict[FoundId, float]:
    """Return how close what is stored is to a direction, by id; vectors are kept of unit length."""
    length = math.hypot(*asked)
    return {
        found_id: sum(map(mul, asked, held.vector)) / length
        for found_id, held in stored.items()
        if held.vector is not None and length
    }


def answer_of_sights(
    scores: Mapping[FoundId, float],
    sighted: Mapping[FoundId, str],
    stored: Mapping[FoundId, Held],
    scope: Scope,
    limit: int,
    cosines: Mapping[FoundId, float],
) -> tuple[Seen, ...]:
    """Return what was found in the own graph, best first, as ``answer`` does.

    Args:
        scores: By the engine's ids, at least those of the answer.
        sighted: The ids of records among them that are known, by the engine's ids.
        stored: What is stored for the rest; what is gone meanwhile is left out.
        scope: Who asks.
        limit: How many to return.
        cosines: To the question, by the engine's ids, where known.

    Raises:
        CorruptRecord: A payload is not one that ``payload_of`` makes.
    """
    names = {**{point: str(held.payload.get("id")) for point, held in stored.items()}, **sighted}
    found = [(-scores[point], name, point) for point, name in names.items()]
    found.sort(key=itemgetter(0, 1))
    return tuple(
        Sighted(name, -score, "warm", cosine=cosines.get(point))
        if point in sighted
        else hit_of(stored[point].payload, -score, scope, cosines.get(point))
        for score, name, point in found[:limit]
    )


def _reciprocal_ranks(scores: Sequence[float], rrf_k: int) -> list[float]:
    weights: dict[float, float] = {}
    for rank, score in enumerate(sorted(scores, reverse=True)):
        if score not in weights:
            weights[score] = 1 / (rrf_k + rank)
    return [weights[score] for score in scores]


def rounded(score: float) -> float:
    """Return a score without the digits in which two computations of the same sum differ."""
    return float(f"{score:.{SCORE_DIGITS}g}")


def all_rounded(scores: Sequence[float]) -> list[float]:
    """Return scores ``rounded``, at a third of the cost for each."""
    digits = f"%.{SCORE_DIGITS}g " * len(scores) % tuple(scores)
    return list(map(float, digits.split()))


def _ends(text: str) -> str:
    """Return a long question's beginning and end, where what is asked is said."""
    if len(text) <= QUERY_CHARS:
        return text
    half = QUERY_CHARS // 2
    return f"{text[:half]} {text[-half:]}"
