"""More of what a value may be, of everyday life: sizes, ages, ailments, what is built in. Pure.

As ``values``: each check takes the words after a verb and returns the value that they are.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from tiers.lexical import MONTHS

from ..regexes import regex
from . import phrases
from .lexicon import BODY, EVALUATIVE, TIER
from .values import matching, part_of

FEASTS = ("christmas", "easter", "new year", "thanksgiving")
_MY = r"(?:my|our|his|her|their)"
_PART = (
    rf"(?:{'|'.join(sorted(BODY))}|eyes?|ears?|teeth|heart|lungs?|stomach|skin|eyesight|hearing)"
)
_NUMBER = r"(?:\d{1,3}(?:[.,']\d{1,2})?|one|two|three|four|five|six|seven|eight|nine|ten|eleven)"
_UNIT = r"(?:m|cm|metres?|meters?|centimetres?|feet|foot|ft|kilos?|kg|pounds|lbs|stone|inches)"
_DONE_FOR = (
    r"(?:fitted|installed|built|put in|put up|laid|done up|redone|renovated|replaced|rewired"
    r"|converted|delivered|connected|repainted|insulated)"
)
_FIXTURES = (
    r"(?:solar panels|heat pump|wood(?:-burning)? stove|underfloor heating|central heating"
    r"|greenhouse|allotment|vegetable patch|conservatory|swimming pool|hot tub|sauna|beehives?"
    r"|roof terrace|garden shed|workshop|wallbox|treehouse|trampoline)"
)
_A_TIME = r"(?:an?|per|each|every) (?:hour|day|week|month|quarter|year)"
_TAXED = r"(?: (?:net|gross|before tax|after tax))?"
_OWED = regex(
    rf"(?:{_MY} [a-z\-]+|(?:the |my )?bank|{phrases.NAME}) {phrases.AMOUNT}"
    rf"|{phrases.AMOUNT} to (?:{_MY} [a-z\-]+|the bank|{phrases.NAME})"
)


def _debt(rest: str) -> str | None:
    """Return to whom how much is owed: ``my brother 300 euros``."""
    return rest if _OWED.fullmatch(rest) else None


def _charge(rest: str) -> str | None:
    """Return what somebody answers for: ``the night shift``."""
    thing = phrases.as_thing(re.sub(r"^(?:our|my) ", "the ", rest))
    is_task = thing is not None and re.match(r"(?:the|a) [a-z]|[a-z]+$", thing)
    return thing if thing and is_task and phrases.is_worth_keeping(thing, EVALUATIVE) else None


EVERYDAY: dict[str, Callable[[str], str | None]] = {
    "address": part_of(
        rf"((?:\d{{1,5}}[a-z]? {phrases.NAME}|{phrases.NAME} \d{{1,5}}[a-z]?)"
        rf"(?:,? (?:in )?{phrases.NAME}){{0,2}})"
    ),
    "income": part_of(rf"({phrases.AMOUNT}{_TAXED} {_A_TIME})"),
    "rate": part_of(rf"({phrases.AMOUNT} (?:{_A_TIME}|each) (?:in|for|to|as) .{{2,40}})"),
    "debt": _debt,
    "race": matching(r"\b(?:marathon|triathlon|10k|5k|race|Ironman|Olympics)\b", re.IGNORECASE),
    "college": part_of(
        r"((?:(?:the )?university|uni|college|(?:medical|law|art|drama|nursing|business|music"
        r"|cookery|boarding|primary|secondary|high|middle|grammar|night|evening|vocational"
        r"|nursery|film|design|language) school|[A-Z][\w'\-]+ (?:University|College|School))"
        rf"(?: (?:in|of) {phrases.NAME})?)"
    ),
    "charge": _charge,
    "product": part_of(r"([A-Z][\w+#.\-]*(?: [A-Z][\w+#\-]*)?(?: v?\d[\w.]*)?)"),
    "fitted": part_of(rf"((?:an? |new |the |my |our )*[a-z\- ]{{3,30}} {_DONE_FOR})"),
    "bad-part": part_of(
        r"((?:an? )?(?:bad|sore|weak|broken|torn|frozen|stiff|dodgy|dicky|gammy|glass|false"
        rf"|artificial|prosthetic|sprained|fractured|poor|cracked|chipped) {_PART})"
    ),
    "pounds": matching(
        rf"^(?:(?:about|around|almost|over) )?{_NUMBER} ?(?:pounds|lbs?|kilos?|kg|stone)\b"
    ),
    "tier": matching(rf"^{TIER}(?: (?:plan|tier|package|edition))?$", re.IGNORECASE),
    "pupils": matching(
        r"^[A-Z].* (?:Elementary|Primary|Kindergarten|Preschool|Nursery|Academy|High"
        r"|(?:Elementary|Middle|High|Primary|Secondary|Grammar) School)$"
    ),
    "fans": matching(
        r"^(?:(?:about|around|roughly|almost|nearly|over|more than) )?\d[\d.,]*[kKmM]? "
        r"(?:followers|subscribers|listeners|readers|patrons|connections)\b"
    ),
    "counted": matching(
        rf"^{_NUMBER}(?: of (?:the )?{_NUMBER})? (?:[\w-]+ ){{0,2}}(?:restaurants|caf[e\u00e9]s"
        r"|bars|countries|cities|states|continents|museums|parks|marathons|races|books|novels|lessons"
        r"|chapters|pages|episodes|seasons|levels|courses|hikes|peaks|recipes)\b"
    ),
    "fixtures": matching(rf"^(?:an? )?(?:[a-z\-]+ ){{0,2}}{_FIXTURES}\b"),
    "jab": part_of(
        rf"((?:{_MY}|an?|the) (?:[a-z0-9]+ ){{0,2}}(?:jab|vaccine|vaccination|booster)"
        r"(?: (?:for|against) .{2,30})?)"
    ),
    "served": part_of(
        r"((?:(?:with|without) .{3,30}|black|white|strong|weak|plain|sweet|neat|rare|medium rare"
        r"|well done|milky|iced)(?: (?:with|and|but) .{3,30})?)"
    ),
    "body-measure": part_of(
        rf"((?:about |around |nearly )?{_NUMBER}(?: ?{_UNIT})?(?:[ ']{{1,2}}{_NUMBER}\"?)?"
        r"(?: tall| in height)|(?:about |around )?\d{2,3} ?(?:kilos|kg|pounds|lbs|stone))"
    ),
    "decade": part_of(
        r"((?:(?:early|mid|late)[ -])?(?:teens|twenties|thirties|forties|fifties|sixties"
        r"|seventies|eighties|nineties|\d0s))"
    ),
    "circle": part_of(
        rf"((?:an?|the|{_MY}) (?:[\w'\-]+ ){{0,3}}(?:board|committee|council|choir|orchestra"
        r"|band|club|union|quartet|trio))"
    ),
    "field": part_of(
        r"((?:marketing|sales|finance|hr|it|insurance|banking|education|construction|logistics"
        r"|advertising|publishing|real estate|healthcare|retail|catering|tourism|farming|law"
        r"|the (?:army|navy|police|air force|civil service|fire brigade)|engineering|journalism"
        r"|pharmaceuticals|hospitality|shipping)(?: (?:at|for|with) .{2,40})?)",
        re.IGNORECASE,
    ),
    "regime": part_of(r"(an? (?:[a-z\-]+ ){0,2}diet)"),
    "stay": part_of(
        rf"((?:(?:the|this|next|all|all of) )?(?:{'|'.join((*MONTHS, *FEASTS))}|summer|winter"
        r"|(?:[a-z]+ )?(?:term|semester)|autumn|spring|holidays"
        r"|(?:two|three|four|six) (?:weeks|months)|(?:half|most)(?: of)? the year)"
        r" (?:in|with|at|on) .+)",
        re.IGNORECASE,
    ),
}
"""Checks by the names that the forms use, beside those of ``values``."""
