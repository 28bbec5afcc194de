"""Replays a file and writes the ref of each line that it has stored, for tests that kill it.

Usage: python -m support.replay_driver HOME FILE ACKS [record]
"""

from __future__ import annotations

import asyncio
import os
import sys
from datetime import UTC, datetime
from pathlib import Path

from ezra import Ezra, Settings
from ezra.replay.formats import read_script
from ezra.replay.play import Replayer


def note(acks: int, ref: str) -> None:
    """Write that a line is durable; one system call, so that a kill leaves whole lines."""
    os.write(acks, f"{ref}\n".encode())


async def drive(home: Path, conversation: Path, acks: int, *, records: bool) -> None:
    """Replay, and write a line to the file descriptor once a line is durable."""
    script = read_script([conversation], now=datetime.now(UTC))
    settings = Settings(
        home=home, embedder="off", ring_capacity=4, learning_seconds=0.05, lifecycle_seconds=0.05
    )
    async with Ezra.open(settings) as ezra:
        replayer = Replayer(
            ezra,
            script,
            {script.conversations[0].id: ("chat",)},
            lambda line, new: note(acks, line.ref) if new else None,
            records=records,
        )
        await replayer.play("chat", [], [])


if __name__ == "__main__":
    descriptor = os.open(sys.argv[3], os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    drives = drive(
        Path(sys.argv[1]), Path(sys.argv[2]), descriptor, records="record" in sys.argv[4:]
    )
    asyncio.run(drives)
