"""Who somebody's people are, where they are only named: ``ask my flatmate Renske``. Pure.

To call somebody by relation and name takes for granted that it is so, also in a question, a wish
or a denial. Only play does not count.
"""

from __future__ import annotations

from collections.abc import Iterator

from tiers.lexical import MONTHS, WEEKDAYS, sentences, words

from ..regexes import any_case, regex
from .clauses import is_play
from .copula import attribute_of
from .lexicon import CAPITALS, NO_PERSON, PERSONS, PETS, TITLES
from .statement import Claim

_KINDS = "|".join(sorted(PERSONS | PETS, key=len, reverse=True))
_ASKED = any_case(r"\b(?:is|was|isn't|wasn't|are|were) $")
"""Before it, who somebody is stands in question: ``Is my doctor Dr. Stern?``"""
_NAMING = any_case(r"\b(?:named?|naming|call|called|calling) $")
_SUPPOSING = any_case(r"\b(?:would|could|should|might|if|maybe)\b|\?\s*$")
"""With it who somebody would name so is not called so: ``What if I named my son Thor?``"""
_CAPITAL = rf"[{CAPITALS}][\w\-]+"
_MENTION = regex(
    rf"\b(?:[Mm]y|[Oo]ur) (?:(?:older|younger|little|big|elder|twin|best|dear|good|new) )?"
    rf"({_KINDS}),? ((?:(?:Dr|Mrs?|Ms|Prof)\.? )?{_CAPITAL}(?: {_CAPITAL})?)(?!\w)"
)


def mentioned(text: str, speaker: str) -> Iterator[Claim]:
    """Yield who is named as somebody's in a text.

    Args:
        text: The words.
        speaker: Who says them.
    """
    for sentence in sentences(text.replace("\u2019", "'")):
        if is_play(sentence):
            continue
        for found in _MENTION.finditer(sentence):
            kind, name = found[1], found[2]
            before = sentence[: found.start()]
            is_supposed = _NAMING.search(before) and _SUPPOSING.search(sentence)
            if _is_name(name) and not (_ASKED.search(before) or is_supposed):
                stated = f"{speaker}'s {kind} is {name}"
                yield Claim(speaker, attribute_of(kind), name, stated, "identity", is_news=True)


def _is_name(name: str) -> bool:
    name_words = [word for word in words(name) if word not in TITLES]
    return bool(name_words) and not {*name_words} & {*NO_PERSON, *WEEKDAYS, *MONTHS}
