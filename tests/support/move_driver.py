"""Moves a memory and writes a line per page, for tests that kill it.

Usage: python -m support.move_driver SOURCE TARGET LEDGER STEPS
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from ezra.assembly.engines import opened_house
from ezra.moving import Step, move
from ezra.settings import Settings

PAGE_ROWS = 7


async def drive(source: Path, target: Path, ledger: Path, steps: int) -> None:
    """Move everything; one system call per line, so that a kill leaves whole lines."""

    def progress(step: Step) -> None:
        os.write(steps, f"{step.part}\n".encode())

    async with (
        opened_house(Settings(home=source)) as one,
        opened_house(Settings(home=target)) as other,
    ):
        await move(one, other, (), progress, ledger=ledger, page_rows=PAGE_ROWS)


if __name__ == "__main__":
    descriptor = os.open(sys.argv[4], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    asyncio.run(drive(*(Path(path) for path in sys.argv[1:4]), descriptor))
