"""Saying the same otherwise: in the third person, and in one wording for many. Pure.

Of what English says in several ways, one way is chosen: the active for a passive, the verb for who
does it ("is a taxi driver"), a measure for its name ("the price is"), short forms in full. Two
texts that are then made of the same words in the same roles say the same. Nothing is added that was
not said, and a text that fits no form stays as it is.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TypeAlias

from tiers.lexical import MONTHS, WEEKDAYS

from ..claims.forms import PAST_FORM_OF, PAST_OF, is_base_form, is_finite
from .regexes import alone, any_case, regex

CHARS_MAX = 1_000
"""Longer texts are told in several ways at once: no one wording is sought for them."""

REMEMBERED_TEXTS = 4_096

_IRREGULAR = {"do": "does", "go": "goes", "have": "has", "don't": "doesn't", "haven't": "hasn't"}
_HISSING = ("s", "x", "z", "ch", "sh", "o")
# Base forms. The past tense looks the same in every person, so nothing else is changed.
_BASE = frozenset(
    "ask book bring buy call come do drink drive eat enjoy fly get give go have hate keep know "
    "leave like live love meet mention move need order own park paste pay play post prefer "
    "report request run say see sell send share sleep speak start stay study take teach think "
    "travel try use wait wake walk want watch wear work write don't haven't adore bank grow".split()
)
_PAST = frozenset(PAST_OF) | frozenset(
    "set put read cut let hit cost hurt quit bet shut split spread burst cast shed thrust".split()
)
"""What looks like a base form and may be of what was: ``found``, ``put``."""
_ADVERB = r"(?:(?:always|never|usually|often|only|also|still|just|really|currently|now) )?"
_I_VERB = any_case(rf"\bi (?P<adverb>{_ADVERB})(?P<verb>[a-z']+)")
_MINE = (
    (any_case(alone("(?:i am|i'm|im)")), " is"),
    (any_case(r"\bi've\b"), " has"),
    (any_case(r"\bi'll\b"), " will"),
    (any_case(alone("(?:my|mine)")), "'s"),
    (any_case(alone("(?:myself|me)")), ""),
)


def third_person(verb: str) -> str:
    """Return the form of a verb that goes with he or she; the base form is given."""
    if verb in _IRREGULAR:
        return _IRREGULAR[verb]
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}es" if verb.endswith(_HISSING) else f"{verb}s"


def in_third_person(said: str, subject: str) -> str:
    """Return what somebody says with "I", "me" and "my" replaced by who it is.

    Only verbs that are known to be base forms are changed; others stay as they were said.
    """
    reworded = _I_VERB.sub(lambda match: _conjugated(match, subject), _not_am(said, subject))
    for pattern, ending in _MINE[1:]:
        reworded = pattern.sub(_literal(f"{subject}{ending}"), reworded)
    return reworded


def _not_am(said: str, subject: str) -> str:
    pattern, ending = _MINE[0]
    return pattern.sub(_literal(f"{subject}{ending}"), said)


def _conjugated(match: re.Match[str], subject: str) -> str:
    verb = match["verb"].lower()
    is_base = verb in _BASE or (is_base_form(verb) and verb not in _PAST)
    put = third_person(verb) if is_base else match["verb"]
    return f"{subject} {match['adverb']}{put}"


def _literal(text: str) -> str:
    """Return a replacement that means itself, whatever somebody is called."""
    return text.replace("\\", "\\\\")


def in_plain_wording(text: str) -> str:
    """Return a statement in the one wording that is chosen of several which say the same.

    One sentence; of more, or of a question, only short forms are written out. Long texts stay;
    others are remembered, for a fact is compared with many.
    """
    return text if len(text) > CHARS_MAX else _reworded(text)


@lru_cache(maxsize=REMEMBERED_TEXTS)
def _reworded(text: str) -> str:
    plain_text = _OPENING.sub("", text.strip())
    plain_text = _WHITESPACE.sub(" ", plain_text)
    for pattern, full in _IN_FULL:
        plain_text = pattern.sub(full, plain_text)
    ending = plain_text[-1:] if plain_text[-1:] in ".!?" else ""
    plain = plain_text.removesuffix(ending)
    if ending == "?" or re.search(r"[;!?]|[.:] ", plain):
        return plain_text
    plain = _IN_A_PAIR.sub(_in_order, _back_in_place(plain))
    for pattern, reworded in _FORMS:
        found = pattern.fullmatch(plain)
        if found is not None:
            plain = reworded(found) or plain
    return f"{plain[:1].upper()}{plain[1:]}{ending}"


def in_24_hours(text: str) -> str:
    """Return a text with its clock times as ``18:00``, however they are written."""

    def written(found: re.Match[str]) -> str:
        hour = int(found[1]) % 12 + (12 if found[3].lower() == "p" else 0)
        return f"{hour}:{found[2] or '00'}"

    return _CLOCK.sub(written, text)


def _in_order(found: re.Match[str]) -> str:
    """Return two names, or two things at the end, in one order: who is named first is no matter."""
    verb = found["verb"] or ""
    if verb and not is_finite(verb.strip()):
        return found.group()  # "green tea and coffee" is not "green coffee and tea"
    first, other = sorted((found["one"] or found["a"], found["other"] or found["b"]))
    return f"{verb}{first} and {other}"


_IN_A_PAIR = regex(
    r"(?:^|(?<=[a-z] ))(?P<one>[A-Z][\w-]+) and (?P<other>[A-Z][\w-]+)(?=$| [a-z])"
    r"|\b(?P<verb>[a-z]+ )(?P<a>[a-z]+) and (?P<b>[a-z]+)$"
)
_CLOCK = any_case(r"\b(\d{1,2})(?:[:.](\d{2}))? ?([ap])\.?m\b\.?")
_WHITESPACE = regex(r"\s+")
_OPENING = any_case(
    r"(?:(?:just )?so you know|as (?:you (?:may )?know|i said|mentioned|noted)|by the way|"
    r"for your information|fyi|note that|please note that),? "
)
_MONTH = "|".join(MONTHS)
_WEEKDAY = "|".join(WEEKDAYS)
_SHORT_MONTHS = {one[:3]: one for one in MONTHS if one != "may"} | {"sept": "september"}
_UNITS = {
    "mo": "months", "mos": "months", "wk": "weeks", "wks": "weeks", "hr": "hours", "hrs": "hours",
    "min": "minutes", "mins": "minutes", "sec": "seconds", "secs": "seconds", "yr": "years",
    "yrs": "years", "kg": "kilograms", "kgs": "kilograms", "km": "kilometres", "cm": "centimetres",
    "mm": "millimetres", "lb": "pounds", "lbs": "pounds",
}  # fmt: skip
_TITLES = {"dr": "Doctor", "prof": "Professor"}
_PLACES = {
    "usa": "United States", "u.s.a.": "United States", "u.s.": "United States",
    "uk": "United Kingdom", "u.k.": "United Kingdom", "eu": "European Union",
}  # fmt: skip

_Replacement: TypeAlias = str | Callable[[re.Match[str]], str]


def _by(words: Mapping[str, str], place: int) -> Callable[[re.Match[str]], str]:
    return lambda found: words[found[place].lower()]


_EACH = {"dai": "every day", "week": "every week", "month": "every month", "year": "every year"}
_SPAN = "second|minute|hour|day|week|month|year|night"
_TIMES = r"\b(?:once|twice|(?:\d[\d.,]*|two|three|four|five|six|seven|eight|nine|ten) [a-z]+)"
_SPELT = {
    "favorite": "favourite", "color": "colour", "gray": "grey", "center": "centre",
    "meter": "metre", "meters": "metres", "kilometer": "kilometre", "kilometers": "kilometres",
    "liter": "litre", "liters": "litres",
}  # fmt: skip
_LASTING = {
    "living": "lives", "working": "works", "studying": "studies", "learning": "learns",
}  # fmt: skip


def _like(said: str, put: str) -> str:
    """Return a word with the capital of the one that it stands for."""
    return put.capitalize() if said[:1].isupper() else put


def _on_each(found: re.Match[str]) -> str:
    """Return "on Mondays" for "every Monday"; not every is some."""
    is_not_each = _NOT_EACH.search(found.string[: found.start()])
    return found[0] if is_not_each else f"on {found[1].capitalize()}s"


_NOT_EACH = any_case(r"\b(?:not|never|hardly|nearly|almost)\b|n['\u2019]t\b")
_IN_FULL: tuple[tuple[re.Pattern[str], _Replacement], ...] = (
    (_CLOCK, lambda found: in_24_hours(found[0])),
    (any_case(r"\be-mail(?=s?\b)"), _literal("email")),
    (regex(r"\bkids\b"), _literal("children")),
    (regex(r"\bkid\b"), _literal("child")),
    (any_case(rf"\b(?:every|each) ({_WEEKDAY})(?=$|[.,])"), _on_each),
    (any_case(r"\b(dai|week|month|year)ly(?=$|[.,])"), _by(_EACH, 1)),
    (any_case(r"\beach (day|week|month|year|morning|evening|night)\b"), r"every \1"),
    (any_case(r"\btwo times\b"), _literal("twice")),
    (any_case(rf"({_TIMES}) (?:an?|every|each) ({_SPAN})(?=$|[.,])"), r"\1 per \2"),
    (
        any_case(rf"\b({'|'.join(_SPELT)})\b"),
        lambda found: _like(found[0], _SPELT[found[0].lower()]),
    ),
    (any_case(r"\bcan(?:no|['\u2019])t stand\b"), _literal("hates")),
    (any_case(r"\bexpires\b"), _literal("ends")),
    (any_case(r"\bis (living|working|studying|learning)(?= [a-z])"), _by(_LASTING, 1)),
    (any_case(rf"(?<=\d )({'|'.join(_UNITS)})\b\.?(?! [A-Z])"), _by(_UNITS, 1)),
    (any_case(r"\b(dr|prof)\b\.?(?= [A-Z])"), _by(_TITLES, 1)),
    (
        any_case(rf"(?<=\d )({'|'.join(_SHORT_MONTHS)})\b\.?"),
        lambda found: _SHORT_MONTHS[found[1].lower()].capitalize(),
    ),
    (
        any_case(rf"\b({'|'.join(_SHORT_MONTHS)})\b\.?(?= \d)"),
        lambda found: _SHORT_MONTHS[found[1].lower()].capitalize(),
    ),
    (
        any_case(rf"\b({_MONTH}) (\d{{1,2}})(?:st|nd|rd|th)?\b(?:,? (\d{{4}})\b)?"),
        lambda found: f"{found[2]} {found[1]}{' ' if found[3] else ''}{found[3] or ''}",
    ),
    (
        regex(r"\b(USA|UK|EU)\b|\b(?:U\.S\.A\.|U\.S\.|U\.K\.)(?=\s|$)"),
        lambda found: _PLACES[found[0].lower()],
    ),
)
"""Short forms, and what stands for them."""

_THING = r"(?:[^\s,]+ ){0,5}[^\s,]+"
_DETERMINER = r"(?:the|a|an|my|our|his|her|their|your|[A-Z][\w-]*'s)"
_NAME = r"(?:[A-Z][\w\u00c0-\u024f'-]*)(?: [A-Z][\w\u00c0-\u024f'-]*){0,2}"
_STARTS = rf"(?=(?:I|we|he|she|they|it|{_DETERMINER}|{_NAME}) )"
_WHEN = rf"(?:(?:the )?\d{{1,2}} (?:{_MONTH})(?: \d{{4}})?|(?:the )?[^\s,]+|{_NAME})"
_FRONTED = regex(rf"((?i:on|in|at|since|during|every|each) {_WHEN}),? {_STARTS}(.+)", re.DOTALL)
_LOCATED = regex(
    r"((?i:in|on|at|under|behind|beside|above|below|near|inside|outside|between) .{3,60}?) "
    rf"(is|are|was|were) ((?:{_DETERMINER}|{_NAME}) .+|{_NAME})"
)
_MADE = {
    "author": "wrote", "creator": "created", "composer": "composed", "founder": "founded",
    "inventor": "invented",
}  # fmt: skip
"""Who made a thing, and what they did once."""

_BY = {
    "bikes": "by bike", "cycles": "by bike", "drives": "by car", "flies": "by plane",
    "walks": "on foot",
}  # fmt: skip
_NO_AGENTS = frozenset(
    "hand car train bus plane bike ship mail post email phone foot law then now far mistake chance "
    "accident noon midnight default".split()
) | {*WEEKDAYS, *MONTHS}
_AGENT = rf"(?:{_DETERMINER} (?:[\w-]+ ){{0,2}}?[\w-]+|{_NAME})"
_LATER = r"(?: (?:in|on|at|since|during|from|until|for|with|last|this|yesterday) .+)?"
_MEASURES = {"weight": "weighs", "price": "costs", "cost": "costs", "age": "is"}
_EXTENTS = {"height": "high", "length": "long", "width": "wide", "depth": "deep"}
_MEASURED = "|".join((*_MEASURES, *_EXTENTS))
_KIN = "brother|sister|son|daughter|mother|father|husband|wife|partner|boss|manager"
_DOERS = {
    "coach": "coaches", "cook": "cooks", "guide": "guides", "boss": "manages", "chair": "chairs",
}  # fmt: skip


def _small(text: str) -> str:
    """Return a text that opened a sentence as it stands inside of one."""
    first, _, rest = text.partition(" ")
    is_plain = first.lower() in {*"the a an my our his her their your there".split()}
    return f"{first.lower()} {rest}" if is_plain else text


def _back_in_place(text: str) -> str:
    """Return a sentence that opens with a time or a place with that at its end."""
    found = _FRONTED.fullmatch(text)
    if found is not None:
        return f"{found[2]} {_lowered(found[1])}"
    found = _LOCATED.fullmatch(text)
    return text if found is None else f"{found[3]} {found[2]} {_lowered(found[1])}"


def _lowered(text: str) -> str:
    return f"{text[:1].lower()}{text[1:]}"


def _active(found: re.Match[str]) -> str | None:
    """Return "Ada painted the fence" for "the fence was painted by Ada"."""
    done, agent = found["done"].lower(), found["agent"]
    if agent.split()[-1].lower() in _NO_AGENTS or not (done in PAST_FORM_OF or done.endswith("ed")):
        return None
    past = PAST_FORM_OF.get(done, done)
    return f"{agent} {past} {_small(found['thing'])}{found['later']}"


def _active_now(found: re.Match[str]) -> str | None:
    """Return "Ada owns the gateway" for "the gateway is owned by Ada"."""
    done, agent = found["done"].lower(), found["agent"]
    verb = PAST_OF.get(done) or (_base_of(done[:-2]) if done.endswith("ed") else None)
    if verb is None or agent.split()[-1].lower() in _NO_AGENTS:
        return None
    return f"{agent} {third_person(verb)} {_small(found['thing'])}{found['later']}"


def _measured(found: re.Match[str]) -> str:
    name, value = found["measure"].lower(), found["value"]
    if name in _EXTENTS:
        return f"{_small(found['of'])} is {value} {_EXTENTS[name]}"
    verb = _MEASURES[name]
    if name == "age":
        value = f"{value.removesuffix(' old').removesuffix(' years')} years old"
    return f"{_small(found['of'])} {verb} {value}"


def _doing(found: re.Match[str]) -> str | None:
    """Return "Ada drives a taxi" for "Ada is a taxi driver" or "the driver of a taxi"."""
    verb = _DOERS.get(found["doer"].lower()) or _verb_of(found["doer"].lower())
    kind, of = found["kind"] or "", found["of"] or ""
    if verb is None or (kind and of):
        return None
    rest = f" {kind.strip()}" if kind else f" {of}" if of else ""
    return f"{found['who']} {verb}{rest}{found['later']}"


def _made(found: re.Match[str]) -> str:
    """Return "Ada wrote the manual" for "Ada is the author of the manual"."""
    return f"{found['who']} {_MADE[found['maker'].lower()]} {found['of']}"


def _goes(found: re.Match[str]) -> str:
    """Return "Ada goes to work by bike" for "Ada bikes to work"."""
    return f"{found['who']} goes to {found['where']} {_BY[found['verb']]}{found['later'] or ''}"


def _to_do(found: re.Match[str]) -> str | None:
    """Return "Ada loves to hike" for "Ada loves hiking"."""
    base = _base_of(found["doing"][:-3])
    return None if base is None else f"{found['who']} {found['likes']} to {base}{found['rest']}"


def _couple(found: re.Match[str]) -> str:
    """Return who is married to whom in one order."""
    return "{} is married to {}".format(*sorted((found["one"], found["other"])))


def _verb_of(doer: str) -> str | None:
    """Return what a doer does, in the form that goes with he or she: of a driver, drives."""
    if not doer.endswith(("er", "or")) or len(doer) < 5:  # noqa: PLR2004 - no "her", no "user"
        return None
    base = _base_of(doer[:-2])
    return None if base is None else third_person(base)


def _base_of(cut: str) -> str | None:
    """Return the known verb of a word without its ending: of ``driv``, ``drive``."""
    forms = (cut, f"{cut}e", cut[:-1] if cut[-1:] == cut[-2:-1] else cut)
    return next((one for one in forms if is_base_form(one)), None)


_Form: TypeAlias = tuple[re.Pattern[str], Callable[[re.Match[str]], str | None]]


def _form(pattern: str, reworded: str | Callable[[re.Match[str]], str | None]) -> _Form:
    """Return a form; what it comes to may be told with its groups in braces."""
    if isinstance(reworded, str):
        return regex(pattern, re.DOTALL), lambda found: reworded.format(**found.groupdict())
    return regex(pattern, re.DOTALL), reworded


_FORMS: tuple[_Form, ...] = (
    _form(
        rf"(?P<who>.+) (?:is|am|are) employed (?:by|at|with) (?P<of>{_THING})",
        "{who} works for {of}",
    ),
    _form(
        rf"(?P<thing>.+) (?:was|were|has been|have been) (?P<done>[a-z]+) by (?P<agent>{_AGENT})"
        rf"(?P<later>{_LATER})",
        _active,
    ),
    _form(
        rf"(?P<thing>.+) (?:is|are) (?P<done>[a-z]+) by (?P<agent>{_AGENT})(?P<later>{_LATER})",
        _active_now,
    ),
    _form(r"(?P<who>.+) (?:is|am|are) an? member of (?P<of>.+)", "{who} belongs to {of}"),
    _form(
        rf"(?P<thing>.+) (?:belongs|belong) to (?P<who>{_AGENT})",
        lambda found: f"{found['who']} owns {_small(found['thing'])}",
    ),
    _form(
        rf"(?i:there) (?:is|are) (?P<thing>.+) in (?P<where>{_DETERMINER} [\w-]+(?: [\w-]+)?)",
        "{where} has {thing}",
    ),
    _form(
        rf"(?:(?i:the) )?(?P<measure>{_MEASURED}) of (?P<of>{_THING}) is (?P<value>.*\d.*)",
        _measured,
    ),
    _form(rf"(?P<of>{_THING})'s (?P<measure>{_MEASURED}) is (?P<value>.*\d.*)", _measured),
    _form(
        rf"(?i:the) (?:deadline|due date) (?:for|of) (?P<of>{_DETERMINER} {_THING}) is(?: on)? "
        rf"(?P<day>.*(?:\d|{_WEEKDAY}).*)",
        lambda found: f"{_small(found['of'])} is due on {found['day']}",
    ),
    _form(rf"(?P<who>{_NAME})'s birthday is(?: on)? (?P<day>\d.+)", "{who} was born on {day}"),
    _form(rf"(?P<who>.+) (?:is|am|are) from (?P<of>{_NAME})", "{who} comes from {of}"),
    _form(r"(?P<who>.+) (?:is|am|are) based in (?P<of>.+)", "{who} lives in {of}"),
    _form(r"(?P<who>.+) (?:is|are) open from (?P<at>\d\S*)", "{who} opens at {at}"),
    _form(r"(?P<who>.+) prefers (?P<what>.+) over (?P<of>.+)", "{who} prefers {what} to {of}"),
    _form(
        r"(?P<who>.+) likes (?P<what>.+) (?:better|more) than (?P<of>.+)",
        "{who} prefers {what} to {of}",
    ),
    _form(r"(?P<who>.+) enjoys (?P<of>.+)", "{who} likes {of}"),
    _form(
        r"(?P<who>.+) (?P<likes>likes|loves|hates) (?P<doing>[a-z]+ing)(?P<rest>(?: .+)?)", _to_do
    ),
    _form(
        r"(?i:the) (?P<what>[a-z-]+) of the (?P<of>[a-z-]+) (?P<rest>(?:is|are) .+)",
        "the {of} {what} {rest}",
    ),
    _form(
        rf"(?i:the) name of (?P<who>{_DETERMINER} .+) is (?P<what>{_NAME})",
        lambda found: f"{_small(found['who'])} is called {found['what']}",
    ),
    _form(
        rf"(?P<who>{_NAME}) has an? (?P<what>[\w-]+) (?:called|named) (?P<name>{_NAME})",
        "{who}'s {what} is called {name}",
    ),
    _form(rf"(?P<one>{_NAME}) and (?P<other>{_NAME}) are married", _couple),
    _form(r"(?P<who>.+) (?P<is>is|am|are) allergic to (?P<of>.+)", "{who} has an allergy to {of}"),
    _form(
        r"(?P<who>.+) (?P<is>is|am|are) intolerant (?:to|of) (?P<of>.+)",
        "{who} has an intolerance to {of}",
    ),
    _form(
        r"(?P<who>.+) (?:has|have) an? (?P<of>[\w-]+) (?P<what>allergy|intolerance)",
        "{who} has an {what} to {of}",
    ),
    _form(r"(?P<who>.+) (?:is|am|are) (?:fond|a fan) of (?P<of>.+)", "{who} likes {of}"),
    _form(
        rf"(?P<of>{_THING}) (?:has|have) an? (?P<measure>{_MEASURED}) of (?P<value>.+)", _measured
    ),
    _form(
        rf"(?P<who>{_AGENT}) (?P<verb>{'|'.join(_BY)}) to (?P<where>work|school|{_NAME}"
        rf"|{_DETERMINER} [\w-]+)(?P<later> (?:on|every|each|in) .+)?",
        _goes,
    ),
    _form(
        rf"(?P<who>{_NAME}) is (?:the|an?) (?P<maker>{'|'.join(_MADE)}) of "
        rf"(?P<of>{_DETERMINER} {_THING})",
        _made,
    ),
    _form(
        r"(?P<who>.+?) (?P<is>has|have|had) worked as (?P<what>an? .+)", "{who} {is} been {what}"
    ),
    _form(r"(?P<who>.+?) works as (?P<what>an? .+)", "{who} is {what}"),
    _form(
        r"(?P<where>.+) (?:employs|employ) (?P<number>\d+) people",
        "{number} people work at {where}",
    ),
    _form(
        rf"(?P<who>.+) (?:is|am|are) (?:called|named) (?P<what>{_NAME})", "{who} is called {what}"
    ),
    _form(rf"(?P<who>.+)'s name is (?P<what>{_NAME})", "{who} is called {what}"),
    _form(
        rf"(?P<whose>{_NAME}'s (?:{_KIN})) is (?:called|named) (?P<who>{_NAME})", "{who} is {whose}"
    ),
    _form(
        rf"(?P<what>.+) (?:is|are) the (?P<of>[\w-]+)(?: that)? (?P<who>{_NAME}) likes? "
        r"(?:the )?(?:best|most)",
        "{what} is {who}'s favourite {of}",
    ),
    _form(rf"(?P<whose>{_NAME}'s favourite .+) is (?P<what>.+)", "{what} is {whose}"),
    _form(
        rf"(?P<what>{_NAME}) is (?P<who>{_NAME})'s (?:husband|wife|spouse)",
        "{who} is married to {what}",
    ),
    _form(
        rf"(?P<who>{_NAME})'s (?:husband|wife|spouse) is (?P<what>{_NAME})",
        "{who} is married to {what}",
    ),
    _form(
        rf"(?:(?P<who>{_NAME})'s (?:birthplace|place of birth)|"
        rf"(?i:the) (?:birthplace|place of birth) of (?P<whose>{_NAME})) is (?P<of>{_NAME})",
        lambda found: f"{found['who'] or found['whose']} was born in {found['of']}",
    ),
    _form(rf"(?P<who>{_NAME})'s home is in (?P<of>.+)", "{who} lives in {of}"),
    _form(
        rf"(?P<who>{_AGENT}|(?i:{_DETERMINER}) [\w-]+) is (?:a|an|the) (?P<kind>[\w-]+ )?"
        rf"(?P<doer>[a-z]+)(?: of (?P<of>{_THING}))?(?P<later>(?: (?:in|at|on|for) .+)?)",
        _doing,
    ),
    _form(
        rf"(?P<what>(?i:{_DETERMINER}) .+) is (?P<who>{_NAME})",
        lambda found: f"{found['who']} is {_small(found['what'])}",
    ),
    _form(rf"(?P<one>{_NAME}) is married to (?P<other>{_NAME})", _couple),
)
"""What says the same as another wording, and that wording; tried in this order, each once."""
