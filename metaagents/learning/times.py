"""When something was, is or will be, as people say it: found in a clause, and resolved. Pure.

``last month``, ``yesterday``, ``two years ago`` and ``on Sunday`` mean a day only together with the
moment at which they were said. What is resolved is told with its date, for who reads it later.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from tiers.lexical import MONTHS, NUMBER_WORDS, WEEKDAYS

from .marks import Sought
from .regexes import any_case, regex
from .validity import DATE, Days, Validity, days_of, whole_month

_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}
_SINCE = (
    r"(?:childhood|birth|school|university|the beginning"
    r"|the age of (?:\d{1,2}|[a-z]{3,9}(?:-[a-z]{3,5})?))"
)
_COUNTS = NUMBER_WORDS | {"a": 1, "an": 1, "the": 1, "couple": 2}
_YEAR_MAX = 9_998
_MONTHS_OF = {"month": 1, "year": 12}
_DAYS_OF = {"day": 1, "week": 7, "fortnight": 14}

_MONTH = f"(?:{'|'.join(MONTHS)})"
_DAY = f"(?:{'|'.join(WEEKDAYS)})"
_SEASON = f"(?:{'|'.join(_SEASONS)})"
_NTH = r"\d{1,2}(?:st|nd|rd|th)?"
_BARE_DAY = rf"(?:{_DAY},? )?(?:the )?(?:{_NTH}(?: of)? {_MONTH}|{_MONTH} {_NTH})"
_COUNT = rf"(?:{'|'.join(_COUNTS)}|\d{{1,3}}|a couple of)"
_UNIT = r"(?:day|week|fortnight|month|year)s?"
_HALVES = (
    rf"(?:half a year|(?:{_COUNT} and a half|\d{{1,2}}(?:\.5| ?1/2|\u00bd)) years?"
    r"|a year and a half)"
)
_FEAST = (
    r"(?:Christmas(?: Eve| Day)?|New Year's (?:Eve|Day)|Easter(?: Sunday| Monday)?|Halloween"
    r"|Valentine's Day|Boxing Day|Midsummer|Whitsun|Pentecost|Thanksgiving|Passover|Ramadan|Diwali)"
)
_NAMED = (
    rf"(?:(?:{_DAY},? )?(?:the )?{DATE}|(?:the )?{_SEASON}(?: (?:of )?\d{{4}})?"
    rf"|{_FEAST}(?: \d{{4}})?|{_BARE_DAY}|{_MONTH}|{_DAY})"
)
_RELATIVE = (
    r"(?:(?:early |late |later )?(?:last|this|next|this past|this coming) "
    rf"(?:week|month|year|weekend|semester|term|quarter|sprint|{_DAY}|{_MONTH}|{_SEASON})"
    rf"|{_DAY} (?:last|this|next) week|(?:{_BARE_DAY}|{_MONTH}) (?:of )?(?:last|this|next) year)"
)
_LIFELONG = r"(?:all (?:my|his|her|our|their) li(?:fe|ves)|(?:my|his|her) (?:whole|entire) life)"
_POINT = (
    rf"(?:(?:on|in|for|(?<!my )(?<!our )(?<!his )(?<!her )back in|at the beginning of)"
    rf" {_NAMED}|(?:in |on )?{_RELATIVE}|yesterday|(?:over|during|in) (?:the )?{_SEASON}"
    rf"|(?:at|over|around|after|before) {_FEAST}|the day (?:before yesterday|after tomorrow)"
    rf"|(?:many |some |a few |several )?(?:years|months|decades|ages) ago"
    rf"|a (?:long time|while) ago|today|tonight|this morning|last night|tomorrow"
    rf"|at New Year(?: \d{{4}})?|(?:at|over) the weekend"
    rf"|at the (?:end|beginning|start) of (?:the )?(?:week"
    rf"|month|year|{_MONTH})|(?:early |later )?this (?:week|month|year)"
    rf"|(?:about |around |over )?{_COUNT} {_UNIT} (?:ago|back)|{_HALVES} ago"
    rf"|in (?!the ){_COUNT} {_UNIT}(?:' time)?|{_COUNT} {_UNIT} from (?:now|today)"
    rf"|{_BARE_DAY}(?:,? \d{{4}})?|on the \d{{1,2}}(?:st|nd|rd|th))"
)
_AGES = (
    r"for (?:ages|years|decades|many years|(?:quite )?some years|a long time"
    r"|as long as i can remember)"
)
CLOCK = (
    r"(?:\d{1,2}[:.]\d{2}(?: ?[ap]\.?m\.?)?|\d{1,2} ?(?:[ap]\.?m\.?|o'clock)|noon|midnight"
    r"|(?:half|quarter|ten|twenty|five) (?:past|to) [a-z]{3,6}(?<!the)"
    r"|(?<=at )(?:\d{1,2}(?!\w)|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve))"
)
"""A time of day, as an expression without groups."""
_DAY_OF_DATE = regex(rf"({_DAY}),? (?=.*\d)")
_PART = r" (?:morning|afternoon|evening|night)"
_HOUR = rf"(?:{_PART})?(?:,? at {CLOCK})?"
_EARLY_OR_LATE = regex(r"^(?:early|later?) (?=last|this|next)")
_AT_CLOCK = any_case(rf"(?<!this)(?<!last)({_PART})(?:,? at {CLOCK})?$|,? at {CLOCK}$")
PHRASE = (
    rf"(?:(?:since|until|till|from|as of|by)"
    rf" (?:(?:the (?:end|beginning|start) of )?(?:{_NAMED}|{_RELATIVE})|{_SINCE})"
    rf"|(?:from|between) {DATE} (?:to|until|through|and) {DATE}"
    rf"|(?:from )?(?:the )?{_NTH}(?:(?: of)? {_MONTH})? ?(?:to|until|till|-|\u2013) ?(?:the )?"
    rf"{_NTH}(?: of)? {_MONTH}|from the {_NTH} (?:to|until|till) the {_NTH}(?: of {_MONTH})?"
    rf"|{_AGES}(?: now)?"
    rf"|for (?:about |almost |over |the (?:last|past) )?{_COUNT} {_UNIT}(?: now)?|ever"
    rf" since|since then|{_LIFELONG}|{_POINT}{_HOUR})"
)
"""A time, as an expression without groups; case is to be ignored."""

_DISTANT = any_case(
    rf"\b(?:(?:(?:on )?{_BARE_DAY}|in {_MONTH}) (?:of )?(?:last|this|next) year"
    rf"|yesterday|tomorrow|the day (?:before yesterday|after tomorrow)|last {_SEASON}"
    rf"|(?:last|next) (?:week|month|year|{_DAY}|{_MONTH})|{_COUNT} {_UNIT} ago)\b"
)
_AT_END = Sought(rf",? ({PHRASE})[\s.!]*$")
_TOLD_BETWEEN = Sought(rf" (between \d{{1,2}} {_MONTH} and \d{{1,2}} {_MONTH} \d{{4}})[\s.!]*$")
"""Days as ``_days_in_words`` tells them: ``last week`` is stored so."""
_AT_FRONT = any_case(rf"({PHRASE}),? (?=\S)")
_OFTEN_AT_FRONT = any_case(
    rf"((?:on|every|each|most) (?:{_DAY}s?|{_MONTH}|weekends?|mornings?|evenings?|weeks?|days?"
    rf"|years?|months?|summers?|winters?)|at weekends|in the (?:mornings?|evenings?)"
    r"|(?:once|twice|(?:two|three|four|five|several|a few) times) an? (?:day|week|month|year)"
    r"),? (?=\S)"
)
_SPAN = any_case(rf"(?:from|between) ({DATE}) (?:to|until|through|and) ({DATE})")
_DAYS_OF_MONTHS = any_case(
    rf"(?:from )?(?:the )?({_NTH})(?:(?: of)? ({_MONTH}))? ?(?:to|until|till|-|\u2013) ?(?:the )?"
    rf"({_NTH})(?: of)? ({_MONTH})"
)
_FROM = any_case(r"(since|from|as of|until|till|by) (.+)")
_FOR = any_case(rf"for .*?({_COUNT}) ({_UNIT})(?: now)?")
_OF_YEAR = any_case(r"(.+?) (?:of )?(last|this|next) year")
_NEW_YEAR = any_case(r"at new year(?: (\d{4}))?")
_AGO = any_case(rf"(?:about |around |over )?({_COUNT}) ({_UNIT}) (?:ago|back)")
_WITHIN = any_case(rf"(?:in )?({_COUNT}) ({_UNIT})(?:' time|( from (?:now|today)))?")
_HALF_AGO = any_case(rf"({_HALVES}) ago")
_PREPOSITION = any_case(
    r"(?:on|in|for|back in|over|during|at the (?:beginning|start|end) of) (?:the )?"
)
_NEAR = {
    "yesterday": -1,
    "last night": -1,
    "the day before yesterday": -2,
    "today": 0,
    "tonight": 0,
    "this morning": 0,
    "tomorrow": 1,
    "the day after tomorrow": 2,
}

Sort: TypeAlias = Literal["at", "since", "until", "span"]


@dataclass(frozen=True)
class When:
    """A time that somebody named.

    Attributes:
        sort: Whether it is the moment of something, or its beginning, its end, or both.
        text: How it is told, with its date where it could be resolved.
        days: The days meant; of a beginning or an end, the first or the last one; ``None`` where
            nobody can tell.
        last: Of a span, its end.
    """

    sort: Sort
    text: str
    days: Days | None = None
    last: Days | None = None

    @property
    def is_long(self) -> bool:
        """Whether it began months or years ago, or nobody said the day."""
        return self.days is None or self.days.first != self.days.last

    def validity(self, *, is_over: bool = False) -> Validity:
        """Return from when to when what was said so is valid.

        Args:
            is_over: What was said is no longer so: of a moment, it ended then.
        """
        if self.days is None:
            return None, None
        if self.sort == "until":
            return None, self.days.last
        if self.sort == "span":
            return self.days.first, self.last.last if self.last else None
        return (None, self.days.last) if is_over else (self.days.first, None)

    def onwards(self) -> list[When]:
        """Return the time since then: what ``ever since`` means after it."""
        return [When("since", f"since {_days_in_words(self.days)}", self.days)] if self.days else []


def at_end(clause: str) -> tuple[str, str | None]:
    """Return a clause without the time it ends with, and that time as it was said."""
    found = _TOLD_BETWEEN.search(clause) or _AT_END.search(clause)
    return (clause[: found.start()].rstrip(" ,"), found[1]) if found else (clause, None)


def at_front(clause: str) -> tuple[str, str | None]:
    """Return a clause without the time it opens with, and that time as it was said."""
    found = _AT_FRONT.match(clause)
    return (clause[found.end() :], found[1]) if found else (clause, None)


_BOUND = any_case(r"\b(?:until|till|since|by|from|before|after|than) $")


def dated(text: str, at: datetime | None) -> str:
    """Return a text with the days that it tells by their distance told by their dates.

    ``yesterday``, ``last autumn``, ``two weeks ago``; what is no certain day stays as it was said.
    """

    def plain_day(found: re.Match[str]) -> str:
        day = resolved(found.group(), at, is_ahead=False).text
        is_bound = _BOUND.search(text[: found.start()]) is not None
        return _PREPOSITION.sub("", day, count=1) if is_bound else day

    return text if at is None else _DISTANT.sub(plain_day, text)


def often_at_front(clause: str) -> str:
    """Return a clause with how often, which it opens with, at its end."""
    found = _OFTEN_AT_FRONT.match(clause)
    if found is None or re.fullmatch(rf"on {_DAY}", found[1], re.IGNORECASE):
        return clause
    return f"{clause[found.end() :]} {found[1][0].lower()}{found[1][1:]}"


def is_lifelong(said: str) -> bool:
    """Whether a time is all of somebody's life: ``all my life``."""
    return re.fullmatch(_LIFELONG, said, re.IGNORECASE) is not None


