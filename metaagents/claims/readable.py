"""Whether words are a sentence that states something: no order, no markup, not garbled. Pure."""

from __future__ import annotations

import itertools
import re

from .forms import is_base_form
from .lexicon import DETERMINERS, PREPOSITIONS
from .tokens import Sentence, Token

_ARTICLES = frozenset("the a an my our their".split())
_BINDING = frozenset("to with for at of".split())
_UNBOUND = _BINDING | frozenset("in on and is".split())
_MARKUP = re.compile(r"!\[|\]\(|<[a-zA-Z!/]|^\s*system\s*:|`{3}|\{\{|\}\}", re.IGNORECASE)


def is_readable(sentence: Sentence, names: frozenset[str]) -> bool:
    """Whether a sentence is one, and neither an order nor markup.

    Words in an order that no English sentence has say nothing, whichever they are.
    """
    if _MARKUP.search(sentence.text):
        return False
    said = [one for one in sentence.tokens if one.kind != "p"]
    if not said or said[-1].word in DETERMINERS - {"this", "that", "these", "those", "her"}:
        return False
    first = said[0]
    is_order = is_base_form(first.word) and first.word not in names
    if is_order or first.word in ("please", "always", "never", "do", "remember", "from_now"):
        return False
    return not any(_is_garbled(one, two) for one, two in itertools.pairwise(said))


def _is_garbled(one: Token, two: Token) -> bool:
    """Whether two words follow one another that do so in no sentence."""
    if one.word == two.word:
        return one.word not in ("had", "that")
    if one.word in _ARTICLES:
        return two.word in PREPOSITIONS | DETERMINERS or two.word in ("is", "was", "and")
    return one.word in _BINDING and two.word in _UNBOUND
