"""Statements: which sentences say something, how much each carries, and which of them a text tells.

Pure, and of the text alone. The patterns know English; of other languages rarity, names and numbers
are left, which is most of a weight.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from tiers.lexical import STOP_WORDS, content_words, stem, words

from ..distinctive import NEGATIONS, distinctive, missing, names, numbers, vocabulary

TOLD_SHARE_MIN = 2 / 3
"""Of the ordinary words of a statement, that the sentence which tells it has. Of its numbers and
names it has all."""

ROOT_CHARS = 5
"""So far two words must agree to be forms of one: decide, decided, decision."""

REPEATED = 0.9
"""What a word is worth again after each sentence that has been chosen and has it."""

_SMALL_TALK = frozenset(
    "absolutely agree ah aha amazing always anyone anything awesome back best better big bit bye "
    "care cheers congrat congratulation cool day definitely else ever everything exactly excited "
    "exciting fantastic feel feeling fine fun get glad go going gonna good goodbye got great guess "
    "guy haha happy hear heard hello hey hi hmm hope hopefully im incredible ive keep kind know "
    "like lol look looking lot love lovely luck make makes made maybe mean miss morning much need "
    "never new nice night no oh ok okay one people perfect please pleasure pretty problem really "
    "right see share sharing sorry soon sound still stuff super sure take talk thank thankful "
    "thats thing thought time today totally true try way welcome well wish wonderful worries wow "
    "yay yea yeah yep yes aw aww ha hm huh oops sweet ugh yikes".split()
)
"""Stems of words of courtesy and chat: alone they say nothing."""

_ACKNOWLEDGES = frozenset("acknowledged alright mind noted remember roger sense understood".split())
"""Stems of words by which one says that one has heard, where nothing is denied."""

_DENIES = re.compile(
    r"\b(?:no|not|never|none|cannot|\w+n['\u2019]t|wrong|false|untrue|incorrect|lie|mistaken)\b",
    re.IGNORECASE,
)
_DENIES_NOTHING = re.compile(
    r"\b(?:no (?:problem|worries|way|doubt|wonder|idea|hurry|rush|need)"
    r"|not (?:bad|at all|much|sure)|nothing much|why not|never mind|can['\u2019]?t wait"
    r"|don['\u2019]t worry)\b",
    re.IGNORECASE,
)
_OF_DENIALS = frozenset("wrong fals untru incorrect lie mistaken certain".split())
"""Stems of words that only say whether something else is so."""

_WORDS_DENIED_MIN = 3

_GREETS = re.compile(
    r"(?:hi|hey|hello|bye|goodbye|thanks|thank you|good (?:morning|afternoon|evening|night|luck)"
    r"|congrat(?:ulation)?s|take care|see you|you['\u2019]re welcome)\b[^.:;]*$",
    re.IGNORECASE,
)
_SMALL_TALK_SHARE = 0.3
_SOMETHING_PARTICULAR = 2.0
"""What a name or a number adds to its word: nobody can make it up again."""

# As if every text were the end of a conversation of so many sentences, in which any word stood so
# often before: of the few sentences of one text alone, how often each word stands says little.
_SENTENCES_BEFORE = 100
_TIMES_BEFORE = 3

_FIRST_PERSON = re.compile(
    r"\b(?:I(?:['\u2019](?:m|ve|d|ll))?|[Mm]y|[Mm]ine|[Mm]e|[Ww]e|[Oo]urs?|[Uu]s)\b"
)
_WHEN = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|since|weeks?|weekends?|months?|years?"
    r"|january|february|march|april|may|june|july|august|september|october|november|december"
    r"|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    re.IGNORECASE,
)
_EVENT = re.compile(
    r"\b(?:[a-z]{2,32}ed|went|got|took|made|had|was|were|did|saw|met|bought|won|began|found|started"
    r"|gave|came|left|lost|taught|wrote|read|ran|sold|built|broke|chose|fell|felt|flew|grew|paid)\b",
    re.IGNORECASE,
)
_OPINION = re.compile(
    r"\b(?:I (?:think|guess|hope|wish|bet|feel)|(?<!tell )(?<!told )you"
    r"|it['\u2019]?s (?:so|such|great|important))\b",
    re.IGNORECASE,
)
_ASKS = re.compile(r"[?\uff1f][\"'\u2019\u201d)\]]*$")

_MARKS: Sequence[tuple[re.Pattern[str], float]] = (
    (_FIRST_PERSON, 1.4),
    (_WHEN, 1.5),
    (_EVENT, 1.3),
    (_OPINION, 0.7),
    (_ASKS, 0.3),
)
"""What makes a sentence worth more or less, and how many times: what somebody says of themselves,
when something was, that it happened; against it what is thought of another's words, or asked."""


