"""A session graph as one file and back, and a whole memory from one mode to another.

``ezra export``, ``ezra import`` and ``ezra migrate``.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from tiers.errors import NotFound, PolicyDenied, UsageError
from tiers.fleet import CATALOG
from tiers.saved_file import SavedFile
from tiers.upkeep import Table

from ..assembly.engines import opened_house
from ..moving import MoveReport, Step, move, verify
from ..moving.addresses import Ends, ends_of
from ..moving.carried_file import Carried, checked_file, lines_of, put_in
from ..moving.carrying import TABLES
from ..moving.report import KEYS_STAY, TOKENS_STAY, set_aside_stays
from ..replay.formats import foreign_format
from .cleaning import not_clean
from .command import Answer, plain
from .doors import AnyEzra, InGraph, Machine, Memory, refuse_nothing
from .options import FROM_INPUT, folder_of
from .screen import NOBODY_READS, Screen, Steps, drop_output


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
    line = () if is_output else f"{file}: {at.graph}, {count} lines"
    stays = 0 if is_catalog else await _open_roll_backs(await at.open(), at.graph)
    notes = [set_aside_stays(stays)] if stays else []
    return Answer({"graph": at.graph, "file": file, "lines": count}, line, notes)


async def _open_roll_backs(ezra: AnyEzra, graph_id: str) -> int:
    """Return how many open roll-backs have set aside records of a graph, or came from it."""
    graph = await ezra.session_graph(graph_id)
    made = {one.id: one for one in await graph.taint.roll_backs()}
    lineage = {one.graph_id for one in (await graph.status()).lineage}
    for ancestor in sorted(lineage - {CATALOG}):  # nothing of the catalog is ever rolled back
        with suppress(NotFound, PolicyDenied):  # a token for this graph alone is not told of it
            found = await (await ezra.session_graph(ancestor)).taint.roll_backs()
            made |= {one.id: one for one in found if graph_id in one.graph_ids}
    return sum(one.state == "open" for one in made.values())


async def import_graph(
    memory: Memory,
    file: Annotated[Path | None, typer.Argument()] = None,
    check: bool = False,
    discard: Annotated[str | None, typer.Option(metavar="<graph>")] = None,
) -> Answer:
    """Put an exported session graph into a memory that has none of its id, with all its ids.

    The file is checked to its end before anything is written. An import that was cut off is
    finished by repeating it; until then the graph is not there. Where the file is lost, --discard
    takes away what it had put in, from every store; exit code 1 if one is not clean yet.

    Args:
        file: What export wrote.
        check: Only look whether it is whole; needs no store.
        discard: Instead of a file, the id of a graph whose import was cut off.

    Examples:
        ezra import imola.ezra
        ezra import imola.ezra --check --json
        ezra import imola.ezra --url http://127.0.0.1:8765
        ezra import --discard imola
    """
    if discard is not None:
        if file is not None or check:
            given = file or "--check"
            raise UsageError("--discard", discard, f"alone, without {given}")
        return await _discarded(memory, discard)
    if file is None:
        raise UsageError("file", "nothing", "what ezra export wrote, or --discard and a graph")
    if str(file) == FROM_INPUT:
        accepted = "a file: it is read twice, first to check it, which standard input cannot be"
        raise UsageError("file", FROM_INPUT, accepted)
    carried = await asyncio.to_thread(_checked, file)
    new, line = 0, "the file is whole"
    if not check:
        ezra = await memory.open(creates=True)
        with Screen().progress("rows", carried.total + 1) as advance:
            new = await put_in(ezra, file, carried, lambda _table, rows: advance(rows))
        line = f"{new} rows are new; meaning is searched as they are indexed"
        if carried.rows.get("heads"):
            line = f"{line}\n{KEYS_STAY}"
    name = carried.graph.id
    document = {"graph": name, "rows": carried.rows, "sha256": carried.sha256, "new": new}
    return Answer(document, (f"{name}: {_counted(carried.rows)}", line))


async def _discarded(memory: Memory, graph_id: str) -> Answer:
    done = await (await memory.open()).discard_import(graph_id)
    document = {"graph": graph_id, "rows": done.rows, "waiting": done.waiting}
    lines = (f"{graph_id}: discarded {_counted(done.rows)}", *not_clean(done.waiting))
    return Answer(document, lines, code=1 if done.waiting else 0)


def _counted(rows: Mapping[Table, int] | Mapping[str, int]) -> str:
    return ", ".join(f"{count} {table}" for table, count in rows.items() if count) or "nothing"


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


_DIGEST_CHARS = 16


async def migrate(
    machine: Machine,
    source: Annotated[list[str], typer.Option("--from")],
    target: Annotated[list[str], typer.Option("--to")],
    home: Annotated[
        Path | None,
        typer.Option(parser=folder_of, metavar="<path>", show_default="EZRA_HOME or .ezra"),
    ] = None,
    to_home: Annotated[Path | None, typer.Option(parser=folder_of, metavar="<path>")] = None,
    tenant: list[str] | None = None,
    ledger: Annotated[Path | None, typer.Option(show_default="beside home")] = None,
    verify_only: bool = False,
) -> Answer:
    """Move everything a memory holds into another mode, and prove that it arrived.

    The source is only read, and nobody may use it meanwhile. A move that was interrupted goes on
    where it stopped when the same command is run again; one that is finished says so. Vectors move
    as they are. At the end both ends are compared row by row; exit code 1 if they differ.

    Args:
        source: Where from: embedded, or a server's URL, or env:NAME for a URL in a variable.
            Repeatable, once per tier; a tier that is not named is embedded.
        target: Where to, likewise.
        home: Folder of what is embedded, on both ends.
        to_home: Folder of what is embedded at the target, if another.
        tenant: A tenant to move. Repeatable; all if not given.
        ledger: File that says how far the move has come.
        verify_only: Compare both ends and write nothing.

    Examples:
        ezra migrate --from embedded --to mongodb://db.example/ezra --to http://qdrant.example:6333
        ezra migrate --from env:EZRA_MONGODB_URI --from env:EZRA_QDRANT_URL --to embedded --home
            ./.ezra
        ezra migrate --from embedded --to embedded --home ./.ezra --to-home /srv/ezra
        the same again with --verify-only
    """
    machine.only("migrate", tell=False)
    ends = ends_of(source, target, home, to_home, os.environ)
    report = await _move(ends, tenant or [], ledger or ends.ledger, verify_only=verify_only)
    if await asyncio.to_thread(_leaves_tokens, ends):
        report = replace(report, notes=(*report.notes, TOKENS_STAY))
    document = {**plain(report), "ok": not report.differences}
    return Answer(document, _lines(report), code=1 if report.differences else 0)


def _leaves_tokens(ends: Ends) -> bool:
    """Whether the home that is moved from lets in by tokens which the other one has not."""
    files = [end.tokens_path for end in (ends.source, ends.target)]
    return files[0].exists() and not files[1].exists()


async def _move(ends: Ends, tenants: list[str], ledger: Path, *, verify_only: bool) -> MoveReport:
    # Opened, it would be made: the source is only read.
    await refuse_nothing(ends.source)
    async with (
        opened_house(ends.source) as source,
        opened_house(ends.target, beside=source) as target,
    ):
        with Steps("rows") as shown:

            def progress(step: Step) -> None:
                shown.begin(max(1, step.total))
                shown.step(count=step.rows)

            if verify_only:
                return await verify(source, target, tenants, progress)
            return await move(source, target, tenants, progress, ledger=ledger)


def _lines(report: MoveReport) -> Iterator[str]:
    for tenant in report.tenants:
        rows = sum(part.rows for part in tenant.parts)
        yield f"{tenant.tenant}: {tenant.state}, {rows} rows"
        for part in tenant.parts:
            vectors = f", vectors {part.vectors}" if part.vectors else ""
            new = f", {part.new} written now" if part.new != part.rows else ""
            sides = f"{part.rows} rows" if part.rows == part.found else f"{part.rows}/{part.found}"
            yield f"  {part.name:<14} {sides}{new}{vectors}  {part.digest[:_DIGEST_CHARS]}"
    for one in report.differences:
        first = f"; first: {one.first}" if one.first else ""
        yield f"DIFFERS {one.tenant}, {one.part}: {one.problem}{first}"
    yield from report.notes
    yield f"from {report.source} to {report.target}, {report.seconds:.1f} s"
