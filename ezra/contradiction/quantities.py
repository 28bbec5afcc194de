"""Numbers in claims: with units, ranges and bounds, times, dates, versions, money. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from tiers.lexical import MONTHS, NUMBER_WORDS

Relation: TypeAlias = Literal["same", "near", "apart"]
"""What two quantities of one kind are to each other; ``near``: they may be meant to be the same."""

_SAME_SHARE = 0.01
_NEAR_SHARE = 0.1
_ABOUT_SHARE = 0.15
_NOON = 12 * 60
_NO_UNIT = "#number 1"
_LEADING_ZEROS = re.compile(r"(?<![\d.,])0+(?=\d)")


@dataclass(frozen=True, slots=True)
class Quantity:
    """What a number in a claim stands for.

    Attributes:
        kind: What is measured, like ``#length``; only quantities of one kind can be compared.
        low: The least that it can be, in the base unit of its kind.
        high: The most.
        bound: Which kind of range it is; empty for a number.
        unit: As it was said; two units of a kind are compared with tolerance.
        written: The number in that unit.
        decimals: Its digits after the point.
        other: What the same digits may mean as well.
        parts: Year, month and day of a date, numbers of a version; unknown ones are ``None``.
        said: The words.
    """

    kind: str
    low: float
    high: float
    bound: str = ""
    unit: str = ""
    written: float = 0.0
    decimals: int = 0
    other: float | None = None
    parts: tuple[int | None, ...] = ()
    said: str = ""

    @property
    def is_one(self) -> bool:
        """Whether it is one number, no range or bound."""
        return self.low == self.high

    @property
    def spelling(self) -> str:
        """What tells names of one value apart: Python 3.10 is not 3.1, nor is the pin 0042 42.

        Empty where there is nothing, and for what is measured: 4.50 kg are 4.5 kg.
        """
        if self.unit != _NO_UNIT:
            return ""
        zeros = _LEADING_ZEROS.search(self.said)
        fraction = "" if self.written.is_integer() else "." * self.decimals
        return (zeros.group() if zeros else "") + fraction


def relation(one: Quantity, two: Quantity) -> Relation:
    """Return what two quantities of the same kind are to each other."""
    if one.parts or two.parts:
        return _relation_by_elements(one, two)
    if one.is_one and two.is_one:
        return _relation_of_numbers(one, two)
    if (one.low, one.high, one.bound) == (two.low, two.high, two.bound):
        return "same"
    # What touches overlaps: who says "more than five" may mean five.
    return "apart" if one.high < two.low or two.high < one.low else "near"


def scan(text: str) -> Iterator[str | Quantity]:
    """Yield the pieces of a text in order: what lies between quantities as text, and these."""
    at = 0
    for match in _QUANTITY.finditer(text):
        found = _read(match)
        if found is None:
            continue
        yield text[at : match.start()]
        yield from found
        at = match.end()
    yield text[at:]


def with_digits(text: str) -> str:
    """Return a text with numbers in words as digits."""
    text = _TENS.sub(lambda m: str(NUMBER_WORDS[m[1].lower()] + NUMBER_WORDS[m[2].lower()]), text)
    text = _ONE.sub("1", text)
    return _NUMBER_WORD.sub(lambda m: str(NUMBER_WORDS[m[0].lower()]), text)


def _relation_of_numbers(one: Quantity, two: Quantity) -> Relation:
    a, b = one.low, two.low
    if math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12):
        return "same" if one.spelling == two.spelling else "near"
    readings = {a, one.other} & {b, two.other} - {None}
    if readings:
        return "near"
    if one.unit != two.unit:
        share = abs(a - b) / max(abs(a), abs(b))
        return "same" if share <= _SAME_SHARE else "near" if share <= _NEAR_SHARE else "apart"
    digits = min(one.decimals, two.decimals)
    rounded = one.decimals != two.decimals and round(one.written, digits) == round(
        two.written, digits
    )
    return "near" if rounded else "apart"


def _relation_by_elements(one: Quantity, two: Quantity) -> Relation:
    if one.kind == "#version":
        return "same" if one.parts == two.parts else "apart"
    pairs = list(zip(one.parts, two.parts, strict=True))
    if any(a is not None and b is not None and a != b for a, b in pairs):
        return "apart"
    return "same" if one.parts == two.parts else "near"


# Kind, factor to the base unit, and the unit's names. Case counts where it is the only difference.
_UNIT_TABLE = (
    ("#length", 0.001, "mm millimetre millimetres millimeter millimeters"),
    ("#length", 0.01, "cm centimetre centimetres centimeter centimeters"),
    ("#length", 1.0, "m metre metres meter meters"),
    ("#length", 1000.0, "km kilometre kilometres kilometer kilometers"),
    ("#length", 1609.344, "mi mile miles"),
    ("#length", 0.3048, "ft foot feet"),
    ("#length", 0.9144, "yd yard yards"),
    ("#length", 0.0254, "inch inches"),
    ("#mass", 1e-6, "mg milligram milligrams"),
    ("#mass", 0.001, "g gram grams gramme grammes"),
    ("#mass", 1.0, "kg kilo kilos kilogram kilograms"),
    ("#mass", 1000.0, "t tonne tonnes"),
    ("#mass", 0.45359237, "lb lbs"),
    ("#time", 1e-6, "µs μs microsecond microseconds"),
    ("#time", 0.001, "ms millisecond milliseconds"),
    ("#time", 1.0, "s sec secs second seconds"),
    ("#time", 60.0, "min mins minute minutes"),
    ("#time", 3600.0, "h hr hrs hour hours"),
    ("#time", 86400.0, "day days"),
    ("#time", 604800.0, "week weeks"),
    ("#months", 1.0, "month months"),
    ("#months", 12.0, "year years"),
    ("#speed", 1.0, "m/s"),
    ("#speed", 1 / 3.6, "km/h kmh kph"),
    ("#speed", 0.44704, "mph"),
    ("#volume", 0.001, "ml millilitre millilitres milliliter milliliters"),
    ("#volume", 0.01, "cl"),
    ("#volume", 1.0, "l litre litres liter liters"),
    ("#volume", 3.785411784, "gallon gallons"),
    ("#pressure", 1.0, "Pa pascal pascals"),
    ("#pressure", 1000.0, "kPa"),
    ("#pressure", 100000.0, "bar bars"),
    ("#pressure", 6894.757, "psi"),
    ("#data", 1.0, "byte bytes"),
    ("#data", 1e3, "kB KB"),
    ("#data", 1e6, "MB"),
    ("#data", 1e9, "GB"),
    ("#data", 1e12, "TB"),
    ("#data", 1024.0**2, "MiB"),
    ("#data", 1024.0**3, "GiB"),
    ("#power", 1.0, "W watt watts"),
    ("#power", 1e3, "kW kilowatt kilowatts"),
    ("#power", 1e6, "MW megawatt megawatts"),
    ("#power", 735.49875, "hp horsepower"),
    ("#energy", 1.0, "kWh"),
    ("#energy", 1000.0, "MWh"),
    ("#frequency", 1.0, "Hz hertz"),
    ("#frequency", 1e3, "kHz"),
    ("#frequency", 1e6, "MHz"),
    ("#frequency", 1e9, "GHz"),
    ("#rotation", 1.0, "rpm"),
    ("#force", 1.0, "N newton newtons"),
    ("#voltage", 1.0, "V volt volts"),
    ("#percent", 1.0, "% percent pct"),
    ("#points", 1.0, "pp bps"),
    ("#degree", 1.0, "° degree degrees deg"),
    ("#celsius", 1.0, "°C C celsius"),
    ("#fahrenheit", 1.0, "°F F fahrenheit"),
    ("#usd", 1.0, "$ US$ USD dollar dollars"),
    ("#eur", 1.0, "€ EUR euro euros"),
    ("#gbp", 1.0, "£ GBP"),
    ("#jpy", 1.0, "¥ JPY yen"),
    ("#inr", 1.0, "₹ INR rupee rupees"),
    ("#chf", 1.0, "CHF"),
    ("#pound", 1.0, "pound pounds"),
    ("#cent", 1.0, "cent cents"),
)
_UNITS = {name: (kind, by) for kind, by, names in _UNIT_TABLE for name in names.split()}
_UNITS |= {"per cent": _UNITS["%"], "degrees celsius": _UNITS["°C"]}
_UNITS |= {"degrees fahrenheit": _UNITS["°F"], "percentage points": _UNITS["pp"]}
_UNITS_FOLDED = {name.lower(): unit for name, unit in _UNITS.items()}
_KIND_OF = {"#fahrenheit": "#celsius"}
_MILLION = 1e6

_SCALES = {
    "k": 1e3, "thousand": 1e3, "M": 1e6, "mn": 1e6, "million": 1e6, "bn": 1e9, "billion": 1e9,
    "hundred": 1e2, "dozen": 12.0, "trillion": 1e12,
}  # fmt: skip

_BOUNDS: tuple[tuple[str, str], ...] = (
    (r"at\ least|no\ less\ than|not\ less\ than|no\ fewer\ than|a?\ ?minimum\ of|≥|>=", "least"),
    (r"at\ most|no\ more\ than|not\ more\ than|up\ to|a?\ ?maximum\ of|≤|<=", "most"),
    (r"more\ than|greater\ than|higher\ than|>", "above"),
    (r"less\ than|fewer\ than|lower\ than|<", "below"),
    (r"about|around|approximately|approx\.?|roughly|circa|ca\.|~|≈", "about"),
    (r"exactly|precisely", "exact"),
)

_DIGIT_WORDS = "two three four five six seven eight nine".split()
_TENS = re.compile(
    rf"\b({'|'.join(word for word, number in NUMBER_WORDS.items() if number >= 20)})[- ]"  # noqa: PLR2004
    rf"(one|{'|'.join(_DIGIT_WORDS)})\b",
    re.IGNORECASE,
)
_NUMBER_WORD = re.compile(
    rf"\b(?:{'|'.join(word for word in NUMBER_WORDS if word != 'one')})\b", re.IGNORECASE
)
# "One" is a number only before what can be counted.
_ONE = re.compile(
    r"(?<!no )(?<!the )(?<!this )(?<!that )(?<!any )(?<!some )(?<!every )(?<!each )(?<!which )"
    r"\bone\b(?=[ -](?!of|another|day|who|that|and|or|is|are|can|could|should|may|might|must|has"
    r"|will|at|in|on|more|side|hand)[a-z])",
    re.IGNORECASE,
)


def _any_of(names: Iterator[str] | list[str]) -> str:
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_NUMBER = r"(?:\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:[.,]\d+)?)"
_UNIT = rf"(?:{_any_of(list(_UNITS))})(?![\w/])"
_SCALE = rf"(?:(?-i:k|M)|{_any_of([name for name in _SCALES if len(name) > 1])})\b"
_MONTH = rf"(?:{'|'.join(f'{month[:3]}(?:{month[3:]})?' for month in MONTHS)})\b\.?"
_BOUND = "|".join(f"(?:{pattern})" for pattern, _ in _BOUNDS)
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"

_QUANTITY = re.compile(
    rf"""
    (?P<iso>(?<![\w.-])\d{{4}}-\d{{2}}-\d{{2}}(?![\w-]))
    | (?P<stopwatch>(?<![\w.:])\d{{1,2}}:\d{{2}}\.\d{{1,3}}(?!\w))
    | (?P<clock>(?<![\w.:])\d{{1,2}}(?::\d{{2}}(?::\d{{2}})?(?:\s?[ap]\.?m\b\.?)?(?![\w:])
        | \s?[ap]\.?m\b\.?))
    | (?P<date>(?<![\w.]){_DAY}\s(?:of\s)?{_MONTH}(?:,?\s\d{{4}}\b)?
        | \b{_MONTH}\s{_DAY}\b(?!:)(?:,?\s\d{{4}}\b)?
        | \b{_MONTH}\s\d{{4}}\b)
    | (?P<version>(?<![\w.])v\d+(?:\.\d+)*\b | (?<![\w.])\d+(?:\.\d+){{2,}}\b
        | (?<=version\s)\d+(?:\.\d+)*\b | (?<=release\s)\d+(?:\.\d+)*\b)
    | (?:(?<![\w])(?P<bound>{_BOUND})\s*)?
      (?: between\s(?P<least>{_NUMBER})(?:\s?{_UNIT})?\sand\s(?P<most>{_NUMBER})
          (?:\s?(?P<of_both>{_UNIT}))?
        | (?<!from\s)(?<![\w.,:/-])(?P<from>{_NUMBER})
          \s?(?:-|\u2013|to\s)\s?(?P<to>{_NUMBER})(?!\w*-)(?:\s?(?P<of_range>{_UNIT}))?(?!\w)
        | (?P<money>(?:US)?[$€£¥₹])\s?(?P<amount>{_NUMBER})(?:\s?(?P<times>{_SCALE}|m\b))?
        | (?<![\w.,:/])(?P<sign>(?<![\w)])[-+\u2212])?(?P<number>{_NUMBER})(?![\d:])
          (?:\s?(?P<scale>{_SCALE}))?(?:[\s-]?(?P<unit>{_UNIT}))?(?![\w/]) )
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _read(match: re.Match[str]) -> list[str | Quantity] | None:
    """Return what a match says, or ``None`` when it is no quantity after all."""
    text = match.group().strip()
    if match["clock"]:
        return _clock(text)
    if match["least"] or match["from"]:
        return _range(match)
    if match["iso"]:
        year, month, day = map(int, text.split("-"))
        return [_date(year, month, day, text)]
    if match["date"]:
        return [_date_in_words(text)]
    if match["version"]:
        numbers = tuple(int(part) for part in re.findall(r"\d+", text))
        return [Quantity("#version", 0, 0, parts=numbers, said=text)]
    return [_stopwatch(text) if match["stopwatch"] else _number(match)]


