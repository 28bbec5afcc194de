"""How a question about beliefs of the past is answered: by the narrowest of what it names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...records import BeliefQuery, HistoricBelief, Scope
from ..conditions import Among, Condition, Holds, Is, Within
from ..port import RECORDS_MAX, Find, Reach, Steps, asked, every
from .belief_projection import BELIEFS, audited
from .belief_spans import spans_among, spans_at

PROBES = (16, 256)
"""Up to so many beliefs each way is tried, in this order, to find the one with the fewest."""


@dataclass(frozen=True)
class _Way:
    """One way to look beliefs up, each part of it in the order of commitment.

    Attributes:
        by: An index or list.
        check: What holds of all beliefs that it has.
        parts: The conditions by which it is entered, each once.
    """

    by: str
    check: tuple[Condition, ...] = ()
    parts: tuple[tuple[Condition, ...], ...] = ()

    @property
    def entries(self) -> tuple[tuple[Condition, ...], ...]:
        """What it is entered by."""
        return self.parts or (self.check,)


_EVERYTHING = _Way("committed")


def answered(scope: Scope, query: BeliefQuery) -> Steps[list[HistoricBelief]]:
    """Return what a question finds, in order of commitment.

    What is common among all beliefs may be rare among those that are active, or an agent's: a way
    that is chosen without looking may read the whole past to find nothing. Where each has many,
    it is the moment, or else the first.
    """
    question = _Question(scope, query)
    narrow = yield from question.narrow()
    if query.active_at is not None:
        if narrow is None:
            return (yield from question.held_at(query.active_at))
        return (yield from question.held_among(narrow, query.active_at))
    first = question.ways[0] if question.ways else _EVERYTHING
    found = yield from every(*question.finds(narrow or first, query.limit))
    return _page(found, query)


class _Question:
    def __init__(self, scope: Scope, query: BeliefQuery) -> None:
        self.ways = _ways(query)
        self._scope = scope
        self._query = query
        since = max(query.after + 1, query.since_seq or 0)
        self._range = Within("committed_seq", since, query.until_seq)

    def finds(self, way: _Way, limit: int) -> list[Find[HistoricBelief]]:
        """Ask by one way, the others checked, for so many by each of its entries."""
        checks = [check for other in self.ways if other is not way for check in other.check]
        return [
            self._find(way.by, (*entry, *checks), limit, reach=audited(self._scope))
            for entry in way.entries
        ]

    def narrow(self) -> Steps[_Way | None]:
        """Return the first way that has few beliefs of the page and behind it, if any has."""
        is_only = len(self.ways) == 1 and self._query.active_at is None
        for most in () if is_only else PROBES:
            for way in self.ways:
                last = [self._find(way.by, one, 1, skip=most - 1) for one in way.entries]
                if not any((yield from asked(*last))):
                    return way
        return None

    def held_among(self, way: _Way, seq: int) -> Steps[list[HistoricBelief]]:
        """Return those of a few that were active right after an event."""
        found = yield from every(*self.finds(way, RECORDS_MAX))
        ids = [belief.id for belief in found]
        spans = yield from every(spans_among(ids, self._scope, seq))
        held = {span.belief_id for span in spans}
        return _page([belief for belief in found if belief.id in held], self._query)

    def held_at(self, seq: int) -> Steps[list[HistoricBelief]]:
        """Return those that were active right after an event, and are otherwise as asked for."""
        spans = yield from spans_at(self._scope, seq)
        ids = Among("id", tuple({span.belief_id: None for span in spans}))
        found = yield from every(*self.finds(_Way("id", (ids,)), self._query.limit))
        return _page(found, self._query)

    def _find(
        self,
        by: str,
        where: Sequence[Condition],
        limit: int,
        *,
        skip: int = 0,
        reach: Reach = "own",
    ) -> Find[HistoricBelief]:
        return Find(
            BELIEFS,
            self._scope,
            by=by,
            where=(*where, self._range),
            order=("committed_seq",),
            limit=limit,
            skip=skip,
            reach=reach,
            sorts=by == "id",
        )


def _ways(query: BeliefQuery) -> list[_Way]:
    """Return the ways that a question names; the first ones are likely to be narrower."""
    ways = []
    if query.ids:
        ways.append(_Way("id", (Among("id", tuple(dict.fromkeys(query.ids))),)))
    if query.key is not None:
        subject, attribute = query.key
        ways.append(_Way("key", (Is("subject", subject), Is("attribute", attribute))))
    if query.topic is not None:
        ways.append(_Way("filed", (Holds("filed", (query.topic,)),)))
    named: Mapping[str, tuple[str, str | None]] = {
        "subject": ("subject", query.subject),
        "user": ("user_id", query.user_id),
        "agent": ("agent_id", query.agent_id),
    }
    ways += [
        _Way(by, (Is(name, value),)) for by, (name, value) in named.items() if value is not None
    ]
    if query.statuses:
        parts = tuple((Is("status", status),) for status in dict.fromkeys(query.statuses))
        ways.append(_Way("status", (Among("status", query.statuses),), parts))
    return ways


def _page(found: list[HistoricBelief], query: BeliefQuery) -> list[HistoricBelief]:
    return sorted(found, key=lambda belief: belief.committed_seq)[: query.limit]
