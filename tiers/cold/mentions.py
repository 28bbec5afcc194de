"""Names by their parts, numbers however they are written, and what stays of both. Pure.

A text that was made of others does not repeat a name as it was said: it has a list of words, a
family name, another case. So a name of several words is found in a text

* that has all of them, in whatever order and case, with hyphens or without, possessive or not;
* that has the last of them alone, in whatever case;
* that has another of them alone, written with a capital, unless the next word has one too:
  ``Ann Smith`` is not Ann Lee.

Single parts count only of a name that is given with capitals. A number of five digits or more is
found with whatever spaces, dashes, dots, slashes and brackets between its digits.

Texts are compared as they are read: characters that are not shown are left out, and so are accents
of Latin, Greek and Cyrillic letters and vowels of Hebrew and Arabic ones; apostrophes are one.
Tools return JSON, HTML and addresses of pages, which escape letters: such a text is also read with
the letters themselves.

What retention empties keeps marks of the words that it held: digests of 24 bits, salted by the id
of the record, by which whoever asks for a name is told where it stood, and nobody can read it. They
go when what was made of the record goes.
"""

from __future__ import annotations

import html
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import sha256
from urllib.parse import unquote

from ..lexical import STOP_WORDS, UNSEEN, pieces, words

MARK_CHARS = 6
MARKS_MAX = 20_000
"""Of one record; of more words those are kept that names and numbers are made of."""

NUMBER_DIGITS_MIN = 5
NUMBER_DIGITS_MAX = 20
GROUPS_MAX = 8
"""So many groups of digits may make one number."""

PART_CHARS_MIN = 3
"""A shorter part of a name says nobody's name alone."""

PARTS_MAX = 6

_BETWEEN = " -'\u2010\u2011\u2019"
"""What stands between the parts of a name, beside dots behind initials."""

_LETTERS = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_UNSPACED = re.compile("[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff]")
_DIGITS = re.compile(
    rf"(?<![^\W_])\d{{1,{NUMBER_DIGITS_MAX}}}"
    rf"(?:[ \u00a0\u202f.\-\u2010-\u2013/()]{{1,3}}\d{{1,{NUMBER_DIGITS_MAX}}}){{0,63}}(?![^\W_])"
)
_GROUP = re.compile(r"\d+")
_NO_WIDTH = "\u200b"
_ESCAPES_OF_JSON = re.compile(r"(?:\\{1,8}u[0-9A-Fa-f]{4})+|\\{1,8}[bfnrt]")
"""Letters and line breaks; JSON within JSON doubles the backslashes."""
_ESCAPED = re.compile(r"\\\\{0,7}(?:u[0-9A-Fa-f]{4}|[bfnrt])|&#?\w{2,8};|%[0-9A-Fa-f]{2}")
_UNIT = re.compile("u(.{4})")
_ACCENTS = re.compile(
    "[\u0300-\u036f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f"
    "\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7"
    "\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed]+"
)
"""Of Latin, Greek and Cyrillic letters, and vowels of Hebrew and Arabic, which may be left out.

Marks of other scripts are letters there.
"""

_VOWEL_LAST = "".join(map(chr, range(0xAC00, 0xD7A4, 28)))
"""Korean syllables without a consonant at their end; most particles have a form for either."""
_PARTICLES = {
    rf"(?<=[{_VOWEL_LAST}])": "가 는 를 와 나 랑 로 며 라는 라고 였다 야 여",
    rf"(?<=[^{_VOWEL_LAST}])": "이 은 을 과 이나 이랑 으로 이며 이라는 이라고 이었다 아 이여",
    "": (
        "씨 님 군 양 의 에 에게 에서 께 께서 한테 하고 도 만 부터 까지 처럼 보다 "
        "입니다 이고 이다 들 네"
    ),
}
_PARTICLE = "|".join(
    f"{behind}(?:{'|'.join(sorted(some.split(), key=len, reverse=True))})"
    for behind, some in _PARTICLES.items()
)
IN_PARTICLES = re.compile(rf"(?<=[\uac00-\ud7a3])(?:{_PARTICLE}){{1,3}}(?![^\W_])")
"""What stands behind a Korean word without a space: its case, ``and``, ``to``, ``says``."""

