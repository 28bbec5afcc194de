"""The MongoDB database: addresses, opening, failures by name, closing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from typing import Any

import pytest
from bson.errors import InvalidDocument
from pymongo.errors import (
    AutoReconnect,
    BulkWriteError,
    ConfigurationError,
    ConnectionFailure,
    DocumentTooLarge,
    DuplicateKeyError,
    ExecutionTimeout,
    InvalidOperation,
    NetworkTimeout,
    NotPrimaryError,
    OperationFailure,
    PyMongoError,
    ServerSelectionTimeoutError,
    WaitQueueTimeoutError,
    WTimeoutError,
)
from support.cold_samples import SCOPE, draft, graph_of, turn_by
from support.held import held
from support.mongo_deployments import Opener
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.mongo.database import Database, Session
from tiers.cold.mongo.driver import connected
from tiers.cold.mongo.health import mongo_health
from tiers.cold.mongo.records import _Transaction, mongo_record_store
from tiers.cold.mongo.schema import VERSION, specifications
from tiers.cold.mongo.translation import DuplicateKey, translated
from tiers.cold.port import OWNERS, Find, Steps, count, write
from tiers.cold.stores import COLLECTIONS
from tiers.cold.stores.watermarks import WATERMARKS, Watermarks
from tiers.errors import (
    ConfigError,
    EzraError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)

DRIVERS = ("pymongo", "motor")
WRITING = frozenset(("create", "collMod", "createIndexes", "insert", "update"))

server = held(running_mongo)
"""A replica set of its own, for a test that hurts it."""


@asynccontextmanager
async def _bare(server: MongoServer, name: str, timeout_seconds: float) -> AsyncIterator[Database]:
    """A database as it is, opened without making anything."""

    async def nothing(_: object) -> None:
        return None

    async with (
        connected(
            server.uri, "pymongo", timeout_seconds=timeout_seconds, connections_max=5
        ) as client,
        Database(client, name, nothing, timeout_seconds=timeout_seconds) as opened,
    ):
        yield opened


@pytest.fixture
async def database(server: MongoServer) -> AsyncIterator[Database]:
    """An empty database without any schema."""
    async with _bare(server, "d", 5) as opened:
        yield opened


# PyMongo leaves a socket to the garbage collector when it is closed while it is connecting.
pytestmark = pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")


# Addresses and settings.

PASSWORD = "hunter2"  # noqa: S105 - to be looked for where it must not be


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize(
    "uri",
    [
        "",
        "localhost:27017",
        f"http://user:{PASSWORD}@host",
        f"mongodb://user:{PASSWORD}/rest@host",
        f"mongodb://user:{PASSWORD}@home@host",
        f"mongodb://us:er:{PASSWORD}@host",
        f"mongodb://user:{PASSWORD}@host:port",
        f"mongodb://user:{PASSWORD}@host:99999",
        f"mongodb+srv://user:{PASSWORD}@host",
    ],
)
async def test_wrong_address_is_a_config_error(uri: str, driver: Any) -> None:
    """It names the setting, and neither it nor what it came from shows a part of a password."""
    with pytest.raises(ConfigError) as caught:
        async with mongo_cold_store(uri, driver=driver, timeout_seconds=0.4):
            pass
    assert caught.value.key == "EZRA_MONGODB_URI"
    error: BaseException | None = caught.value
    while error is not None:
        assert PASSWORD not in f"{error!s}{error!r}"
        error = error.__cause__ or (None if error.__suppress_context__ else error.__context__)


@pytest.mark.parametrize("name", ["a b", "a.b", "a/b", "", "$a"])
async def test_wrong_database_name_is_a_config_error(server: MongoServer, name: str) -> None:
    """What MongoDB does not accept as a database's name is refused before anything is sent."""
    with pytest.raises(ConfigError, match="EZRA_MONGODB_DATABASE"):
        async with mongo_cold_store(server.uri, database=name):
            pass


