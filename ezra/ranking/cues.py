"""What a question says about its answer: who, when, and whether a time or a number. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple
from zoneinfo import ZoneInfo

from tiers.lexical import STOP_WORDS, stem, words

PHRASE_WORDS_MAX = 4
PHRASES_MAX = 100
TIMES_MAX = 4
QUESTION_CHARS_READ = 2_000
USERS = frozenset("user human customer client me".split())
"""What the person who talks to an assistant is called where nobody has a name."""

ASSISTANTS = frozenset("assistant ai bot agent".split())
"""What whoever answers is called where nobody has a name."""

# Only what was said: "can you" asks for something new, and so may "would you".
_ADDRESSED = re.compile(
    r"\b(?:did|had|were|weren't|didn't|hadn't) you\b"
    r"|\b(?:have|haven't) you (?:ever |already |just )?(?:said|told|given|\w{3,20}ed)\b"
    r"|\byou(?:'ve| have| had|'d)?(?: once| already| just| also| last| originally| first| earlier)?"
    r" (?:recommended|suggested|advised|proposed|mentioned|gave|given|said|told|warned|listed|named"
    r"|called|preferred|ranked|asked|explained|described|wrote|answered|promised|quoted|came up)\b"
    r"|\byour (?:last|first|earlier|previous|original) \w",
    re.IGNORECASE,
)
_YOUR_WORDS = re.compile(
    r"\byour (?:\w{1,20} )?(?:advice|recommendations?|suggestions?|proposals?|answers?|lists?"
    r"|tips?|plan|opinion|warnings?|explanation)\b",
    re.IGNORECASE,
)
"""What may have been given before, or be asked for now: "what is your advice?"."""

_WOULD_YOU = re.compile(
    r"\bwould you (?!please|kindly|mind|like|list|tell|show|give|help|walk)"
    r"|\bdo you (?:recommend|suggest|advise|prefer)\b",
    re.IGNORECASE,
)
"""Advice is meant, given before or wanted now; whoever speaks of themselves wants it now."""

_POLITE = re.compile(
    r"\b(?:tell|remind|show|give|help|let|send|find|get|walk|inform) me\b"
    r"|\bi(?:'d| would) (?:like|love) (?:to|you to) (?:know|hear|see|ask|tell)\b"
    r"|\bi(?:'m| am| was|'ve been) (?:just )?(?:wondering|curious|asking)\b"
    r"|\bi (?:want|need|wanted) (?:to know|you to)\b|\b(?:can|could|may) i ask\b"
    r"|\b(?:excuse|pardon) me\b|\bmy apologies\b|\bdo me a favou?r\b"
    r"|\b(?:if|when(?:ever)?|once) you (?:have|get|can|could|find|are|don't mind)\b"
    r"[^,?.]{0,40}[,?.]",
    re.IGNORECASE,
)
"""What is said out of courtesy: neither is it about the one who says it, nor about a time."""

_REQUEST = re.compile(
    r"\b(?:can|could|would|will|won't) (?:you|u)\b|\bplease\b"
    r"|\b(?:should|shall|could|can|might) (?:i|we)\b|\bdo you (?:think|recommend|suggest|know)\b",
    re.IGNORECASE,
)
_AT_HAND = re.compile(
    r"\b(?:today|tonight|this (?:morning|week|weekend|month|year))\b", re.IGNORECASE
)
_ORDER = re.compile(
    r"\b(?:in|by) (?:the |which |what )?(?:\w{1,20} )?(?:order|sequence)\b"
    r"|\b(?:the|what|which) (?:\w{1,20} )?(?:order|sequence) (?:in which|of|that|did|i|we)\b"
    r"|\bchronological(?:ly)?\b|\bone after (?:the )?(?:other|another)\b",
    re.IGNORECASE,
)
_TELLING_OF = re.compile(
    r"\b(?:orders?|sequence|chronological(?:ly)?|list|(?:brought|bring|bringing|came|come)(?: up)?"
    r"|mention(?:ed|ing)?|rais(?:ed|e|ing)|discuss(?:ed|ing)?|talked?|spoke|walk(?:ed)?|went|conversations?|chats?"
    r"|messages?|throughout|across|different|various|aspects?|topics?|things?|items?|points?"
    r"|subjects?|first|last|one after (?:the )?(?:other|another)|please)\b",
    re.IGNORECASE,
)
CODE_CHARS_READ = 20_000
_CODE = re.compile(
    r"\b(?=[\w.-]{0,40}\d)(?:(?=[\w.-]{0,40}[A-Za-z])\w{1,40}(?:[.-]\w{1,40}){0,8}"
    r"|\d{1,20}(?:[.-]\d{1,20}){1,8})\b"
)
_FIRST_PERSON = re.compile(r"\b(?:i|my|me|mine|i'm|i've|i'd)\b", re.IGNORECASE)
_TOLD = re.compile(r"\b(?:did|was|were|had|said|told|been)\b", re.IGNORECASE)
_MONTHS = (
    "january february march april may june july august september october november december"
).split()
_MONTH = (
    r"(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sep(?:t(?:ember)?)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?"
)
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
# The first form that fits at a place counts, so the most telling come first.
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_YEAR}-W(?P<week>\d\d?)\b",
        rf"\bweek\s+(?P<week>\d\d?)(?:\s*,?\s*(?:of\s+)?{_YEAR})?\b",
        rf"\b{_YEAR}-(?P<number>\d\d)-(?P<day>\d\d)\b",
        rf"\b{_YEAR}-(?P<number>\d\d)\b(?!-)",
        rf"\b{_DAY}\s+(?:of\s+)?{_MONTH},?(?:\s+{_YEAR})?\b",
        rf"\b{_MONTH}\s+{_DAY}\b(?!\d),?(?:\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+(?:of\s+)?{_YEAR}\b",
        rf"\b(?:in|during|since|until|before|after|by|of|last|early|late|mid|this)[\s-]+{_MONTH}",
        rf"\bQ(?P<quarter>[1-4])(?:\s+{_YEAR})?\b",
        rf"\b(?:in|during|of|since)\s+{_YEAR}\b",
    )
]
_AGO = re.compile(
    r"\b(?P<number>\d{1,3}|a|an|one|two|three|four|five|six|seven|eight|nine|ten|couple of|few)\s+"
    r"(?P<unit>day|week|month|year)s?\s+ago\b",
    re.IGNORECASE,
)
_NEAR = re.compile(
    r"\b(?:(?P<word>(?:the\s+day\s+before\s+)?yesterday|today|tonight|this\s+morning|last\s+night)"
    r"|(?P<which>last|this|past)\s+(?P<unit>week|month|year|weekend))\b",
    re.IGNORECASE,
)
_WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
_WEEKDAY = re.compile(
    rf"\b(on|last)\s+({'|'.join(_WEEKDAYS)})\b"
    rf"(?!,?\s+(?:the\s+)?(?:\d|{'|'.join(month[:3] for month in _MONTHS)}))",
    re.IGNORECASE,
)
"""A day of the week without its date."""
_NUMBERS = {
    word: number
    for number, word in enumerate("one two three four five six seven eight nine ten".split(), 1)
} | {"a": 1, "an": 1, "couple of": 2, "few": 3}
_UNIT_DAYS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "year": 365}

_ASKS_TIME = re.compile(
    r"^\W*(?:and |so |but )?when\b|\b(?:what|which) (?:date|day|month|year|week|time)\b"
    r"|\bhow long ago\b|\bsince when\b|\buntil when\b",
    re.IGNORECASE,
)
_ASKS_NUMBER = re.compile(
    r"\bhow (?:many|much|long|often|old|far|big|large|fast|high|tall|heavy)\b"
    r"|\bwhat (?:number|percentage|price|amount|version|size)\b",
    re.IGNORECASE,
)
_TIME_WORDS = frozenset(
    "yesterday today tomorrow tonight last next ago week weeks weekend month months year years day "
    "days morning afternoon evening noon midnight monday tuesday wednesday thursday friday "
    "saturday sunday january february march april june july august september october november "
    "december recently soon later earlier".split()
)
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve twenty thirty forty fifty "
    "hundred thousand once twice couple dozen half few several".split()
)
_YEARS = re.compile(r"(?:19|20)\d\d")
_CLOCK = re.compile(r"\b(?:[01]?\d|2[0-3]):[0-5]\d\b|\b(?:1[0-2]|[1-9]) ?[ap]\.?m\b", re.IGNORECASE)
_GREETS = r"(?:hi|hello|hey|bye|goodbye|thanks|thank you|good (?:morning|afternoon|evening|night))"
_GOOD_DAY = re.compile(r"\bgood (?:morning|afternoon|evening|night)\b", re.IGNORECASE)
_ONLY_GREETS = re.compile(
    rf"{_GREETS}(?: {_GREETS}"
    r"| (?:again|all|and|everybody|everyone|for now|so much|there|very much))*"
)
GREETING_WORDS_MAX = 8


class TimeSpan(NamedTuple):
    """From ``since`` on and before ``until``."""

    since: datetime
    until: datetime

    def has(self, moment: datetime) -> bool:
        """Whether a moment lies in it."""
        return self.since <= moment < self.until


class YearDay(NamedTuple):
    """A month, or a day of it, of any year: ``in May``, ``on 8 May``."""

    month: int
    day: int | None


@dataclass(frozen=True)
class Cues:
    """What a question says about its answer.

    Attributes:
        named: Names of known speakers in the question, lower case.
        first_person: Whether somebody asks about themselves.
        addressed: Whether somebody asks what the one who answers has said.
        in_doubt: Whether they may as well ask for something new.
        spans: The times that it speaks of.
        days: The months and days that it names without a year.
        wants_time: Whether a time answers it.
        wants_number: Whether a number answers it.
        phrases: Runs of up to four words, for looking up what has a name.
    """

    named: frozenset[str] = frozenset()
    first_person: bool = False
    addressed: bool = False
    in_doubt: bool = False
    spans: tuple[TimeSpan, ...] = ()
    days: tuple[YearDay, ...] = ()
    wants_time: bool = False
    wants_number: bool = False
    phrases: tuple[str, ...] = ()

    def speaks_of(self, moment: datetime, zone: ZoneInfo) -> bool:
        """Whether a moment lies in a time that the question speaks of."""
        for span in self.spans:
            if span.has(moment):
                return True
        if not self.days:
            return False
        there = moment.astimezone(zone)
        return any(there.month == one.month and one.day in (None, there.day) for one in self.days)


def read_cues(text: str, speakers: Sequence[str], now: datetime, zone: ZoneInfo) -> Cues:
    """Return what a question says about its answer.

    Args:
        text: The question; its first ``QUESTION_CHARS_READ`` characters are read.
        speakers: Who speaks in the graph; of ``chat/Ada`` the name is ``Ada``.
        now: When it is asked: relative dates count from here.
        zone: Where days begin.
    """
    text = text[:QUESTION_CHARS_READ]
    meant = _POLITE.sub(" ", text)
    wants_time = bool(_ASKS_TIME.search(meant))
    addressed = bool(_ADDRESSED.search(text))
    first_person = bool(_FIRST_PERSON.search(meant))
    is_advice = not first_person and bool(_WOULD_YOU.search(meant))
    # Who asks for something to do today does not ask about today.
    is_request = _REQUEST.search(text) is not None and _TOLD.search(meant) is None
    spans, days = times_in(_AT_HAND.sub(" ", meant) if is_request else meant, now, zone)
    return Cues(
        named=named_in(text, speakers),
        first_person=first_person,
        addressed=addressed or is_advice or bool(_YOUR_WORDS.search(text)),
        in_doubt=not addressed and (is_advice or _TOLD.search(meant) is None),
        spans=spans,
        days=days,
        wants_time=wants_time,
        wants_number=not wants_time and bool(_ASKS_NUMBER.search(text)),
        phrases=phrases_in(text),
    )


def wants_order(text: str) -> bool:
    """Whether a question asks in which order things were said."""
    return _ORDER.search(text[:QUESTION_CHARS_READ]) is not None


def subject_of(text: str) -> str:
    """Return what a question is about, without the words that only say how to tell of it.

    Who asks in which order things were brought up does not look for "order" or "brought up";
    what is left may be nothing but stop words.
    """
    return _TELLING_OF.sub(" ", _POLITE.sub(" ", text)) if wants_order(text) else text


def meant_by(text: str) -> str:
    """Return what a question is about; the question itself where nothing is left of it."""
    subject = subject_of(text)
    return text if STOP_WORDS.issuperset(words(subject)) else subject


def only_greets(found: Sequence[str]) -> bool:
    """Whether a text is courtesy and nothing else; by its words (``lexical.words``)."""
    is_short = 0 < len(found) <= GREETING_WORDS_MAX
    return is_short and _ONLY_GREETS.fullmatch(" ".join(found)) is not None


def without_greeting(text: str) -> str:
    """Return a text without what wishes somebody a good morning, which tells of no time."""
    return _GOOD_DAY.sub(" ", text)


def tells_clock(text: str) -> bool:
    """Whether a text has a time of day in figures."""
    return _CLOCK.search(text) is not None


def tells_time(found: Sequence[str]) -> bool:
    """Whether a text says when something is, was or will be; by its words (``lexical.words``)."""
    if not _TIME_WORDS.isdisjoint(found):
        return True
    return any(_YEARS.fullmatch(word) for word in found if word[0] in "12")


def tells_number(found: Sequence[str]) -> bool:
    """Whether a text has a number; by its words (``lexical.words``)."""
    return not _NUMBER_WORDS.isdisjoint(found) or any(word[0].isdigit() for word in found)


def name_of(speaker: str) -> str:
    """Return the name of a speaker or agent without the path before it, lower case."""
    return speaker.rpartition("/")[2].casefold().strip()


def named_in(text: str, speakers: Sequence[str]) -> frozenset[str]:
    """Return the names of the speakers whom a text names: in full, or by the first of two."""
    said = " ".join(words(text))
    padded = f" {said} "
    named = set()
    for speaker in speakers:
        parts = words(speaker.rpartition("/")[2])
        if not parts or STOP_WORDS.issuperset(parts):
            continue  # somebody called Will is not named by a question about the future
        full, first = " ".join(parts), parts[0]
        short = len(parts) > 1 and len(first) > 2 and f" {first} " in padded  # noqa: PLR2004 - "J Doe"
        if f" {full} " in padded or short:
            named.add(name_of(speaker))
    return frozenset(named)


def without_names(query: str, names: Sequence[str]) -> str:
    """Return the query without the names of known speakers, for the dense leg.

    A name pulls a sentence embedding towards every turn of that speaker; the lexical leg keeps
    it. Only capitalised words count as names, so that an agent called ``tyre engineer`` takes
    nothing away from a question about tyres. A query of nothing but names stays as it is.

    Args:
        query: The question.
        names: Agent ids; of a path such as ``chat/Ada`` only the last part is a name.
    """
    parts = [part for name in names for part in name.rpartition("/")[2].split()]
    known = {word for part in parts if part[:1].isupper() for word in words(part)}
    kept = [
        token for token in query.split() if not (token[:1].isupper() and set(words(token)) & known)
    ]
    return " ".join(kept) or query


def codes_in(text: str) -> frozenset[str]:
    """Return the codes and versions of a text: letters with digits, or numbers joined by marks.

    ``E4711``, ``7.41``, ``INC-1443``, ``orders_v2``: who names one means exactly that.
    """
    return frozenset(match.group().lower() for match in _CODE.finditer(text[:CODE_CHARS_READ]))


def stems_in(text: str) -> frozenset[str]:
    """Return the stems of a text's content words."""
    found = frozenset(words(text))
    return frozenset(map(stem, found - STOP_WORDS or found))


