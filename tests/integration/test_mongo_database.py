"""The MongoDB database: addresses, opening, failures by name, closing."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
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
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.mongo.database import Collection, Database, Session
from tiers.cold.mongo.driver import connected
from tiers.cold.mongo.health import mongo_health
from tiers.cold.mongo.store import collections
from tiers.cold.mongo.translation import DuplicateKey, translated
from tiers.errors import (
    ConfigError,
    EzraError,
    TierRejected,
    TierTimeout,
    TierUnavailable,
    UsageError,
)

DRIVERS = ("pymongo", "motor")
DEPLOYMENTS = [("replica_set", "pymongo"), ("standalone", "pymongo"), ("replica_set", "motor")]

Opener = Callable[..., Any]


@pytest.fixture(scope="module", params=DEPLOYMENTS, ids="-".join)
def deployment(request: pytest.FixtureRequest) -> Iterator[tuple[MongoServer, str]]:
    """A server for the tests that do it no harm, and a driver."""
    mode, driver = request.param
    with running_mongo(mode=mode) as server:
        yield server, driver


@pytest.fixture
def opener(deployment: tuple[MongoServer, str]) -> Opener:
    """Opens one database of its own, as often as it is called."""
    server, driver = deployment
    name = server.fresh_database()
    return lambda **how: mongo_cold_store(server.uri, database=name, driver=driver, **how)


@pytest.fixture
def server() -> Iterator[MongoServer]:
    """A replica set of its own, for a test that hurts it."""
    with running_mongo() as running:
        yield running


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
        await cold.log.append_audit(SCOPE, "k", (), "", NOW)
    (insert,) = [c for c in server.commands if c["body"].get("insert") == "audit"]
    assert insert["body"]["writeConcern"]["w"] == "majority"
    assert "txnNumber" in insert["envelope"], "it may be tried again"


# Opening.


async def test_too_old_server_is_a_config_error(
    server: MongoServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says which version answered and which is needed."""
    monkeypatch.setattr("tiers.cold.mongo.database.SERVER_VERSION_MIN", (9, 0))
    with pytest.raises(ConfigError, match=r"MongoDB 8\.0\.0 answered, 9\.0 is needed"):
        async with mongo_cold_store(server.uri):
            pass


async def test_database_of_a_newer_ezra_is_refused(server: MongoServer) -> None:
    """Nothing is changed in it."""
    async with mongo_cold_store(server.uri):
        pass
    with server.tampering() as raw:
        raw["ezra"]["meta"].update_one({"_id": "schema"}, {"$set": {"version": 99}})
    server.clear_commands()
    with pytest.raises(ConfigError, match="newer ezra"):
        async with mongo_cold_store(server.uri):
            pass
    assert not {"create", "collMod", "createIndexes", "update"} & {
        command["name"] for command in server.commands
    }


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
        *("buildInfo", "find", "listCollections"),
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
        await client["ezra"]["turns"].drop_index("tenant_graph_id_id_unique")
        await client["ezra"].command("collMod", "summaries", validator={})
    (problem,) = (await mongo_health(server.uri)).problems
    assert "the index tenant_graph_id_id_unique of turns" in problem
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


async def test_every_collection_of_records_is_unique_by_owner_and_has_rules() -> None:
    """Each has a unique index that begins with the tenant, and a validator that requires it."""
    without = {"leases", "word_totals", "fact_uses", "belief_heads"}
    for name, (indexes, schema) in collections().items():
        unique = [index for index in indexes if index.unique]
        assert unique, name
        if name == "leases":
            continue
        assert all(index.keys[0][0] == "tenant" for index in unique), name
        if name not in without:
            assert schema is not None, name
            assert "tenant" in schema["$jsonSchema"]["required"], name


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
PASSING: list[dict[str, Any]] = [
    {"close_connection": True},
    {"close_connection": True, "after": True},
    {"code": 10107, "message": "not primary"},
    {"code": 11600, "message": "interrupted at shutdown"},
    {"code": 262, "message": "exceeded time limit"},
]


def _inserting(count: int) -> Callable[[Session], Any]:
    documents = [{"tenant": "acme", "graph_id": "race"} for _ in range(count)]
    return lambda session: session.collection("turns").insert(documents)


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
    for attempt in (
        database.write("insert", _inserting(count)),
        database.read("first", _first),
    ):
        with pytest.raises(kind) as caught:
            await attempt
        assert type(caught.value) is kind
        assert isinstance(caught.value.__cause__, PyMongoError)
    server.fail_next("insert", code=code, message=message)
    if database.server.has_transactions:
        with pytest.raises(kind):
            await database.step("insert", _inserting(count))


@pytest.mark.parametrize("failure", PASSING, ids=str)
async def test_passing_failure_is_not_felt(
    server: MongoServer, database: Database, failure: dict[str, Any]
) -> None:
    """The driver tries again, and what was done already is not done twice."""
    server.fail_next("insert", **failure)
    await database.write("insert", _inserting(1))
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
                await database.write("insert", _inserting(1))
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
    return await session.collection("turns").count({"tenant": "acme", "graph_id": "race"})


async def _first(session: Session) -> Any:
    return await session.collection("turns").first({"tenant": "acme", "graph_id": "race"})


async def test_documents_that_break_a_rule_are_rejected(server: MongoServer) -> None:
    """Whoever writes, the database holds to its schema: the error quotes no content."""
    async with mongo_cold_store(server.uri):
        pass
    wrong = {"tenant": "acme", "graph_id": "race", "input": "secret"}
    async with _bare(server, "ezra", 5) as database:
        with pytest.raises(TierRejected, match="schema") as caught:
            await database.write(
                "insert", lambda session: session.collection("turns").insert([wrong])
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
    """The driver sends it again under its number, and the server knows it has been done."""
    async with mongo_cold_store(server.uri, driver=driver) as cold:
        server.fail_next("insert", close_connection=True, after=True, collection="audit")
        await cold.log.append_audit(SCOPE, "k", ("a",), "", NOW)
        server.fail_next("update", close_connection=True, after=True, collection="leases")
        lease = await cold.leases.acquire("tick", "a", 10, NOW)
        assert lease is not None
        await cold.leases.release(lease)
        assert [event.seq for event in await cold.log.audit(SCOPE)] == [1]
    sent = [one for one in server.commands if one["body"].get("insert") == "audit"]
    assert len(sent) == 2
    assert sent[0]["envelope"]["txnNumber"] == sent[1]["envelope"]["txnNumber"]


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


# Closing.


async def test_closing_waits_for_what_has_begun(
    opener: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A step that is under way when the block ends is finished, and its caller is told so."""
    begun = asyncio.Event()
    insert = Collection.insert

    async def noticed(self: Collection, documents: Any) -> None:
        begun.set()
        await insert(self, documents)

    monkeypatch.setattr(Collection, "insert", noticed)
    async with opener() as cold:
        appending = asyncio.create_task(cold.turns.append_turn(SCOPE, turn_by(), [draft()]))
        await begun.wait()
    stored, _ = await appending
    async with opener() as cold:
        assert await cold.turns.recent_turns(SCOPE, 8) == (stored,)
        assert (await cold.queue.waiting())["index"] == 1
