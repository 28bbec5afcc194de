"""Checking a source against what is there, without asking for data."""

from __future__ import annotations

from .rest import RestSource
from .source import Source


async def checked_source(source: Source) -> None:
    """Connect to a source, compare it with what is declared, and let it go.

    Raises:
        ConfigError: Something that is declared is not there.
        TierError: It cannot be reached.
    """
    try:
        await source.open()
        if isinstance(source, RestSource):
            await source.reach()  # opening it asks nothing
    finally:
        await source.close()
