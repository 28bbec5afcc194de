"""A runtime that works in the background of a shared store, as a process of its own.

Run as ``python -m support.shared_runtime HOME`` with the servers in the environment. It prints
``ready`` and works until it is killed, or until its input ends.
"""

from __future__ import annotations

import asyncio
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ezra import Ezra, Settings

from .processes import running_process

LEASE_SECONDS = 2.0
RING, PER_SUMMARY = 4, 4


def shared_settings(home: Path, *, background: bool) -> Settings:
    """Return settings of one of several runtimes on a store, hurried and patient at once."""
    return Settings(
        home=home,
        embedder="off",
        background=background,
        learning_seconds=0.05,
        extract_seconds=0.1,
        lifecycle_seconds=0.2,
        closed_lifecycle_seconds=0.2,
        work_lease_seconds=LEASE_SECONDS,
        ring_capacity=RING,
        turns_per_summary=PER_SUMMARY,
        promote_at_uses=2,
        # A busy machine is no reason to give up.
        step_timeout_seconds=60.0,
        server_timeout_seconds=60.0,
    )


class WorkingProcess:
    """A runtime in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    async def ready(self) -> None:
        """Wait until it works."""
        assert self._process.stdout is not None
        told = await asyncio.to_thread(self._process.stdout.readline)
        assert told == "ready\n", f"the runtime did not start: {told!r}"

    def kill(self) -> None:
        """End it as a power cut does."""
        self._process.send_signal(signal.SIGKILL)
        assert self._process.wait() == -signal.SIGKILL, "it had ended before"

    async def stop(self) -> None:
        """Let it end by itself, and see that it did so in peace."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert await asyncio.to_thread(self._process.wait) == 0


@contextmanager
def working_process(home: Path) -> Iterator[WorkingProcess]:
    """Run a runtime on the servers of the environment; the block ends it at the latest."""
    with running_process("shared_runtime", home) as process:
        yield WorkingProcess(process)


async def _work(home: Path) -> None:
    async with Ezra.open(shared_settings(home, background=True)):
        print("ready", flush=True)  # noqa: T201 - the test reads it
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(_work(Path(sys.argv[1])))