@pytest.mark.parametrize(
    "wrong",
    [
        {"driver": "mongoengine"},
        {"timeout_seconds": 0},
        {"timeout_seconds": float("nan")},
        {"connections_max": 0},
        {"connections_max": 10_001},
    ],
)
async def test_wrong_settings_are_refused(wrong: dict[str, Any]) -> None:
    """Out of range is the caller's mistake, found before a connection is made."""
    with pytest.raises(UsageError, match=next(iter(wrong))):
        async with mongo_cold_store("mongodb://localhost", **wrong):
            pass


async def test_motor_that_is_not_installed_is_a_config_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who asks for the optional driver is told how to get it."""
    monkeypatch.setitem(sys.modules, "motor.motor_asyncio", None)
    with pytest.raises(ConfigError, match=r"ezra\[motor\]"):
        async with mongo_cold_store("mongodb://localhost", driver="motor"):
            pass


async def test_address_cannot_weaken_what_is_promised(server: MongoServer) -> None:
    """Options of the address that would acknowledge early, or read elsewhere, have no effect."""
    uri = f"{server.uri}&w=0&retryWrites=false&readPreference=secondary&journal=false"
    async with mongo_cold_store(uri) as cold:
        await cold.turns.append_turn(SCOPE, turn_by())
        await cold.watermarks.advance(SCOPE, "reader", 1, NOW)
        assert len(await cold.turns.recent_turns(SCOPE, 8)) == 1
    commits = [c for c in server.commands if c["name"] == "commitTransaction"]
    assert [c["body"]["writeConcern"]["w"] for c in commits] == ["majority"] * 2
    reads = [c["envelope"].get("$readPreference") for c in server.commands if c["name"] == "find"]
    assert {"mode": "secondary"} not in reads


# Opening.


async def test_too_old_server_is_a_config_error(
    server: MongoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says which version answered and which is needed."""
    monkeypatch.setattr("tiers.cold.mongo.database.SERVER_VERSION_MIN", (9, 0))
    with pytest.raises(ConfigError, match=r"MongoDB 8\.0\.0 answered, 9\.0 is needed"):
        async with mongo_cold_store(server.uri):
            pass


@pytest.mark.parametrize("found", [8, 99, "eight"])
async def test_database_of_another_schema_version_is_refused(
    server: MongoServer, found: object
) -> None:
    """It says which version was found, which is expected and what to do, and changes nothing."""
    async with mongo_cold_store(server.uri):
        pass
    with server.tampering() as raw:
        raw["ezra"]["meta"].update_one({"_id": "schema"}, {"$set": {"version": found}})
    server.clear_commands()
    said = f"has schema version {found} and this ezra expects {VERSION}; export it with the ezra"
    with pytest.raises(ConfigError, match=said):
        async with mongo_cold_store(server.uri):
            pass
    assert not WRITING & {command["name"] for command in server.commands}


@pytest.mark.parametrize("driver", DRIVERS)
async def test_a_standalone_server_is_refused(driver: Any) -> None:
    """It is named, with the way to a replica set of one member, before anything is written."""
    with running_mongo(mode="standalone") as standalone:
        with pytest.raises(ConfigError) as refused:
            async with mongo_cold_store(standalone.uri, driver=driver):
                pass
        sent = {command["name"] for command in standalone.commands}
        assert standalone.client["ezra"].list_collection_names() == []
    said = str(refused.value)
    assert refused.value.key == "EZRA_MONGODB_URI"
    for part in (standalone.address, "one member", "mongod --replSet rs0", "rs.initiate()"):
        assert part in said
    assert not WRITING & sent


@pytest.mark.parametrize("driver", DRIVERS)
async def test_prepared_database_is_only_looked_at(server: MongoServer, driver: Any) -> None:
    """Opening it again takes four questions, whatever it holds."""
    async with mongo_cold_store(server.uri, driver=driver):
        pass
    server.clear_commands()
    async with mongo_cold_store(server.uri, driver=driver):
        sent = [command["name"] for command in server.commands]
    # hello is not among the commands
    assert sorted(name for name in sent if name != "aggregate") == [
        *("buildInfo", "find", "listCollections")
    ]


