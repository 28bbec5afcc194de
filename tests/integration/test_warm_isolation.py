"""What one tenant, graph or agent stores never shows in the answers to another."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from pathlib import Path
from random import Random

import pytest
from support.tier_samples import DIMENSIONS, NOW, entry_of, query_of, scope_of
from support.warm_reference import visible

from tiers.records import ALL_TOPICS, IndexEntry, Scope
from tiers.warm import EdgeWarmStore, edge_warm_store

SCOPE = scope_of()


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[EdgeWarmStore]:
    """An index with the over-fetch of the default."""
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS) as opened:
        yield opened


async def test_scoped_agent_does_not_starve(store: EdgeWarmStore) -> None:
    """A thousand better matches of other topics do not push out the one the agent may see."""
    loud = [entry_of(SCOPE, n, "tyre tyre tyre", topics=("fuel",)) for n in range(1000)]
    quiet = entry_of(SCOPE, 5000, "a tyre", topics=("tyres",), vector=(0.0, 1.0, 0.0, 0.0))
    await store.upsert(SCOPE, [*loud, quiet])
    asker = scope_of(topics=("tyres",))
    for query in (query_of("tyre"), query_of("tyre", vector=None), query_of()):
        hits = await store.search(asker, query.model_copy(update={"limit": 1}))
        assert [hit.id for hit in hits] == [quiet.id]


@pytest.mark.parametrize(
    "neighbour", [scope_of(tenant="acm"), scope_of(graph_id="race2")], ids=["tenant", "graph"]
)
async def test_texts_of_others_move_no_score(store: EdgeWarmStore, neighbour: Scope) -> None:
    """Word statistics come from the own graph: answers are equal to the last bit."""
    own = [entry_of(SCOPE, n, f"stint {n} rain" if n % 3 else f"rare {n}") for n in range(30)]
    await store.upsert(SCOPE, own)
    questions = [query_of("rare rain"), query_of("rare rain", vector=None)]
    before = [await store.search(SCOPE, question) for question in questions]
    await store.upsert(
        neighbour, [entry_of(neighbour, n, "rare rare rain") for n in range(1000, 1500)]
    )
    assert [await store.search(SCOPE, question) for question in questions] == before
    assert len(before[0]) == 30


def _random_scope(random: Random) -> Scope:
    topics = random.choice([(ALL_TOPICS,), (), ("t1",), ("t1", "t2"), ("t3",)])
    agent_id = random.choice(["x", "x ", "y", "x/y", None])
    return scope_of(random.choice(["a", "ab"]), random.choice(["g", "g/x"]), agent_id, topics)


def _random_entry(random: Random, number: int) -> IndexEntry:
    expires_at = random.choice([None, None, NOW, NOW.replace(year=2027)])
    return entry_of(
        scope_of(random.choice(["a", "ab"]), random.choice(["g", "g/x"])),
        number,
        agent_id=random.choice(["x", "y", "x/y"]),
        topics=random.sample(["t1", "t2", "t3"], random.choice([0, 0, 1, 2])),
        private=random.random() < 0.3,
        kind=random.choice(["turn", "fact", "rule"]),
        tier=random.choice([None, "core", "archival"]),
        expires_at=expires_at,
    )


async def test_random_scopes_see_exactly_what_is_theirs(tmp_path: Path) -> None:
    """Five hundred random askers and questions against the port's words, entry by entry."""
    random = Random(20260301)
    entries = [_random_entry(random, number) for number in range(400)]
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS, overfetch=400) as store:
        for owner in {(entry.tenant, entry.graph_id) for entry in entries}:
            own = [entry for entry in entries if (entry.tenant, entry.graph_id) == owner]
            await store.upsert(scope_of(*owner), own)
        seen = 0
        for _ in range(500):
            scope = _random_scope(random)
            query = query_of(
                random.choice(["", "entry"]),
                kinds=random.sample(["turn", "fact", "rule"], random.randint(1, 3)),
                tier=random.choice([None, None, "core"]),
                now=random.choice([NOW, NOW.replace(year=2028)]),
            )
            expected = {
                entry.id
                for entry in entries
                if (entry.tenant, entry.graph_id) == (scope.tenant, scope.graph_id)
                and visible(scope, query, entry)
            }
            assert {hit.id for hit in await store.search(scope, query)} == expected
            seen += len(expected)
    assert seen > 5000, "the questions were too narrow to prove anything"


async def test_fusion_is_reciprocal_rank_over_both_legs(store: EdgeWarmStore) -> None:
    """The score of a hit is the sum of 1 / (10 + rank) over its legs, ranks counted from 0."""
    await store.upsert(
        SCOPE,
        [
            entry_of(SCOPE, 1, "undercut", vector=(1.0, 0.0, 0.0, 0.0)),
            entry_of(SCOPE, 2, "overcut", vector=(0.8, 0.6, 0.0, 0.0)),
        ],
    )
    first, second = await store.search(SCOPE, query_of("undercut"))
    assert math.isclose(first.score, 1 / 10 + 1 / 10, rel_tol=1e-6)
    assert math.isclose(second.score, 1 / 11, rel_tol=1e-6)


async def test_long_questions_are_read_at_both_ends(store: EdgeWarmStore) -> None:
    """Of a question longer than the lexical leg reads, first and last words still count."""
    await store.upsert(
        SCOPE, [entry_of(SCOPE, n, text) for n, text in enumerate(["alpha", "middle", "omega"])]
    )
    question = "alpha " + "x " * 2000 + "middle " + "y " * 2000 + "omega"
    hits = await store.search(SCOPE, query_of(question, vector=None))
    assert {hit.text for hit in hits} == {"alpha", "omega"}
