"""Spellings that hide a text from its reader, and what it says in plain letters. Pure."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
import unicodedata
from collections.abc import Iterator
from urllib.parse import unquote

from tiers.lexical import words

DECODED_CHARS_MAX = 4_000
"""So much of what a text holds encoded is read."""
ENCODED_MAX = 8
"""So many encoded passages of a piece are read."""

_INVISIBLE = re.compile("[\u00ad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]")
_TURNED_AROUND = "\u202e"
"""What is behind it is shown from right to left."""
_TAGS = re.compile("[\U000e0020-\U000e007e]+")

_ALIKE = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d\u0432\u043a\u043c"
    "\u043d\u0442\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425\u0406\u0408\u0405"
    "\u03bf\u03b1\u03b5\u03b9\u03bd\u03c1\u03c5\u03c7\u03ba\u0391\u0392\u0395\u0396\u0397\u0399\u039a\u039c"
    "\u039d\u039f\u03a1\u03a4\u03a7\u03a5\u0131\u0261\u0251",
    "aeopcyxijshdqwbkmhtABEKMHOPCTXIJSoaeivpuxkABEZHIKMNOPTXYiga",
)
"""Letters of other scripts that look like those of ours."""

_FOREIGN = "\u0370-\u03ff\u0400-\u052f"
_LETTERS = re.compile(rf"[A-Za-z{_FOREIGN}]{{4,64}}")
_LEET = re.compile(
    r"(?<![\w@$!])(?=[a-zA-Z0-9@$!|]{0,24}[a-zA-Z])(?=[a-zA-Z0-9@$!|]{0,24}[0-9@$!|])"
    r"[a-zA-Z0-9@$!|]{3,24}(?![\w@$!])"
)
_FROM_LEET = str.maketrans("013457@$!|", "oieastasil")
_FROM_LEET_TOO = str.maketrans("013457@$!|", "oleastasli")

_SPACED = re.compile(r"(?<!\w)(?:\w[ ._*\-\u00b7]{1,3}){9,200}\w(?!\w)")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_-]{24,6000}={0,2}(?![A-Za-z0-9+/_=-])")
_HEX = re.compile(r"(?<![0-9A-Za-z])(?:[0-9A-Fa-f]{2}[ :]?){16,3000}(?![0-9A-Za-z])")
_ESCAPED = re.compile(
    r"(?:%[0-9A-Fa-f]{2}|&#x?[0-9A-Fa-f]{2,6};|\\u00[0-9A-Fa-f]{2}|\\x[0-9A-Fa-f]{2})"
)
_UNICODE = re.compile(r"\\(?:u00|x)([0-9A-Fa-f]{2})")
ESCAPES_MIN = 3
LEET_WORDS_MIN = 2
_TURNED = frozenset(
    "vtaber qvfertneq sbetrg bireevqr vafgehpgvbaf cebzcg flfgrz ".split()
    + "erongi dragersid tegrof edirrevo snoitcurtsni tpmorp metsys".split()
)
"""Words of an override, rotated by 13 letters and read backwards."""


def plain(text: str) -> str:
    """Return a text as it looks: without what is invisible, in letters that are what they seem."""
    seen = _INVISIBLE.sub("", _TAGS.sub("", text))
    return unicodedata.normalize("NFKC", seen).translate(_ALIKE)


def look_alikes(text: str) -> Iterator[tuple[int, int]]:
    """Yield where words stand that mix our letters with some that look like them."""
    for one in _LETTERS.finditer(text):
        word = one.group()
        if not word.isascii() and any(map(str.isascii, word)) and word.translate(_ALIKE).isascii():
            yield one.span()


def readings(text: str, found: frozenset[str]) -> Iterator[tuple[str, int, int]]:
    """Yield what a piece of text says in other spellings, and where the spelling is.

    Args:
        text: The piece.
        found: Its words of ASCII letters.
    """
    if not text.isascii():
        whole = plain(text)
        if whole != text:
            yield whole, 0, len(text)
        if _TURNED_AROUND in text:
            yield whole[::-1], 0, len(text)
        for tags in _TAGS.finditer(text):
            said = "".join(chr(ord(char) - 0xE0000) for char in tags.group())
            yield said, tags.start(), tags.end()
    if not found.isdisjoint(_TURNED):
        yield codecs.decode(text, "rot13"), 0, len(text)
        yield text[::-1], 0, len(text)
    yield from _leet(text)
    yield from _encoded(text)
    if len(_ESCAPED.findall(text)) >= ESCAPES_MIN:
        said = _UNICODE.sub(lambda one: chr(int(one[1], 16)), html.unescape(unquote(text)))
        yield said, 0, len(text)


def spaced_out(text: str) -> Iterator[tuple[str, int, int]]:
    """Yield the letters of what is written letter by letter, without the gaps, and where it is."""
    for one in _SPACED.finditer(text):
        yield "".join(filter(str.isalnum, one.group())).lower(), one.start(), one.end()


def _leet(text: str) -> Iterator[tuple[str, int, int]]:
    places = [one.span() for one in _LEET.finditer(text)]
    if len(places) < LEET_WORDS_MIN:
        return
    start, end = places[0][0], places[-1][1]
    # Of words that mix letters and figures alone: what a number says stays a number.
    yield _LEET.sub(lambda one: one.group().translate(_FROM_LEET), text), start, end
    yield _LEET.sub(lambda one: one.group().translate(_FROM_LEET_TOO), text), start, end


def _encoded(text: str) -> Iterator[tuple[str, int, int]]:
    places = [(one, _from_base64(one.group())) for one in _some(_BASE64, text)]
    places += [(one, _from_hex(one.group())) for one in _some(_HEX, text)]
    for one, said in places:
        if said is not None:
            yield said, one.start(), one.end()


def _some(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    for number, one in enumerate(pattern.finditer(text)):
        if number == ENCODED_MAX:
            return
        yield one


def _from_base64(token: str) -> str | None:
    body = token.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return _readable(base64.b64decode(body + "=" * (-len(body) % 4), validate=True))
    except (binascii.Error, ValueError):
        return None


def _from_hex(token: str) -> str | None:
    try:
        return _readable(bytes.fromhex(token.replace(":", " ")))
    except ValueError:
        return None


def _readable(data: bytes) -> str | None:
    """Return bytes as a text if they are one: of several words, all of them printable."""
    said = data[:DECODED_CHARS_MAX].decode(errors="replace")
    printable = said.replace("\n", " ").isprintable()
    return said if printable and "\ufffd" not in said and len(words(said)) > 1 else None
