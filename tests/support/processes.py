"""Runs ``support.cold_writer`` as a process of its own, and kills it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

TESTS = Path(__file__).parent.parent


@contextmanager
def running_writer(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Start a writer on ``folder``; it is killed at the end of the block at the latest."""
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    process = subprocess.Popen(
        [sys.executable, "-m", "support.cold_writer", str(folder)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def killed_after(process: subprocess.Popen[str], lines: int) -> list[str]:
    """Read that many acknowledgements, send SIGKILL, and return all that were given."""
    assert process.stdout is not None
    acknowledged = [process.stdout.readline() for _ in range(lines)]
    process.kill()
    process.wait()
    acknowledged += process.stdout.readlines()
    # Only whole lines were printed before the kill.
    return [line.strip() for line in acknowledged if line.endswith("\n")]
