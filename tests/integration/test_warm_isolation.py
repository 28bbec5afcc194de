"""What one tenant, graph or agent stores never shows in the answers to another."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Coroutine, Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from random import Random
from typing import Self, cast
from uuid import UUID

import pytest
from support.tier_samples import (
    DIMENSIONS,
    NOW,
    ancestor,
    entry_of,
    heir_of,
    query_of,
    record_id,
    scope_of,
)
from support.warm_backends import WARM_BACKENDS, WarmBackend
from support.warm_reference import visible

from metaagents.reindex.generations import OpenGenerations
from metaagents.reindex.index import SwitchingIndex
from tiers.cold.stores import LexicalIndex
from tiers.errors import TierRejected
from tiers.records import ALL_TOPICS, Ancestor, Hit, IndexEntry, Kind, Scope, SearchQuery
from tiers.upkeep import Generation
from tiers.warm import EdgeWarmStore, edge_generations, edge_warm_store, filters
from tiers.warm import store as index_store
from tiers.warm.payload import payload_of, point_id

SCOPE = scope_of()
DAY = timedelta(days=1)
GRAPHS = ["g", "g/x", "gg", "G"]
KINDS: list[Kind] = ["turn", "fact", "rule"]


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


def _random_lineage(random: Random, own: str) -> list[Ancestor]:
    graphs = [graph for graph in GRAPHS if graph != own]
    return [
        ancestor(
            graph,
            *random.sample(KINDS, random.randint(0, 3)),
            as_of=random.choice([None, None, NOW, NOW - DAY]),
        )
        for graph in random.sample(graphs, random.randint(1, 3))
    ]


def _random_scope(random: Random) -> Scope:
    topics = random.choice([(ALL_TOPICS,), (ALL_TOPICS,), (), ("t1",), ("t1", "t2"), ("t3",)])
    agent_id = random.choice(["x", "x ", "y", "x/y", None])
    own = random.choice(GRAPHS)
    return scope_of(
        random.choice(["a", "ab"]),
        own,
        agent_id,
        topics,
        user_id=random.choice([None, "u", "uu"]),
        every_user=random.random() < 0.3,
        denied=random.choice([(), (), ("t1",), ("t2", "t3"), (ALL_TOPICS,)]),
        lineage=_random_lineage(random, own),
    )


def _random_entry(random: Random, number: int) -> IndexEntry:
    expires_at = random.choice([None, None, NOW, NOW.replace(year=2027)])
    kind = random.choice(KINDS)
    return entry_of(
        scope_of(random.choice(["a", "ab"]), random.choice(GRAPHS)),
        number,
        agent_id=random.choice(["x", "y", "x/y"]),
        topics=random.sample(["t1", "t2", "t3"], random.choice([0, 0, 1, 2])),
        private=random.random() < 0.3,
        kind=kind,
        tier=random.choice(["core", "archival"]) if kind == "fact" else None,
        expires_at=expires_at,
        user_id=random.choice([None, None, "u", "uu"]),
        recorded_at=random.choice([NOW, NOW - DAY, NOW + DAY]),
    )


async def test_random_scopes_see_exactly_what_is_theirs(tmp_path: Path) -> None:
    """Five hundred random askers and questions against the port's words, entry by entry.

    Half of them ask their ancestors, each of which is read as of another moment and carries other
    kinds; the graphs of both tenants have the same names.
    """
    random = Random(20260301)
    entries = [_random_entry(random, number) for number in range(400)]
    async with edge_warm_store(tmp_path, dimensions=DIMENSIONS, overfetch=400) as store:
        for owner in {(entry.tenant, entry.graph_id) for entry in entries}:
            own = [entry for entry in entries if (entry.tenant, entry.graph_id) == owner]
            await store.upsert(scope_of(*owner), own)
        seen = {False: 0, True: 0}
        for number in range(500):
            scope = _random_scope(random)
            query = query_of(
                random.choice(["", "entry"]),
                kinds=random.sample(KINDS, random.randint(1, 3)),
                tier=random.choice([None, None, "core"]),
                now=random.choice([NOW, NOW.replace(year=2028)]),
                inherited=number % 2 == 1,
            )
            expected = {entry.id for entry in entries if visible(scope, query, entry)}
            assert {hit.id for hit in await store.search(scope, query)} == expected
            seen[query.inherited] += len(expected)
    assert min(seen.values()) > 1000, "the questions were too narrow to prove anything"


def _nothing_of_the_tenant(_scope: Scope, *_: object) -> filters.Predicate:
    return (filters.AnyOf("graph", ("race", "a")),)


def _another_tenant(scope: Scope, *_: object) -> filters.Predicate:
    return (filters.AnyOf("tenant", ("acm",)), filters.AnyOf("graph", (scope.graph_id,)))


def _every_graph(scope: Scope, *_: object) -> filters.Predicate:
    return (filters.AnyOf("tenant", (scope.tenant,)),)


def _too_wide(scope: Scope, query: SearchQuery) -> filters.Reach:
    sound: filters.Predicate = filters.of_graph(scope)
    return filters.Reach(_every_graph(scope), sound)


@pytest.mark.parametrize(
    "backend", [one for one in WARM_BACKENDS if one.name != "reference"], ids=lambda one: one.name
)
async def test_what_a_broken_first_lock_asks_is_not_sent(
    backend: WarmBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wrong conditions, word statistics, payloads or ids: refused, and nothing changes."""
    heir = heir_of(ancestor("race", "turn"))
    neighbours = [SCOPE, scope_of("acm"), scope_of(graph_id="race2")]
    async with backend.opened(tmp_path) as store:
        for scope in neighbours:
            await store.upsert(scope, [entry_of(scope, n, expires_at=NOW) for n in range(3)])

        async def refused(*calls: Coroutine[object, object, object]) -> None:
            for call in calls:
                with pytest.raises(TierRejected, match="the guard let nothing through"):
                    await call

        for broken in (_nothing_of_the_tenant, _another_tenant, _every_graph):
            with monkeypatch.context() as patch:
                for made in ("of_graph", "of_kind", "expired", "among"):
                    patch.setattr(filters, made, broken)
                await refused(
                    store.search(SCOPE, query_of("entry")),
                    store.count(SCOPE),
                    store.delete_expired(SCOPE, NOW),
                    store.delete(SCOPE, [record_id(1)]),
                )
        with monkeypatch.context() as patch:
            patch.setattr(filters, "reach", _too_wide)
            await refused(store.search(SCOPE, query_of("entry")))
            await refused(store.search(heir, query_of("entry", inherited=True)))
        with monkeypatch.context() as patch:
            patch.setattr(index_store, "point_id", lambda _, one: point_id(neighbours[1], one))
            await refused(store.upsert(SCOPE, [entry_of(SCOPE, 1)]))
        with monkeypatch.context() as patch:
            patch.setattr(index_store, "payload_of", lambda e: payload_of(e) | {"graph": "race2"})
            await refused(store.upsert(SCOPE, [entry_of(SCOPE, 1)]))
        with monkeypatch.context() as patch:
            stranger = point_id(neighbours[1], record_id(1))
            is_embedded = isinstance(store, EdgeWarmStore)
            theirs = {UUID(stranger).int if is_embedded else stranger: 1.0}
            patch.setattr(index_store, "best", lambda *_: theirs)
            with suppress(TierRejected):
                assert await store.search(SCOPE, query_of("entry")) == ()
        assert [await store.count(scope) for scope in neighbours] == [3, 3, 3]


