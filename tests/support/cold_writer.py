"""A process that owns a data folder and writes turns until it is killed.

Run as ``python -m support.cold_writer FOLDER``. Prints the ``ref`` of each turn after it was
acknowledged; several writers run at once, so that the kill comes in the middle of writes.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tiers.cold import own_folder, sqlite_cold_store

from .cold_backends import Cold
from .cold_beliefs import replacing
from .cold_samples import belief_by, draft, turn_by
from .tier_samples import scope_of

AGENTS = 4


async def _write(cold: Cold, agent: int) -> None:
    scope = scope_of(agent_id=f"agent {agent}")
    for number in range(100_000):
        ref = f"{agent}-{number}"
        await cold.turns.append_turn(scope, turn_by(scope, ref, ref=ref), [draft(ref)])
        await replacing(cold, scope, belief_by(scope, ref))
        print(ref, flush=True)  # noqa: T201 - the parent reads it


async def _run(folder: Path) -> None:
    async with own_folder(folder), sqlite_cold_store(folder) as cold, asyncio.TaskGroup() as tasks:
        for agent in range(AGENTS):
            tasks.create_task(_write(cold, agent))


if __name__ == "__main__":
    asyncio.run(_run(Path(sys.argv[1])))