def is_season(said: str) -> bool:
    """Whether a time is a season, told as no single one: ``in the spring``."""
    return re.fullmatch(rf"(?:in |during )?(?:the )?{_SEASON}", said, re.IGNORECASE) is not None


def comes_round(said: str) -> bool:
    """Whether a time may be each of its kind: the bare name of a day, month, season or feast."""
    bare = rf"(?:(?:on|in|during|over|at) )?(?:the )?(?:{_SEASON}|{_MONTH}|{_DAY}|{_FEAST}|weekend)"
    return re.fullmatch(bare, _AT_CLOCK.sub("", said), re.IGNORECASE) is not None


def _is_ages(said: str) -> bool:
    return re.fullmatch(rf"{_AGES}(?: now)?", said, re.IGNORECASE) is not None


def resolved(said: str, at: datetime | None, *, is_ahead: bool) -> When:
    """Return what a time means; the hour of a day is told as it was said.

    Args:
        said: The words of a ``PHRASE``.
        at: When they were said, by the clock of who says them; ``None`` leaves what is relative
            as it is.
        is_ahead: They speak of what is to come: ``in June`` is the next one, not the last.
    """
    clock = _AT_CLOCK.search(said)
    day = said if clock is None else said[: clock.start()]
    try:
        when = _resolved(day, at, is_ahead=is_ahead)
    except OverflowError:  # the calendar ends before that day
        when = _resolved(day, None, is_ahead=is_ahead)
    if clock is None:
        return when
    hour = clock.group().lstrip(",")
    if clock[1]:
        hour = f" {'at' if clock[1] == ' night' else 'in the'}{hour}"
    return replace(when, text=f"{when.text}{hour}")


