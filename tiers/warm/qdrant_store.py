"""The warm tier on a Qdrant server: the same payload, conditions and ranking as in process.

Two round trips make an answer: one ranks ids in the engine, one fetches the texts of what is
returned, both under the scope's conditions; rarely a third, to see where a tie ends. What the
driver makes of a request is made on the event loop, so writes go out in steps of a few
milliseconds' work.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

from qdrant_client import AsyncQdrantClient

from .checks import check_positive
from .qdrant_calls import QdrantCalls
from .qdrant_collection import collection_name, ensured
from .qdrant_connect import qdrant_client
from .qdrant_options import QdrantOptions
from .qdrant_points import QdrantPoints
from .store import IndexStore, StepSizes

STEP_POINTS = 100
STEP_FLOATS = 40_000
STEP_CHARS = 200_000
"""Most that is written or read out in one request: about 10 ms of the driver's work."""

STEP_IDS = 500
"""Most that is removed in one request."""


class QdrantWarmStore(IndexStore):
    """A ``WarmStore`` and ``WarmArchive`` over one collection. Opened by ``qdrant_warm_store``.

    A batch of writes that fits one step is one operation of the server's log. Meaning is compared
    exactly up to ``EXACT_POINTS`` entries. The server logs every write ahead and flushes by
    itself. The client stays as it is.
    """

    def __init__(self, points: QdrantPoints, *, dimensions: int, options: QdrantOptions) -> None:
        step_points = max(1, min(STEP_POINTS, STEP_FLOATS // dimensions))
        super().__init__(
            points,
            dimensions=dimensions,
            rrf_k=options.rrf_k,
            overfetch=options.overfetch,
            steps=StepSizes(step_points, STEP_CHARS, STEP_IDS),
            ties_likely=1,
        )


@asynccontextmanager
async def qdrant_warm_store(
    server: AsyncQdrantClient | str,
    *,
    api_key: str | None = None,
    prefix: str = "ezra",
    model_id: str | None = None,
    dimensions: int = 384,
    options: QdrantOptions | None = None,
) -> AsyncIterator[QdrantWarmStore]:
    """Open a model's collection, making it when new.

    Args:
        server: A client, which stays open, or the URL of a server.
        api_key: Of the server, when a URL is given.
        prefix: First part of every collection's name.
        model_id: The embedding model whose vectors it holds; ``None`` for none.
        dimensions: Length of the dense vectors; fixed when the collection is made.
        options: How the server is used.

    Raises:
        ConfigError: URL or key cannot be used, the server is too old, or the collection was made
            for other vectors.
        TierError: The server cannot be reached, or refuses.
    """
    check_positive(dimensions=dimensions)
    given = options or QdrantOptions()
    name = collection_name(prefix, model_id)
    async with AsyncExitStack() as stack:
        client = server
        if isinstance(client, str):
            opening = qdrant_client(client, api_key=api_key, options=given)
            client = await stack.enter_async_context(opening)
        calls = QdrantCalls(given.timeout_seconds)
        await ensured(client, calls, name, model_id, dimensions, given)
        points = QdrantPoints(client, name, given)
        store = QdrantWarmStore(points, dimensions=dimensions, options=given)
        try:
            yield store
        finally:
            store.close()
