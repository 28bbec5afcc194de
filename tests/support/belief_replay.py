"""Proof that a belief log is whole, and that its projection is what it comes to.

Hashes and digests are recomputed with JSON and SHA-256 alone, from the format's description.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Iterable
from typing import TypeVar

from tiers.beliefs import BeliefEvent, Commitment, HistoricBelief, LoggedBelief, ProjectedBelief
from tiers.cold.stores import BeliefHistory
from tiers.history.chain import committed_content
from tiers.history.fold import Fold, FoldedBelief
from tiers.records import Scope

T = TypeVar("T")

PAGES_MAX = 10_000
_OF_VERSION_1 = (
    *("id", "tenant", "graph_id", "seq", "kind", "belief_id", "agent_id"),
    *("content_digest", "previous_hash"),
)


async def replayed(history: BeliefHistory, scope: Scope, *, page: int = 1000) -> Fold:
    """Check the log of the scope's graph and its projection; return what the log comes to.

    Args:
        history: Where the log is.
        scope: Of the whole graph.
        page: How many rows are read at once.
    """
    fold = await replayed_log(history, scope, page=page)
    rows = await paged(
        lambda after: history.projected(scope, after, page), lambda row: row.belief.committed_seq
    )
    assert [row.belief.id for row in rows] == list(fold.beliefs)
    for row in rows:
        assert_projects(row, fold.beliefs[row.belief.id])
    trusts = await history.trusts(scope)
    assert {(row.agent_id, row.topic): row.trust for row in trusts} == fold.trust
    assert len(trusts) == len(fold.trust)
    return fold


def successors(
    log: Iterable[LoggedBelief], known: Iterable[HistoricBelief | FoldedBelief]
) -> dict[str, str | None]:
    """Return by what each belief was superseded after these entries, where it is otherwise now."""
    then = Fold()
    for entry in log:
        then.apply(entry)
    found: dict[str, str | None] = {}
    for one in known:
        was = then.beliefs.get(one.id)
        successor = None if was is None else was.superseded_by
        is_over = was is None or not was.is_active
        if is_over and one.status != "redacted" and successor != one.superseded_by:
            found[one.id] = successor
    return found


async def replayed_log(history: BeliefHistory, scope: Scope, *, page: int = 1000) -> Fold:
    """Check the log alone: no gap, one chain, every content as it was, no impossible event."""
    entries = await paged(
        lambda after: history.logged(scope, after, page), lambda entry: entry.event.seq
    )
    assert_chained([entry.event for entry in entries], scope)
    fold = Fold()
    for entry in entries:
        assert_says_what_was_hashed(entry)
        assert fold.apply(entry) is None, entry.event
    return fold


def assert_chained(events: list[BeliefEvent], scope: Scope) -> None:
    """Each event follows the one before, in number, hash, time and turn."""
    previous: BeliefEvent | None = None
    for seq, event in enumerate(events, start=1):
        assert (event.tenant, event.graph_id, event.seq) == (scope.tenant, scope.graph_id, seq)
        assert event.hash == expected_hash(event), event
        assert event.previous_hash == ("0" * 64 if previous is None else previous.hash), event
        if previous is not None:
            assert event.recorded_at >= previous.recorded_at, event
            assert event.turn >= previous.turn, event
        previous = event
    assert len({event.id for event in events}) == len(events)


def expected_hash(event: BeliefEvent) -> str:
    """Return an event's hash, computed from the format's description alone."""
    fields = {name: getattr(event, name) for name in _OF_VERSION_1}
    fields["recorded_at"] = event.recorded_at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    fields["v"] = event.version
    if event.version >= 2:
        fields["turn"] = event.turn
    if event.version >= 3:
        fields["turn_id"] = event.turn_id
    text = json.dumps(fields, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def assert_says_what_was_hashed(entry: LoggedBelief) -> None:
    """Content and salt are both there and give the digest, or are both destroyed."""
    assert (entry.salt is None) == (entry.content is None), entry.event
    if entry.salt is None or entry.content is None:
        return
    salt = bytes.fromhex(entry.salt)
    assert len(salt) == 16
    digest = hashlib.sha256(salt + entry.content.encode()).hexdigest()
    assert digest == entry.event.content_digest, entry.event
    again = json.dumps(
        json.loads(entry.content), sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    assert entry.content == again, "contents are stored in canonical form"


def assert_projects(row: ProjectedBelief, folded: FoldedBelief) -> None:
    """A row of the projection is what the log comes to."""
    belief = row.belief
    assert row.spans == tuple(folded.spans), belief.id
    told = (folded.status, folded.committed_seq, folded.ended_seq, folded.superseded_by)
    assert standing(belief) == (*told, folded.pinned), belief.id
    if folded.content is not None:
        said = committed_content(plain(belief))
        assert json.loads(json.dumps(said)) == folded.content, belief.id
        assert belief.redacted_at is None
    else:
        blank = (belief.claim, belief.key, belief.value)
        assert blank == ("[redacted]", None, None), belief.id
        assert belief.redacted_at is not None


def plain(belief: HistoricBelief) -> Commitment:
    """Return a belief without what became of it."""
    return Commitment.model_validate(
        {name: getattr(belief, name) for name in Commitment.model_fields}
    )


def standing(belief: HistoricBelief) -> tuple[object, ...]:
    """Return what became of a belief."""
    ended = (belief.status, belief.committed_seq, belief.ended_seq, belief.superseded_by)
    return (*ended, belief.pinned)


async def paged(
    read: Callable[[int], Awaitable[tuple[T, ...]]], place: Callable[[T], int]
) -> list[T]:
    """Return every row, page by page; each page goes on after the last row of the one before."""
    rows: list[T] = []
    for _ in range(PAGES_MAX):
        found = await read(place(rows[-1]) if rows else 0)
        if not found:
            return rows
        rows += found
        places = [place(row) for row in rows[-len(found) - 1 :]]
        assert places == sorted(set(places)), "each row once, in order"
    raise AssertionError("the pages do not end")