async def test_what_is_missing_is_made(server: MongoServer) -> None:
    """A collection that was dropped, and an index after the mark was removed."""
    async with mongo_cold_store(server.uri):
        pass
    with server.tampering() as raw:
        raw["ezra"]["turns"].drop()
    async with mongo_cold_store(server.uri):
        pass
    assert (await mongo_health(server.uri)).problems == ()
    async with connected(server.uri, "pymongo", timeout_seconds=10, connections_max=1) as client:
        await client["ezra"]["turns"].drop_index("id")
        await client["ezra"].command("collMod", "summaries", validator={})
    (problem,) = (await mongo_health(server.uri)).problems
    assert "the index id of turns" in problem
    assert "the validator of summaries" in problem
    with server.tampering() as raw:
        raw["ezra"]["meta"].delete_one({"_id": "schema"})
    async with mongo_cold_store(server.uri):
        pass
    assert (await mongo_health(server.uri)).problems == ()


async def test_new_database_may_be_opened_by_many_at_once(opener: Opener) -> None:
    """Ten processes that start together make one schema."""
    async with AsyncExitStack() as stack:
        opened = await asyncio.gather(*(stack.enter_async_context(opener()) for _ in range(10)))
        await opened[0].graphs.create_graph(graph_of("race"))
        for cold in opened:
            assert await cold.graphs.graph("acme", "race") is not None


@pytest.mark.parametrize("one", COLLECTIONS, ids=lambda one: one.name)
def test_every_collection_is_unique_by_owner_and_id_and_has_rules(one: Any) -> None:
    """And the validator holds whoever writes to an owner, an id and a record."""
    owners = OWNERS[one.extent]
    wanted = specifications(COLLECTIONS)[one.name]
    unique = [index.document for index in wanted.indexes if index.document.get("unique")]
    assert [*owners, "id"] in [list(index["key"]) for index in unique]
    assert all(next(iter(index["key"])) == "tenant" for index in unique if owners)
    rules = wanted.validator["$jsonSchema"]
    assert rules["required"] == [*owners, "id", "body"]


# Failures, by their meaning.

REFUSALS: list[tuple[int, str, type[EzraError]]] = [
    (50, "operation exceeded time limit", TierTimeout),
    (64, "waiting for replication timed out", TierTimeout),
    (112, "write conflict", TierTimeout),
    (13, "not authorized", ConfigError),
    (18, "Authentication failed.", ConfigError),
    (8000, "bad auth : authentication failed", ConfigError),
    (8000, "you are over your space quota", TierRejected),
    (10334, "BSONObj size is invalid", UsageError),
    (121, "Document failed validation", TierRejected),
    (9, "failed to parse", TierRejected),
    (20, "illegal operation", TierRejected),
]
TRANSIENT = ["TransientTransactionError"]
PASSING: list[dict[str, Any]] = [
    {"close_connection": True},
    {"close_connection": True, "after": True},
    {"code": 10107, "message": "not primary", "error_labels": TRANSIENT},
    {"code": 11600, "message": "interrupted at shutdown", "error_labels": TRANSIENT},
    {"code": 262, "message": "exceeded time limit", "error_labels": TRANSIENT},
]


def _inserting(count: int) -> Callable[[Session], Any]:
    async def change(session: Session) -> None:
        documents = [{"tenant": "acme", "graph_id": "race"} for _ in range(count)]
        await session.raw["turns"].insert_many(documents, session=session.transaction)

    return change


