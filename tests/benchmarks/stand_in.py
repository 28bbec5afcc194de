"""Runs a stand-in server in a process of its own, until its standard input is closed.

Run: .venv/bin/python tests/benchmarks/stand_in.py mongo|qdrant     prints the address

A benchmark that shared its process with a server would measure both at once.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, os.environ.get("EZRA_BENCHMARK_SAMPLES", str(Path(__file__).parents[1])))


@contextmanager
def served(kind: str) -> Iterator[str]:
    """Run a stand-in for the block and give its address."""
    with subprocess.Popen(
        [sys.executable, __file__, kind], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        address = process.stdout.readline().strip()
        if not address:
            raise RuntimeError(f"the stand-in for {kind} did not start")
        try:
            yield address
        finally:
            process.stdin.close()


def main() -> None:
    """Serve what the command line names."""
    from support.mongo_server import running_mongo
    from support.qdrant_shim import running_shim

    if sys.argv[1] == "mongo":
        with running_mongo() as mongo:
            print(mongo.uri, flush=True)  # noqa: T201
            sys.stdin.read()
    else:
        with running_shim() as qdrant:
            print(qdrant.url, flush=True)  # noqa: T201
            sys.stdin.read()


if __name__ == "__main__":
    main()
