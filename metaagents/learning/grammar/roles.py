"""What somebody's part is, what they go by or keep, and what they did for long. Pure.

``My colleague Yuki maintains the parser``, ``I belong to a choir``, ``I used to play the cello``:
verbs that tell of what stands, even where what they are of is known only to who speaks.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from ..regexes import regex
from .activity import ALONE
from .lexicon import AT_HAND, BODY, CAPITALS, MOMENTARY, OF_THE_MOMENT
from .statement import Said

_CHARGES = frozenset(
    "approve handle manage maintain review lead run chair represent coordinate oversee operate "
    "supervise coach mentor moderate organise organize look".split()
)
"""Verbs of what falls to somebody, also where it is told of something known."""
_GONE_BY = frozenset("belong share follow rely depend use read support".split())
"""Verbs of what somebody has a part in, or goes by."""
_BEGUN = frozenset("join found inherit".split())
"""What somebody has done to one of a kind lasts, if nothing else is said."""
_HURTS = frozenset("hurt ache swell bleed itch".split())

_NAMED = regex(rf"(?<![\w'])[{CAPITALS}\d]")
_SOMEHOW = regex(r"\b(?:\w+ly|well|better|best|worse|fine)$|\b(?:truth|pressure|stress)\b")
"""How somebody does it, or what everybody does."""
_PUT = regex(r"(?:my|our|the) .+ (?:in|on|under|behind|inside|above|at) (?:the|my|our|an?) .+")
_OWN = regex(r"(?:my|our) own (?!(?:opinions?|views?|theor\w+|style|mind|life|will)\b)\w")
_FROM = regex(rf"come from (?:the )?[{CAPITALS}]")
_ONE = regex(r"an? (?!queue|chat|conversation|game|round)")
_WAS = regex(
    r"(?:an?|the|in|on|at|with|afraid|scared|called) |(?:vegan|vegetarian|married|left-handed)\b"
)
_CODE = regex(r"\b[A-Za-z]\w*_\w+")
"""A name as programs have them."""
_SWITCHED = regex(r"(?:(?:switched|turned|set) )?(?:on|off|enabled|disabled|to)\b")


def stands(said: Said) -> bool:
    """Whether a clause that is understood alone tells somebody's part, or how a thing is set."""
    told = _BY_TENSE.get(said.verbal.tense)
    return told is not None and told(said)


def _is_part(said: Said) -> bool:
    verbal, rest = said.verbal, said.verbal.rest
    if verbal.aim or said.times:
        return False
    if verbal.is_progressive:
        # "I'm taking over the couch": whom somebody follows, or as what, says that it is a part.
        is_part = said.subject.sort != "speaker" or " from " in rest or " as " in rest
        return verbal.lemma == "take" and rest.startswith("over the ") and is_part
    if verbal.lemma == "be":
        return _CODE.search(said.subject.text) is not None and _SWITCHED.match(rest) is not None
    if said.subject.sort != "speaker" and not said.subject.kind:
        return said.subject.sort == "owned" and bool(_FROM.match(f"{verbal.lemma} {rest}"))
    if verbal.lemma == "keep":
        return _PUT.fullmatch(rest) is not None and not BODY & set(rest.lower().split())
    return _goes_on(said) or (verbal.lemma == "have" and _OWN.match(rest) is not None)


def _goes_on(said: Said) -> bool:
    """Whether somebody answers for something, has a part in it or goes by it."""
    lemma, rest = said.verbal.lemma, said.verbal.rest
    told = set(rest.lower().split())
    is_charge = lemma in _CHARGES and not said.clause.text.lower().startswith("we ")
    is_known = "the" not in told or is_charge or _NAMED.search(rest) is not None
    is_why = rest.startswith("to ") and lemma in {"read", "use"}
    is_other = is_why or _SOMEHOW.search(rest) is not None or _at_hand(rest)
    return lemma in _CHARGES | _GONE_BY and is_known and len(told) > 1 and not is_other


def _was_part(said: Said) -> bool:
    """``I used to play the cello``, ``I joined a startup``, ``my knee has hurt for a week``."""
    verbal, rest = said.verbal, said.verbal.rest
    if said.is_since and BODY & set(said.subject.noun.lower().split()):
        return bool(rest) or verbal.lemma in _HURTS
    if said.subject.sort in {"thing", "owned"} and not said.subject.kind:
        return False
    if verbal.sense == "never" and verbal.tense == "past":
        return verbal.lemma not in OF_THE_MOMENT | MOMENTARY and bool(rest)
    if verbal.aim == "used":
        is_state = verbal.lemma != "be" or _WAS.match(rest) is not None
        is_lasting = verbal.lemma not in OF_THE_MOMENT - {"have", "be", "do", "go"}
        return is_state and is_lasting and (bool(rest) or verbal.lemma in ALONE)
    return verbal.lemma in _BEGUN and _ONE.match(rest) is not None and not _at_hand(rest)


def _at_hand(rest: str) -> bool:
    return bool(AT_HAND & set(rest.lower().split()))


_BY_TENSE: Mapping[str, Callable[[Said], bool]] = MappingProxyType(
    {"present": _is_part, "past": _was_part, "perfect": _was_part}
)