def _resolved(said: str, at: datetime | None, *, is_ahead: bool) -> When:
    if is_lifelong(said) or _is_ages(said):
        return When("since", "since birth" if is_lifelong(said) else said)
    span = _spanned(said, at, is_ahead=is_ahead)
    if span is not None:
        return span
    lasting = _FOR.fullmatch(said)
    if lasting:
        began = _back(lasting[1], lasting[2], at)
        return When("since", said if began is None else f"since {_days_in_words(began)}", began)
    bound = _FROM.fullmatch(said)
    if bound is None:
        days = _days(said, at, is_ahead=is_ahead)
        return When("at", said if days is None else _dated(said, days, at), days)
    sort: Sort = "until" if bound[1].lower() in {"until", "till", "by"} else "since"
    is_past = bound[1].lower() == "since"  # whatever the verb: what began has begun
    days = _days(bound[2], at, is_ahead=sort == "until" or (is_ahead and not is_past))
    if days is None or days_of(bound[2]):
        return When(sort, said, days)
    end = _day(days.last if sort == "until" else days.first)
    in_words = _days_in_words(end) if " and " in _days_in_words(days) else _days_in_words(days)
    return When(sort, f"{bound[1].lower()} {in_words}", days)


def _spanned(said: str, at: datetime | None, *, is_ahead: bool) -> When | None:
    """Return a time that is told with both of its ends: ``from 3 to 14 August``."""
    dates, days = _SPAN.fullmatch(said), _DAYS_OF_MONTHS.fullmatch(said)
    if dates:
        return When("span", said, days_of(dates[1]), days_of(dates[2]))
    if days is None:
        return None
    first = _days(f"{days[1]} {days[2] or days[4]}", at, is_ahead=is_ahead)
    last = _days(f"{days[3]} {days[4]}", at, is_ahead=is_ahead)
    in_words = f"from {_days_in_words(first)} to {_days_in_words(last)}" if first and last else said
    return When("span", in_words, first, last)