def _stopwatch(text: str) -> Quantity:
    minutes, seconds = text.split(":")
    value = 60 * float(minutes) + float(seconds)
    return Quantity("#time", value, value, unit="stopwatch", said=text)


def _number(match: re.Match[str]) -> Quantity:
    written, other, decimals = _value(match["amount"] or match["number"])
    scale = match["times"] or match["scale"]
    by = (_SCALES.get(scale) or _SCALES.get(scale.lower()) or _MILLION) if scale else 1.0
    kind, factor = _unit(match["money"] or match["unit"] or "")
    if match["sign"] in {"-", "\u2212"}:
        written, other = -written, None
    value = _in_base(kind, written * by * factor)
    exact = Quantity(
        _KIND_OF.get(kind, kind),
        value,
        value,
        unit=f"{kind} {factor * by:g}",
        written=written,
        decimals=decimals,
        other=None if other is None else _in_base(kind, other * by * factor),
        said=match.group().strip(),
    )
    return _bounded(exact, _bound(match["bound"]))


def _bounded(exact: Quantity, bound: str) -> Quantity:
    """Return a number with what is said of its bounds."""
    value = exact.low
    low, high = value, value
    match bound:
        case "least" | "above":
            high = math.inf
        case "most" | "below":
            low = -math.inf
        case "about":
            far = abs(value) * _ABOUT_SHARE
            low, high = value - far, value + far
        case _:
            return exact
    return replace(exact, low=low, high=high, bound=bound, other=None)


