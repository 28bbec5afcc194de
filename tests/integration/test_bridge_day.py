"""A day of two machines and one server, which is killed and started again twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Any

import pytest
from support.bridges import Server, at, machine, server
from support.doors import run
from support.records import every_row

from ezra.bridge.config import BridgeConfig
from ezra.bridge.outbox import Item, outbox_of
from ezra.bridge.reading import memories
from tiers.board import Card, CardKind

SESSION = 5
"""Writes between opening a bridge and closing it, as a hook or a command does."""


@dataclass
class Life:
    """What one machine said on a day.

    Attributes:
        config: Which machine.
        other: The agent that it writes to.
        random: Draws what comes next.
        said: The texts of each kind, in order.
        tasks: Ids of tasks that are open.
        queued: How many writes had to wait.
        told: Called before each write.
    """

    config: BridgeConfig
    other: str
    random: Random
    said: dict[str, list[str]] = field(
        default_factory=lambda: {"remember": [], "send": [], "log": [], "task": []}
    )
    tasks: list[str] = field(default_factory=list)
    queued: int = 0
    told: Callable[[], None] = lambda: None

    @property
    def count(self) -> int:
        """How many writes were made."""
        return sum(map(len, self.said.values()))

    def next(self) -> tuple[Any, dict[str, Any]]:
        """Return the next write: what, and with what."""
        kind = self.random.choice(("remember", "remember", "send", "log", "task"))
        text = f"{self.config.machine} {kind} {self.count}"
        self.said[kind].append(text)
        if kind == "remember":
            return kind, {"type": "observation", "content": text, "tags": ["day"]}
        if kind == "send":
            return kind, {"to": [self.other], "type": "note", "text": text}
        if kind == "log":
            return kind, {"action": "step", "text": text}
        if self.tasks and self.random.random() < 0.5:
            task = self.tasks.pop(0)
            return "task_done", {"id": task, "outcome": text}
        return "task_start", {"title": text}


async def live(life: Life, writes: int) -> None:
    """Make so many writes, in sessions."""
    done = 0
    while done < writes:
        async with at(life.config) as bridge:
            for _ in range(min(SESSION, writes - done)):
                kind, arguments = life.next()
                life.told()
                outcome = await bridge.write(kind, **arguments)
                if kind == "task_start":
                    life.tasks.append(outcome.id)
                life.queued += outcome.state == "queued"
                done += 1


async def live_together(lives: tuple[Life, ...], writes: int, killed: Server | None) -> None:
    """Let all machines write at once; the server is killed in the midst where one is given."""
    begun = asyncio.Event()

    async def kill() -> None:
        if killed is not None:
            await begun.wait()
            await asyncio.to_thread(killed.kill)

    before = lives[0].count
    for one in lives:
        one.told = lambda: begun.set() if lives[0].count >= before + writes // 2 else None
    await asyncio.gather(kill(), *(live(one, writes) for one in lives))


def day(tmp_path: Path, writes: int) -> None:
    """Live the day; ``writes`` of both machines in all."""
    with server(tmp_path / "server") as shared:
        lives = tuple(
            Life(machine(tmp_path / name, agent, shared.url), other, Random(name))
            for name, agent, other in (
                ("laptop", "builder", "reviewer"),
                ("desktop", "reviewer", "builder"),
            )
        )
        each = writes // (2 * 5)
        asyncio.run(live_together(lives, each, None))
        task = cli(lives[0].config, "task", "start", "Contested")
        asyncio.run(live_together(lives, each, shared))  # killed while they write
        contest(lives, task)
        asyncio.run(live_together(lives, each, None))  # it is away
        assert cli_code(lives[0].config, "recall", "laptop") == 4
        shared.start()
        asyncio.run(live_together(lives, each, shared))  # what waited, and killed again
        cli(lives[1].config, "remember", "decision", "desktop by command")
        shared.start()
        asyncio.run(live_together(lives, each, None))
        refused = [sync(one.config) for one in lives]
        asyncio.run(judge(lives))
        assert all(one.queued > 0 for one in lives)
        # Both ended one task while nobody could see the other: one of them is told.
        assert [len(one) for one in refused] in ([1, 0], [0, 1])
        (lost,) = [one for items in refused for one in items]
        assert (lost.kind, lost.arguments["id"]) in {("task_done", task), ("task_fail", task)}
        assert "completed" in str(lost.reason) or "failed" in str(lost.reason)


def contest(lives: tuple[Life, ...], task: str) -> None:
    """Let both machines end one task, differently, while the server is away."""
    cli(lives[0].config, "task", "done", task, "--outcome", "done on the laptop")
    cli(lives[1].config, "task", "fail", task, "--reason", "failed on the desktop")


def cli(config: BridgeConfig, *arguments: str) -> str:
    """Run a command of the bridge, which must succeed; return what it printed."""
    done = run("bridge", *arguments, **variables(config))
    assert done.code == 0, (arguments, done)
    return done.out.strip()


def cli_code(config: BridgeConfig, *arguments: str) -> int:
    """Run a command of the bridge and return its exit code."""
    return run("bridge", *arguments, **variables(config)).code


def variables(config: BridgeConfig) -> dict[str, str]:
    """Return the environment of a machine."""
    return {
        "EZRA_BRIDGE_STATE": str(config.state),
        "EZRA_BRIDGE_AGENT": config.agent or "",
        "EZRA_BRIDGE_MACHINE": config.machine,
        "EZRA_BRIDGE_TIMEOUT_SECONDS": "30",
        "EZRA_URL": config.url or "",
    }


def sync(config: BridgeConfig) -> tuple[Item, ...]:
    """Send what is left, and return what was refused."""
    assert cli_code(config, "sync") in (0, 1)
    box = outbox_of(config)
    assert box.is_empty()
    return box.refused()


async def judge(lives: tuple[Life, ...]) -> None:
    """Check that everything is there once, in the order in which each machine said it."""
    async with at(lives[0].config) as bridge:
        kept = [one.content async for one in memories(bridge)]
        said = [text for one in lives for text in one.said["remember"]]
        assert sorted(kept) == sorted([*said, "desktop by command"])
        graph = await bridge.graph()
        for one in lives:
            sent = await cards(graph, "message", one)
            assert [card.text for card in sent] == one.said["send"]
            done = await cards(graph, "action", one)
            assert [card.text for card in done if card.type == "step"] == one.said["log"]
            tasks = [card for card in await cards(graph, "task", one) if card.title != "Contested"]
            ends = [card.details["outcome"] for card in tasks if card.status == "completed"]
            assert sorted([card.title for card in tasks] + ends) == sorted(one.said["task"])
            assert {card.id for card in tasks if card.status == "created"} == set(one.tasks)
            # Each change was logged once: starting every task, and ending those that ended.
            logged = [card.type for card in done if card.thread in {task.id for task in tasks}]
            assert len(logged) == len(one.said["task"])


async def cards(graph: Any, kind: CardKind, life: Life) -> list[Card]:
    """Return what a machine put on the board, oldest first."""
    agent = life.config.agent
    found = await every_row(lambda at: graph.board.latest(kind, agent_id=agent, after=at))
    return found[::-1]


def test_a_day_of_two_machines_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Killed twice: every write is there once, in order, and the conflict is shown."""
    day(tmp_path, 60)


@pytest.mark.slow
def test_a_day_of_five_hundred_writes_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """The long form: five hundred writes."""
    day(tmp_path, 500)
