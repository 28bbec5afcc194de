"""Sentences as tokens: contractions spelt out, phrases joined, numbers in one spelling. Pure."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from typing import NamedTuple

from tiers.lexical import NUMBER_WORDS

from .lexicon import DETERMINERS, PHRASES, PREPOSITIONS

TOKENS_MAX = 400
"""Of one sentence: ``tiers.lexical.sentences`` cuts longer ones."""

_TOKEN = re.compile(
    r"(?:https?://|www\.)[^\s<>\"']{1,300}|[\w.+-]{1,64}@[\w-]{1,64}(?:\.[\w-]{1,32}){1,4}"
    r"|\d+(?:[.,:/-]\d+)*|[^\W\d_]+(?:'[^\W\d_]+)*|[,;:.!?\"()$€£%\u2014\u2013-]"
)
_ADDRESS = re.compile(r"https?://|www\.|[^@]{1,64}@.")
_SHORT = {
    "won't": ("will", "not"),
    "can't": ("can", "not"),
    "cannot": ("can", "not"),
    "shan't": ("shall", "not"),
    "let's": ("lets",),
}
_TAILS = {"'m": "am", "'re": "are", "'ve": "have", "'ll": "will", "'d": "would"}
_IS_AFTER = frozenset("it he she that there what who where here this how".split())
_PREDICATIVE = frozenset(
    "a an the not been allergic called in at on from near behind under outside inside against out "
    "up off away back home here there still already always never very too so really quite about "
    "around almost just also only even both now gone done fine ok okay sure ready late early ill "
    "sick dead afraid worried happy sad angry tired "
    "busy free full empty open closed cold warm hot wrong right broken down due over my your our "
    "supposed".split()
)
"""After ``'s``, what is said of somebody: ``Ada's ill``."""
_DEGREES = frozenset(("master", "bachelor"))
_NUMBERS = {word: str(number) for word, number in NUMBER_WORDS.items() if word != "one"}
_LONGEST: dict[str, int] = {}
for _words in PHRASES:
    _LONGEST[_words[0]] = max(_LONGEST.get(_words[0], 0), len(_words))
_SIGNS = {"$": "dollar", "€": "euro", "£": "pound", "%": "percent"}
_ORDINAL = frozenset("st nd rd th".split())


class Token(NamedTuple):
    """One word, number or mark.

    Attributes:
        word: In lower case, in one spelling.
        kind: ``w`` for a word, ``n`` for a number, ``p`` for a mark, ``a`` for an address.
        capital: Whether it was written with a capital.
        owner: Whether it is in the possessive: ``Ada's``.
        after_mark: Whether a mark stands before it.
    """

    word: str
    kind: str
    capital: bool = False
    owner: bool = False
    after_mark: bool = False


class Sentence(NamedTuple):
    """A sentence, taken apart once.

    Attributes:
        text: As it was said.
        tokens: Its words, numbers and marks.
    """

    text: str
    tokens: list[Token]

    @classmethod
    def of(cls, text: str) -> Sentence:
        """Take a sentence apart."""
        return cls(text, tokens(text))

    @property
    def is_question(self) -> bool:
        """Whether it ends as a question does."""
        return self.text.rstrip("\"')] ").endswith(("?", "\uff1f"))


def tokens(sentence: str) -> list[Token]:
    """Return the tokens of a sentence, at most ``TOKENS_MAX``."""
    plain = unicodedata.normalize("NFKC", sentence).replace("\u2019", "'").replace("\u2018", "'")
    for mark in "\u201c\u201d\u201e\u00ab\u00bb":
        plain = plain.replace(mark, '"')
    found: list[Token] = []
    written = _TOKEN.findall(plain)[:TOKENS_MAX]
    for place, part in enumerate(written):
        following = [one.lower() for one in written[place + 1 : place + 3]]
        found += _read(part, following, after_number=bool(found) and found[-1].kind == "n")
    joined = _joined(found)
    return [
        one._replace(after_mark=True) if place and joined[place - 1].kind == "p" else one
        for place, one in enumerate(joined)
    ]


def _read(part: str, following: Sequence[str], *, after_number: bool) -> list[Token]:
    first = part[0]
    if _ADDRESS.match(part):
        return [Token(part.rstrip(".,"), "a")]
    if not first.isalpha():
        return [Token(_number(part), "n") if first.isdigit() else _sign(part)]
    word = part.lower()
    if after_number and word in _ORDINAL:
        return []
    if word in _NUMBERS:
        return [Token(_NUMBERS[word], "n")]
    if "'" in word or word in _SHORT:
        return _expanded(word, following, capital=first.isupper())
    return [Token(word, "w", first.isupper())]


def _sign(part: str) -> Token:
    return Token(_SIGNS[part], "w") if part in _SIGNS else Token(part, "p")


def _expanded(word: str, following: Sequence[str], *, capital: bool) -> list[Token]:
    if word in _SHORT:
        return [Token(one, "w") for one in _SHORT[word]]
    if word.endswith("n't"):
        return [Token(word[:-3], "w"), Token("not", "w")]
    for tail, verb in _TAILS.items():
        if word.endswith(tail):
            return [Token(word.removesuffix(tail), "w", capital), Token(verb, "w")]
    if word.endswith("'s"):
        bare = word[:-2]
        verb = _verb_meant(bare, following)
        own = Token(bare, "w", capital, owner=not verb)
        return [own, Token(verb, "w")] if verb else [own]
    return [Token(word.replace("'", ""), "w", capital)]


def _verb_meant(bare: str, following: Sequence[str]) -> str:
    """Return the verb that ``'s`` is short for; ``""`` where it says whose something is."""
    if bare in _IS_AFTER or (bare not in _DEGREES and _is_predicative(following)):
        return "is"
    return "has" if following[:1] == ["got"] else ""


def _is_predicative(following: Sequence[str]) -> bool:
    """Whether what follows ``'s`` is said of somebody, and is nothing that is somebody's."""
    first, second = (*following, "", "")[:2]
    if second == "-":
        return False  # "Ada's on-call week"
    if first[:1].isdigit() or first in _NUMBERS:
        return not second[:1].isalpha() or second in ("and", "but", "now", "so", "years")
    return first in _PREDICATIVE or first.endswith("ing")


def _number(part: str) -> str:
    plain = re.sub(r",(?=\d{3}(?!\d))", "", part)
    whole, dot, rest = plain.partition(".")
    return whole if dot and rest.isdigit() and not rest.strip("0") else plain


def _joined(found: list[Token]) -> list[Token]:
    """Return tokens with the phrases of the lexicon as one, and words joined by a hyphen apart."""
    joined: list[Token] = []
    place = 0
    while place < len(found):
        token = found[place]
        if token.kind == "p" and token.word == "-":
            place += 1
            continue
        longest = min(_LONGEST.get(token.word, 0), len(found) - place)
        for length in range(longest, 1, -1):
            phrase = PHRASES.get(tuple(one.word for one in found[place : place + length]))
            if phrase and _is_phrase(phrase, found, place + length):
                joined.append(Token(phrase, "w"))
                place += length
                break
        else:
            joined.append(token)
            place += 1
    return joined


def _is_phrase(phrase: str, found: list[Token], end: int) -> bool:
    """Whether ``going to`` is followed by what is done, not by where somebody goes."""
    if phrase not in ("going_to", "used_to", "about_to") or end >= len(found):
        return True
    after = found[end]
    is_place = after.capital or after.word in DETERMINERS or after.word in PREPOSITIONS
    return after.kind == "w" and not is_place
