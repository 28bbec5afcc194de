"""Moves between two folders: a furnished source, both ends, and what each of them holds."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from functools import cache
from pathlib import Path
from typing import Any

from ezra.moving import House, MoveReport, Step, move
from tiers.cold.sqlite import DATABASE_NAME

from .houses import furnish, house_at, inventory
from .session import SESSION

TENANTS = ("acm", "acme")

CHANGES = {
    "facts": "UPDATE facts SET body = json_set(body, '$.text', 'secret')"
    " WHERE tenant = 'acme' AND graph_id = 'race' AND tier = 'core'",
    "turns": "UPDATE turns SET body = json_set(body, '$.tokens', 99)"
    " WHERE tenant = 'acme' AND seq = 3",
    "audit": "DELETE FROM audit WHERE tenant = 'acme' AND graph_id = 'child' AND seq = 2",
    "belief_events": "INSERT INTO belief_events (tenant, graph_id, kind, belief_id, turn, turn_id,"
    " recorded_at, id, seq, body)"
    " SELECT tenant, graph_id, kind, belief_id, turn, turn_id, recorded_at, id || 'x', seq + 1,"
    " json_set(body, '$.id', id || 'x', '$.seq', seq + 1)"
    " FROM belief_events WHERE tenant = 'acme' AND graph_id = 'child'"
    " ORDER BY seq DESC LIMIT 1",
    "beliefs": "UPDATE belief_spans SET pinned = 1 - pinned,"
    " body = json_set(body, '$.pinned', json(iif(pinned, 'false', 'true')))"
    " WHERE tenant = 'acme' AND graph_id = 'race' AND since_seq = 1",
    "trust": "UPDATE belief_trust SET body = json_set(body, '$.trust', (body ->> 'trust') / 2)"
    " WHERE tenant = 'acme'",
    "heads": "DELETE FROM belief_heads WHERE tenant = 'acme'",
}
"""What makes one table of a target differ from its source, by table."""


@cache
def shared_source() -> Path:
    """Return a memory of two tenants. A move only reads it, so one serves every test of a run.

    Call it from a fixture that is not async: it runs an event loop of its own.
    """
    folder = SESSION.enter_context(tempfile.TemporaryDirectory(prefix="furnished-"))
    home = Path(folder) / "source"
    asyncio.run(furnish(home, *TENANTS))
    return home


@cache
def shared_inventory() -> dict[str, Any]:
    """Return what that memory holds, and has to hold after every test.

    Call it from a fixture that is not async: it runs an event loop of its own.
    """
    return asyncio.run(everything(shared_source()))


def silent(_step: Step) -> None:
    """Take no notice of progress."""


def content(path: Path) -> bytes | None:
    """Return what a file holds; ``None`` when it is not there."""
    return path.read_bytes() if path.exists() else None


def write(path: Path, text: str) -> None:
    """Write a file."""
    path.write_text(text)


@asynccontextmanager
async def both(source: Path, target: Path) -> AsyncIterator[tuple[House, House]]:
    """Open both ends."""
    async with house_at(source) as one, house_at(target) as other:
        yield one, other


async def moved(source: Path, target: Path, ledger: Path, *tenants: str) -> MoveReport:
    """Move from folder to folder."""
    async with both(source, target) as (one, other):
        return await move(one, other, tenants, silent, ledger=ledger, page_rows=50)


async def everything(home: Path, *tenants: str) -> dict[str, Any]:
    """Return all that a folder holds of its tenants."""
    async with house_at(home) as house:
        return await inventory(house, tenants or await house.cold.tenants())


def raw(home: Path, statement: str) -> None:
    """Change a closed database behind the store's back."""
    with closing(sqlite3.connect(home / DATABASE_NAME)) as connection, connection:
        connection.execute(statement)
