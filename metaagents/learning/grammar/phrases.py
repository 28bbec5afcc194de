"""What a statement says of its subject: places, names, things, numbers, whole in themselves."""

from __future__ import annotations

import re

from tiers.lexical import MONTHS, WEEKDAYS, words

from ..plain_speech import LOOSE_ENDS, POINTING
from ..regexes import any_case, regex
from ..times import CLOCK
from .lexicon import CAPITALS, EVALUATIVE, INITIALS, OCCASIONS, TITLES
from .verbs import FORMS

THING_WORDS_MAX = 9

_CAPITAL = rf"[{CAPITALS}][\w&]*(?:['\u2019.\-][\w&]+)*\.?"
_JOINED = "(?:of|de|del|da|di|du|la|le|upon|and|the|van|von|der|den|bin|al|do|das|dos|&)"
_PART = rf"(?:{_CAPITAL}|\d{{1,4}})"
NAME = rf"(?:(?:the )?{_PART}(?:(?: {_JOINED}){{0,2}} {_PART}){{0,4}})"
"""What is written with capitals, as an expression without groups."""

_IS_NAME = regex(NAME)
_PLACE = regex(rf"({NAME})((?:, {NAME}){{0,2}})")
_INITIALS = regex(rf"[{CAPITALS}]\.[{CAPITALS}]$|, (?:Inc|Ltd|Co|Corp|Jr|Sr)$")
"""They end with a full stop of their own: ``D.C.``."""
_COMPANY = regex(r",? (?:together )?with (?:my|our|his|her|their|a|an|two|three) [\w' ]{1,40}$")
_DATE_LIKE = (
    rf"(?:(?:(?:{'|'.join(WEEKDAYS)}),? )?(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)?"
    rf" (?:{'|'.join(MONTHS)})(?:,? \d{{4}})?"
    rf"|(?:{'|'.join(MONTHS)})(?: \d{{1,2}}(?:st|nd|rd|th)?)?(?:,? \d{{4}})?"
    rf"|\d{{4}}-\d{{2}}-\d{{2}}|(?:{'|'.join(WEEKDAYS)})s?(?:,? (?:at )?{CLOCK})?)"
)
TIME = any_case(rf"(?:(?:on|at|in|to|for|until) )?(?:{_DATE_LIKE}(?:,? (?:at )?{CLOCK})?|{CLOCK})")
QUANTITY = any_case(
    r"(?:about |around |only )?(?:[\u20ac$\u00a3#+]|number |no\. )?"
    r"(?:\d[\w.,:/\-]*[%\u20ac$\u00a3]?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen"
    r"|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-[a-z]+)?)"
    r"(?: (?!(?:at|in|on|for|from|with|of|to|by|as|and)\b)[\u20ac$\u00a3%\w\-+]+){0,3}"
)
MONEY = (
    r"(?:euros?|dollars?|pounds?|francs?|yen|rupees|zloty|kronor|kroner|crowns|grand|EUR|USD|GBP"
    r"|CHF|bucks)"
)
AMOUNT = (
    rf"(?:(?:about |around |over |under )?(?:[\u20ac$\u00a3]\d[\d.,]*k?"
    rf"|\d[\d.,]*k? ?(?:[\u20ac$\u00a3]|{MONEY}\b)))"
)
"""A sum of money, as an expression without groups."""
PASSED_ON = regex(
    r"\b(?:messages?|e-?mails?|letter|repl(?:y|ies)|minutes?|seconds?(?!-)|function|variable|dict|array"
    r"|errors?|warnings?|timeouts?|bugs?(?! \w)|(?:failing|flaky) \w+|loop|exception"
    r"|branch|commit|compiler|stack trace|class (?:called|named))\b"
)
"""What is owned by nobody: what passes between people, spare minutes, parts of a program."""
PASSING = regex(
    r"(?<!allergy)(?<!aversion)(?<!intolerance)"
    r" to (?!(?:the|an?|my|our)\b|(?:work|school|church|college)$)"
    r"[a-z]+(?: .{1,40})?$|\bin (?:mind|tow|stock|front of)\b|\bdown the (?:street|road|hall)\b"
    r"| (?:open|full|wrong|right|mixed up)$|\bup my sleeve\b"
    r"|\b(?:in|on|up|to|off) my (?:throat|hands?|stomach|mouth|head|mind|eyes?|plate|chest|back"
    r"|shoulders?|lap|pocket|bag)\b|\b(?:green (?:thumb|fingers)|sweet tooth|temper|soul|nerve"
    r"|marbles|patience|appetite|cool|two left feet)$"
)
"""What somebody has to do, in mind or for the moment, or only as a manner of speaking."""
_COUNTED = any_case(
    r"(?:\d{1,3}|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty) [a-z]"
)
_ARTICLE = any_case(r"(?:an?|the|some|another|one) ")
_FINITE = frozenset(
    "is are was were am has have had do does did can could will would should must isn't aren't "
    "wasn't weren't don't doesn't didn't".split()
)
_BARRED = (
    (POINTING | {"together", "everywhere", "anywhere", "forward"})
    - frozenset("watch sound sounds the before after first second third week month year".split())
) | _FINITE


