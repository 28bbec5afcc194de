"""BM25 over the words of one graph, in an index that holds every graph. Pure.

In the index every word carries the mark of its graph and kind, so a question about the facts of
one graph reads the posting lists of that graph's facts, however much else there is.

The formula is that of FTS5's ``bm25()`` (Robertson and Zaragoza, "The Probabilistic Relevance
Framework: BM25 and Beyond", 2009, with ``k1 = 1.2`` and ``b = 0.75``). Its figures are the graph's
own: FTS5 would take the number of documents and their average length from the whole index, so that
what one graph holds would change the ranks of another.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from ...lexical import content_words, words
from ...terms import term_of

QUERY_WORDS_MAX = 64
K1, B = 1.2, 0.75

# Vowels would count in the Porter stemmer's measure of a word; hex digits without a and e do not.
_CONSONANTS = str.maketrans("ae", "gh")
_MARK_CHARS = 16


def mark_of(tenant: str, graph_id: str, kind: str) -> str:
    """Return what stands before each word of a graph's records of one kind: 64 bits of a digest.

    Digits and consonants only, so that the stemmer behind it treats the word as if it were alone.
    """
    digest = hashlib.sha256()
    for name in (tenant, graph_id, kind):
        data = name.encode()
        digest.update(len(data).to_bytes(8, "big") + data)
    return digest.hexdigest()[:_MARK_CHARS].translate(_CONSONANTS)


def marked_text(mark: str, text: str) -> str:
    """Return the words of a text in the form in which they are indexed."""
    return " ".join(f"{mark}{word}" for word in words(text))


def length_of(marked: str) -> int:
    """Return how many words a marked text has."""
    return marked.count(" ") + 1 if marked else 0


class AskedTerm(NamedTuple):
    """What a question asks for: a stem, one of the words that have it, and how many do."""

    term: str
    word: str
    times: int


def asked_terms(text: str) -> list[AskedTerm]:
    """Return the stems of a question's different content words, at most ``QUERY_WORDS_MAX``."""
    found: dict[str, AskedTerm] = {}
    for word in content_words(text)[:QUERY_WORDS_MAX]:
        term = term_of(word)
        if term:
            before = found.get(term, AskedTerm(term, word, 0))
            found[term] = before._replace(times=before.times + 1)
    return list(found.values())


def phrase_of(mark: str, word: str) -> str:
    """Return the FTS5 phrase for a word of a graph's records of one kind.

    ``words`` lets only letters and digits through and the phrase is quoted, so nothing in a
    question can be read as FTS5 syntax.
    """
    return f'"{mark}{word}"'


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
