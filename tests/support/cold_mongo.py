"""The cold tier on MongoDB as rows of the table of backends: one server for all tests."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractAsyncContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any

from pymongo import MongoClient

from tiers.cold.mongo import mongo_cold_store
from tiers.ports import WarmStore

from .mongo_server import MongoServer, running_mongo
from .session import SESSION

LIVE_URI = os.environ.get("EZRA_TEST_MONGODB_URI")
DATABASES_MAX = 8
"""Databases of tests that ran before are dropped, so that a long run does not fill the memory."""

Document = dict[str, Any]


class MongoDatabases:
    """The databases of one server, one for each folder that a test names.

    Args:
        uri: Starts the server if need be, and returns its address.
        fresh: Returns the name of a database that nobody uses yet.
        driver: Through which the store is opened.
    """

    def __init__(self, uri: Callable[[], str], fresh: Callable[[], str], driver: str) -> None:
        self._uri = uri
        self._fresh = fresh
        self._driver = driver
        self._names: dict[Path, str] = {}

    def opened(
        self, folder: Path, *, archival_index: WarmStore | None = None
    ) -> AbstractAsyncContextManager[Any]:
        """Return the tier in the folder's database, to be entered."""
        return mongo_cold_store(
            self._uri(),
            database=self.name(folder),
            driver=self._driver,
            archival_index=archival_index,
        )

    def documents(self, folder: Path, collection: str) -> list[Document]:
        """Return the documents of a collection as the server has them, in order of recording."""
        return list(_raw(self._uri())[self.name(folder)][collection].find().sort("_id", 1))

    def whole(self, folder: Path) -> dict[str, str]:
        """Return everything as text, by collection."""
        names = _raw(self._uri())[self.name(folder)].list_collection_names()
        return {name: "\n".join(map(repr, self.documents(folder, name))) for name in names}

    def name(self, folder: Path) -> str:
        """Return the name of the folder's database."""
        name = self._names.get(folder)
        if name is None:
            while len(self._names) >= DATABASES_MAX:
                self._drop(next(iter(self._names)))
            name = self._names[folder] = self._fresh()
            if LIVE_URI is not None:
                SESSION.callback(self._drop, folder)
        return name

    def _drop(self, folder: Path) -> None:
        name = self._names.pop(folder, None)
        if name is not None:
            _raw(self._uri()).drop_database(name)


@lru_cache
def server() -> MongoServer:
    """Return the stand-in that all tests share."""
    return SESSION.enter_context(running_mongo())


def prepared_database(name: str | None = None, on: MongoServer | None = None) -> str:
    """Return a database of a stand-in in which the store has made all it needs, and nothing is.

    Making some sixty collections and indexes takes longer than most tests that ask them; they
    are made once and copied. ``tests/integration/test_mongo_database.py`` is about making them.
    What the stand-in was asked before is forgotten: of a long run that is a million objects.
    """
    on = on or server()
    name = name or on.fresh_database()
    on.copy_database(_made_once(on), name)
    on.clear_commands()
    return name


@lru_cache
def _made_once(on: MongoServer) -> str:
    name = on.fresh_database()

    async def make() -> None:
        async with mongo_cold_store(on.uri, database=name):
            pass

    with ThreadPoolExecutor(1) as beside:  # a test's own loop may be running
        beside.submit(asyncio.run, make()).result()
    return name


@lru_cache
def _raw(uri: str) -> MongoClient[Document]:
    return SESSION.enter_context(MongoClient(uri))


def stand_in(driver: str = "pymongo") -> MongoDatabases:
    """Return the databases of the stand-in for MongoDB; it starts when the first is opened."""
    return MongoDatabases(lambda: server().uri, prepared_database, driver)


def live() -> MongoDatabases | None:
    """Return databases on the server that the environment names, dropped after the run."""
    if LIVE_URI is None:
        return None
    return MongoDatabases(lambda: LIVE_URI, lambda: f"ezra_test_{uuid.uuid4().hex}", "pymongo")
