"""What somebody lists of themselves without a verb, told in sentences. Pure.

``vegan, two kids, living in Turin``, ``retired last year, wife still works at Lidl``. A list counts
where each of its things is known to be said of who types it; one that may be anything else leaves
the whole as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeAlias

from tiers.lexical import MONTHS, NUMBER_WORDS, WEEKDAYS

from ..regexes import any_case
from .changes import DEPARTMENT
from .lexicon import CAPITALS, CARERS, DIETS, DRUG, MARITAL, PETS, RELATIVES, SPOUSES, TRADES
from .shorthand import STATE, article

Told: TypeAlias = Callable[["re.Match[str]"], str]

ITEMS_MAX, CHARS_MAX = 12, 240
KINDS_MIN = 3
"""Of so many kinds a list is of somebody, though each alone may be of anything."""
_COUNT = rf"(?:an?|no|\d{{1,2}}|{'|'.join(sorted(NUMBER_WORDS))})"
_HAD = "|".join(
    sorted({*PETS, *(f"{one}s" for one in PETS | RELATIVES), "kids", "children", "daughter", "son"})
)
_KIN = "|".join(sorted({*RELATIVES - {"family", "folks", "ex"}, *SPOUSES, "gf", "bf", *PETS}))
_CARER = "|".join(sorted(CARERS | {"landlord", "landlady", "boss", "manager"}))
_TRADE = "|".join(sorted(TRADES, key=len, reverse=True))
_DAYS = rf"(?:{'|'.join((*WEEKDAYS, *MONTHS))})"
_PLACE = (
    rf"(?!(?:The|My|Our|{_DAYS})\b)(?-i:[{CAPITALS}])[\w'.-]*(?: (?-i:[{CAPITALS}])[\w'.-]*){{0,2}}"
)
_TENS = r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)"
_AGE = rf"(?:[2-9]\d|1[89]|{_TENS}(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?)"
_THEN = r"(?:last (?:yr|year|month|week|spring|summer|autumn|winter)|in (?:\d{4}|[a-z]+)|since \w+)"
_FEET = (
    r"(?:(?:five|six|four) (?:foot|feet|ft)(?: [a-z]+)?|\d['\u2019] ?\d{1,2}\"?|[12][.,]\d\d ?m)"
)
_DOES = (
    r"(?:(?:still|also|always|never|usually|only|just) )?(?!(?:s|yes|as|this|us|plus|always)\b)"
    r"(?:is|has|was|works|lives|does|goes|plays|teaches|speaks|studies|runs|owns|died|retired"
    r"|loves|likes|hates|drives|eats|got|moved|can't|cannot|doesn't|isn't|can|turns|turned)"
)


class _Kind(NamedTuple):
    """A kind of thing that people list of themselves.

    Attributes:
        item: Its form.
        told: The sentence that says it.
        is_telling: It says by itself that a list is of who types it.
        is_once: Of two in a list somebody chooses: ``single, married``.
    """

    item: re.Pattern[str]
    told: Told
    is_telling: bool = True
    is_once: bool = True


class _Item(NamedTuple):
    """A thing that was listed, as a sentence, and its kind."""

    said: str
    kind: _Kind


def _kind(
    pattern: str, told: str | Told, *, is_telling: bool = True, is_once: bool = True
) -> _Kind:
    put = told if callable(told) else _filling(told)
    return _Kind(any_case(pattern), put, is_telling, is_once)


def _filling(template: str) -> Told:
    return lambda found: found.expand(template)


def _named(found: re.Match[str]) -> str:
    title = f"{found[2].strip(' .').capitalize()} " if found[2] else ""
    return f"My {found[1].lower()} is {title}{found[3].title()}"


def _trade(found: re.Match[str]) -> str:
    return f"I am {article(found[1])}{found[1].lower()}{found[2] or ''}"


def _without(found: re.Match[str]) -> str:
    return f"I don't {found[2].lower()}{found[3] or ''}"


_OWNED = _kind(rf"(?:i have |i've got |got |have )({_COUNT} (?:\w+ )?(?:{_HAD}))", r"I have \1")
_OWNED_ONLY = _kind(
    rf"({_COUNT} (?:\w+ )?(?:{_HAD}))", r"I have \1", is_telling=False, is_once=False
)
_HANDED = r"(?:left|right)[- ]handed"
_TRADE_KIND = _kind(
    rf"((?:(?:retired|trainee|freelance) )?(?:{_TRADE}))((?: at| in| for) {_PLACE})?",
    _trade,
    is_telling=False,
)
_KIN_DOES = _kind(rf"(?:my )?((?:{_KIN}) {_DOES} .+)", r"My \1", is_once=False)
_KIN_IS = _kind(
    rf"(?:my )?({_KIN})s ((?:an? (?!few|bit|lot|while|little)|\d{{1,2}}\b).*)",
    r"My \1 is \2",
    is_once=False,
)
_CLAUSE = _kind(r"((?:i|my|we|our) .{6,})", r"\1", is_telling=False, is_once=False)
_CLAUSES = (_KIN_DOES, _KIN_IS, _CLAUSE)
_KINDS = (
    _kind(rf"({'|'.join(sorted(DIETS))})", r"I am \1"),
    _kind(rf"({_HANDED})", r"I am \1"),
    _kind(rf"({STATE})", r"I am \1", is_once=False),
    _kind(
        rf"(?:{'|'.join(sorted(MARITAL))})(?: (?:to|with) .+)?",
        lambda one: f"I am {one[0].lower()}",
    ),
    _kind(
        rf"retired(?: ({_THEN}))?",
        lambda one: f"I retired {one[1]}" if one[1] else "I am retired",
    ),
    _kind(r"(unemployed|self[- ]employed|bilingual)", r"I am \1"),
    _kind(
        rf"({_AGE})(?: ?(?:years? old|yrs? old|yo|y/o))?(?: ?[mf])?",
        lambda one: f"I am {one[1].replace(' ', '-')} years old",
        is_telling=False,
    ),
    _OWNED,
    _OWNED_ONLY,
    _kind(
        r"no (car|pets|kids|children|siblings|allergies|driving licen[cs]e)",
        r"I have no \1",
        is_telling=False,
        is_once=False,
    ),
    _kind(rf"(?:now )?(?:live|living|based|lives) in ({_PLACE})(?: now)?", r"I live in \1"),
    _kind(
        rf"(?:now )?(?:work|works|working) (as an? [\w'-]+(?: [\w'-]+){{0,3}}"
        rf"|(?:in|at|for) (?:{_PLACE}|{DEPARTMENT})|nights|days|shifts"
        r"|part[- ]time|full[- ]time|from home)",
        r"I work \1",
    ),
    _TRADE_KIND,
    _kind(rf"from ((?!{_DAYS}\b)(?-i:[A-Z])[\w'-]+)", r"I am from \1", is_telling=False),
    _kind(rf"born (in (?:\d{{4}}|{_PLACE})(?: in {_PLACE})?)", r"I was born \1"),
    _kind(rf"(?:raised|grew up) in ({_PLACE})", r"I grew up in \1"),
    _kind(
        r"blood (?:type|group):? (ab|a|b|o) ?(pos(?:itive)?|neg(?:ative)?|\+|-)",
        lambda one: f"My blood type is {one[1].upper()} {one[2]}",
    ),
    _kind(
        rf"(?:my )?({_CARER}) (?:is|=) (?:((?:dr|mr|mrs|ms|prof)\.? )|(?=(?-i:[A-Z])))"
        r"([a-z][\w'-]+(?: (?-i:[A-Z])[\w'-]+)?)",
        _named,
        is_once=False,
    ),
    _KIN_DOES,
    _KIN_IS,
    _kind(rf"(?:i'm )?on ({DRUG}(?: and {DRUG})?)", r"I take \1"),
    _kind(
        r"(?:i )?(don'?t) (eat|drink|smoke)( (?!this|that|it\b|them)[a-z]+(?: or [a-z]+)?)?",
        _without,
        is_once=False,
    ),
    _kind(rf"({_FEET})(?: tall)?", r"My height is \1", is_telling=False),
    _kind(
        r"(?:just |recently )?((?:moved to|got married|got divorced|got engaged|quit smoking"
        r"|joined)(?: [\w'-]+){0,5})",
        r"I \1",
    ),
    _CLAUSE,
)
_AM = any_case(r"(?:i'm|i am|im) (?:an? (?=\d|[a-z]+ (?:,|from )))?")
_BETWEEN = re.compile(r"\s*[,;]\s*(?:(?:and|but|n|&|plus)\s+)?", re.IGNORECASE)
_JOINED = re.compile(r"\s+(?:and|n|&|plus)\s+", re.IGNORECASE)
_SOUGHT = any_case(
    r"\?|\b(?:looking|seeking|wanted|need|needs|find|character|persona|profile|person|people|someone"
    r"|somebody|story|example|patient|customer|client|user|if|when|imagine|suppose|say)\b"
)
"""With these a list is of somebody else, or of nobody."""
_OPENS = frozenset(
    "i'm im no live living based work working from born raised grew blood on got have don't dont "
    "never just recently moved quit my retired unemployed self-employed left right short type "
    "diabetic coeliac celiac asthmatic dyslexic autistic epileptic deaf left-handed pregnant "
    "allergic lactose gluten trainee freelance hard".split()
) | {*DIETS, *MARITAL, *TRADES, *NUMBER_WORDS}
_OPENS_WITH = re.compile(rf"(?:{_KIN}|{_CARER})s?\b|\d", re.IGNORECASE)


def listed_of_oneself(sentence: str) -> str:
    """Return a list of what somebody is and has in sentences; what is none comes back as it is.

    Args:
        sentence: The first of a message, its apostrophes in one form.
    """
    if "," not in sentence and ";" not in sentence:
        return sentence
    first = sentence.split(" ", 1)[0].lower().rstrip(",;")
    is_begun = first in _OPENS or _OPENS_WITH.match(first) is not None
    if not is_begun or len(sentence) > CHARS_MAX or _SOUGHT.search(sentence):
        return sentence
    bare = _AM.sub("", sentence.strip(" .!"), count=1)
    items = [one for one in _BETWEEN.split(bare) if one]
    known: list[_Item] = []
    for item in items:
        told = _told(item)
        if not told:
            return sentence
        known += told
    is_known = len(items) <= ITEMS_MAX and len(known) > 1
    return (
        f"{'. '.join(_begun(one.said) for one in known)}."
        if (is_known and _is_of_one(known))
        else sentence
    )


def _is_of_one(known: Sequence[_Item]) -> bool:
    """Whether what is listed is true of one person at once, and of who types it."""
    kinds = [one.kind for one in known]
    if all(kind in (_OWNED, _OWNED_ONLY) for kind in kinds):
        return False  # "I have a dog, two cats and a parrot" is one statement
    if kinds[0] is _TRADE_KIND and all(kind in _CLAUSES for kind in kinds[1:]):
        return False  # "Teacher, my son is ill" calls one
    is_twice = any(kind.is_once and kinds.count(kind) > 1 for kind in kinds)
    is_told = any(kind.is_telling for kind in kinds) or len(set(kinds)) >= KINDS_MIN
    return is_told and not is_twice


def _begun(said: str) -> str:
    return f"{said[:1].upper()}{said[1:]}"


def _told(item: str) -> list[_Item]:
    """Return the sentences of an item, or of both that are joined in it; nothing if one is none."""
    for kind in _KINDS:
        if found := kind.item.fullmatch(item):
            return [_Item(kind.told(found), kind)]
    both = _JOINED.split(item, maxsplit=1)
    parts = [_told(one) for one in both] if len(both) > 1 else []
    return [one for part in parts for one in part] if parts and all(parts) else []
