"""A session of a database that can only read, and only for so long.

SQLAlchemy is loaded with the first SQL source, in a thread: 0.2 s that others do not pay.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from tiers.errors import ConfigError, TierRejected, TierTimeout, TierUnavailable

from .source import TIER

if TYPE_CHECKING:
    from sqlalchemy import URL, Connection, Engine

DIALECTS = ("sqlite", "postgresql", "mysql", "mariadb")
"""Those for which it is known how a session is kept to reading."""

CONNECTIONS_MAX = 4
CELL_BYTES_MAX = 16 * 1024 * 1024
"""Of a value that SQLite reads at all; a question that comes upon a larger one is refused."""

_STEPS = 1_000
"""Instructions of SQLite's machine between two looks at the clock; well under a millisecond."""

# What SQLite's authorizer is asked about, its answers, and what its limits are called: sqlite3.h.
_READ, _SELECT, _FUNCTION, _RECURSIVE = 20, 21, 31, 33
_ALLOW, _DENY = 0, 1
_LIMIT_LENGTH = 0
_FUNCTIONS = frozenset(("count", "sum", "min", "max", "avg", "like", "lower", "substr", "total"))


@dataclass
class Deadline:
    """When a query must have ended, and whether nobody waits for it any more.

    Attributes:
        at: Monotonic seconds.
        cancelled: Set by whoever gives up waiting.
    """

    at: float
    cancelled: threading.Event = field(default_factory=threading.Event)

    @property
    def is_over(self) -> bool:
        """Whether the query is to stop."""
        return self.cancelled.is_set() or time.monotonic() > self.at

    @property
    def milliseconds(self) -> int:
        """What is left, 1 at least: 0 would mean for ever."""
        return max(1, int((self.at - time.monotonic()) * 1000))


def engine_of(url: str, seconds: float, name: str) -> Engine:
    """Return an engine whose sessions can only read.

    Raises:
        ConfigError: The address is none of a database that can be kept to reading, or its driver
            is not installed. What it is stays unsaid: it may hold a password.
    """
    import sqlalchemy  # noqa: PLC0415 - loaded with the first SQL source
    from sqlalchemy.exc import ArgumentError, NoSuchModuleError  # noqa: PLC0415 - likewise
    from sqlalchemy.pool import NullPool, QueuePool  # noqa: PLC0415 - likewise

    key = f"mesh source {name}"
    try:
        address = sqlalchemy.make_url(url)
        backend = address.get_backend_name()
        is_async = address.get_dialect().is_async
    except (ArgumentError, NoSuchModuleError, ValueError):
        raise ConfigError(key, "url: is no address such as sqlite:////data/stock.db") from None
    except ImportError as error:
        raise ConfigError(key, f"url: the driver {error.name} is not installed") from None
    if backend not in DIALECTS:
        raise ConfigError(key, f"url: none of {', '.join(DIALECTS)}, which can be kept to reading")
    if is_async:
        raise ConfigError(key, "url: names an asynchronous driver; give a synchronous one")
    options: dict[str, Any] = {"poolclass": QueuePool, "pool_size": CONNECTIONS_MAX}
    options |= {"max_overflow": 0, "pool_timeout": seconds, "pool_pre_ping": True}
    if backend == "sqlite":
        # A connection for each question costs a fraction of a millisecond, and is never stale.
        address, options = read_only_file(address, key), {"poolclass": NullPool}
    else:
        options["connect_args"] = {"connect_timeout": max(1, round(seconds))}
    try:
        return sqlalchemy.create_engine(address, hide_parameters=True, **options)
    except ImportError as error:
        raise ConfigError(key, f"url: the driver {error.name} is not installed") from None


def read_only_file(address: URL, key: str) -> URL:
    """Return the address of a SQLite file as one that is opened for reading.

    Raises:
        ConfigError: It is no file, or already says how to open it.
    """
    path = address.database
    if not path or path == ":memory:" or path.startswith("file:") or address.query:
        raise ConfigError(key, "url: sqlite:/// and the path of a file, nothing else")
    where = quote(str(Path(path).expanduser().absolute()))
    return address.set(database=f"file:{where}", query={"mode": "ro", "uri": "true"})


