"""A stand-in for Atlas: what it was asked about search, and facts with vectors to be found."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from random import Random
from typing import Any

from tiers.cold.mongo import mongo_cold_store
from tiers.forms import entry_of
from tiers.ports import WarmStore
from tiers.records import Fact, Scope, SearchQuery

from .cold_samples import SCOPE, asked
from .mongo_server import MongoServer

MODEL = "minilm/fp32"
WIDTH = 4
"""Numbers in a vector."""


@asynccontextmanager
async def opened(
    server: MongoServer, database: str, *, archival_index: WarmStore | None = None
) -> AsyncIterator[Any]:
    """Hold a cold tier in a database of the server."""
    async with mongo_cold_store(
        server.uri, database=database, archival_index=archival_index
    ) as cold:
        yield cold


def index_commands(server: MongoServer) -> list[dict[str, Any]]:
    """Return the bodies of the commands that changed search indexes.

    Without the time limit, which the driver adds to every command.
    """
    names = {"createSearchIndexes", "updateSearchIndex", "dropSearchIndex"}
    bodies = [one["body"] for one in server.commands if one["name"] in names]
    return [{key: body[key] for key in body if key != "maxTimeMS"} for body in bodies]


def searches(server: MongoServer) -> list[list[dict[str, Any]]]:
    """Return the pipelines that searched, in the order in which they came."""
    pipelines = [one["body"]["pipeline"] for one in server.commands if one["name"] == "aggregate"]
    return [pipeline for pipeline in pipelines if pipeline and "$vectorSearch" in pipeline[0]]


async def remember(
    cold: Any,
    fact: Fact,
    vector: Sequence[float] | None,
    *,
    scope: Scope = SCOPE,
    model_id: str = MODEL,
) -> Fact:
    """Store a fact, and its vector if it has one."""
    stored, _ = await cold.semantic.put_fact(scope, fact)
    if vector is not None:
        entry = entry_of(stored).model_copy(update={"vector": tuple(vector)})
        await cold.semantic.store_vectors(scope, [entry], model_id)
    return stored


def question(text: str, vector: Sequence[float] | None = (1, 0, 0, 0), **more: Any) -> SearchQuery:
    """Return a question about facts, with a vector of ``MODEL``."""
    made = None if vector is None else tuple(map(float, vector))
    return asked(text, kinds=("fact",), **{"vector": made, "model_id": MODEL, **more})


def unit_vectors(count: int, seed: int, width: int = WIDTH) -> list[tuple[float, ...]]:
    """Return vectors of length 1 in all directions."""
    random = Random(seed)
    drawn = [[random.gauss(0, 1) for _ in range(width)] for _ in range(count)]
    return [tuple(number / math.hypot(*one) for number in one) for one in drawn]
