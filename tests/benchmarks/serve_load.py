"""``ezra serve`` under many parallel clients: what it answers, how fast, and what held it up.

Run: .venv/bin/python tests/benchmarks/serve_load.py [--clients 50] [--seconds 60]
     [--embedder auto] [--stalls]

The server is a process of its own, as people run it; the clients are in this one. The longest
stall is measured inside the server's event loop and read from its ``/metrics``. ``--stalls`` runs
the server with a watcher inside, which says for each stall of more than 50 ms where the event loop
stood, and how much of it was work of its own, waiting for a processor, or waiting for the
interpreter's lock. Every figure is of this machine and of what else runs on it.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))  # the tests' support package

from support.command import COMMAND
from support.load import Load, load, numbers_of, served

WATCHER = Path(__file__).with_name("serve_stalls.py")


def main() -> None:
    """Serve, load, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clients", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--embedder", default="auto", choices=("auto", "off"))
    parser.add_argument("--stalls", action="store_true")
    given = parser.parse_args()
    program = [sys.executable, str(WATCHER)] if given.stalls else [str(COMMAND)]
    with tempfile.TemporaryDirectory() as folder:
        home, log = Path(folder) / "home", Path(folder) / "log"
        settings = {"EZRA_EMBEDDER": given.embedder}
        with served(home, "--no-access-log", program=program, log=log, **settings) as url:
            done = asyncio.run(load(url, given.clients, given.seconds))
            numbers = numbers_of(url)
        show(done, numbers)
        print(log.read_text()[-20_000:])  # noqa: T201


def show(done: Load, numbers: dict[str, float]) -> None:
    """Print what came of it."""
    print(f"{done.calls} calls in {done.seconds:.1f} s, {done.calls / done.seconds:.0f} a second")  # noqa: T201
    print(f"{len(done.errors)} errors", *done.errors[:10], sep="\n  ")  # noqa: T201
    print(f"{'operation':16}{'calls':>8}{'p50 ms':>9}{'p95 ms':>9}{'p99 ms':>9}")  # noqa: T201
    for operation in sorted(done.times):
        parts = (done.percentile(operation, share) * 1000 for share in (0.5, 0.95, 0.99))
        shown = "".join(f"{part:9.1f}" for part in parts)
        print(f"{operation:16}{len(done.times[operation]):>8}{shown}")  # noqa: T201
    longest = numbers["ezra_event_loop_lag_max_seconds"] * 1000
    print(f"longest stall of the server's event loop: {longest:.0f} ms")  # noqa: T201
    count = numbers["ezra_event_loop_lag_seconds_count"]
    for bound in ("0.01", "0.025", "0.05", "0.1", "0.25", "1.0"):
        within = numbers[f'ezra_event_loop_lag_seconds_bucket{{le="{bound}"}}']
        print(f"  later than {float(bound) * 1000:4.0f} ms: {count - within:.0f} of {count:.0f}")  # noqa: T201


if __name__ == "__main__":
    main()