def _days(said: str, at: datetime | None, *, is_ahead: bool) -> Days | None:
    """Return the days that a moment stands for; none of a date that is another day of the week."""
    plain = _PREPOSITION.sub("", said.lower().strip(), count=1)
    named = _DAY_OF_DATE.match(plain)
    if named is None:
        return _undoubted_days(plain, said, at, is_ahead=is_ahead)
    days = _undoubted_days(plain[named.end() :], said, at, is_ahead=is_ahead)
    return days if days and WEEKDAYS[days.first.weekday()] == named[1] else None


def _undoubted_days(plain: str, said: str, at: datetime | None, *, is_ahead: bool) -> Days | None:
    written = days_of(plain) if re.fullmatch(DATE, plain, re.IGNORECASE) else None
    if written is not None or at is None:
        return written
    today = _day_by_clock(at)
    if plain in _NEAR:
        return _day(today + timedelta(days=_NEAR[plain]))
    within = _WITHIN.fullmatch(said)
    if within and not (is_ahead or within[3]):
        return None  # "we sold it in a day": so long did it take
    return (
        _counted(said, today)
        or _of_week(plain, today)
        or _of_year(plain, today)
        or _new_year(plain, today, is_ahead=is_ahead)
        or _in_calendar(_EARLY_OR_LATE.sub("", plain), today, is_ahead=is_ahead)
    )


