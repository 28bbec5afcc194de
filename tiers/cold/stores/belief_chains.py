"""Which beliefs took the place of which: chains, walked in both directions.

The log says of each belief what it gave way to last, also after it came back or was taken back. So
what stands, whoever goes and comes back in whichever order, follows from the chain and from who is
gone. Beliefs are returned with that as ``superseded_by``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable

from ...history.rolling_back import is_gone
from ...records import HistoricBelief, Scope
from ..conditions import Among, Holds, Is
from ..port import Steps, every
from .belief_log import CONTENTS, EVENTS, entries_at
from .belief_projection import BELIEFS
from .questions import own, whole

CHAIN_MAX = 1_000
"""So far a chain is walked."""

_GAVE_WAY = Is("kind", "superseded")


def given_way(
    scope: Scope, ids: Iterable[str], through: Container[str] = ()
) -> Steps[list[HistoricBelief]]:
    """Return what some beliefs had taken the place of, nearest first, then in order of commitment.

    Where that is gone itself, what stood before it.

    Args:
        scope: Of the graph.
        ids: Of the beliefs.
        through: Beliefs that count as gone.
    """
    ahead = tuple(ids)
    met = set(ahead)
    found: list[HistoricBelief] = []
    for _ in range(CHAIN_MAX):
        if not ahead:
            break
        said = yield from every(whole(CONTENTS, scope, "names", Holds("names", ahead), _GAVE_WAY))
        names = {one.belief_id for one in said} - met
        replaced = yield from _with_links(scope, names)
        new = [one for one in replaced if one.superseded_by in ahead]
        met |= {one.id for one in new}
        ahead = tuple(one.id for one in new if one.id in through or is_gone(one))
        found += [one for one in new if one.id not in ahead]
    return found


def with_successors(scope: Scope, ids: Iterable[str]) -> Steps[dict[str, HistoricBelief]]:
    """Return beliefs and whatever took their places, one after the other, by id."""
    known: dict[str, HistoricBelief] = {}
    names = set(ids)
    for _ in range(CHAIN_MAX):
        if not names:
            break
        new = yield from _with_links(scope, names)
        known |= {one.id: one for one in new}
        names = {one.superseded_by for one in new if one.superseded_by} - known.keys()
    return known


def _with_links(scope: Scope, names: Iterable[str]) -> Steps[list[HistoricBelief]]:
    ids = sorted(names)
    about = Among("belief_id", tuple(ids))
    moves = yield from every(whole(EVENTS, scope, "belief", about, _GAVE_WAY))
    last = {one.belief_id: one.seq for one in sorted(moves, key=lambda each: each.seq)}
    entries = yield from entries_at(scope, list(last.values()))
    links = {one.event.belief_id: one.said["superseded_by"] for one in entries if one.said}
    found = yield from every(own(BELIEFS, scope, ids))
    return [
        one.model_copy(update={"superseded_by": links.get(one.id)})
        for one in sorted(found, key=lambda each: each.committed_seq)
    ]
