"""What is promised of evidence: the past as it was, a turn with its own, nothing forged."""

from __future__ import annotations

import asyncio
import os
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path

import pytest
from support.row_forgeries import mongo_forgeries, sqlite_forgeries
from support.runtime import MovingClock, running

from ezra import Agent, Graph
from ezra.app import Ezra
from ezra.cli.doctor import examined, lines_of
from ezra.settings import Settings
from tiers.history.verification import verify_export

SEED = "5c" * 32
START = ("start", "compound")


async def test_r9_07_a_rewind_brings_back_what_a_revert_brings_back(tmp_path: Path) -> None:
    """After a rewind, taking a belief back restores what it had replaced at that moment."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        history = graph.beliefs
        one, two = [
            await agent.commit(f"Start on {value}s.", topic="tyres", key=START, value=value)
            for value in ("soft", "medium")
        ]
        mark = await history.seq_at()
        await history.revert(two.id, reason="no")
        done = await history.rewind(seq=mark, reason="back")
        assert (done.ended, done.restored) == ((one.id,), (two.id,))
        (first,) = await history.query(status="superseded")
        assert (first.id, first.superseded_by) == (one.id, two.id)
        done = await history.revert(two.id, reason="no, after all")
        assert (done.ended, done.restored) == ((two.id,), (one.id,))
        assert [found.id for found in await history.active()] == [one.id]
        assert (await history.verify()).ok


async def test_r9_07_a_rewind_undoes_what_took_places_since(tmp_path: Path) -> None:
    """Whatever happened between: another belief of the key, a loser, a belief taken back too."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        history = graph.beliefs

        async def commit(value: str) -> str:
            made = await agent.commit(f"Start on {value}s.", topic="tyres", key=START, value=value)
            return made.id

        one, two = await commit("soft"), await commit("medium")
        mark = await history.seq_at()
        await history.revert(two, reason="no")
        await history.revert(one, reason="nor this")
        await commit("hard")
        await history.rewind(seq=mark, reason="back")
        assert [found.id for found in await history.active()] == [two]
        done = await history.revert(two, reason="as it would have been then")
        assert done.restored == (one,)
        later = await history.seq_at()
        again = await history.rewind(seq=later, reason="nothing to do")
        assert (again.ended, again.restored) == ((), ())
        assert await history.seq_at() == later
        assert (await history.verify()).ok


async def test_r9_05_a_replay_shows_its_own_turn(tmp_path: Path) -> None:
    """Two agents have turns open at once; one commits; each turn has its own receipt and events."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        strategist = await graph.spawn_agent("strategist", topics={"tyres"})
        engineer = await graph.spawn_agent("engineer", topics={"tyres"})
        await (await engineer.turn("radio check?")).reply("loud and clear")
        strategists = await strategist.turn("what do we start on?")
        engineers = await engineer.turn("and the floor?")
        belief = await strategist.commit("Start on softs.", topic="tyres", key=START, value="soft")
        await engineers.reply("it is fine")
        await strategists.reply("softs")
        own, others = await graph.beliefs.replay(3), await graph.beliefs.replay(2)
        assert (own.turn and own.turn.id, own.receipt and own.receipt.id) == (
            strategists.id,
            strategists.receipt_id,
        )
        assert (others.turn and others.turn.id, others.receipt and others.receipt.id) == (
            engineers.id,
            engineers.receipt_id,
        )
        assert [(one.belief_id, one.turn_id) for one in own.events] == [(belief.id, strategists.id)]
        assert others.events == ()
        assert (own.before, [one.id for one in own.after]) == ((), [belief.id])
        first = await graph.beliefs.replay(1)
        assert (first.before, first.events, first.after) == ((), (), ())
        assert first.receipt is not None, "a turn without a commit has a receipt too"
        assert (await graph.beliefs.verify()).ok


async def test_r9_05_what_happens_during_a_turn_is_not_seen_before_it(tmp_path: Path) -> None:
    """Reverts, pins, rewinds, trust, redactions and commits of others, while a turn is open."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        other = await graph.spawn_agent("engineer", topics={"tyres"})
        history = graph.beliefs
        made = []
        for number in range(1, 5):
            turn = await agent.turn(f"stint {number}?")
            made.append(await agent.commit(f"Stint {number} on softs.", topic="tyres"))
            await turn.reply("noted")
        fourth = await history.as_of(turn=4)
        fifth = await agent.turn("stint 5?")
        await history.pin(made[1].id)
        await history.revert(made[0].id, reason="no")
        await history.set_trust("engineer", 0.5, topic="tyres", reason="wrong twice")
        await other.commit("It rains.", topic="tyres")
        await other.pin(made[2].id)
        await history.redact(made[3].id, reason="asked for")
        await fifth.reply("noted")
        seen = await history.as_of(turn=4)
        assert [one.id for one in seen] == [one.id for one in fourth]
        assert [one.pinned for one in seen] == [one.pinned for one in fourth]
        assert made[0].id not in [one.id for one in await history.as_of(turn=5)]
        found = await history.replay(5)
        assert {one.kind for one in found.events} >= {
            *("pinned", "reverted", "trusted", "committed", "redacted")
        }
        assert {one.turn_id for one in found.events} == {fifth.id}
        assert {one.turn for one in found.events} == {5}
        assert found.receipt is not None
        assert found.receipt.id == fifth.receipt_id
        assert len((await history.replay(4)).events) == 1
        assert (await history.verify()).ok


