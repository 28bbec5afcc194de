"""Which sentences undo the one right before them, so that it must not be told alone. Pure."""

from __future__ import annotations

from ..regexes import any_case
from . import doubts
from .clauses import CORRECTS, INSTEAD, plain_quotes

_WORDS_BEFORE_MAX = 2
"""So many words stand before what puts something right: ``Oh, sorry, I meant Tuesday``."""

_OPENING_CHARS = 80
_OF_NONE = any_case(r"no (?!wait\b|sorry\b|actually\b|i\b|it\b|that\b|my\b|we\b)\w")
"""What opens with whom nothing is said of: ``No orders are shipped``."""


def undoes_all(sentence: str) -> bool:
    """Whether a sentence says no more than that the one before it is not so, or what is instead.

    ``Just kidding.``, ``Not really.``, ``Scratch that.``, ``I mean Tuesday.``
    """
    said = plain_quotes(sentence).strip()
    is_instead = INSTEAD.fullmatch(said.strip(" .!")) is not None
    is_bare = _puts_right(said) and len(said.split()) <= _WORDS_BEFORE_MAX + 1
    return doubts.takes_all_back(said) or doubts.only_joked(said) or is_instead or is_bare


def undoes(sentence: str) -> bool:
    """Whether a sentence takes back, denies or puts right the one right before it.

    ``Sorry, wrong: it's Ivo Petrov.``
    """
    return _puts_right(plain_quotes(sentence).strip()) or undoes_all(sentence)


def _puts_right(said: str) -> bool:
    if _OF_NONE.match(said):
        return False
    found = CORRECTS.search(said[:_OPENING_CHARS])
    return found is not None and len(said[: found.start()].split()) <= _WORDS_BEFORE_MAX
