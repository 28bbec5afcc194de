"""The passes of the meta-agents on an embedded memory, each to be killed at any of its writes.

Every act opens the folder, does its pass at a moment of its own, and closes it. ``again`` acts are
what somebody does after a death: the same pass once more, and then everything that is due.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, cast

from ezra import Ezra
from metaagents.reindex.index import SwitchingIndex
from tiers.cold.sqlite import sqlite_cold_store
from tiers.records import Retention
from tiers.upkeep import ARCHIVE_ROWS, WarmArchive

from .cold_estate import read_out
from .runtime import MovingClock, running
from .scripted_life import GRAPH, ORDERS, TRUE, Said, live
from .write_points import Act, WritePoints

START = datetime(2025, 11, 28, 9, 0, tzinfo=UTC)
PAUSE_HOURS = 70.0
ASKED = Said("cleo", "Which recipe has cardamom grams, and which grandmother's violin?")
TURNS = (*TRUE[:4], TRUE[7], ASKED, *TRUE[11:], ASKED, ORDERS[1], ASKED, TRUE[9])
LIVED = START + timedelta(hours=PAUSE_HOURS * (len(TURNS) + 1))
"""When the life is over: six weeks, two years, two quarters and three months."""

LATER = timedelta(minutes=1)
"""From a death to the next opening."""

AT = {
    "learn": LIVED,
    "compress": LIVED + timedelta(hours=1),
    "consolidate": LIVED + timedelta(days=400),
    "retain": LIVED + timedelta(days=401),
    "archive": LIVED + timedelta(hours=2),
    "erase": LIVED + timedelta(hours=2),
}
"""When each pass is done."""

BEFORE = {
    "learn": None,
    "compress": "learn",
    "consolidate": "compress",
    "retain": "consolidate",
    "archive": "compress",
    "erase": "compress",
}
"""With whose outcome each pass begins; the first with the life as it was lived."""

_USES = re.compile(r"used (\d+) times, threshold (\d+)")


def _enough(found: re.Match[str]) -> str:
    return "used enough" if int(found[1]) >= int(found[2]) else found.group()


Pass = Callable[[Ezra], Awaitable[object]]

_DROPPED = frozenset(
    "recorded_at expires_at queued_at due_at moved_at used_at last_used_at attempts problem "
    "core_spans seen_at position seq until spawned_at signed_at closed_at erasure_id".split()
)
"""Depends on when, or how often, something was tried."""

_MOMENTS = frozenset("superseded_at judged_at forgotten_at retired_at redacted_at left_at".split())
"""Of these only whether they are there."""

_SEALED = frozenset("hash placed previous_hash salt reason_digest".split())
"""Of an audit event: drawn anew each time, or made from what was. That they fit, verify says."""


def _opened(home: Path, at: datetime) -> AbstractAsyncContextManager[Ezra]:
    return running(
        home,
        MovingClock(at),
        ring_capacity=4,
        turns_per_summary=4,
        promote_at_uses=2,
        agent_timeout_seconds=1e9,
        archive_after_days=10_000,
        retention_records_min=1,
        retention_share_max=1.0,
    )


async def _live(home: Path, _points: WritePoints) -> None:
    """Live the little life, use some facts often enough, and believe something."""
    clock = MovingClock(START)
    async with running(home, clock, ring_capacity=4, turns_per_summary=4) as ezra:
        life = await live(ezra, clock, turns=TURNS, pause_hours=PAUSE_HOURS)
        cleo = await life.graph.spawn_agent("cleo", topics=("home", "tyres"), user_id="mara")
        await cleo.commit("The boiler is fine.", topic="home", key=("boiler", "state"), value="ok")


async def _learn(ezra: Ezra) -> None:
    await ezra.drain_learning()


async def _tick(ezra: Ezra) -> None:
    await ezra.run_lifecycle_tick(GRAPH)


async def _retain(ezra: Ezra) -> None:
    await (await ezra.session_graph(GRAPH)).retain(force=True)


async def _plan(ezra: Ezra) -> None:
    await (await ezra.session_graph(GRAPH)).configure(retention=Retention(plan="free"))


async def _archive(ezra: Ezra) -> None:
    await (await ezra.session_graph(GRAPH)).archive()


async def _erase(ezra: Ezra) -> None:
    await (await ezra.session_graph(GRAPH)).erase(subject="cardamom", reason="case 1")


_PASSES: dict[str, Pass] = {
    "learn": _learn,
    "compress": _tick,
    "consolidate": _tick,
    "retain": _retain,
    "archive": _archive,
    "erase": _erase,
}
PASSES = tuple(_PASSES)
OFTEN = tuple(name for name in PASSES if name != "erase")
"""What the normal run kills: of an erasure ``test_redaction.py`` has the worst moment."""
_FIRST: dict[str, Pass] = {"retain": _plan}
"""What is done before a pass, and is no part of it."""


async def _once(name: str, home: Path, points: WritePoints) -> None:
    async with _opened(home, AT[name]) as ezra:
        if name in _FIRST:
            await _FIRST[name](ezra)
        points.arm()
        await _PASSES[name](ezra)
        points.disarm()
        points.answer(None)


async def _settle(home: Path, points: WritePoints, *, name: str, repeat: bool) -> None:
    """Open the folder a little later, let everything run that is due, and tell what is there."""
    async with _opened(home, AT[name] + LATER) as ezra:
        if repeat:
            await _PASSES[name](ezra)
        for _ in range(2):
            await ezra.drain_learning()
            await ezra.run_lifecycle_tick(GRAPH)
        points.leave(await _pictured(ezra, home))


async def _pictured(ezra: Ezra, home: Path) -> dict[str, Any]:
    """Return all that a folder holds, without what depends on when it was written."""
    picture: dict[str, Any] = {"waiting": await ezra.waiting_work()}
    async with sqlite_cold_store(home) as cold:
        for table in ARCHIVE_ROWS:
            rows = await read_out(cold.archive, ezra.settings.tenant, table)
            dropped = _DROPPED | _SEALED if table == "audit" else _DROPPED
            picture[table] = sorted(
                repr(_plain(one.model_dump(mode="json"), dropped)) for one in rows
            )
        # What the warm index forgets by its clock is swept in one engine and noted in another. An
        # erasure that is finished goes once more through what it had written anew, and says so.
        noted = ("'evicted'", "'redacted'", "'erased'")
        audit = picture["audit"]
        told = [row for row in audit if not any(kind in row for kind in noted)]
        # A pass that began again counts uses in other batches: how many there were by the time of
        # a promotion differs, that there was one does not.
        picture["audit"] = sorted(_USES.sub(_enough, row) for row in told)
    index = ezra._runtime.warm
    assert isinstance(index, SwitchingIndex)
    store = cast("WarmArchive", index.serving.store)
    page = await store.export_entries(ezra.settings.tenant, "", 1_000)
    picture["warm"] = sorted(entry.id for entry in page.rows)
    report = await (await ezra.session_graph(GRAPH)).beliefs.verify()
    picture["verified"] = [str(problem) for problem in report.problems]
    return picture


def _plain(value: Any, dropped: frozenset[str]) -> Any:
    if isinstance(value, dict):
        kept = {name: part for name, part in value.items() if name not in dropped}
        return {
            name: part is not None if name in _MOMENTS else _plain(part, dropped)
            for name, part in sorted(kept.items())
        }
    return [_plain(part, dropped) for part in value] if isinstance(value, list) else value


ACTS: dict[str, Act] = {"live": _live}
for _name in PASSES:
    ACTS[_name] = partial(_once, _name)
    ACTS[f"{_name}, settled"] = partial(_settle, name=_name, repeat=False)
    ACTS[f"{_name}, again"] = partial(_settle, name=_name, repeat=True)
