"""What the MongoDB cold tier's engine says about itself, for ``ezra doctor``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ...errors import ConfigError, TierError, TierUnavailable
from ...health import Findings, TierHealth, round_trip_ms
from ..stores import COLLECTIONS
from .database import Database
from .driver import Client, DriverName, connected
from .rendering import Document
from .schema import Specification, mark_of, schema_mark, specifications
from .search_index import planned, search_available
from .translation import translated

_PROBE = "doctor"
_MOTOR_NOTE = "past its end of life since 14 May 2026; pymongo is its successor"
_MAKE_AGAIN = (
    'remove the mark of the schema with db.meta.deleteOne({_id: "schema"}) and open ezra: '
    "it makes what is missing"
)


async def mongo_health(
    uri: str,
    database: str = "ezra",
    driver: DriverName = "pymongo",
    timeout_seconds: float = 2.0,
) -> TierHealth:
    """Look at a deployment through a connection of its own, closed before this returns.

    Whatever is wrong with the address or the server is a problem of the answer, not an error.
    The schema is not made. Whether the user may write is tried with one document of ``meta``,
    which is removed again.

    Args:
        uri: As ``mongo_cold_store`` takes it.
        database: Name of the database.
        driver: Through which to look.
        timeout_seconds: For each question; the first that is not answered is the last.
    """
    findings = Findings("cold", "mongodb")
    findings.details |= {"database": database, "driver": _driver(driver)}
    try:
        async with connected(
            uri, driver, timeout_seconds=timeout_seconds, connections_max=2
        ) as client:
            await _look(findings, client, database, timeout_seconds)
    except ConfigError as error:
        findings.problems.append(f"{error.key}: {error.reason}")
    except TierUnavailable as error:
        findings.problems.append(
            f"{error.reason}; check that it runs, the address, and on Atlas the IP access list"
        )
    except TierError as error:
        findings.problems.append(f"{error.operation}: {error.reason}")
    return findings.as_health()


async def _look(findings: Findings, client: Client, name: str, timeout_seconds: float) -> None:
    """Find out everything, in the order in which it stops making sense to go on."""
    try:
        with translated("greet"):
            await client.admin.command("hello")
    except ConfigError:
        findings.reachable = True  # it said no, and whoever says no is there
        raise
    findings.reachable = True
    async with Database(client, name, _nothing, timeout_seconds=timeout_seconds) as database:
        server = database.server
        findings.version = ".".join(map(str, server.version))
        findings.details["kind"] = server.kind
        findings.round_trip_ms = await round_trip_ms(lambda: _ping(client))
        await _try_to_write(findings, database)
        await _compare(findings, database)
        findings.details["search"] = await search_available(database)
        findings.details["archival_recall"] = (await planned(database, has_warm=True)).way


async def _nothing(_: object) -> None:
    """Prepare nothing: who looks changes nothing."""


async def _ping(client: Client) -> None:
    with translated("ping"):
        await client.admin.command("ping")


async def _try_to_write(findings: Findings, database: Database) -> None:
    meta = database.raw["meta"]
    try:
        with translated("write"):
            await meta.update_one({"_id": _PROBE}, {"$set": {"seen": True}}, upsert=True)
            await meta.delete_one({"_id": _PROBE})
    except ConfigError:
        findings.problems.append(
            f"the user may not write; give it the role readWrite on the database "
            f"{database.raw.name}"
        )


async def _compare(findings: Findings, database: Database) -> None:
    """Compare the schema with what it has to be."""
    expected = specifications(COLLECTIONS)
    found = await schema_mark(database.raw)
    present = await _present(database.raw)
    if not found and not present.keys() & expected.keys():
        findings.details["schema"] = "none yet: ezra makes it when it opens the database"
        return
    findings.details["schema"] = found.get("version")
    if found and found != mark_of(expected):
        findings.details["schema_changes"] = "there are some: ezra makes them on opening"
        return
    missing = [
        problem
        for name, wanted in expected.items()
        for problem in await _lacks(database.raw, name, wanted, present.get(name))
    ]
    if missing:
        findings.problems.append(f"the database lacks {', '.join(missing)}; {_MAKE_AGAIN}")


async def _present(database: Any) -> dict[str, Mapping[str, Any]]:  # noqa: ANN401 - of either driver
    """Return the options of every collection, by its name."""
    with translated("listCollections"):
        answer: Document = await database.command(
            {"listCollections": 1, "cursor": {"batchSize": 1_000}}
        )
    return {one["name"]: one.get("options", {}) for one in answer["cursor"]["firstBatch"]}


async def _lacks(
    database: Any,  # noqa: ANN401 - of either driver
    name: str,
    wanted: Specification,
    options: Mapping[str, Any] | None,
) -> Sequence[str]:
    """Return what a collection lacks, in words."""
    if options is None:
        return [f"the collection {name}"]
    lacks = []
    if options.get("validator") != wanted.validator:
        lacks.append(f"the validator of {name}")
    with translated("listIndexes"):
        answer: Document = await database.command(
            {"listIndexes": name, "cursor": {"batchSize": 1_000}}
        )
    there = {one["name"]: one for one in answer["cursor"]["firstBatch"]}
    for index in wanted.indexes:
        described = index.document
        found = there.get(described["name"], {})
        if any(_plain(found.get(part)) != _plain(value) for part, value in described.items()):
            lacks.append(f"the index {described['name']} of {name}")
    return lacks


def _plain(value: object) -> object:
    """Return a part of an index in a form that compares: in order where order counts."""
    return list(value.items()) if isinstance(value, Mapping) else value


def _driver(driver: DriverName) -> str:
    try:
        found = f"{driver} {version(driver)}"
    except PackageNotFoundError:
        return f"{driver}, which is not installed"
    return f"{found}, {_MOTOR_NOTE}" if driver == "motor" else found
