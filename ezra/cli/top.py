"""``ezra top``: a memory as it lives, on a terminal that is given back as it was."""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque
from collections.abc import AsyncGenerator, Coroutine, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias, TypeVar

import typer
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from tiers.errors import EzraError, UsageError
from tiers.records import AuditEvent

from ..moving.graph_status import Health
from .command import Answer
from .doors import AnyEzra, Memory, name_of
from .options import MaybeGraph, stopped_by_signals
from .screen import Screen
from .status import HEADINGS, Picture, picture_of, reembedding_line, rows_of, work_line
from .tables import plain_table, toned

SECONDS = 2.0
SECONDS_MIN = 0.2
SECONDS_MAX = 3_600.0
GRAPHS_SHOWN = 50
EVENTS_SHOWN = 50
REMEMBERED = 30
"""So many answers of a tier are drawn."""
LINES_BESIDE = 12
"""Lines of the view that are neither graphs, members nor events."""
MEMBERS = ("agent", "here", "for")
USED = ("writes", "tokens", "model calls")
NAME_COLUMNS = 14
BESIDE_NAME = 64
"""Columns that the state and the counts of a graph take."""

_T = TypeVar("_T")
_Looks: TypeAlias = AsyncGenerator[Picture | EzraError]
_BARS = "▁▂▃▄▅▆▇█"


async def top(
    memory: Memory,
    graph: MaybeGraph = None,
    interval: Annotated[float, typer.Option(min=SECONDS_MIN, max=SECONDS_MAX)] = SECONDS,
    once: bool = False,
) -> Answer:
    """Watch a memory live: tiers and how fast they answer, graphs or members, work, audit events.

    A graph shows its members, without one all graphs are shown. Ends with Ctrl-C or SIGTERM and
    leaves the terminal as it was. With --json every look is one line. One process owns a folder of
    embedded data: to watch one that is in use, give the --url of its server.

    Args:
        interval: Seconds between two looks.
        once: Look once and print it.

    Examples:
        ezra top
        ezra top imola --interval 5
        EZRA_TOKEN=… ezra top --url http://127.0.0.1:8765
        ezra top --once --json
    """
    screen = Screen()
    if not (once or memory.json or screen.is_terminal):
        raise UsageError("output", "not a terminal", "a terminal, or --once, or --json")
    await _watched(screen, Wanted(graph, interval, once=once, json=memory.json), memory)
    return Answer()


@dataclass(frozen=True)
class Wanted:
    """What was asked for on the command line."""

    graph: str | None
    interval: float
    once: bool
    json: bool


@dataclass
class Past:
    """What was seen so far: the last answers of each tier, and what went wrong last."""

    answers: dict[str, deque[float | None]] = field(
        default_factory=lambda: defaultdict(lambda: deque(maxlen=REMEMBERED))
    )
    problem: EzraError | None = None

    def add(self, health: Health | None) -> None:
        """Remember how the tiers answered."""
        for name, pulse in (health.tiers if health else {}).items():
            self.answers[name].append(pulse.milliseconds)


async def _watched(screen: Screen, wanted: Wanted, memory: Memory) -> None:
    stopped = stopped_by_signals()
    where = name_of(memory.home, memory.url)
    ezra = await memory.open()
    async with aclosing(looks(ezra, where, wanted, stopped)) as seen:
        first = await anext(seen, None)
        if isinstance(first, EzraError):
            # What is wrong from the beginning is said before the terminal is taken.
            raise first
        if first is None:
            return
        if wanted.json:
            await _print_documents(screen, wanted, first, seen)
        elif wanted.once:
            screen.show(view(first, Past(), GRAPHS_SHOWN, EVENTS_SHOWN, screen.columns))
        else:
            await _shown(screen, wanted, first, seen)


async def looks(
    ezra: AnyEzra, where: str, wanted: Wanted, stopped: asyncio.Event
) -> AsyncGenerator[Picture | EzraError]:
    """Look at a memory again and again until stopped; what goes wrong is seen as well."""
    while not stopped.is_set():
        look = picture_of(ezra, where, wanted.graph, graphs=GRAPHS_SHOWN, events=EVENTS_SHOWN)
        try:
            found = await _until(stopped, look)
        except EzraError as error:
            yield error
        else:
            if found is None:
                return
            yield found
        with suppress(TimeoutError):
            async with asyncio.timeout(wanted.interval):
                await stopped.wait()


async def _until(stopped: asyncio.Event, work: Coroutine[Any, Any, _T]) -> _T | None:
    """Return what ``work`` returns, or ``None`` when stopped before; it is cancelled then."""
    doing = asyncio.ensure_future(work)
    ending = asyncio.ensure_future(stopped.wait())
    try:
        await asyncio.wait((doing, ending), return_when=asyncio.FIRST_COMPLETED)
        return doing.result() if doing.done() else None
    finally:
        doing.cancel()
        ending.cancel()
        await asyncio.gather(doing, ending, return_exceptions=True)


async def _print_documents(screen: Screen, wanted: Wanted, first: Picture, seen: _Looks) -> None:
    """Tell programs: one document, or one line for each look."""
    if wanted.once:
        screen.document(first.document())
        return
    screen.json_line(first.document())
    async for found in seen:
        if isinstance(found, EzraError):
            raise found
        screen.json_line(found.document())


async def _shown(screen: Screen, wanted: Wanted, first: Picture, seen: _Looks) -> None:
    """Show people every look in the place of the one before."""
    past, picture = Past(), first
    past.add(first.health)
    with screen.live() as live:
        live.update(_fitting(screen, wanted, picture, past), refresh=True)
        async for found in seen:
            if isinstance(found, EzraError):
                past.problem = found
            else:
                picture, past.problem = found, None
                past.add(found.health)
            live.update(_fitting(screen, wanted, picture, past), refresh=True)


