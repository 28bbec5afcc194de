"""Every detector of the guard, each a small function over a piece of text. Pure.

A text is read in pieces that overlap, so that no search holds up a process for long and time grows
with length alone. Most texts hold none of a detector's cues, and cost it one comparison of sets.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple, TypeAlias

from tiers.quarantine import Detector, Finding, Severity
from tiers.records import Source

from . import orders
from .secrets import secrets
from .shape import CHARS_MAX, oddity
from .spelling import look_alikes, readings, spaced_out

PIECE_CHARS = 8_000
OVERLAP_CHARS = 500
"""Longer than what a pattern of orders spans."""
FINDINGS_MAX = 32
"""Of a text; whoever has so many needs no more."""
ABOUT_CHARS = 160
"""So far before a mention stands what says that it is one."""

_WORD = re.compile(r"[a-z]+")
_QUOTES = "\"'`\u201c\u2018\u00ab\u201e"

Found: TypeAlias = tuple[str, int, int]
"""What was found, in words that hold nothing of the text, and where in the piece."""


class _Piece(NamedTuple):
    """A piece of a text, its words of ASCII letters, and whose words they are."""

    text: str
    words: frozenset[str]
    source: Source


Detect: TypeAlias = Callable[[_Piece], Iterator[Found]]


def _by(pattern: re.Pattern[str], cues: frozenset[str], what: str) -> Detect:
    """Return a detector that looks for a pattern where one of its cues is."""

    def detect(piece: _Piece) -> Iterator[Found]:
        if not cues.isdisjoint(piece.words):
            for one in pattern.finditer(piece.text):
                if not _is_mention(piece, one.start()):
                    yield what, *one.span()

    return detect


def _is_mention(piece: _Piece, start: int) -> bool:
    """Whether a user speaks of such a text instead of giving an order."""
    if piece.source != "user":
        return False
    before = piece.text[max(0, start - ABOUT_CHARS) : start + 2]
    is_quoted = any(quote in before[-6:] for quote in _QUOTES)
    return (is_quoted or ":" in before[-6:]) and orders.ABOUT.search(before) is not None


def _hidden(piece: _Piece) -> Iterator[Found]:
    for said, start, end in readings(piece.text, piece.words):
        shown = _Piece(said, _words(said), "tool")
        for name in _ORDERS:
            if next(_PLAIN[name](shown), None) is not None:
                yield f"{name} in a spelling that hides it", start, end
                break
    for letters, start, end in spaced_out(piece.text):
        if orders.SQUASHED.search(letters):
            yield "override in a spelling that hides it", start, end


def _secret(piece: _Piece) -> Iterator[Found]:
    for one in secrets(piece.text):
        yield one.label, one.start, one.end


def _look_alike(piece: _Piece) -> Iterator[Found]:
    if not piece.text.isascii():
        for start, end in look_alikes(piece.text):
            yield "a word of letters that only look alike", start, end


def _echo(piece: _Piece) -> Iterator[Found]:
    if orders.ECHO_CUES.isdisjoint(piece.words) or orders.PROOF.search(piece.text) is None:
        return
    for one in orders.ECHO.finditer(piece.text):
        yield "an agent's own words as evidence", *one.span()


_PLAIN: Mapping[Detector, Detect] = MappingProxyType(
    {
        "override": _by(orders.OVERRIDE, orders.OVERRIDE_CUES, "an order to drop the rules"),
        "forgery": _by(orders.FORGERY, orders.FORGERY_CUES, "a forged role or call"),
        "order": _by(orders.ORDER, orders.ORDER_CUES, "a standing order to the assistant"),
        "exfiltration": _by(
            orders.EXFILTRATION, orders.EXFILTRATION_CUES, "an order to give data away"
        ),
        "trigger": _by(orders.TRIGGER, orders.TRIGGER_CUES, "an order that waits for an occasion"),
        "protected": _by(
            orders.PROTECTED, orders.PROTECTED_CUES, "a change of a protected setting"
        ),
    }
)
_ORDERS: tuple[Detector, ...] = ("override", "order", "exfiltration", "trigger", "forgery")

DETECTORS: Mapping[Detector, tuple[Severity, Detect]] = MappingProxyType(
    {
        "override": ("high", _PLAIN["override"]),
        "forgery": ("high", _PLAIN["forgery"]),
        "exfiltration": ("high", _PLAIN["exfiltration"]),
        "hidden": ("high", _hidden),
        "secret": ("high", _secret),
        "order": ("medium", _PLAIN["order"]),
        "trigger": ("medium", _PLAIN["trigger"]),
        "protected": ("medium", _PLAIN["protected"]),
        "echo": ("medium", _echo),
        "look-alike": ("low", _look_alike),
    }
)
"""By name, how bad it is and what finds it. ``size`` is of a whole text: see ``scan``."""


def scan(text: str, source: Source, *, is_statement: bool = True) -> tuple[Finding, ...]:
    """Return what is suspicious about a text, at most ``FINDINGS_MAX`` findings, in order of place.

    Args:
        text: Of any length.
        source: Whose words they are. What only an agent can do is looked for in its words alone,
            and a user may speak of such texts.
        is_statement: Whether it is to be remembered as one statement, and has to look like one.
    """
    found: dict[tuple[Detector, int], Finding] = {}
    for start in range(0, max(1, len(text)), PIECE_CHARS - OVERLAP_CHARS):
        part = text[start : start + PIECE_CHARS]
        piece = _Piece(part, _words(part), source)
        for name, (severity, detect) in DETECTORS.items():
            if name == "echo" and source != "agent":
                continue
            for what, first, end in detect(piece):
                place = start + first
                found.setdefault((name, place), _finding(name, severity, what, place, start + end))
                if len(found) >= FINDINGS_MAX:
                    break
        if len(found) >= FINDINGS_MAX or start + PIECE_CHARS >= len(text):
            break
    odd = _odd(text) if is_statement else None
    if odd is not None:
        found["size", odd.start] = odd
    return tuple(sorted(found.values(), key=lambda one: (one.start, one.detector)))


def _odd(text: str) -> Finding | None:
    if len(text) > CHARS_MAX:
        return _finding("size", "low", f"more than {CHARS_MAX:,} characters", 0, len(text))
    odd = oddity(text)
    return None if odd is None else _finding("size", "low", *odd)


def _finding(name: Detector, severity: Severity, what: str, start: int, end: int) -> Finding:
    return Finding(detector=name, severity=severity, what=what, start=start, end=end)


def _words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.lower()))
