"""Recall of what held once: former facts, and facts of the day that a question names."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.many_turns import ids_of
from support.model_http import KEY, running_model_server
from support.reranking import answering
from support.runtime import MovingClock, running

from ezra import Agent, Fact
from ezra.models.reranking.blending import reranked
from ezra.recall import search
from tiers.records import Hit

FRIDAY = datetime(2026, 5, 15, 9, 0, tzinfo=UTC)
ASKED = "Where did Kim live in 2022?"
HOME = "lives in"


def year(number: int) -> datetime:
    """Return the beginning of a year."""
    return datetime(number, 1, 1, tzinfo=UTC)


async def _moved(agent: Agent, clock: MovingClock) -> tuple[str, str]:
    """Let Kim live in Porto from 2020 on and in Lisbon from 2024 on; return the ids of both."""
    old = await agent.knowledge.add("Kim", HOME, "Porto", valid_from=year(2020))
    clock.move(minutes=1)
    new = await agent.knowledge.update("Kim", HOME, "Lisbon", valid_from=year(2024))
    clock.move(minutes=1)
    return old, new


async def _facts(agent: Agent, question: str, **asked: object) -> tuple[Hit, ...]:
    return (await agent.recall(question, kinds=("fact",), **asked)).items


async def test_a_past_state_is_found_beside_the_present(tmp_path: Path) -> None:
    """What held then comes first and says until when it did; who asks about now is not told."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a")
        old, new = await _moved(agent, clock)
        for question, expected in (
            ("Where does Kim live?", [new]),
            ("Where did Kim live in 2025?", [new]),
            (ASKED, [old, new]),
            ("Where did Kim live before 2023?", [old, new]),
            ("Where did Kim live last year and in 2023?", [old, new]),
            ("Where did Kim live in 2019?", [new]),
            ("Where did Kim live previously?", [new, old]),
            ("Where did Kim use to live?", [new, old]),
        ):
            assert ids_of(await _facts(agent, question)) == expected, question
        found = (await agent.recall(ASKED, explain=True)).items
        assert [(hit.valid_from, hit.valid_to) for hit in found] == [
            (year(2020), year(2024)),
            (year(2024), None),
        ]
        assert "(from 2020-01-01 until 2024-01-01)" in (await agent.inject(ASKED)).text
        assert ids_of(await _facts(agent, ASKED, depth=0, limit=1)) == [old]


async def test_who_came_back_lived_there_twice(tmp_path: Path) -> None:
    """What held once and what holds now say the same, and neither takes the other's place."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a")
        first, second = await _moved(agent, clock)
        third = await agent.knowledge.update("Kim", HOME, "Porto", valid_from=year(2025))
        assert ids_of(await _facts(agent, "Where does Kim live?")) == [third]
        assert ids_of(await _facts(agent, ASKED)) == [first, third]
        assert ids_of(await _facts(agent, "Where did Kim live in 2024?")) == [second, third]
        found = await _facts(agent, "Where did Kim live previously?")
        assert set(ids_of(found)) == {first, second, third}


async def test_a_state_is_former_also_where_nothing_took_its_place(tmp_path: Path) -> None:
    """Its time ran out: it is found as before, and where it held then it counts in full."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a")
        over = Fact(text="Kim rents a boat", valid_from=year(2020), valid_to=year(2023))
        await agent.remember(over)
        for question, is_former in (
            ("Who rents a boat?", False),
            ("Who rented a boat in 2025?", False),
            ("Who rented a boat in 2022?", True),
        ):
            found = await agent.recall(question, kinds=("fact",), explain=True)
            factors = found.reasons[found.items[0].id].factors
            assert ("former" in factors) is is_former, question
            assert ("validity" in factors) is not is_former, question


async def test_what_was_taken_back_stays_away(tmp_path: Path) -> None:
    """Forgotten, corrected, replaced on request, redacted or erased: it is in no past either."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"t"})
        forgotten = await agent.remember("Kim lived in Rome.")
        await agent.forget(forgotten, reason="asked to")
        wrong = await agent.remember("Kim lived in Bern.")
        await graph.correct(wrong, reason="it was never true", text="Kim lived in Basel.")
        unwanted = await agent.remember("Kim lived in Oslo.")
        instead = await agent.remember("Kim lived up north.")
        await agent.forget(unwanted, reason="asked to", superseded_by=instead)
        old, new = await _moved(agent, clock)
        cleaned, _ = await _moved(await graph.spawn_agent("b", topics={"t"}), clock)
        await graph.redact([cleaned], reason="asked to")
        gone = {forgotten, wrong, unwanted, cleaned}
        for question in (ASKED, "Where did Kim live previously?", "Where did Kim live before?"):
            for reader in (agent, graph):
                found = {hit.id for hit in (await reader.recall(question, limit=50)).items}
                assert old in found, question
                assert not gone & found, question
        await ezra.erase(subject="Porto", reason="asked to")
        assert old not in ids_of(await _facts(agent, ASKED))
        assert new in ids_of(await _facts(agent, ASKED))


async def test_a_former_fact_is_seen_by_who_saw_it(tmp_path: Path) -> None:
    """Private ones by their writer, those of a topic by who has it, a user's by that user."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("g")
        owner = await graph.spawn_agent("owner", topics={"home"})
        peer = await graph.spawn_agent("peer", topics={"home"})
        stranger = await graph.spawn_agent("stranger", topics={"tyres"})
        for private in (True, False):
            old = await _replaced(owner, clock, private=private)
            assert old in ids_of(await _facts(owner, ASKED))
            assert (old in ids_of(await _facts(peer, ASKED))) is not private
            assert old not in ids_of(await _facts(stranger, ASKED))
            assert old not in ids_of(await _facts(owner, ASKED, topics={"tyres"}))
        kim = await graph.spawn_agent("kims", topics={"home"}, user_id="kim")
        old = await _replaced(kim, clock, private=False)
        lou = await graph.spawn_agent("lous", topics={"home"}, user_id="lou")
        assert old in ids_of(await _facts(kim, ASKED, scope="user"))
        for other in (lou, peer, stranger):
            assert old not in ids_of(await _facts(other, ASKED))


