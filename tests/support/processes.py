"""Modules of this package that are run as processes of their own, and killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .warm_command import warm_python

TESTS = Path(__file__).parent.parent
PATIENCE_SECONDS = 120.0
"""How long a test waits for what happens at once on an idle machine: it ends what never would."""


def kept() -> dict[str, str]:
    """Return what a test's command has of this environment: its path, and long patience."""
    patience = os.environ.get("EZRA_STEP_TIMEOUT_SECONDS", "30")
    return {"PATH": os.environ["PATH"], "EZRA_STEP_TIMEOUT_SECONDS": patience}


def wait_until(true: Callable[[], bool], what: str) -> None:
    """Wait until something is so that another process, or a thread, is about to do."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not true():
        if time.monotonic() > deadline:
            raise RuntimeError(f"gave up waiting: {what}")
        time.sleep(0.001)


def succeeded(
    *command: object, timeout_seconds: float = PATIENCE_SECONDS, **how: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command to its end, which must be a good one; ``how`` as of ``subprocess.run``."""
    done = subprocess.run(
        [*map(str, command)],
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
        **how,
    )
    assert done.returncode == 0, done.stdout[-3_000:] + done.stderr[-3_000:]
    return done


@contextmanager
def running_process(
    module: str, *arguments: object, warm: bool = True, **variables: str
) -> Iterator[subprocess.Popen[str]]:
    """Run ``support.<module>``; it is killed at the end of the block at the latest.

    Args:
        module: Its name.
        arguments: What follows on its command line.
        warm: Fork it from a process that has imported ezra. Then ``pid`` is not its own.
        variables: Its environment, besides this one.
    """
    path = os.pathsep.join([str(TESTS), str(TESTS.parent)])
    python = str(warm_python()) if warm else sys.executable
    with subprocess.Popen(
        [python, "-m", f"support.{module}", *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path, **variables},
    ) as process:
        try:
            yield process
        finally:
            process.kill()
            assert process.stdout is not None
            if not process.stdout.closed:
                process.stdout.read()  # its end is the end of the process


def killed_when(
    process: subprocess.Popen[bytes], is_time: Callable[[], bool], delay_seconds: float
) -> bytes:
    """Wait until it is time, then as long again as is said, send SIGKILL; returns what it said.

    It may have ended by itself before.
    """
    wait_until(lambda: is_time() or process.poll() is not None, "the process to get going")
    time.sleep(delay_seconds)
    process.kill()
    return process.communicate()[1]


def killed_after(process: subprocess.Popen[str], lines: int) -> list[str]:
    """Read that many acknowledgements, send SIGKILL, and return all that were given."""
    assert process.stdout is not None
    acknowledged = [process.stdout.readline() for _ in range(lines)]
    process.kill()
    process.wait()
    acknowledged += process.stdout.readlines()
    # Only whole lines were printed before the kill.
    return [line.strip() for line in acknowledged if line.endswith("\n")]