async def test_r9_05_an_unanswered_turn_hides_nothing(tmp_path: Path) -> None:
    """What was changed in a turn that nobody answered is replayed with the one after it."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        abandoned = await agent.turn("hello?")
        belief = await agent.commit("Start on softs.", topic="tyres")
        under_way = await graph.beliefs.replay(1)
        assert (under_way.turn, [one.belief_id for one in under_way.events]) == (None, [belief.id])
        assert under_way.receipt is not None
        assert under_way.receipt.id == abandoned.receipt_id
        answered = await agent.turn("anybody?")
        await answered.reply("yes")
        found = await graph.beliefs.replay(1)
        assert [one.turn_id for one in found.events] == [abandoned.id]
        assert found.receipt is not None
        assert found.receipt.id == answered.receipt_id


async def _eventful(ezra: Ezra) -> Graph:
    """Make a graph whose history has something of everything that an answer can show."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres", "chassis"}, user_id="ada")
    other = await graph.spawn_agent("engineer", topics={"tyres", "chassis"})
    turn = await agent.turn("what do we start on?")
    fact = await agent.remember("Softs last eleven laps.")
    first = await agent.commit(
        "Start on softs.", topic="tyres", key=START, value="soft", sources=[fact]
    )
    await turn.reply("softs")
    await agent.commit("Start on mediums.", topic="tyres", key=START, value="medium")
    await other.commit("The floor is fine.", topic="chassis")
    pinned = await other.commit("It may rain.", private=True)
    gone = await other.commit("Nobody needs to know.", topic="chassis", key=("x", "y"), value="z")
    history = graph.beliefs
    await history.pin(pinned.id)
    await history.sign()
    await history.set_trust("engineer", 0.5, topic="tyres", reason="wrong twice")
    await history.redact(gone.id, reason="asked for")
    await history.sign()
    assert (await history.query(status="superseded"))[0].id == first.id
    return graph


ON_SERVERS_EVERY = 6

_SHOWN = (
    *("audit", "belief_events", "belief_contents", "beliefs", "belief_spans", "belief_trust"),
    "belief_heads",
)


@pytest.mark.parametrize(
    "whole", [False, pytest.param(True, marks=[pytest.mark.slow, pytest.mark.timeout(1800)])]
)
async def test_r9_06_nothing_that_an_answer_shows_can_be_forged(
    tmp_path: Path,
    tiers: str,
    whole: bool,  # noqa: FBT001 - of the parameters
) -> None:
    """Each column and each row, changed or deleted in the raw store, is found by ``verify``.

    What it reads is compared above the stores: of servers the short form tries a share.
    """
    async with running(tmp_path, MovingClock(), signing_key=SEED) as ezra:
        graph = await _eventful(ezra)
        found = await graph.beliefs.verify()
        assert found.ok, found.problems
        assert found.audit > 0
        assert found.heads == 2
        if tiers == "embedded":
            ways = sqlite_forgeries(tmp_path / "ezra.db", _SHOWN, whole=whole)
        else:
            uri, database = os.environ["EZRA_MONGODB_URI"], os.environ["EZRA_MONGODB_DATABASE"]
            every = mongo_forgeries(uri, database, _SHOWN, whole=whole)
            ways = every if whole else islice(every, 0, None, ON_SERVERS_EVERY)
        missed = []
        count = 0
        for what in ways:
            count += 1
            if (await graph.beliefs.verify()).ok:
                missed.append(what)
        assert missed == []
        assert count > (100 if whole or tiers == "embedded" else 100 / ON_SERVERS_EVERY)
        found = await graph.beliefs.verify()
        assert found.ok, found.problems


