"""Questions about teams, things, times and choices, and what their answers make of them. Pure.

Some are answered by what is asked for: ``Who approves the budget?`` ``Petra``. Others ask whether
something is so, and are answered by what is so instead: ``Is it on Tuesday?`` ``No, Thursday``.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from tiers.lexical import MONTHS, WEEKDAYS, words

from ..plain_speech import NO_ALLERGEN, NO_NAME
from ..regexes import any_case, regex
from ..rewording import third_person
from .changes import DEPARTMENT
from .lexicon import CAPITALS, NUMBERS, PETS, REGION, RELATIVES
from .shorthand import STATE

Build: TypeAlias = Callable[["re.Match[str]", str], str | None]

_NOW = r"(?: now| these days| nowadays| currently| at the moment| right now)?"
_LEADS = r"(?:(?:so|and|but|ok|okay|great|nice|thanks|oh|well|by the way)[,.!]? )*"
_CALLS = r"(?:, [A-Z]\w+)?"
_KNOWN = r"(?: that)?(?: (?:i|we) should (?:know|be aware)(?: about| of)?)?"


class Answered(NamedTuple):
    """A kind of question, and the sentence that it makes of the value of an answer."""

    question: re.Pattern[str]
    build: Build


class Replied(NamedTuple):
    """A kind of question, the form of what answers it, and the sentence that both make."""

    question: re.Pattern[str]
    answer: re.Pattern[str]
    build: Callable[[re.Match[str], re.Match[str]], str | None]


def question(pattern: str, build: Build) -> Answered:
    """Return a kind of question with all that may stand around it."""
    return Answered(_asked(pattern), build)


def _asked(pattern: str) -> re.Pattern[str]:
    return any_case(rf"{_LEADS}{pattern}{_NOW}{_CALLS}\?")


_NAME = rf"[{CAPITALS}][\w.'\u2019-]*(?: [{CAPITALS}\d][\w.'\u2019-]*){{0,3}}"
_NO_NAMES = (
    NO_NAME
    | frozenset(
        "you i me we us it he she they none nobody anybody everybody somebody anyone "
        "everyone someone nothing something anything never always sorry thanks thank great "
        "good hello hi no nope yes yep yeah ok okay sure maybe perhaps tbd tba tbc unknown "
        "unclear unsure dunno idk depends pending wrong right correct exactly guess nowhere "
        "somewhere anywhere".split()
    )
    | {*WEEKDAYS, *MONTHS}
)
_IS_NAME = regex(rf"(?:the )?{_NAME}")
_ROLE = r"(?:[Tt]he |[Oo]ur )?(?:[a-z-]+ ){0,2}(?:agent|bot|team|service|desk|department|office)"
_WHO = any_case(
    r"(?:it['\u2019]?s |that['\u2019]?s |that would be |just |always |usually )?"
    rf"(?P<who>(?-i:{_NAME})|{_ROLE}|{DEPARTMENT})(?: (?:from|in|at) (?:the )?[\w-]+(?: team)?)?"
    r"(?:,? (?:does|is|do|usually|always|mostly))?"
    r"(?P<rest>,? (?:unless|except when|but not) (?:he|she|they|it)?['\u2019 ]?[\w' ]{3,40})?"
)
_WORD = regex(r"[^\W\d_]{3,20}")
_NO_CITY = frozenset(
    "alone apartment both campus city country countryside downtown flat farm house inside village "
    "nearby outside suburbs suburbia together town upstairs here there same different".split()
)
_NO_ALLERGENS = NO_ALLERGEN | frozenset(
    "lots many most things thing everything stuff some few loads several all life you".split()
)
_OTHERS = frozenset(
    "country world universe kingdom government league race cup pack table polls charts show market "
    "band song film movie story novel book game match".split()
)
"""Of these is asked who knows the news, or a story."""
_CITY = (
    r"(?:which|what) (?:city|town|village|country|state|suburb|neighbou?rhood|district|area|region)"
)


def _is_name(said: str) -> bool:
    """Whether words are a name, and no answer that is written like one: ``Never``."""
    return _IS_NAME.match(said) is not None and _NO_NAMES.isdisjoint(words(said))


def _city(verb: str) -> Build:
    """Build where somebody lives, of which a place is asked for: one word needs no capital."""

    def build(_: re.Match[str], value: str) -> str | None:
        is_word = _WORD.fullmatch(value) is not None and value.lower() not in _NO_CITY
        where = value.capitalize() if is_word and value.islower() else value
        return f"I {verb} {where}" if _is_name(where) else None

    return build


def _allergic(_: re.Match[str], value: str) -> str | None:
    is_told = _NO_ALLERGENS.isdisjoint(words(value)) and re.fullmatch(r"[\w' ,-]{3,60}", value)
    return f"I am allergic to {value}" if is_told else None


def _diet(_: re.Match[str], value: str) -> str | None:
    return f"I am {value.lower()}" if _IS_STATE.fullmatch(value) else None


_IS_STATE = any_case(STATE)
_MANY_OF_US = any_case(
    rf"(?:just |about |there are |we are |we['\u2019]re )?"
    rf"(?P<many>\d{{1,5}}|{'|'.join(sorted(NUMBERS - {'one'}))})(?: people| of us)?"
    r"(?P<rest>,? (?:plus|and|besides|not counting|apart from) (?:me|myself))?"
)
_MANY = any_case(rf"(?P<many>\d{{1,5}}|{'|'.join(sorted(NUMBERS - {'one'}))})(?P<rest>(?:, .+)?)")
_COUNTED = "|".join(sorted({f"{one}s" for one in PETS | RELATIVES} | {"kids", "children"}))


def _counted(asked: re.Match[str], value: str) -> str | None:
    found = _MANY.fullmatch(value)
    return found and f"I have {found['many'].lower()} {asked['thing'].lower()}{found['rest']}"


def _team(asked: re.Match[str], answer: re.Match[str]) -> str:
    besides = " besides me" if answer["rest"] else ""
    return f"My {asked['group'].lower()} has {answer['many'].lower()} people{besides}"


def _doer(asked: re.Match[str], answer: re.Match[str]) -> str | None:
    """Build who does what: ``Who approves the budget?`` ``Petra, unless she's on leave``."""
    what = asked["what"]
    is_told = _NO_NAMES.isdisjoint(words(answer["who"])) and _OTHERS.isdisjoint(words(what))
    if not is_told or what != what.lower():
        return None
    who = f"{answer['who'][:1].upper()}{answer['who'][1:]}"
    ours = re.sub(r"\byour\b", "our", what)
    return f"{who} {asked['does'].lower()} {ours}{(answer['rest'] or '').lstrip(',')}"


