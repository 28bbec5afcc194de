"""Tables and the live view of the command line, which fit the terminal."""

from __future__ import annotations

import asyncio
import io
from contextlib import aclosing
from datetime import UTC, datetime
from typing import Any

from rich.console import Console
from support.processes import PATIENCE_SECONDS

from ezra.cli.status import Picture
from ezra.cli.tables import table_of
from ezra.cli.top import Past, Wanted, looks, view
from ezra.moving.graph_status import GraphStatus, Health, TierPulse
from tiers.errors import TierUnavailable
from tiers.records import AuditEvent, Budget, Usage

# Tables of the command line, as wide as the terminal is.

HEADINGS = ("seq", "belief", "recorded", "agent", "status", "claim")
BELIEF = "01985a4c-0000-7000-8000-000000000000"
CLAIM = "The mediums last about eighteen laps when it is as hot as it was on Friday."
ROW = ("1", BELIEF, "2026-05-14 09:00:00", "strategist", "active", CLAIM)


def printed(columns: int, *rows: tuple[str, ...]) -> list[str]:
    """Return a table as a terminal of so many columns shows it."""
    console = Console(file=io.StringIO(), width=columns, force_terminal=True, no_color=True)
    console.print(table_of(HEADINGS, rows, columns))
    assert isinstance(console.file, io.StringIO)
    plain = console.file.getvalue().replace("\x1b[1m", "").replace("\x1b[0m", "")
    return [line.rstrip() for line in plain.splitlines()]


def test_a_wide_terminal_shows_rows_beside_their_headings() -> None:
    """Only the last column is broken into lines."""
    head, first, *more = printed(120, ROW)
    assert head.split() == list(HEADINGS)
    assert first.startswith(f"  1  {BELIEF}  2026-05-14 09:00:00  strategist  active  The mediums")
    assert more
    assert all(line.startswith(" " * head.index("claim")) for line in more)


def test_a_narrow_terminal_shows_everything_too() -> None:
    """Cells flow on, indented; ids stay whole, no line is too long and nothing is cut off."""
    lines = printed(80, ROW, ROW)
    assert max(map(len, lines)) <= 80
    assert lines[0].split() == list(HEADINGS)
    assert lines[1] == f"1  {BELIEF}  2026-05-14 09:00:00  strategist  active"
    assert lines[2] == f"    {CLAIM}"
    words = " ".join(" ".join(lines[1:]).split())
    assert words.count(CLAIM) == 2
    narrow = printed(40, ROW)
    assert f"1  {BELIEF}" in narrow
    assert all(line.startswith("    ") for line in narrow[3:])


def test_numbers_stand_right_and_no_rows_are_only_headings() -> None:
    """A column of counts is read from the right; an empty answer is not an error."""
    few = ("7", "b", "now", "a", "ok", "x")
    many = ("1,200", "b", "now", "a", "ok", "y")
    _, first, second = printed(120, few, many)
    assert first.index("7") == second.index("200") + 2
    assert printed(120) == [" ".join(f"{one} " for one in HEADINGS).rstrip()]


# The live view: what it does when a memory does not answer, and how it fits a terminal.

NOW = datetime(2026, 5, 14, 9, 0, tzinfo=UTC)
COLD = "turns covered_turns summaries episodes facts_core facts_archival rules beliefs waiting_work"


