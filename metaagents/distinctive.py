"""Distinctive tokens: the numbers, dates, names and versions that a text must not lose or invent.

Pure. Every part of the meta-agents that asks whether two texts speak of the same thing, or whether
one is grounded in another, asks here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from tiers.lexical import CALENDAR, MONTHS, NUMBER_WORDS, STOP_WORDS, sentences, stem, words

_TENS = {word: number for word, number in NUMBER_WORDS.items() if number >= 20}  # noqa: PLR2004
_UNITS_BELOW = 10  # what may follow a word of tens: twenty-five, not twenty-eleven
_ALSO_VERBS = frozenset(("may", "march"))
NEGATIONS = frozenset(
    "not no never none nobody nothing neither nor without cannot cant dont doesnt didnt isnt arent "
    "wasnt werent wont wouldnt shouldnt couldnt hasnt havent hadnt aint".split()
)
# What contains a negation and denies nothing.
_NOT_DENYING = re.compile(
    r"^\s*no\s*[,.!]|\bno (?:doubt|problem|worries|wonder)\b|\bnot (?:only|just|to mention)\b"
    r"|\bwhy not\b|\bnever mind\b|\b(?:can[\u2019']?t|cannot|can not) wait\b"
    r"|\bcan[\u2019']?t help but\b|\bno\. ?\d",
    re.IGNORECASE,
)

# A token with a digit keeps what stands between digits and letters: 1.5, 2026-11-20, v2.3.1, 14:30.
_WITH_DIGIT = re.compile(r"[^\W_]{0,32}\d[^\W_]{0,32}(?:[.,:/\-][^\W_]{1,32}){0,8}")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_WORD = re.compile(r"[^\W\d_][^\W_]*(?:['\u2019\-][^\W_]+){0,4}")
# A quantity and its unit, or the ending of an ordinal: 18kg and 18 kg, 3rd and 3 are one.
_WITH_UNIT = re.compile(r"(\d{1,32}(?:[.:]\d{1,32})?)([a-z]{1,4})")
_ORDINAL_ENDINGS = frozenset(("st", "nd", "rd", "th"))
_DAY = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?")
_SHOUTED_WORDS_MIN = 3


def numbers(text: str) -> dict[str, str]:
    """Return numbers, dates, times and versions of a text, in one spelling, each as written.

    ``18``, ``eighteen`` and ``18.0`` are one; ``1,500`` and ``1500`` are one; ``v2.3`` is ``2.3``;
    ``twenty-five`` is ``25``.
    """
    normal = unicodedata.normalize("NFKC", text)
    found: dict[str, str] = {}
    for match in _WITH_DIGIT.finditer(_THOUSANDS.sub("", normal)):
        found.setdefault(_number(match.group()), match.group())
    for plain, word in _spelt_numbers(words(normal.replace("-", " "))).items():
        found.setdefault(plain, word)
    return found


def names(text: str) -> dict[str, str]:
    """Return names of a text in lower case, each as written.

    A word is one when it is written with a capital inside a sentence, in capitals, or with a
    capital further in; what opens a sentence or a quotation is one only when it is so elsewhere in
    the text, or a month or a day. Where everything is in capitals, they say nothing.
    """
    found: dict[str, str] = {}
    opening: dict[str, str] = {}
    for sentence in sentences(text):
        is_shouted = _is_shouted(sentence)
        for place, match in enumerate(_WORD.finditer(sentence)):
            written = match.group().removesuffix("'s").removesuffix("\u2019s")
            plain = written.lower()
            if written == plain or _is_common(plain):
                continue
            if is_shouted and plain not in CALENDAR:
                continue
            is_marked = _is_marked(written, sentence[match.end() :])
            is_inside = place > 0 and not (place == 1 and _is_label(sentence))
            is_inside = is_inside and sentence[match.start() - 1] not in '"\u201c\u201e\u00ab'
            if is_inside or is_marked:
                found.setdefault(plain, written)
            else:
                opening.setdefault(plain, written)
    return found | {plain: one for plain, one in opening.items() if plain in found}


def distinctive(text: str) -> dict[str, str]:
    """Return numbers and names of a text: what it is about in particular."""
    return numbers(text) | names(text)


def vocabulary(text: str) -> frozenset[str]:
    """Return everything of a text that a distinctive token can be found in, for ``missing``."""
    have = set(words(text)) | numbers(text).keys() | set(names(text))
    for token in tuple(have):
        split = _WITH_UNIT.fullmatch(token)
        if split:
            have |= {split[1], split[2]}
        have.add(stem(token))
    return frozenset(have)


def missing(tokens: Iterable[str], have: frozenset[str]) -> list[str]:
    """Return the distinctive tokens, in lower case, that a vocabulary does not have."""
    return [token for token in dict.fromkeys(tokens) if not _has(have, token)]


def is_negated(text: str) -> bool:
    """Whether a text says that something is not so, by the number of its negations.

    A ``no`` that only answers, and phrases such as ``no doubt`` and ``not only``, deny nothing.
    """
    plain = _NOT_DENYING.sub(" ", text)
    return sum(word in NEGATIONS for word in words(plain)) % 2 == 1


def _has(have: frozenset[str], token: str) -> bool:
    if token in have or stem(token) in have:
        return True
    day = _DAY.fullmatch(token)
    if day:
        return _has_day(have, *day.groups())
    split = _WITH_UNIT.fullmatch(token)
    if split:
        return split[1] in have and (split[2] in have or split[2] in _ORDINAL_ENDINGS)
    if any(letter.isdigit() for letter in token):
        return False
    return all(part in have or stem(part) in have for part in words(token) or [token])


def _has_day(have: frozenset[str], year: str, month: str, day: str | None) -> bool:
    """Whether a vocabulary has a date written out: ``20 November 2026``."""
    if not 1 <= int(month) <= len(MONTHS):
        return False
    name = MONTHS[int(month) - 1]
    is_month = name in have or name[:3] in have
    return year in have and is_month and (day is None or str(int(day)) in have or day in have)


def _spelt_numbers(found: list[str]) -> dict[str, str]:
    spelt: dict[str, str] = {}
    tens = ""
    for word in found:
        units = NUMBER_WORDS.get(word)
        if tens and units is not None and 0 < units < _UNITS_BELOW:
            spelt.pop(str(_TENS[tens]), None)
            spelt.setdefault(str(_TENS[tens] + units), f"{tens}-{word}")
        elif units is not None and word != "one":  # a pronoun as often as a number
            spelt.setdefault(str(units), word)
        tens = word if word in _TENS else ""
        if tens:
            spelt.setdefault(str(_TENS[tens]), word)
    return spelt


def _number(written: str) -> str:
    plain = written.lower().rstrip(".,:/-")
    if len(plain) > 1 and plain[0] == "v" and plain[1].isdigit():
        plain = plain[1:]
    whole, dot, fraction = plain.partition(".")
    if dot and whole.isdigit() and fraction.isdigit() and not fraction.strip("0"):
        return whole
    return plain


def _is_common(plain: str) -> bool:
    """Whether a word is too common to be a name, contractions such as ``I'm`` included."""
    return plain in STOP_WORDS or all(part in STOP_WORDS for part in words(plain))


def _is_marked(written: str, following: str) -> bool:
    """Whether a word is a name wherever it stands."""
    plain = written.lower()
    if plain in _ALSO_VERBS:
        return bool(re.match(r"\s{1,4}\d", following))
    return plain in CALENDAR or any(letter.isupper() for letter in written[1:])


def _is_shouted(sentence: str) -> bool:
    written = [match.group() for match in _WORD.finditer(sentence)]
    return len(written) >= _SHOUTED_WORDS_MIN and all(word.isupper() for word in written)


def _is_label(sentence: str) -> bool:
    """Whether a line begins with who speaks: ``Ada: Good morning``."""
    return bool(re.match(r"\s*[^\W\d_][\w'\-]{0,63}:", sentence))
