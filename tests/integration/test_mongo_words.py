"""What words cost on MongoDB: which records are looked at for a question, and by how many commands.

What is found is the contract's to judge.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest
from support.atlas import WIDTH, opened, question, remember, searches
from support.cold_beliefs import replacing
from support.cold_samples import OTHER_AGENT, OTHER_GRAPH, SCOPE, asked, belief_by, fact_by, turn_by
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW

from tiers.cold.mongo.word_search import looked_up

HOUR = timedelta(hours=1)


@pytest.fixture(scope="module")
def server() -> Iterator[MongoServer]:
    """A server, shared by the module."""
    with running_mongo() as running:
        yield running


@pytest.fixture
async def cold(server: MongoServer) -> AsyncIterator[Any]:
    """An empty cold tier."""
    server.reset()
    async with opened(server, server.fresh_database()) as stores:
        yield stores


def _sent(server: MongoServer, collection: str) -> list[list[dict[str, Any]]]:
    """Return the pipelines that a collection was asked since commands were cleared."""
    bodies = [one["body"] for one in server.commands if one["name"] == "aggregate"]
    return [body["pipeline"] for body in bodies if body["aggregate"] == collection]


def test_the_rarest_words_are_looked_up_first(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as there is room for; what does not fit ends the list."""
    monkeypatch.setattr("tiers.cold.mongo.word_search.POSTINGS_MAX", 10)
    assert looked_up({"common": 9, "rare": 2, "some": 5, "few": 2}) == ["few", "rare", "some"]
    assert looked_up({"common": 11}) == []
    assert looked_up({}) == []