def _day_by_clock(at: datetime) -> datetime:
    """Return the day of a moment by the clock of its zone; days have none and are kept in UTC."""
    return datetime(at.year, at.month, at.day, tzinfo=UTC)


def _counted(said: str, today: datetime) -> Days | None:
    """Return the days of ``two weeks ago``, ``in three days``, ``half a year ago``."""
    ago, within, half = (one.fullmatch(said) for one in (_AGO, _WITHIN, _HALF_AGO))
    if ago:
        return _moved(ago[1], ago[2], today, -1)
    if within:
        return _moved(within[1], within[2], today, 1)
    return _half_ago(half[1].lower(), today) if half else None


def _of_week(plain: str, today: datetime) -> Days | None:
    """Return the day of ``Tuesday last week``."""
    day, _, week = plain.partition(" ")
    steps = {"last week": -1, "this week": 0, "next week": 1}
    if day not in WEEKDAYS or week not in steps:
        return None
    monday = _week(today, steps[week], is_end=False).first
    return _day(monday + timedelta(days=WEEKDAYS.index(day)))


def _of_year(plain: str, today: datetime) -> Days | None:
    """Return the day or month of ``2 May next year``."""
    found = _OF_YEAR.fullmatch(plain)
    if found is None:
        return None
    step = {"last": -1, "this": 0, "next": 1}[found[2].lower()]
    written = f"{found[1]} {today.year + step}"
    return days_of(written) if re.fullmatch(DATE, written, re.IGNORECASE) else None


def _new_year(plain: str, today: datetime, *, is_ahead: bool) -> Days | None:
    """Return the first day of the year that begins: the last one, or the next."""
    found = _NEW_YEAR.fullmatch(plain)
    if found is None:
        return None
    return days_of(f"{int(found[1] or today.year + is_ahead):04}-01-01")


def _half_ago(said: str, today: datetime) -> Days | None:
    """Return the month that lies half a year back, or the year that lies further back."""
    count = re.match(r"\d{1,2}|[a-z]+", said)
    word = count.group() if count else ""
    years = 0 if word == "half" else int(word) if word.isdigit() else _COUNTS[word]
    month = _moved(str(12 * years + 6), "month", today, -1)
    return days_of(f"{month.first.year:04}") if month and years else month


def _in_calendar(plain: str, today: datetime, *, is_ahead: bool) -> Days | None:
    """Return the days of ``last week``, ``next Monday``, ``June``, ``the 3rd of May``."""
    which, _, named = plain.removeprefix("the ").rpartition(" ")
    step = {"last": -1, "this past": -1, "next": 1, "this coming": 1}.get(which)
    if named in WEEKDAYS:
        return _weekday(WEEKDAYS.index(named), today, ahead=is_ahead if step is None else step > 0)
    if named in MONTHS and which in {"", "last", "this", "next", "this past", "this coming"}:
        ahead = is_ahead if step is None else step > 0
        month = MONTHS.index(named) + 1
        is_other = which in {"last", "next"} and month == today.month  # nobody calls this one so
        return _month(month, today, ahead=ahead, years=(1 if ahead else -1) if is_other else 0)
    if named in _SEASONS:
        is_bare = step is None and which != "this"
        step = _to_season(_SEASONS[named], today, is_ahead=is_ahead) if is_bare else step
        return _season(_SEASONS[named], today, step or 0)
    if named in {"week", "weekend"}:
        return _week(today, step or 0, is_end=named == "weekend")
    if named in {"month", "year"} and which:
        return _moved("1", named, today, step or 0)
    return _date(plain, today, is_ahead=is_ahead)


def _week(today: datetime, step: int, *, is_end: bool) -> Days:
    """Return a week from its Monday on, or its last two days."""
    monday = today + timedelta(days=7 * step - today.weekday())
    return Days(monday + timedelta(days=5 if is_end else 0), monday + timedelta(days=6))


