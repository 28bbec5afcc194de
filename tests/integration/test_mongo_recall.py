"""Recall of archival facts by the server's own search: what it is asked, and what it finds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest
from bson.binary import Binary, BinaryVectorDtype
from pymongo import MongoClient
from support.atlas import (
    MODEL,
    WIDTH,
    opened,
    question,
    remember,
    searches,
    unit_vectors,
)
from support.cold_samples import (
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    fact_by,
    heir_of,
)
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW, scope_of
from support.warm_reference import ReferenceWarmStore

from tiers.cold.mongo.database import Session
from tiers.cold.mongo.scope import visible
from tiers.cold.mongo.search_index import TEXT_INDEX
from tiers.cold.mongo.semantic import TEXT_INDEX_LAG
from tiers.errors import TierRejected, UsageError
from tiers.records import Scope
from tiers.upkeep import ArchivalVectors

NEAR, BEHIND = (1.0, 0.0, 0.0, 0.0), (-1.0, 0.0, 0.0, 0.0)
WITHOUT_FUSION, WITH_FUSION = (8, 0, 0), (8, 1, 0)
ASKER = scope_of(agent_id="engineer", topics=("strategy", "tyres"))


@pytest.fixture(scope="module")
def server() -> Iterator[MongoServer]:
    """A stand-in for Atlas, shared by the module."""
    with running_mongo() as running:
        yield running


@pytest.fixture(params=[WITHOUT_FUSION, WITH_FUSION], ids=["two questions", "one question"])
async def cold(server: MongoServer, request: pytest.FixtureRequest) -> AsyncIterator[Any]:
    """A cold tier that recalls by meaning and text, on a server of each age."""
    server.reset()
    server.knobs.version = request.param
    async with opened(server, server.fresh_database()) as stores:
        await stores.semantic.ensure_vector_index(WIDTH)
        server.clear_commands()
        yield stores


@pytest.fixture
async def by_vectors(server: MongoServer) -> AsyncIterator[Any]:
    """A cold tier whose server has the vector index, and no text index."""
    server.reset()
    server.knobs.version = WITHOUT_FUSION
    database = server.fresh_database()
    async with opened(server, database) as stores:
        await stores.semantic.ensure_vector_index(WIDTH)
    from pymongo import MongoClient

    with MongoClient(server.uri) as client:
        client[database].command({"dropSearchIndex": "facts", "name": TEXT_INDEX})
    async with opened(server, database) as stores:
        assert stores.semantic.archival == "atlas vector"
        server.clear_commands()
        yield stores


def _drop(server: MongoServer, database: str, index: str) -> None:
    """Take a search index away behind the store's back."""
    with MongoClient(server.uri) as client:
        client[database].command({"dropSearchIndex": "facts", "name": index})


async def _found(cold: Any, text: str, scope: Scope = ASKER, **more: Any) -> list[str]:
    narrow = {name: more.pop(name) for name in ("user_id", "scope_topics", "limit") if name in more}
    hits = await cold.semantic.recall_archival(scope, question(text, **more), **narrow)
    return [hit.id for hit in hits]


async def test_atlas_gets_these_stages(server: MongoServer, cold: Any) -> None:
    """Field by field: the vector stage, the text stage, and how they are brought together."""
    asker = ASKER.model_copy(update={"user_id": "alice", "denied": ("weather",)})
    await _found(cold, "Which tyres?", asker, user_id="team", limit=15)
    vector = {
        "$vectorSearch": {
            "index": "facts_by_meaning",
            "path": "embedding",
            "queryVector": Binary.from_vector(list(NEAR), BinaryVectorDtype.FLOAT32),
            "numCandidates": 600,
            "limit": 30,
            "filter": {
                "tenant": "acme",
                "graph_id": "race",
                "private_to": {"$in": ["", "engineer"]},
                "for_user": {"$in": ["", "alice"]},
                "$and": [
                    {"topics": {"$in": ["", "strategy", "tyres"]}},
                    {"topics": {"$nin": ["weather"]}},
                ],
                "tier": "archival",
                "live": True,
                "user_id": "team",
                "embedding_model": MODEL,
            },
        }
    }
    text = {
        "$search": {
            "index": "facts_by_words",
            "compound": {
                "must": [{"text": {"query": "tyres tyre", "path": ["text", "terms"]}}],
                "filter": [
                    {"equals": {"path": "tenant", "value": "acme"}},
                    {"equals": {"path": "graph_id", "value": "race"}},
                    {"in": {"path": "private_to", "value": ["", "engineer"]}},
                    {"in": {"path": "for_user", "value": ["", "alice"]}},
                    {"in": {"path": "topics", "value": ["", "strategy", "tyres"]}},
                    {"equals": {"path": "tier", "value": "archival"}},
                    {"equals": {"path": "live", "value": True}},
                    {"equals": {"path": "user_id", "value": "team"}},
                ],
                "mustNot": [{"in": {"path": "topics", "value": ["weather"]}}],
            },
        }
    }

    def shown(score: str) -> dict[str, Any]:
        return {"$project": {"_id": 0, "id": 1, "score": {"$meta": score}}}

    asked = searches(server)
    if server.knobs.version == WITH_FUSION:
        pipelines = {"meaning": [vector], "words": [text, {"$limit": 30}]}
        fusion = {"$rankFusion": {"input": {"pipelines": pipelines}}}
        assert asked == [[fusion, {"$limit": 30}, shown("score")]]
    else:
        assert sorted(asked, key=lambda pipeline: next(iter(pipeline[0]))) == [
            [text, {"$limit": 30}, shown("searchScore")],
            [vector, shown("vectorSearchScore")],
        ]


