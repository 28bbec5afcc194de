"""What became of beliefs, by the log: which took whose place, and what differs since an event.

Chains are walked in both directions. The log says of each belief what it gave way to last, also
after it came back or was taken back. So what stands, whoever goes and comes back in whichever
order, follows from the chain and from who is gone. Beliefs are returned with that as
``superseded_by``.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from ...errors import UsageError
from ...history.fold import BEGINNING, ENDING, PINNING
from ...history.rolling_back import is_gone
from ...paging import parts
from ...records import BeliefEvent, Commitment, HistoricBelief, Scope
from ..conditions import Absent, Among, Holds, Is, Within
from ..port import Find, Steps, every
from .belief_log import CONTENTS, EVENTS, entries_at
from .belief_projection import BELIEFS, commitment_of
from .belief_spans import spans_among, with_spans
from .questions import own, whole

CHAIN_MAX = 1_000
"""So far a chain is walked."""

_GAVE_WAY = Is("kind", "superseded")


def given_way(
    scope: Scope, ids: Iterable[str], through: Container[str] = ()
) -> Steps[list[HistoricBelief]]:
    """Return what some beliefs had taken the place of, nearest first, then in order of commitment.

    Where that is gone itself, what stood before it. Each is pinned as it was when it gave way.

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
    projected = yield from with_spans(scope, found)
    return [
        one.belief.model_copy(update={"pinned": bool(one.spans) and one.spans[-1].pinned})
        for one in projected
    ]


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


CHANGED_MAX = 10_000
"""How many beliefs a rewind may change, and how many a branch may begin with."""

EVENTS_PER_PAGE = 5_000

_MOVING = (*sorted(BEGINNING), *ENDING)
_ALTERING = frozenset((*_MOVING, *PINNING))
"""Events that change when their belief is active, or pinned."""


@dataclass
class Difference:
    """How beliefs were right after an event, and how they are, of all that differ.

    Attributes:
        present: Those that are active, in order of commitment.
        past: Those that were, each pinned as it was.
        successors: Which belief had taken the place of each that was not active then, where that
            has changed; ``None`` for none.
    """

    present: list[Commitment] = field(default_factory=list)
    past: list[Commitment] = field(default_factory=list)
    successors: dict[str, str | None] = field(default_factory=dict)


class _Moved(NamedTuple):
    """A belief that differs.

    Attributes:
        belief: As it is.
        was_pinned: Then; ``None`` while it was not active.
        successor: What had taken its place then.
    """

    belief: HistoricBelief
    was_pinned: bool | None
    successor: str | None

    @property
    def is_pinned(self) -> bool | None:
        """Whether it is now; ``None`` while it is not active."""
        return self.belief.pinned if self.belief.status == "active" else None

    @property
    def has_another_successor(self) -> bool:
        """Whether something else had taken its place then."""
        return self.was_pinned is None and self.successor != self.belief.superseded_by

    @property
    def differs(self) -> bool:
        """Whether anything about it is to be as it was."""
        return self.is_pinned != self.was_pinned or self.has_another_successor


def changed_since(scope: Scope, to_seq: int) -> Steps[Difference]:
    """Return what differs from how it was right after an event.

    What was redacted since is left out, and what a roll-back has taken back.

    Raises:
        UsageError: More than ``CHANGED_MAX`` beliefs do.
    """
    met: set[str] = set()
    moved: list[_Moved] = []
    log = whole(EVENTS, scope, "seq", order=("seq",), limit=EVENTS_PER_PAGE)
    after, is_over = to_seq, False
    while not is_over:
        events = yield from every(log.behind((after,)))
        altered = (event.belief_id for event in events if event.kind in _ALTERING)
        new = [one for one in dict.fromkeys(altered) if one not in met]
        met.update(new)
        moved += yield from _changes_since(scope, new, to_seq)
        if len(moved) > CHANGED_MAX:
            accepted = f"an event since which at most {CHANGED_MAX:,} beliefs have changed"
            raise UsageError("to_seq", to_seq, accepted)
        is_over = len(events) < EVENTS_PER_PAGE
        after = events[-1].seq if events else after
    return _difference(sorted(moved, key=lambda one: one.belief.committed_seq))


def rolled_back_among(scope: Scope, beliefs: Iterable[HistoricBelief]) -> Steps[set[str]]:
    """Return which beliefs a roll-back has taken back, open or confirmed: their last event says so.

    None of them is in an earlier state that is brought back: the poison would come with it.
    """
    ended = [one.ended_seq for one in beliefs if one.status == "reverted" and one.ended_seq]
    gone: set[str] = set()
    for seqs in parts(ended, EVENTS_PER_PAGE):
        entries = yield from entries_at(scope, seqs)
        gone |= {one.event.belief_id for one in entries if "roll_back" in (one.said or {})}
    return gone


def _difference(moved: Sequence[_Moved]) -> Difference:
    found = Difference()
    for one in moved:
        belief = commitment_of(one.belief)
        if one.is_pinned is not None:
            found.present.append(belief)
        if one.was_pinned is not None:
            found.past.append(belief.model_copy(update={"pinned": one.was_pinned}))
        if one.has_another_successor:
            found.successors[belief.id] = one.successor
    return found


def _changes_since(scope: Scope, ids: Sequence[str], to_seq: int) -> Steps[list[_Moved]]:
    """Return which beliefs are not as they were right after an event."""
    there = own(BELIEFS, scope, ids, Absent("redacted_at"))
    beliefs, spans = yield there, spans_among(ids, scope, to_seq)
    gone = yield from rolled_back_among(scope, beliefs)
    beliefs = [one for one in beliefs if one.id not in gone]
    pinned = {span.belief_id: span.pinned for span in spans}
    over = [one.id for one in beliefs if one.id not in pinned and one.committed_seq <= to_seq]
    successors = yield from _successors(scope, over, to_seq)
    found = (_Moved(one, pinned.get(one.id), successors.get(one.id)) for one in beliefs)
    return [one for one in found if one.differs]


def _successors(scope: Scope, ids: Sequence[str], to_seq: int) -> Steps[dict[str, str]]:
    """Return what had taken the place of each belief right after an event, if anything had."""
    where = (
        Among("belief_id", tuple(ids)),
        Within("seq", until=to_seq + 1),
        Among("kind", _MOVING),
    )
    moves = yield from every(Find(EVENTS, scope, by="belief", where=where))
    last: dict[str, BeliefEvent] = {}
    for event in sorted(moves, key=lambda one: one.seq):
        last[event.belief_id] = event
    ended = [event.seq for event in last.values() if event.kind == "superseded"]
    entries = yield from entries_at(scope, ended)
    return {one.event.belief_id: one.said["superseded_by"] for one in entries if one.said}