@pytest.mark.parametrize("count", [1, 2], ids=["one", "many"])
@pytest.mark.parametrize(("code", "message", "kind"), REFUSALS)
async def test_every_refusal_has_its_error(
    server: MongoServer,
    database: Database,
    code: int,
    message: str,
    kind: type[EzraError],
    count: int,
) -> None:
    """Of writes and of reads. The driver's exception never comes through, and is the cause."""
    server.fail_next("insert", code=code, message=message)
    server.fail_next("find", code=code, message=message)
    for attempt in (database.step("insert", _inserting(count)), database.read("first", _first)):
        with pytest.raises(kind) as caught:
            await attempt
        assert type(caught.value) is kind
        assert isinstance(caught.value.__cause__, PyMongoError)
    server.fail_next("find", code=code, message=message)
    with pytest.raises(kind):
        await database.snapshot("first", _first)


@pytest.mark.parametrize("failure", PASSING, ids=str)
async def test_passing_failure_is_not_felt(
    server: MongoServer, database: Database, failure: dict[str, Any]
) -> None:
    """The driver tries again, and what was done already is not done twice."""
    server.fail_next("insert", **failure)
    await database.step("insert", _inserting(1))
    assert await database.read("count", _count) == 1


@pytest.mark.parametrize("failure", [PASSING[0], PASSING[2]], ids=str)
async def test_failure_that_does_not_pass_is_an_outage(
    server: MongoServer, failure: dict[str, Any]
) -> None:
    """Reported within the limit, however often the driver can try again in it."""
    server.fail_next("insert", times=100_000, **failure)
    async with _bare(server, "d", 0.4) as database:
        with pytest.raises((TierUnavailable, TierTimeout)) as caught:
            async with asyncio.timeout(5):
                await database.step("insert", _inserting(1))
    assert isinstance(caught.value.__cause__, PyMongoError)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (AutoReconnect("lost"), TierUnavailable),
        (ConnectionFailure("lost"), TierUnavailable),
        (ServerSelectionTimeoutError("nobody"), TierUnavailable),
        (NotPrimaryError("no"), TierUnavailable),
        (InvalidOperation("closed"), TierUnavailable),
        (NetworkTimeout("late"), TierTimeout),
        (WaitQueueTimeoutError("full"), TierTimeout),
        (ExecutionTimeout("late", 50), TierTimeout),
        (WTimeoutError("late", 64), TierTimeout),
        (DuplicateKeyError("E11000", 11000, {"keyPattern": {"id": 1}}), DuplicateKey),
        (DuplicateKeyError("E11000", 11000), DuplicateKey),
        (BulkWriteError({"writeErrors": [{"code": 11000}]}), DuplicateKey),
        (BulkWriteError({"writeErrors": [{"code": 50}]}), TierTimeout),
        (BulkWriteError({"writeConcernErrors": [{"code": 64}]}), TierTimeout),
        (BulkWriteError({}), TierRejected),
        (OperationFailure("no", 13), ConfigError),
        (OperationFailure("no"), TierRejected),
        (ConfigurationError("no"), ConfigError),
        (DocumentTooLarge("no"), UsageError),
        (InvalidDocument("no"), UsageError),
        (OverflowError("no"), UsageError),
        (UnicodeEncodeError("utf-8", "\ud83c", 0, 1, "no"), UsageError),
        (PyMongoError("no"), TierRejected),
    ],
    ids=repr,
)
def test_whatever_the_driver_raises_has_its_error(error: Exception, kind: type[EzraError]) -> None:
    """By class and code, with the cause chained."""
    with pytest.raises(EzraError) as caught, translated("ask"):
        raise error
    assert type(caught.value) is kind
    assert caught.value.__cause__ is error


async def _count(session: Session) -> int:
    return len(await session.raw["turns"].find({}, session=session.transaction).to_list(None))


async def _first(session: Session) -> Any:
    with translated("first"):
        return await session.raw["turns"].find_one({}, session=session.transaction)


async def test_documents_that_break_a_rule_are_rejected(server: MongoServer) -> None:
    """Whoever writes, the database holds to its schema: the error quotes no content."""
    async with mongo_cold_store(server.uri):
        pass
    wrong = {"tenant": "acme", "graph_id": "race", "input": "secret"}
    async with _bare(server, "ezra", 5) as database:
        with pytest.raises(TierRejected, match="schema") as caught:
            await database.step(
                "insert",
                lambda session: session.raw["turns"].insert_one(wrong, session=session.transaction),
            )
    assert "secret" not in str(caught.value)


