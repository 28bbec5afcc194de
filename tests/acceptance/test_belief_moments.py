"""Moments that a graph's past does not have: times to come, and turns that never were."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest
from support.runtime import MovingClock, running

from ezra import Agent, Commitment, Conflict, Fact, Graph, Parent, UsageError
from ezra.app import Ezra


async def _pair(ezra: Ezra) -> tuple[Graph, Agent]:
    graph = await ezra.create_session_graph("imola")
    return graph, await graph.spawn_agent("strategist", topics={"tyres"})


def _claims(beliefs: tuple[Commitment, ...]) -> list[str]:
    return [one.claim for one in beliefs]


async def test_ez_13_a_branch_leaves_from_no_moment_that_is_to_come(tmp_path: Path) -> None:
    """It would read what its parent remembers later; a clock that is a little behind is borne."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph, strategist = await _pair(ezra)
        await strategist.remember(Fact(text="The wing is at 28.", tier="core"))
        now = clock()
        near, far = now + timedelta(seconds=30), now + timedelta(minutes=2)
        with pytest.raises(UsageError, match=r"time: .*accepted: a time up to now"):
            await graph.branch(time=far, session_graph_id="far")
        to_come = Parent(id="imola", as_of=far)
        with pytest.raises(UsageError, match=r"as_of: .*accepted: a time up to now"):
            await ezra.create_session_graph("far", inherits_from=[to_come])
        heir = await ezra.create_session_graph("heir")
        with pytest.raises(UsageError, match="as_of"):
            await heir.inherit(to_come)
        assert "far" not in {one.id for one in await ezra.session_graphs()}
        branch = await graph.branch(time=near, session_graph_id="near")
        await heir.inherit(Parent(id="imola", as_of=near))
        clock.move(seconds=1)
        await strategist.remember(Fact(text="The wing is at 30.", tier="core"))
        clock.move(hours=1)
        for each in (branch, heir):
            reader = await each.spawn_agent("reader", topics={"*"})
            hits = await reader.recall("wing", kinds=["fact"])
            assert [one.text for one in hits.items] == ["The wing is at 28."]


async def test_ez_09_a_turn_that_the_graph_does_not_have_is_refused(tmp_path: Path) -> None:
    """As events of the log are; one under way counts as soon as a belief changed in it."""
    async with running(tmp_path) as ezra:
        graph, strategist = await _pair(ezra)
        history = graph.beliefs
        await (await strategist.turn("stint 1?")).reply("yes")
        made = await strategist.commit("Softs.", topic="tyres")
        for asking in (
            lambda: history.as_of(turn=2),
            lambda: history.as_of(9999),
            lambda: history.diff(1, 9999),
            lambda: history.query(as_of=2),
            lambda: history.rewind(turn=2, reason="x"),
            lambda: history.seq_at(2),
            lambda: strategist.beliefs(as_of=2),
            lambda: graph.branch(turn=99, session_graph_id="b"),
        ):
            with pytest.raises(UsageError, match=r"turn: .*accepted: 0 to 1, or a time"):
                await asking()
        assert await history.as_of(turn=0) == ()
        assert (await history.replay(9999)).turn is None
        assert _claims(await history.as_of(turn=1)) == ["Softs."]
        assert _claims(await history.query(since=1, until=9999)) == ["Softs."]
        assert await history.query(since=9999) == ()
        open_turn = await strategist.turn("stint 2?")
        with pytest.raises(UsageError):
            await history.as_of(turn=2)
        await strategist.commit("Mediums.", topic="tyres")
        assert _claims(await history.as_of(turn=2)) == ["Softs.", "Mediums."]
        await open_turn.reply("yes")
        assert (await history.as_of(turn=1))[0].id == made.id


async def test_ez_09_the_hour_that_clocks_show_twice_is_told_apart(tmp_path: Path) -> None:
    """When summer time ends, 2:20 is there twice: what bounds a query says which of them it is."""
    clock = MovingClock(datetime(2026, 10, 25, 0, 30, tzinfo=UTC))  # 2:30 in Berlin
    zone = ZoneInfo("Europe/Berlin")
    first, second = (datetime(2026, 10, 25, 2, 20, tzinfo=zone, fold=fold) for fold in (0, 1))
    async with running(tmp_path, clock) as ezra:
        graph, strategist = await _pair(ezra)
        await strategist.commit("Hards.", topic="tyres")
        clock.move(hours=1)
        await strategist.commit("Rain is coming.", topic="tyres")
        query = graph.beliefs.query
        assert _claims(await query(since=first)) == ["Hards.", "Rain is coming."]
        assert _claims(await query(since=second)) == ["Rain is coming."]
        assert _claims(await query(until=second)) == ["Hards."]
        later, early = first + timedelta(minutes=30), second - timedelta(minutes=15)
        assert _claims(await query(since=later, until=early.replace(fold=1))) == []
        with pytest.raises(UsageError, match=r"until: .*accepted: nothing before since"):
            await query(since=second, until=later)


async def test_ez_13_a_branch_is_not_the_graph_itself(tmp_path: Path) -> None:
    """It is refused as a graph that exists, not by a field that nobody gave."""
    async with running(tmp_path) as ezra:
        graph, _ = await _pair(ezra)
        with pytest.raises(Conflict, match="session graph 'imola'"):
            await graph.branch(session_graph_id="imola")


async def test_ez_13_a_rewind_into_the_middle_of_a_change_names_the_event(tmp_path: Path) -> None:
    """By the name by which it was given; there two beliefs of one key were active."""
    async with running(tmp_path) as ezra:
        graph, strategist = await _pair(ezra)
        for claim in ("Softs.", "Mediums."):
            await strategist.commit(claim, topic="tyres", key=("start", "on"), value=claim)
        with pytest.raises(UsageError, match=r"^seq: 2 .*accepted: the last event of a change"):
            await graph.beliefs.rewind(seq=2, reason="back")
        assert _claims(await graph.beliefs.active()) == ["Mediums."]