async def test_r9_06_an_export_carries_the_audit_feed(tmp_path: Path) -> None:
    """A file in which an audit event was changed, dropped or moved is no proof any more."""
    path = tmp_path / "export.jsonl"
    async with running(tmp_path, MovingClock(), signing_key=SEED) as ezra:
        graph = await _eventful(ezra)
        await graph.beliefs.export(path)
        feed = await graph.audit()
    found = verify_export(path)
    assert found.ok, found.problems
    assert found.audit == len(feed)
    lines = path.read_bytes().splitlines(keepends=True)
    places = [n for n, line in enumerate(lines) if line.startswith(b'{"audit"')]
    for at in (places[0], places[3], places[-1]):
        path.write_bytes(b"".join([*lines[:at], *lines[at + 1 :]]))
        assert any("audit" in one.what for one in verify_export(path).problems)
        changed = lines[at].replace(b'"kind":"', b'"kind":"un')
        path.write_bytes(b"".join([*lines[:at], changed, *lines[at + 1 :]]))
        first = verify_export(path).problems[0]
        assert (first.line, "audit event" in first.what) == (at + 1, True)
    swapped = [*lines]
    swapped[places[1]], swapped[places[2]] = swapped[places[2]], swapped[places[1]]
    path.write_bytes(b"".join(swapped))
    assert not verify_export(path).ok


async def test_r9_06_racing_writers_make_one_feed(tmp_path: Path) -> None:
    """Many at once, signing included: no gap, one chain, one row of heads."""
    async with running(tmp_path, MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola")
        agents = [await graph.spawn_agent(f"a{n}", topics={"tyres"}) for n in range(4)]

        async def work(agent: Agent) -> None:
            for number in range(3):
                await agent.commit(f"{agent.id} says {number}.", topic="tyres")

        await asyncio.gather(*map(work, agents))
        feed = await graph.audit()
        assert [one.seq for one in feed] == list(range(1, len(feed) + 1))
        assert (await graph.beliefs.verify()).ok


async def test_r9_38_a_clock_that_was_ahead_is_told_and_loses_nothing(tmp_path: Path) -> None:
    """For an hour the clock is a year ahead; as of now shows what is active, and it is told."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        history = graph.beliefs
        first = await agent.commit("Start on softs.", topic="tyres")
        before = clock()
        assert (await history.verify()).warnings == ()
        assert await history.in_future() is None
        clock.move(days=365)
        ahead = await agent.commit("Clocks are right.", topic="tyres")
        clock.move(days=-365, hours=1)
        later = await agent.commit("It may rain.", topic="tyres")
        ids = [first.id, ahead.id, later.id]
        assert [one.id for one in await history.active()] == ids
        assert [one.id for one in await history.as_of(clock())] == ids
        assert [one.id for one in await agent.beliefs(as_of=clock())] == ids
        assert [one.id for one in await history.query(as_of=clock())] == ids
        assert [one.id for one in await history.as_of(before)] == [first.id]
        found = await history.verify()
        assert found.ok, found.problems
        (warning,) = found.warnings
        assert "events 2 to 3" in warning
        assert "ahead of this clock" in warning
        assert await history.in_future() == warning
        clock.move(days=400)
        assert (await history.verify()).warnings == ()
        assert [one.id for one in await history.as_of(clock())] == ids


async def test_r9_38_a_little_ahead_is_seen_too(tmp_path: Path) -> None:
    """Five minutes hide nothing from as of now either; less than a minute is no matter."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        for minutes, is_told in ((0.5, False), (5, True)):
            clock.move(minutes=minutes)
            await agent.commit(f"It rains in {minutes} minutes.", topic="tyres")
            clock.move(minutes=-minutes)
            assert (await graph.beliefs.in_future() is not None) == is_told
        assert len(await graph.beliefs.as_of(clock())) == 2


async def test_r9_38_the_doctor_sees_a_log_that_ends_in_the_future(tmp_path: Path) -> None:
    """It names the graph, and says how to go on; a log that ends before now is not named."""
    for name, days in (("monza", -1), ("imola", 365)):
        clock = MovingClock(datetime.now(UTC) + timedelta(days=days))
        async with running(tmp_path, clock) as ezra:
            graph = await ezra.create_session_graph(name)
            agent = await graph.spawn_agent("strategist", topics={"tyres"})
            await agent.commit("Start on softs.", topic="tyres")
    report, _ = await examined(Settings(home=tmp_path, embedder="off"))
    assert report["clock"].startswith("imola: event 1: recorded at")
    assert "set the clocks right" in report["clock"]
    assert "monza" not in report["clock"]
    assert any("ahead of this clock" in line for line in lines_of(report))
