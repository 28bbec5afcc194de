"""What a user says plainly about themselves, found by rule: for when there is no model. Pure.

English, and of high precision rather than recall: a sentence counts only when all of it is one of
a few plain statements. Questions, conditions, quotations, reports, jokes, and text that the user
only hands over to be worked on count nothing. What the agent said is never looked at.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import TypeAlias

from tiers.records import FactType, Turn

from ..distinctive import MONTHS
from .plain_speech import (
    LOOSE_ENDS,
    NO_ALLERGEN,
    NO_MEAL,
    NO_NAME,
    NO_ROLE,
    NOT_NOTED,
    POINTING,
    VAGUE_FAVOURITES,
    parts_of,
    plain_sentences,
)
from .rewording import in_third_person, third_person
from .validity import PERIOD, Validity, period_of

CONFIDENCE = 0.9
"""Of what a pattern found: said plainly, yet read by rule."""

USER = "user"


@dataclass(frozen=True)
class Stated:
    """A statement that a user made.

    Attributes:
        predicate: Only where there can be one at a time: what comes later then takes its place.
    """

    text: str
    subject: str | None
    fact_type: FactType
    predicate: str | None = None
    object: str | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None


def subject_of(turn: Turn) -> str:
    """Return whom the input of a turn speaks of when it says "I"."""
    speaker = turn.speaker.strip()
    if speaker and speaker != turn.agent_id:
        return speaker
    return turn.user_id or USER


def stated(said: str, subject: str) -> list[Stated]:
    """Return what a message states plainly, in order, each text once: where it was said last.

    Args:
        said: The user's words.
        subject: Who says them.
    """
    found: dict[str, Stated] = {}
    for sentence in plain_sentences(said):
        for one in _of_sentence(sentence, subject):
            found.pop(one.text.lower(), None)
            found[one.text.lower()] = one
    return list(found.values())


def _of_sentence(sentence: str, subject: str) -> Iterator[Stated]:
    told = _TELLING.fullmatch(sentence)
    if told is not None:
        noted = _noted(told["told"], subject)
        if noted is not None:
            yield noted
        return
    for part in parts_of(sentence):
        for pattern, build in _PATTERNS:
            match = pattern.fullmatch(part)
            found = build(match, subject) if match else None
            if found is not None:
                yield found
                break


Build: TypeAlias = Callable[["re.Match[str]", str], "Stated | None"]

_AM = r"(?i:i'm|i am|im)"
_HAVE = r"(?i:i(?:'ve| have))"
_NOW = r"(?i:(?:currently|now|still) )?"
_CAPITAL = r"[A-Z][^\W\d_]+(?:['\-][A-Z]?[^\W\d_]+)*"
_NAME = rf"(?P<name>{_CAPITAL}(?: (?:(?:of|de|da|di|del|la|van|von|der|bin) )*{_CAPITAL}){{0,3}})"
_OF = "(?:(?:of|de|del|do|la|am|upon|and) )*"
_PLACE = rf"(?P<place>(?:the )?{_CAPITAL}(?: {_OF}{_CAPITAL}){{0,3}})"
_IN_COUNTRY = rf"(?:, {_CAPITAL}(?: {_CAPITAL})?)?"
_WITH = (
    r"(?i:,? (?:now|at the moment|currently|these days|nowadays))?"
    r"(?i:,? with my [a-z]+(?: and [a-z ]{1,24})?)?"
)
_DURING = rf",? (?i:{PERIOD})"
_WHEN = rf"(?:{_DURING})?"
_THING = r"(?P<object>[A-Za-z][\w'\-]*(?:(?:,? (?:and|or)|,)? [\w'\-]+){0,6})"
_END = r"[\s.!]*"
_TOO = re.compile(
    r"(?:,? (?:too|as well|also|very much|so much|a lot|a bit|the most))+$", re.IGNORECASE
)


def _when(match: re.Match[str]) -> Validity:
    return period_of(match) if "since" in match.re.groupindex else (None, None)


def _said_when(match: re.Match[str]) -> str:
    """Return the stated period in the words it was said in, to be appended."""
    found = re.search(PERIOD, match.group(), re.IGNORECASE)
    return f" {found.group()}" if found else ""


def _thing(match: re.Match[str], barred: frozenset[str] = POINTING) -> str | None:
    """Return the object of a statement, or ``None`` if it is not whole in itself."""
    plain = _TOO.sub("", match["object"]).strip(" ,")
    said = plain.lower().replace(",", "").split()
    if not said or barred & set(said) or {said[0], said[-1]} & LOOSE_ENDS:
        return None
    return plain


def _named(match: re.Match[str], subject: str) -> Stated | None:
    name, which = match["name"], (match["which"] or "").lower()
    if NO_NAME & set(name.lower().split()):
        return None
    return Stated(f"{subject}'s {which}name is {name}", subject, "identity", f"{which}name", name)


def _called(match: re.Match[str], subject: str) -> Stated | None:
    name = match["name"]
    if NO_NAME & set(name.lower().split()):
        return None
    return Stated(f"{subject} is called {name}", subject, "identity", "is called", name)


def _allergic(match: re.Match[str], subject: str) -> Stated | None:
    thing = _thing(match, POINTING | NO_ALLERGEN)
    if thing is None:
        return None
    return Stated(f"{subject} is allergic to {thing}", subject, "constraint", None, thing)


def _has_allergy(match: re.Match[str], subject: str) -> Stated | None:
    thing = _thing(match, POINTING | NO_ALLERGEN)
    if thing is None:
        return None
    text = f"{subject} has {match['article'].lower()} {match['how'] or ''}{thing} allergy"
    return Stated(text, subject, "constraint", None, thing)


def _never(match: re.Match[str], subject: str) -> Stated | None:
    verb, act = match["verb"].lower(), match["act"].lower()
    thing = _thing(match, (POINTING - {"before", "after"}) | NO_MEAL) if match["object"] else ""
    preposition = (match.groupdict().get("when") or "").lower()
    if thing is None:
        return None
    put = {"don't": "doesn't", "do not": "does not"}.get(verb, verb)
    act = third_person(act) if verb == "never" else act
    text = " ".join(part for part in (subject, put, act, preposition, thing) if part)
    return Stated(text, subject, "constraint", None, thing or None)


def _never_me(match: re.Match[str], subject: str) -> Stated | None:
    rest = match["rest"].rstrip(" .!")
    if {"again", "that", "this", "it", "there", "so", "like"} & set(rest.lower().split()):
        return None
    text = f"never {match['act'].lower()} {subject}{in_third_person(rest, subject)}"
    return Stated(text, subject, "constraint")


def _is_always(match: re.Match[str], subject: str) -> Stated | None:
    what = match["what"]
    fact_type: FactType = "identity" if "handed" in what.lower() else "constraint"
    return Stated(f"{subject} is {match['how'] or ''}{what}", subject, fact_type, None, what)


def _lives(match: re.Match[str], subject: str) -> Stated | None:
    place = match["place"]
    text = f"{subject} lives in {place}{_said_when(match)}"
    return Stated(text, subject, "identity", "lives in", place, *_when(match))


def _was(match: re.Match[str], subject: str) -> Stated | None:
    place = match["place"]
    text = f"{subject} {match['verb'].lower()} {place}{_said_when(match)}"
    return Stated(text, subject, "identity", None, place, *_when(match))


def _works_at(match: re.Match[str], subject: str) -> Stated | None:
    place = match["place"]
    text = f"{subject} works {match['at'].lower()} {place}{_said_when(match)}"
    return Stated(text, subject, "identity", "works at", place, *_when(match))


def _works_as(match: re.Match[str], subject: str) -> Stated | None:
    role = match["role"].lower()
    if (NO_ROLE | POINTING) & set(role.split()):
        return None
    text = f"{subject} works as {match['article'].lower()}{role}{match['where'] or ''}"
    text += _said_when(match)
    return Stated(text, subject, "identity", "works as", role, *_when(match))


def _is_from(match: re.Match[str], subject: str) -> Stated | None:
    place = match["place"]
    return Stated(f"{subject} is from {place}", subject, "identity", "is from", place)


def _kin(match: re.Match[str], subject: str) -> Stated | None:
    kin, how, name = match["kin"].lower(), match["how"].lower(), match["name"]
    predicate = f"{kin}'s name" if re.fullmatch(_KIN_ONE, kin) else None
    return Stated(f"{subject}'s {kin}{how} {name}", subject, "identity", predicate, name)


def _likes(match: re.Match[str], subject: str) -> Stated | None:
    thing, verb = _thing(match), match["verb"].lower()
    if thing is None:
        return None
    if verb.startswith(("don't", "do not")):
        put = verb.replace("don't", "doesn't").replace("do not", "does not")
    else:
        put = verb if verb.endswith("stand") else third_person(verb)
    thing += match.groupdict().get("over") or ""
    return Stated(f"{subject} {put} {thing}", subject, "preference", None, thing)


def _favourite(match: re.Match[str], subject: str) -> Stated | None:
    what, thing = match["what"].lower(), _thing(match, POINTING - {"the"})
    if thing is None or VAGUE_FAVOURITES & set(what.split()):
        return None
    text = f"{subject}'s {match['spelling'].lower()} {what} is {thing}"
    return Stated(text, subject, "preference", f"favourite {what}", thing)


def _attribute(fact_type: FactType) -> Build:
    def build(match: re.Match[str], subject: str) -> Stated | None:
        value, attribute = match["value"].strip(" ."), match["attribute"].lower()
        if POINTING & set(value.lower().split()):
            return None
        text = f"{subject}'s {attribute} is {value}"
        return Stated(text, subject, fact_type, attribute, value)

    return build


_KIN_ONE = (
    "husband|wife|partner|boyfriend|girlfriend|mother|father|mum|mom|dad|boss|manager|"
    "fianc\u00e9e?|doctor|dentist|landlord"
)
_KIN_MANY = (
    "brother|sister|son|daughter|dog|cat|colleague|roommate|flatmate|cousin|uncle|aunt|horse|baby"
)
_MONTH = f"(?:{'|'.join(month.capitalize() for month in MONTHS)})"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
_BIRTHDAY = (
    rf"(?:on )?(?:the )?(?:\d{{4}}-\d{{2}}-\d{{2}}|{_MONTH} {_NTH}(?:,? \d{{4}})?|"
    rf"{_NTH}(?: of)? {_MONTH}(?: \d{{4}})?)"
)
_AMOUNT = r"(?:about |around )?[\u20ac$\u00a3]?\d[\w.,'/\u20ac$\u00a3 ]{0,20}"
_ATTRIBUTES: tuple[tuple[str, FactType, str], ...] = (
    (
        r"(?:work |private |personal )?e-?mail(?: address)?",
        "identity",
        r"[\w.+\-]+@[\w\-]+(?:\.[\w\-]+)+",
    ),
    (
        r"(?:phone|mobile|cell|telephone)(?: phone)?(?: number)?",
        "identity",
        r"\+?\d[\d ()\-/]{5,20}\d",
    ),
    (r"birthday|date of birth|birth date", "identity", _BIRTHDAY),
    (
        r"home ?town|native language|mother tongue|first language|nationality|employer",
        "identity",
        rf"{_CAPITAL}(?: {_CAPITAL}){{0,2}}",
    ),
    (r"time ?zone", "identity", r"[A-Z][A-Za-z/_]{1,30}(?:[+\-]\d{1,2}(?::\d{2})?)?"),
    (r"blood (?:type|group)", "identity", r"(?:A|B|AB|O)(?: ?[+\-]| (?:positive|negative))?"),
    (r"(?:shoe|shirt|dress|ring|hat|glove) size|height|weight|age", "identity", _AMOUNT),
    (
        r"occupation|profession|job title",
        "identity",
        r"(?:an? )?[a-zA-Z\-]+(?: [a-zA-Z\-]+){0,2}",
    ),
    (r"(?:monthly |weekly |yearly |total )?budget", "world", _AMOUNT),
    (
        (
            r"(?:order|booking|flight|ticket|room|customer|invoice|case|seat|licence plate|"
            r"license plate|reservation|train|gate) (?:number|id|code|reference)"
        ),
        "world",
        r"#?[\w\-]{0,12}\d[\w\-]{0,16}",
    ),
)

_WRITTEN: tuple[tuple[str, Build], ...] = (
    (
        rf"(?i:my (?P<which>(?:full |first |last )?)name is|(?:my|the) name's|the name is) {_NAME}",
        _named,
    ),
    (rf"(?i:(?:please |just |you can |you may )*call me) {_NAME}", _called),
    (
        rf"{_AM} (?i:(?:also|very|really|severely|deathly|highly) )?(?i:allergic to) {_THING}",
        _allergic,
    ),
    (
        (
            r"(?i:i have (?P<article>an?) (?P<how>(?:severe |bad |mild |strong )?)"
            r"(?P<object>[a-z\-]+(?: [a-z\-]+)?) allergy)"
        ),
        _has_allergy,
    ),
    (
        (
            r"(?i:i (?P<verb>can't|cannot|can not|never|don't|do not) (?P<act>eat|drink|tolerate))"
            rf" {_THING}"
        ),
        _never,
    ),
    (r"(?i:i (?P<verb>never|don't|do not) (?P<act>smoke|drink|fly|drive)(?P<object>))", _never),
    (
        (
            r"(?i:i (?P<verb>never) (?P<act>work|fly|travel|drive) (?P<when>on|at|after|before)"
            r" (?P<object>[\w: ]{2,24}))"
        ),
        _never,
    ),
    (
        (
            r"(?i:never (?P<act>call|text|email|phone|message|contact|ring|wake|book|schedule) me"
            r"(?P<rest> [\w:',.\- ]{3,60}))"
        ),
        _never_me,
    ),
    (
        (
            rf"{_AM} (?i:also )?(?P<how>(?i:(?:strictly |a strict |an? )?))(?P<what>(?i:vegan|"
            r"vegetarian|pescatarian|coeliac|celiac|diabetic|lactose[ -]intolerant|"
            r"gluten[ -]intolerant|"
            r"colou?r[ -]?blind|teetotal|wheelchair user|left[ -]handed|right[ -]handed))"
        ),
        _is_always,
    ),
    (rf"(?i:i ){_NOW}(?i:live in) {_PLACE}{_IN_COUNTRY}{_WITH}{_WHEN}", _lives),
    (rf"{_HAVE} (?i:lived|been living)(?i: in) {_PLACE}{_IN_COUNTRY}{_DURING}", _lives),
    (rf"(?i:i (?P<verb>lived in|worked at|worked for)) {_PLACE}{_DURING}", _was),
    (rf"(?i:i ){_NOW}(?i:work (?P<at>at|for)) {_PLACE}{_WHEN}", _works_at),
    (rf"{_HAVE} (?i:(?:worked|been working) (?P<at>at|for)) {_PLACE}{_DURING}", _works_at),
    (
        (
            rf"(?i:i ){_NOW}(?i:work as (?P<article>an? )(?P<role>[a-z\-]+(?: [a-z\-]+){{0,3}}?))"
            rf"(?P<where> (?i:at|for|in) {_PLACE})?{_WHEN}"
        ),
        _works_as,
    ),
    (rf"(?:{_AM}|(?i:i come)) (?i:originally )?(?i:from) {_PLACE}{_IN_COUNTRY}", _is_from),
    (
        (
            rf"(?i:my (?P<kin>{_KIN_ONE}|{_KIN_MANY})(?P<how>'s name is| is called| is named))"
            rf" {_NAME}"
        ),
        _kin,
    ),
    (
        (
            r"(?i:i (?:(?:also|always|generally|usually|strongly|much) )?(?P<verb>prefer))"
            rf" {_THING}?(?i:(?P<over> (?:to|over|rather than|instead of) "
            r"[\w'\-]+(?: [\w'\-]+){0,3}))"
        ),
        _likes,
    ),
    (
        (
            r"(?i:i (?:(?:also|always|generally|usually|strongly|much) )?(?P<verb>prefer))"
            rf" {_THING}"
        ),
        _likes,
    ),
    (
        (
            r"(?i:i (?:(?:also|really|absolutely) )?(?P<verb>like|love|enjoy|hate|dislike|"
            r"don't like|"
            rf"do not like|don't enjoy|can't stand|cannot stand)) {_THING}"
        ),
        _likes,
    ),
    (
        (
            r"(?i:my (?:all-time )?(?P<spelling>favou?rite) "
            r"(?P<what>[a-z\-]+(?: [a-z\-]+){0,2}) is)"
            rf" {_THING}"
        ),
        _favourite,
    ),
    *(
        (rf"(?i:my (?P<attribute>{written}) is) (?P<value>{value})", _attribute(fact_type))
        for written, fact_type, value in _ATTRIBUTES
    ),
)
_PATTERNS = tuple((re.compile(written + _END), build) for written, build in _WRITTEN)

_TELLING = re.compile(
    r"(?i:(?:please |also |and )*(?:remember|note|keep in mind|don't forget|do not forget|"
    r"make a note|bear in mind)(?: for (?:later|next time|the future))?(?::| that|, )\s{0,2})"
    r"(?:that )?(?P<told>.{6,200}?)[\s.!]*"
)
_FINITE = re.compile(
    r"\b(?:is|are|was|were|am|has|have|had|must|can|can't|cannot|needs?|should|will|does|doesn't|"
    r"don't|do|did|didn't|isn't|aren't|wasn't|won't|prefers?|likes?|works?|lives?|starts?|ends?|"
    r"opens?|closes?|costs?|takes?|uses?|runs?|leaves?|arrives?|returns?|belongs?|expires?|lasts?|"
    r"meets?|wants?|i'm|i've|he's|she's|they're|we're)\b",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"(?:i|i'm|i've|my|we|we're|we've|our|the|an?|all|every|each|no|he|she|\d[\w.:]*|[A-Z][\w'\-]*)"
    r"(?= )(?! time\b)"
)


def _noted(told: str, subject: str) -> Stated | None:
    """Return what a user asked to remember, or ``None`` where it needs more than itself."""
    is_own = re.match(r"(?:I|I'm|I've|My|We|Our|The) ", told)
    plain = told[0].lower() + told[1:] if is_own else told
    said = set(plain.lower().replace(",", "").split())
    is_clause = plain.startswith("i ") or _FINITE.search(plain) is not None
    if not _SUBJECT.match(plain) or not is_clause or said & NOT_NOTED:
        return None
    return Stated(in_third_person(plain, subject), subject, "world")
