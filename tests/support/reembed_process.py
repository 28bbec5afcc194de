"""A process that embeds a store anew until it is killed.

Run as ``python -m support.reembed_process FOLDER``. After each batch it prints how many records
are done.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from .reembedding import ScriptedEmbedder, house


async def _run(home: Path) -> None:
    new, old = ScriptedEmbedder("new"), ScriptedEmbedder("old")
    async with house(home, new, old, batch_records=2, owner="killed") as built:

        async def report() -> None:
            progress = built.reembedder.progress
            print(progress.done if progress else "complete", flush=True)  # noqa: T201
            # Long enough to be killed in the middle of a batch, and never seen by a clock.
            await asyncio.sleep(0.02)

        new.before = report
        await built.reembedder.run_to_end()
    print("complete", flush=True)  # noqa: T201


if __name__ == "__main__":
    asyncio.run(_run(Path(sys.argv[1])))
