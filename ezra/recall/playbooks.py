"""Rules among the candidates: how they did, and which steps they have, or had.

A rule is refined under its own id, and the index is a moment behind.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from tiers.records import Rule, Scope
from tiers.together import together

from ..ranking.pool import Candidate
from ..recaller import seen_from_below
from .question import Search


async def remember_outcomes(search: Search) -> None:
    """Tell rules how they did, and their steps, where only the index found them or of the past.

    How they had done by a moment in the past is not known.
    """
    found: dict[str, list[Candidate]] = {}
    for one in search.pool:
        if one.kind == "rule" and one.hit is not None:
            found.setdefault(one.graph_id, []).append(one)
    if not found:
        return
    scope = search.scope
    asked = [(scope, search.request.as_of)]
    asked += [(seen_from_below(scope, one), one.as_of) for one in scope.carrying("rule")]
    await together(
        _tell(search, scope, moment, found[scope.graph_id])
        for scope, moment in asked
        if scope.graph_id in found
    )


async def _tell(
    search: Search, scope: Scope, moment: datetime | None, rules: Sequence[Candidate]
) -> None:
    """Tell rules of one graph, read as of a moment, what the index does not know of them."""
    found = [
        (one, one.hit)
        for one in rules
        if one.hit is not None and (moment is not None or one.hit.successes is None)
    ]
    if not found:
        return
    none: tuple[Rule, ...] = ()
    call = search.runtime.playbooks.rules(scope, [one.id for one, _ in found])
    known = {one.id: one for one in await search.state.answer("cold", "outcomes", call, none)}
    for candidate, hit in found:
        rule = known.get(candidate.id)
        told = {"version": None} if rule is None else _told(rule, moment)
        if moment is not None:
            told |= {"successes": None, "failures": None}
        search.pool.tell(candidate, hit.model_copy(update=told))


def _told(rule: Rule, moment: datetime | None) -> dict[str, object]:
    then = rule if moment is None else rule.at(moment)
    names = ("text", "successes", "failures", "version")
    return {name: getattr(then, name) for name in names}