def _range(match: re.Match[str]) -> list[str | Quantity]:
    said, unit = match.group().strip(), match["of_both"] or match["of_range"] or ""
    kind, factor = _unit(unit)
    ends = (match["least"] or match["from"], match["most"] or match["to"])
    low, high = (_in_base(kind, _value(end)[0] * factor) for end in ends)
    kind = _KIND_OF.get(kind, kind)
    if low >= high:  # a score, a change or a code, and no range
        return [Quantity(kind, end, end, unit=kind, said=said) for end in (low, high)]
    return [Quantity(kind, low, high, bound="range", unit=kind, said=said)]


def _value(digits: str) -> tuple[float, float | None, int]:
    """Return a number, what else its digits may mean, and how many of them follow the point."""
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?", digits):
        is_plain = digits.count(",") == 1 and "." not in digits
        other = float(digits.replace(",", ".")) if is_plain else None
        return float(digits.replace(",", "")), other, len(digits.partition(".")[2])
    plain = digits.replace(",", ".")
    decimals = len(plain.partition(".")[2])
    # "1.500" is one and a half in one country and fifteen hundred in another.
    thousands = re.fullmatch(r"\d{1,3}\.\d{3}", plain)
    return float(plain), float(plain.replace(".", "")) if thousands else None, decimals


