"""Recall of archival facts by the server's own search: what it is asked, and what it finds."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from bson.binary import Binary, BinaryVectorDtype
from support.atlas import MODEL, WIDTH, opened, question, remember, searches, unit_vectors
from support.cold_mongo import prepared_database
from support.cold_samples import (
    OPERATOR,
    OTHER_AGENT,
    OTHER_GRAPH,
    OTHER_TENANT,
    SCOPE,
    fact_by,
    heir_of,
)
from support.held import held
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW, scope_of
from support.warm_reference import ReferenceWarmStore

from tiers.errors import UsageError
from tiers.records import Scope
from tiers.upkeep import ArchivalVectors

NEAR, BEHIND = (1.0, 0.0, 0.0, 0.0), (-1.0, 0.0, 0.0, 0.0)
ASKER = scope_of(agent_id="engineer", topics=("strategy", "tyres"))


server = held(running_mongo, "module")
"""A stand-in for Atlas, shared by the module."""


@pytest.fixture
async def cold(server: MongoServer) -> AsyncIterator[Any]:
    """A cold tier whose server has the vector index."""
    server.reset()
    async with opened(server, prepared_database(on=server)) as stores:
        await stores.semantic.ensure_vector_index(WIDTH)
        server.clear_commands()
        yield stores


async def _found(cold: Any, text: str, scope: Scope = ASKER, **more: Any) -> list[str]:
    narrow = {name: more.pop(name) for name in ("user_id", "scope_topics", "limit") if name in more}
    hits = await cold.semantic.recall_archival(scope, question(text, **more), **narrow)
    return [hit.id for hit in hits]


async def test_atlas_gets_this_stage(server: MongoServer, cold: Any) -> None:
    """Field by field; nothing is asked that its filters lack, and nothing by what is not there."""
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
                "$or": [{"user_id": ""}, {"user_id": "alice"}],
                "live": 1,
                "tier": "archival",
                "user_id": "team",
                "embedding_model": MODEL,
                "$and": [
                    {"topics": {"$in": ["", "strategy", "tyres"]}},
                    {"topics": {"$nin": ["weather"]}},
                ],
            },
        }
    }
    assert searches(server) == [[vector, {"$project": {"_id": 0, "id": 1}}]]


@pytest.mark.parametrize(
    ("limit", "wide", "candidates"),
    [(1, 20, 400), (10, 20, 400), (50, 100, 2_000), (200, 200, 4_000)],
)
async def test_candidates_follow_the_number_wanted(
    server: MongoServer, cold: Any, limit: int, wide: int, candidates: int
) -> None:
    """Twenty for each, as MongoDB advises, of twice as many as are asked for."""
    await _found(cold, "tyres", limit=limit)
    ((stage, _),) = searches(server)
    assert stage["$vectorSearch"]["limit"] == wide
    assert stage["$vectorSearch"]["numCandidates"] == candidates


async def test_an_agent_of_every_topic_is_not_kept_to_any(server: MongoServer, cold: Any) -> None:
    """No topics in the filter; an operator sees what is nobody's own, of every user."""
    await _found(cold, "", OPERATOR)
    ((stage, *_),) = searches(server)
    assert not {"topics", "user_id", "$or", "$and"} & stage["$vectorSearch"]["filter"].keys()
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
        for number in range(23):
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
    assert len(await _found(cold, "medium tyres last", runtime, limit=200)) == 24, "every user's"
    assert await _found(cold, "medium tyres last", runtime, user_id="team") == [mine.id]
    assert await _found(cold, "medium tyres last", asker, scope_topics=["weather"]) == []


async def test_private_facts_are_their_writers(cold: Any) -> None:
    """In both legs, and only in the graph where they were written."""
    fact = await remember(cold, fact_by(text="secret tyres", private=True), NEAR)
    assert await _found(cold, "secret tyres", SCOPE) == [fact.id]
    namesake = heir_of("race", scope=scope_of(graph_id="imola"), carries=("fact",))
    for other in (OTHER_AGENT, OPERATOR, namesake):
        assert await _found(cold, "secret tyres", other) == []


async def test_ranking_by_meaning_is_that_of_an_exact_computation(cold: Any) -> None:
    """Eighty vectors in all directions, ten questions: by cosine, as computed here."""
    vectors = unit_vectors(80, seed=11)
    ids = [
        (await remember(cold, fact_by(text=f"number {n}"), vector)).id
        for n, vector in enumerate(vectors)
    ]
    for asked in unit_vectors(10, seed=12):
        cosines = [sum(a * b for a, b in zip(asked, one, strict=True)) for one in vectors]
        nearest = sorted(range(80), key=lambda n: -cosines[n])[:10]
        # Words that no fact has leave the ranking to the vectors.
        assert await _found(cold, "zzz", vector=asked) == [ids[n] for n in nearest]


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


async def test_facts_without_a_vector_are_found_by_their_words(cold: Any) -> None:
    """At once, and without pushing out what has been found by meaning."""
    waiting = await remember(cold, fact_by(text="medium tyres"), None)
    indexed = await remember(cold, fact_by(text="rubber"), NEAR)
    assert set(await _found(cold, "medium tyres")) == {waiting.id, indexed.id}


