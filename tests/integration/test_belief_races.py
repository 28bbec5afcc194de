"""Writers that race, die and come back: as many events as changes, one chain, no gap."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from support.belief_replay import replayed
from support.belief_writer import AGENTS, beliefs_of, change_beliefs, commit_settled, finished
from support.cold_mongo import server
from support.cold_samples import OPERATOR, belief_by
from support.processes import killed_after, running_process
from support.tier_samples import scope_of

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.sqlite import sqlite_cold_store

COUNT = 3
LONG = 30


@dataclass(frozen=True)
class Place:
    """Where the writers of a test meet.

    Attributes:
        address: As a writer is told it.
        opened: Opens it here.
    """

    address: tuple[str, ...]
    opened: Callable[[], AbstractAsyncContextManager[Any]]


def _mongo() -> Place:
    running = server()
    name = running.fresh_database()
    return Place(("mongo", running.uri, name), lambda: mongo_cold_store(running.uri, database=name))


def _sqlite(folder: Path) -> Place:
    return Place(("sqlite", str(folder)), lambda: sqlite_cold_store(folder))


async def _assert_each_once(cold: Any, ids: list[str], *, more: int = 0) -> None:
    """Every acknowledged belief was committed once, and at most so many others; all is whole.

    Args:
        cold: Freshly opened.
        ids: What was acknowledged.
        more: How many killed agents may have committed without being told.
    """
    fold = await replayed(cold.history, OPERATOR, page=200)
    pages = [await cold.history.events(OPERATOR, seq) for seq in range(0, fold.seq, 1000)]
    committed = Counter(one.belief_id for page in pages for one in page if one.kind == "committed")
    assert set(committed.values()) == {1}
    assert set(ids) <= set(committed)
    assert len(committed) <= len(ids) + more
    keys = Counter(one.key for one in await cold.beliefs.active(OPERATOR) if one.key)
    assert set(keys.values()) <= {1}, "one belief of a key is active at a time"
    believed = {one.id for one in await cold.beliefs.active(OPERATOR)}
    assert believed == {one.id for one in fold.active()}


async def _two_processes(place: Place, count: int) -> None:
    with ExitStack() as stack:
        writers = [
            stack.enter_context(running_process("belief_writer", name, count, *place.address))
            for name in ("one", "other")
        ]
        told = await asyncio.gather(*(asyncio.to_thread(finished, one) for one in writers))
    ids = [one for acknowledged in told for one in acknowledged]
    assert len(ids) == len(set(ids)) == 2 * AGENTS * count
    async with place.opened() as cold:
        await _assert_each_once(cold, ids)


async def _killed(place: Place, lines: int, count: int, *, beside: bool) -> None:
    """Kill a writer, perhaps beside another, and then send everything that it had to send again."""
    with ExitStack() as stack:
        writer = stack.enter_context(
            running_process("belief_writer", "one", 10_000, *place.address)
        )
        told: list[str] = []
        if beside:
            other = stack.enter_context(
                running_process("belief_writer", "other", count, *place.address)
            )
            living = asyncio.create_task(asyncio.to_thread(finished, other))
        acknowledged = await asyncio.to_thread(killed_after, writer, lines)
        if beside:
            told = await living
    assert len(acknowledged) >= lines
    async with place.opened() as cold:
        await _assert_each_once(cold, acknowledged + told, more=AGENTS)
        for agent in range(AGENTS):
            sent = sum(one.startswith(f"one-{agent}-") for one in acknowledged)
            scope = scope_of(agent_id=f"one {agent}")
            # One more than was acknowledged: the one that it was about when it died.
            for number, belief in enumerate(beliefs_of("one", agent, sent + 1)):
                answer = await commit_settled(cold, scope, belief)
                assert number == sent or not answer.is_new, "what was acknowledged is there"
                acknowledged += [belief.id] if number == sent else []
        await change_beliefs(cold, "later", count, told.append)
    async with place.opened() as cold:
        await _assert_each_once(cold, acknowledged + told)


async def test_two_processes_write_one_log() -> None:
    """Eight agents in two processes fight for two keys: every change once, every event in place."""
    await _two_processes(_mongo(), COUNT)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_two_processes_write_one_long_log() -> None:
    """The same for longer."""
    await _two_processes(_mongo(), LONG)


async def test_a_killed_writer_leaves_whole_changes(tmp_path: Path) -> None:
    """SIGKILL amid the changes of several agents; sent again, each is there once."""
    await _killed(_sqlite(tmp_path), 60, COUNT, beside=False)


async def test_a_writer_killed_beside_another_leaves_whole_changes() -> None:
    """The other goes on; sent again, each is there once."""
    await _killed(_mongo(), 8, COUNT, beside=True)


@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("lines", [1, 17, 50, 111, 400])
async def test_writers_killed_anywhere_leave_whole_changes(tmp_path: Path, lines: int) -> None:
    """Early, late, and long after; on both engines, and on MongoDB with another beside it."""
    await _killed(_sqlite(tmp_path), lines, LONG, beside=False)
    await _killed(_mongo(), min(lines, 60), COUNT, beside=True)


async def _raced_for_one_key(opened: list[Any]) -> None:
    """Of racing commits of one key, sent as if nobody else were there, one is written."""
    beliefs = [belief_by(scope_of(agent_id=f"agent {n}"), f"{n}") for n in range(8)]
    answers = await asyncio.gather(
        *(
            opened[place % len(opened)].beliefs.commit(
                scope_of(agent_id=belief.agent_id), belief, ()
            )
            for place, belief in enumerate(beliefs)
        )
    )
    (winner,) = [one.belief for one in answers if one.is_new]
    for answer in answers:
        rivals = [one.belief for one in answer.unsettled]
        assert rivals == ([] if answer.is_new else [winner])
    for cold in opened:
        fold = await replayed(cold.history, OPERATOR)
        assert fold.seq == 1
        assert await cold.beliefs.active(OPERATOR) == (winner,)


async def test_racing_for_one_key_gives_one_chain_and_explicit_answers(tmp_path: Path) -> None:
    """Through one store of a folder, and through two of a database."""
    async with _sqlite(tmp_path).opened() as cold:
        await _raced_for_one_key([cold])
    place = _mongo()
    async with place.opened() as one, place.opened() as other:
        await _raced_for_one_key([one, other])