def as_name(text: str) -> str | None:
    """Return a text as a name, with its title; ``None`` if it is not all in capitals."""
    plain = text.strip(" ,.!") if not text.endswith("Jr.") else text
    if not _IS_NAME.fullmatch(plain) or not any(letter.isupper() for letter in plain):
        return None
    first = plain.split()[0].lower()
    is_day = words(plain)[0] in {*WEEKDAYS, *MONTHS}
    return None if is_day or (first in TITLES and " " not in plain) else plain


_AREA = regex(r"the (?:suburbs|countryside|seaside|coast|mountains|city cent(?:re|er))")


def as_place(text: str) -> str | None:
    """Return a place or firm by its whole name, without the company it is shared with.

    What stands behind a comma is part of it: London, Ontario is not London.
    """
    plain = _COMPANY.sub("", text.strip(" ,.!"))
    if _AREA.fullmatch(plain):
        return plain
    found = _PLACE.fullmatch(plain)
    name = as_name(found[1]) if found else None
    if found is None or name is None:
        return None
    stop = "." if found[2] and _INITIALS.search(found[2]) else ""
    return f"{name}{found[2]}{stop}"


def as_thing(text: str, barred: frozenset[str] = frozenset()) -> str | None:
    """Return a thing in the words it was said in; ``None`` if it points at something else.

    Args:
        text: The words; ``my`` and ``our`` are allowed after a preposition only.
        barred: Further words with which it is none.
    """
    plain = text.strip(" ,.!")
    whole = plain
    plain = re.sub(
        r"^one (?=[a-z])|(?<=\w) as (?=an? [a-z])", lambda found: " - " * (found.start() > 0), plain
    )
    tokens = [
        one if one in INITIALS else one.lower()
        for one in (word.strip(",;:") for word in plain.split())
    ]
    if not tokens or len(tokens) > THING_WORDS_MAX or {tokens[0], tokens[-1]} & LOOSE_ENDS:
        return None
    if any(mark in plain for mark in '"\u201c\u201d();:*[]{}<>|=') or plain.count(",") > 1:
        return None
    owned = {at for at, word in enumerate(tokens) if word in {"my", "our"} and at > 0}
    free = [word for at, word in enumerate(tokens) if at not in owned]
    if (_BARRED | barred) & set(free) or not re.search(r"[^\W\d_]", plain):
        return None
    return whole


def is_owned(text: str) -> bool:
    """Whether a thing is told as one that somebody has: with an article or a number."""
    return bool(_ARTICLE.match(text) or _COUNTED.match(text))


def is_worth_keeping(text: str, barred: frozenset[str] = EVALUATIVE | OCCASIONS) -> bool:
    """Whether a thing is one, rather than a mood, an occasion or praise."""
    return not any(word in barred for word in words(text.replace("great-", "")))


def is_doing(text: str) -> bool:
    """Whether words are an activity: ``swimming``, ``playing the harp``."""
    first = text.split(maxsplit=1)[0].lower() if text.split() else ""
    return FORMS.get(first, ("", ""))[1] == "ing" or (first.endswith("ing") and len(first) > 4)  # noqa: PLR2004


def as_time(text: str) -> str | None:
    """Return a day, date or clock time; ``None`` when a text is none."""
    plain = text.strip(" ,.!")
    return plain if TIME.fullmatch(plain) else None


def as_quantity(text: str) -> str | None:
    """Return a number with its unit; ``None`` when a text is none."""
    plain = text.strip(" ,.!")
    return plain if QUANTITY.fullmatch(plain) else None
