"""What changing and asking for beliefs costs in a short log and in a long one.

Run: .venv/bin/python tests/benchmarks/beliefs.py [--events 100000] [--mongo-events 5000]
                                                  [--count 200] [--engine sqlite|mongo] [--json]

Both logs hold the same number of active beliefs, and every question has the same number of answers
in both, so that only the length of the log differs. Half of the events are of one key that is
superseded again and again, the other half of beliefs with keys of their own that come and go. The
two logs are asked in turn, so that what else the machine does meets both; the first figures are
medians in milliseconds, the last is how many times dearer the long log is. The goal is under 1.5.

MongoDB's table is of the real driver over loopback to the stand-in of the test suite, in a process
of its own. That is slow, so its long log is shorter, and its ratio says what the stand-in makes of
the adapter's commands, not what a MongoDB would take.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack
from datetime import timedelta
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from stand_in import served
from support.cold_samples import belief_by, graph_of, turn_by
from support.tier_samples import NOW, scope_of

from tiers.beliefs import (
    BeliefQuery,
    Commitment,
    HistoricBelief,
    LoggedBelief,
    ProjectedBelief,
    Settlement,
)
from tiers.cold.mongo import mongo_cold_store
from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.stores import ColdStores
from tiers.history.chain import canonical, next_event, stored_digest
from tiers.history.fold import Fold
from tiers.history.plan import PlannedEvent, commit_plan, revert_plan
from tiers.records import Record, Scope

SHORT_EVENTS = 100
ACTIVE = 12
"""Beliefs that are active at any moment, the hot key's aside."""

PAGE = 5
"""Answers of a question; so few that the short log has as many."""

RARE = "analyst"
"""An agent of two beliefs, however long the log is."""

IMPORT_ROWS = 500
GOAL = 1.5
SALT = b"0123456789abcdef"
SCOPE = scope_of(topics=("tyres", "fuel"))
GRAPH = Scope.of_graph(SCOPE.tenant, SCOPE.graph_id)
HOT_KEY = ("start", "compound")


