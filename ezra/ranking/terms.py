"""What texts are weighed by, remembered: a pool is read at every question, and texts never change.

Only hashes of this process are kept of what a text says. Of turns, which are the most by far, that
is kept by their ids, with who said it and when, so that engines need not tell them again.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Protocol, TypeAlias

from tiers.forms import entry_of
from tiers.lexical import STOP_WORDS, sentences, symbols, ungrouped, words
from tiers.records import Turn
from tiers.terms import one_of_alike, term_of

from .cues import only_greets, tells_clock, tells_number, tells_time, without_greeting
from .weights import QUESTION_WORDS_MAX, TOLD_WORDS_MAX

TEXTS_REMEMBERED = 20_000
TURNS_REMEMBERED = 50_000
"""Of turns, about 1 kB each; of other texts a little less."""

WORDS_REMEMBERED = 50_000

HEARD_CHARS_MAX = 2_000
"""Longer than this, a text takes more than about 0.2 ms to read."""


_ASKS = (
    r"(?:can|could|would|will|should|shall|may|might|do|does|did|is|are|was|were|have|has|any|what"
    r"|which|how|where|when|who|whose|why)\b"
)
_THEN_ASKS = re.compile(
    rf"[,;:\u2013\u2014]\s+(?:(?:so|and|but|or|now|then)\s+)?{_ASKS}", re.IGNORECASE
)
"""Where a sentence that has told something begins to ask."""

_ASKS_AT_ONCE = re.compile(
    rf"\W*(?:(?:so|and|but|or|well|ok|okay|hey|hi|hm+|oh|please|also)\b\W*)*{_ASKS}", re.IGNORECASE
)


Bag: TypeAlias = tuple[Mapping[int, int], int, int, int, bool, bool, bool]
"""What scoring needs of a text, by the names that ``pool.Candidate`` has for it: ``counts``,
``terms``, ``words``, ``wording``, ``has_time``, ``has_number``, ``only_asks``.

A plain tuple of numbers, on purpose: the garbage collector looks at it once and then never again.
Thousands of instances that are kept, and as many that come and go with every question, would make
it go through the whole process every few questions, for a tenth of a second.
"""

Reading: TypeAlias = tuple[
    Mapping[int, int], int, int, int, bool, bool, bool, str, str, str | None, datetime
]
"""What is kept of a turn: its ``Bag``, then ``speaker``, ``agent_id``, ``user_id`` and
``happened_at``; as plain a tuple."""


class Reader:
    """Reads texts, each once, as far as it remembers them; the oldest give way.

    Args:
        texts_max: How many texts are remembered.
        turns_max: How many turns are, of all graphs together.
    """

    def __init__(
        self, texts_max: int = TEXTS_REMEMBERED, turns_max: int = TURNS_REMEMBERED
    ) -> None:
        self._texts_max = texts_max
        self._turns_max = turns_max
        self._bags: OrderedDict[int, Bag] = OrderedDict()
        self._graphs: OrderedDict[tuple[str, str], OrderedDict[str, Reading]] = OrderedDict()
        self._turns = 0

    def read(self, text: str) -> Bag:
        """Return the terms of a text."""
        key = hash(text)
        bag = self._bags.get(key)
        if bag is None:
            bag = self._bags[key] = bag_of(text)
            while len(self._bags) > self._texts_max:
                self._bags.popitem(last=False)
        return bag

    def heard(self, turn: Turn) -> None:
        """Read a turn that was just stored, while its text is at hand; a long one when found."""
        entry = entry_of(turn)
        if len(entry.text) <= HEARD_CHARS_MAX:
            reading = reading_of(bag_of(entry.text), entry, turn.occurred_at)
            self.keep(turn.tenant, turn.graph_id, turn.id, reading)

    def known(self, tenant: str, graph_id: str) -> KnownTurns:
        """Return what is known of a graph's turns, for one question."""
        graph = (tenant, graph_id)
        readings = self._graphs.get(graph)
        if readings is not None:
            self._graphs.move_to_end(graph)
        return KnownTurns(self, graph, readings or {})

    def forget(self, tenant: str, graph_id: str) -> None:
        """Forget a graph's turns: some of them are gone."""
        self._turns -= len(self._graphs.pop((tenant, graph_id), ()))

    def keep(self, tenant: str, graph_id: str, turn_id: str, reading: Reading) -> None:
        """Remember a turn. The oldest of the graph that was not asked for longest gives way."""
        readings = self._graphs.setdefault((tenant, graph_id), OrderedDict())
        self._turns += turn_id not in readings
        readings[turn_id] = reading
        while self._turns > self._turns_max:
            graph, longest = next(iter(self._graphs.items()))
            longest.popitem(last=False)
            self._turns -= 1
            if not longest:
                del self._graphs[graph]


