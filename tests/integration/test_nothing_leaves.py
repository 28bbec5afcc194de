"""An embedded memory writes into its folder alone and asks nobody on a network."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tiers.embedding.installed import default_model_folder

LAUNCHER = Path(__file__).parents[1] / "support" / "no_sockets.py"
COMMANDS = (
    ("init",),
    ("graph", "create", "imola"),
    ("agent", "spawn", "imola", "strategist"),
    ("remember", "imola", "strategist", "The medium tyres last about 18 laps."),
    ("recall", "imola", "how long do the mediums last?"),
    ("doctor",),
    ("embedder", "status"),
)

ONE_BY_ONE = """
import json, sys
from ezra.cli import main
for arguments in json.loads(sys.argv[1]):
    print(arguments, file=sys.stderr, flush=True)
    sys.argv = ["ezra", *arguments]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
"""
"""Runs commands in one process: what each would import and load again takes longer than it does."""


def run(home: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """Run a command under the filter, in a home of its own with the installed model beside it."""
    models = default_model_folder(os.environ)
    return subprocess.run(
        [sys.executable, LAUNCHER, *command],
        env={"PATH": os.environ["PATH"], "HOME": str(home), "EZRA_MODELS": str(models)},
        cwd=home,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_r9_32_nothing_leaves_the_machine_and_only_the_memory_is_written(tmp_path: Path) -> None:
    """Neither a device id in the home nor a question to anybody's host, with the model in use."""
    done = run(tmp_path, sys.executable, "-c", ONE_BY_ONE, json.dumps(COMMANDS))
    assert done.returncode == 0, (done.returncode, done.stderr)
    assert {path.name for path in tmp_path.iterdir()} == {".ezra"}


@pytest.mark.parametrize(
    "code",
    [
        "import socket; socket.socket(socket.AF_INET)",
        "import socket; socket.getaddrinfo('example.invalid', 443)",
        "import os, socket; os.fork() or socket.socket(); raise SystemExit(os.wait()[1])",
    ],
)
def test_the_filter_finds_who_asks(code: str, tmp_path: Path) -> None:
    """A process that opens a socket dies of it, and so does its child."""
    done = run(tmp_path, sys.executable, "-c", code)
    assert done.returncode in {-signal.SIGSYS, signal.SIGSYS}, done.stderr
