"""Words, sentences and token estimates, by rule and pure: every part of ezra cuts text alike."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Collection
from functools import lru_cache

MONTHS = tuple(
    "january february march april may june july august september october november december".split()
)
WEEKDAYS = tuple("monday tuesday wednesday thursday friday saturday sunday".split())
CALENDAR = frozenset((*MONTHS, *WEEKDAYS))
_BELOW_TWENTY = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
).split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
NUMBER_WORDS = {word: number for number, word in enumerate(_BELOW_TWENTY)} | {
    word: 10 * number for number, word in enumerate(_TENS, start=2)
}
"""Numbers that are one word, below a hundred."""

WORD_CHARS_MAX = 64
WORDS_REMEMBERED = 50_000
SENTENCES_MAX = 10_000
SENTENCE_CHARS_MAX = 2_000

# Scripts written without spaces: each of these characters stands as a word of its own.
_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_APOSTROPHES = "'\u2019"
_ALONE = re.compile(f"[{_UNSPACED}]")
_PIECE = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}]+(?:[{_APOSTROPHES}][^\W_{_UNSPACED}]+)*")
_MARKED_BLOCKS = ((0x300, 0xE00), (0x1CD0, 0x1D00), (0x1DC0, 0x1E00), (0xA8E0, 0xA900))
_MARKS = frozenset(
    char
    for block in _MARKED_BLOCKS
    for char in map(chr, range(*block))
    if unicodedata.category(char)[0] == "M"
)
"""Of scripts that put spaces between words: a sign of a vowel is as much of a word as a letter."""
_DOTTED_I = "i\u0307"  # what the Turkish capital becomes in lower case
_ASCII_WORD = re.compile(r"[a-z0-9]+(?:'[a-z0-9]+)*")  # finds the same in half the time
_POSSESSIVE = re.compile(rf"[{_APOSTROPHES}]s$")

_GROUPED = re.compile(r"(?<![\w.,])\d{1,3}(?:[,\u00a0\u2009\u202f]\d{3})+(?!\w|,\d)")

UNSEEN = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufff8"
    "\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]+"
)
"""What Unicode says is not shown where it is not supported (Default_Ignorable_Code_Point)."""

_NOTHING = re.compile(rf"(?:[\s\x00-\x1f\x7f-\x9f]|{UNSEEN.pattern})*+")

# Every repetition is bounded, so that no run of marks or blanks costs more than linear time.
_SENTENCE_END = re.compile(
    r"""
    [.!?\u2026]{1,8} ["'\u2019\u201d)\]]{0,4} (?=\s)   # a mark, what it closes, white space
    | [\u3002\uff01\uff1f]{1,8} [\u300d\u300f]{0,4}    # full-width marks need no space
    | \n                                           # a line break always ends one
    """,
    re.VERBOSE,
)
_LAST_WORD = re.compile(r"(?:^|[\s(\[\"'])((?:[^\W\d_]+\.)+)$")
_ABBREVIATIONS = frozenset(
    "mr. mrs. ms. dr. prof. st. jr. sr. vs. etc. e.g. i.e. cf. no. nos. fig. figs. vol. pp. ed. "
    "eds. approx. dept. est. inc. ltd. co. corp. gen. col. lt. sgt. capt. rev. hon. jan. feb. "
    "mar. apr. jun. jul. aug. sep. sept. oct. nov. dec. mon. tue. wed. thu. fri. sat. sun. a.m. "
    "p.m. u.s. u.k. ca. al. ph.d.".split()
)
_MAY_END_A_SENTENCE = frozenset(
    "etc. a.m. p.m. u.s. u.k. inc. ltd. co. corp. al. ph.d. jr. sr.".split()
)

STOP_WORDS = frozenset(
    "a about above after again against all also am an and any are as at be because been before "
    "being below between both but by can cannot cant could did didnt do does doesnt doing dont "
    "down during each few for from further had has have having he her here hers herself him "
    "himself his how i id if ill im in into is isnt it its itself ive just let lets me more most "
    "my myself no nor not now of off on once only or other our ours ourselves out over own please "
    "s same she should so some such t than that thats the their theirs them themselves then there "
    "these they this those through to too under until up us very was wasnt we were what whats "
    "when where which while who whom whose why will with would you your yours yourself yourselves "
    "youre".split()
)
"""English words too common to say what a text is about."""


def is_blank(text: str) -> bool:
    """Whether a text says nothing: it is empty, or white space and what is not shown."""
    return _NOTHING.fullmatch(text) is not None


def words(text: str) -> list[str]:
    """Return the words of ``text`` in order: lower case, letters and digits of any script only.

    Signs of vowels belong to their letters, and accents that no letter is composed with.
    Compatibility forms are unified (NFKC), ``don't`` becomes ``dont``, a possessive ``'s`` goes,
    and a word is cut at ``WORD_CHARS_MAX``. Chinese and Japanese characters stand alone.
    """
    if text.isascii():
        found = _ASCII_WORD.findall(text.lower())
        if "'" not in text and max(map(len, found), default=0) <= WORD_CHARS_MAX:
            return found
    else:
        lower = _lower(text).replace(_DOTTED_I, "i")
        found = _PIECE.findall(lower) if _MARKS.isdisjoint(lower) else _with_marks(lower)
    return _cut_to_size(found)


def pieces(text: str) -> list[str]:
    """Return what ``words`` made of ``text`` before signs of vowels belonged to words.

    To a search they are words beside those of ``words``, by which what was filed before is found.
    Nothing of a text that has no such signs.
    """
    if text.isascii() or _MARKS.isdisjoint(lower := _lower(text)):
        return []
    return _cut_to_size(_PIECE.findall(lower))


def ungrouped(text: str) -> list[str]:
    """Return the numbers whose thousands are set apart, as they are without: ``1,250`` is 1250.

    By a comma or a space that does not break, which nobody writes between other things. To a search
    they are words beside those of ``words``, by which what was filed before is found.
    """
    if "," not in text and text.isascii():
        return []
    return [re.sub(r"\D", "", number) for number in _GROUPED.findall(text)]


def symbols(text: str, found: Collection[str]) -> list[str]:
    """Return the symbols of a text no word of which tells: to a search they are words, ``🍕``.

    Those of ASCII are left out, as people write them between anything.

    Args:
        text: Any.
        found: Its words.
    """
    if text.isascii() or not STOP_WORDS.issuperset(found):
        return []
    lower = _lower(text)
    shown = {sign for sign in set(lower) if unicodedata.category(sign)[0] == "S"}
    return [sign for sign in lower if sign in shown and not sign.isascii()]


def content_words(text: str) -> list[str]:
    """Return the different words of ``text`` that say what it is about, in order.

    Stop words are left out, unless there is nothing else.
    """
    spoken = words(text)
    found = dict.fromkeys((*spoken, *ungrouped(text), *pieces(text), *symbols(text, spoken)))
    return [word for word in found if word not in STOP_WORDS] or list(found)


@lru_cache(maxsize=WORDS_REMEMBERED)
def stem(word: str) -> str:
    """Return an English word without its plural ending.

    The S stemmer of Harman, "How effective is suffixing?", 1991: three rules, of which the first
    that fits applies. It never joins words of different meaning, which a stronger stemmer does.
    """
    if word.endswith("ies") and not word.endswith(("eies", "aies")):
        return f"{word[:-3]}y"
    if word.endswith("es") and not word.endswith(("aes", "ees", "oes")):
        return word[:-1]
    if word.endswith("s") and not word.endswith(("us", "ss")):
        return word[:-1]
    return word


def sentences(text: str) -> list[str]:
    """Return the sentences of ``text`` in order, without white space around them.

    Abbreviations (``Mr.``), initials and decimals (``1.5``) do not end a sentence; a line break
    does. At most ``SENTENCES_MAX``; one longer than ``SENTENCE_CHARS_MAX`` is cut at white space.
    """
    found: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if "\n" not in match.group() and not _ends(text, start, match.end()):
            continue
        found += _cut(text[start : match.end()])
        start = match.end()
        if len(found) >= SENTENCES_MAX:
            return found[:SENTENCES_MAX]
    return (found + _cut(text[start:]))[:SENTENCES_MAX]


def estimate_tokens(text: str) -> int:
    """Return about how many tokens a language model makes of ``text``.

    Four ASCII characters, or two of any other kind, to a token: within a fifth for English prose
    and on the safe side for other scripts.
    """
    if text.isascii():
        return (len(text) + 3) // 4
    plain = len(text.encode("ascii", "ignore"))
    return math.ceil(plain / 4 + (len(text) - plain) / 2)


def _lower(text: str) -> str:
    return unicodedata.normalize("NFKC", text).lower()


def _with_marks(lower: str) -> list[str]:
    """Return the words of a text: pieces, the marks behind them, and what goes on behind those."""
    spans: list[tuple[int, int]] = []
    going_on = -1
    for match in _PIECE.finditer(lower):
        begin, end = match.span()
        stands_alone = _ALONE.match(lower, begin) is not None
        if begin == going_on and not stands_alone:
            begin = spans.pop()[0]
        letters = end
        while end < len(lower) and lower[end] in _MARKS:
            end += 1
        going_on = end if end > letters and not stands_alone else -1
        spans.append((begin, end))
    return [lower[begin:end] for begin, end in spans]


def _cut_to_size(found: list[str]) -> list[str]:
    return [
        _bare(word) if not word.isalnum() or len(word) > WORD_CHARS_MAX else word for word in found
    ]


def _bare(word: str) -> str:
    return _POSSESSIVE.sub("", word).replace("'", "").replace("\u2019", "")[:WORD_CHARS_MAX]


def _ends(text: str, start: int, end: int) -> bool:
    """Whether the mark before ``end`` closes the sentence that began at ``start``."""
    following = text[end : end + 16].lstrip()[:1]
    if following.islower():
        return False
    # Only the tail matters, and looking at no more keeps long texts linear.
    last = _LAST_WORD.search(text[max(start, end - WORD_CHARS_MAX) : end])
    if last is None:
        return True
    word = last.group(1).lower()
    if word in _MAY_END_A_SENTENCE:
        return True
    is_initial = len(word) == 2 and word != "i."  # noqa: PLR2004 - one letter and its dot
    return word not in _ABBREVIATIONS and not is_initial


def _cut(sentence: str) -> list[str]:
    """Return the sentence stripped, in pieces of at most ``SENTENCE_CHARS_MAX``; none if blank."""
    rest = sentence.strip()
    pieces: list[str] = []
    while len(rest) > SENTENCE_CHARS_MAX:
        space = rest.rfind(" ", SENTENCE_CHARS_MAX // 2, SENTENCE_CHARS_MAX)
        at = space if space > 0 else SENTENCE_CHARS_MAX
        pieces.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return [*pieces, rest] if rest else pieces
