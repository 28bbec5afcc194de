"""Stand-ins for MongoDB, and operations on them that are cut off at any command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.stores import ColdStores
from tiers.errors import TierError

from .cold_mongo import prepared_database
from .mongo_cuts import Cut, cut_at
from .mongo_server import MongoServer, running_mongo

Act = Callable[[ColdStores], Awaitable[object]]

COMMANDS_MAX = 60
"""More than any operation sends."""

REFUSED = 8
"""An error that nobody tries again."""


@dataclass(frozen=True)
class Operation:
    """An operation that changes several documents, and what must be there before it."""

    act: Act
    prepare: Act


@dataclass(frozen=True)
class Deployment:
    """A server on which databases are opened."""

    server: MongoServer

    def fresh_database(self) -> str:
        """Return the name of a new database, as the store makes it."""
        return prepared_database(on=self.server)

    def opened(self, database: str) -> AbstractAsyncContextManager[Any]:
        """Return the cold tier in a database, to be entered."""
        return mongo_cold_store(self.server.uri, database=database, timeout_seconds=30.0)

    async def cut(
        self, operation: Operation, database: str, number: int, *, after: bool = False
    ) -> tuple[Cut, TierError | None]:
        """Carry an operation out in a new database while its ``number``-th command fails.

        Args:
            operation: Which.
            database: In which database.
            number: Which command, counted from 1.
            after: Whether the command is executed all the same.

        Returns:
            Whether the command came, and the error that the operation ended in.
        """
        async with self.opened(database) as cold:
            await operation.prepare(cold)
            with cut_at(self.server, number, code=REFUSED, after=after) as cut:
                try:
                    await operation.act(cold)
                except TierError as error:
                    return cut, error
        return cut, None


@contextmanager
def deployed() -> Iterator[Deployment]:
    """Hold a server."""
    with running_mongo() as server:
        yield Deployment(server)
