"""BM25 over the words of one graph. Pure.

The formula is that of Robertson and Zaragoza, "The Probabilistic Relevance Framework: BM25 and
Beyond", 2009, with ``k1 = 1.2`` and ``b = 0.75``, as SQLite's FTS5 has it. Its figures are the
graph's own: what another graph holds does not change the ranks.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ..lexical import content_words
from ..terms import term_of

QUERY_WORDS_MAX = 64
K1, B = 1.2, 0.75


class AskedTerm(NamedTuple):
    """What a question asks for: a stem, and how many of its words have it."""

    term: str
    times: int


def asked_terms(text: str) -> list[AskedTerm]:
    """Return the stems of a question's different content words, at most ``QUERY_WORDS_MAX``."""
    found: dict[str, AskedTerm] = {}
    for word in content_words(text)[:QUERY_WORDS_MAX]:
        term = term_of(word)
        if term:
            before = found.get(term, AskedTerm(term, 0))
            found[term] = before._replace(times=before.times + 1)
    return list(found.values())


def rarity(having: int, records: int) -> float:
    """Return the inverse document frequency of a term; above 0 however common it is."""
    return math.log(1 + (max(records, having) - having + 0.5) / (having + 0.5))


class Norm(NamedTuple):
    """How a record's length counts: a term that it has ``n`` times weighs ``n / (n + norm)``.

    The norm is ``flat`` plus ``per_word`` for each of its words.
    """

    flat: float
    per_word: float


def norm_of(records: int, all_words: int) -> Norm:
    """Return the norm in a graph of so many records that have so many words together."""
    average = max(1, all_words) / max(1, records)
    return Norm(K1 * (1 - B), K1 * B / average)


def looked_up(having: Mapping[str, int], most: int) -> list[str]:
    """Return the terms to look up: the rarest first, while their records are ``most`` at most.

    Terms that no record has are left out.
    """
    chosen: list[str] = []
    room = most
    for term in in_order_of_rarity(having):
        room -= having[term]
        if room < 0:
            break
        chosen.append(term)
    return chosen


def in_order_of_rarity(having: Mapping[str, int]) -> Sequence[str]:
    """Return the terms that any record has, the rarest first, those alike by name."""
    return sorted(filter(having.get, having), key=lambda term: (having[term], term))
