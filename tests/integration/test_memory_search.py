"""Searching by days: what is refused, equal days, and a cold tier that is away."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running

from ezra import Hit, TierUnavailable, UsageError


class Away:
    """A timeline that cannot be reached."""

    def __init__(self) -> None:
        self.asked = 0

    async def latest(self, *_: object) -> tuple[Hit, ...]:
        """Count the question and fail."""
        self.asked += 1
        raise TierUnavailable("cold", "latest", "it is away")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("grain", "hourly"),
        ("min_days_ago", -1),
        ("min_days_ago", 366),
        ("max_days_ago", -1),
        ("max_days_ago", 36_501),
        ("max_results", 0),
        ("max_results", 101),
        ("max_results", "ten"),
    ],
)
async def test_a_wrong_argument_is_named(tmp_path: Path, field: str, value: object) -> None:
    """Out of range, of no such grain, or an end of the window before its beginning."""
    named = "max_days_ago" if (field, value) == ("min_days_ago", 366) else field
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"gears"})
        asked: dict[str, Any] = {field: value}
        with pytest.raises(UsageError, match=named):
            await agent.search_memory(**asked)


async def test_days_that_were_alike_are_all_there(tmp_path: Path) -> None:
    """Recall answers what says the same once; here each day is a line of its own."""
    clock = MovingClock()
    said = (
        "Took the blue pills after breakfast, walked around the lake with Anna, read two chapters"
        " of that Russian novel, cooked lentils with carrots for dinner and slept early."
    )
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("home")
        agent = await graph.spawn_agent("nurse", topics={"care"})
        for _ in range(3):
            await (await agent.turn(said)).reply("")
            clock.move(days=1)
        clock.move(days=2)
        await ezra.run_lifecycle_tick("home")
        found = await agent.search_memory("blue pills", grain="daily", max_days_ago=7)
        days = sorted(line[:12] for line in found.lines)
        assert days == ["[2026-05-14]", "[2026-05-15]", "[2026-05-16]"]
        assert not any(hit.folded for hit in found.items)
        few = await agent.search_memory("blue pills", grain="daily", max_results=2)
        assert len(few.lines) == 2


async def test_without_the_cold_tier_nothing_is_claimed(tmp_path: Path) -> None:
    """It is named as missing, asked once, and no hint says what is not known."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("engineer", topics={"gears"})
        away = Away()
        agent._runtime = replace(agent._runtime, timeline=away)
        found = await agent.search_memory()
        assert (found.lines, found.items, found.hint) == ((), (), None)
        assert found.degraded == ("cold",)
        assert away.asked == 1
