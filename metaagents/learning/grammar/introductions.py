"""How people introduce themselves: by name, and by what they are or where they are from. Pure.

``Hi, I'm Maya, head of product at Northwind`` says a name and a role. With a greeting a name is one
by its place; without, what people are capitalised for as well is none: a nationality, a faith.
"""

from __future__ import annotations

import re

from ..marks import Way
from ..plain_speech import NO_NAME
from ..regexes import regex
from .lexicon import CAPITALS

_ONE_NAME = rf"[{CAPITALS}][^\W\d_A-Z]+(?:-[{CAPITALS}][^\W\d_A-Z]+)?"
_NAME = rf"{_ONE_NAME}(?: (?:(?:de|da|di|del|la|van|von|der|bin|al) )*{_ONE_NAME}){{0,2}}"
_GREETING = (
    r"(?:hi|hello|hey|hiya|howdy|greetings|good (?:morning|afternoon|evening|day))"
    r"(?: (?:there|all|everyone|everybody|team|folks|again|you|both))?[,.!:]* "
)
_BEHIND = r"(?=[.,;!](?! not\b)|\s*$| (?:and|from|by the way|btw)\b)"
"""What stands behind a name: ``I'm Rose`` names somebody, ``I'm Rose's mother`` does not."""
_NO_NAMES = NO_NAME | frozenset(
    # What people are, and where they are from.
    "african american argentinian armenian asian australian austrian bavarian belgian "
    "brazilian bulgarian canadian chilean colombian croatian cuban czech dutch egyptian "
    "european finn french georgian german ghanaian greek hungarian indian iranian iraqi "
    "israeli italian kenyan korean kurd latvian lebanese lithuanian malaysian mexican "
    "moroccan nigerian norwegian pakistani palestinian persian peruvian roman romanian "
    "russian saudi serb serbian slovak slovenian swede swiss syrian thai ukrainian welsh "
    "berliner londoner parisian catholic protestant orthodox lutheran mormon muslim hindu "
    "sikh buddhist atheist jew vegan vegetarian democrat republican aries taurus gemini "
    "cancer virgo libra scorpio sagittarius capricorn aquarius pisces "
    # What else is written so at the beginning of a message, in a heading or in fun.
    "all and angry annoyed at bored both busy chief confused curious done everyone excited "
    "fine free from glad god going gone good great groot happy here home hungry in iron just "
    "legend lucky man married minister nervous new no not nothing now off ok okay on only out "
    "prime ready retired same santa scared serious sleepy so someone something sorry spartacus "
    "still superman batman sure team the thirsty tired too very world worried yes you".split()
)
_OF_A_PEOPLE = regex(r"(?:ish|ese|ing)$")
_THE_ONE = (
    r"(?:head|lead|ceo|cto|cfo|coo|(?:co-?)?founder|owner|chief|chair\w*|president|director"
    r"|manager|principal|vp|vice president)"
)
_NO_ROLES = (
    r"(?!(?:your|my|our|his|her|their|not?|never|ever|either|rather|remember|however|whatever"
    r"|forever|after|over|under|together|consider|offer|better|later|other|another|number|for|n?or"
    r"|want|important|constant|relevant)\b)"
)
"""What stands behind a name without being what its bearer is: ``I'm Alex, remember``."""
_ROLE = (
    rf"(?:(?:an?|the) )?(?:{_NO_ROLES}[a-z-]+ ){{0,3}}?"
    rf"{_NO_ROLES}(?:{_THE_ONE}|(?:[a-z-]*(?:er|or|ist|ian|ant|eur)"
    r"|nurse|chef|cook|vet|student|apprentice|architect|mechanic))\b"
    r"(?: (?:of|at|for|in|from|with|on) [^,;.!?]{2,60})?(?=[.,;!]|\s*$| and\b)"
)
_DEPARTMENTS = (
    "legal|accounting|accounts|finance|sales|marketing|support|operations|engineering|purchasing"
    "|procurement|logistics|security|compliance|payroll|research|design|product|quality|reception"
)


def _named(found: re.Match[str]) -> str:
    """Return an introduction as what one's name is, if that is one."""
    names = found["name"].lower().split()
    is_name = _NO_NAMES.isdisjoint(names) and not _OF_A_PEOPLE.search(names[-1])
    return f"My name is {found['name']}" if is_name else found.group()


def _what(found: re.Match[str]) -> str:
    """Return what stands behind a name as what its bearer is."""
    role = found["role"]
    is_told = re.match(r"(?:an?|the) ", role, re.IGNORECASE)
    is_one = re.match(_THE_ONE, role, re.IGNORECASE) and " of " in role
    article = "" if is_told else "the " if is_one else "an " if role[0] in "aeiou" else "a "
    return f"{found['named']} and I am {article}{role}"


INTRODUCTIONS: tuple[Way, ...] = (
    Way(rf"^\s*(?i:{_GREETING}(?:i'm|i am)) (?P<name>{_NAME}){_BEHIND}", _named),
    Way(rf"^\s*(?i:{_GREETING}this is) (?P<name>{_NAME})(?=, | from | speaking\b)", _named),
    Way(rf"^\s*(?i:{_GREETING})(?P<name>{_NAME}) here{_BEHIND}", _named),
    Way(rf"^\s*(?i:i'm|i am) (?P<name>{_NAME})(?=[.!]?\s*$|, (?!not\b)| and [Ii]\b)", _named),
    Way(rf"^(?P<named>My name is {_NAME}),? (?P<role>(?i:{_ROLE}))", _what),
    Way(rf"^(My name is {_NAME}), (?=\d{{1,2}}(?:[,.!]|\s*$| and\b))", r"\1 and I am "),
    Way(
        rf"^(My name is {_NAME}(?: and I am [^,;.!?]{{1,60}})?),? from (?=[{CAPITALS}])",
        r"\1 and I am from ",
    ),
    Way(rf"^(My name is {_NAME}),? from (?=(?:{_DEPARTMENTS})\b)", r"\1 and I work in "),
)