def _called(asked: re.Match[str], value: str) -> str | None:
    is_name = _is_name(value) and _IS_NAME.fullmatch(value) is not None
    return f"The {asked['thing'].lower()} is called {value}" if is_name else None


def _kept(asked: re.Match[str], value: str) -> str | None:
    """Build where a thing of the team's is: ``Where is the database hosted?``"""
    placed = re.match(r"(?:in|at|on|with) ", value)
    where = value[placed.end() :] if placed else value
    is_place = _IS_NAME.fullmatch(where) or re.fullmatch(REGION, where)
    is_told = is_place and _NO_NAMES.isdisjoint(words(where))
    if not is_told or asked["thing"] != asked["thing"].lower():
        return None
    said = placed[0] if placed else "in "
    return f"The {asked['thing']} {asked['is'].lower()} {asked['kept'].lower()} {said}{where}"


def _version(asked: re.Match[str], value: str) -> str | None:
    is_number = re.fullmatch(r"v?\d[\w.]*", value) is not None
    return f"We use {asked['tool']} {value}" if is_number else None


def _when(asked: re.Match[str], answer: re.Match[str]) -> str | None:
    """Build when a thing does what it does: ``When does the certificate expire?``"""
    thing = asked["thing"]
    if answer["near"] or thing != thing.lower():
        return None
    owned = asked["whose"].lower().replace("your", "my").capitalize()
    when = f"{_ON[_kind(answer['time'])]} {_written(answer['time'])}"
    return f"{owned} {thing} {third_person(asked['does'].lower())} {when}"


def _daily(asked: re.Match[str], answer: re.Match[str]) -> str | None:
    is_hour = _kind(answer["time"]) == "hour"
    near = "around" if answer["near"] else "at"
    return f"I {asked['does'].lower()} {near} {answer['time'].lower()}" if is_hour else None


def _chosen(asked: re.Match[str], value: str) -> str | None:
    """Build which of two somebody prefers: ``Do you prefer tea or coffee?``"""
    one = value.lower().removesuffix(" always").rstrip(",")
    return f"I prefer {one}" if one in {asked["one"].lower(), asked["two"].lower()} else None