_BY_CAPITALS = str.maketrans({"\u00df": "ss", "\u1e9e": "SS", "\u0131": "i"})
"""Letters that are another one, or two, when they are written as capitals."""


_BY_KEYBOARD = str.maketrans(dict.fromkeys("\u2018\u2019\u02bb\u02bc\u00b4", "'"))
"""Apostrophes of printers, phones and other languages, as a keyboard has them."""


def spellings(text: str) -> tuple[str, ...]:
    """Return a text as it is compared, case aside: in one spelling, whatever it was typed in.

    First without what is not shown. A space without width may stand between two words as well as
    inside one: where there is one, also with a space in its place. Where something is escaped, also
    with what that stands for.
    """
    if not _ESCAPED.search(text):
        return _typed(text)
    return tuple(dict.fromkeys((*_typed(text), *_typed(_unescaped(text)))))


def _unescaped(text: str) -> str:
    return unquote(html.unescape(_ESCAPES_OF_JSON.sub(_letters_of, text)))


def _letters_of(escapes: re.Match[str]) -> str:
    """Return the letters that a run of escapes of JSON stands for; a space for a line break."""
    units = (int(unit[1], 16).to_bytes(2, "big") for unit in _UNIT.finditer(escapes[0]))
    return b"".join(units).decode("utf-16-be", "replace") or " "


def _typed(text: str) -> tuple[str, ...]:
    if text.isascii():
        return (text,)
    if _NO_WIDTH not in text:
        return (_spelled(text),)
    return _spelled(text), _spelled(text.replace(_NO_WIDTH, " "))


def _spelled(text: str) -> str:
    seen = unicodedata.normalize("NFKD", UNSEEN.sub("", text).translate(_BY_KEYBOARD))
    bare = _ACCENTS.sub("", seen)
    return unicodedata.normalize("NFKC", bare).translate(_BY_CAPITALS)


