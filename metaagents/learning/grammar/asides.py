"""What stands between whom a sentence is about and what is said of them. Pure.

``My boss, who is Swiss, skis`` says two things of the boss, and ``my sister, Ana, skis`` names her.
"""

from __future__ import annotations

import re

from ..regexes import regex
from .lexicon import CAPITALS, PERSONS, PETS
from .verbs import is_verb

_LAST = r"(?!(?:and|or) [A-Z][\w'-]*(?: [A-Z][\w'-]*)*[.!]?$)"
"""What follows is not the last of a list: ``offices in Lyon, Ghent, and Turin``."""
_APPOSED = regex(
    rf"\b((?:[Mm]y|[Oo]ur) [a-z][\w' -]{{1,30}}), ((?:(?:Dr|Mrs?|Ms|Prof)\.? )?[A-Z][\w'-]+), "
    rf"{_LAST}(?=[a-z])"
)
_APPOSED_AFTER = regex(
    rf"(?<![\w,] )\b(?!(?:No|Yes|So|Well|Sorry)\b)([{CAPITALS}][\w'-]+), "
    rf"((?:my|our) (?:[a-z]+ )?(?:{'|'.join(sorted(PERSONS | PETS))})), (?=[a-z])"
)
_BESIDE = regex(rf"([{CAPITALS}][\w'&-]+), an? [^,;.?!]{{2,40}}, ((?:and|but) ([a-z]+) )")
_IS = r"(?:an? |the |my |our |from |in |on |at |\d|(?!(?:been|got|had|\w+ed|gone)\b)[a-z]+ing )"
"""Before it ``who's`` is "who is"."""
_ASIDE = regex(
    rf"^(?!I'm\b)((?:[Mm]y|[Oo]ur|[Tt]he) [\w -]{{2,30}}|(?:[{CAPITALS}][\w'-]+ ?){{1,3}}), "
    r"(?:(?:who|which) (?P<does>[^,;.?!]{2,40})|(?P<what>an? [^,;.?!]{2,40})"
    rf"|who's (?P<is>{_IS}[^,;.?!]{{2,40}})"
    r"|(?:who|whom|which|whose|where|as (?:\w+(?:'s| is) )?(?:now |also )?(?:called|known))\b"
    r"[^,;.?!]{0,60}), (?=[a-z])"
)
"""What is added of somebody between who it is and what is said of them."""


def with_names_beside(text: str) -> str:
    """Return ``my sister Ana skis`` for ``my sister, Ana, skis`` and ``Ana, my sister, skis``."""
    return _APPOSED_AFTER.sub(r"\2 \1 ", _APPOSED.sub(r"\1 \2 ", text))


def without_aside(sentence: str) -> str:
    """Return a sentence with what is added in the middle of it said first, as one of its own."""
    return _ASIDE.sub(_aside_first, _BESIDE.sub(_without_what, sentence))


def _without_what(found: re.Match[str]) -> str:
    """Return a name without what it is, where a verb follows: ``for Siemens and live in Bonn``."""
    return f"{found[1]} {found[2]}" if is_verb(found[3]) else found[0]


def _aside_first(found: re.Match[str]) -> str:
    who = found[1].strip()
    being = found["what"] or found["is"]
    added = found["does"] or (f"is {being}" if being else "")
    return f"{who} {added}; {who} " if added else f"{who} "