async def test_document_beyond_16_mib_is_the_callers_mistake(opener: Opener) -> None:
    """Refused before it is sent, and nothing of it is kept."""
    async with opener() as cold:
        outputs = tuple({"tool": "t", "output": "x" * 200_000} for _ in range(100))
        turn = turn_by(tool_outputs=outputs)
        with pytest.raises(UsageError, match="document"):
            await cold.turns.append_turn(SCOPE, turn, [draft()])
        assert await cold.turns.recent_turns(SCOPE, 1) == ()
        assert (await cold.queue.waiting())["index"] == 0


@pytest.mark.parametrize("driver", DRIVERS)
async def test_write_whose_answer_is_lost_is_not_doubled(server: MongoServer, driver: Any) -> None:
    """What the server has not committed it forgets, and all of it is sent again."""
    async with mongo_cold_store(server.uri, driver=driver) as cold:
        server.fail_next("insert", close_connection=True, after=True, collection="leases")
        lease = await cold.leases.acquire("tick", "a", 10, NOW)
        assert lease is not None
        server.fail_next("update", close_connection=True, after=True, collection="leases")
        await cold.leases.release(lease)
        server.fail_next("insert", close_connection=True, after=True, collection="audit")
        await cold.log.append_audit(SCOPE, "k", ("a",), "", NOW)
        assert [event.seq for event in await cold.log.audit(SCOPE)] == [1]
    assert server.client["ezra"]["leases"].count_documents({}) == 1
    assert server.open_transactions == 0


@pytest.mark.parametrize("driver", DRIVERS)
@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_commit_of_unknown_outcome_is_asked_for_again(
    server: MongoServer, driver: Any, *, after: bool
) -> None:
    """Until it is known, without doing the step again."""
    async with mongo_cold_store(server.uri, driver=driver) as cold:
        server.clear_commands()
        labels = ["UnknownTransactionCommitResult"]
        server.fail_next("commitTransaction", code=262, error_labels=labels, times=4, after=after)
        stored, is_new = await cold.turns.append_turn(SCOPE, turn_by(ref="r"), [draft()])
        assert (stored.seq, is_new) == (1, True)
        assert len(await cold.turns.recent_turns(SCOPE, 8)) == 1
        assert (await cold.queue.waiting())["index"] == 1
    names = [command["name"] for command in server.commands]
    assert names.count("commitTransaction") == 5
    assert sum(command["body"].get("insert") == "turns" for command in server.commands) == 1


