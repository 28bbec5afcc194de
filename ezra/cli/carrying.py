"""``ezra export`` and ``ezra import``: a session graph as one file, and back."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import closing
from pathlib import Path
from typing import Annotated, Any

import typer

from tiers.errors import UsageError

from ..moving.carried_file import checked_file, lines_of, put_in
from ..moving.carrying import TABLES
from ..remote.saving import SavedFile
from .doors import Url, opened
from .options import GraphId, Home, Json, run
from .screen import NOBODY_READS, Screen
from .standard_input import FROM_INPUT

EXPORT_EXAMPLES = (
    "Examples: ezra export imola imola.ezra  ·  "
    "ezra export imola - | gzip > imola.ezra.gz  ·  ezra export imola imola.ezra --json"
)
IMPORT_EXAMPLES = (
    "Examples: ezra import imola.ezra  ·  ezra import imola.ezra --check --json  ·  "
    "ezra import imola.ezra --url http://127.0.0.1:8765"
)


def export_graph(
    graph: GraphId,
    file: Annotated[str, typer.Argument(help="The file to write; - is standard output.")],
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Write everything that a session graph holds into one file: turns, facts, beliefs, receipts.

    Private records included: keep the file as you keep the data. It is there when all of it is,
    and only its owner can read it. Nobody may write into the graph meanwhile.
    """
    screen = Screen()
    is_output = file == FROM_INPUT
    if is_output and json:
        raise UsageError("--json", json, "a file: standard output is what is exported")

    async def work() -> int:
        async with opened(home, url) as ezra:
            found = await ezra.session_graph(graph)
            with screen.progress("tables", len(TABLES) - 1) as advance:
                lines = lines_of(found, lambda _table, _rows: advance())
                return await (_printed(lines) if is_output else _saved(lines, Path(file)))

    try:
        count = run(work())
    except BrokenPipeError:
        _let_go_of_output()
        raise typer.Exit(NOBODY_READS) from None
    if json:
        screen.document({"graph": graph, "file": file, "lines": count})
    elif not is_output:
        screen.line(f"{file}: {graph}, {count} lines")


def import_graph(
    file: Annotated[Path, typer.Argument(help="What export wrote.")],
    check: Annotated[
        bool, typer.Option("--check", help="Only look whether it is whole; needs no store.")
    ] = False,
    home: Home = None,
    url: Url = None,
    json: Json = False,
) -> None:
    """Put an exported session graph into a memory that has none of its id, with all its ids.

    The file is checked to its end before anything is written. An import that was cut off is
    finished by repeating it; until then the graph is not there.
    """
    screen = Screen()

    if str(file) == FROM_INPUT:
        accepted = "a file: it is read twice, first to check it, which standard input cannot be"
        raise UsageError("file", FROM_INPUT, accepted)

    async def work() -> dict[str, Any]:
        carried = await asyncio.to_thread(checked_file, file)
        about = {"graph": carried.graph.id, "rows": carried.rows, "sha256": carried.sha256}
        if check:
            return {**about, "new": 0}
        async with opened(home, url, creates=True) as ezra:
            with screen.progress("rows", carried.total + 1) as advance:
                new = await put_in(ezra, file, carried, _each(advance))
        return {**about, "new": new}

    done = run(work())
    if json:
        screen.document(done)
        return
    rows = ", ".join(f"{count} {name}" for name, count in done["rows"].items() if count)
    screen.line(f"{done['graph']}: {rows or 'nothing'}")
    if check:
        screen.line("the file is whole")
    else:
        screen.line(f"{done['new']} rows are new; meaning is searched as they are indexed")


def _each(advance: Callable[[], None]) -> Callable[[str, int], None]:
    def told(_: str, rows: int) -> None:
        for _row in range(rows):
            advance()

    return told


async def _saved(lines: AsyncIterator[bytes], path: Path) -> int:
    count, saved = 0, SavedFile(path)
    with closing(saved):
        await asyncio.to_thread(saved.open)
        async for line in lines:
            await asyncio.to_thread(saved.write, line)
            count += 1
        await asyncio.to_thread(saved.finish)
    return count


async def _printed(lines: AsyncIterator[bytes]) -> int:
    count, output = 0, typer.get_binary_stream("stdout")
    async for line in lines:
        await asyncio.to_thread(output.write, line)
        count += 1
    await asyncio.to_thread(output.flush)
    return count


def _let_go_of_output() -> None:
    """Send what is still buffered nowhere: who reads has gone, and the end of a process flushes."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
