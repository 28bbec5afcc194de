"""The command line, run as a person or a program runs it: as a process."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from .processes import PATIENCE_SECONDS, kept
from .warm_command import warm_command

COMMAND = Path(sys.executable).parent / "ezra"
"""The command as it is installed."""


def started(
    *arguments: object, program: Path | None = None, **variables: str
) -> subprocess.Popen[str]:
    """Start ``ezra``, or another program as it; with pipes, in an environment of its own."""
    return subprocess.Popen(
        [str(program or warm_command()), *map(str, arguments)],
        env={**kept(), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ezra(
    home: Path | None,
    *arguments: object,
    timeout_seconds: float = PATIENCE_SECONDS,
    installed: bool = False,
    **variables: str,
) -> subprocess.CompletedProcess[str]:
    """Run ``ezra`` and return what came of it; in an environment of its own.

    Args:
        home: The data folder, given as ``EZRA_HOME``; it need not exist. Its parent is where the
            command runs, so that files beside it have short names. ``None`` names no folder, and
            the command runs where the tests do.
        arguments: What follows the name of the command.
        timeout_seconds: How long it may take.
        installed: Start Python and import everything anew, as the installed command does.
        variables: The rest of its environment.

    Raises:
        subprocess.TimeoutExpired: It took longer.
    """
    named = {} if home is None else {"EZRA_HOME": str(home)}
    return subprocess.run(
        [str(COMMAND if installed else warm_command()), *map(str, arguments)],
        env={**kept(), **named, **variables},
        cwd=None if home is None else home.parent,
        capture_output=True,
        text=True,
        timeout=timeout_seconds,
        check=False,
    )