@pytest.mark.parametrize(
    ("limit", "wide", "candidates"),
    [(1, 20, 400), (10, 20, 400), (50, 100, 2_000), (200, 200, 4_000)],
)
async def test_candidates_follow_the_number_wanted(
    server: MongoServer, by_vectors: Any, limit: int, wide: int, candidates: int
) -> None:
    """Twenty for each, as MongoDB advises, of twice as many as are asked for."""
    await _found(by_vectors, "tyres", limit=limit)
    ((stage, _),) = searches(server)
    assert stage["$vectorSearch"]["limit"] == wide
    assert stage["$vectorSearch"]["numCandidates"] == candidates


async def test_an_agent_of_every_topic_is_not_kept_to_any(server: MongoServer, cold: Any) -> None:
    """No topics in the filter; an operator sees what is nobody's own, of every user."""
    await _found(cold, "", OPERATOR)
    ((stage, *_),) = searches(server)
    assert not {"topics", "for_user", "$and"} & stage["$vectorSearch"]["filter"].keys()
    assert stage["$vectorSearch"]["filter"]["private_to"] == {"$in": [""]}


async def test_nothing_outside_the_scope_is_found_however_near(cold: Any) -> None:
    """Other tenants, graphs, topics, writers, users, tiers, the superseded and the redacted.

    Never, even when nearer and better worded than the one fact that may be seen, and many enough
    to fill the list.
    """
    team = SCOPE.model_copy(update={"user_id": "team"})
    user = team.model_copy(update={"user_id": "else"})
    outside: list[tuple[Scope, dict[str, Any]]] = [
        (OTHER_TENANT.model_copy(update={"user_id": "team"}), {}),
        (OTHER_GRAPH.model_copy(update={"user_id": "team"}), {}),
        (team, {"topics": ("weather",)}),
        (team, {"topics": ("tyres", "secret")}),
        (team, {"private": True}),
        (team, {"tier": "core"}),
        (team, {"superseded_by": "newer"}),
        (team, {"redacted_at": NOW}),
        (user, {}),
    ]
    for group, (scope, fields) in enumerate(outside):
        for number in range(30):
            text = f"medium tyres last {group} {number}"
            fact = fact_by(scope, text).model_copy(update=fields)
            await remember(cold, fact, NEAR, scope=scope)
    far = (0.1, 0.99, 0.0, 0.0)
    # Without a word of the question: were one stranger let in by the index, it would not be found.
    mine = await remember(cold, fact_by(team, "rubber endures"), far, scope=team)
    asker = ASKER.model_copy(update={"user_id": "team", "denied": ("secret",)})
    for limit in (1, 10, 200):
        assert await _found(cold, "medium tyres last", asker, limit=limit) == [mine.id]
    runtime = asker.model_copy(update={"every_user": True})
    assert len(await _found(cold, "medium tyres last", runtime, limit=200)) == 31, "every user's"
    assert await _found(cold, "medium tyres last", runtime, user_id="team") == [mine.id]
    assert await _found(cold, "medium tyres last", asker, scope_topics=["weather"]) == []


async def test_private_facts_are_their_writers(cold: Any) -> None:
    """In both legs, and only in the graph where they were written."""
    fact = await remember(cold, fact_by(text="secret tyres", private=True), NEAR)
    assert await _found(cold, "secret tyres", SCOPE) == [fact.id]
    namesake = heir_of("race", scope=scope_of(graph_id="imola"), carries=("fact",))
    for other in (OTHER_AGENT, OPERATOR, namesake):
        assert await _found(cold, "secret tyres", other) == []


