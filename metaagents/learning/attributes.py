"""Whether two statements tell the same attribute of the same subject. Pure.

A model that compares facts may be told to say that everything supersedes everything. What it says
counts only where both statements can be seen to tell the same thing of the same one: where somebody
lives, what something costs, that one of them is so no more.
"""

from __future__ import annotations

from dataclasses import dataclass

from tiers.lexical import words

from ..claims.clause import AGENT, USER, Clause, Voice
from ..claims.forms import VERBS, alike, base
from ..claims.reading import Context, clauses
from ..claims.tokens import Sentence

_ONE_AT_A_TIME = tuple(
    frozenset(map(base, line.split()))
    for line in (
        "live reside move relocate settle stay",
        "work join employ hire",
        "cost price charge",
        "weigh",
        "last",
        "start begin",
        "end finish",
        "earn",
        "hold",
        "lead",
    )
)
"""Verbs of which one thing is true at a time; those of one line tell of the same."""

_CHANGED = frozenset(
    "now again instead anymore no_longer moved changed switched renamed postponed "
    "cancelled canceled off died dead divorced resigned outgrown actually wrong correction sold "
    "taken handed".split()
)
"""Words that say that something is otherwise than before."""
_BESIDE = frozenset("another also too besides additionally both".split())
"""Words that say that something is so as well."""

_KEPT_SHARE_MIN = 2 / 3
"""Of the words of the shorter of two statements of which one ends or denies the other."""


@dataclass(frozen=True)
class _Told:
    clause: Clause
    verb: frozenset[str]
    rest: frozenset[str]


def is_same_attribute(older: str, newer: str) -> bool:
    """Whether a newer statement tells the same attribute of the same subject as an older one."""
    one, two = _told(older), _told(newer)
    if one is None or two is None or not _is_same_subject(one.clause, two.clause):
        return False
    said = frozenset(words(newer))
    if said & _BESIDE or _is_other_thing(one.clause, two.clause):
        return False
    if said & _CHANGED and _shares_most(one, two):
        return True
    is_as_sure = not (one.clause.modes ^ two.clause.modes) - {"ended"}
    return is_as_sure and _is_otherwise(one, two)


def _is_otherwise(one: _Told, two: _Told) -> bool:
    """Whether the newer of two statements tells otherwise what only one thing is true of."""
    if one.clause.denied != two.clause.denied or "ended" in one.clause.modes ^ two.clause.modes:
        return _shares_most(one, two)
    if one.clause.copular and two.clause.copular:
        return _is_same_noun(one.clause, two.clause)
    if (
        one.verb
        and two.verb
        and any(one.verb & group and two.verb & group for group in _ONE_AT_A_TIME)
    ):
        return not one.rest <= two.rest
    return _differs_in_number(one, two)


def _told(text: str) -> _Told | None:
    read = clauses(Sentence.of(text), Voice("text"), Context(), frozenset(_capitals(text)))
    if not read:
        return None
    clause = read[0]
    verb = frozenset(word for word in clause.words if word in VERBS and word not in clause.subjects)
    rest = frozenset(clause.words) - verb - {base(one) for one in clause.subjects | clause.owners}
    return _Told(clause, verb, rest)


def _capitals(text: str) -> set[str]:
    return {word.lower() for word in text.replace("'s", "").split() if word[:1].isupper()}


def _is_other_thing(one: Clause, two: Clause) -> bool:
    """Whether each names something of its own beside what it tells: two rooms, two offices."""
    ours, theirs = one.names - one.objects, two.names - two.objects
    return bool(ours - theirs and theirs - ours)


def _is_same_subject(one: Clause, two: Clause) -> bool:
    if not one.subjects & two.subjects:
        return False
    return not one.owners or not two.owners or bool(one.owners & two.owners)


def _is_same_noun(one: Clause, two: Clause) -> bool:
    """Whether an attribute is named: ``Ada's budget is 9``, not ``Ada is a nurse``."""
    nouns = (one.subjects & two.subjects) - one.names - two.names - {USER, AGENT}
    return (
        bool(nouns)
        and one.subjects == two.subjects
        and (one.objects != two.objects or one.numbers != two.numbers)
    )


def _shares_most(one: _Told, two: _Told) -> bool:
    words = [
        frozenset(other for word in reading.rest | reading.verb for other in alike(word))
        for reading in (one, two)
    ]
    least = min(len(one.rest), len(two.rest))
    shared = len((words[0] & two.rest) | (words[1] & one.rest))
    return least > 0 and shared >= _KEPT_SHARE_MIN * least


def _differs_in_number(one: _Told, two: _Told) -> bool:
    same = one.rest == two.rest and one.verb == two.verb
    return same and one.clause.numbers != two.clause.numbers and bool(one.clause.numbers)