async def test_work_asked_for_while_another_process_takes_it_is_not_lost(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn that saw its work wait does not pass one who did that work without the turn."""
    written = _Transaction._written
    looked: list[int] = []

    async with opener() as cold, opener() as other:
        first, _ = await cold.turns.append_turn(SCOPE, turn_by(), [draft("a", "extract")])

        async def overtaken(self: _Transaction, requests: Any) -> None:
            if self._operation == "append_turn" and not looked:
                looked.append(first.seq)
                claimed = await other.queue.claim(["extract"], "other", 1, 30, NOW)
                assert await other.turns.turns_after(SCOPE, first.seq, 8) == ()
                assert claimed
                assert await other.queue.complete_all(claimed) == ()
            await written(self, requests)

        monkeypatch.setattr(_Transaction, "_written", overtaken)
        await cold.turns.append_turn(SCOPE, turn_by(), [draft("a", "extract")])
        assert looked, "nobody was overtaken, so nothing was shown"
        assert (await cold.queue.waiting())["extract"] == 1


# Closing.


async def test_closing_waits_for_what_has_begun(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that is under way when the block ends is finished, and its caller is told so."""
    begun = asyncio.Event()
    written = _Transaction._written

    async def noticed(self: _Transaction, requests: Any) -> None:
        begun.set()
        await written(self, requests)

    monkeypatch.setattr(_Transaction, "_written", noticed)
    async with opener() as cold:
        appending = asyncio.create_task(cold.turns.append_turn(SCOPE, turn_by(), [draft()]))
        await begun.wait()
    stored, _ = await appending
    async with opener() as cold:
        assert await cold.turns.recent_turns(SCOPE, 8) == (stored,)
        assert (await cold.queue.waiting())["index"] == 1


# Moments and limits.


def _watermarks() -> Steps[int]:
    return count(Find(WATERMARKS, SCOPE))


@pytest.mark.parametrize("driver", DRIVERS)
async def test_a_reading_of_several_steps_sees_one_moment(server: MongoServer, driver: Any) -> None:
    """What is acknowledged before it is in it, and nothing that is written meanwhile."""
    async with mongo_record_store(server.uri, COLLECTIONS, driver=driver) as records:
        watermarks = Watermarks(records)
        await watermarks.advance(SCOPE, "before", 1, NOW)

        async def meanwhile(session: Session) -> tuple[int, int]:
            first = await _rows(session)
            await watermarks.advance(SCOPE, "meanwhile", 1, NOW)
            return first, await _rows(session)

        assert await records.database.snapshot("look", meanwhile) == (1, 1)
        assert await records.read("look", _watermarks) == 2
    asked = [one for one in server.commands if one["body"].get("find") == "watermarks"]
    of_reading = [one["body"].get("readConcern", {}) for one in asked if _is_plain(one)]
    assert [one.get("level") for one in of_reading] == ["snapshot"] * len(of_reading)


def _is_plain(command: dict[str, Any]) -> bool:
    return "autocommit" not in command["envelope"]


async def _rows(session: Session) -> int:
    found = session.raw["watermarks"].find({}, session=session.transaction)
    return len(await found.to_list(None))


@pytest.mark.parametrize("code", [239, 246])
async def test_a_moment_that_cannot_be_shown_is_looked_for_again(
    server: MongoServer, code: int
) -> None:
    """Another process made an index just then: the reading begins anew; not for ever."""
    async with mongo_record_store(server.uri, COLLECTIONS) as records:
        server.fail_next("aggregate", code=code, times=2)
        assert await records.read("look", _watermarks) == 0
        server.fail_next("aggregate", code=code, times=100)
        with pytest.raises(TierRejected):
            await records.read("look", _watermarks)


async def test_long_work_may_take_longer_than_an_operation(
    server: MongoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As long as a transaction may live; each of its commands no longer than any other."""
    answered = _Transaction.answered

    async def slow(self: _Transaction, requests: Any) -> Any:
        await asyncio.sleep(0.25)
        return await answered(self, requests)

    def steps() -> Steps[None]:
        for _ in range(3):
            yield from _watermarks()
        yield from write()

    monkeypatch.setattr(_Transaction, "answered", slow)
    async with mongo_record_store(server.uri, COLLECTIONS, timeout_seconds=0.5) as records:
        server.clear_commands()
        await records.change("long", steps, is_brief=False)
        limits = [one["body"]["maxTimeMS"] for one in server.commands if one["name"] != "ping"]
        assert limits
        assert max(limits) <= 500
        with pytest.raises(TierTimeout):
            await records.change("brief", steps)


@pytest.mark.parametrize("way", ["read", "snapshot"])
async def test_a_cancellation_that_a_driver_swallows_goes_on(database: Database, way: str) -> None:
    """Its ``wait_for`` answers instead; a loop that asks again and again would never end."""

    async def question(_: object) -> str:
        with suppress(asyncio.CancelledError):
            await asyncio.sleep(60)
        return "answered all the same"

    asking = asyncio.create_task(getattr(database, way)("ask", question))
    await asyncio.sleep(0.02)
    asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await getattr(database, way)("ask", _answered) == "here"


async def _answered(_: object) -> str:
    return "here"