async def test_ranking_by_meaning_is_that_of_an_exact_computation(by_vectors: Any) -> None:
    """Two hundred vectors in all directions, ten questions: by cosine, as computed here."""
    vectors = unit_vectors(200, seed=11)
    ids = [
        (await remember(by_vectors, fact_by(text=f"number {n}"), vector)).id
        for n, vector in enumerate(vectors)
    ]
    for asked in unit_vectors(10, seed=12):
        cosines = [sum(a * b for a, b in zip(asked, one, strict=True)) for one in vectors]
        nearest = sorted(range(200), key=lambda n: -cosines[n])[:10]
        # Words that no fact has leave the ranking to the vectors.
        assert await _found(by_vectors, "zzz", vector=asked) == [ids[n] for n in nearest]


async def test_meaning_and_words_both_bring_in(cold: Any) -> None:
    """A fact that only its words give away, one that only its meaning does, and one of both."""
    meaning = await remember(cold, fact_by(text="rubber endures"), NEAR)
    words = await remember(cold, fact_by(text="the undercut"), BEHIND)
    both = await remember(cold, fact_by(text="undercut early"), (0.9, 0.436, 0.0, 0.0))
    for number, (first, *rest) in enumerate(unit_vectors(30, seed=3)):
        aside = (-abs(first), *rest)
        await remember(cold, fact_by(text=f"rain at noon {number}"), aside)
    found = await _found(cold, "undercut", limit=3)
    assert found[0] == both.id
    assert set(found) == {meaning.id, words.id, both.id}


async def test_stems_match_in_the_text_index(cold: Any) -> None:
    """Its analyser knows no endings; the terms that lie beside each fact do."""
    fact = await remember(cold, fact_by(text="Tyres degraded."), None)
    assert await _found(cold, "degrading tyre", vector=None) == [fact.id]


async def test_facts_without_a_vector_are_found_by_their_words(cold: Any) -> None:
    """At once, and without pushing out what has been found by meaning."""
    waiting = await remember(cold, fact_by(text="medium tyres"), None)
    indexed = await remember(cold, fact_by(text="rubber"), NEAR)
    assert set(await _found(cold, "medium tyres")) == {waiting.id, indexed.id}


async def test_facts_the_text_index_does_not_hold_are_found_by_their_words(
    server: MongoServer, cold: Any
) -> None:
    """It lags behind, or is gone: the words beside the records bring in what it has not weighed."""
    seen = await remember(cold, fact_by(text="rubber"), NEAR)
    new = await remember(cold, fact_by(text="medium tyres"), None)
    (database,) = {one["database"] for one in server.commands if one["name"] == "insert"}
    _drop(server, database, TEXT_INDEX)
    assert set(await _found(cold, "medium tyres")) == {seen.id, new.id}
    later = new.recorded_at + TEXT_INDEX_LAG + timedelta(microseconds=1)
    assert await _found(cold, "medium tyres", now=later) == [seen.id], "by now it must hold it"


async def test_vectors_of_another_model_are_not_compared(by_vectors: Any) -> None:
    """Identical numbers of another model mean something else: such facts come by words alone."""
    mine = await remember(by_vectors, fact_by(text="rubber"), NEAR)
    other = await remember(by_vectors, fact_by(text="medium tyres"), NEAR, model_id="gemini")
    assert await _found(by_vectors, "rain") == [mine.id]
    assert await _found(by_vectors, "rain", model_id="gemini") == [other.id]
    assert await _found(by_vectors, "rain", model_id="third") == []
    assert set(await _found(by_vectors, "tyres")) == {mine.id, other.id}
    await remember(by_vectors, fact_by(text="medium tyres"), NEAR)  # the same fact, embedded anew
    assert await _found(by_vectors, "rain", model_id="gemini") == []


async def test_a_question_without_vector_or_model_goes_by_words(
    server: MongoServer, cold: Any
) -> None:
    """A vector of no known model can be compared with nothing."""
    fact = await remember(cold, fact_by(text="medium tyres"), NEAR)
    for more in ({"vector": None}, {"model_id": None}):
        server.clear_commands()
        assert await _found(cold, "tyres", **more) == [fact.id]
        assert [next(iter(pipeline[0])) for pipeline in searches(server)] == ["$search"]
    server.clear_commands()
    assert await _found(cold, "?!", vector=None) == []
    assert searches(server) == []


async def test_a_move_between_tiers_is_seen_at_once(cold: Any) -> None:
    """The tier is a field of the document that is searched: no index has to be told."""
    fact = await remember(cold, fact_by(text="medium tyres"), NEAR)
    await cold.semantic.set_tier(SCOPE, fact, "core", "used", fact.recorded_at)
    assert await _found(cold, "medium tyres") == []
    core = fact.model_copy(update={"tier": "core"})
    await cold.semantic.set_tier(SCOPE, core, "archival", "cap", fact.recorded_at)
    assert await _found(cold, "medium tyres") == [fact.id]