def first_statements(dialect: str, milliseconds: int, *, is_mariadb: bool = False) -> list[str]:
    """Return what a session is told before anything is asked: to read only, and for how long.

    Args:
        dialect: The name of SQLAlchemy's dialect.
        milliseconds: The longest statement.
        is_mariadb: Whether a server of the ``mysql`` dialect is MariaDB, which says it otherwise.
    """
    if dialect == "postgresql":
        return [
            "SET TRANSACTION READ ONLY",
            f"SET LOCAL statement_timeout = {milliseconds:d}",
            f"SET LOCAL lock_timeout = {milliseconds:d}",
        ]
    if dialect in {"mysql", "mariadb"}:
        limit = f"SET SESSION max_execution_time = {milliseconds:d}"
        if is_mariadb or dialect == "mariadb":
            limit = f"SET SESSION max_statement_time = {milliseconds / 1000:.3f}"
        return ["SET SESSION TRANSACTION READ ONLY", limit]
    return ["PRAGMA query_only = ON"]


@contextmanager
def reading(
    engine: Engine, deadline: Deadline, allowed: Mapping[str, Collection[str]] | None
) -> Iterator[Connection]:
    """Hold a session that can only read, and ends nothing but itself.

    Args:
        engine: Of ``engine_of``.
        deadline: When what is asked in it must have ended.
        allowed: Columns by table: all that SQLite lets it touch. ``None`` for reflection.
    """
    from sqlalchemy import text  # noqa: PLC0415 - loaded with the engine

    with failures(deadline), engine.connect() as connection:
        name = engine.dialect.name
        is_mariadb = bool(getattr(engine.dialect, "is_mariadb", False))
        for statement in first_statements(name, deadline.milliseconds, is_mariadb=is_mariadb):
            connection.execute(text(statement))
        if name in {"mysql", "mariadb"}:
            connection.rollback()  # what a session is told counts from its next transaction on
        if name == "sqlite":
            _keep(connection, deadline, allowed)
        try:
            yield connection
        finally:
            connection.rollback()


@contextmanager
def failures(deadline: Deadline, name: str = "sql") -> Iterator[None]:
    """Turn what SQLAlchemy raises in the block into a ``TierError`` that shows no values."""
    from sqlalchemy import exc  # noqa: PLC0415 - loaded with the engine

    try:
        yield
    except exc.TimeoutError as error:
        raise TierTimeout(TIER, name, "no connection was free in time") from error
    except exc.DBAPIError as error:
        if deadline.is_over:
            raise TierTimeout(TIER, name, "the query took too long and was stopped") from error
        kind = type(error.orig).__name__
        if isinstance(error, exc.OperationalError | exc.InterfaceError):
            raise TierUnavailable(TIER, name, f"the database cannot be asked: {kind}") from error
        raise TierRejected(TIER, name, f"the database refused: {kind}") from error
    except (exc.SQLAlchemyError, ValueError, OverflowError) as error:
        reason = f"its answer cannot be read: {type(error).__name__}"
        raise TierRejected(TIER, name, reason) from error


def _keep(
    connection: Connection, deadline: Deadline, allowed: Mapping[str, Collection[str]] | None
) -> None:
    """Let SQLite itself refuse every statement but reading what is allowed, and stop in time."""
    raw: Any = connection.connection.dbapi_connection
    raw.set_progress_handler(lambda: int(deadline.is_over), _STEPS)
    raw.setlimit(_LIMIT_LENGTH, CELL_BYTES_MAX)
    if allowed is None:
        return
    columns = {table.casefold(): _folded(names) for table, names in allowed.items()}

    def may(
        action: int, first: str | None, second: str | None, _: str | None, via: str | None
    ) -> int:
        if action == _SELECT:
            return _ALLOW
        if action == _FUNCTION:
            return _ALLOW if (second or "").casefold() in _FUNCTIONS else _DENY
        if action != _READ:
            return _DENY
        if via is not None and via.casefold() in columns:
            return _ALLOW  # the inside of a view that is allowed
        known = columns.get((first or "").casefold())
        # The empty column: the table is looked at, none of its values is.
        return _ALLOW if known is not None and (second or "").casefold() in known else _DENY

    raw.set_authorizer(may)


def _folded(names: Collection[str]) -> frozenset[str]:
    return frozenset(("", *(name.casefold() for name in names)))