def shared_words(asked: frozenset[str], text: str) -> float:
    """Return the share of a query's stems (``stems_in``) that the text has, 0 to 1."""
    return len(asked & stems_in(text)) / len(asked) if asked else 0.0


def phrases_in(text: str) -> tuple[str, ...]:
    """Return runs of up to ``PHRASE_WORDS_MAX`` words between two that tell, longest first."""
    found = words(text)
    runs = (
        found[start : start + size]
        for size in range(PHRASE_WORDS_MAX, 0, -1)
        for start in range(len(found) - size + 1)
    )
    telling = (" ".join(run) for run in runs if STOP_WORDS.isdisjoint((run[0], run[-1])))
    return tuple(dict.fromkeys(telling))[-PHRASES_MAX:]


def times_in(
    text: str, now: datetime, zone: ZoneInfo
) -> tuple[tuple[TimeSpan, ...], tuple[YearDay, ...]]:
    """Return the times that a text speaks of, at most ``TIMES_MAX`` of each kind.

    Dates (``8 May 2023``, ``May 2023``, ``2023-05-08``, ``2026-W47``, ``Q3 2026``), relative ones
    (``yesterday``, ``last week``, ``on Friday``, ``two months ago``), and days without a year
    (``in May``).
    """
    today = now.astimezone(zone).date()
    found: list[tuple[date, date] | YearDay | None] = []
    rest = text
    for form in _DATES:
        found += [_days_of(match, today) for match in form.finditer(rest)]
        rest = form.sub(" ", rest)
    found += [_days_ago(match, today) for match in _AGO.finditer(rest)]
    found += [_near(match, today) for match in _NEAR.finditer(rest)]
    found += [_weekday(match, today) for match in _WEEKDAY.finditer(text) if _is_past(match)]
    spans = [between(*one, zone) for one in found if one and not isinstance(one, YearDay)]
    days = [one for one in found if isinstance(one, YearDay)]
    return tuple(dict.fromkeys(spans))[:TIMES_MAX], tuple(dict.fromkeys(days))[:TIMES_MAX]