async def test_the_servers_search_goes_before_the_warm_engine(server: MongoServer) -> None:
    """An archival index that is given as well is not asked while the server answers."""
    server.reset()
    server.knobs.version = WITH_FUSION
    database = server.fresh_database()
    warm = ReferenceWarmStore(WIDTH)
    async with warm:
        pass  # closed: asking it would be an error
    async with opened(server, database, archival_index=warm) as cold:
        assert cold.semantic.archival == "warm"
        await cold.semantic.ensure_vector_index(WIDTH)
        fact = await remember(cold, fact_by(text="medium tyres"), NEAR)
        assert await _found(cold, "tyres") == [fact.id]


async def test_vectors_belong_to_facts_of_the_scope(cold: Any) -> None:
    """Others are refused, other kinds and unknown facts passed over, and nothing else changes."""
    assert isinstance(cold.semantic, ArchivalVectors)
    fact = await remember(cold, fact_by(text="medium tyres"), None)
    stored = await cold.words.entries(SCOPE, [fact.id])
    (entry,) = [one.model_copy(update={"vector": NEAR}) for one in stored]
    foreign = entry.model_copy(update={"graph_id": "race/2"})
    with pytest.raises(UsageError, match="owner"):
        await cold.semantic.store_vectors(SCOPE, [entry, foreign], MODEL)
    assert await _found(cold, "rain") == [], "nothing of a refused call is stored"
    turn = entry.model_copy(update={"kind": "turn"})
    unknown = entry.model_copy(update={"id": "unknown"})
    bare = entry.model_copy(update={"vector": None})
    await cold.semantic.store_vectors(SCOPE, [turn, unknown, bare], MODEL)
    assert await _found(cold, "rain") == []
    assert await cold.semantic.facts(SCOPE, ["unknown"]) == ()
    await cold.semantic.store_vectors(SCOPE, [], MODEL)
    await cold.semantic.store_vectors(SCOPE, [entry], MODEL)
    assert await _found(cold, "rain") == [fact.id]
    assert await cold.semantic.facts(SCOPE, [fact.id]) == (fact,)


def _vector_leg(**filters: Any) -> dict[str, Any]:
    return {"$vectorSearch": {"index": "x", "filter": filters}}


def _text_leg(*clauses: dict[str, Any]) -> dict[str, Any]:
    return {"$search": {"compound": {"must": [{"text": {}}], "filter": list(clauses)}}}


_TENANT = {"equals": {"path": "tenant", "value": "acme"}}
_GRAPH = {"equals": {"path": "graph_id", "value": "race"}}
_BOTH = visible(SCOPE)


@pytest.mark.parametrize(
    "stage",
    [
        _vector_leg(),
        _vector_leg(tenant="acme"),
        _vector_leg(graph_id="race"),
        _vector_leg(**_BOTH | {"tenant": {"$ne": "acme"}}),
        {"$search": {"text": {"query": "x", "path": "text"}}},
        _text_leg(),
        _text_leg(_TENANT),
        _text_leg(_GRAPH),
        {"$search": {"compound": {"should": [_TENANT, _GRAPH]}}},
        {
            "$rankFusion": {
                "input": {"pipelines": {"a": [_vector_leg(**_BOTH)], "b": [_text_leg()]}}
            }
        },
        {"$rankFusion": {"input": {"pipelines": {"a": [_vector_leg(tenant="acme")]}}}},
        {"$unionWith": "facts"},
    ],
    ids=str,
)
async def test_a_search_without_tenant_or_graph_never_leaves(
    server: MongoServer, cold: Any, stage: dict[str, Any]
) -> None:
    """The guard in front of every command knows every stage that lets documents in."""
    database = cold.semantic._database
    with pytest.raises(TierRejected, match="scope guard"):
        await database.read("test", lambda s: s.collection("facts").aggregate([stage]))
    assert searches(server) == []


async def test_the_guard_lets_scoped_searches_pass(cold: Any) -> None:
    """It refuses for what is missing, not for what is asked."""

    async def ask(session: Session) -> list[Any]:
        stage = _text_leg(_TENANT, _GRAPH)
        stage["$search"]["index"] = TEXT_INDEX
        stage["$search"]["compound"]["must"] = [{"text": {"query": "x", "path": "text"}}]
        return await session.collection("facts").aggregate([stage])

    assert await cold.semantic._database.read("test", ask) == []
