"""Extractive compression: choose the sentences that say most, change none of them.

A sentence's weight is what it carries (``statements``), more if it answers what somebody else
asked, less for words that were chosen already, over its price: a day has room for most of what it
is made of, a month only for a part of it. Every sitting or day has its best sentence before any has
a second. The text reads like notes: a line per speaker, the first of a sitting with its date. Pure:
the same input gives the same text.
"""

from __future__ import annotations

import math
import re
from bisect import bisect, insort
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import TypeAlias, TypeVar
from zoneinfo import ZoneInfo

from tiers.lexical import sentences, words
from tiers.moments import UTC_ZONE, local
from tiers.records import Turn

from ..claims.clause import AGENT
from ..learning.grammar.retractions import undoes, undoes_all
from .statements import asks, can_be_denied, carried, is_bare_denial, is_courtesy

SITTING_PAUSE = timedelta(hours=1)
"""After a longer pause another sitting begins."""


_ANSWER = 1.5
"""How many times what answers a question is worth what was said unasked: somebody wanted to know
it."""

_UNITS_PER_TOKEN = 4
_LENGTH_EXPONENT = 0.2
_CLOSED = re.compile(r"[.!?\u2026\u3002\uff01\uff1f][\"'\u2019\u201d)\]]*$")

T = TypeVar("T")


@dataclass(frozen=True)
class Sentence:
    """One sentence with who said it and when, by the clock of where people live.

    Attributes:
        text: What was said.
        speaker: Who said it; empty for what a model wrote.
        at: When; in notes, when the sitting began.
        is_answer: Whether somebody else had just asked something.
    """

    text: str
    speaker: str
    at: datetime
    is_answer: bool = False


Price: TypeAlias = Callable[[Sentence], float]
"""What choosing a sentence counts as costing; more than 0."""


def sentences_of(
    turn: Turn, zone: ZoneInfo = UTC_ZONE, before: Turn | None = None
) -> tuple[Sentence, ...]:
    """Return the sentences of a turn in order: input, reply, what tools said.

    Each is on one line, whatever counts as a line break: none can begin a line of the notes itself.
    The input may answer what was asked in the turn ``before`` it.
    """
    at = local(turn.occurred_at, zone)
    is_answer = before is not None and _is_asked(before, turn, zone)
    parts = [
        (_speaker(turn), turn.input, is_answer),
        (turn.agent_id, turn.response, False),
        *((f"{turn.agent_id}/{one.tool}", one.output, False) for one in turn.tool_outputs),
    ]
    return tuple(
        Sentence(" ".join(part.split()), speaker, at, answers)
        for speaker, text, answers in parts
        for part in sentences(text)
    )


def _is_asked(before: Turn, turn: Turn, zone: ZoneInfo) -> bool:
    """Whether what was said last before a turn asks a person something.

    An assistant answers all day, at length: that it was asked says nothing of what it says.
    """
    who, said = _speaker(before), before.input
    if before.response:
        who, said = before.agent_id, before.response
    return (
        _speaker(turn) not in (who, turn.agent_id, AGENT)
        and _goes_on(local(before.occurred_at, zone), local(turn.occurred_at, zone))
        and any(map(asks, sentences(said)))
    )


def _speaker(turn: Turn) -> str:
    return turn.speaker or turn.agent_id


_Part: TypeAlias = list[Sentence | None]
"""Sentences that were said together; ``None`` stands where one has gone to what undoes it."""

_Place: TypeAlias = tuple[_Part, int]


def with_denials(parts: Sequence[Sequence[Sentence]]) -> tuple[tuple[Sentence, ...], ...]:
    """Return the sentences of parts, what is denied or taken back and what does so as one.

    ``The budget is approved. It isn't.``, ``I quit! Just kidding.``: kept alone, the first says the
    opposite of what was said. What was said before is quoted, with who said it where that was
    somebody else. Anybody may deny what was said last; what is taken back or put right is what the
    same speaker said last.
    """
    found: list[_Part] = []
    denied: _Place | None = None
    own: dict[str, _Place] = {}
    for part in parts:
        said: _Part = []
        found.append(said)
        for one in part:
            before = own.get(one.speaker)
            undone = denied if is_bare_denial(one.text) else _undone(one, before, said)
            last = undone[0][undone[1]] if undone is not None else None
            told = one
            if undone is not None and last is not None and _goes_on(last.at, one.at):
                undone[0][undone[1]] = None
                told = _denied(last, one, is_next=undone[0] is said)
            said.append(told)
            if told is not one or can_be_denied(one.text):
                denied = own[one.speaker] = said, len(said) - 1
    return tuple(tuple(one for one in said if one is not None) for said in found)


