"""Which ended beliefs a pass erases: bounded, in order, and none is forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

import pytest
from support.records import START

from metaagents.lifecycle import retention
from metaagents.lifecycle.retention import BeliefRetention
from tiers.records import BeliefQuery, HistoricBelief, Retention, Scope, SessionGraph

GRAPH = SessionGraph(
    tenant="acme", id="imola", created_at=START, retention=Retention(beliefs_days=1)
)


class Ended:
    """As much of a ``BeliefHistory`` as retention asks: beliefs that ended, an event a minute."""

    def __init__(self, *ended_seqs: int) -> None:
        self.beliefs = {
            f"b{number}": HistoricBelief(
                id=f"b{number}",
                claim="So.",
                committed_seq=number,
                status="superseded",
                ended_seq=ended_seq,
            )
            for number, ended_seq in enumerate(ended_seqs, start=1)
        }
        self.queries = 0
        self.erased: list[tuple[Scope, list[str], str]] = []

    async def seq_at(self, scope: Scope, *, time: datetime | None = None) -> int:
        """Return the number of minutes since the start."""
        assert scope == Scope.of_graph("acme", "imola")
        assert time is not None
        return max(0, int((time - START) / timedelta(minutes=1)))

    async def query(self, scope: Scope, query: BeliefQuery) -> tuple[HistoricBelief, ...]:
        """Return beliefs after a place, in order."""
        assert scope == Scope.of_graph("acme", "imola")
        assert query.statuses == ("superseded", "reverted")
        assert query.until_seq is not None
        self.queries += 1
        found = [one for one in self.beliefs.values() if query.after < one.committed_seq]
        return tuple(one for one in found if one.committed_seq < query.until_seq)[: query.limit]

    async def erase(self, scope: Scope, ids: Sequence[str], reason: str) -> None:
        """Forget beliefs."""
        self.erased.append((scope, list(ids), reason))
        for one in ids:
            del self.beliefs[one]


def at(seq: int) -> datetime:
    """Return when what ended by an event is past its retention."""
    return START + timedelta(days=1, minutes=seq)


async def test_what_ended_long_enough_ago_is_erased_once() -> None:
    """With a reason that says why; what ended later has its day."""
    history = Ended(9, 5, 7)
    keeper = BeliefRetention(history)
    assert await keeper.retire(GRAPH, at(0), history.erase) == 0
    assert await keeper.retire(GRAPH, at(4), history.erase) == 0
    assert await keeper.retire(GRAPH, at(7), history.erase) == 2
    assert await keeper.retire(GRAPH, at(8), history.erase) == 0
    assert await keeper.retire(GRAPH, at(9), history.erase) == 1
    reason = "retention: kept for 1 days after its end"
    scope = Scope.of_graph("acme", "imola")
    assert history.erased == [(scope, ["b2", "b3"], reason), (scope, ["b1"], reason)]


async def test_a_graph_without_retention_of_beliefs_is_not_even_asked() -> None:
    """What an ended belief said stays for ever."""
    history = Ended(1, 2)
    graph = GRAPH.model_copy(update={"retention": Retention()})
    assert await BeliefRetention(history).retire(graph, at(9), history.erase) == 0
    assert history.queries == 0


async def test_a_pass_is_bounded_and_the_next_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    """In erasures and in what it looks through, however much is not due yet."""
    monkeypatch.setattr(retention, "RETIRED_PER_PASS", 3)
    monkeypatch.setattr(retention, "PAGE_BELIEFS", 4)
    monkeypatch.setattr(retention, "PAGES_PER_PASS", 2)
    history = Ended(*[99] * 10, *[50] * 5, 99, 50)
    keeper = BeliefRetention(history)
    erased = []
    for _ in range(7):
        before = history.queries
        erased.append(await keeper.retire(GRAPH, at(60), history.erase))
        assert history.queries - before <= 2
    assert sum(erased) == 6
    assert max(erased) <= 3
    assert {one.ended_seq for one in history.beliefs.values()} == {99}
