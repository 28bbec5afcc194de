"""Cutting a document into passages along its structure. Pure and deterministic.

A passage never reaches beyond a heading or a page. Whether a full enough passage ends depends on
what comes next, not on how many came before: behind a change the same cuts are made again, so that
passages that did not change stay word for word.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from tiers.documents import HEADING_CHARS_MAX, HEADINGS_MAX, PASSAGES_MAX, PassageDraft
from tiers.lexical import is_blank

from .parsed import Block, one_line, unreadable

TARGET_CHARS = 1_200
CHARS_MAX = 2_000
CHARS_MIN = 600
"""From here on a passage may end, at one in ``_ONE_IN`` paragraphs."""
CRUMB_CHARS = 200
"""So little at the end of a section goes to the passage before it."""

_ONE_IN = 3
_BETWEEN = "\n\n"

_PARAGRAPHS = re.compile(r"\n[ \t]*\n\s*")
_LINES = re.compile(r"\n")
# A run of marks is looked at once, from its beginning: from each of its marks it would take the
# square of its length, and a table of contents has lines of a thousand dots.
_SENTENCES = re.compile("(?<![.!?…])[.!?…]++[\"'\u201d\u2019»)\\]]*+\\s+|[\u3002\uff01\uff1f]+")
_WORDS = re.compile(r"\s+")
_OF_PROSE = (_PARAGRAPHS, _SENTENCES, _WORDS)
_OF_LINES = (_LINES, _SENTENCES, _WORDS)


def passages_of(blocks: Iterable[Block]) -> tuple[PassageDraft, ...]:
    """Return the passages of a document: about 1,200 characters each, 2,000 at most.

    Paragraphs, pieces of code and tables stay whole where they fit; what does not is cut between
    paragraphs, lines, sentences or words, whichever comes first in this order.

    Raises:
        UsageError: There are more than ``PASSAGES_MAX``.
    """
    found: list[PassageDraft] = []
    for (headings, page), section in groupby(blocks, key=lambda one: (one.headings, one.page)):
        pieces = [piece for block in section for piece in _pieces(block)]
        found.extend(PassageDraft(text, headings, page) for text in _packed(pieces))
        if len(found) > PASSAGES_MAX:
            raise unreadable(f"more than {PASSAGES_MAX:,} passages", "a smaller document")
    return tuple(found)


def titled(passages: tuple[PassageDraft, ...], title: str) -> tuple[PassageDraft, ...]:
    """Return the passages of a document that can be found by its title.

    Where no heading says it, the first passage stands under it: words that are in front matter or
    in a file's own fields alone would be in no passage.
    """
    heading = one_line(title)[:HEADING_CHARS_MAX].strip()
    if not heading or any(heading in one.headings for one in passages):
        return passages
    if not passages:
        return (PassageDraft(heading),)
    first, *rest = passages
    return (first._replace(headings=(heading, *first.headings)[:HEADINGS_MAX]), *rest)


def _packed(pieces: Sequence[str]) -> list[str]:
    """Return pieces of one section put together."""
    packed: list[str] = []
    held: list[str] = []
    size = 0
    for piece in pieces:
        if held and _ends(size, piece):
            packed.append(_BETWEEN.join(held))
            held, size = [], 0
        size += len(piece) + (len(_BETWEEN) if held else 0)
        held.append(piece)
    rest = _BETWEEN.join(held)
    is_crumb = packed and len(rest) < CRUMB_CHARS
    if is_crumb and len(packed[-1]) + len(_BETWEEN) + len(rest) <= CHARS_MAX:
        packed[-1] += _BETWEEN + rest
    elif rest:
        packed.append(rest)
    return packed


def _ends(size: int, following: str) -> bool:
    """Whether a passage of this size ends before what comes next."""
    if size + len(_BETWEEN) + len(following) > CHARS_MAX or size >= TARGET_CHARS:
        return True
    return size >= CHARS_MIN and zlib.crc32(following.encode()) % _ONE_IN == 0


def _pieces(block: Block) -> Iterator[str]:
    """Yield a block, cut where it is too long for a passage."""
    text = block.text
    if len(text) <= CHARS_MAX:
        yield text
        return
    patterns = _OF_LINES if block.by_lines else _OF_PROSE
    cuts = [[match.end() for match in pattern.finditer(text)] for pattern in patterns]
    start = 0
    while len(text) - start > CHARS_MAX:
        end = next((at for ends in cuts if (at := _cut(ends, start)) is not None), None)
        end = start + CHARS_MAX if end is None else end
        yield from _shown(text[start:end], by_lines=block.by_lines)
        start = end
    yield from _shown(text[start:], by_lines=block.by_lines)


def _cut(ends: Sequence[int], start: int) -> int | None:
    """Return the place to cut that is nearest to the target; ``None`` when there is none."""
    after = bisect_right(ends, start + TARGET_CHARS)
    if after and ends[after - 1] >= start + CHARS_MIN:
        return ends[after - 1]
    if after < len(ends) and ends[after] <= start + CHARS_MAX:
        return ends[after]
    return None


def _shown(text: str, *, by_lines: bool) -> Iterator[str]:
    trimmed = text.strip("\n") if by_lines else text.strip()
    if not is_blank(trimmed):
        yield trimmed
