"""What a text says of whom: its claims, with subject, attribute, value, sense and time. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from .clauses import Clause, clauses
from .reading import read
from .statement import Claim, Said, taken_apart, unread


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
        if said is not None:
            found += read(said)
        before = said or unread(clause, speaker) or before
    return found
