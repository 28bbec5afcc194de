"""A forked program ends as one that Python has started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from support.processes import kept
from support.warm_command import warm_python

LAST = "import atexit, sys; atexit.register(print, 'last word'); "


@pytest.mark.parametrize(
    "program",
    [
        "print('done', end='')",
        "import sys; sys.exit(3)",
        "import sys; sys.exit('a reason')",
        "raise ValueError('a mistake')",
        "import threading; threading.Timer(0.05, print, ['a late line']).start()",
        "import os, signal; os.kill(os.getpid(), signal.SIGTERM)",
        "import sys; print(*sys.argv, __name__)",
    ],
)
@pytest.mark.parametrize("output", ["a file", "/dev/full"])
def test_it_ends_with_the_same_code_and_words(program: str, output: str, tmp_path: Path) -> None:
    """Exit handlers, threads, reasons, signals; and where its output cannot be written."""

    def ended(python: str | Path) -> tuple[int, str, list[str]]:
        path = tmp_path / output  # an absolute one is that
        with path.open("w") as out:
            done = subprocess.run(
                [str(python), "-c", LAST + program, "and", "more"],
                stdout=out,
                stderr=subprocess.PIPE,
                env=kept(),
                text=True,
                timeout=60,
                check=False,
            )
        said = path.read_text() if path.is_file() else ""
        return done.returncode, said, done.stderr.splitlines()[-1:]

    assert ended(warm_python()) == ended(sys.executable)
