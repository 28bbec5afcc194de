"""Load on a real server: ``ezra serve`` in a process of its own, many clients in this one."""

from __future__ import annotations

import asyncio
import json
import os
import random
import signal
import subprocess
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx2
from prometheus_client.parser import text_string_to_metric_families

from ezra import Ezra, EzraError

from .warm_command import warm_command

WORDS = (
    "tyre fuel rain lap box stint brake wing undercut safety car pace degradation soft hard".split()
)
GRAPHS = 5
STOP_SECONDS = 60.0


@dataclass
class Load:
    """What came of a load.

    Attributes:
        seconds: How long it lasted.
        times: Seconds of each call, by operation.
        errors: Each error that a client got.
    """

    seconds: float = 0.0
    times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    errors: list[str] = field(default_factory=list)

    @property
    def calls(self) -> int:
        """How many calls were answered."""
        return sum(map(len, self.times.values()))

    def percentile(self, operation: str, share: float) -> float:
        """Return the time within which a share of the calls of an operation was answered."""
        ordered = sorted(self.times[operation])
        return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


@contextmanager
def served(
    home: Path, *arguments: str, program: Sequence[str] = (), log: Path | None = None, **given: str
) -> Iterator[str]:
    """Run ``ezra serve`` on a free port for the length of the block; yields its address.

    Args:
        home: The data folder.
        arguments: What follows on the command line.
        program: What runs the command line, if not the command that tests fork.
        log: Where its standard error goes; beside the folder if not given.
        given: Settings, such as ``EZRA_EMBEDDER``.
    """
    variables = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    log = log or home.with_name(f"{home.name}.log")
    with (
        log.open("wb") as said,
        subprocess.Popen(
            [*(program or [str(warm_command())]), "serve", "--port", "0", "--json", *arguments],
            env={**variables, "EZRA_HOME": str(home), **given},
            stdout=subprocess.PIPE,
            stderr=said,
            text=True,
        ) as process,
    ):
        try:
            assert process.stdout is not None
            started = process.stdout.readline()
            assert started, log.read_text()[-4000:]
            yield str(json.loads(started)["url"])
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(STOP_SECONDS)


def numbers_of(url: str) -> dict[str, float]:
    """Return the numbers of a server by sample: ``ezra_turns_total{event="opened"}``."""
    return samples(httpx2.get(f"{url}/metrics").raise_for_status().text)


def samples(text: str) -> dict[str, float]:
    """Return the samples of a text in Prometheus' form."""
    found: dict[str, float] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f'{name}="{value}"' for name, value in sorted(sample.labels.items()))
            found[f"{sample.name}{{{labels}}}" if labels else sample.name] = sample.value
    return found


async def load(url: str, clients: int, seconds: float, *, seed: int = 5) -> Load:
    """Let many clients talk to a server for a while; each with a connection and agent of its own.

    Args:
        url: The server.
        clients: How many at a time.
        seconds: For how long.
        seed: What they say.
    """
    done = Load()
    async with Ezra.connect(url) as ezra:
        for number in range(GRAPHS):
            graph = await ezra.create_session_graph(f"race-{number}")
            await graph.spawn_agent("engineer", topics={"tyres"})
    started = time.perf_counter()
    async with asyncio.TaskGroup() as tasks:
        for number in range(clients):
            client = _Client(url, number, random.Random(seed * 1000 + number), done)
            tasks.create_task(client.talk(started + seconds))
    done.seconds = time.perf_counter() - started
    return done


class _Client:
    def __init__(self, url: str, number: int, seeded: random.Random, done: Load) -> None:
        self._url = url
        self._number = number
        self._seeded = seeded
        self._done = done

    async def talk(self, until: float) -> None:
        async with Ezra.connect(self._url) as ezra:
            graph = await self._timed("session_graph", lambda: ezra.session_graph(self._graph))
            spawn = graph.spawn_agent(f"client-{self._number}", topics={"tyres", "strategy"})
            agent = await self._timed("spawn", lambda: spawn)
            ways: list[tuple[int, Callable[[Any, Any], Awaitable[None]]]] = [
                (5, self._turn),
                (5, self._recall),
                (2, self._commit),
                (4, self._read),
                (2, self._remember),
            ]
            weights = [weight for weight, _ in ways]
            while time.perf_counter() < until:
                ((_, way),) = self._seeded.choices(ways, weights)
                await way(graph, agent)

    @property
    def _graph(self) -> str:
        return f"race-{self._number % GRAPHS}"

    async def _turn(self, _: Any, agent: Any) -> None:
        turn = await self._timed("turn", lambda: agent.turn(self._said()))
        if turn is not None:
            await self._timed("reply", lambda: turn.reply(self._said()))

    async def _recall(self, _: Any, agent: Any) -> None:
        await self._timed("recall", lambda: agent.recall(self._said()))

    async def _commit(self, _: Any, agent: Any) -> None:
        key = ("stint", self._seeded.choice(WORDS))
        await self._timed(
            "commit", lambda: agent.commit(self._said(), topic="strategy", key=key, value="x")
        )

    async def _remember(self, _: Any, agent: Any) -> None:
        await self._timed("remember", lambda: agent.remember(self._said()))

    async def _read(self, graph: Any, agent: Any) -> None:
        reads = {
            "beliefs": agent.beliefs,
            "core": agent.core,
            "status": graph.status,
            "audit": lambda: graph.audit(limit=50),
        }
        name = self._seeded.choice(sorted(reads))
        await self._timed(name, reads[name])

    async def _timed(self, operation: str, call: Callable[[], Awaitable[Any]]) -> Any:
        since = time.perf_counter()
        try:
            answer = await call()
        except EzraError as error:
            self._done.errors.append(f"{operation}: {type(error).__name__}: {error}")
            return None
        self._done.times[operation].append(time.perf_counter() - since)
        return answer

    def _said(self) -> str:
        return " ".join(self._seeded.choices(WORDS, k=10)) + f" {self._seeded.randrange(1000)}"
