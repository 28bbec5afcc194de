"""A conversation that an OpenAI Agents session keeps does not drown what was remembered."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running
from support.service import DOORS, serving

from ezra import Ezra, UsageError
from ezra.adapters.openai_agents import CLEARED, EzraSession


def talk(count: int) -> list[Any]:
    """Return items of a conversation that all speak of one thing."""
    return [
        {"role": "user" if n % 2 else "assistant", "content": f"The gearbox seals, {n % 5}?"}
        for n in range(count)
    ]


async def test_r9_30_items_are_in_no_recall_and_no_turn(tmp_path: Path) -> None:
    """By words, by meaning, among facts and as of then: what was remembered stands alone."""
    clock = MovingClock()
    async with running(tmp_path, clock, embedder="auto") as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"*"}, inject="turn")
        fact = await agent.remember("The gearbox seals last nine races.")
        session = EzraSession("talk", agent)
        await session.add_items(talk(30))
        await session.pop_item()
        await ezra.drain_learning()
        clock.move(minutes=1)
        question = "How long do the gearbox seals last? 3"
        ways: list[dict[str, Any]] = [
            {},
            {"kinds": ("fact",)},
            {"mode": "keyword"},
            {"mode": "semantic"},
            {"as_of": clock()},
            {"scope": "agent"},
            {"depth": 4},
        ]
        for way in ways:
            found = await agent.recall(question, limit=50, **way)
            assert {one.id for one in found.items} <= {fact}, way
        assert {one.id for one in (await agent.recall(question)).items} == {fact}
        archival = await agent.recall_archival(question)
        assert {one.id for one in archival} == {fact}
        turn = await agent.turn(question)
        told = "\n".join(one["content"] for one in turn.messages[:-1])
        assert "nine races" in told
        assert "The gearbox seals, " not in told
        assert len((await agent.inject(question)).items) <= 1
        assert len(await session.get_items()) == 29


@pytest.mark.parametrize("door", DOORS)
async def test_r9_30_items_are_found_where_a_session_asks_for_it(tmp_path: Path, door: str) -> None:
    """And read as they were said: nothing is put behind the words, and the same twice is two."""
    async with running(tmp_path, MovingClock()) as behind:
        graph = await behind.create_session_graph("g")
        member: Any = await graph.spawn_agent("a", topics={"*"})
        if door == "remote":
            async with serving(behind) as url, Ezra.connect(url) as remote:
                agent = await (await remote.session_graph("g")).agent("a")
                await check_asked_for(agent)
        else:
            await check_asked_for(member)


async def check_asked_for(agent: Any) -> None:
    """Keep a conversation that recall is told of, and one that it is not."""
    said: list[Any] = [{"role": "user", "content": "Yes, okapis."}] * 3
    quiet, loud = EzraSession("quiet", agent), EzraSession("loud", agent, recalled=True)
    await quiet.add_items(said)
    assert (await agent.recall("okapis")).items == ()
    await loud.add_items(said)
    found = await agent.recall("okapis")
    assert {one.text for one in found.items} == {"user: Yes, okapis."}
    assert len({one for hit in found.items for one in (hit.id, *hit.folded)}) == 3
    assert await quiet.get_items() == await loud.get_items() == said
    texts = [one.text for one in (await agent.latest_facts()).rows]
    assert texts == ["user: Yes, okapis."] * 6
    assert await agent.remember("user: Yes, okapis.") not in {one.id for one in found.items}
    # Whoever goes on with the session reads all of it, however it was added.
    await EzraSession("quiet", agent, recalled=True).add_items(said[:1])
    assert len(await quiet.get_items()) == 4


async def test_r9_30_a_session_is_cleared_in_one_step(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 30 items one call, which leaves a tombstone and an event of each."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"*"})
        session, other = EzraSession("talk", agent), EzraSession("other", agent)
        await session.add_items(talk(30))
        await other.add_items(talk(2))
        calls: list[int] = []
        review = ezra._runtime.review
        forgets = review.forget_all

        async def counted(scope: Any, ids: Any, *more: Any) -> Any:
            calls.append(len(ids))
            return await forgets(scope, ids, *more)

        monkeypatch.setattr(review, "forget_all", counted)
        await session.clear_session()
        assert calls == [30]
        assert await session.get_items() == []
        assert len(await other.get_items()) == 2
        events = [one for one in await graph.audit(limit=1_000) if one.kind == "forgotten"]
        assert [one.reason for one in events] == [CLEARED] * 30
        assert len({one for event in events for one in event.record_ids}) == 30
        await session.clear_session()
        assert calls == [30]


async def test_r9_30_several_facts_are_forgotten_in_one_step(tmp_path: Path) -> None:
    """Those that live and are seen; each once, and what is left out is not said to be there."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("g")
        agent = await graph.spawn_agent("a", topics={"*"})
        other = await graph.spawn_agent("b", topics={"*"})
        theirs = await other.remember("Mine.", private=True)
        mine = [await agent.remember(f"Rain at {n}.") for n in range(4)]
        await agent.forget(mine[0], reason="wrong")
        done = await agent.forget_facts([*mine, mine[1], theirs, "unknown"], reason="asked to")
        assert done == tuple(mine[1:])
        assert await agent.forget_facts(mine, reason="asked to") == ()
        assert (await agent.recall("rain")).items == ()
        assert [one.forgotten_at for one in await other.facts([theirs])] == [None]
        with pytest.raises(UsageError, match="100"):
            await agent.forget_facts(["x"] * 101, reason="asked to")
