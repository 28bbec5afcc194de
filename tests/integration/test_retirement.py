"""Retention over a real cold store: exactly what is past its time, and beliefs in every store."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from support.lifecycle_house import WHOLE, House, house
from support.raw_stores import everything, where
from support.runtime import MovingClock, running

from ezra import Ezra
from ezra.erasure.redaction import redact
from metaagents.lifecycle import retirement, standins
from metaagents.lifecycle.agent import RetainHandler
from metaagents.lifecycle.retention import BeliefRetention
from metaagents.lifecycle.retired_traces import RetiredTraces
from metaagents.lifecycle.retirement import RetentionPolicy, RetentionReport, Retirement
from tiers.errors import NotFound
from tiers.grains import RETIRED, Retirable
from tiers.ids import derived_id
from tiers.records import AuditFilter, Episode, Fact, Retention, Scope, Summary, Turn, Work

# Retention over a real cold store: exactly what is past its time, and nothing before it is told.
#
# What is right is decided here from the turns and from the words of the plan.

DAY = timedelta(days=1)
FREE = Retention(plan="free")
START = datetime(2026, 1, 5, 11, 0, tzinfo=UTC)
"""A Monday."""


async def lived(own: House, days: int, *, agents: Sequence[str] = ("ada",)) -> list[Turn]:
    """Let agents speak once a day, the second one privately, and the lifecycle tick every day."""
    turns = []
    for number in range(days):
        day = START + number * DAY
        for agent in agents:
            text = f"Lap of day {number} took {number + 100} seconds."
            turns.append(await own.say(agent, day, text, private=agent == "bob", user_id="u"))
        await own.lifecycle.consolidate(WHOLE, day + timedelta(hours=20))
    return turns


def by_grain(report: RetentionReport) -> dict[str, tuple[int, int]]:
    """Return what was due and what was retired, where there was something."""
    return {one.grain: (one.due, one.retired) for one in report.grains if one.due}


async def kept(own: House) -> dict[str, list[Turn | Summary | Episode]]:
    """Return what has its content, by grain; of every agent."""
    found: dict[str, list[Turn | Summary | Episode]] = {"working": []}
    for agent in ("ada", "bob"):
        scope = WHOLE.for_agent(agent)
        turns = await own.cold.turns.recent_turns(scope, 1_000)
        found["working"] += [one for one in turns if one.redacted_at is None]
        found["working"] += await own.cold.episodic.summaries(scope)
    for episode in await own.episodes():
        found.setdefault(episode.grain, []).append(episode)
    return found


async def test_what_is_past_its_plan_is_retired_and_nothing_else(tmp_path: Path) -> None:
    """To the day: turns, summaries, days and weeks of two agents, private ones as well."""
    plan = Retention(plan="working=48h,daily=20d,weekly=2w")
    async with house(tmp_path, retention=plan) as own:
        turns = await lived(own, 47, agents=("ada", "bob"))
        days = [START + n * DAY for n in range(47)]
        now = days[-1] + timedelta(hours=21)
        before = {one.id: one.text for one in await own.episodes()}
        report = await own.retain(now, RetentionPolicy(records_min=1_000))
        left = await kept(own)
        stayed = {one.id for one in left["working"]}
        for one in turns:
            assert (one.id in stayed) == (one.recorded_at >= now - 2 * DAY)
        assert all(one.recorded_at >= now - 2 * DAY for one in left["working"])
        for agent in ("ada", "bob"):
            episodes = [one for one in await own.episodes() if one.agent_id == agent]
            starts = {grain: [] for grain in ("daily", "weekly", "monthly")}  # type: ignore[var-annotated]
            for episode in episodes:
                starts[episode.grain].append(episode.starts_at)
            assert starts["daily"] == [day for day in days if day >= now - 20 * DAY]
            # The fourth week ended three weeks ago, but its Sunday is in no month yet.
            assert starts["weekly"] == [START + 7 * n * DAY for n in range(3, 6)]
            assert starts["monthly"] == [START]
        gone = {"working": 45 * 2, "daily": 27, "weekly": 3}
        assert by_grain(report) == {grain: (2 * n, 2 * n) for grain, n in gone.items()}
        # What stays says what it said; the account is as before; once more does nothing.
        assert all(one.text == before[one.id] for one in await own.episodes())
        assert (await own.conserved()).turns == 94
        assert by_grain(await own.retain(now, RetentionPolicy(records_min=1_000))) == {}
        events = await own.cold.log.audit(WHOLE, only=AuditFilter(kinds=("retired",)))
        assert {one.reason for one in events} == {
            "retention: working kept for 48h",
            "retention: daily kept for 20d",
            "retention: weekly kept for 2w",
        }
        assert sum(len(one.record_ids) for one in events) == report.retired


async def test_nothing_of_a_turn_is_left_but_that_it_was(tmp_path: Path) -> None:
    """Words, speaker and user go; the summary and the day that tell it stay, till their time."""
    async with house(tmp_path, agents=("ada",), retention=Retention(plan="working=48h")) as own:
        (turn, *_) = await lived(own, 4)
        await own.retain(START + 3 * DAY)
        (gone,) = await own.cold.turns.turns_after(WHOLE.for_agent("ada"), 0, 1)
        assert (gone.id, gone.seq, gone.input, gone.user_id) == (turn.id, 1, RETIRED, None)
        assert gone.redacted_at == gone.retired_at == START + 3 * DAY
        assert "day 0" in (await own.episodes())[0].text
        # Asked away later, it leaves also what was made of it.
        reached = await own.cold.redactor.redact(WHOLE, [turn.id], "asked", START + 3 * DAY)
        assert await own.lifecycle.rewrite(WHOLE, reached, own.cold.redactor) == ()
        assert "day 0" not in " ".join(one.text for one in await own.episodes())
        await own.conserved()


async def test_what_nothing_stands_for_yet_stays(tmp_path: Path) -> None:
    """Turns without a day, days without a month: however old, nothing else tells of it."""
    async with house(tmp_path, agents=("ada",), retention=FREE) as own:
        await own.say("ada", START, "Only here.")
        late = START + 400 * DAY
        assert by_grain(await own.retain(late)) == {}
        await own.lifecycle.consolidate(WHOLE, START + 2 * DAY)
        assert by_grain(await own.retain(late)) == {"working": (2, 2)}
        assert [one.grain for one in await own.episodes()] == ["daily"]
        await own.lifecycle.consolidate(WHOLE, START + 8 * DAY)
        assert by_grain(await own.retain(late)) == {}
        # Then one pass takes all that is told at last, finest first.
        await own.lifecycle.consolidate(WHOLE, START + 700 * DAY)
        report = await own.retain(START + 700 * DAY)
        assert by_grain(report) == dict.fromkeys(
            ("daily", "weekly", "monthly", "quarterly"), (1, 1)
        )
        assert [one.grain for one in await own.episodes()] == ["yearly"]
        assert "Only here" in (await own.episodes())[0].text
        assert by_grain(await own.retain(START + 1200 * DAY)) == {"yearly": (1, 1)}
        assert await own.episodes() == []
        assert (await own.conserved()).turns == 1


async def test_what_years_told_that_are_past_their_time_goes_as_well(tmp_path: Path) -> None:
    """An old history that was recorded lately, and what outlives its years, is not kept."""
    late = START + 2000 * DAY
    async with house(tmp_path, agents=("ada",), retention=FREE) as own:
        for number in range(3):
            at = START + timedelta(days=180 * number)
            await own.say("ada", at, f"Old {number}.", recorded_at=late)
        await own.lifecycle.consolidate(WHOLE, late + DAY)
        # The year of it is past its time at once, and its words when they are two days old.
        first = by_grain(await own.retain(late + DAY))
        assert "working" not in first
        assert first["yearly"] == (1, 1)
        assert await own.episodes() == []
        report = await own.retain(late + 4 * DAY)
        assert by_grain(report) == {"working": (6, 6)}
        assert report.grains[0].refused == ""
        assert (await kept(own))["working"] == []
        assert (await own.conserved()).turns == 3
    async with house(tmp_path / "coarse first", agents=("ada",)) as own:
        # A week of two years, which outlived both.
        await own.say("ada", datetime(2026, 12, 31, 11, 0, tzinfo=UTC), "Of the old year.")
        await own.say("ada", datetime(2027, 1, 1, 11, 0, tzinfo=UTC), "Of the new year.")
        await own.lifecycle.consolidate(WHOLE, late)
        for plan in ("monthly=1mo,quarterly=1q,yearly=1y", "working=1d,daily=1d,weekly=1w"):
            assert (await own.retain(late + 2 * DAY, RetentionPolicy(plan=plan))).retired
        assert await own.episodes() == []
        assert (await kept(own))["working"] == []


async def test_a_stand_in_that_cannot_be_read_back_stands_for_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the store says of it: the record stays, and the report says so."""
    async with house(tmp_path, agents=("ada",), retention=FREE) as own:
        await lived(own, 4)
        now = START + 6 * DAY
        real, grains = own.cold.grains.retirable, own.cold.grains

        async def promising(*asked: object) -> tuple[Retirable, ...]:
            found = await real(*asked)  # type: ignore[arg-type]
            missing = derived_id(START, "nothing")
            return tuple(one.model_copy(update={"replaced_by": (missing,)}) for one in found)

        async def unsaid(*asked: object) -> tuple[Retirable, ...]:
            found = await real(*asked)  # type: ignore[arg-type]
            return tuple(one.model_copy(update={"replaced_by": ()}) for one in found)

        with monkeypatch.context() as patch:
            patch.setattr(grains, "retirable", promising)
            await _check_refused(own, now)
            patch.setattr(grains, "retirable", unsaid)
            await _check_refused(own, now)
            patch.setattr(grains, "retirable", real)
            own_episodes = await own.episodes()
            patch.setattr(own.cold.episodic, "episodes", _returning(own_episodes, text=" "))
            await _check_refused(own, now)
        monkeypatch.setattr(standins, "STAND_INS_PER_READ", 1)
        assert by_grain(await own.retain(now)) == {"working": (8, 8)}


