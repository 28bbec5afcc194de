"""A process that writes to a warm index until it is killed.

Run as ``python -m support.warm_writer FOLDER``. After each acknowledged batch it prints how many
entries the index owes us from then on.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from tiers.warm import edge_warm_store

from .tier_samples import DIMENSIONS, entry_of, record_id, scope_of

BATCH = 25
DELETED = 5
"""How many of each batch are removed again, the first ones."""


async def _write(folder: Path) -> None:
    scope = scope_of()
    async with edge_warm_store(folder, dimensions=DIMENSIONS) as store:
        for batch in range(100_000):
            numbers = range(batch * BATCH, batch * BATCH + BATCH)
            await store.upsert(scope, [entry_of(scope, number) for number in numbers])
            await store.delete(scope, [record_id(number) for number in numbers[:DELETED]])
            print(numbers.stop, flush=True)  # noqa: T201 - the parent reads it
            await asyncio.sleep(0)


if __name__ == "__main__":
    asyncio.run(_write(Path(sys.argv[1])))