def _undone(one: Sentence, before: _Place | None, said: _Part) -> _Place | None:
    """Return where the sentence ``before`` stands if its speaker takes it back or puts it right.

    That is the one right before it. In a message of its own a sentence says no more than that: one
    that says more may as well answer somebody else.
    """
    if before is None:
        return None
    is_next = before[0] is said and before[1] == len(said) - 1
    return before if (undoes(one.text) if is_next else undoes_all(one.text)) else None


def _denied(last: Sentence, one: Sentence, *, is_next: bool) -> Sentence:
    if last.speaker != one.speaker:
        said = f'{last.speaker} {"asked" if asks(last.text) else "said"} "{last.text}"'
    else:
        said = closed(last.text) if is_next else f'"{last.text}"'
    return replace(one, text=f"{said} {one.text}", is_answer=last.is_answer or one.is_answer)


def fair(parts: Sequence[Sequence[T]], most: int) -> list[list[T]]:
    """Return the beginnings of the parts, at most ``most`` in all.

    Each has an equal share; what a short one leaves of its own is shared by the others.
    """
    shares = [0] * len(parts)
    left, open_parts = most, [place for place, part in enumerate(parts) if part]
    while left >= len(open_parts) > 0:
        share = left // len(open_parts)
        for place in open_parts:
            more = min(share, len(parts[place]) - shares[place])
            shares[place] += more
            left -= more
        open_parts = [place for place in open_parts if shares[place] < len(parts[place])]
    for place in open_parts[:left]:
        shares[place] += 1
    return [list(part[:share]) for part, share in zip(parts, shares, strict=True)]


