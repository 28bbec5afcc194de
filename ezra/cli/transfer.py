"""``ezra export`` and ``ezra import``: a session graph as one file, and back."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import typer

from tiers.errors import UsageError
from tiers.fleet import CATALOG
from tiers.saved_file import SavedFile

from ..moving.carried_file import Carried, checked_file, lines_of, put_in
from ..moving.carrying import TABLES
from ..moving.report import KEYS_STAY
from ..replay.formats import foreign_format
from .command import Answer
from .doors import InGraph, Memory
from .options import FROM_INPUT
from .screen import NOBODY_READS, Screen, drop_output


async def export_graph(at: InGraph, file: str) -> Answer:
    """Write everything that a session graph holds into one file: turns, facts, beliefs, receipts.

    Private records included: keep the file as you keep the data. It is there when all of it is,
    and only its owner can read it. Nobody may write into the graph meanwhile. @catalog is the
    tenant's catalog, which every graph reads.

    Args:
        file: The file to write; - is standard output.

    Examples:
        ezra export imola imola.ezra
        ezra export imola - | gzip > imola.ezra.gz
        ezra export @catalog catalog.ezra
        ezra export imola imola.ezra --json
    """
    is_output = file == FROM_INPUT
    if is_output and at.json:
        raise UsageError("--json", at.json, "a file: standard output is what is exported")
    is_catalog = at.graph == CATALOG
    found = await ((await at.open()).catalog() if is_catalog else at.held())
    try:
        with Screen().progress("tables", len(TABLES) - 1) as advance:
            lines = lines_of(found, lambda _table, _rows: advance())
            count = await (_printed(lines) if is_output else _saved(lines, Path(file)))
    except BrokenPipeError:
        drop_output()
        raise typer.Exit(NOBODY_READS) from None
    told = () if is_output else f"{file}: {at.graph}, {count} lines"
    return Answer({"graph": at.graph, "file": file, "lines": count}, told)


async def import_graph(memory: Memory, file: Path, check: bool = False) -> Answer:
    """Put an exported session graph into a memory that has none of its id, with all its ids.

    The file is checked to its end before anything is written. An import that was cut off is
    finished by repeating it; until then the graph is not there.

    Args:
        file: What export wrote.
        check: Only look whether it is whole; needs no store.

    Examples:
        ezra import imola.ezra
        ezra import imola.ezra --check --json
        ezra import imola.ezra --url http://127.0.0.1:8765
    """
    if str(file) == FROM_INPUT:
        accepted = "a file: it is read twice, first to check it, which standard input cannot be"
        raise UsageError("file", FROM_INPUT, accepted)
    carried = await asyncio.to_thread(_checked, file)
    new, told = 0, "the file is whole"
    if not check:
        ezra = await memory.open(creates=True)
        with Screen().progress("rows", carried.total + 1) as advance:
            new = await put_in(ezra, file, carried, lambda _table, rows: advance(rows))
        told = f"{new} rows are new; meaning is searched as they are indexed"
        if carried.rows.get("heads"):
            told = f"{told}\n{KEYS_STAY}"
    name = carried.graph.id
    rows = ", ".join(f"{count} {table}" for table, count in carried.rows.items() if count)
    document = {"graph": name, "rows": carried.rows, "sha256": carried.sha256, "new": new}
    return Answer(document, (f"{name}: {rows or 'nothing'}", told))


def _checked(file: Path) -> Carried:
    """Return what an export holds.

    Raises:
        UsageError: It is none; says which other command takes the file, if one does.
    """
    try:
        return checked_file(file)
    except UsageError as error:
        found = foreign_format(file)
        if found is None:
            raise
        accepted = f"what ezra export wrote; this seems to be {found}: ezra replay takes it"
        raise UsageError("file", str(file), accepted) from error


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