class KnownTurns:
    """What is known of one graph's turns while one question lasts: ``tiers.known_records.Known``.

    What it was once asked for it does not forget meanwhile, whatever gives way in the reader.
    """

    def __init__(
        self, reader: Reader, graph: tuple[str, str], readings: Mapping[str, Reading]
    ) -> None:
        self._reader = reader
        self._graph = graph
        self._readings = readings
        self._asked: dict[str, Reading] = {}

    def __contains__(self, turn_id: str) -> bool:
        reading = self._readings.get(turn_id)
        if reading is None:
            return turn_id in self._asked
        self._asked[turn_id] = reading
        return True

    def __getitem__(self, turn_id: str) -> Reading:
        """Return the reading of a turn that was asked for."""
        return self._asked[turn_id]

    def keep(self, turn_id: str, reading: Reading) -> None:
        """Remember a turn as it is stored."""
        self._reader.keep(*self._graph, turn_id, reading)


class Speaks(Protocol):
    """What a turn is read from, as a hit or in its conversation."""

    @property
    def speaker(self) -> str:
        """Who says it."""

    @property
    def agent_id(self) -> str:
        """Who wrote it."""

    @property
    def user_id(self) -> str | None:
        """Whose it is."""


def reading_of(bag: Bag, turn: Speaks, happened_at: datetime) -> Reading:
    """Return what is kept of a turn."""
    return (*bag, turn.speaker, turn.agent_id, turn.user_id, happened_at)


def bag_of(text: str) -> Bag:
    """Return the terms of a text, not remembering them."""
    found = words(text)
    found += symbols(text, found)
    has_figures = not "".join(found).isalpha()  # most texts have none, and are read once
    counts: dict[int, int] = {}
    terms, has_time, has_number = 0, False, False
    for key, is_time, is_number in map(
        _read_word, (*found, *ungrouped(text)) if has_figures else found
    ):
        if key is not None:
            counts[key] = counts.get(key, 0) + 1
            terms += 1
        has_time |= is_time
        has_number |= is_number
    if has_time and "good" in found:
        has_time = tells_time(words(without_greeting(text)))
    has_time = has_time or (has_figures and tells_clock(text))
    speaker, _, said = text.partition(": ")
    greeting = found[len(words(speaker)) :] if said else found
    tells_nothing = _only_asks(text, len(found)) or only_greets(greeting)
    return (counts, terms, len(found), hash(tuple(found)), has_time, has_number, tells_nothing)


@lru_cache(maxsize=WORDS_REMEMBERED)
def _read_word(word: str) -> tuple[int | None, bool, bool]:
    """Return a word's key unless it is a stop word, whether it tells a time, and a number."""
    key = None if word in STOP_WORDS else key_of(word)
    return key, tells_time((word,)), tells_number((word,))


def _only_asks(text: str, length: int) -> bool:
    if length > QUESTION_WORDS_MAX or not text.rstrip().endswith("?"):
        return False
    statements = [_statement_in(one) for one in sentences(_without_speaker(text))]
    return (
        sum(word not in STOP_WORDS for one in statements for word in words(one)) <= TOLD_WORDS_MAX
    )


def _without_speaker(text: str) -> str:
    """Return what was said, without who says it, which stands before it."""
    return text.partition(": ")[2] or text


def _statement_in(sentence: str) -> str:
    """Return what a sentence tells: all of it, or what stands before the question it ends in."""
    if not sentence.endswith("?"):
        return sentence
    asks = _THEN_ASKS.search(sentence)
    if asks is None or _ASKS_AT_ONCE.match(sentence):
        return ""
    return sentence[: asks.start()]


def key_of(word: str) -> int:
    """Return the hash under which bags count a word, and all that mean the same."""
    return hash(one_of_alike(term_of(word)))