def between(first: date, after: date, zone: ZoneInfo) -> TimeSpan:
    """Return the time from the beginning of one day to the beginning of another."""
    return TimeSpan(
        datetime(first.year, first.month, first.day, tzinfo=zone),
        datetime(after.year, after.month, after.day, tzinfo=zone),
    )


def _days_of(match: re.Match[str], today: date) -> tuple[date, date] | YearDay | None:
    said = match.groupdict()
    year = int(said["year"]) if said.get("year") else None
    try:
        if said.get("week"):
            first = date.fromisocalendar(year or today.year, int(said["week"]), 1)
            return first, first + timedelta(days=7)
        if said.get("quarter"):
            return _months(year or today.year, 3 * int(said["quarter"]) - 2, 3)
        return _day_or_month(said, year)
    except (ValueError, OverflowError):
        return None  # there is no such day


def _day_or_month(
    said: Mapping[str, str | None], year: int | None
) -> tuple[date, date] | YearDay | None:
    month, day = _month_number(said), int(said.get("day") or 0)
    if month is None:
        return None if year is None else (date(year, 1, 1), date(year + 1, 1, 1))
    if year is None:
        return YearDay(month, day or None)
    if not day:
        return _months(year, month, 1)
    return date(year, month, day), date(year, month, day) + timedelta(days=1)


