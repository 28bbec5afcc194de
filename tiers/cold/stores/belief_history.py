"""What a belief log says about the past. Every question is a look into an index.

One about beliefs is answered by the narrowest of what it names.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ...errors import UsageError
from ...history.claim_words import LOOKED_THROUGH_MAX, NEWEST_MAX, claim_words
from ...records import (
    BeliefEvent,
    BeliefQuery,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    ProjectedBelief,
    Scope,
    TrustRow,
)
from ..conditions import Among, Condition, Holds, Is, Within
from ..ownership import check_limit, check_whole_graph
from ..port import RECORDS_MAX, Find, Reach, Steps, asked, every
from .belief_log import CONTENTS, EVENTS, entries_after, entries_at, last_by, last_of
from .belief_past import rolled_back_among
from .belief_projection import BELIEFS, TRUSTS, commitment_of, filed_words
from .belief_spans import spans_among, spans_at, with_spans
from .questions import among, audited
from .rows import all_bare
from .store_base import OverEngine, reading


class BeliefHistory(OverEngine):
    """What the log of a graph says about the past.

    The scope of a whole graph (no agent) sees every belief of it, private ones included: an
    auditor's answer that leaves some out would be wrong. An agent's scope sees what the agent may.
    The log itself (``events``, ``logged``, ``naming``, ``projected``, ``trusts``) is read with the
    scope of a graph. Content that was destroyed reads ``[redacted]``.

    No cost grows with the length of the log, only with what is returned.
    """

    async def events(
        self, scope: Scope, after: int = 0, limit: int = 1000, *, turn_id: str | None = None
    ) -> tuple[BeliefEvent, ...]:
        """Return the log of the graph after a ``seq``, in order.

        With ``turn_id``, only the events that were made in that turn.
        """
        check_limit(limit)
        behind = Within("seq", since=after + 1)
        find = Find(EVENTS, scope, by="seq", where=(behind,), order=("seq",), limit=limit)
        if turn_id is not None:
            where = (Is("turn_id", turn_id), behind)
            find = Find(EVENTS, scope, by="turn_id", where=where, order=("seq",), limit=limit)
        return await self._all("events", find)

    @reading
    def logged(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> Steps[tuple[LoggedBelief, ...]]:
        """Return the same with contents and salts.

        Raises:
            UsageError: The scope is an agent's, who may not read what all others said.
        """
        check_whole_graph(scope, limit)
        return tuple((yield from entries_after(scope, after, limit)))

    @reading
    def naming(
        self, scope: Scope, belief_id: str, after: int = 0, limit: int = 1000
    ) -> Steps[tuple[LoggedBelief, ...]]:
        """Return the events that are about a belief, or whose content names it, in order.

        Content that was destroyed names nobody any more.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope, limit)
        behind, about = Within("seq", since=after + 1), Is("belief_id", belief_id)
        # What was destroyed names nobody any more: only contents say whom they name.
        named = Holds("names", (belief_id,))
        found = yield (
            Find(EVENTS, scope, "belief", (about, behind), ("seq",), limit),
            Find(CONTENTS, scope, "names", (named, behind), ("seq",), limit),
        )
        seqs = sorted({one.seq for answer in found for one in answer})
        return tuple((yield from entries_at(scope, seqs[:limit])))

    async def seq_at(
        self, scope: Scope, *, time: datetime | None = None, turn: int | None = None
    ) -> int:
        """Return the last event recorded at or before a time, or during or before a turn.

        The last event of all without either; 0 when there is none.
        """
        finds = []
        if time is not None:
            finds.append(last_by(scope, time))
        if turn is not None:
            where = (Within("turn", until=turn + 1),)
            order = ("-turn", "-seq")
            finds.append(Find(EVENTS, scope, by="turn", where=where, order=order, limit=1))
        if not finds:
            finds.append(last_of(scope))
        answers = await self._store.read("seq_at", lambda: asked(*finds))
        return min(found[0].seq if found else 0 for found in answers)

    @reading
    def as_of(
        self, scope: Scope, seq: int, *, rolled_back: bool = True
    ) -> Steps[tuple[Commitment, ...]]:
        """Return the beliefs that were active right after an event, in order of commitment.

        ``pinned`` is as it was then. One that was redacted since says ``[redacted]``, has no key,
        no value, and ``redacted_at``.

        Args:
            scope: Who asks.
            seq: The event.
            rolled_back: Whether those are told that a roll-back has taken back since.

        Raises:
            UsageError: ``seq`` is below 0.
        """
        if seq < 0:
            raise UsageError("seq", seq, "0 or above")
        pinned = {span.belief_id: span.pinned for span in (yield from spans_at(scope, seq))}
        found = yield from every(among(BELIEFS, scope, pinned, reach=audited(scope)))
        found.sort(key=lambda belief: belief.committed_seq)
        gone = set() if rolled_back else (yield from rolled_back_among(scope, found))
        return tuple(
            commitment_of(one).model_copy(update={"pinned": pinned[one.id]})
            for one in found
            if one.id not in gone
        )

    @reading
    def query(self, scope: Scope, query: BeliefQuery) -> Steps[tuple[HistoricBelief, ...]]:
        """Return beliefs in order of commitment, active or not, at most ``query.limit``."""
        return tuple((yield from answered(scope, query)))

    @reading
    def projected(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> Steps[tuple[ProjectedBelief, ...]]:
        """Return the projection as it is stored after a ``committed_seq``, in order.

        Raises:
            UsageError: The scope is an agent's.
        """
        check_whole_graph(scope, limit)
        where, order = (Within("committed_seq", since=after + 1),), ("committed_seq",)
        find = Find(BELIEFS, scope, "committed", where, order, limit, reach="own")
        return tuple((yield from with_spans(scope, (yield from every(find)))))

    async def trusts(self, scope: Scope) -> tuple[TrustRow, ...]:
        """Return the trust in every agent of the graph of which the log says something."""
        find = Find(TRUSTS, scope, by="agent", order=("agent_id", "topic"))
        return all_bare(TrustRow, await self._all("trusts", find))


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


class RivalSearch(OverEngine):
    """Finding what a claim without a key may contradict."""

    async def worded_like(
        self, scope: Scope, belief: Commitment, limit: int
    ) -> tuple[Commitment, ...]:
        """Return active beliefs that are filed like one and share words with its claim.

        Filed alike: of the same topic, privacy and user, and of the same topics when it names no
        topic. Those that share the most words come first, then the newest; ``belief`` itself is
        among them if it is active. The words are those of ``tiers.history.claim_words``.

        The cost is bounded, however many there are: for each word of the claim, at most 24, only
        the newest 64 that the scope sees are looked at, and these are among the newest 1,000. An
        older belief whose every word has been said that often since is not found.
        """
        check_limit(limit)
        words = claim_words(belief.claim)
        filed = filed_words(belief, words)
        found = await self._store.read("worded_like", lambda: _newest(scope, filed))

        def place(one: HistoricBelief) -> tuple[int, int]:
            return len(set(words) & set(claim_words(one.claim))), one.committed_seq

        unique = {one.id: one for one in found}
        best = sorted(unique.values(), key=place, reverse=True)
        return tuple(map(commitment_of, best[:limit]))


def _newest(scope: Scope, filed: Sequence[str]) -> Steps[list[HistoricBelief]]:
    """Return of each word the newest that the scope sees, as far as they are looked through."""
    order = ("-committed_seq",)
    finds = [Find(BELIEFS, scope, "words", (Holds("words", (word,)),), order) for word in filed]
    last = [find._replace(limit=1, skip=LOOKED_THROUGH_MAX - 1, reach="own") for find in finds]
    ends = (yield from asked(*last)) if last else ()
    newest = []
    for find, end in zip(finds, ends, strict=True):
        floor = Within("committed_seq", since=end[0].committed_seq if end else 0)
        where = (*find.where, floor)
        newest.append(find._replace(where=where, limit=NEWEST_MAX, reach=audited(scope)))
    return (yield from every(*newest))
