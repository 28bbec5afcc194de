"""Searching by days: the command, what is refused, equal days, and a cold tier that is away."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock, running
from typer.testing import CliRunner, Result

from ezra import Hit, NotFound, TierUnavailable, UsageError
from ezra.cli.app import app_of

app = app_of()


class Away:
    """A timeline that cannot be reached."""

    def __init__(self) -> None:
        self.asked = 0

    async def latest(self, *_: object) -> tuple[Hit, ...]:
        """Count the question and fail."""
        self.asked += 1
        raise TierUnavailable("cold", "latest", "it is away")


async def _told(home: Path) -> None:
    """Let two agents say something of four days ago, one of them for itself alone."""
    at = datetime.now(UTC) - timedelta(days=4)
    async with running(home, None) as ezra:
        graph = await ezra.create_session_graph("imola")
        engineer = await graph.spawn_agent("engineer", topics={"gears"})
        for message, private in (("The left\n[2020-01-01] gear broke.", False), ("Mine.", True)):
            await (await engineer.turn(message, at=at, private=private)).reply("")
        await graph.spawn_agent("cook", topics={"food"})


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """The folder of a graph in which something was said four days ago."""
    asyncio.run(_told(tmp_path))
    return tmp_path


def _run(home: Path, *rest: object) -> Result:
    environment = {"EZRA_HOME": str(home), "EZRA_EMBEDDER": "off", "COLUMNS": "200"}
    return CliRunner(env=environment).invoke(app, ["search-memory", *map(str, rest)])


def test_the_command_shows_lines_and_how_to_go_on(home: Path) -> None:
    """One line for each record whatever is in its text; the window, members, and JSON."""
    day = (datetime.now(UTC) - timedelta(days=4)).date().isoformat()
    line = f"[{day}] engineer: The left [2020-01-01] gear broke."
    found = _run(home, "imola")
    assert found.exit_code == 0, found.output
    assert found.stdout.splitlines() == [line]
    assert "Nothing coarser than working" in found.stderr
    assert _run(home, "imola", "left gear", "--max-days-ago", 9).stdout.splitlines() == [line]
    narrow = _run(home, "imola", "--max-days-ago", 3)
    assert narrow.stdout == ""
    assert "nothing found" in narrow.stderr
    assert "max_days_ago 4 reaches what is older" in narrow.stderr
    own = _run(home, "imola", "--agent", "engineer").stdout.splitlines()
    assert sorted(own) == sorted([line, f"[{day}] engineer: Mine."])
    assert _run(home, "imola", "--agent", "cook").stdout == ""
    told = json.loads(_run(home, "imola", "--json", "--max-results", 1).stdout)
    assert told["lines"] == [line]
    assert told["items"][0]["kind"] == "turn"
    assert set(told) == {"lines", "items", "since", "hint", "degraded"}


def test_the_command_has_examples_and_names_what_is_wrong(home: Path) -> None:
    """Help shows how it is used; a wrong number and an unknown member are errors by name."""
    assert "--grain weekly" in _run(home, "--help").stdout
    wrong = _run(home, "imola", "--min-days-ago", 8, "--max-days-ago", 7)
    assert isinstance(wrong.exception, UsageError)
    assert "max_days_ago" in str(wrong.exception)
    assert isinstance(_run(home, "imola", "--agent", "nobody").exception, NotFound)


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
