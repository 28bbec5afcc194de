"""Names by their parts, numbers however they are written, and what stays of both. Pure.

A text that was made of others does not repeat a name as it was said: it has a list of words, a
family name, another case. So a name of several words is found in a text

* that has all of them, in whatever order and case, with hyphens or without, possessive or not;
* that has the last of them alone, in whatever case;
* that has another of them alone, written with a capital, unless the next word has one too:
  ``Ann Smith`` is not Ann Lee.

Single parts count only of a name that is given with capitals.

A number of five digits or more is found in up to eight groups with whatever spaces, dashes, dots,
slashes, brackets, colons and underscores between them, three together at most, or with commas or
apostrophes between its thousands. One of four digits is found as a whole or with one sign before
its last three; a shorter one as it is given. A code of letters and digits, of five or more, is
found with such separators wherever they stand. Neither is found inside of a longer one.

Not found are numbers in words or in digits of another script, with another prefix (``0170`` for
``+49 170``) or grouped otherwise by commas (``12,34,567``), and names as another language spells
them (``Mueller`` for ``Müller``, ``Soeren`` for ``Søren``).

Texts are compared as they are read: characters that are not shown are left out, and so are accents
and strokes of Latin letters, accents of Greek and Cyrillic ones and vowels of Hebrew and Arabic
ones; apostrophes are one.
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

CODE_CHARS_MIN = 5
CODE_CHARS_MAX = 40
CODE_GROUPS_MAX = 10
"""So many groups may make one code in the marks of a text: an account has nine."""

PART_CHARS_MIN = 3
"""A shorter part of a name says nobody's name alone."""

PARTS_MAX = 6

_BETWEEN = " -'\u2010\u2011\u2019"
"""What stands between the parts of a name, beside dots behind initials."""

_LETTERS = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*")
_UNSPACED = re.compile("[\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff]")
_SEPARATORS = " \u00a0\u202f.\\-\u2010-\u2013/():_"
_THOUSANDS = r"(?<!\d{4})[,'](?=\d{3}(?!\d))"
_DIGITS = re.compile(
    rf"(?<![^\W_])\d{{1,{NUMBER_DIGITS_MAX}}}"
    rf"(?:(?:[{_SEPARATORS}]{{1,3}}|{_THOUSANDS})\d{{1,{NUMBER_DIGITS_MAX}}}){{0,63}}(?![^\W_])"
)
_ONE_THOUSAND = re.compile(
    r"(?<![^\W_])(?<!\d[ \u00a0\u202f,.'])\d([ \u00a0\u202f,.'])\d{3}(?![^\W_]|\1\d)"
)
"""A number of four digits, with a sign before its last three."""
_FOUR_DIGITS = re.compile(r"\d[ ,.']?\d{3}")
_GROUP = re.compile(r"\d+")

_IN_CODE = re.compile(rf"[^\W_]|[{_SEPARATORS}]")
_WITHIN_CODE = rf"(?:(?![.:] )[{_SEPARATORS}]){{0,3}}"
"""A dot or colon with a space behind it ends what is said before it."""
_CODE_GROUP = r"(?:[^\W\d_]{0,40}\d[^\W_]{0,40}|[A-Z]{1,4})"
_CODES = re.compile(
    rf"(?<![^\W_]){_CODE_GROUP}(?:[{_SEPARATORS}]{{1,3}}{_CODE_GROUP}){{0,63}}(?![^\W_])"
)
_CODE_PIECE = re.compile(r"[^\W_]+")
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


_STROKED = dict(
    zip(
        "\u00d0\u00f0\u00d8\u00f8\u0110\u0111\u0126\u0127\u0141\u0142\u0166\u0167\u0180\u0243"
        "\u0197\u0268\u01b5\u01b6\u01e4\u01e5\u023a\u2c65\u023b\u023c\u023e\u2c66\u0246\u0247"
        "\u0248\u0249\u024c\u024d\u024e\u024f",
        "DdOoDdHhLlTtbBIiZzGgAaCcTtEeJjRrYy",
        strict=True,
    )
)
"""Letters with a stroke through them, eth among them, which Unicode does not take for an accent."""
_WITHOUT_STROKES = str.maketrans(_STROKED)

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


def former_spellings(subject: str) -> tuple[str, ...]:
    """Return a subject as it stands in marks that were left by what compared texts before.

    First with its accents, as at the very beginning; then without them, but with strokes.
    """
    return subject, _without_accents(subject)


def _spelled(text: str) -> str:
    return _without_accents(text).translate(_WITHOUT_STROKES)


def _without_accents(text: str) -> str:
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

    def codes(self) -> frozenset[str]:
        """Every code whose parts have a digit or are a few capitals, as it is without separators.

        What other parts a code has, nobody tells from words who does not know it.
        """
        return frozenset(code for text in self._texts for code in _codes(text))

    def have(self, code: re.Pattern[str]) -> bool:
        """Whether one of them has a code, given as it is found in lower case."""
        return any(code.search(text.casefold()) for text in self._texts)

    def marks(self, record_id: str) -> str:
        """Return what stays of a record that said this: the digests of its words, sorted."""
        kept = [
            *(f"n {one}" for one in sorted(self.numbers())),
            *(f"n {one}" for one in sorted(self.codes())),
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
        is_long = len(digits) >= NUMBER_DIGITS_MIN or _FOUR_DIGITS.fullmatch(plain) is not None
        is_number = is_long and not _LETTERS.search(plain)
        self._number = digits[:NUMBER_DIGITS_MAX] if is_number else ""
        self._code = _code(plain)
        chars = _WITHIN_CODE.join(map(re.escape, self._code))
        self._as_code = re.compile(rf"(?<![^\W_]){chars}(?![^\W_])") if chars else None

    def is_in(self, texts: Texts) -> bool:
        """Whether texts have it otherwise than word for word."""
        if self._number:
            return self._number in texts.numbers() or self._number in texts.words()
        if self._as_code is not None:
            return texts.have(self._as_code)
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
            return has(f"n {self._number}") or has(f"w {self._number}")
        if self._code and has(f"n {self._code}"):
            return True
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
    for match in _ONE_THOUSAND.finditer(text):
        yield "".join(_GROUP.findall(match.group()))


def _codes(text: str) -> Iterator[str]:
    """Yield each run of groups of letters and digits as a code, and each part of it."""
    for match in _CODES.finditer(text):
        if not (_LETTERS.search(match.group()) and _GROUP.search(match.group())):
            continue
        groups = _CODE_PIECE.findall(match.group())
        for start in range(len(groups)):
            for whole in _joined(groups[start : start + CODE_GROUPS_MAX]):
                if len(whole) > CODE_CHARS_MAX:
                    break
                if _is_code(whole):
                    yield whole.casefold()


def _code(plain: str) -> str:
    """Return a text that is a code in lower case, without separators; empty for any other."""
    if not all(map(_IN_CODE.fullmatch, plain)):
        return ""
    whole = "".join(_CODE_PIECE.findall(plain))
    return whole.casefold() if _is_code(whole) else ""


def _is_code(whole: str) -> bool:
    is_mixed = not (whole.isalpha() or whole.isdecimal())
    return is_mixed and CODE_CHARS_MIN <= len(whole) <= CODE_CHARS_MAX


def _joined(groups: Iterable[str]) -> Iterator[str]:
    whole = ""
    for group in groups:
        whole += group
        yield whole


def _mark(record_id: str, what: str) -> str:
    return sha256(f"{record_id}\n{what}".encode("utf-8", "replace")).hexdigest()[:MARK_CHARS]