def _unit(name: str) -> tuple[str, float]:
    if not name:
        return "#number", 1.0
    folded = name.lower()
    return _UNITS.get(name) or _UNITS.get(folded) or _UNITS_FOLDED[folded]


def _in_base(kind: str, value: float) -> float:
    return (value - 32) * 5 / 9 if kind == "#fahrenheit" else value


def _bound(words: str | None) -> str:
    if words is None:
        return "exact"
    for pattern, name in _BOUNDS:
        if re.fullmatch(pattern, words.lower(), re.VERBOSE):
            return name
    return "exact"


def _clock(text: str) -> list[str | Quantity] | None:
    hour, minute, *_ = [int(part) for part in re.findall(r"\d+", text)] + [0]
    half = re.search(r"([ap])\.?m", text, re.IGNORECASE)
    if hour > 24 or minute > 59:  # noqa: PLR2004 - hours of a day, minutes of an hour
        return None
    if half:
        hour = hour % 12 + (12 if half[1].lower() == "p" else 0)
    at = 60.0 * hour + minute
    other = at + _NOON if not half and 0 < hour <= 12 else None  # noqa: PLR2004
    return [Quantity("#clock", at, at, unit="min", other=other, said=text)]


def _date_in_words(text: str) -> Quantity:
    name = re.search(r"[a-z]{3,}", text.lower().replace("of ", ""))
    month = 1 + [month[:3] for month in MONTHS].index(name.group()[:3]) if name else None
    numbers = [int(number) for number in re.findall(r"\d+", text)]
    year = next((number for number in numbers if number > 31), None)  # noqa: PLR2004
    day = next((number for number in numbers if number <= 31), None)  # noqa: PLR2004
    return _date(year, month, day, text)


def _date(year: int | None, month: int | None, day: int | None, said: str) -> Quantity:
    return Quantity("#date", 0, 0, parts=(year, month, day), said=said)