class Filler:
    """A log of a given length, made by the rules of ``tiers.history`` alone.

    Attributes:
        logged: The events.
        hot: The active belief of the hot key.
        middle: A belief with a key of its own, from the middle of the log.
    """

    def __init__(self, events: int) -> None:
        self.logged: list[LoggedBelief] = []
        self._beliefs: dict[str, Commitment] = {}
        self._fold = Fold()
        self._now = NOW
        self._standing: list[Commitment] = []
        self.hot: Commitment | None = None
        for number in itertools.count():
            if len(self.logged) >= events:
                break
            self._supersede(number)
            for _ in range(2):
                self._come_and_go(number)
        self.middle = list(self._beliefs.values())[len(self._beliefs) // 2 // 3 * 3 + 1]

    def rows(self) -> Iterator[tuple[str, Sequence[Record]]]:
        """Return the tables and pages in which a ``ColdArchive`` takes the log in."""
        projected = [
            ProjectedBelief(
                belief=HistoricBelief.model_validate(
                    self._beliefs[one.id].model_dump()
                    | {
                        "status": one.status,
                        "committed_seq": one.committed_seq,
                        "ended_seq": one.ended_seq,
                        "superseded_by": one.superseded_by,
                    }
                ),
                spans=tuple(one.spans),
            )
            for one in self._fold.beliefs.values()
        ]
        for table, rows in (("belief_events", self.logged), ("beliefs", projected)):
            for start in range(0, len(rows), IMPORT_ROWS):
                yield table, rows[start : start + IMPORT_ROWS]

    def _supersede(self, number: int) -> None:
        """Let another belief take the place of the hot key's."""
        belief = self._belief(number, key=HOT_KEY, topic="tyres", topics=("tyres",))
        settled = [] if self.hot is None else [(settled_with(self.hot), self.hot)]
        self._tell(commit_plan(belief, settled, lambda *_: 1.0))
        self.hot = belief

    def _come_and_go(self, number: int) -> None:
        """Commit a belief with a key of its own; the oldest of these is reverted."""
        key = ("part", f"{len(self._beliefs)}")
        topic = "fuel" if len(self._beliefs) % 2 else "tyres"
        belief = self._belief(number, key=key, topic=topic, topics=(topic,))
        self._tell(commit_plan(belief, [], lambda *_: 1.0))
        self._standing.append(belief)
        if len(self._standing) > ACTIVE:
            gone = self._standing.pop(0)
            told = revert_plan(gone, [], [], lambda one: one.key, "over", lambda *_: 0.0)
            self._tell(told)

    def _belief(self, number: int, **fields: Any) -> Commitment:
        name = ("strategist", "engineer")[number % 2]
        agent = scope_of(agent_id=RARE if len(self._beliefs) in {1, 2} else name)
        belief = belief_by(agent, f"claim {number}", **fields)
        return belief.model_copy(update={"recorded_at": self._now})

    def _tell(self, told: Sequence[PlannedEvent]) -> None:
        self._now += timedelta(seconds=1)
        for one in told:
            event = next_event(
                self.logged[-1].event if self.logged else None,
                GRAPH,
                one.kind,
                one.belief_id,
                turn=len(self.logged) // 10,
                now=self._now,
                digest=stored_digest(SALT, canonical(one.content)),
            )
            content = canonical(one.content).decode()
            entry = LoggedBelief(event=event, salt=SALT.hex(), content=content)
            self._fold.apply(entry)
            self.logged.append(entry)
            if one.belief is not None:
                self._beliefs[one.belief_id] = one.belief


class Log:
    """A log in a store, with what is asked of it.

    Attributes:
        cold: Where it is.
        size: How many events it had at first.
    """

    def __init__(self, cold: ColdStores, filler: Filler) -> None:
        self.cold = cold
        self.size = len(filler.logged)
        self._rival = filler.hot
        self._middle = filler.middle
        self._half = filler.logged[self.size // 2].event

    def operations(self) -> dict[str, Callable[[], Awaitable[object]]]:
        """Return what is measured, by name; each leaves as much active as it found."""
        history, beliefs = self.cold.history, self.cold.beliefs
        half, mid = self._half, self._middle

        def asked(scope: Scope = GRAPH, **fields: Any) -> Callable[[], Awaitable[object]]:
            query = BeliefQuery(**{"limit": PAGE, **fields})
            return lambda: history.query(scope, query)

        return {
            "commit, superseding": self._supersede,
            "commit, unsettled": lambda: beliefs.commit(SCOPE, belief_by(SCOPE, key=HOT_KEY)),
            "commit + revert": self._commit_and_revert,
            "pin + unpin": self._pin_and_unpin,
            "rewind one change": self._rewind,
            "active": lambda: beliefs.active(SCOPE),
            "as_of first": lambda: history.as_of(SCOPE, 40),
            "as_of middle": lambda: history.as_of(SCOPE, self.size // 2),
            "as_of middle, graph": lambda: history.as_of(GRAPH, self.size // 2),
            "as_of last": lambda: history.as_of(SCOPE, self.size),
            "seq_at time": lambda: history.seq_at(SCOPE, time=half.recorded_at),
            "seq_at turn": lambda: history.seq_at(SCOPE, turn=half.turn),
            "query page": asked(after=self.size // 2),
            "query page, agent's": asked(SCOPE, after=self.size // 2),
            "query by agent": asked(agent_id="engineer"),
            "query by topic": asked(topic="fuel"),
            "query by topic, last": asked(topic="fuel", after=self.size - 40),
            "query by key, hot": asked(key=HOT_KEY),
            "query by key, one": asked(key=mid.key),
            "query by subject": asked(subject="part", after=self.size // 2),
            "query by agent + key": asked(agent_id=mid.agent_id, key=mid.key),
            "query by agent + topic": asked(agent_id="engineer", topic="fuel"),
            "query active only": asked(statuses=("active",)),
            "query by rare agent": asked(agent_id=RARE),
            "query by rare agent + topic": asked(agent_id=RARE, topic="tyres"),
            "query by rare agent + key": asked(agent_id=RARE, key=HOT_KEY),
            "query active, by key": asked(statuses=("active",), key=HOT_KEY),
            "query active, by agent": asked(statuses=("active",), agent_id=RARE),
            "query active, by topic": asked(statuses=("active",), topic="fuel", limit=99),
            "query active at": asked(active_at=self.size // 2),
            "query active at, by key": asked(active_at=self.size // 2, key=HOT_KEY),
            "query active at, by agent": asked(active_at=self.size // 2, agent_id=RARE),
            "query since + until": asked(since_seq=self.size // 2, until_seq=self.size // 2 + 20),
            "logged page": lambda: history.logged(GRAPH, self.size // 2, PAGE),
            "naming": lambda: history.naming(GRAPH, mid.id, 0, PAGE),
            "projected page": lambda: history.projected(GRAPH, self.size // 2, PAGE),
        }

    async def _supersede(self) -> None:
        assert self._rival is not None
        belief = belief_by(SCOPE, "superseding", key=HOT_KEY)
        answer = await self.cold.beliefs.commit(SCOPE, belief, [settled_with(self._rival)])
        assert answer.superseded
        self._rival = belief

    async def _commit_and_revert(self) -> None:
        belief = belief_by(SCOPE, "for a moment", key=None)
        await self.cold.beliefs.commit(SCOPE, belief)
        await self.cold.beliefs.revert(SCOPE, belief.id, "over", NOW)

    async def _pin_and_unpin(self) -> None:
        assert self._rival is not None
        await self.cold.beliefs.pin(SCOPE, self._rival.id, NOW)
        await self.cold.beliefs.unpin(SCOPE, self._rival.id, NOW)

    async def _rewind(self) -> None:
        before = await self.cold.history.seq_at(GRAPH)
        await self.cold.beliefs.commit(SCOPE, belief_by(SCOPE, "for a moment", key=None))
        await self.cold.beliefs.rewind(GRAPH, before, "over", NOW)


def settled_with(rival: Commitment) -> Settlement:
    """Return that a new belief takes the place of a rival."""
    return Settlement(rival_id=rival.id, winner="new", strategy="last_write_wins", reason="later")


async def filled(cold: ColdStores, events: int) -> Log:
    """Fill an empty store with a log of about so many events."""
    await cold.graphs.create_graph(graph_of(SCOPE.graph_id))
    for _ in range(10):
        await cold.turns.append_turn(SCOPE, turn_by(SCOPE))
    filler = Filler(events)
    for table, rows in filler.rows():
        await cold.archive.import_rows(SCOPE.tenant, table, rows)  # type: ignore[arg-type]
    return Log(cold, filler)


async def measured(short: Log, long: Log, count: int) -> dict[str, tuple[float, float]]:
    """Return the medians of every operation in milliseconds, of both logs asked in turn."""
    found: dict[str, tuple[float, float]] = {}
    one, other = short.operations(), long.operations()
    for name in one:
        times: tuple[list[float], list[float]] = ([], [])
        for _ in range(count):
            for place, operation in enumerate((one[name], other[name])):
                started = time.perf_counter()
                await operation()
                times[place].append((time.perf_counter() - started) * 1000)
        found[name] = (statistics.median(times[0]), statistics.median(times[1]))
    return found


async def compared(engine: str, events: int, count: int) -> dict[str, Any]:
    """Return the sizes of both logs of an engine and what each operation costs in them."""
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="ezra-beliefs-")))
        uri = stack.enter_context(served("mongo")) if engine == "mongo" else ""
        logs = []
        for name, size in (("short", SHORT_EVENTS), ("long", events)):
            opened = (
                mongo_cold_store(uri, database=name, timeout_seconds=60.0)
                if engine == "mongo"
                else sqlite_cold_store(folder / name)
            )
            logs.append(await filled(await stack.enter_async_context(opened), size))
        figures = await measured(logs[0], logs[1], count)
    return {"sizes": [log.size for log in logs], "medians": figures}


def table(engine: str, found: dict[str, Any]) -> str:
    """Return the figures as a Markdown table."""
    short, long = found["sizes"]
    lines = [
        f"| {engine} (p50 ms) | {short:,} events | {long:,} events | ratio |",
        "|---|---|---|---|",
    ]
    for name, (one, other) in found["medians"].items():
        mark = "" if other / one < GOAL else " over"
        lines.append(f"| {name} | {one:.2f} | {other:.2f} | {other / one:.2f}{mark} |")
    return "\n".join(lines)


def main() -> None:
    """Print a table per engine."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=100_000, help="of SQLite's long log")
    parser.add_argument("--mongo-events", type=int, default=5_000, help="of the stand-in's")
    parser.add_argument("--count", type=int, default=200, help="repetitions per figure")
    parser.add_argument("--engine", choices=("sqlite", "mongo"), help="one engine only")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    options = parser.parse_args()
    events = {"sqlite": options.events, "mongo": options.mongo_events}
    counts = {"sqlite": options.count, "mongo": max(1, options.count // 5)}
    engines = [options.engine] if options.engine else list(events)
    found = {one: asyncio.run(compared(one, events[one], counts[one])) for one in engines}
    if options.json:
        print(json.dumps(found, indent=2))  # noqa: T201
        return
    print("\n\n".join(table(one, found[one]) for one in engines))  # noqa: T201


if __name__ == "__main__":
    main()