def by_sitting(said: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences in their order, each with the moment at which its sitting began."""
    found: list[Sentence] = []
    for place, one in enumerate(said):
        last = said[place - 1].at if place else None
        found.append(replace(one, at=found[-1].at) if _goes_on(last, one.at) else one)
    return found


def _goes_on(last: datetime | None, at: datetime) -> bool:
    """Whether a sitting of which something was said last goes on at a moment."""
    return last is not None and at.date() == last.date() and abs(at - last) <= SITTING_PAUSE


def by_person(said: Sequence[Sentence]) -> list[Sentence]:
    """Return sentences day by day, of each day what one person said and then what another did.

    For coarse grains, where questions and their answers stand together no more.
    """
    days: dict[datetime, dict[str, list[Sentence]]] = {}
    for one in said:
        day = one.at.replace(hour=0, minute=0, second=0, microsecond=0, fold=0)
        days.setdefault(day, {}).setdefault(one.speaker, []).append(replace(one, at=day))
    return [one for people in days.values() for own in people.values() for one in own]


def mildly_by_length(one: Sentence) -> float:
    """Return what a sentence counts as costing where there is room for most of them.

    What is left out then is little, and a long sentence says more for its label.
    """
    return math.pow(max(1, len(one.text)), _LENGTH_EXPONENT)


def by_tokens(one: Sentence) -> float:
    """Return what a sentence costs with a label of its own, in quarters of a token.

    For coarse grains, where most of what was said has to go: what is chosen by what it carries for
    each token carries most in all.
    """
    return _units(_label(None, one)) + _units(closed(one.text))


def choose(
    said: Sequence[Sentence], budget: int, price: Price = mildly_by_length
) -> list[Sentence]:
    """Return the sentences to keep, in their order; their notes are of at most ``budget`` tokens.

    Args:
        said: In the order of the notes, as ``by_sitting`` or ``by_person`` returns them.
        budget: Tokens to spend, labels included. The best sentence is kept even when it alone is
            over budget.
        price: By what the weight of a sentence is divided.
    """
    worded = [one for one in said if words(one.text)]
    worthy = [one for one in worded if not is_courtesy(one.text)] or worded
    return _Choice(worthy, price).within(budget)


class _Choice:
    """Chooses greedily: the weight of what is left falls with the words that are chosen."""

    def __init__(self, said: Sequence[Sentence], price: Price) -> None:
        texts = [one.text for one in said]
        self._said = said
        self._words = [frozenset(words(text)) for text in texts]
        self._carried = [
            replace(value, factor=value.factor * (_ANSWER if one.is_answer else 1))
            for one, value in zip(said, carried(texts), strict=True)
        ]
        self._price = [price(one) for one in said]
        self._had: Counter[str] = Counter()
        self._left = set(range(len(said)))
        self._chosen: list[int] = []
        self._spent = 0

    def within(self, budget: int) -> list[Sentence]:
        """Return what is chosen for so many tokens."""
        self._spend(budget * _UNITS_PER_TOKEN, one_of_each=True)
        self._spend(budget * _UNITS_PER_TOKEN, one_of_each=False)
        return [self._said[row] for row in self._chosen]

    def _spend(self, most: int, *, one_of_each: bool) -> None:
        heap = [(-self._weight(row), row) for row in self._left]
        heapify(heap)
        seen: set[datetime] = set()
        while heap:
            weight, row = heappop(heap)
            at = self._said[row].at
            if one_of_each and at in seen:
                continue
            if -weight > (now := self._weight(row)):
                # It fell since it was put there; weights never rise.
                heappush(heap, (-now, row))
            elif not self._is_repeated(row) and self._is_taken(row, most):
                seen.add(at)

    def _weight(self, row: int) -> float:
        return self._carried[row].weight(self._had) / self._price[row]

    def _is_taken(self, row: int, most: int) -> bool:
        cost = self._cost(row)
        if self._chosen and self._spent + cost > most:
            return False
        self._left.remove(row)
        self._had.update(self._carried[row].worth.keys())
        insort(self._chosen, row)
        self._spent += cost
        return True

    def _is_repeated(self, row: int) -> bool:
        """Whether somebody is quoted with the same words already."""
        return any(
            self._said[other].speaker == self._said[row].speaker
            and self._words[row] <= self._words[other]
            for other in self._chosen
        )

    def _cost(self, row: int) -> int:
        """Return by how much the notes grow with a sentence, in quarters of a token."""
        place = bisect(self._chosen, row)
        one = self._said[row]
        before = self._said[self._chosen[place - 1]] if place else None
        cost = _units(_label(before, one)) + _units(closed(one.text))
        if place < len(self._chosen):
            after = self._said[self._chosen[place]]
            cost += _units(_label(one, after)) - _units(_label(before, after))
        return cost


def _units(text: str) -> int:
    """Return quarters of estimated tokens, which add up, as rounded tokens do not."""
    plain = len(text.encode("ascii", "ignore"))
    return plain + 2 * (len(text) - plain)


def closed(text: str) -> str:
    """Return a sentence so that another may follow it on its line and be told from it."""
    return text if _CLOSED.search(text) else f"{text}."


def stamp(at: datetime) -> str:
    """Return how a line of a summary says when its sitting began; of midnight, only the day."""
    is_day = not (at.hour or at.minute)
    return f"[{at:%Y-%m-%d}]" if is_day else f"[{at:%Y-%m-%d %H:%M}]"


def _label(before: Sentence | None, one: Sentence) -> str:
    """Return what stands in the notes between a sentence and the one before it."""
    is_same_sitting = before is not None and before.at == one.at
    if before is not None and is_same_sitting and before.speaker == one.speaker:
        return " "
    when = "" if is_same_sitting else f"{stamp(one.at)} "
    who = f"{one.speaker}: " if one.speaker else ""
    return f"{'' if before is None else chr(10)}{when}{who}"


def render(chosen: Iterable[Sentence]) -> str:
    """Return sentences as notes: a line per speaker, dated where a sitting begins."""
    kept = list(chosen)
    if not kept:
        return ""
    parts = [_label(None, kept[0]), kept[0].text]
    for before, one in pairwise(kept):
        if _label(before, one) == " ":
            parts[-1] = closed(parts[-1])
        parts += [_label(before, one), one.text]
    return "".join(parts)


def summarise(said: Sequence[Sentence], budget: int, price: Price = mildly_by_length) -> str:
    """Return the extractive summary of sentences, of at most ``budget`` tokens."""
    return render(choose(said, budget, price))