def _date(plain: str, today: datetime, *, is_ahead: bool) -> Days | None:
    """Return a day of a month that has no year: the nearest behind or ahead."""
    found = re.fullmatch(rf"(?:{_NTH}(?: of)? )?({_MONTH})(?: {_NTH})?", plain.removeprefix("the "))
    number = re.search(r"\d{1,2}", plain)
    if found is None or number is None:
        return None
    month = _month(MONTHS.index(found[1]) + 1, today, ahead=is_ahead)
    return days_of(f"{month.first:%Y-%m}-{int(number.group()):02}")


def _back(count: str, unit: str, at: datetime | None) -> Days | None:
    if at is None:
        return None
    return _moved(count, unit, _day_by_clock(at), -1)


def _moved(count: str, unit: str, today: datetime, sign: int) -> Days | None:
    """Return the day, month or year that lies so many units from today."""
    word = count.lower().removeprefix("a ").removesuffix(" of") if " " in count else count.lower()
    number = sign * (int(word) if word.isdigit() else _COUNTS[word])
    plain = unit.lower().removesuffix("s")
    if plain in _DAYS_OF:
        return _day(today + timedelta(days=number * _DAYS_OF[plain]))
    year, month = divmod(today.year * 12 + today.month - 1 + number * _MONTHS_OF[plain], 12)
    if not 1 <= year <= _YEAR_MAX:
        return None
    return days_of(f"{year:04}" if plain == "year" else f"{year:04}-{month + 1:02}")


def _weekday(wanted: int, today: datetime, *, ahead: bool) -> Days:
    """Return the next or the last such day, never today: that would be called today."""
    away = (wanted - today.weekday()) % 7 if ahead else -((today.weekday() - wanted) % 7)
    return _day(today + timedelta(days=away or (7 if ahead else -7)))


def _month(wanted: int, today: datetime, *, ahead: bool, years: int = 0) -> Days:
    """Return the nearest such month, this one included, behind or ahead, or one years from it."""
    later, earlier = wanted < today.month, wanted > today.month
    year = today.year + years + (1 if ahead and later else -1 if not ahead and earlier else 0)
    return whole_month(year, wanted)


def _season(begins: int, today: datetime, step: int) -> Days:
    """Return the three months of a season: of this year, or the nearest behind or ahead."""
    year = today.year
    if step < 0 and begins + 2 >= today.month:
        year -= 1
    if step > 0 and begins <= today.month:
        year += 1
    later, month = divmod(begins + 1, len(MONTHS))
    return Days(datetime(year, begins, 1, tzinfo=UTC), whole_month(year + later, month + 1).last)


def _to_season(begins: int, today: datetime, *, is_ahead: bool) -> int:
    """Return which season is meant without a year: of what is to come, one that is not over."""
    return (0 if _season(begins, today, 0).last >= today else 1) if is_ahead else -1


def _day(moment: datetime) -> Days:
    return Days(moment, moment)


def _dated(said: str, days: Days, at: datetime | None) -> str:
    """Return a moment as it is told later: what has its year stays as it was said."""
    plain = _PREPOSITION.sub("", said.strip(), count=1)
    if at is None or days_of(plain) is not None:
        return said
    if _NEW_YEAR.fullmatch(said.strip()):
        return f"at New Year {days.first.year}"
    named = next((day for day in WEEKDAYS if day in said.lower()), None)
    season = next((one for one in _SEASONS if one in said.lower()), None)
    if season:
        return f"in {season} {days.first.year}"
    in_words = _days_in_words(days)
    if " and " in in_words:
        return in_words
    preposition = "on" if days.first == days.last else "in"
    return f"{preposition} {f'{named.capitalize()} ' if named else ''}{in_words}"


def _days_in_words(days: Days) -> str:
    """Return days in words: a day, a month, a year, or what lies between two days."""
    first, last = days.first, days.last
    if first == last:
        return f"{first.day} {first:%B %Y}"
    if (first.month, first.day, last.month, last.day) == (1, 1, 12, 31):
        return str(first.year)
    if first.day == 1 and last == whole_month(first.year, first.month).last:
        return f"{first:%B %Y}"
    return f"between {first.day} {first:%B} and {last.day} {last:%B %Y}"