async def _replaced(agent: Agent, clock: MovingClock, *, private: bool) -> str:
    """Let an agent remember where Kim lived and then where Kim lives; return the former's id."""
    home = Fact(text=f"Kim lived with {agent.id}, {private}.", valid_from=year(2020))
    old = await agent.remember(home, private=private)
    clock.move(minutes=1)
    await agent.remember(f"Kim lives alone, {private}.", private=private, supersedes=old)
    clock.move(minutes=1)
    return old


async def test_a_former_fact_is_former_from_when_it_gave_way(tmp_path: Path) -> None:
    """Asked as of a moment before, it is what held; what was recorded later is not there."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a")
        before = clock()
        old = await agent.knowledge.add("Kim", HOME, "Porto", valid_from=year(2020))
        then = clock()
        clock.move(hours=1)
        new = await agent.knowledge.update("Kim", HOME, "Lisbon", valid_from=year(2024))
        for moment, expected in ((before, set()), (then, {old}), (clock(), {old, new})):
            found = await _facts(agent, ASKED, as_of=moment)
            assert set(ids_of(found)) <= expected, moment
            assert old in ids_of(found) or moment == before


async def test_a_reranker_keeps_former_facts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """But none that somebody redacts while it is asked."""
    clock, done = MovingClock(FRIDAY), []
    with running_model_server() as server:
        server.always = answering(server)
        at = {"rerank_url": f"{server.url}/tei", "rerank_api_key": KEY}
        async with running(tmp_path, clock, **at) as ezra:
            graph = await ezra.create_session_graph("g")
            agent = await graph.spawn_agent("a")
            old, new = await _moved(agent, clock)
            found = await agent.recall(ASKED, kinds=("fact",))
            assert found.rerank_used
            assert set(ids_of(found.items)) == {old, new}

            async def redacting(*asked: Any, **more: Any) -> Any:
                done.append(await graph.redact([old], reason="asked to"))
                return await reranked(*asked, **more)

            monkeypatch.setattr(search, "reranked", redacting)
            assert ids_of(await _facts(agent, ASKED)) == [new]
    assert done


@pytest.mark.parametrize("embedder", ["off", "required"])
async def test_what_was_learnt_of_a_day_is_found_by_that_day(tmp_path: Path, embedder: str) -> None:
    """When it was said counts, not when it was learnt; and what it replaced is found by words."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock, embedder=embedder) as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a", user_id="ada")
        for text, days in (
            ("I live in Berlin.", 900),
            ("I moved to Potsdam.", 300),
            ("I bought a red bicycle.", 2),
            ("I bought a blue kettle.", 5),
        ):
            turn = await agent.turn(text, at=clock() - timedelta(days=days))
            await turn.reply("Noted.")
        for _ in range(4):
            await ezra.drain_learning()
        for question, expected in (
            ("What had I bought two days ago?", "ada bought a red bicycle"),
            ("What had I bought on the 13th?", "ada bought a red bicycle"),
            ("What had I bought on the 10th?", "ada bought a blue kettle"),
            ("Where did I live two years ago?", "ada lives in Berlin"),
        ):
            found = await _facts(agent, question)
            assert found[0].text == expected, question
        (home,) = [hit for hit in found if hit.text == "ada lives in Berlin"]
        assert home.valid_to is not None
        assert home.valid_to.date() == (FRIDAY - timedelta(days=300)).date()
        assert "ada lives in Berlin" not in [
            hit.text for hit in await _facts(agent, "Where do I live?")
        ]


async def test_a_former_fact_is_found_by_what_it_means(tmp_path: Path) -> None:
    """With a model it need not share a word with the question; what means something else stays."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock, embedder="required") as ezra:
        agent = await (await ezra.create_session_graph("g")).spawn_agent("a")
        old = await agent.remember("Kim is a nurse at the hospital.")
        ferry = await agent.remember("The ferry to Elba leaves at nine.")
        clock.move(minutes=1)
        await agent.remember("Kim is a teacher at the school.", supersedes=old)
        await agent.remember("The ferry to Elba leaves at ten.", supersedes=ferry)
        asked = "Which medical job had she in 2022?"
        found = ids_of(await _facts(agent, asked))
        assert old in found
        assert ferry not in found
        assert old not in ids_of(await _facts(agent, asked, mode="keyword"))
        assert old not in ids_of(await _facts(agent, "Which medical job has she?"))


async def test_a_former_fact_can_be_forgotten(tmp_path: Path) -> None:
    """Whoever finds it can have it forgotten, once; what holds now stays."""
    clock = MovingClock(FRIDAY)
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a")
        old, new = await _moved(agent, clock)
        assert await agent.forget(old, reason="asked to")
        assert not await agent.forget(old, reason="asked to")
        assert await agent.forget_facts([old], reason="asked to") == ()
        assert ids_of(await _facts(agent, ASKED)) == [new]
        told = [one.text for one in await agent.knowledge.history("Kim", HOME)]
        assert sum(text == "[forgotten]" for text in told) == 1
