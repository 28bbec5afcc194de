"""The command that moves a memory from one mode to another."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from ..assembly.engines import opened_house
from ..moving import MoveReport, Step, move, verify
from ..moving.ends import Ends, ends_of
from .command import Answer, plain
from .doors import Machine
from .options import folder_of
from .screen import Steps

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
    report = await _moved(ends, tenant or [], ledger or ends.ledger, verify_only=verify_only)
    document = {**plain(report), "ok": not report.differences}
    return Answer(document, _lines(report), code=1 if report.differences else 0)


async def _moved(ends: Ends, tenants: list[str], ledger: Path, *, verify_only: bool) -> MoveReport:
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
