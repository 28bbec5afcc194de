"""Processes that die right before any one of their writes, and what is left behind them.

A write is a transaction of the cold store or a change of the warm index. ``python -m
support.write_points MODULE`` is a process that has loaded everything and opened nothing: it forks
one child for each request, so that a hundred deaths cost no hundred starts. ``MODULE.ACTS`` says
what can be asked for.
"""

from __future__ import annotations

import asyncio
import importlib
import json
import os
import subprocess
import sys
import traceback
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from tiers.cold.sqlite.database import Database
from tiers.warm.edge_store import EdgeWarmStore

from .processes import running_process

DIED = 9
"""How a child ends that was killed at its point."""


class WritePoints:
    """Counts writes once it is armed, and ends the process right before one of them.

    Attributes:
        seen: How many were about to be made.
    """

    def __init__(self, last: int | None, answers: Path | None = None) -> None:
        self.seen = 0
        self._last = last
        self._answers = answers
        self._armed = False

    def arm(self) -> None:
        """Count from now on: what came before was preparation."""
        self._armed = True

    def disarm(self) -> None:
        """Count no longer."""
        self._armed = False

    def answer(self, answer: Any) -> None:
        """Tell the test something; the last word counts."""
        if self._answers is not None:
            self._answers.write_text(json.dumps({"writes": self.seen, "answer": answer}))

    def leave(self, answer: Any) -> None:
        """Tell the test something and end here: nobody needs the folder any more."""
        self.answer(answer)
        os._exit(0)

    def pass_by(self) -> None:
        """A write is about to be made."""
        if not self._armed:
            return
        self.seen += 1
        if self.seen == self._last:
            os._exit(DIED)  # no exit handler, no flush, no rollback: as SIGKILL leaves it

    def install(self) -> None:
        """Stand before every write of this process, for good: it has only one life."""
        points = self
        for owner, name in _WRITES:
            setattr(owner, name, _counted(getattr(owner, name), points))


_WRITES: tuple[tuple[type[Any], str], ...] = (
    (Database, "write"),
    (EdgeWarmStore, "upsert"),
    (EdgeWarmStore, "delete"),
    (EdgeWarmStore, "delete_expired"),
)


def _counted(
    write: Callable[..., Awaitable[Any]], points: WritePoints
) -> Callable[..., Awaitable[Any]]:
    async def counted(*args: Any, **kwargs: Any) -> Any:
        points.pass_by()
        return await write(*args, **kwargs)

    return counted


Act: TypeAlias = Callable[[Path, WritePoints], Awaitable[None]]
"""Does something to a folder; arms the points when it begins, and answers what JSON can say."""


@dataclass(frozen=True)
class Outcome:
    """How a child ended: what it answered, or that it died at its point."""

    died: bool
    writes: int = 0
    answer: Any = None


class Forge:
    """Asks the loaded process for children."""

    def __init__(self, process: subprocess.Popen[str], answers: Path) -> None:
        self._process = process
        self._answers = answers
        self._count = 0

    def run(self, act: str, home: Path, *, die_at: int | None = None) -> Outcome:
        """Let a child act on a folder, and perhaps die right before its ``die_at``-th write."""
        self._count += 1
        path = self._answers / f"{self._count}.json"
        request = {"act": act, "home": str(home), "die_at": die_at, "answer": str(path)}
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        status = self._process.stdout.readline().strip()
        if status == str(DIED) and die_at is not None:
            return Outcome(died=True)
        told = json.loads(path.read_text()) if path.exists() else {"error": "no answer"}
        path.unlink(missing_ok=True)
        assert status == "0", f"{act} ended with {status}: {told.get('error')}"
        return Outcome(died=False, writes=told["writes"], answer=told["answer"])


@contextmanager
def forge(module: str, answers: Path) -> Iterator[Forge]:
    """Run the process that forks for the length of the block."""
    with running_process("write_points", module, OPENBLAS_NUM_THREADS="1") as process:
        yield Forge(process, answers)


def _child(acts: Mapping[str, Act], request: Mapping[str, Any]) -> None:
    """Do what was asked and end the process, whatever happens."""
    answers = Path(request["answer"])
    points = WritePoints(request["die_at"], answers)
    points.install()
    status = 0
    try:
        points.answer(None)
        asyncio.run(acts[request["act"]](Path(request["home"]), points))
    except BaseException:  # noqa: BLE001 - told to the test, which fails with it
        answers.write_text(json.dumps({"error": traceback.format_exc()}))
        status = 1
    os._exit(status)


def _serve(acts: Mapping[str, Act]) -> None:
    for line in sys.stdin:
        child = os.fork()
        if not child:
            _child(acts, json.loads(line))
        _, status = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(status), flush=True)  # noqa: T201 - the test reads it


if __name__ == "__main__":
    # Twice the same module, under two names: what is counted belongs to the imported one.
    here = importlib.import_module("support.write_points")
    here._serve(importlib.import_module(sys.argv[1]).ACTS)
