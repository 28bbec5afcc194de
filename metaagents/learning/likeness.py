"""When two texts say the same, by their words. Pure.

Two texts are alike when they are made of nearly the same content words and nothing tells them
apart. What tells texts apart is looked at first and counts for more than what they share: one
number, one name or one "not" makes another fact of the same words. Precision comes before recall:
two facts too many are a nuisance, a fact that was taken for another one is lost from sight.

Vectors find what to compare and decide nothing here: of the pairs that the tests hold, MiniLM puts
the two directions of one train at 0.99 and two ways of telling where somebody lives at 0.89.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tiers.lexical import STOP_WORDS, stem, words

from ..distinctive import NEGATIONS, is_negated, names, numbers
from .regexes import any_case, regex

NEAR_OVERLAP = 0.85
"""Of the content words of both texts, from which on they may be alike (Atlas: the same)."""

REMEMBERED_TEXTS = 4_096
REMEMBERED_CHARS_MAX = 1_000

_HEDGES = frozenset("about approx approximately around roughly circa ca".split())
"""Before a number they say how exact it is, which makes no other fact of it."""

_ASIDE = frozenset(
    "currently presently actually basically generally simply just now also indeed please still "
    "really any".split()
)
"""Words that say how sure a statement is, at most: they are no content."""

_PERSONS = {
    word: person
    for person, line in {
        "i": "i im ive ill id me my mine myself",
        "we": "we us our ours ourselves",
        "you": "you your yours yourself yourselves youre",
        "he": "he him his himself",
        "she": "she her hers herself",
        "they": "they them their theirs themselves",
        "this": "this these",
        "those": "those",
        "here": "here",
    }.items()
    for word in line.split()
}
_PAST = frozenset("was were had did".split())
_WAS = "past"
_CONTRACTED = {
    "wasnt": _WAS, "werent": _WAS, "hadnt": _WAS, "didnt": _WAS, "wont": "will", "cant": "can",
    "cannot": "can", "wouldnt": "would", "shouldnt": "should", "couldnt": "could",
}  # fmt: skip
_TURNING_STOP_WORDS = frozenset(
    "above after against all again are before below both by can could down during each few from if "
    "must might every into more most off once only other out over own same should some than "
    "through too under until up very when where while who will would because why how".split()
)
_TURNING_WORDS = frozenset(
    "almost nearly hardly barely rarely seldom sometimes often usually always mostly partly half "
    "perhaps maybe possibly probably allegedly supposedly formerly previously former "
    "ex except unless instead fake failed cancelled canceled refused stopped quit denied twice "
    "less least next last first second third fourth fifth left right front rear old new main other "
    "another near nearby inside outside within around behind beside beyond towards toward "
    # Who denies in another language adds a word, too.
    "nicht kein keine keinen nie niemals pas jamais non mai nunca nada ninguno sin niet geen nem "
    "ne sans senza ohne".split()
)
"""Content words that make another statement of the one that they are added to."""

_SAME = {
    word: one
    for one, line in {
        "km": "kilometer kilometre",
        "kg": "kilogram kilo",
        "kmh": "kph",
        "percent": "pct",
        "hour": "hr",
        "minute": "min",
        "second": "sec",
        "euro": "eur",
        "dollar": "usd",
        "live": "reside dwell",
        "start": "begin commence",
        "buy": "purchase",
        "bought": "purchased",
        "car": "automobile",
        "phone": "telephone",
        "film": "movie",
        "bike": "bicycle",
        "holiday": "vacation",
        "flat": "apartment",
        "doctor": "physician",
        "autumn": "fall",
        "use": "utilize utilise",
        "need": "require",
        "each": "every",
        "shop": "store",
        "close": "shut",
        "parcel": "package",
        "repair": "fix mend",
        "repaired": "fixed mended",
        "lawyer": "attorney",
        "mother": "mum mom",
        "father": "dad",
        "child": "kid",
        "ill": "sick",
        "afraid": "scared",
        "big": "large",
        "photo": "photograph",
        "taxi": "cab",
        "sofa": "couch",
    }.items()
    for word in line.split()
}
"""Other words for the same, whatever they stand beside."""

_DENYING = {
    "impossible": "possible", "unable": "able", "unavailable": "available", "invalid": "valid",
    "unnecessary": "necessary", "incomplete": "complete", "unsafe": "safe", "unknown": "known",
    "unencrypted": "encrypted", "undecided": "decided",
}  # fmt: skip
"""Words that deny another."""

_TELLING_ALONE = frozenset(("if", "only", "past", "will", "?"))
"""What turns a meaning even where the other text has nothing to set against it."""

_OPPOSED = tuple(
    frozenset(line.split())
    for line in (
        "before after", "above below", "over under", "up down", "into out", "more few",
        "i we you he she they", "all some both each",
    )
)  # fmt: skip

_FRONTED = regex(
    r"^\s*((?:on|in|at|during|since|for|every|each) [^,.;]{1,60}), (.+)$", re.IGNORECASE | re.DOTALL
)
_PLACED = any_case(r"\b(at|in|on|during) (?:the )?([^\W_][\w'\u2019-]{0,63})")
_POSSESSIVE = regex(r"((?:[^\W\d_]{1,40} ){0,2}[^\W\d_]{1,40})['\u2019]s? ([^\W\d_]{1,40})\b")
_SYMBOL = regex(r"[^\w\s.,;:!?'\"()\[\]\u2018-\u201d-]|(?<![^\s(])[-\u2212](?=\d)")
_IS_WORD = regex(r"[^\W\d]")
_NOT = "not"
_OTHER_NEGATIONS = frozenset("nobody nothing none neither nor without".split())
"""They deny something else than the verb; all others are one."""

_SPELLINGS = (
    ("isation", "ization"),
    ("ise", "ize"),
    ("ised", "ized"),
    ("ising", "izing"),
    ("our", "or"),
    ("tre", "ter"),
    ("tyre", "tire"),
)
_SPELT_OTHERWISE = tuple(ending for ending, _ in _SPELLINGS)


@dataclass(frozen=True, slots=True)
class Reading:
    """What of a text is compared.

    Attributes:
        content: Its content words as stems in one spelling, and its numbers.
        order: The same and the small words that turn a meaning, as they follow each other.
        front: Of these, what stands before the comma of a text that opens with a time or a place.
        placed: The only time or place that it names by ``at``, ``in``, ``on`` or ``during``, with
            that word: it may stand anywhere. Of several, it matters what stands with which.
        turns: The small words, persons and tenses that turn its meaning.
        numbers: Its numbers, dates and versions, in one spelling.
        names: The words of its names.
        opening: Its first word, where a capital there may be that of a name.
        plain: Every word as a stem.
        is_negated: Whether it says that something is not so.
    """

    content: frozenset[str]
    order: tuple[str, ...]
    front: frozenset[str]
    placed: tuple[str, str] | None
    turns: frozenset[str]
    numbers: frozenset[str]
    names: frozenset[str]
    opening: str
    plain: frozenset[str]
    is_negated: bool


def read(text: str) -> Reading:
    """Return what of a text is compared; short texts are remembered."""
    return _read_short(text) if len(text) <= REMEMBERED_CHARS_MAX else _read(text)


def overlap(one: Reading, two: Reading) -> float:
    """Return the share of content words of both that both have (Jaccard), 0 to 1."""
    both = len(one.content & two.content)
    return both / (len(one.content) + len(two.content) - both) if both else 0.0


def difference(one: Reading, two: Reading) -> str | None:
    """Return in what distinctive way two texts differ; ``None`` when in none.

    A name that one writes with a capital and the other without is one name.
    """
    if one.numbers != two.numbers:
        return "numbers"
    if one.is_negated != two.is_negated:
        return "negation"
    is_named_alike = one.names <= two.plain and two.names <= one.plain
    return None if is_named_alike and not open_on_others(one, two) else "names"


def open_on_others(one: Reading, two: Reading) -> bool:
    """Whether each text begins with a word that the other lacks: they may be of two subjects."""
    return bool(one.opening and two.opening) and (
        one.opening not in two.plain and two.opening not in one.plain
    )


def turned(one: Reading, two: Reading) -> bool:
    """Whether one text has a word that turns the meaning, and the other not or an opposed one.

    ``almost``, ``former``, ``left``, ``if``, a past tense count wherever they stand alone; small
    words such as ``before``, and persons, only against others: to say the same in other words
    takes some of them.
    """
    if any(_may_turn(word) for word in one.content ^ two.content):
        return True
    if not _TELLING_ALONE.isdisjoint(one.turns ^ two.turns):
        return True
    sides = ((one.turns & group, two.turns & group) for group in _OPPOSED)
    return any(ours and theirs and ours.isdisjoint(theirs) for ours, theirs in sides)


def alike(one: Reading, two: Reading, at_least: float = NEAR_OVERLAP) -> bool:
    """Whether two texts say the same in nearly the same words, in the same order.

    One may have words that the other lacks, as far as the overlap lets it, if they turn no
    meaning; that each has some of its own is a word replaced by another, which may be anything.

    Args:
        one: A text.
        two: Another.
        at_least: The overlap of their content words.
    """
    if overlap(one, two) < at_least or difference(one, two) is not None:
        return False
    ours, theirs = one.content - two.content, two.content - one.content
    if (ours and theirs) or any(_may_turn(word) for word in ours | theirs):
        return False
    opens_alike = one.opening in {"", *two.plain} and two.opening in {"", *one.plain}
    return opens_alike and one.turns == two.turns and _in_order(one, two)


def rare_words(reading: Reading, at_least: float) -> list[str]:
    """Return words of which two texts share one if they overlap by ``at_least``.

    In any fixed order of words, two sets that overlap so much have one in common among the first
    few of each (Chaudhuri, Ganti and Kaushik, "A primitive operator for similarity joins", 2006);
    the longest first, for they are the rarer ones.
    """
    count = len(reading.content) - math.ceil(at_least * len(reading.content)) + 1
    return sorted(reading.content, key=lambda word: (-len(word), word))[:count]


def same_words(one: str, two: str) -> bool:
    """Whether two values are one: the same words and numbers, in the same order."""
    ours, theirs = read(one), read(two)
    if (ours.content, ours.turns) != (theirs.content, theirs.turns):
        return False
    return ours.is_negated == theirs.is_negated and _in_order(ours, theirs)


def _in_order(one: Reading, two: Reading) -> bool:
    """Whether the words that both have follow each other alike, and as much is denied."""
    if one.order.count(_NOT) != two.order.count(_NOT):
        return False
    if one.front and two.front and one.front != two.front:
        return False
    common = set(one.order) & set(two.order) - one.front - two.front
    if one.placed is not None and one.placed == two.placed:
        common.discard(one.placed[1])
    ours = [word for word in one.order if word in common]
    return ours == [word for word in two.order if word in common]


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _read_short(text: str) -> Reading:
    return _read(text)


def _read(text: str) -> Reading:
    counted = numbers(text)
    spelt = {written: plain for plain, written in counted.items() if written.isalpha()}
    fronted = _FRONTED.match(text)
    front, turns_in_front = ([], set()) if fronted is None else _ordered(fronted[1], spelt)
    order, turns = _ordered(text if fronted is None else fronted[2], spelt)
    turns |= turns_in_front | _signs(text)
    said = words(text)
    plain = frozenset(_plain(_DENYING.get(word, word)) for word in said)
    is_word = _IS_WORD.match
    return Reading(
        content=frozenset(
            {word for word in (*front, *order) if is_word(word)} - turns - {_NOT} | {*counted}
        ),
        order=(*order, *front),
        front=frozenset(front),
        placed=_placed(text),
        turns=frozenset(turns),
        numbers=frozenset(counted),
        names=plain.intersection(_plain(part) for name in names(text) for part in words(name)),
        opening=_opening(text, said),
        plain=plain,
        is_negated=is_negated(text) != (sum(word in _DENYING for word in said) % 2 == 1),
    )


def _placed(text: str) -> tuple[str, str] | None:
    """Return the only time or place of a text, with the word before it; ``None`` for several."""
    found = _PLACED.findall(text)
    if len(found) != 1:
        return None
    value = words(found[0][1])
    return (found[0][0].lower(), _plain(value[0])) if len(value) == 1 else None


def _ordered(text: str, spelt: Mapping[str, str]) -> tuple[list[str], set[str]]:
    """Return the words that count, as they follow each other, and which of them turn a meaning."""
    said = words(_POSSESSIVE.sub(_of_owner, text))
    order: list[str] = []
    turns: set[str] = set()
    for word, following in zip(said, [*said, ""][1:], strict=True):
        value = spelt.get(word, word)
        turn = _turn(word)
        if word in _DENYING:
            order.append(_NOT)
            value = _DENYING[word]
        if word in _CONTRACTED:
            turns.add(_CONTRACTED[word])
            order.append(_CONTRACTED[word])
        if turn:
            turns.add(turn)
            order.append(turn)
        elif word in _HEDGES and spelt.get(following, following)[:1].isdigit():
            continue
        elif word not in STOP_WORDS and word not in _ASIDE:
            order.append(value if value[0].isdigit() else _plain(value))
    return order, turns


def _signs(text: str) -> set[str]:
    """Return what punctuation says: that it asks, speaks of any one, or stands in other units."""
    found = set(_SYMBOL.findall(text))
    if text.rstrip().endswith("?"):
        found.add("?")
    if text.lstrip()[:3].lower().startswith(("a ", "an ")):
        found.add("a")
    return found - {"~"}


def _may_turn(word: str) -> bool:
    """Whether a word turns the meaning of what it is added to, or nobody here could tell."""
    return word in _TURNING_WORDS or not word.isascii()


def _turn(word: str) -> str:
    """Return what a small word does to a meaning, or nothing."""
    if word in NEGATIONS:
        return word if word in _OTHER_NEGATIONS else _NOT
    if word in _PAST:
        return _WAS
    return _PERSONS.get(word) or _SAME.get(word, word) * (word in _TURNING_STOP_WORDS)


def _of_owner(match: re.Match[str]) -> str:
    """Return ``the colour of the wing`` for ``the wing's colour``."""
    before, owner = "", match[1]
    for word in owner.split():
        if word.lower() in STOP_WORDS:
            before, _, owner = match[1].rpartition(word)
            before, owner = f"{before}{word}", owner.strip()
    return f"{before} {match[2]} of {owner}" if owner else match[0]


def _opening(text: str, said: Sequence[str]) -> str:
    """Return the first word when it is written with a capital and is content."""
    if not said or not text.lstrip("\"'\u201c\u2018([ \t\n")[:1].isupper():
        return ""
    word = said[0]
    is_small = word in STOP_WORDS or word in _ASIDE or word in _HEDGES or word in NEGATIONS
    return "" if is_small else _plain(word)


def _plain(word: str) -> str:
    """Return the stem of a word as Americans spell it, and one word for several that are one."""
    plain = stem(word)
    if plain.endswith(_SPELT_OTHERWISE):
        for ending, other in _SPELLINGS:
            if plain.endswith(ending):
                plain = plain[: -len(ending)] + other
    return _SAME.get(plain, plain)
