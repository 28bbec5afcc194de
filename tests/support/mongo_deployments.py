"""Stand-ins for MongoDB, and operations on them that are cut off at any command."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from dataclasses import dataclass
from typing import Any

from tiers.cold.mongo import mongo_cold_store
from tiers.errors import TierError

from .cold_mongo import prepared_database
from .mongo_cuts import Cut, cut_at
from .mongo_server import MongoServer, running_mongo

Step = Awaitable[object]
Act = Callable[[Any], Step]
"""What is done to a cold tier."""

Opener = Callable[..., AbstractAsyncContextManager[Any]]
"""Opens a cold tier, to be entered; more of how may be given."""

REFUSED = 8
"""An error that nobody tries again."""


@dataclass(frozen=True)
class Operation:
    """An operation that changes several documents, and what must be there before it."""

    act: Act
    prepare: Act


async def nothing(_: object) -> None:
    """Prepare nothing."""


def one_after_another(*acts: Act) -> Act:
    """Return what does all of it, in order."""

    async def act(cold: Any) -> None:
        for one in acts:
            await one(cold)

    return act


@dataclass(frozen=True)
class Deployment:
    """A server on which databases are opened, and the driver that talks to it."""

    server: MongoServer
    driver: str = "pymongo"

    def fresh_database(self) -> str:
        """Return the name of a new database, as the store makes it."""
        return prepared_database(on=self.server)

    def copied(self, database: str) -> str:
        """Return the name of a new database that holds what another holds."""
        name = self.server.fresh_database()
        self.server.copy_database(database, name)
        self.server.clear_commands()
        return name

    def opened(self, database: str) -> AbstractAsyncContextManager[Any]:
        """Return the cold tier in a database, to be entered."""
        return mongo_cold_store(
            self.server.uri, database=database, driver=self.driver, timeout_seconds=30.0
        )

    async def cut(
        self,
        operation: Operation,
        database: str,
        number: int,
        *,
        code: int | None = REFUSED,
        **how: Any,
    ) -> tuple[Cut, TierError | None]:
        """Carry an operation out, prepared as it is, while its ``number``-th command fails.

        Args:
            operation: Which.
            database: In which database.
            number: Which command, counted from 1.
            code: The error; without, the connection is cut.
            how: More of what ``cut_at`` takes.

        Returns:
            Whether the command came, and the error that the operation ended in.
        """
        async with self.opened(database) as cold:
            with cut_at(self.server, number, code=code, **how) as cut:
                try:
                    await operation.act(cold)
                except TierError as error:
                    return cut, error
        return cut, None


@contextmanager
def deployed(driver: str = "pymongo") -> Iterator[Deployment]:
    """Hold a server, for one of the drivers."""
    with running_mongo() as server:
        yield Deployment(server, driver)
