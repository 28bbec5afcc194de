"""Every server of the server mode, for tests that run a whole runtime on them.

Redis is real. Qdrant and MongoDB are the stand-ins, reached over HTTP and TCP by the real clients.
All are shared by a test run; prefixes and a database keep its tests apart.
"""

from __future__ import annotations

import functools
import uuid
from collections.abc import Iterator, Mapping

import pytest

from .cold_mongo import prepared_database, server
from .qdrant_shim import shared_shim
from .redis_server import RedisServer, running_redis
from .session import SESSION


@functools.cache
def shared_redis() -> RedisServer:
    """Return the real Redis of this test run, started when first asked for."""
    return SESSION.enter_context(running_redis())


def server_variables() -> dict[str, str]:
    """Return the environment of a runtime with all three tiers on servers, nothing in them yet."""
    name = f"t{uuid.uuid4().hex[:16]}"
    return {
        "EZRA_REDIS_URL": shared_redis().url,
        "EZRA_REDIS_PREFIX": name,
        "EZRA_QDRANT_URL": shared_shim().url,
        "EZRA_QDRANT_PREFIX": name,
        "EZRA_MONGODB_URI": server().uri,
        "EZRA_MONGODB_DATABASE": prepared_database(name),
    }


def on_servers(monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Let settings put the tiers of a test's runtimes on servers; returns what says so to them."""
    variables = server_variables()
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    return variables


SERVERS_SLOWLY = ("embedded", pytest.param("servers", marks=pytest.mark.slow))
"""Where the tiers of a test are that asks for what is decided above them: what servers have part in
is asked of them by the contracts of the stores, and by other tests of the same file."""


def forget(variables: Mapping[str, str]) -> None:
    """Let the servers hold nothing of a test any more that takes much room."""
    shared_shim().forget(variables["EZRA_QDRANT_PREFIX"])
    server().drop_database(variables["EZRA_MONGODB_DATABASE"])


def placed(where: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Put the tiers of a test ``embedded`` or on ``servers``, which forget them afterwards."""
    if where == "embedded":
        yield where
        return
    variables = on_servers(monkeypatch)
    yield where
    forget(variables)
