"""A runtime whose MongoDB searches by meaning itself, as Atlas does: facts get vectors there too.

On the stand-in, with the real embedding model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.cold_mongo import server
from support.doors import run
from support.runtime import MovingClock, running
from support.servers import on_servers

from ezra import Ezra, Fact, TierRejected

FACTS = ("The mediums last about 18 laps.", "Rain is likely at two.", "The gearbox is fragile.")


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """A runtime on servers, MongoDB with search indexes."""
    return on_servers(monkeypatch)


def stored(variables: dict[str, str]) -> list[dict[str, Any]]:
    """Return the facts as the server has them."""
    database = server().client[variables["EZRA_MONGODB_DATABASE"]]
    return list(database["facts"].find().sort("_id", 1))


async def remembered(ezra: Ezra) -> Any:
    """Store three facts, each by an agent of its own topic, one of them private."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("a", topics={"tyres"})
    for text in FACTS:
        await agent.remember(Fact(text=text), private=text == FACTS[2])
    return agent


async def test_facts_get_their_vectors_and_are_found_by_them(
    variables: dict[str, str], tmp_path: Path
) -> None:
    """Those of before the index, private ones too, and those that come after it."""
    async with running(tmp_path, MovingClock(), embedder="required") as ezra:
        agent = await remembered(ezra)
        assert all("embedding" not in fact for fact in stored(variables))
        states: list[tuple[str, str]] = []
        way = await ezra.ensure_archival_index(lambda name, state: states.append((name, state)))
        assert way == "atlas vector"
        assert states
        assert [fact["embedding_model"] for fact in stored(variables)] == [ezra.embedder] * 3
        await agent.remember(Fact(text="Hards survive longest of all."))
        await ezra.drain_learning()
        assert len([fact for fact in stored(variables) if "embedding" in fact]) == 4
        hits = await agent.recall_archival("how durable are the tyre compounds")
        assert {hits[0].text, hits[1].text} == {FACTS[0], "Hards survive longest of all."}


async def test_a_memory_that_moved_in_gets_its_vectors_by_itself(
    variables: dict[str, str], tmp_path: Path
) -> None:
    """Whatever brought the facts there: they are found as facts that have no vector yet."""
    async with running(tmp_path, MovingClock(), embedder="required") as ezra:
        await remembered(ezra)
        await ezra.ensure_archival_index()
    database = server().client[variables["EZRA_MONGODB_DATABASE"]]
    with server().tampering():
        database["facts"].update_many({}, {"$unset": {"embedding": "", "embedding_model": ""}})
    async with running(tmp_path, MovingClock(), embedder="required") as ezra:
        await ezra.drain_learning()
    assert all("embedding" in fact for fact in stored(variables))


async def test_without_search_the_warm_tier_answers_and_says_so(tmp_path: Path) -> None:
    """The embedded cold tier has none; asking for an index is an error that explains itself."""
    async with running(tmp_path, embedder="off") as ezra:
        with pytest.raises(TierRejected, match="warm tier finds facts by meaning"):
            await ezra.ensure_archival_index()


def test_the_command_waits_and_the_doctor_tells(variables: dict[str, str], tmp_path: Path) -> None:
    """``ezra search-index``, then ``ezra doctor``: every tier answers, Atlas recalls."""
    passed = {**variables, "EZRA_HOME": str(tmp_path / "home"), "EZRA_EMBEDDER": "required"}
    done = run("search-index", "--json", **passed, HOME=str(Path.home()))
    assert done.code == 0, done.err
    assert done.document == {"archival_recall": "atlas vector"}
    done = run("doctor", "--json", **passed, HOME=str(Path.home()))
    assert done.code == 0, done.out + done.err
    tiers = {tier["tier"]: tier for tier in done.document["tiers"]}
    assert set(tiers) == {"hot", "warm", "cold", "embedding"}
    assert all(tier["reachable"] for tier in tiers.values())
    assert tiers["cold"]["details"]["archival_recall"] == "atlas vector"
    assert tiers["hot"]["engine"] == "redis"
