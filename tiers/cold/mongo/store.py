"""Opens every MongoDB store over one database."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from typing import get_args

from ...errors import UsageError, check_within
from ...ports import WarmStore
from ..stores import COLLECTIONS, ColdStores, stores_over
from .database import TIMEOUT_SECONDS
from .driver import DriverName
from .records import CONNECTIONS_MAX, mongo_record_store
from .search_index import planned
from .semantic import MongoSemanticStore

_CONNECTIONS_LIMIT = 10_000
_TIMEOUT_SECONDS_LIMIT = 3_600


@asynccontextmanager
async def mongo_cold_store(
    uri: str,
    *,
    database: str = "ezra",
    driver: DriverName = "pymongo",
    archival_index: WarmStore | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
    connections_max: int = CONNECTIONS_MAX,
) -> AsyncIterator[ColdStores]:
    """Open the cold tier in a MongoDB database for the length of an ``async with`` block.

    Any number of processes may have the same database open.

    Args:
        uri: ``mongodb://`` or ``mongodb+srv://``, with user and password if need be.
        database: Its name; collections and indexes are made when they are missing.
        driver: ``pymongo``, or ``motor`` for who must keep it.
        archival_index: Finds archival facts by meaning where the server cannot.
        timeout_seconds: The most that an operation may take.
        connections_max: The most connections to a server.

    Raises:
        ConfigError: The address, the name or the user is wrong, the server too old or a
            standalone, or the database was written by another schema version.
        UsageError: Another argument is out of range.
        TierError: The server cannot be reached.
    """
    _check(driver, timeout_seconds, connections_max)

    async with mongo_record_store(
        uri,
        COLLECTIONS,
        database=database,
        driver=driver,
        timeout_seconds=timeout_seconds,
        connections_max=connections_max,
    ) as store:
        plan = await planned(store.database, has_warm=archival_index is not None)
        facts = MongoSemanticStore(store, archival_index, plan)
        cold = replace(stores_over(store, archival_index=archival_index), semantic=facts)
        async with cold.held:
            yield cold


def _check(driver: str, timeout_seconds: float, connections_max: int) -> None:
    if driver not in get_args(DriverName):
        raise UsageError("driver", driver, " or ".join(get_args(DriverName)))
    if not 0 < timeout_seconds <= _TIMEOUT_SECONDS_LIMIT:
        accepted = f"above 0, at most {_TIMEOUT_SECONDS_LIMIT}"
        raise UsageError("timeout_seconds", timeout_seconds, accepted)
    check_within("connections_max", connections_max, 1, _CONNECTIONS_LIMIT)
