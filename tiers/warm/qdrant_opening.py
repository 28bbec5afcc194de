"""The way to a Qdrant server, for those too who never take it.

Importing the driver takes up to a second. So it is imported when a server is opened, and in a
thread, where the event loop does not wait for it.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from ..extras import needs
from ..health import TierHealth
from .qdrant_options import QdrantOptions

if TYPE_CHECKING:
    from .qdrant_indexes import QdrantGenerations


@asynccontextmanager
async def qdrant_generations(
    url: str,
    *,
    api_key: str | None = None,
    prefix: str = "ezra",
    options: QdrantOptions | None = None,
) -> AsyncIterator[QdrantGenerations]:
    """Open the warm indexes of a server; nothing is sent before the first call.

    Args:
        url: ``http://`` or ``https://``; the port is 6333 when none is given.
        api_key: Of the server, if it wants one.
        prefix: First part of every collection's name.
        options: How the server is used.

    Raises:
        ConfigError: The URL or the key cannot be used.
        UsageError: The prefix is not one.
    """
    await _imported("qdrant_indexes")
    from .qdrant_connect import qdrant_client  # noqa: PLC0415 - see above
    from .qdrant_indexes import QdrantGenerations  # noqa: PLC0415 - see above

    given = options or QdrantOptions()
    async with qdrant_client(url, api_key=api_key, options=given) as client:
        yield QdrantGenerations(client, prefix=prefix, options=given)


async def qdrant_health(
    url: str, *, api_key: str | None = None, prefix: str = "ezra", timeout_seconds: float = 5.0
) -> TierHealth:
    """Return what a server says about itself; one that cannot be reached is an answer too.

    Changes nothing. What a key may do is found out by asking to remove what does not exist.

    Raises:
        ConfigError: The URL or the key cannot be used at all.
    """
    await _imported("qdrant_examination")
    from .qdrant_examination import examined  # noqa: PLC0415 - see above

    return await examined(url, api_key=api_key, prefix=prefix, timeout_seconds=timeout_seconds)


async def _imported(name: str) -> None:
    with needs("servers", "EZRA_QDRANT_URL"):
        await asyncio.to_thread(import_module, f".{name}", __package__)
