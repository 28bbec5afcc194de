"""The search indexes over facts: the definitions that Atlas gets, checks, updates, waiting."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from pymongo import MongoClient
from support.atlas import MODEL, WIDTH, index_commands, opened, question, remember, searches
from support.cold_samples import SCOPE, fact_by
from support.held import held
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import DIMENSIONS
from support.warm_reference import ReferenceWarmStore

from tiers.cold.mongo.search_index import VECTOR_INDEX, SearchIndexReport, SearchUnavailable
from tiers.errors import ConfigError, TierRejected, TierTimeout, UsageError

VECTOR = {
    "name": "facts_by_meaning",
    "type": "vectorSearch",
    "definition": {
        "fields": [
            {"type": "vector", "path": "embedding", "numDimensions": 4, "similarity": "cosine"},
            {"type": "filter", "path": "tenant"},
            {"type": "filter", "path": "graph_id"},
            {"type": "filter", "path": "topics"},
            {"type": "filter", "path": "private_to"},
            {"type": "filter", "path": "user_id"},
            {"type": "filter", "path": "tier"},
            {"type": "filter", "path": "live"},
            {"type": "filter", "path": "embedding_model"},
        ]
    },
}


server = held(running_mongo, "module")
"""A stand-in for Atlas, shared by the module."""


@pytest.fixture
def database(server: MongoServer) -> str:
    """The name of a database that is new; the server is as Atlas is, and quick."""
    server.reset()
    server.knobs.search, server.knobs.search_build_listings = True, 0
    return server.fresh_database()


@pytest.fixture
async def cold(server: MongoServer, database: str) -> AsyncIterator[Any]:
    """A cold tier in it, without search indexes."""
    async with opened(server, database) as stores:
        server.clear_commands()
        yield stores


def _raw(server: MongoServer, database: str, *indexes: dict[str, Any]) -> None:
    """Make indexes behind the store's back."""
    with MongoClient(server.uri) as client:
        client[database].command({"createSearchIndexes": "facts", "indexes": list(indexes)})


def _without(index: dict[str, Any], path: str) -> dict[str, Any]:
    """Return a vector index's definition that lacks a field to filter by."""
    fields = [field for field in index["definition"]["fields"] if field["path"] != path]
    return index | {"definition": {"fields": fields}}


async def test_the_index_is_made_as_atlas_wants_it(server: MongoServer, cold: Any) -> None:
    """Every field of the definition; once made, it is found and left alone."""
    assert cold.semantic.archival == "words"
    report = await cold.semantic.ensure_vector_index(WIDTH)
    assert index_commands(server) == [{"createSearchIndexes": "facts", "indexes": [VECTOR]}]
    assert report == SearchIndexReport(WIDTH, "made", report.waited_seconds)
    assert cold.semantic.archival == "atlas vector"
    server.clear_commands()
    again = await cold.semantic.ensure_vector_index(WIDTH)
    assert again.vector_index == "there"
    assert index_commands(server) == []


async def test_a_build_is_waited_for_and_told(server: MongoServer, cold: Any) -> None:
    """Each time the server was asked, the status is told; at the end the index is ready."""
    server.knobs.search_build_listings = 3
    told: list[tuple[str, str]] = []
    await cold.semantic.ensure_vector_index(
        WIDTH, progress=lambda name, status: told.append((name, status))
    )
    assert told == [*[(VECTOR_INDEX, "BUILDING")] * 3, (VECTOR_INDEX, "READY")]
    assert cold.semantic.archival == "atlas vector"


async def test_a_build_that_takes_too_long_is_a_timeout(server: MongoServer, cold: Any) -> None:
    """It says what is being built, recall goes on as before, and asking again is harmless."""
    server.knobs.search_build_listings = 1_000
    with pytest.raises(TierTimeout, match=f"{VECTOR_INDEX} is BUILDING"):
        await cold.semantic.ensure_vector_index(WIDTH, timeout_seconds=0.1)
    assert cold.semantic.archival == "words"
    fact = await remember(cold, fact_by(text="medium tyres"), None)
    assert [hit.id for hit in await cold.semantic.recall_archival(SCOPE, question("tyres"))] == [
        fact.id
    ]
    with pytest.raises(TierTimeout):
        await cold.semantic.ensure_vector_index(WIDTH, timeout_seconds=0.1)
    assert len(index_commands(server)) == 1, "nothing was made twice"


async def test_an_index_that_is_being_built_is_not_asked(
    server: MongoServer, database: str
) -> None:
    """A store that is opened meanwhile recalls by words; once it is built, by meaning."""
    server.knobs.search_build_listings = 1
    async with opened(server, database):
        pass
    _raw(server, database, VECTOR)
    for expected in ("words", "atlas vector"):
        server.clear_commands()
        async with opened(server, database) as cold:
            assert cold.semantic.archival == expected
            await cold.semantic.recall_archival(SCOPE, question("tyres"))
        listings = [
            one
            for one in server.commands
            if one["name"] == "aggregate" and "$listSearchIndexes" in one["body"]["pipeline"][0]
        ]
        assert len(listings) == 1, "the server is asked once, when the store is opened"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"numDimensions": 3}, "it is for 3 dimensions by cosine"),
        ({"similarity": "dotProduct"}, "it is for 4 dimensions by dotProduct"),
        ({"path": "other"}, "it is for other fields"),
    ],
)
async def test_an_index_of_another_shape_is_refused(
    server: MongoServer, database: str, cold: Any, change: dict[str, Any], told: str
) -> None:
    """Told apart, with both ways out; nothing is changed, whether updates are allowed or not."""
    vector, *filters = VECTOR["definition"]["fields"]
    _raw(server, database, VECTOR | {"definition": {"fields": [vector | change, *filters]}})
    server.clear_commands()
    for update in (False, True):
        with pytest.raises(ConfigError, match=told) as refused:
            await cold.semantic.ensure_vector_index(WIDTH, update=update)
        assert "dropSearchIndex" in str(refused.value)
        assert "embedder makes 4 dimensions" in str(refused.value)
    assert index_commands(server) == []