async def _check_refused(own: House, now: datetime) -> None:
    report = await own.retain(now)
    assert by_grain(report) == {"working": (8, 0)}
    assert "of 8 nothing could be read back" in report.grains[0].refused


def _returning(episodes: Sequence[Episode], **changes: object) -> object:
    async def read(*_: object) -> tuple[Episode, ...]:
        return tuple(one.model_copy(update=changes) for one in episodes)

    return read


async def test_a_dry_run_says_what_would_be_done_and_writes_nothing(tmp_path: Path) -> None:
    """To the record; then it is done."""
    async with house(tmp_path, agents=("ada",), retention=FREE) as own:
        await lived(own, 40)
        await _told(own, 3)
        now = START + 95 * DAY
        before = (await kept(own), await own.cold.log.audit(WHOLE))
        would = await own.retain(now, dry_run=True)
        assert would.dry_run
        assert would.retired == 0
        assert (await kept(own), await own.cold.log.audit(WHOLE)) == before
        done = await own.retain(now)
        assert [(one.grain, one.due) for one in would.grains] == [
            (one.grain, one.due) for one in done.grains
        ]
        assert done.retired == sum(one.due for one in done.grains) > 80


@pytest.mark.parametrize("due_max", [10_000, 4])
async def test_a_large_share_is_refused_unless_forced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, due_max: int
) -> None:
    """Of turns and summaries and of facts; also where there is more than one look can count."""
    monkeypatch.setattr(retirement, "DUE_MAX", due_max)
    async with house(tmp_path, agents=("ada",), retention=FREE) as own:
        await lived(own, 10)
        await _told(own, 5)
        now = START + 95 * DAY
        cautious = RetentionPolicy(share_max=0.5, records_min=4)
        report = await own.retain(now, cautious)
        refused = {one.grain: one.refused for one in report.grains if one.refused}
        assert report.retired == 0
        assert set(refused) == {"working", "facts"}
        assert refused["working"] == "20 of 20 are more than 50%; it takes force"
        assert (await own.retain(now, RetentionPolicy(records_min=4, share_max=1))).retired > 0
        forced = await own.retain(now, cautious, force=True)
        assert not [one for one in forced.grains if one.refused]
        assert by_grain(await own.retain(now, cautious, force=True)) == {}
        assert {one.id for one in (await kept(own))["working"]} == set()


