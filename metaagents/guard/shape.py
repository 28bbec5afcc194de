"""Texts whose shape is odd: the same over and over, words without end, boxes in boxes. Pure."""

from __future__ import annotations

import re

CHARS_MAX = 32_000
"""A statement that is longer is none."""
TOKEN_CHARS_MAX = 512
"""A word that is longer is none; an address in the web rarely is."""
DEPTH_MAX = 12
"""Brackets in brackets: JSON that people write nests less."""
WORDS_MIN = 80
"""A shorter text repeats itself without meaning anything by it."""
SAME_SHARE = 0.12
"""At least this share of its words is another one."""
WORDS_LOOKED_AT = 5_000

_BRACKET = re.compile(r"[\[\]{}]")
_WORD_WITHOUT_END = re.compile(rf"\S{{{TOKEN_CHARS_MAX + 1}}}")


def oddity(text: str) -> tuple[str, int, int] | None:
    """Return what is odd about the shape of a text and where, or ``None``.

    What is said of a whole document is not odd of it: its length is not looked at here.
    """
    if len(text) <= TOKEN_CHARS_MAX:
        return _nesting(text) if text.count("{") + text.count("[") > DEPTH_MAX else None
    endless = _WORD_WITHOUT_END.search(text)
    if endless is not None:
        return f"a word of more than {TOKEN_CHARS_MAX} characters", *endless.span()
    said = text[: WORDS_LOOKED_AT * 8].split()[:WORDS_LOOKED_AT]
    if len(said) >= WORDS_MIN and len(set(said)) < SAME_SHARE * len(said):
        return "the same words over and over", 0, len(text)
    return _nesting(text)


def _nesting(text: str) -> tuple[str, int, int] | None:
    depth = 0
    for one in _BRACKET.finditer(text):
        depth += 1 if one.group() in "[{" else -1
        if depth > DEPTH_MAX:
            return f"nested deeper than {DEPTH_MAX}", one.start(), one.end()
    return None
