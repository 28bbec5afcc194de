"""What makes two engines answer alike: the words of a text, and the order of candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from qdrant_edge import Bm25, Bm25Config, SparseVector

QUERY_CHARS = 2_000
"""Most of a question that the lexical leg reads; 300 different words take 5 ms."""


SCORE_DIGITS = 5
"""Significant digits of a leg's score that count; engines add up 32-bit floats."""


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


class Candidate(NamedTuple):
    """What one leg of a search found: its score there, the record's id and the engine's."""

    score: float
    record_id: str
    found_id: str


def best(legs: Sequence[Sequence[Candidate]], rrf_k: int, limit: int) -> dict[str, float]:
    """Return the engine's ids of the best candidates with their scores, best first, ties by id.

    Of one leg the scores are its own. Several are fused by reciprocal rank (Cormack, Clarke and
    Büttcher, 2009): the sum of ``1 / (rrf_k + rank)``, ranks counted from 0. Candidates that a leg
    scores alike share a rank there, so that the order does not depend on the order in which an
    engine happens to hold them, which differs from engine to engine and from copy to copy.

    Args:
        legs: What each leg found.
        rrf_k: How much the first ranks are favoured; smaller favours them more.
        limit: How many to return.
    """
    scores: dict[str, float] = {}
    record_ids: dict[str, str] = {}
    for leg in legs:
        weights = [_score(one) for one in leg] if len(legs) == 1 else _reciprocal_ranks(leg, rrf_k)
        for candidate, weight in zip(leg, weights, strict=True):
            record_ids[candidate.found_id] = candidate.record_id
            scores[candidate.found_id] = scores.get(candidate.found_id, 0.0) + weight
    # By the engine's ids at last: two ancestors may hold records of one id.
    ordered = sorted(scores, key=lambda one: (-scores[one], record_ids[one], one))
    return {found_id: scores[found_id] for found_id in ordered[:limit]}


def _reciprocal_ranks(leg: Sequence[Candidate], rrf_k: int) -> list[float]:
    scores = [_score(one) for one in leg]
    ranks: dict[float, int] = {}
    for rank, score in enumerate(sorted(scores, reverse=True)):
        ranks.setdefault(score, rank)
    return [1 / (rrf_k + ranks[score]) for score in scores]


def _score(candidate: Candidate) -> float:
    """Return a score without the digits in which two computations of the same sum differ."""
    return float(f"{candidate.score:.{SCORE_DIGITS}g}")


def _ends(text: str) -> str:
    """Return a long question's beginning and end, where what is asked is said."""
    if len(text) <= QUERY_CHARS:
        return text
    half = QUERY_CHARS // 2
    return f"{text[:half]} {text[-half:]}"
