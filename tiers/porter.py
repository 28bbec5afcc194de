"""English words without their endings, as SQLite's ``porter`` tokenizer leaves them. Pure.

M. F. Porter, "An algorithm for suffix stripping", Program 14(3), 1980, with his two later changes
(``logi`` and ``bli`` in step 2), in the reading of FTS5: over bytes, so that whatever is no
English vowel is a consonant. A library's stemmer reads it differently in a handful of places, and
two engines that are to find the same records must agree in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

BYTES_MAX = 64
"""A longer word is left as it is."""

_VOWELS = frozenset(b"aeiou")
_Y = ord("y")

Test: TypeAlias = Callable[[bytes], bool]
Rules: TypeAlias = Mapping[bytes, Sequence[tuple[bytes, bytes, Test]]]


def stripped(word: bytes) -> bytes:
    """Return a word without its ending; one of less than 3 or more than 64 bytes as it is."""
    if not 3 <= len(word) <= BYTES_MAX:  # noqa: PLR2004 - as said
        return word
    word = _tense(_plural(word))
    if word.endswith(b"y") and _has_vowel(word[:-1]):
        word = word[:-1] + b"i"
    for rules in (_STEP_2, _STEP_3, _STEP_4):
        word = _by(rules, word)
    return _last_letter(word)


def _plural(word: bytes) -> bytes:
    """Step 1a."""
    if not word.endswith(b"s"):
        return word
    if word.endswith((b"sses", b"ies")):
        return word[:-2]
    return word if word.endswith(b"ss") else word[:-1]


def _tense(word: bytes) -> bytes:
    """Step 1b."""
    if word.endswith(b"eed"):
        return word[:-1] if _more_than_0(word[:-3]) else word
    for ending in (b"ed", b"ing"):
        stem = word.removesuffix(ending)
        if stem != word:
            return _mended(stem) if _has_vowel(stem) else word
    return word


def _mended(stem: bytes) -> bytes:
    """Return a verb's stem as it is written without ``ed`` and ``ing``."""
    if stem.endswith((b"at", b"bl", b"iz")):
        return stem + b"e"
    last = stem[-1]
    if last not in _VOWELS and last not in b"lsz" and stem[-2:-1] == stem[-1:]:
        return stem[:-1]
    return stem + b"e" if _measure(stem) == 1 and _ends_short(stem) else stem


def _last_letter(word: bytes) -> bytes:
    """Steps 5a and 5b."""
    if word.endswith(b"e"):
        stem = word[:-1]
        measure = _measure(stem)
        if measure > 1 or (measure == 1 and not _ends_short(stem)):
            word = stem
    return word[:-1] if word.endswith(b"ll") and _more_than_1(word[:-1]) else word


def _by(rules: Rules, word: bytes) -> bytes:
    """Apply the rule whose ending the word has, if its stem allows.

    Only rules under the last letter but one are looked at; the first whose ending fits decides.
    """
    for ending, becomes, allows in rules.get(word[-2:-1], ()):
        if word.endswith(ending) and len(word) > len(ending):
            stem = word[: -len(ending)]
            return stem + becomes if allows(stem) else word
    return word


def _kinds(word: bytes) -> list[bool]:
    """Return of each letter whether it is a consonant; ``y`` is none after one."""
    found: list[bool] = []
    after_consonant = False
    for letter in word:
        after_consonant = letter not in _VOWELS and not (letter == _Y and after_consonant)
        found.append(after_consonant)
    return found


def _measure(stem: bytes) -> int:
    """Return how often consonants follow vowels."""
    kinds = _kinds(stem)
    return sum(now and not before for before, now in pairwise(kinds))


def _more_than_0(stem: bytes) -> bool:
    return _measure(stem) > 0


def _more_than_1(stem: bytes) -> bool:
    return _measure(stem) > 1


def _more_than_1_and_s_or_t(stem: bytes) -> bool:
    return stem.endswith((b"s", b"t")) and _more_than_1(stem)


def _has_vowel(stem: bytes) -> bool:
    """Whether there is a vowel; ``y`` is one anywhere but in front."""
    return any(letter in _VOWELS for letter in stem) or b"y" in stem[1:]


def _ends_short(stem: bytes) -> bool:
    """Whether it ends in consonant, vowel, consonant, and not in ``w``, ``x`` or ``y``."""
    return stem[-1:] not in {b"w", b"x", b"y"} and _kinds(stem)[-3:] == [True, False, True]


def _rules(test: Test, written: str) -> dict[bytes, list[tuple[bytes, bytes, Test]]]:
    """Return rules by the last letter but one of their ending, in the order in which they apply."""
    found: dict[bytes, list[tuple[bytes, bytes, Test]]] = {}
    for pair in written.split():
        ending, _, becomes = pair.encode().partition(b">")
        found.setdefault(ending[-2:-1], []).append((ending, becomes, test))
    return found


_STEP_2: Rules = _rules(
    _more_than_0,
    "ational>ate tional>tion enci>ence anci>ance izer>ize logi>log bli>ble alli>al entli>ent eli>e "
    "ousli>ous ization>ize ation>ate ator>ate alism>al iveness>ive fulness>ful ousness>ous "
    "aliti>al iviti>ive biliti>ble",
)
_STEP_3: Rules = _rules(_more_than_0, "ical>ic ness> icate>ic iciti>ic ful> ative> alize>al")
_STEP_4: Rules = _rules(
    _more_than_1,
    "al> ance> ence> er> ic> able> ible> ant> ement> ment> ent> ou> ism> ate> iti> ous> ive> ize>",
)
_STEP_4 = {**_STEP_4, b"o": [(b"ion", b"", _more_than_1_and_s_or_t), *_STEP_4[b"o"]]}