async def test_common_words_only_fill_up(
    server: MongoServer, cold: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search asks for the rare word, and for the newest of a common one where room is left."""
    monkeypatch.setattr("tiers.cold.mongo.word_search.POSTINGS_MAX", 3)
    monkeypatch.setattr("tiers.cold.mongo.word_search.NEWEST_MAX", 4)
    ids = []
    for number in range(6):
        fact = fact_by(text=f"tyres {number}")
        ids.append((await cold.semantic.put_fact(SCOPE, fact))[0].id)
    rare, _ = await cold.semantic.put_fact(SCOPE, fact_by(text="tyres and the undercut"))
    server.clear_commands()
    query = asked("undercut tyres", kinds=("fact",), limit=1)
    assert [hit.id for hit in await cold.words.search_words(SCOPE, query)] == [rare.id]
    _, ranking = _sent(server, "facts")
    assert ranking[0]["$match"]["$and"][-1] == {"terms": {"$in": ["undercut"]}}
    filled = await cold.words.search_words(SCOPE, query.model_copy(update={"limit": 9}))
    assert [hit.id for hit in filled] == [rare.id, *ids[-3:]], "the newest four have the rare one"
    strangers = asked("tyres", writer_id="nobody")
    assert await cold.words.search_words(SCOPE, strangers) == ()


async def test_counting_ends(
    server: MongoServer, cold: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A word is counted so far; beyond that it is as common as in the newest records."""
    monkeypatch.setattr("tiers.cold.mongo.word_counts.COUNTED_MAX", 4)
    monkeypatch.setattr("tiers.cold.mongo.word_counts.SAMPLED", 2)
    for number in range(10):
        text = f"tyres {number}" if number in {1, 2, 3, 4, 5, 9} else f"rain {number}"
        await cold.semantic.put_fact(SCOPE, fact_by(text=text))
    server.clear_commands()
    found = await cold.recollection.word_statistics(
        SCOPE, "How many tyres in the rain, 9?", ("fact", "turn")
    )
    assert found == (10, {"many": 0, "tyres": 5, "rain": 5, "9": 1})
    legs = [stage["$unionWith"]["pipeline"] for stage in _sent(server, "facts")[0][3:]]
    assert [leg[1] for leg in legs] == [{"$limit": 4}] * 7


async def test_a_search_is_as_many_commands_however_many_words_it_has(
    server: MongoServer, cold: Any
) -> None:
    """All counts are one of them, by tenant, graph and one word each."""
    await cold.turns.append_turn(SCOPE, turn_by(text="tyres"))
    await cold.semantic.put_fact(SCOPE, fact_by(text="tyres"))
    counts = []
    for text in ("tyres", "tyres " + " ".join(f"word{number}" for number in range(60))):
        server.clear_commands()
        found = await cold.words.search_words(SCOPE, asked(text, kinds=("turn", "fact")))
        assert len(found) == 2
        counts.append(len(server.commands))
    assert counts[0] == counts[1] <= 7
    legs = [stage["$unionWith"]["pipeline"] for stage in _sent(server, "turns")[0][3:]]
    assert len(legs) == 121
    assert all(leg[0]["$match"].keys() == {"tenant", "graph_id", "terms"} for leg in legs)


async def test_another_graph_changes_no_score(cold: Any) -> None:
    """Neither by how many records it has nor by how long they are: not by anything at all."""
    for number in range(9):
        await cold.semantic.put_fact(SCOPE, fact_by(text=f"tyres {number} " + "lap " * number))
    before = await cold.words.search_words(SCOPE, asked("tyres lap"))
    for number in range(9):
        long = fact_by(OTHER_GRAPH, f"tyres {number} " + "sand " * 99)
        await cold.semantic.put_fact(OTHER_GRAPH, long)
    assert await cold.words.search_words(SCOPE, asked("tyres lap")) == before


async def test_conversations_are_three_commands(server: MongoServer, cold: Any) -> None:
    """However many turns are asked for: where they are, what is next to them, what was said."""
    turns = [turn_by(SCOPE if n % 2 else OTHER_AGENT, f"lap {n}") for n in range(12)]
    for turn in turns:
        scope = SCOPE if turn.agent_id == SCOPE.agent_id else OTHER_AGENT
        await cold.turns.append_turn(scope, turn)
    recollection = cold.recollection
    for ids in ([turns[5].id], [turn.id for turn in turns[::3]]):
        server.clear_commands()
        stretches = await recollection.around(SCOPE, ids, 1, 1)
        assert len(server.commands) == 3
        for one in ids:
            assert any(one == said.id for stretch in stretches for said in stretch)
        legs = _sent(server, "turns")[0]
        limits = [legs[2], *(leg["$unionWith"]["pipeline"][2] for leg in legs[4:])]
        assert limits == [{"$limit": 2}, {"$limit": 1}] * len(ids)


async def test_what_the_server_cannot_filter_by_is_left_to_words(server: MongoServer) -> None:
    """Moments, writers and topics of a question are no part of its index: it is not asked."""
    server.reset()
    async with opened(server, server.fresh_database()) as cold:
        await cold.semantic.ensure_vector_index(WIDTH)
        near = (1.0, 0.0, 0.0, 0.0)
        mine = await remember(cold, fact_by(text="medium tyres"), near)
        theirs = fact_by(OTHER_AGENT, "medium tyres")
        await remember(cold, theirs, near, scope=OTHER_AGENT)
        server.clear_commands()
        for more in (
            {"writer_id": mine.agent_id, "as_of": NOW},
            {"writer_id": mine.agent_id, "since": NOW},
            {"writer_id": mine.agent_id, "topics": ("tyres",)},
        ):
            hits = await cold.semantic.recall_archival(SCOPE, question("tyres", **more))
            assert [hit.id for hit in hits] == [mine.id], more
        assert searches(server) == []
        await cold.semantic.recall_archival(SCOPE, question("tyres"))
        assert searches(server) != []


async def test_beliefs_of_then_are_found_by_their_spans(cold: Any) -> None:
    """One that gave way and is active again was active before and after, not in between."""
    first, second = belief_by(claim="Start on mediums."), belief_by(claim="Start on softs.")
    second = second.model_copy(update={"recorded_at": NOW + HOUR})
    await cold.beliefs.commit(SCOPE, first)
    await replacing(cold, SCOPE, second)
    await cold.beliefs.revert(SCOPE, second.id, "wrong", NOW + 2 * HOUR)
    recollection = cold.recollection
    for minutes, active, over in (
        (-1, [], []),
        (0, [first.id], []),
        (59, [first.id], []),
        (60, [], [second.id]),
        (119, [], [second.id]),
        (120, [first.id], []),
    ):
        then = asked("start", as_of=NOW + minutes * HOUR / 60, now=NOW + 3 * HOUR)
        found = await cold.words.search_words(SCOPE, then)
        ended = await recollection.ended(SCOPE, then)
        assert [[hit.id for hit in hits] for hits in (found, ended)] == [active, over], minutes
