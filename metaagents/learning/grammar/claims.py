"""What a text says of whom: its claims, with subject, attribute, value, sense and time. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from tiers.lexical import words

from ..regexes import regex
from .clauses import Clause, clauses
from .consequences import restated
from .copula import SET
from .reading import read
from .statement import Claim, Said, of_speaker, taken_apart, unread
from .subjects import kind_of

_MOVES = regex(
    r"\b(?:heart|pulse|stock|share|market|oil|gas|exchange|error|crash|failure|success|frame|bounce"
    r"|churn|birth|unemployment|inflation|house|housing) "
)
"""What nobody sets: ``the heart rate``."""


_EXACT = regex(r"\b(?:at|in|on|with|to|into|through|by|for|from) (?:the )?[A-Z]|\d")
_NOW = regex(r"\b(?:now|again|since|these days|instead)\b")
_HELD = frozenset(
    "subscription membership box plan policy contract booking reservation insurance delivery "
    "account lease standing-order newsletter".split()
)
"""What somebody has until it is cancelled or closed."""


def claims_of(text: str, speaker: str, at: datetime | None = None) -> list[Claim]:
    """Return what a text claims, in order.

    Args:
        text: The words.
        speaker: Who says them: "I" is about them.
        at: When they were said; ``None`` leaves times such as "last month" unresolved.
    """
    return claims_in(clauses(text), speaker, at)


def claims_in(parts: Iterable[Clause], speaker: str, at: datetime | None = None) -> list[Claim]:
    """Return what the plain clauses of a text claim, as ``claims_of`` does."""
    found: list[Claim] = []
    before: Said | None = None
    for clause in parts:
        if before is not None and clause.sentence - before.clause.sentence > 1:
            before = None
        said = taken_apart(clause, speaker, at, before)
        made = read(said) if said is not None else []
        if not any(one.is_news for one in made):
            made = _of_change(clause, said, made, speaker, at)
        if not any(one.is_news for one in made):
            made = [replace(one, is_news=_is_new_way(one)) for one in made]
        found += made
        before = said or unread(clause, speaker) or before
        if said is None and before is not None and any(map(kind_of, words(clause.text))):
            before = unread(clause, speaker)  # "I met my aunt and my sister": of which, who knows
    return found


def _of_change(
    clause: Clause, said: Said | None, made: list[Claim], speaker: str, at: datetime | None
) -> list[Claim]:
    """Return the claims of a clause that tells of a change as news; others as they are.

    As it says it, where that can be read: what else it says is found when facts are compared. What
    a thing without a name has come to passes, unless somebody sets it.
    """
    retold = restated(clause.text).partition(". ")[0]  # what else that says, when it is compared
    again = taken_apart(replace(clause, text=retold), speaker, at) if retold else None
    implied = read(again) if again is not None else []
    # What is called off counts where it was for a time: meetings, and no builds.
    is_over = any(
        one.sense == "over" and (one.attribute != "cancelled" or _is_held(one)) for one in implied
    )
    if not (is_over or any(one.is_news for one in implied)):
        return made
    if said is None:
        made = implied
    elif _is_of_a_thing(said) and implied[0].subject != speaker:
        return made
    else:
        made = made or [said.claim(said.verbal.lemma, of_speaker(said.verbal.rest, speaker))]
    return [replace(one, is_news=True) for one in made[:1]] + made[1:]


def _is_held(claim: Claim) -> bool:
    return not _HELD.isdisjoint(words(claim.subject)[-1:])


def _is_new_way(claim: Claim) -> bool:
    """Whether something is otherwise than it was, by name or number: ``goes to Monzo now``."""
    is_told = (
        _NOW.search(claim.text) and claim.is_change and claim.sense == "is" and not claim.is_ahead
    )
    is_exact = _EXACT.search(claim.value) is not None
    return bool(is_told) and is_exact and claim.attribute not in {"is", "be"}


def _is_of_a_thing(said: Said) -> bool:
    """Whether a clause tells what a thing without a name has come to, and nobody set it."""
    return said.subject.sort == "thing" and said.subject.text.islower() and not _is_set(said)


def _is_set(said: Said) -> bool:
    text = said.subject.text
    return SET.search(text) is not None and _MOVES.search(text) is None