def picture(*, graphs: int = 1, warm: float | None = 0.5) -> Picture:
    """Return a memory as it might be."""
    pulses = {"hot": 0.1, "warm": warm, "cold": 2.5}
    tiers = {
        name: TierPulse("ok" if one is not None else "unavailable", one)
        for name, one in pulses.items()
    }
    cold = dict.fromkeys(COLD.split(), 1_000)
    status = GraphStatus("active", 3, 10, 2_000, cold, Usage(), Budget(), ())
    event = AuditEvent(
        tenant="default",
        graph_id="a-graph-with-a-very-long-name",
        agent_id=None,
        seq=1,
        position=1,
        kind="committed",
        record_ids=("01985a4c-0000-7000-8000-000000000000",),
        reason="because of a reason that takes more than one line of any terminal " * 2,
        recorded_at=NOW,
    )
    return Picture(
        at=NOW,
        where="http://127.0.0.1:8765",
        answered_ms=12.0,
        health=Health("ok" if warm is not None else "degraded", tiers),
        graphs={f"a-graph-with-a-very-long-name-{number}": status for number in range(graphs)},
        more_graphs=7,
        members=(),
        usage_by_agent={},
        waiting_work={"index": 3, "judge": 0},
        reembedding=None,
        events=(event,) * 30,
    )


def shown(found: Picture, past: Past, rows: int, events: int) -> list[str]:
    """Return the view as a terminal of 80 columns shows it."""
    console = Console(file=io.StringIO(), width=80)
    console.print(view(found, past, rows, events, 80))
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_every_row_is_one_line_of_80_columns() -> None:
    """Names and reasons are shortened; numbers, states and what is not shown are all there."""
    lines = shown(picture(graphs=5), Past(), 3, 4)
    assert max(map(len, lines)) <= 80
    graphs = [line for line in lines if " active " in line]
    assert len(graphs) == 3
    assert all(line.split()[2:] == "3 10 2000 1000 2000 1000 1000".split() for line in graphs)
    assert "and 9 more graphs" in lines
    assert "waiting work: 3 index" in lines
    assert sum(line.startswith("09:00:00") for line in lines) == 4


def test_a_tier_that_is_away_is_seen_and_remembered() -> None:
    """A cross stands where it did not answer, and the slowest of the answers beside it."""
    past = Past()
    for warm in (4.0, None, 1.0):
        past.add(picture(warm=warm).health)
    (line,) = [line for line in shown(picture(warm=None), past, 1, 1) if line.startswith("warm")]
    assert line.split()[:5] == ["warm", "unavailable", "-", "4.0", "ms"]
    assert line.rstrip().endswith("\u2588x\u2582")


def test_what_went_wrong_stands_above_the_last_picture() -> None:
    """Nobody takes an old picture for a new one."""
    past = Past(problem=TierUnavailable("server", "graph.list", "not reachable"))
    assert shown(picture(), past, 1, 1)[1].startswith("TierUnavailable: server tier")


class Flaky:
    """A memory that is away every other time."""

    def __init__(self) -> None:
        self.asked = 0

    async def session_graphs(self) -> tuple[Any, ...]:
        """Return no graph, or fail."""
        self.asked += 1
        if self.asked % 2 == 0:
            raise TierUnavailable("server", "graph.list", "not reachable")
        return ()

    async def health(self) -> None:
        """Say nothing."""

    async def waiting_work(self) -> None:
        """Say nothing."""

    async def audit(self, *_: object, **__: object) -> tuple[Any, ...]:
        """Return no event."""
        return ()


async def test_looking_goes_on_after_an_error_and_ends_at_once_when_stopped() -> None:
    """An error is one of the looks; being stopped wakes who waits for the next."""
    stopped = asyncio.Event()
    wanted = Wanted(graph=None, interval=0.001, once=False, json=False)
    memory: Any = Flaky()
    kinds: list[str] = []
    async with aclosing(looks(memory, "here", wanted, stopped)) as found:
        async for one in found:
            kinds.append(type(one).__name__)
            if len(kinds) == 3:
                break
    assert kinds == ["Picture", "TierUnavailable", "Picture"]
    waiting = Wanted(graph=None, interval=3_600.0, once=False, json=False)
    async with (
        asyncio.timeout(PATIENCE_SECONDS),
        aclosing(looks(memory, "here", waiting, stopped)) as found,
    ):
        await anext(found)
        asyncio.get_running_loop().call_later(0.01, stopped.set)
        assert [one async for one in found] == []