QUESTIONS: tuple[Answered, ...] = (
    question(rf"{_CITY} (?:do you live|are you living)(?: in)?", _city("live in")),
    question(rf"{_CITY} (?:are you based|do you work)(?: in)?", _city("am based in")),
    question(rf"{_CITY} (?:are you|do you come) from", _city("am from")),
    question(rf"{_CITY} were you born(?: in)?", _city("was born in")),
    question(
        rf"are you allergic to (?:anything|something|any (?:foods?|medicines?|drugs?)){_KNOWN}",
        _allergic,
    ),
    question(
        r"(?:(?:do you have )?any dietary (?:needs|requirements|restrictions|preferences)"
        rf"|do you follow an?y? (?:special |particular |specific )?diet){_KNOWN}",
        _diet,
    ),
    question(rf"how many (?P<thing>{_COUNTED}) (?:do you have|have you got)", _counted),
    question(
        r"what(?:['\u2019]s| is) (?:the|our|your) (?P<thing>(?:[a-z]+ )?(?:project|repo|repository"
        r"|service|app|product|tool|team|company|database|cluster|server|channel|bucket|branch))"
        r" (?:called|named)",
        _called,
    ),
    question(
        r"where (?P<is>is|are) (?:the|your|our) (?P<thing>[\w -]{2,40}?) "
        r"(?P<kept>hosted|stored|kept|deployed|running)",
        _kept,
    ),
    question(
        r"(?:which|what) version of (?P<tool>[A-Z][\w.+#-]*) (?:are (?:you|we) (?:on|using|running)"
        r"|do (?:you|we) (?:use|run|have))",
        _version,
    ),
    question(
        r"do you (?:usually |generally )?prefer (?P<one>[a-z-]+(?: [a-z-]+)?) or "
        r"(?P<two>[a-z-]+(?: [a-z-]+)?)",
        _chosen,
    ),
)
"""What is answered by what was asked for."""


_HOUR = r"(?:\d{1,2}(?:[:.]\d\d)?(?: ?[ap]m)?|noon|midnight|one|two|three|four|five|six|seven|eight"
_HOUR += r"|nine|ten|eleven|twelve)"
_DAY, _MONTH = "|".join(WEEKDAYS), "|".join(MONTHS)
_TIME = (
    rf"(?:(?:{_DAY})|(?:the )?\d{{1,2}}(?:st|nd|rd|th)?(?: of)? (?:{_MONTH})"
    rf"|(?:{_MONTH}) \d{{1,2}}(?:st|nd|rd|th)?|the \d{{1,2}}(?:st|nd|rd|th)|(?:{_MONTH})|{_HOUR})"
)
_NAMED_TIME = any_case(rf"\b(?:{_DAY}|{_MONTH})\b")
_THEN = any_case(
    r"(?:it['\u2019]?s |usually |always )?(?:(?:on|at|in|(?P<near>around|about)) )?"
    rf"(?P<time>{_TIME})"
)
_NO = r"(?:(?:no|nope|nah|actually|sorry|well|not any ?more|wrong)[,.!]? )+"
_INSTEAD = any_case(
    rf"(?P<no>{_NO})?(?:(?P<its>it['\u2019]?s|it is|they['\u2019]?re"
    r"|(?:it |that )?(?:has |was |got )?(?:been )?"
    r"(?:moved|changed|shifted|pushed|postponed|brought forward) to) )?(?:now )?"
    rf"(?:(?:on|at|in) )?(?P<new>{_TIME})(?P<now> now| instead)?"
    rf"(?P<not>,? (?:and )?not (?:(?:on|at|in) )?{_TIME}(?: any ?more)?)?"
)
_NAMED_INSTEAD = any_case(
    rf"(?P<no>{_NO})(?:(?:i['\u2019]?m|i live|i work) )?(?:now )?(?P<at>(?:in|at|for|with) )?"
    rf"(?P<new>(?-i:{_NAME})|(?!me\b|i\b|thanks\b)[a-z]{{3,20}}(?= now))(?P<now> now)?"
)
_STATES = r"(?:married|single|divorced|widowed|engaged|separated|retired|self-employed|unemployed)"
_STATED = any_case(rf"(?:(?:no|yes|nope|well|yeah)[,.]? )?(?P<new>{_STATES})")


