"""The command line in this process, on either door: an embedded store, or a server over one."""

from __future__ import annotations

import asyncio
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from queue import Queue
from typing import Any
from unittest.mock import patch

from support.doors import Said, commands
from support.runtime import MovingClock, running
from support.service import serving
from typer.testing import CliRunner

import ezra.cli
from ezra.service.tokens import TokenFile

from .processes import PATIENCE_SECONDS

DOORS = ("embedded", "server")


class Door:
    """Runs commands on one store.

    Args:
        name: Which of ``DOORS``.
        where: The options that lead there.
        token: Who asks a server.
    """

    def __init__(self, name: str, where: tuple[str, ...], token: str | None = None) -> None:
        self.name = name
        self.where = where
        self.token = token

    def __call__(self, *arguments: object, said: str | bytes | None = None) -> Said:
        """Run ``ezra`` and return what came of it, whatever its exit code."""
        return command(*arguments, *self.where, said=said, token=self.token)

    def done(self, *arguments: object, said: str | bytes | None = None) -> Said:
        """Run ``ezra``, which must succeed."""
        found = self(*arguments, said=said)
        assert found.code == 0, (arguments, found)
        return found

    def told(self, *arguments: object, said: str | bytes | None = None) -> Any:
        """Run ``ezra`` with ``--json`` and return its document."""
        return self.done(*arguments, "--json", said=said).document

    def refused(self, *arguments: object, said: str | bytes | None = None) -> str:
        """Run ``ezra``, which must refuse in one line with exit code 2; return the line."""
        found = self(*arguments, said=said)
        assert found.code == 2, (arguments, found)
        assert found.out == "", (arguments, found)
        (line,) = found.err.splitlines()
        return line


def module_door(door: Door, graph: str, *agents: str) -> Door:
    """Make a graph with agents, unless a former module has; return the door to it."""
    if door("graph", "show", graph).code != 0:
        door.done("graph", "create", graph)
        for agent in agents:
            door.done("agent", "spawn", graph, agent, "--topic", "tyres", "--topic", "strategy")
    return door


def command(*arguments: object, said: str | bytes | None = None, token: str | None = None) -> Said:
    """Run the command line in this process."""
    named = {
        "EZRA_TOKEN": token,
        "EZRA_EMBEDDER": "off",
        "EZRA_URL": None,
        "EZRA_HOME": None,
        "COLUMNS": "200",
    }
    argv = ["ezra", *map(str, arguments)]
    with (
        CliRunner().isolation(input=said, env=named) as (out, err, _),
        patch.object(sys, "argv", argv),
        patch.object(ezra.cli, "app_of", lambda _: commands()),
    ):
        code: object = 0
        try:
            ezra.cli.main()
        except SystemExit as ended:
            code = ended.code
        return Said(
            code if isinstance(code, int) else int(code is not None),
            out.getvalue().decode(),
            err.getvalue().decode(),
        )


@contextmanager
def served(
    home: Path,
    tokens: TokenFile | None = None,
    *,
    clock: Callable[[], datetime] | None = None,
    port: int = 0,
) -> Iterator[str]:
    """Run a server over a store in a thread of its own; yields its address.

    Its time stands still unless a clock is given.
    """
    started: Queue[str | BaseException] = Queue()
    stopped: Queue[asyncio.Event] = Queue()

    async def serve() -> None:
        stop = asyncio.Event()
        now: Any = clock or MovingClock()
        async with running(home, now) as ezra, serving(ezra, tokens=tokens, port=port) as url:
            stopped.put(stop)
            started.put(url)
            await stop.wait()

    loop = asyncio.new_event_loop()

    def work() -> None:
        try:
            loop.run_until_complete(serve())
        except BaseException as error:  # noqa: BLE001 - it is raised in the test's thread
            started.put(error)
        finally:
            loop.close()

    thread = threading.Thread(target=work, name="server")
    thread.start()
    url = started.get(timeout=PATIENCE_SECONDS)
    if isinstance(url, BaseException):
        thread.join()
        raise url
    try:
        yield url
    finally:
        loop.call_soon_threadsafe(stopped.get().set)
        thread.join()


@contextmanager
def door_to(name: str, home: Path) -> Iterator[Door]:
    """Open a door to a new store."""
    if name == "embedded":
        yield Door(name, ("--home", str(home)))
        return
    with served(home) as url:
        yield Door(name, ("--url", url))