class Texts:
    """What some texts, as one, say of names and numbers.

    Args:
        texts: As they were said.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._texts = [spelled for text in texts for spelled in spellings(text)]

    def words(self) -> frozenset[str]:
        """Every word, in lower case; a Korean one without its particles, too."""
        return frozenset(
            form for text in self._texts for word in words(text) for form in _forms(word)
        )

    def names(self) -> frozenset[str]:
        """Every word with a capital that no other such word follows, in lower case."""
        return frozenset(word for text in self._texts for word in _names(text))

    def numbers(self) -> frozenset[str]:
        """Every number of enough digits, without what stands between them."""
        return frozenset(number for text in self._texts for number in _numbers(text))

    def marks(self, record_id: str) -> str:
        """Return what stays of a record that said this: the digests of its words, sorted."""
        kept = [
            *(f"n {one}" for one in sorted(self.numbers())),
            *(f"c {one}" for one in sorted(self.names() - STOP_WORDS)),
            *(f"w {one}" for one in sorted(self.words() - STOP_WORDS)),
        ]
        return "".join(sorted({_mark(record_id, one) for one in kept[:MARKS_MAX]}))


class Name:
    """What somebody or something is called, as it may stand in texts.

    Args:
        subject: One word or several.
    """

    def __init__(self, subject: str) -> None:
        plain = unicodedata.normalize("NFKC", subject).strip()
        self._parts = list(dict.fromkeys(words(plain)))
        self._pieces = list(dict.fromkeys(pieces(plain)))
        self._is_name = _is_name(plain, self._parts)
        is_given = [match.group()[:1].isupper() for match in _LETTERS.finditer(plain)]
        self._has_capitals = self._is_name and all(is_given[:1] + is_given[-1:])
        digits = "".join(_GROUP.findall(plain))
        is_number = not _LETTERS.search(plain) and len(digits) >= NUMBER_DIGITS_MIN
        self._number = digits[:NUMBER_DIGITS_MAX] if is_number else ""

    def is_in(self, texts: Texts) -> bool:
        """Whether texts have it otherwise than word for word."""
        if self._number:
            return self._number in texts.numbers()
        if not self._is_name:
            return False
        held = texts.words()
        if held.isdisjoint(self._parts):
            return False
        return self._is_mentioned(self._parts, held.__contains__, texts.names().__contains__)

    def is_among(self, marks: str, record_id: str) -> bool:
        """Whether a record that has left these marks may have spoken of it."""
        if not marks:
            return False
        held = {marks[at : at + MARK_CHARS] for at in range(0, len(marks), MARK_CHARS)}

        def has(what: str) -> bool:
            return _mark(record_id, what) in held

        if self._number:
            return has(f"n {self._number}")
        # Marks of before signs of vowels belonged to words are those of the pieces between them.
        return any(
            self._is_mentioned(
                [one for one in parts if one not in STOP_WORDS],
                lambda one: has(f"w {one}"),
                lambda one: has(f"c {one}"),
            )
            for parts in (self._parts, self._pieces)
        )

    def _is_mentioned(
        self, parts: Sequence[str], has_word: Callable[[str], bool], is_name: Callable[[str], bool]
    ) -> bool:
        if parts and all(map(has_word, parts)):
            return True
        if not self._has_capitals:
            return False
        alone = [one for one in parts if len(one) >= PART_CHARS_MIN and one not in STOP_WORDS]
        return any(has_word(one) if one == self._parts[-1] else is_name(one) for one in alone)


def _is_name(plain: str, parts: Sequence[str]) -> bool:
    """Whether a text may be a name of several parts."""
    if not 1 < len(parts) <= PARTS_MAX:
        return False
    shown = f"{' '.join(plain.split())} ".replace(". ", " ")
    if not all(one in _BETWEEN or unicodedata.category(one)[0] in "LM" for one in shown):
        return False
    if _UNSPACED.search(plain):
        return False  # each character is a word there, and stands in half of all texts
    # A sentence's small words stand in every text.
    written = {match.group().lower(): match.group() for match in _LETTERS.finditer(plain)}
    return not any(one in STOP_WORDS and written.get(one, one).islower() for one in parts)


def _forms(word: str) -> Iterator[str]:
    """Yield a word as it stands, and as it is without what particles may be at its end."""
    yield word
    if not word.isascii():
        for place in range(1, len(word)):
            if IN_PARTICLES.fullmatch(word, place):
                yield word[:place]


def _names(text: str) -> Iterator[str]:
    found = list(_LETTERS.finditer(text))
    for place, match in enumerate(found):
        if not match.group()[0].isupper():
            continue
        behind = found[place + 1] if place + 1 < len(found) else None
        is_followed = (
            behind is not None
            and behind.group()[0].isupper()
            and not text[match.end() : behind.start()].strip(_BETWEEN)
        )
        if not is_followed:
            yield from words(match.group())


def _numbers(text: str) -> Iterator[str]:
    """Yield each run of groups of digits as a number, and each part of it that is whole groups."""
    for match in _DIGITS.finditer(text):
        groups = _GROUP.findall(match.group())
        for start in range(len(groups)):
            for number in _joined(groups[start : start + GROUPS_MAX]):
                if len(number) > NUMBER_DIGITS_MAX:
                    break
                if len(number) >= NUMBER_DIGITS_MIN:
                    yield number


def _joined(groups: Iterable[str]) -> Iterator[str]:
    whole = ""
    for group in groups:
        whole += group
        yield whole


def _mark(record_id: str, what: str) -> str:
    return sha256(f"{record_id}\n{what}".encode("utf-8", "replace")).hexdigest()[:MARK_CHARS]
