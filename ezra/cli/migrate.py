"""The command that moves a memory from one mode to another."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from ..assembly.engines import opened_house
from ..moving import MoveReport, Step, move, verify
from ..moving.ends import Ends, ends_of
from .doors import NoUrl, only_here
from .screen import Screen

EXAMPLES = (
    "Examples: ezra migrate --from embedded --to mongodb://db.example/ezra --to "
    "http://qdrant.example:6333  ·  ezra migrate --from env:EZRA_MONGODB_URI --from "
    "env:EZRA_QDRANT_URL --to embedded --home ./.ezra  ·  ezra migrate --from embedded --to "
    "embedded --home ./.ezra --to-home /srv/ezra  ·  the same again with --verify-only"
)
_DIGEST_CHARS = 16


def migrate(
    source: Annotated[
        list[str],
        typer.Option(
            "--from",
            help="Where from: embedded, or a server's URL, or env:NAME for a URL in a variable. "
            "Repeatable, once per tier; a tier that is not named is embedded.",
        ),
    ],
    target: Annotated[list[str], typer.Option("--to", help="Where to, likewise.")],
    home: Annotated[
        Path | None,
        typer.Option(
            help="Folder of what is embedded, on both ends.", show_default="EZRA_HOME or .ezra"
        ),
    ] = None,
    to_home: Annotated[
        Path | None, typer.Option(help="Folder of what is embedded at the target, if another.")
    ] = None,
    tenant: Annotated[
        list[str] | None, typer.Option(help="A tenant to move. Repeatable; all if not given.")
    ] = None,
    ledger: Annotated[
        Path | None,
        typer.Option(help="File that says how far the move has come.", show_default="beside home"),
    ] = None,
    verify_only: Annotated[
        bool, typer.Option("--verify-only", help="Compare both ends and write nothing.")
    ] = False,
    url: NoUrl = None,
    json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
) -> None:
    """Move everything a memory holds into another mode, and prove that it arrived.

    The source is only read, and nobody may use it meanwhile. A move that was interrupted goes on
    where it stopped when the same command is run again; one that is finished says so. Vectors move
    as they are. At the end both ends are compared row by row; exit code 1 if they differ.
    """
    only_here("migrate", url, tell=False)
    screen = Screen()
    ends = ends_of(source, target, home, to_home, os.environ)
    report = asyncio.run(
        _moved(ends, tenant or [], ledger or ends.ledger, screen, verify_only=verify_only)
    )
    if json:
        screen.document(asdict(report) | {"ok": not report.differences})
    else:
        _print(screen, report)
    if report.differences:
        raise typer.Exit(1)


async def _moved(
    ends: Ends, tenants: list[str], ledger: Path, screen: Screen, *, verify_only: bool
) -> MoveReport:
    async with (
        opened_house(ends.source) as source,
        opened_house(ends.target, beside=source) as target,
    ):
        with ExitStack() as shown:
            progress = _bar(screen, shown)
            if verify_only:
                return await verify(source, target, tenants, progress)
            return await move(source, target, tenants, progress, ledger=ledger)


def _bar(screen: Screen, shown: ExitStack) -> Callable[[Step], None]:
    """Return what shows progress: from the first step on, which says how much there is."""
    advance: Callable[[], None] | None = None

    def progress(step: Step) -> None:
        nonlocal advance
        if advance is None:
            advance = shown.enter_context(screen.progress("rows", max(1, step.total)))
        for _ in range(step.rows):
            advance()

    return progress


def _print(screen: Screen, report: MoveReport) -> None:
    for tenant in report.tenants:
        rows = sum(part.rows for part in tenant.parts)
        screen.line(f"{tenant.tenant}: {tenant.state}, {rows} rows")
        for part in tenant.parts:
            vectors = f", vectors {part.vectors}" if part.vectors else ""
            new = f", {part.new} written now" if part.new != part.rows else ""
            sides = f"{part.rows} rows" if part.rows == part.found else f"{part.rows}/{part.found}"
            screen.line(f"  {part.name:<14} {sides}{new}{vectors}  {part.digest[:_DIGEST_CHARS]}")
    for one in report.differences:
        first = f"; first: {one.first}" if one.first else ""
        screen.line(f"DIFFERS {one.tenant}, {one.part}: {one.problem}{first}")
    for note in report.notes:
        screen.line(note)
    screen.line(f"from {report.source} to {report.target}, {report.seconds:.1f} s")
