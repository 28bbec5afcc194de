"""Signed heads of belief logs, and what a verification reads besides the log.

That is the chained feed, marks, and what is kept twice. A head that is kept is never changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Any, NamedTuple

from ...evidence import ChainedAudit, EvidenceMarks
from ...history.heads import follows
from ...moments import microseconds
from ...owned import check_owner
from ...records import HistoricBelief, Record, Scope, SignedHead
from .. import port
from ..conditions import Among, Condition, Value, Within
from ..ownership import check_limit, check_whole_graph
from ..port import Find, Steps, every, one
from .belief_log import CONTENTS, EVENTS, Content
from .belief_projection import BELIEFS, TRUSTS
from .belief_spans import SPANS
from .log import AUDIT, MARKS, raise_marks
from .questions import among
from .rows import put
from .store_base import OverEngine, changing, reading

_ORDER = ("size", "signed_at", "public_key")


HEADS: port.Collection[SignedHead] = port.Collection(
    "belief_heads",
    SignedHead,
    fields={
        "size": lambda head: head.size,
        "signed_at": lambda head: microseconds(head.signed_at),
        "public_key": lambda head: head.public_key,
    },
    indexes={"size": port.Index(_ORDER)},
    key=lambda head: f"{head.size} {head.public_key}",
)


class HeadStore(OverEngine):
    """Signed heads of belief logs."""

    @changing
    def put_head(self, scope: Scope, head: SignedHead) -> Steps[bool]:
        """Keep a head; ``False`` when there is one of its size and key already.

        So it is when the last one is not the one that it follows.

        Raises:
            UsageError: It is of another tenant or graph.
        """
        check_owner(scope, head, "a head", field="head")
        known, last = yield among(HEADS, scope, [HEADS.key(head)]), _last(scope)
        if known or not follows(head, last[0] if last else None):
            return False
        yield from insert_head(scope, head)
        return True

    async def heads(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[SignedHead, ...]:
        """Return the heads of more than ``after`` events, by size, then by time of signing."""
        check_limit(limit)
        where = (Within("size", since=after + 1),)
        find = Find(HEADS, scope, by="size", where=where, order=_ORDER, limit=limit)
        return await self._all("heads", find)

    async def last_head(self, scope: Scope) -> SignedHead | None:
        """Return the head of the most events, of these the one signed last."""
        return await self._store.read("last_head", lambda: one(_last(scope)))


def insert_head(scope: Scope, head: SignedHead) -> Steps[None]:
    """Store a head as it is, and how far the heads have come."""
    yield from put(HEADS, scope, head)
    yield from raise_marks(scope, EvidenceMarks(heads=head.number))


def _last(scope: Scope) -> Find[SignedHead]:
    order = tuple(f"-{name}" for name in _ORDER)
    return Find(HEADS, scope, by="size", order=order, limit=1)


PAGE = 1_000


class Evidence(OverEngine):
    """What a verification reads besides the log, its projection and its heads.

    Every method is asked with the scope of a whole graph.
    """

    async def audited(
        self, scope: Scope, after: int = 0, limit: int = 1000
    ) -> tuple[ChainedAudit, ...]:
        """Return the audit feed of the graph after a ``seq``, in order, as it is chained."""
        check_whole_graph(scope, limit)
        where = (Within("seq", since=after + 1),)
        find = Find(AUDIT, scope, by="seq", where=where, order=("seq",), limit=limit)
        return await self._all("audited", find)

    @reading
    def last_audited(self, scope: Scope) -> Steps[ChainedAudit | None]:
        """Return the last event of the feed."""
        return one(Find(AUDIT, scope, by="seq", order=("-seq",), limit=1))

    async def marks(self, scope: Scope) -> EvidenceMarks:
        """Return how far everything has come."""
        found = await self._store.read("marks", lambda: one(Find(MARKS, scope)))
        return EvidenceMarks() if found is None else found.marks

    async def misfiled(self, scope: Scope) -> tuple[str, ...]:
        """Return in words what look-ups go by that is not as it was written.

        Of events, their contents, beliefs, spans, trust, heads and the audit feed: what is filed
        as something else than the record says, by a field, its topics, a value of a list or the
        place in it; contents of another event, spans of no belief, and records out of reach.
        """
        check_whole_graph(scope)
        return tuple(await self._store.read("misfiled", lambda: _misfiled(scope)))


class _Log(NamedTuple):
    """A collection that is gone through in an order.

    Attributes:
        by: The index.
        order: In which no two records are at one place.
        where: What has to be asked of the index, and holds of all.
    """

    collection: port.Collection[Any]
    by: str
    order: tuple[str, ...]
    where: tuple[Condition, ...] = ()


_FROM_THE_FIRST = (Within("seq", since=0),)
_EVENTS = _Log(EVENTS, "seq", ("seq",), _FROM_THE_FIRST)
_CONTENTS = _Log(CONTENTS, "seq", ("seq",), _FROM_THE_FIRST)
_BELIEFS = _Log(BELIEFS, "committed", ("committed_seq",), where=(Within("committed_seq", since=0),))
_OTHERS = (
    _Log(AUDIT, "seq", ("seq",), _FROM_THE_FIRST),
    _Log(HEADS, "size", _ORDER),
    _Log(TRUSTS, "agent", ("agent_id", "topic")),
)


def _misfiled(scope: Scope) -> Steps[list[str]]:
    problems: list[str] = []
    spans = 0

    def contents_checked(page: Sequence[Content]) -> Steps[None]:
        problems.extend((yield from _of_no_event(scope, page)))

    def beliefs_checked(page: Sequence[HistoricBelief]) -> Steps[None]:
        nonlocal spans
        found = Find(SPANS, scope, "belief", (Among("belief_id", tuple(one.id for one in page)),))
        held = yield from every(found)
        spans += len(held)
        problems.extend((yield from _filed_otherwise(scope, SPANS, held)))

    problems += yield from _gone_through(scope, _EVENTS)
    problems += yield from _gone_through(scope, _CONTENTS, contents_checked)
    problems += yield from _gone_through(scope, _BELIEFS, beliefs_checked)
    if (yield from port.count(Find(SPANS, scope))) != spans:
        problems.append("spans are stored that are of no belief")
    for log in _OTHERS:
        problems += yield from _gone_through(scope, log)
    return problems


def _nothing_more(_: Sequence[Record]) -> Steps[None]:
    yield from ()


def _gone_through(
    scope: Scope, log: _Log, check: Callable[[Sequence[Any]], Steps[None]] = _nothing_more
) -> Steps[list[str]]:
    """Go through what a graph has, page by page; return what is wrong."""
    collection, problems = log.collection, list[str]()
    last: tuple[Any, ...] | None = None
    seen = 0
    find = Find(collection, scope, log.by, log.where, log.order, PAGE, reach="own")
    while True:
        page = yield from every(find if last is None else find.behind(last))
        places = [find.place(record) for record in page]
        if None in (place for one in places for place in one) or not _rise(last, places):
            order = ", ".join(log.order)
            return [*problems, f"{collection.name} are not stored in the order of {order}"]
        if page:
            last = places[-1]
            problems += yield from _filed_otherwise(scope, collection, page)
            yield from check(page)
        seen += len(page)
        if len(page) < PAGE:
            break
    if (yield from port.count(Find(collection, scope, reach="own"))) != seen:
        problems.append(f"{collection.name} are stored that no look-up in order reaches")
    return problems


def _rise(last: tuple[Any, ...] | None, places: Sequence[tuple[Any, ...]]) -> bool:
    """Whether each place lies behind the one before."""
    all_of_them = places if last is None else [last, *places]
    return all(one < other for one, other in pairwise(all_of_them))


def _filed_otherwise(
    scope: Scope, collection: port.Collection[Any], found: Sequence[Record]
) -> Steps[list[str]]:
    """Return which records are looked up by something else than they say."""
    if not found:
        return []
    filed = _filed_of(collection, found[0])
    ids = Among("id", tuple(map(collection.key, found)))
    expected = Counter(tuple(_filed_of(collection, one).values()) for one in found)
    stored = Counter(
        (yield from port.counts(Find(collection, scope, "id", (ids,), reach="own"), *filed))
    )
    at = list(filed).index("id")
    differ = {str(row[at]) for row in (expected - stored) + (stored - expected)}
    for name in collection.lists:
        differ |= yield from _listed_otherwise(scope, collection, name, found)
    return [f"{collection.name}: {one} is filed as something else" for one in sorted(differ)]


def _filed_of(collection: port.Collection[Any], record: Record) -> dict[str, Value]:
    """Return what a record is to be looked up by, topics among it."""
    owners = port.OWNERS[collection.extent]
    values = {name: one for name, one in collection.values(record).items() if name not in owners}
    return (
        {**values, port.TOPICS: port.topics_text(getattr(record, port.TOPICS))}
        if collection.owned
        else values
    )


def _listed_otherwise(
    scope: Scope, collection: port.Collection[Any], name: str, found: Sequence[Record]
) -> Steps[set[str]]:
    """Return which records a list has otherwise than under each of their values."""
    order = collection.lists[name].order
    expected: Counter[tuple[Any, ...]] = Counter()
    for record in found:
        values = collection.values(record)
        place = (collection.key(record), *(values[field] for field in order))
        listed = collection.listed(record)[name].items()
        expected.update((value, times, *place) for value, times in listed)
    ids = Among("id", tuple(map(collection.key, found)))
    # One more than there should be tells as much as all of them.
    limit = len(found) + expected.total() + 1
    find = Find(collection, scope, "id", (ids,), limit=limit, reach="own")
    stored = Counter((yield from port.postings(find, "id", *order, every=name)))
    return {str(row[2]) for row in (expected - stored) + (stored - expected)}


def _of_no_event(scope: Scope, page: Sequence[Content]) -> Steps[list[str]]:
    """Return which contents are of no event, or of another one than they say."""
    where = (Among("seq", tuple(one.seq for one in page)),)
    events = yield from every(Find(EVENTS, scope, by="seq", where=where))
    known = {(event.id, event.seq, event.kind, event.belief_id) for event in events}
    return [
        f"the content of event {one.seq} is filed as another's"
        for one in page
        if (one.event_id, one.seq, one.kind, one.belief_id) not in known
    ]
