"""The terms of texts, remembered: a pool is read at every question, and its texts never change."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from typing import TypeAlias

from tiers.lexical import STOP_WORDS, sentences, words
from tiers.terms import term_of

from .cues import tells_number, tells_time
from .weights import QUESTION_WORDS_MAX, TOLD_WORDS_MAX

TEXTS_REMEMBERED = 20_000


Bag: TypeAlias = tuple[Mapping[int, int], int, int, bool, bool, bool]
"""What scoring needs of a text, by the names that ``pool.Candidate`` has for it: ``counts``,
``terms``, ``words``, ``has_time``, ``has_number``, ``only_asks``.

A plain tuple of numbers, on purpose: the garbage collector looks at it once and then never again.
Thousands of instances that are kept, and as many that come and go with every question, would make
it go through the whole process every few questions, for a tenth of a second.
"""


class Reader:
    """Reads texts, each once. What is kept are hashes of this process, and it turns over."""

    def __init__(self, texts_max: int = TEXTS_REMEMBERED) -> None:
        self._texts_max = texts_max
        self._bags: OrderedDict[int, Bag] = OrderedDict()

    def read(self, text: str) -> Bag:
        """Return the terms of a text."""
        key = hash(text)
        bag = self._bags.get(key)
        if bag is None:
            bag = self._bags[key] = bag_of(text)
            while len(self._bags) > self._texts_max:
                self._bags.popitem(last=False)
        else:
            self._bags.move_to_end(key)
        return bag


def bag_of(text: str) -> Bag:
    """Return the terms of a text, not remembering them."""
    found = words(text)
    counts: dict[int, int] = {}
    terms = 0
    for word in found:
        if word not in STOP_WORDS:
            term = hash(term_of(word))
            counts[term] = counts.get(term, 0) + 1
            terms += 1
    only_asks = _only_asks(text, len(found))
    return (counts, terms, len(found), tells_time(found), tells_number(found), only_asks)


def _only_asks(text: str, length: int) -> bool:
    if length > QUESTION_WORDS_MAX or not text.rstrip().endswith("?"):
        return False
    said = text.partition(": ")[2] or text  # who speaks stands before it
    told = [one for one in sentences(said) if not one.endswith("?")]
    return sum(word not in STOP_WORDS for one in told for word in words(one)) <= TOLD_WORDS_MAX


def key_of(word: str) -> int:
    """Return the hash under which bags count a word."""
    return hash(term_of(word))