async def test_facts_that_ended_are_anonymised_in_their_time(tmp_path: Path) -> None:
    """Ninety days after they gave way, thirty after somebody asked; others never."""
    async with house(tmp_path, agents=("ada",)) as own:
        ids = await _told(own, 1)
        ask = own.cold.semantic.facts
        for days, live in ((29, 3), (30, 2), (89, 2), (90, 1)):
            report = await own.retain(START + days * DAY + timedelta(seconds=1))
            assert not [one for one in report.grains if one.refused]
            facts = await ask(WHOLE.for_agent("ada"), ids)
            assert sum(one.redacted_at is None for one in facts) <= live
        reasons = await own.cold.log.audit(WHOLE, only=AuditFilter(kinds=("retired",)))
        assert [(one.reason, len(one.record_ids)) for one in reasons] == [
            ("retention: forgotten facts kept for 30 days", 1),
            ("retention: superseded facts kept for 90 days", 1),
        ]


async def _told(own: House, pairs: int) -> list[str]:
    """Store facts that gave way to others and facts that were forgotten, so many of each."""
    scope, ids = WHOLE.for_agent("ada"), []
    for number in range(pairs):
        facts = []
        for what in ("old", "new", "unwanted"):
            fact = Fact(text=f"The {what} code of door {number} is {number}.")
            stored = fact.stamped(scope, own.ids.new(), START)
            facts.append((await own.cold.semantic.put_fact(scope, stored))[0].id)
        assert await own.cold.semantic.supersede(WHOLE, facts[0], facts[1], START)
        assert await own.cold.review.forget(WHOLE, facts[2], "asked", START)
        ids += facts
    return ids