@pytest.mark.parametrize("path", ["tenant", "user_id", "live", "embedding_model"])
async def test_an_index_that_lacks_a_filter_is_not_used_until_updated(
    server: MongoServer, database: str, cold: Any, path: str
) -> None:
    """Without ``update`` it is an error that says so; with it the field is added and waited for."""
    _raw(server, database, _without(VECTOR, path))
    async with opened(server, database) as other:
        assert other.semantic.archival == "words"
    with pytest.raises(ConfigError, match=f"{path}.*update=True"):
        await cold.semantic.ensure_vector_index(WIDTH)
    assert cold.semantic.archival == "words"
    server.clear_commands()
    server.knobs.search_build_listings = 2
    report = await cold.semantic.ensure_vector_index(WIDTH, update=True)
    assert report.vector_index == "updated"
    (command,) = index_commands(server)
    fields = [*_without(VECTOR, path)["definition"]["fields"], {"type": "filter", "path": path}]
    assert command == {
        "updateSearchIndex": "facts",
        "name": VECTOR_INDEX,
        "definition": {"fields": fields},
    }
    assert cold.semantic.archival == "atlas vector"


@pytest.mark.parametrize("warm", [False, True])
async def test_a_server_without_search_says_so_once(
    server: MongoServer, database: str, *, warm: bool
) -> None:
    """A typed error to branch on; recall goes by the warm engine, or by words, and asks no more."""
    server.knobs.search = False
    async with (
        ReferenceWarmStore(DIMENSIONS) as index,
        opened(server, database, archival_index=index if warm else None) as cold,
    ):
        assert cold.semantic.archival == ("warm" if warm else "words")
        with pytest.raises(SearchUnavailable) as refused:
            await cold.semantic.ensure_vector_index(WIDTH)
        assert isinstance(refused.value, TierRejected)
        server.clear_commands()
        fact = await remember(cold, fact_by(text="medium tyres"), None)
        hits = await cold.semantic.recall_archival(SCOPE, question("tyres"))
        # The reference index does not know the fact, and no work says that it is to come.
        assert [hit.id for hit in hits] == ([] if warm else [fact.id])
        assert searches(server) == []


@pytest.mark.parametrize("code", [59, 115, 31082, 40324, 6047401])
async def test_every_way_of_not_knowing_search_is_understood(
    server: MongoServer, cold: Any, code: int
) -> None:
    """Servers of different ages and makes refuse with different codes."""
    server.fail_next("aggregate", code=code)
    with pytest.raises(SearchUnavailable):
        await cold.semantic.ensure_vector_index(WIDTH)


async def test_any_other_refusal_is_not_taken_for_a_server_without_search(
    server: MongoServer, cold: Any
) -> None:
    """A user who may not make indexes must hear that, and not recall worse for ever."""
    server.fail_next("createSearchIndexes", code=13)
    with pytest.raises(ConfigError):
        await cold.semantic.ensure_vector_index(WIDTH)
    server.fail_next("aggregate", code=8)
    with pytest.raises(TierRejected) as refused:
        await cold.semantic.ensure_vector_index(WIDTH)
    assert not isinstance(refused.value, SearchUnavailable)


async def test_who_makes_them_at_the_same_moment_is_no_error(
    server: MongoServer, database: str, cold: Any
) -> None:
    """Another process was first: its index is the one that was wanted."""
    server.fail_next("createSearchIndexes", code=68, after=True)
    await cold.semantic.ensure_vector_index(WIDTH)
    assert cold.semantic.archival == "atlas vector"


@pytest.mark.parametrize("number", [0, -1, 8_193])
async def test_impossible_numbers_of_dimensions_are_refused(cold: Any, number: int) -> None:
    """1 to 8,192, as Atlas has it."""
    with pytest.raises(UsageError, match="num_dimensions"):
        await cold.semantic.ensure_vector_index(number)


async def test_vectors_of_another_length_are_refused(server: MongoServer, cold: Any) -> None:
    """Stored they would silently never be found; asked for, they would be the server's error.

    So a question of another model's length is not put to that index, but answered without it.
    """
    await cold.semantic.ensure_vector_index(WIDTH)
    known = await remember(cold, fact_by(text="Old tyres."), (1.0, 0.0, 0.0, 0.0))
    server.clear_commands()
    with pytest.raises(UsageError, match="3 numbers"):
        await remember(cold, fact_by(), (1.0, 0.0, 0.0))
    assert not any(
        one["name"] == "update" and "facts" in one["body"].values() for one in server.commands
    )
    hits = await cold.semantic.recall_archival(SCOPE, question("tyres", (1.0, 0.0, 0.0)))
    assert [hit.id for hit in hits] == [known.id]
    assert not searches(server)


async def test_a_vector_is_kept_as_packed_floats_under_its_model(
    server: MongoServer, database: str, cold: Any
) -> None:
    """A quarter of a KiB for 64 numbers, of the type that Atlas calls float32."""
    await cold.semantic.ensure_vector_index(WIDTH)
    fact = await remember(cold, fact_by(), (0.5, -0.5, 0.5, 0.5))
    (stored,) = server.client[database]["facts"].find({"id": fact.id})
    assert stored["embedding_model"] == MODEL
    assert stored["embedding"].subtype == 9
    assert stored["embedding"].as_vector().data == [0.5, -0.5, 0.5, 0.5]
    assert len(stored["embedding"]) == 2 + 4 * WIDTH
