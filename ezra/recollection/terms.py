"""The terms of texts, remembered: a pool is read at every question, and its texts never change."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Mapping
from typing import NamedTuple

from tiers.lexical import STOP_WORDS, sentences, words
from tiers.terms import term_of

from .cues import tells_number, tells_time
from .weights import QUESTION_WORDS_MAX, TOLD_WORDS_MAX

TEXTS_REMEMBERED = 20_000


class Bag(NamedTuple):
    """What scoring needs of a text.

    Attributes:
        counts: How often it has each term, by the term's hash in this process.
        terms: How many terms it has, stop words aside.
        words: How many words it has.
        has_time: Whether it says when something is, was or will be.
        has_number: Whether it has a number.
        only_asks: Whether it is a short question and tells next to nothing.
    """

    counts: Mapping[int, int]
    terms: int
    words: int
    has_time: bool
    has_number: bool
    only_asks: bool


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
    counts = Counter([hash(term_of(word)) for word in found if word not in STOP_WORDS])
    return Bag(
        counts=dict(counts),
        terms=counts.total(),
        words=len(found),
        has_time=tells_time(found),
        has_number=tells_number(found),
        only_asks=_only_asks(text, len(found)),
    )


def _only_asks(text: str, length: int) -> bool:
    if length > QUESTION_WORDS_MAX or not text.rstrip().endswith("?"):
        return False
    said = text.partition(": ")[2] or text  # who speaks stands before it
    told = [one for one in sentences(said) if not one.endswith("?")]
    return sum(word not in STOP_WORDS for one in told for word in words(one)) <= TOLD_WORDS_MAX


def key_of(word: str) -> int:
    """Return the hash under which bags count a word."""
    return hash(term_of(word))
