"""What one pass may store: what the patterns find, and what of a model's answer holds. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from ..guard.policy import GuardPolicy
from .candidates import (
    Findings,
    Limits,
    Window,
    by_patterns,
    in_order_of_saying,
    is_found,
    keyless_outcomes,
)
from .checking import checked
from .prompts import Extraction


def findings(
    window: Window, answer: Extraction | None, limits: Limits, guard: GuardPolicy
) -> Findings:
    """Return what the patterns find, and what of a model's answer holds and is not the same.

    What they find stands in words that the guard has let pass; a model's wording has to pass too.
    The patterns have their say in any case: a model may add to them, and silence nobody.
    """
    found = Findings() if answer is None else checked(window, answer, limits)
    _leave_out(found, guard)
    plain = by_patterns(window)
    facts = [*plain, *(one for one in found.facts if not is_found(one, plain))]
    found.facts = in_order_of_saying(facts, window)
    found.outcomes[:0] = keyless_outcomes(window)
    return found


def _leave_out(found: Findings, guard: GuardPolicy) -> None:
    """Leave out what a model has worded so that the guard would not let it pass."""
    facts = [one for one in found.facts if _passes([one.said.text], guard)]
    playbooks = [one for one in found.playbooks if _passes([one.trigger, *one.steps], guard)]
    refinements = [one for one in found.refinements if _passes(one.steps, guard)]
    before = len(found.facts) + len(found.playbooks) + len(found.refinements)
    left = before - len(facts) - len(playbooks) - len(refinements)
    found.facts, found.playbooks, found.refinements = facts, playbooks, refinements
    if left:
        found.drop("kept out by the guard", count=left)


def _passes(texts: Sequence[str], guard: GuardPolicy) -> bool:
    return all(guard.judge(one, "user").action == "allow" for one in texts)
