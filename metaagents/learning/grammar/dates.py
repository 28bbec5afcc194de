"""Roundabout ways of saying when, how old and on which day, put in one form. Pure."""

from __future__ import annotations

import re

from tiers.lexical import MONTHS, WEEKDAYS

from ..marks import Way
from ..times import PHRASE
from .lexicon import RELATIVES

_MONTH = f"(?:{'|'.join(MONTHS)}|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\\.?)"
_NTH_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_MONTH_FIRST = (
    rf"(?:\b|(?P<of>day,? ))({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?"
    r"(?(of)(?!\d)|(?=,? (?:19|20)\d\d\b))"
)
"""``May 3rd, 2014`` as ``3 May, 2014``: one date has one form, whoever writes it."""
_IN_A_DATE = (
    rf"\b((?:{'|'.join(WEEKDAYS)})(?=, (?:the )?(?:{_NTH_DAY}(?: of)? {_MONTH}|{_MONTH} \d))"
    rf"|(?:{_MONTH}|{_MONTH} {_NTH_DAY}|{_NTH_DAY}(?: of)? {_MONTH})(?=, (?:19|20)\d\d\b)), "
)
"""A comma that ends no clause: ``Monday, 7 December``, ``May 3rd, 2014``."""
_TIME_AHEAD = rf"^((?:(?:And|But|So|Then|Well),? )?{PHRASE}), (?=(?:i|we|my|our|he|she|they|the)\b)"
"""``In 2018, I moved``: when it was opens what it says."""
NUMBER = (
    r"(?:\d{1,3}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]{3,5})?|one|two"
    r"|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w{3,6}teen|a hundred)"
)
"""How old somebody is or was, as an expression without groups."""
_NTH = {"first": "1st", "second": "2nd", "third": "3rd"}


def _nth(found: re.Match[str]) -> str:
    return f"the {_NTH[found[1].lower()]} of "


TIMES: tuple[Way, ...] = (
    Way(_MONTH_FIRST, lambda found: f"{found['of'] or ''}{found[3]} {found[2]}"),
    Way(_IN_A_DATE, r"\1 "),
    Way(_TIME_AHEAD, r"\1 "),
    # How old somebody was when it began is its time.
    Way(
        r"\bsince (?:i|he|she) was (?:only |about |just )?"
        rf"(?:({NUMBER})(?: years old)?|(?:an? )?(?:(?:very|quite) )?(?:small |little |young )?"
        r"(?:child|kid|boy|girl|little|small|young|baby|teenager|toddler))(?=[.,;!]|$| and\b)",
        lambda found: f"since the age of {found[1]}" if found[1] else "since childhood",
    ),
    # How old somebody was does not make what they did depend on it.
    Way(
        rf"^(i\b.+?),? when i was (?:only |about |just )?({NUMBER})(?: years old)?(?=[.,!]|$)",
        r"\1 at the age of \2",
    ),
    Way(
        rf"^(my (?:{'|'.join(sorted(RELATIVES))}|parents) .+?),? when i was (?:only )?{NUMBER}"
        r"(?: years old)?(?=[.,!]|$)",
        r"\1",
    ),
    Way(
        rf" when (?:i|we|he|she) (?:was|were) (?!(?:only )?{NUMBER}\b)(?:only )?[\w-]+(?=[.,!]|$)",
        "",
    ),
    Way(rf"\bthe (first|second|third) of (?={'|'.join(map(str.capitalize, MONTHS))})", _nth),
    Way(
        rf"\b((?:due|expires?|starts?|ends?|begins?|arrives?) )(?:the )?"
        rf"(?=\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{'|'.join(MONTHS)})\b)",
        r"\1on ",
    ),
    Way(r"\b(?:it's|it is) (my|our) ((?:\w+ )?(?:birthday|anniversary)) (?=on |in )", r"\1 \2 is "),
    Way(r"\b(birthday|anniversary) (?:falls|comes|is coming up) on ", r"\1 is on "),
)
