"""Words as both cold engines index them, and as recall compares them: one stem for each. Pure."""

from __future__ import annotations

import unicodedata
from functools import lru_cache

from .porter import stripped

# A few endings are judged by what is before them: here as behind 16 consonants, which stood before
# each word when it was stemmed by SQLite.
_BEFORE = b"0" * 16
_FINAL_SIGMA, _SIGMA = "\u03c2", "\u03c3"

WHOLE_TERMS_MIN = 3
"""What has all terms of a question, and these are as many, is not held to be long.

Else what was said in a turn is not found by its own words where a tool returned much in the same
turn, or where talk of the like is around it.
"""


@lru_cache(maxsize=50_000)
def term_of(word: str) -> str:
    """Return the form in which a word is indexed: Latin letters without their accent, stemmed."""
    plain = "".join(map(_bare, word)).encode()
    return stripped(_BEFORE + plain)[len(_BEFORE) :].decode(errors="replace")


def _bare(char: str) -> str:
    """Return an accented Latin letter as the letter, and the final sigma as any other.

    In other scripts a mark makes another letter (``й``, ``が``), and in Latin ones two do
    (``ệ``): those stay what they are, as SQLite leaves them.
    """
    if char == _FINAL_SIGMA:
        return _SIGMA
    apart = unicodedata.normalize("NFD", char)
    base, marks = apart[0], apart[1:]
    has_accent = len(marks) == 1 and unicodedata.combining(marks)
    return base if has_accent and base.isascii() else char


_ALIKE = tuple(
    frozenset(map(term_of, words.split()))
    for words in (
        "mother mom mum mommy mummy mama",
        "father dad daddy papa",
        "grandmother grandma granny",
        "grandfather grandpa grandad granddad",
        "child children kid",
    )
)
_ALIKE_BY_TERM = {term: (min(terms), terms) for terms in _ALIKE for term in terms}


def alike(term: str) -> frozenset[str]:
    """Return the terms that mean what a term does, itself among them.

    Who asks about a mother means what was said of a mum. Few words of everyday talk mean the same
    wherever they stand.
    """
    found = _ALIKE_BY_TERM.get(term)
    return frozenset((term,)) if found is None else found[1]


def one_of_alike(term: str) -> str:
    """Return the one term that stands for all that mean what a term does."""
    found = _ALIKE_BY_TERM.get(term)
    return term if found is None else found[0]
