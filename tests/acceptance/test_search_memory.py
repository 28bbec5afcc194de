"""Searching by days through the public API: row HE-04."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from support.runtime import MovingClock, running

from ezra import Agent, Turn

GRAINS = ("daily", "weekly", "monthly", "quarterly", "yearly")
FOREVER = 36_500


async def speak(agent: Agent, message: str, at: datetime | None = None) -> None:
    """Carry one message through all eight steps."""
    await (await agent.turn(message, at=at)).reply("")


async def store(agent: Agent, message: str, at: datetime) -> None:
    """Store a turn as the last step does; hundreds through all eight would take a minute."""
    runtime, scope = agent._runtime, await agent._reading()
    turn = Turn(input=message, occurred_at=at, topics=agent.topics)
    await runtime.turns.append_turn(scope, turn.stamped(scope, runtime.ids.new(), at))


async def test_he_04_a_narrow_window_holds_all_that_lies_in_it(tmp_path: Path) -> None:
    """Three weak matches of last week are all found, with 240 better ones of last month around."""
    clock = MovingClock()
    today = clock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"t"})
        for number in range(240):
            await store(agent, f"gear gear gear {number}", today - timedelta(days=40))
        for days in (7, 6, 5):
            said = f"On this day the crew spoke of many things, of a gear too, {days} of them."
            await store(agent, said, today - timedelta(days=days))
        week = {"min_days_ago": 5, "max_days_ago": 7}
        found = await agent.search_memory("gear", **week)
        lines = sorted(line[:12] for line in found.lines)
        assert lines == ["[2026-05-07]", "[2026-05-08]", "[2026-05-09]"]
        assert str(found.since) == "2026-05-07"
        assert "cold" not in found.degraded
        latest = await agent.search_memory(**week)
        assert [line[:12] for line in latest.lines] == lines[::-1]
        one = await agent.search_memory("gear", min_days_ago=6, max_days_ago=6)
        assert [line[:12] for line in one.lines] == ["[2026-05-08]"]
        full = await agent.search_memory("gear", max_results=100)
        assert len(full.lines) == 100
        assert str(full.hint).endswith("There may be more in the window than max_results 100.")


async def test_he_04_the_latest_come_first_at_every_grain(tmp_path: Path) -> None:
    """Lines carry the periods of the episodes, newest first; one result is the first of them."""
    clock = MovingClock(datetime(2026, 1, 1, 9, 0, tzinfo=UTC))
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("year")
        agent = await graph.spawn_agent("diarist", topics={"life"})
        for day in range(0, 420, 70):
            await speak(agent, f"On day {day} the count was {1000 + day}.")
            clock.move(days=70)
        clock.move(days=330)
        await ezra.run_lifecycle_tick("year")
        for grain in GRAINS:
            periods = [one.period for one in await graph.episodes(grain=grain)]
            found = await agent.search_memory(grain=grain, max_days_ago=FOREVER, max_results=100)
            labels = [line.split("]")[0].lstrip("[") for line in found.lines]
            assert labels == periods[::-1]
            first = await graph.search_memory(grain=grain, max_days_ago=FOREVER, max_results=1)
            assert first.lines == found.lines[:1]
        about = await agent.search_memory("count 1070", grain="monthly", max_days_ago=FOREVER)
        assert about.lines[0].startswith("[2026-03] ")
        turns = await agent.search_memory(max_days_ago=FOREVER)
        assert turns.lines[0] == "[2026-12-17] diarist: On day 350 the count was 1350."


async def test_he_04_iso_weeks_at_the_turn_of_the_year(tmp_path: Path) -> None:
    """New Year's Day 2027 is in week 53 of 2026, which counts while its Sunday is in the window."""
    clock = MovingClock(datetime(2026, 12, 31, 9, 0, tzinfo=UTC))
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("turn")
        agent = await graph.spawn_agent("diarist", topics={"life"})
        for days, said in ((1, "The old year ends."), (3, "It began."), (8, "Back at work.")):
            await speak(agent, said)
            clock.move(days=days)
        await ezra.run_lifecycle_tick("turn")

        async def weeks(days: int) -> list[str]:
            found = await agent.search_memory(grain="weekly", max_days_ago=days)
            return [line[:10] for line in found.lines]

        assert str((await agent.search_memory(max_days_ago=9)).since) == "2027-01-03"
        assert await weeks(9) == ["[2027-W01]", "[2026-W53]"]
        assert await weeks(8) == ["[2027-W01]"]


async def test_he_04_the_zone_decides_the_day(tmp_path: Path) -> None:
    """An hour before and an hour behind midnight in Auckland are one day in UTC, and two there."""
    clock = MovingClock(datetime(2026, 1, 10, 12, 0, tzinfo=UTC))
    async with running(tmp_path, clock, time_zone="Pacific/Auckland") as ezra:
        graph = await ezra.create_session_graph("zone")
        agent = await graph.spawn_agent("diarist", topics={"life"})
        for hour, said in ((10, "late"), (12, "early")):
            await speak(agent, said, datetime(2026, 1, 10, hour, 30, tzinfo=UTC))
        clock.move(days=1)
        yesterday = {"min_days_ago": 1, "max_days_ago": 1}
        for text in (None, "late or early"):
            found = await agent.search_memory(text, **yesterday)
            assert found.lines == ("[2026-01-11] diarist: early",)
        assert str(found.since) == "2026-01-11"


async def test_he_06_what_is_injected_is_dated_by_the_zone(tmp_path: Path) -> None:
    """As search dates it: a turn by its day there."""
    clock = MovingClock(datetime(2026, 1, 31, 12, 0, tzinfo=UTC))
    async with running(tmp_path, clock, time_zone="Pacific/Auckland") as ezra:
        graph = await ezra.create_session_graph("zone")
        agent = await graph.spawn_agent("diarist", topics={"life"})
        await speak(agent, "The early zebra fell.")  # one o'clock there, on the first of February
        assert "- [2026-02-01] diarist: The early zebra" in (await agent.inject("zebra")).text


async def test_he_04_the_hint_names_only_what_is_there(tmp_path: Path) -> None:
    """First nothing, then the day, then the week; following a hint finds what it speaks of."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("hints")
        agent = await graph.spawn_agent("engineer", topics={"gears"})
        stranger = await graph.spawn_agent("cook", topics={"food"})
        nothing = "Nothing coarser than working tells of then or before"
        await speak(agent, "The left gear broke.")
        assert (await agent.search_memory()).hint == (
            f"Looked back to 2025-05-14. {nothing}, and nothing older is there."
        )
        clock.move(days=5)
        assert (await agent.search_memory("gear", max_days_ago=2)).hint == (
            f"Looked back to 2026-05-17. {nothing}; max_days_ago 5 reaches what is older."
        )
        clock.move(days=95)
        await ezra.run_lifecycle_tick("hints")
        found = await agent.search_memory(max_days_ago=2)
        assert found.lines == ()
        assert found.hint == (
            "Looked back to 2026-08-20. Try grain daily with max_days_ago 100: its latest is"
            " 2026-05-14."
        )
        daily = await agent.search_memory(grain="daily", max_days_ago=100)
        assert [line[:13] for line in daily.lines] == ["[2026-05-14] "]
        assert daily.lines[0].count("2026-05-14") == 2  # the day, and the moment of the turn
        assert daily.hint == (
            "Looked back to 2026-05-14. Try grain weekly: its latest is 2026-W20."
        )
        assert (await agent.search_memory(grain="yearly")).hint is None
        other = await stranger.search_memory(grain="daily")
        assert other.lines == ()
        assert "Nothing coarser than daily" in str(other.hint)