@dataclass(frozen=True)
class Carried:
    """What a sentence carries.

    Attributes:
        worth: Of each of its words, by stem.
        factor: What its form makes of their sum: who speaks of what, when, whether it is asked.
            Its length has no part in it.
    """

    worth: Mapping[str, float]
    factor: float

    def weight(self, had: Mapping[str, int]) -> float:
        """Return what it says beyond sentences that have these words so often."""
        fresh = (worth * REPEATED ** had.get(word, 0) for word, worth in self.worth.items())
        return self.factor * math.fsum(fresh)


def is_courtesy(text: str) -> bool:
    """Whether a sentence only greets, thanks, praises or agrees, or has no words at all.

    Whom it greets or thanks says no more.
    """
    said = {word for word in words(text) if word not in STOP_WORDS}
    idle = _SMALL_TALK if _DENIES.search(text) else _SMALL_TALK | _ACKNOWLEDGES
    strange = [word for word in said if stem(word) not in idle]
    if len(strange) == 1 and _GREETS.match(text):
        strange = [word for word in strange if word.capitalize() not in text]
    return not strange and not numbers(text)


def can_be_denied(text: str) -> bool:
    """Whether a sentence asks or says something to which a bare "no" may answer: not ``Noted.``"""
    return asks(text) or (len(words(text)) >= _WORDS_DENIED_MIN and not is_courtesy(text))


def is_bare_denial(text: str) -> bool:
    """Whether a sentence says only that something is not so: ``He did not.``, ``That was a lie.``

    What it denies was said before it.
    """
    said = {word for word in words(text) if word not in STOP_WORDS}
    is_bare = all(stem(word) in _SMALL_TALK | _OF_DENIALS for word in said) and not numbers(text)
    return is_bare and bool(_DENIES.search(text)) and not _DENIES_NOTHING.search(text)


def asks(sentence: str) -> bool:
    """Whether a sentence is a question."""
    return bool(_ASKS.search(sentence))


def is_statement(text: str) -> bool:
    """Whether a sentence says something that could get lost: it is no courtesy and no question."""
    return not asks(text) and not is_courtesy(text)


def carried(texts: Sequence[str]) -> list[Carried]:
    """Return what each of some sentences carries, among the others.

    A word is worth the logarithm of its rarity among them (Spärck Jones, "A statistical
    interpretation of term specificity", 1972), a name or number more, a word of chat less.
    """
    stems = [{stem(word) for word in content_words(text)} for text in texts]
    counts = Counter(word for found in stems for word in found)
    known = {stem(name) for text in texts for name in names(text)}
    return [
        Carried(_worth(text, found, counts, known, len(texts)), _factor(text))
        for text, found in zip(texts, stems, strict=True)
    ]


def _worth(
    text: str, stems: Iterable[str], counts: Mapping[str, int], known: set[str], sentences: int
) -> dict[str, float]:
    worth = {}
    for word in stems:
        rarity = math.log((sentences + _SENTENCES_BEFORE) / (counts[word] + _TIMES_BEFORE))
        worth[word] = rarity * (_SMALL_TALK_SHARE if word in _SMALL_TALK else 1.0)
        if word in known:
            worth[word] += _SOMETHING_PARTICULAR
    for number in numbers(text):
        worth[number] = worth.get(number, 0.0) + _SOMETHING_PARTICULAR
    return worth


def _factor(text: str) -> float:
    return math.prod(times for mark, times in _MARKS if mark.search(text))


class Telling:
    """What a text tells, sentence by sentence.

    Args:
        sentences: Of the text, without labels.
    """

    def __init__(self, sentences: Sequence[str]) -> None:
        self._verbatim = frozenset(sentences)
        self._parts = [_Part.of(one) for one in sentences]

    def left_out(self, statements: Iterable[str]) -> list[str]:
        """Return the statements that no sentence of the text tells, each once, in order.

        One sentence has to have all numbers and names of a statement, two thirds of its other
        words in some form, and a negation if the statement has one: a list of all words of a
        conversation tells none of it.
        """
        return [one for one in dict.fromkeys(statements) if not self._tells(one)]

    def _tells(self, statement: str) -> bool:
        if statement in self._verbatim:
            return True
        particular = distinctive(statement)
        ordinary = {word for word in content_words(statement) if word not in particular}
        is_denied = not NEGATIONS.isdisjoint(words(statement))
        return any(
            part.has_most(ordinary)
            and (part.is_denied or not is_denied)
            and not missing(particular, part.have)
            for part in self._parts
        )


@dataclass(frozen=True)
class _Part:
    have: frozenset[str]
    roots: frozenset[str]
    is_denied: bool

    @classmethod
    def of(cls, sentence: str) -> _Part:
        said = words(sentence)
        roots = frozenset(word[:ROOT_CHARS] for word in said if len(word) >= ROOT_CHARS)
        return cls(vocabulary(sentence), roots, not NEGATIONS.isdisjoint(said))

    def has_most(self, ordinary: set[str]) -> bool:
        found = sum(stem(word) in self.have or word[:ROOT_CHARS] in self.roots for word in ordinary)
        return found >= TOLD_SHARE_MIN * len(ordinary)