def _month_number(said: Mapping[str, str | None]) -> int | None:
    number, name = said.get("number"), said.get("month")
    if number:
        return int(number)
    if not name:
        return None
    return next(i for i, month in enumerate(_MONTHS, 1) if month.startswith(name[:3].lower()))


def _months(year: int, first: int, count: int) -> tuple[date, date]:
    following = first + count
    last_year, last_month = year + (following - 1) // 12, (following - 1) % 12 + 1
    return date(year, first, 1), date(last_year, last_month, 1)


def _days_ago(match: re.Match[str], today: date) -> tuple[date, date] | None:
    said = match["number"].lower()
    number, unit = _NUMBERS.get(said) or int(said), match["unit"].lower()
    days = number * _UNIT_DAYS[unit]
    # "Two weeks ago" is not a day but about a week.
    slack = {"day": 0, "week": 4, "month": 16, "year": 183}[unit]
    try:
        middle = today - timedelta(days=days)
        return middle - timedelta(days=slack), middle + timedelta(days=slack + 1)
    except OverflowError:
        return None


def _is_past(weekday: re.Match[str]) -> bool:
    """Whether the last such day is meant: ``on Friday`` may be the next one."""
    return weekday[1].lower() == "last" or _TOLD.search(weekday.string) is not None


def _weekday(match: re.Match[str], today: date) -> tuple[date, date]:
    """Return the last such day before today."""
    away = (today.weekday() - _WEEKDAYS.index(match[2].lower())) % 7 or 7
    first = today - timedelta(days=away)
    return first, first + timedelta(days=1)


def _near(match: re.Match[str], today: date) -> tuple[date, date]:
    word, unit, which = match["word"], match["unit"], match["which"]
    if word:
        last = word.split()[-1].lower()
        days = {"yesterday": 2 if " " in word else 1, "night": 1}.get(last, 0)
        first = today - timedelta(days=days)
        return first, first + timedelta(days=1)
    unit, which = unit.lower(), which.lower()
    tomorrow = today + timedelta(days=1)
    if which == "past" or unit == "weekend":
        return today - timedelta(days=_UNIT_DAYS[unit]), tomorrow
    if unit == "week":
        monday = today - timedelta(days=today.weekday())
        return (monday, tomorrow) if which == "this" else (monday - timedelta(days=7), monday)
    if unit == "month":
        begin = today.replace(day=1)
        if which == "this":
            return begin, tomorrow
        return (begin - timedelta(days=1)).replace(day=1), begin
    begin = today.replace(month=1, day=1)
    return (begin, tomorrow) if which == "this" else (begin.replace(year=begin.year - 1), begin)
