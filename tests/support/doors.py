"""The command line in this process, as its entry point runs it, on a folder or on a server."""

from __future__ import annotations

import io
import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

from typer.main import get_command

import ezra.cli
from ezra.cli.app import app_of

from .command import started
from .processes import PATIENCE_SECONDS, kept

COLUMNS = "80"


@cache
def commands() -> Any:
    """Return all commands, built once: that takes longer than most of them."""
    return get_command(app_of())


@dataclass(frozen=True)
class Said:
    """What a command came to: its exit code, standard output and standard error."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """What it printed with ``--json``."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """The lines that it printed for people."""
        return self.out.splitlines()


@dataclass(frozen=True)
class Door:
    """A way to a memory.

    Attributes:
        name: ``embedded`` or ``server``.
        variables: The environment that leads commands to it.
        home: Where its data are; a server owns the folder.
    """

    name: str
    variables: dict[str, str]
    home: Path

    def ezra(self, *arguments: object, **more: str) -> Said:
        """Run a command; what it raises but an exit is a mistake of ours and comes through."""
        return run(*arguments, **{**self.variables, **more})

    def document(self, *arguments: object) -> Any:
        """Return what a command prints with ``--json``; it must not fail."""
        done = self.ezra(*arguments, "--json")
        assert done.code == 0, (arguments, done.err)
        return done.document


def run(*arguments: object, **variables: str) -> Said:
    """Run ``ezra`` in this process, by its entry point, in an environment of its own."""
    out, err = io.StringIO(), io.StringIO()
    known = {**kept(), "COLUMNS": COLUMNS, "EZRA_EMBEDDER": "off"}
    code: object = 0
    with (
        patch.dict(os.environ, {**known, **variables}, clear=True),
        patch.object(sys, "argv", ["ezra", *map(str, arguments)]),
        patch.object(ezra.cli, "app_of", lambda _: commands()),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            ezra.cli.main()
        except SystemExit as ended:
            code = ended.code
    return Said(code if isinstance(code, int) else 0, out.getvalue(), err.getvalue())


@contextmanager
def server_process(home: Path) -> Iterator[str]:
    """Run ``ezra serve`` on a folder for the length of the block; yields its address."""
    told = ("--json", "--no-access-log")
    variables = {"EZRA_HOME": str(home), "EZRA_EMBEDDER": "off"}
    with started("serve", "--port", 0, *told, **variables) as process:
        try:
            assert process.stdout is not None
            assert process.stderr is not None
            first = process.stdout.readline()
            assert first, process.stderr.read()
            yield json.loads(first)["url"]
        finally:
            process.terminate()
            process.wait(timeout=PATIENCE_SECONDS)