def _fitting(screen: Screen, wanted: Wanted, found: Picture, past: Past) -> RenderableType:
    """Return the view with as many rows as the terminal has place for."""
    place = max(2, screen.rows - LINES_BESIDE)
    rows = len(found.graphs) if wanted.graph is None else len(found.members)
    above = max(1, min(rows, place // 2))
    return view(found, past, above, place - above, screen.columns)


def view(found: Picture, past: Past, rows: int, events: int, columns: int) -> RenderableType:
    """Return what people see.

    Args:
        found: The memory as it is, or was when it last answered.
        past: What was seen before; this picture included, where it is not the only one.
        rows: The most graphs, or members of the one graph.
        events: The most events.
        columns: How wide the terminal is.
    """
    if not past.answers:
        past.add(found.health)
    parts: list[RenderableType] = [_head(found, past.problem), Text("")]
    if found.health is not None:
        parts += [_tiers(found.health, past.answers), Text("")]
    if found.waiting_work is not None:
        parts.append(Text(f"waiting work: {work_line(found.waiting_work)}"))
    if found.reembedding is not None:
        parts.append(Text(reembedding_line(found.reembedding)))
    shown = _members(found, rows, columns) if found.members else _graphs(found, rows, columns)
    parts += [Text(""), *shown, Text(""), _events(found.events[:events])]
    return Group(*parts)


def _head(found: Picture, problem: EzraError | None) -> Text:
    line = Text("ezra top  ", "bold", no_wrap=True, overflow="ellipsis")
    line.append(found.where, "")
    if found.health is not None:
        line.append("  ").append_text(toned(found.health.status))
    line.append(f"  {found.at:%H:%M:%S} UTC, asked in {found.answered_ms:.0f} ms", "dim")
    if problem is not None:
        line.append(f"\n{type(problem).__name__}: {problem}", "bold red")
    return line


def _tiers(health: Health, answers: Mapping[str, Sequence[float | None]]) -> Table:
    table = plain_table()
    for heading in ("tier", "answers"):
        table.add_column(heading, no_wrap=True)
    for heading in ("now", "slowest"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("before", no_wrap=True, overflow="crop")
    for name, pulse in health.tiers.items():
        past = answers.get(name, ())
        slowest = max((one for one in past if one is not None), default=None)
        table.add_row(
            Text(name), toned(pulse.state), _ms(pulse.milliseconds), _ms(slowest), _bars(past)
        )
    return table


def _ms(milliseconds: float | None) -> str:
    return "-" if milliseconds is None else f"{milliseconds:.1f} ms"


def _bars(answers: Sequence[float | None]) -> Text:
    """Return the answers of a tier as bars, the highest for the slowest; a cross for none."""
    top = max((one for one in answers if one is not None), default=0.0) or 1.0
    bars = Text()
    for one in answers:
        if one is None:
            bars.append("x", "bold red")
        else:
            bars.append(_BARS[min(len(_BARS) - 1, int(one / top * (len(_BARS) - 1)))], "cyan")
    return bars


def _graphs(found: Picture, limit: int, columns: int) -> list[RenderableType]:
    table = plain_table()
    name, state, *counts = HEADINGS
    _text(table, name, max(NAME_COLUMNS, columns - BESIDE_NAME))
    _text(table, state)
    _counts(table, counts)
    shown = rows_of(found)[-limit:]
    for name, state, *counts in shown:
        table.add_row(Text(name), toned(state), *counts)
    more = len(found.graphs) - len(shown) + found.more_graphs
    return [table, *([Text(f"and {more} more graphs", "dim")] if more else [])]


def _members(found: Picture, limit: int, columns: int) -> list[RenderableType]:
    table = plain_table()
    agent, *said = MEMBERS
    _text(table, agent, columns // 3)
    for heading in said:
        _text(table, heading, NAME_COLUMNS)
    _counts(table, USED)
    latest = sorted(found.members, key=lambda one: one.left_at is not None)
    for one in latest[:limit]:
        used = found.usage_by_agent.get(one.id)
        counts = (used.writes, used.tokens, used.model_calls) if used else (0, 0, 0)
        here = toned("present") if one.left_at is None else Text("left", "dim")
        table.add_row(Text(one.id), here, Text(one.user_id or "-"), *map(str, counts))
    (name,) = found.graphs
    holds = dict(zip(HEADINGS[3:], rows_of(found)[0][3:], strict=True))
    line = Text(f"{name}: {', '.join(f'{count} {what}' for what, count in holds.items())}")
    more = len(latest) - limit
    rest = [Text(f"and {more} more members", "dim")] if more > 0 else []
    return [line, table, *rest]


def _events(events: Sequence[AuditEvent]) -> Table:
    table = plain_table()
    for heading in ("when", "graph", "who", "did"):
        _text(table, heading, NAME_COLUMNS)
    table.add_column("why", ratio=1, no_wrap=True, overflow="ellipsis")
    table.expand = True
    for one in events:
        about = one.reason or " ".join(one.record_ids)
        cells = (one.graph_id, one.agent_id or "ezra", one.kind, about)
        table.add_row(Text(f"{one.recorded_at:%H:%M:%S}", "dim"), *map(Text, cells))
    return table


def _text(table: Table, heading: str, columns: int | None = None) -> None:
    table.add_column(heading, max_width=columns, no_wrap=True, overflow="ellipsis")


def _counts(table: Table, headings: Sequence[str]) -> None:
    for heading in headings:
        table.add_column(heading, justify="right", no_wrap=True)