class _Model:
    """An ``Embedder`` that gives every text the direction that ``query_of`` asks for."""

    dimensions = DIMENSIONS

    def __init__(self, model_id: str) -> None:
        self.model_id = model_id

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        return None

    async def embed(
        self, texts: Sequence[str], *, urgent: bool = False, query: bool = False
    ) -> tuple[tuple[float, ...], ...]:
        """Return one vector per text."""
        del urgent, query
        return ((1.0, 0.0, 0.0, 0.0),) * len(texts)


class _NoWords:
    """A word search that must not be asked about ancestors."""

    asked = 0

    async def search_words(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return nothing, and count."""
        assert scope.lineage
        assert not query.inherited
        self.asked += 1
        return ()


@pytest.mark.parametrize("before", ["old", None], ids=["behind another", "in place"])
async def test_ancestors_are_found_while_an_index_is_built(
    tmp_path: Path, before: str | None
) -> None:
    """Behind the one that serves, after the switch, by the model left behind, and in place."""
    known = {"dimensions": DIMENSIONS, "marked_at": NOW}
    heir, parent = heir_of(ancestor("race", "turn")), scope_of()
    async with edge_generations(tmp_path) as engine:
        if before is not None:
            async with engine.opened(before, DIMENSIONS):
                await engine.mark("acme", Generation(model_id=before, state="complete", **known))
        words = _NoWords()

        async def ask(index: SwitchingIndex, model_id: str | None) -> list[str | None]:
            hits = await index.search(heir, query_of("stint", model_id=model_id, inherited=True))
            return [hit.inherited_from for hit in hits]

        models = {"old": _Model("old")}
        async with OpenGenerations(
            engine, "acme", _Model("new"), models.get, lambda: NOW
        ) as generations:
            index = SwitchingIndex(generations)
            index.fill_in_from(cast("LexicalIndex", words))
            assert generations.building is not None
            assert index.serving.partial == (before is None)
            await index.upsert(parent, [entry_of(parent, 1, "a long stint")])
            for model_id in ("old", "new", None):
                assert await ask(index, model_id) == ["race"]
            await index.search(heir, query_of("stint"))
            assert words.asked == (before is None)
            await generations.complete()
            assert index.serving.model_id == "new"
            for model_id in ("old", "new", None):
                assert await ask(index, model_id) == ["race"]


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
