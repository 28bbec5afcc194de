"""What is so since it was changed: a value, a name, who has a post. Pure."""

from __future__ import annotations

from ..marks import Way
from ..regexes import regex
from .lexicon import FULL_NAME

_POST = r"(?:lead|captain|chair|head|director|coordinator|manager|treasurer|secretary)"
"""What one person is at a time."""
_CHANGED = r"(?:raised|lowered|increased|decreased|reduced|cut|changed|bumped|set|lifted|dropped)"
_THING = r"(?:[\w'-]+ ){0,5}?[\w'-]+(?<!s)"
_TO_VALUE = (
    r"(?: from [^,;]{1,30}?)? to (?P<value>(?:[A-Z][A-Z\d.-]+|[\w.+-]+@[\w.-]+"
    r"|[\u20ac$\u00a3+-]?\d[\w.%]*)(?: [\w%/]+){0,3}?)\.?"
)
"""A number and its unit, a code or an address: what it is; else it may be what it is for."""
_TO_NAME = rf"(?:from {FULL_NAME} )?(?:to |as )?(?={FULL_NAME}$)"
_WAS = r"(?:was|has been|got)"

CHANGES: tuple[Way, ...] = (
    Way(
        rf"^({FULL_NAME}) (?:is|takes over as|took over as|has taken over as|becomes|became) "
        rf"(the|our) (?:new )?((?:[\w-]+ ){{0,3}}{_POST})(?: (?:now|from now on))?(?=$|[.!])",
        r"\2 \3 is now \1",
    ),
    Way(
        rf"^([Tt]he|[Oo]ur) new ((?:[\w-]+ ){{0,3}}{_POST}) is (?!now)(?={FULL_NAME})",
        r"\1 \2 is now ",
    ),
    Way(
        rf"^([Tt]he|[Oo]ur|[Mm]y) ({_THING}) (?:{_WAS} (?:just )?{_CHANGED}|(?:has )?changed)"
        rf"{_TO_VALUE}$",
        r"\1 \2 is now \g<value>",
    ),
    Way(
        rf"^([Tt]he|[Oo]ur|[Mm]y) ({_THING}) {_WAS} renamed {_TO_NAME}",
        r"\1 \2 is now called ",
    ),
    Way(
        rf"^(?:I|[Ww]e)(?: have|'ve)? renamed (the|our|my) ({_THING}) {_TO_NAME}",
        r"\1 \2 is now called ",
    ),
)
"""Ways of telling of a change, and what is so since."""

_WE_CHANGED = regex(
    rf"(?:I|[Ww]e|(?!No\b|Nobody|None|Neither){FULL_NAME})(?: has| have|'ve)?(?: just)? {_CHANGED}"
    rf" (?P<thing>(?:the|our|my|[A-Z][\w-]*'s) {_THING}){_TO_VALUE}"
)


def as_it_is_now(text: str) -> str:
    """Return what something is since somebody changed it; ``""`` where a text tells of no change.

    ``We raised the retry limit from 3 to 5``: the retry limit is 5.
    """
    found = _WE_CHANGED.fullmatch(text)
    return f"{found['thing']} is {found['value']}" if found else ""
