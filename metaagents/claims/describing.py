"""The words of a clause, and which of them turn its meaning; who does what is left open. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from .clause import Clause
from .cutting import PRONOUNS
from .forms import base, is_past
from .lexicon import (
    CAUSES,
    DENYING,
    DETERMINERS,
    FREE,
    LIMITS,
    MODES,
    NEGATIONS,
    PREPOSITIONS,
    REASONS,
    RESULTS,
    SAME_LIMITS,
    Mode,
)
from .tokens import Token

FREE_ROOTS = frozenset(base(word) for word in FREE if len(word) > 2)  # noqa: PLR2004 - no "i"
"""Roots of ordinary words, whose other forms are in no list: ``telling``, ``letting``."""
_DIRECTIONS = {
    "from": "from", "to": "to", "into": "to", "toward": "to", "towards": "to", "except": "except",
    "otherwise": "except",
}  # fmt: skip

_AROUND_NUMBERS = {"under": "less_than", "below": "less_than", "over": "more_than"}


def described(found: Sequence[Token], names: frozenset[str]) -> Clause:
    """Return a clause with its words, numbers and marks of meaning; who does what is left open."""
    clause = Clause()
    exact, named, limits = set(), set(), set()
    modes: set[Mode] = set()
    denials = 0
    group = 0
    for place, token in enumerate(found):
        word = token.word
        group += word in ("and", "or") or token.after_mark
        if token.kind == "n" or token.capital:
            clause.groups.setdefault(word, group)
        if token.kind == "n":
            clause.numbers[word] = _units(found, place)
            continue
        if token.kind == "a":
            clause.addresses |= {word}
            continue
        exact.add(word)
        mode = MODES.get(word)
        if (
            mode is not None
            and not (word == "may" and token.capital)
            and not _is_adjective(found, place)
        ):
            modes.add(mode)
        denials += word in NEGATIONS
        denials += word in DENYING
        if word in _AROUND_NUMBERS and place + 1 < len(found) and found[place + 1].kind == "n":
            limits.add(_AROUND_NUMBERS[word])
        if word in LIMITS:
            limits.add(SAME_LIMITS.get(word, word))
        clause.is_reason |= word in REASONS and not place
        clause.is_result |= word in RESULTS and not place
        is_month = word == "may" and token.capital and place > 0
        is_name = token.capital and (place or word in names) and word not in PRONOUNS
        if is_month or (is_name and word not in FREE):
            named.add(word)
        if word not in FREE and word not in NEGATIONS and word not in LIMITS and word not in CAUSES:
            clause.words.setdefault(base(word), _form(word))
        _direct(clause, found, place)
    clause.exact, clause.names = frozenset(exact), frozenset(named)
    clause.limits, clause.modes = frozenset(limits), frozenset(modes)
    clause.denied = denials % 2 == 1
    return clause


def _direct(clause: Clause, found: Sequence[Token], place: int) -> None:
    following = found[place + 1].kind if place + 1 < len(found) else ""
    is_amount = found[place].word == "by" and following == "n"  # "up by 900", not "by Ada"
    direction = "by" if is_amount else _DIRECTIONS.get(found[place].word)
    if direction:
        passed = DETERMINERS | PREPOSITIONS if direction == "except" else DETERMINERS
        for token in found[place + 1 : place + 4]:
            if token.kind == "n" or (token.kind == "w" and token.word not in passed):
                clause.directions[base(token.word)] = direction
                return


def _is_adjective(found: Sequence[Token], place: int) -> bool:
    """Whether ``left`` is a side, and ``May`` a month."""
    before = found[place - 1].word if place else ""
    return found[place].word in ("left", "thought", "question") and before in DETERMINERS


def _units(found: Sequence[Token], place: int) -> tuple[str, ...]:
    """Return the words after a number that it may count, two at most, or the currency before it."""
    units: list[str] = []
    for token in found[place + 1 : place + 4]:
        if token.kind == "w" and token.word not in FREE and token.word not in LIMITS:
            units.append(base(token.word))
        elif token.kind != "w" or token.word not in ("more", "of", "the", "other", "old", "new"):
            break
    before = found[place - 1].word if place else ""
    return tuple(units[:2]) or ((base(before),) if before in ("dollar", "euro", "pound") else ())


def _form(word: str) -> str:
    if is_past(word):
        return "past"
    return "s" if word.endswith("s") and not word.endswith("ss") else ""