def _kind(time: str) -> str:
    """Return which kind of time one is: a day is put right by a day, an hour by an hour."""
    said = words(time)
    if not set(said).isdisjoint(WEEKDAYS):
        return "day"
    if not set(said).isdisjoint(MONTHS):
        return "month" if len(said) == 1 else "date"
    return "date" if said[:1] == ["the"] else "hour"


_ON = {"day": "on", "date": "on", "month": "in", "hour": "at"}


def _written(time: str) -> str:
    """Return a time with the capitals that it is written with."""
    return _NAMED_TIME.sub(lambda one: one[0].capitalize(), time.lower())


def _at_time(asked: re.Match[str], answer: re.Match[str]) -> str | None:
    """Build when something is that the question has at another time."""
    kind = _kind(answer["new"])
    is_other = answer["new"].lower() != asked["time"].lower()
    is_said = answer["no"] or answer["not"] or answer["now"] or answer["its"]
    if kind != _kind(asked["time"]) or not (is_other and is_said):
        return None
    what = re.sub(r"^your\b", "My", asked["what"], flags=re.IGNORECASE)
    verb = asked["does"].lower()
    return f"{what[:1].upper()}{what[1:]} {verb} {_ON[kind]} {_written(answer['new'])}"


def _at_name(asked: re.Match[str], answer: re.Match[str]) -> str | None:
    new = answer["new"].capitalize() if answer["new"].islower() else answer["new"]
    verb = "live in" if asked["does"].lower().startswith("liv") else "work at"
    is_told = answer["at"] or answer["now"]  # "no, Mainz" alone may be of anything
    is_other = new.lower() != asked["name"].lower() and _NO_NAMES.isdisjoint(words(new))
    return f"I {verb} {new}{answer['now'] or ''}" if is_told and is_other else None


def _in_state(_: re.Match[str], answer: re.Match[str]) -> str | None:
    return f"I am {answer['new'].lower()}"


_WHAT = r"(?P<what>(?:the|your|our|my) [\w' -]{2,40}?)"
REPLIES: tuple[Replied, ...] = (
    Replied(
        _asked(
            r"how many (?:people|of you) (?:are(?: there)?|work|do you have) (?:on|in|at) your "
            r"(?P<group>team|company|firm|department|office|group)"
        ),
        _MANY_OF_US,
        _team,
    ),
    Replied(
        _asked(
            r"who (?P<does>signs off(?: on)?|approves|owns|runs|handles|leads|manages|maintains"
            r"|reviews|looks after|takes care of|is in charge of|is responsible for|pays for"
            r"|chairs) (?P<what>[a-z][\w' -]{2,40})"
        ),
        _WHO,
        _doer,
    ),
    Replied(
        _asked(
            r"(?:when|what time) (?:does|will) (?P<whose>the|your|our) (?P<thing>[\w' -]{2,40}?) "
            r"(?P<does>expire|open|close|start|begin|end|leave|arrive|finish|renew|run)"
        ),
        _THEN,
        _when,
    ),
    Replied(
        _asked(
            r"(?:when|what time) do you (?:usually |normally |typically )?"
            r"(?P<does>get up|wake up|go to bed|go to sleep)"
        ),
        _THEN,
        _daily,
    ),
    Replied(
        _asked(
            rf"(?P<does>is|are) {_WHAT} (?:still )?(?:(?:on|at|in|for) )(?P<time>{_TIME})"
            r"(?: at [\w: ]{1,12})?"
        ),
        _INSTEAD,
        _at_time,
    ),
    Replied(
        _asked(
            rf"{_WHAT} (?P<does>is|starts|begins|ends|leaves|opens|closes|arrives) (?:still )?"
            rf"(?:on|at|in) (?P<time>{_TIME})(?: at [\w: ]{{1,12}})?"
            r"(?:,? (?:right|correct|yes|is it|is that right|(?:is|does)n['\u2019]t it))?"
        ),
        _INSTEAD,
        _at_time,
    ),
    Replied(
        _asked(
            r"(?:do|are) you (?:still )?(?P<does>live|living|work|working) (?:in|at|for|with) "
            rf"(?P<name>(?-i:{_NAME}))"
        ),
        _NAMED_INSTEAD,
        _at_name,
    ),
    Replied(_asked(rf"are you (?:still )?{_STATES}"), _STATED, _in_state),
)
"""What is answered by what is so instead."""
