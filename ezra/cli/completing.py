"""What a shell completes besides options: the ids of graphs, where asking for them is cheap."""

from __future__ import annotations

import asyncio
from pathlib import Path

import typer

from tiers.errors import EzraError

from ..app import Ezra
from ..assembly.engines import has_memory
from .doors import server_of, token
from .options import settings_at

SERVER_SECONDS = 1.0
"""Who presses a key waits no longer for a server."""
SHOWN = 100


def graph_ids(context: typer.Context, incomplete: str) -> list[str]:
    """Return the ids of graphs that begin so, in alphabetical order.

    None where the store cannot be read at once: nobody wants an error, or to wait, for a key that
    was pressed, and a folder of data is never made by it.
    """
    home, url = context.params.get("home"), context.params.get("url")
    try:
        found = asyncio.run(_found(None if home is None else Path(home), url))
    except (EzraError, TimeoutError):
        return []
    return sorted(name for name in found if name.startswith(incomplete))[:SHOWN]


async def _found(home: Path | None, url: str | None) -> list[str]:
    address = server_of(home, url)
    if address is not None:
        async with (
            asyncio.timeout(SERVER_SECONDS),
            Ezra.connect(address, token(), timeout_seconds=SERVER_SECONDS) as remote,
        ):
            return [one.id for one in await remote.session_graphs()]
    settings = settings_at(home, background=False)
    if not await has_memory(settings):
        return []
    async with Ezra.open(settings) as embedded:
        return [one.id for one in await embedded.session_graphs()]
