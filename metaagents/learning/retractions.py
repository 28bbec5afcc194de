"""What takes a statement back, and so says that it never was true: which turn it puts right. Pure.

What a turn puts right is known from its sources: the turn that says so comes first, and behind it
the turn that was wrong. Of what was only heard in connection, the former turn comes first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TypeAlias

from tiers.learning import spelled
from tiers.records import Fact, Turn

from .patterns import Stated
from .regexes import any_case

Sourced: TypeAlias = tuple[Stated, tuple[str, ...]]
"""A statement and the ids of the turns that it rests on."""

_WAS_WRONG = any_case(
    r"(?P<wrong>[\w'\u2019-]+(?: [\w'\u2019-]+){0,3}) (?:was|is) "
    r"(?:just |only |simply )?(?:an? |my )?(?:typo|mistake|slip|error|wrong|incorrect|not right)\b"
)
"""That something was named by mistake: ``Bremen was a typo``."""


def with_corrected(
    said: Sequence[Stated],
    turn: Turn,
    before: Sequence[Turn],
    state: Callable[[str, Turn], list[Stated]],
) -> Iterator[Sourced]:
    """Yield what a turn states, each with its turn, and with the one that it puts right, if any.

    It does where it says so (``Correction: I live in Bergen``, ``Bremen was a typo``), and where it
    denies a value and names the right one beside it (``I don't live in Bremen, I live in Bergen``):
    that is the last turn before it that stated the wrong value. A denial alone puts nothing right:
    it tells nothing of whether it was once so.

    Args:
        said: What the turn states by itself.
        turn: Which.
        before: What the same speaker said before it, oldest first.
        state: Reads what words state.
    """
    exchanged = list(_exchanged(said))
    mistaken = [spelled(found["wrong"]) for found in _WAS_WRONG.finditer(turn.input)]
    for one in said:
        gone = next((gone for kept, gone in exchanged if one in {kept, gone}), None)
        former: Turn | None = None
        if gone is not None:
            former = _last(before, state, partial(_is_denied, gone))
        elif one.predicate and (one.corrects or mistaken):
            former = _last(before, state, partial(_is_put_right, one, mistaken))
        if former is None:
            yield one, (turn.id,)
        elif one is not gone:  # The right value says no less than that the wrong one is not so.
            yield one, (turn.id, former.id)


def _exchanged(said: Sequence[Stated]) -> Iterator[tuple[Stated, Stated]]:
    """Yield each statement with the denial beside it of another value of the same."""
    for kept in said:
        for gone in said:
            is_same = gone.not_of is not None and gone.not_of == kept.predicate
            if is_same and gone.subject == kept.subject and gone.object != kept.object:
                yield kept, gone


def _last(
    before: Sequence[Turn],
    state: Callable[[str, Turn], list[Stated]],
    is_it: Callable[[Stated], bool],
) -> Turn | None:
    """Return the last turn that states something of a sort."""
    for former in reversed(before):
        if any(map(is_it, state(former.input, former))):
            return former
    return None


def _is_denied(denial: Stated, one: Stated) -> bool:
    """Whether a statement is what a denial says is not so."""
    is_it = _attribute_of(one) == (denial.subject, denial.not_of)
    return is_it and spelled(one.object or "") == spelled(denial.object or "")


def _is_put_right(new: Stated, mistaken: Sequence[str], one: Stated) -> bool:
    """Whether a statement is of the same attribute as a new one that puts another value right.

    One that says of itself that it does so, or whose message calls that value a mistake.
    """
    value, is_same = spelled(one.object or ""), _attribute_of(one) == _attribute_of(new)
    is_wrong = new.corrects or any(wrong.endswith(value) for wrong in mistaken)
    return is_same and bool(value) and is_wrong and value != spelled(new.object or "")


def _attribute_of(one: Stated) -> tuple[str | None, str | None]:
    return one.subject, one.predicate


def puts_right(older: Fact, newer: Fact) -> bool:
    """Whether a fact rests on a turn that put right what the older one was learnt from."""
    if newer.said_at is None or not newer.source_ids:
        return False
    by, *wrong = newer.source_ids
    return by not in older.source_ids and not set(wrong).isdisjoint(older.source_ids)