async def test_vectors_of_another_model_are_not_compared(cold: Any) -> None:
    """Identical numbers of another model mean something else: such facts come by words alone."""
    mine = await remember(cold, fact_by(text="rubber"), NEAR)
    other = await remember(cold, fact_by(text="medium tyres"), NEAR, model_id="gemini")
    assert await _found(cold, "rain") == [mine.id]
    assert await _found(cold, "rain", model_id="gemini") == [other.id]
    assert await _found(cold, "rain", model_id="third") == []
    assert set(await _found(cold, "tyres")) == {mine.id, other.id}
    await remember(cold, fact_by(text="medium tyres"), NEAR)  # the same fact, embedded anew
    assert await _found(cold, "rain", model_id="gemini") == []


async def test_a_question_without_vector_or_model_goes_by_words(
    server: MongoServer, cold: Any
) -> None:
    """A vector of no known model can be compared with nothing."""
    fact = await remember(cold, fact_by(text="medium tyres"), NEAR)
    for more in ({"vector": None}, {"model_id": None}):
        server.clear_commands()
        assert await _found(cold, "tyres", **more) == [fact.id]
        assert searches(server) == []
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


async def test_a_vector_survives_what_changes_its_fact(server: MongoServer, cold: Any) -> None:
    """Counted, moved and superseded it keeps its vector, and is found only as long as it stands."""
    fact = await remember(cold, fact_by(text="medium tyres"), NEAR)
    await cold.semantic.add_uses({SCOPE: {"a cause": [fact.id]}}, NOW)
    assert await _found(cold, "rain") == [fact.id]
    newer = await remember(cold, fact_by(text="hard tyres"), None)
    await cold.semantic.supersede(SCOPE, fact.id, newer.id, NOW)
    assert await _found(cold, "rain") == []
    (stored,) = _documents(server, fact.id)
    assert stored["embedding_model"] == MODEL
    assert "embedding" in stored


@pytest.mark.parametrize("way", ["redact", "retire"])
async def test_what_has_no_words_has_no_vector(server: MongoServer, cold: Any, way: str) -> None:
    """A vector tells what was said: it goes with the text, and none is stored afterwards."""
    fact = await remember(cold, fact_by(text="medium tyres"), NEAR)
    entries = [one.model_copy(update={"vector": NEAR}) for one in await _entries(cold, fact.id)]
    runtime = SCOPE.for_graph()
    if way == "redact":
        await cold.redactor.redact(runtime, [fact.id], "asked to", NOW)
    else:
        await cold.grains.retire(runtime, [fact.id], "old", NOW, ())
    await cold.semantic.store_vectors(SCOPE, entries, MODEL)
    (stored,) = _documents(server, fact.id)
    assert not {"embedding", "embedding_model"} & stored.keys()
    assert await _found(cold, "medium tyres") == []
    assert await cold.semantic.facts_without_vectors("acme", MODEL, 9) == ()


async def test_facts_without_vectors_are_those_of_one_tenant(cold: Any) -> None:
    """Of every graph, the oldest first, of another model as well; private ones by their writer."""
    private = await remember(cold, fact_by(text="secret", private=True), None)
    await remember(cold, fact_by(OTHER_TENANT, "theirs"), None, scope=OTHER_TENANT)
    other = await remember(cold, fact_by(OTHER_GRAPH, "other"), NEAR, scope=OTHER_GRAPH)
    await remember(cold, fact_by(text="indexed"), NEAR, model_id="third")
    waiting = await cold.semantic.facts_without_vectors("acme", "third", 9)
    assert [(one.graph_id, one.id, one.agent_id) for one in waiting] == [
        (private.graph_id, private.id, private.agent_id),
        (other.graph_id, other.id, None),
    ]
    assert await cold.semantic.facts_without_vectors("acme", "third", 1) == waiting[:1]


async def test_what_the_server_cannot_filter_by_is_left_to_words(
    server: MongoServer, cold: Any
) -> None:
    """Moments, writers and topics of a question are no part of its index: it is not asked."""
    mine = await remember(cold, fact_by(text="medium tyres"), NEAR)
    await remember(cold, fact_by(OTHER_AGENT, "medium tyres"), NEAR, scope=OTHER_AGENT)
    server.clear_commands()
    for more in (
        {"writer_id": mine.agent_id, "as_of": NOW},
        {"writer_id": mine.agent_id, "since": NOW},
        {"writer_id": mine.agent_id, "topics": ("tyres",)},
        {"ids": (mine.id,)},
    ):
        hits = await cold.semantic.recall_archival(SCOPE, question("tyres", **more))
        assert [hit.id for hit in hits] == [mine.id], more
    assert searches(server) == []
    await cold.semantic.recall_archival(SCOPE, question("tyres"))
    assert searches(server) != []


async def _entries(cold: Any, fact_id: str) -> Any:
    return await cold.words.entries(SCOPE, [fact_id])


def _documents(server: MongoServer, fact_id: str) -> list[dict[str, Any]]:
    """Return the documents of a fact as the server has them, in whatever database."""
    names = server.client.list_database_names()
    return [one for name in names for one in server.client[name]["facts"].find({"id": fact_id})]
