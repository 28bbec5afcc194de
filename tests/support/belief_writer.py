"""A process that changes what a graph believes, as several agents at once.

Run as ``python -m support.belief_writer NAME COUNT sqlite FOLDER`` or ``… mongo URI DATABASE``.
Each agent commits ``COUNT`` beliefs, most of them under keys that all fight for, sends some twice,
and pins, reverts, rewinds and trusts in between. The id of a belief is printed when its commit was
acknowledged.
"""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from random import Random
from typing import Any

from tiers.beliefs import Commitment, Committed, Settlement
from tiers.cold import own_folder, sqlite_cold_store
from tiers.errors import NotFound, TierTimeout, TierUnavailable
from tiers.records import Scope

from .cold_samples import OPERATOR, belief_by
from .tier_samples import NOW, scope_of

TESTS = Path(__file__).parent.parent
AGENTS = 4
ATTEMPTS = 200
KEYS = (None, ("start", "compound"), ("start", "compound"), ("pit", "lap"))

Told = Callable[[str], None]


async def change_beliefs(cold: Any, name: str, count: int, told: Told) -> None:
    """Let the agents of a process change what is believed, all at once."""
    async with asyncio.TaskGroup() as tasks:
        for agent in range(AGENTS):
            tasks.create_task(_live(cold, f"{name} {agent}", count, told))


def beliefs_of(name: str, agent: int, count: int) -> list[Commitment]:
    """Return what an agent of a process commits, the same each time."""
    draw, scope = Random(f"{name} {agent}"), scope_of(agent_id=f"{name} {agent}")
    return [
        belief_by(scope, f"{name} {agent} {number}", key=draw.choice(KEYS)).model_copy(
            update={"id": f"{name}-{agent}-{number}"}
        )
        for number in range(count)
    ]


async def commit_settled(cold: Any, scope: Scope, belief: Commitment) -> Committed:
    """Commit a belief over whatever is in its way, decided anew for as long as the world moves."""
    settled: list[Settlement] = []
    for _ in range(ATTEMPTS):
        try:
            answer: Committed = await cold.beliefs.commit(scope, belief, settled)
        except (TierTimeout, TierUnavailable):
            continue  # Whether it was committed is unknown: the id makes a repeat harmless.
        if not (answer.unsettled or answer.is_stale):
            return answer
        settled = [
            Settlement(rival_id=one.belief.id, winner="new", strategy="last_write_wins")
            for one in answer.unsettled
        ]
    raise AssertionError(f"{belief.id} was not committed in {ATTEMPTS} attempts")


async def _live(cold: Any, agent: str, count: int, told: Told) -> None:
    name, _, number = agent.rpartition(" ")
    draw, scope = Random(agent), scope_of(agent_id=agent)
    for belief in beliefs_of(name, int(number), count):
        await commit_settled(cold, scope, belief)
        told(belief.id)
        if draw.random() < 0.3:
            again = await commit_settled(cold, scope, belief)
            assert not again.is_new, "a repeat was written"
        if draw.random() < 0.4:
            await _meddle(cold, scope, belief, draw)


async def _meddle(cold: Any, scope: Scope, belief: Commitment, draw: Random) -> None:
    """Change something else; what is active no longer, or cannot be reached, is left."""
    beliefs = cold.beliefs
    changes: list[Callable[[], Awaitable[object]]] = [
        lambda: beliefs.pin(scope, belief.id, NOW),
        lambda: beliefs.unpin(scope, belief.id, NOW),
        lambda: beliefs.revert(scope, belief.id, "mistaken", NOW),
        lambda: _rewind_a_little(cold),
        lambda: beliefs.set_trust(scope, scope.agent_id, None, draw.random(), "seen", NOW),
    ]
    try:
        await draw.choice(changes)()
    except (NotFound, TierTimeout, TierUnavailable):
        return


async def _rewind_a_little(cold: Any) -> None:
    """Rewind to the beginning of the last change, which is the end of the one before."""
    events = await cold.history.events(OPERATOR, max(0, await cold.history.seq_at(OPERATOR) - 8))
    begun = [one.seq for one in events if one.kind == "committed"]
    if begun:
        await cold.beliefs.rewind(OPERATOR, begun[-1] - 1, "back", NOW)


def finished(process: subprocess.Popen[str]) -> list[str]:
    """Wait until a writer has done everything, and return what was acknowledged to it."""
    assert process.stdout is not None
    acknowledged = [line.strip() for line in process.stdout]
    assert process.wait() == 0, "the writer failed"
    return acknowledged


def _opened(engine: str, where: list[str]) -> AbstractAsyncContextManager[Any]:
    if engine == "sqlite":
        return sqlite_cold_store(Path(where[0]))
    from tiers.cold.mongo import mongo_cold_store

    return mongo_cold_store(where[0], database=where[1])


async def _run(name: str, count: int, engine: str, where: list[str]) -> None:
    async with AsyncExitStack() as stack:
        if engine == "sqlite":
            await stack.enter_async_context(own_folder(Path(where[0])))
        cold = await stack.enter_async_context(_opened(engine, where))
        await change_beliefs(cold, name, count, lambda one: print(one, flush=True))  # noqa: T201


if __name__ == "__main__":
    asyncio.run(_run(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4:]))
