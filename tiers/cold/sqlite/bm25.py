"""Word statistics of one graph, for an index that holds every graph. Pure.

In the index every word carries the mark of its graph and kind, so a question about the facts of
one graph reads the posting lists of that graph's facts, however much else there is.

FTS5's ``bm25()`` takes N, the number of documents, from the whole index. Left alone, every marked
word would look rare, and ranks would flatten as other graphs grow. ``local_weight`` turns a term's
score into the one that the records asked about would give by themselves. Only the average length
remains a figure of the whole index.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence

from ...lexical import content_words, words

QUERY_WORDS_MAX = 64
_IDF_MIN = 1e-6  # what FTS5 uses for a word in more than half of the documents

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


def marked_terms(marks: Sequence[str], text: str) -> list[tuple[str, str]]:
    """Return a question's different content words, each under every mark as an FTS5 phrase.

    ``words`` lets only letters and digits through and each phrase is quoted, so nothing in a
    question can be read as FTS5 syntax. At most ``QUERY_WORDS_MAX`` words.

    Returns:
        Pairs of the word and the phrase to look up for it.
    """
    asked = content_words(text)[:QUERY_WORDS_MAX]
    return [(word, f'"{mark}{word}"') for word in asked for mark in marks]


def local_weight(listed: int, having: int, records: int, all_records: int) -> float:
    """Return by what a term's ``bm25()`` is multiplied to rank among the records asked about.

    Args:
        listed: Records in the term's own posting list: those of one kind with the word.
        having: Records with the word, over all kinds asked about.
        records: Records of the graph, of all kinds asked about.
        all_records: Records of the whole index.
    """
    local = math.log(1 + (max(records, having) - having + 0.5) / (having + 0.5))
    whole = math.log((max(all_records, listed) - listed + 0.5) / (listed + 0.5))
    return local / max(whole, _IDF_MIN)
