"""What a command wrote is found by meaning when it returns.

Behind an embedded memory nobody works once the command is over, so it indexes before it ends.
"""

from __future__ import annotations

import time

from tiers.errors import TierError

from ..app import Ezra
from .screen import Screen

INDEXING_SECONDS = 10.0
"""So long a command goes on for what it wrote, and for what others left behind."""


async def index_what_was_written(ezra: Ezra) -> None:
    """Put into the vector index what waits for it; say so where some of it still waits then."""
    parts = ezra._parts  # noqa: SLF001 - a runtime indexes by itself; a command cannot wait for it
    until = time.monotonic() + INDEXING_SECONDS
    try:
        while (await parts.index_worker.run_once()).claimed and time.monotonic() < until:
            pass
        waiting = await parts.queue.waiting(tenant=parts.settings.tenant)
    except TierError as error:
        # What was written is written: the command has done what it was asked for.
        Screen().note(f"degraded: found by words, and not yet by meaning: {error}")
        return
    if waiting["index"]:
        Screen().note(
            f"degraded: {waiting['index']:,} records are found by words, and not yet by meaning;"
            " any later command, 'ezra lifecycle run' or a running server goes on with them"
        )