async def test_the_handler_and_unknown_graphs(tmp_path: Path) -> None:
    """Queued work of a graph retires in that graph; of none there is nothing to say."""
    async with house(tmp_path, agents=("ada",)) as own:
        await lived(own, 4)
        own_retirement = Retirement(
            graphs=own.cold.graphs, grains=own.cold.grains, review=own.cold.review,
            episodic=own.cold.episodic, policy=RetentionPolicy(plan="free"), hot=own.hot,
            fleet=own.cold.fleet,
            traces=RetiredTraces(redactor=own.cold.redactor, warm=own.warm, taint=own.cold.taint),
        )  # fmt: skip
        item = Work(
            id="1", tenant="acme", graph_id="imola", agent_id=None, kind="retain",
            key="retention", payload={}, attempts=1, token=1, queued_at=START,
        )  # fmt: skip
        assert await RetainHandler(own_retirement).handle([item], START + 7 * DAY) == {}
        assert (await kept(own))["working"] == []
        with pytest.raises(NotFound):
            await own_retirement.run(Scope.of_graph("acme", "monza"), START)


# Retention of beliefs through the runtime: what ended is forgotten, in every store.

WORD = "xylograph"


async def retired(ezra: Ezra) -> int:
    """Let retention look at the graph now."""
    runtime = ezra._runtime
    graph = await runtime.graphs.graph("default", "imola")
    assert graph is not None

    async def erase(scope: Scope, ids: Sequence[str], reason: str) -> None:
        await redact(runtime, scope, ids, reason)

    return await BeliefRetention(runtime.history).retire(graph, runtime.clock(), erase)


async def test_a_belief_that_ended_is_forgotten_when_its_time_is_over(tmp_path: Path) -> None:
    """Not a day before, and only its content: the chain has one event more, and still holds."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola", retention=Retention(beliefs_days=30))
        agent = await graph.spawn_agent("keeper", topics={"t"})
        key = ("code", "word")
        former = await agent.commit(f"The code is {WORD}.", topic="t", key=key, value=WORD)
        await agent.pin(former.id)
        clock.move(days=29)
        now = await agent.commit("The code is narwhal.", topic="t", key=key, value="narwhal")
        held = await agent.commit("It will rain.", topic="t")
        await agent.pin(held.id)
        await ezra.drain_learning()
        clock.move(days=29)
        assert await retired(ezra) == 0
        assert "cold" in where(await everything(ezra, tmp_path), WORD)
        clock.move(days=1)
        assert await retired(ezra) == 1
        assert await retired(ezra) == 0
        await ezra.drain_learning()
        assert where(await everything(ezra, tmp_path), WORD) == set()
        assert {one.id for one in await agent.beliefs()} == {now.id, held.id}
        last = (await ezra._runtime.history.events(Scope.of_graph("default", "imola")))[-1]
        assert (last.kind, last.belief_id) == ("redacted", former.id)
        told = await graph.audit(only=AuditFilter(kinds=("redacted",)))
        assert [one.reason for one in told] == ["retention: kept for 30 days after its end"]
