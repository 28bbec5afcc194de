"""What the MongoDB cold tier sends: the commands, their scope, and what they wait for."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from typing import Any

import pytest
from support.cold_calls import CALLS
from support.cold_estate import fill
from support.cold_samples import SCOPE, belief_by, draft, graph_of, summary_by, turn_by
from support.mongo_server import MongoServer, running_mongo
from support.tier_samples import NOW

from tiers.cold.mongo import mongo_cold_store
from tiers.cold.stores import COLLECTIONS, ColdStores
from tiers.errors import EzraError

Sent = dict[str, Any]

READS = frozenset(("find", "aggregate", "getMore"))
WRITES = frozenset(("insert", "update", "delete"))
OF_TRANSACTIONS = frozenset(("commitTransaction", "abortTransaction"))
BY_THE_DRIVER = frozenset(("ping", "endSessions", "killCursors"))

FREE = frozenset(("meta", "leases", "work"))
"""Collections of the runtime itself."""

WITHOUT_GRAPH = frozenset(one.name for one in COLLECTIONS if one.extent == "tenant")
OF_WHOLE_TENANTS = frozenset(
    (
        *("searchable_after", "count_searchable", "export_rows", "import_rows", "count_rows"),
        *("silent", "tenant_audit", "facts_without_vectors"),
    )
)
OF_ALL_TENANTS = frozenset(("tenants", "take_over"))


@pytest.fixture(params=["pymongo", "motor"])
def deployment(request: pytest.FixtureRequest) -> Iterator[tuple[MongoServer, str]]:
    """A server of its own, which remembers what it was asked, and a driver."""
    with running_mongo() as server:
        yield server, request.param


@pytest.fixture
async def cold(deployment: tuple[MongoServer, str]) -> AsyncIterator[ColdStores]:
    """An open tier; what opening it took is forgotten."""
    server, driver = deployment
    async with mongo_cold_store(server.uri, driver=driver) as stores:
        server.clear_commands()
        yield stores


_KNOWN: dict[str, list[tuple[str, Sent]]] = {}


@pytest.fixture
async def asked(deployment: tuple[MongoServer, str], cold: ColdStores) -> list[tuple[str, Sent]]:
    """Every command that every method of every port sends, with the method."""
    server, driver = deployment
    if driver not in _KNOWN:
        await fill(cold, "acme", hostile=False)
        sent = [("fill", command) for command in server.commands]
        for method, call in CALLS.items():
            server.clear_commands()
            with suppress(EzraError):  # what it names is not there; it asked all the same
                await call(cold)
            sent += [(method, command) for command in server.commands]
        _KNOWN[driver] = sent
    return _KNOWN[driver]


def _collection(command: Sent) -> str:
    name = command["name"]
    return command["body"]["collection" if name == "getMore" else name]


def _filters(command: Sent) -> list[tuple[str, Mapping[str, Any]]]:
    """Return what decides which documents a command touches, with their collection."""
    body, collection = command["body"], _collection(command)
    if command["name"] == "aggregate":
        return [(collection, body["pipeline"][0]["$match"]), *_joined(body["pipeline"])]
    if command["name"] == "insert":
        return [(collection, document) for document in body["documents"]]
    if command["name"] in {"update", "delete"}:
        return [(collection, one["q"]) for one in body[f"{command['name']}s"]]
    return [(collection, body[name]) for name in ("filter", "query") if name in body]


def _joined(pipeline: list[Sent]) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the filters by which later stages bring in documents of other collections."""
    unions = [stage["$unionWith"] for stage in pipeline if "$unionWith" in stage]
    return [(one["coll"], one["pipeline"][0]["$match"]) for one in unions]


def _is_of_tenant(collection: str, where: Mapping[str, Any]) -> bool:
    """Whether it asks for the last position of a tenant's feed, or whose a receipt's id is."""
    asked = where.keys() - {"tenant", "$and"}
    return (collection, asked) in [("audit", set()), ("receipts", {"id"})]


def _is_about_indexes(command: Sent) -> bool:
    return command["name"] == "aggregate" and "$listSearchIndexes" in command["body"]["pipeline"][0]


async def test_nothing_else_is_sent(asked: list[tuple[str, Sent]]) -> None:
    """Every command of every method is on the list."""
    names = {command["name"] for _, command in asked}
    expected = READS | WRITES | OF_TRANSACTIONS
    assert names - BY_THE_DRIVER - {"getMore", "abortTransaction"} <= expected
    assert {"find", "insert", "update"} <= names


async def test_every_command_carries_its_scope(asked: list[tuple[str, Sent]]) -> None:
    """Tenant and graph by equality, or the graphs of a lineage by name; of a tenant for upkeep."""
    checked = 0
    for method, command in asked:
        if command["name"] not in READS | WRITES or _is_about_indexes(command):
            continue
        if _collection(command) in FREE or method in OF_ALL_TENANTS:
            continue
        for collection, where in _filters(command):
            checked += 1
            assert isinstance(where.get("tenant"), str), (method, command)
            if (
                _is_of_tenant(collection, where)
                or collection in WITHOUT_GRAPH
                or method in OF_WHOLE_TENANTS
            ):
                continue
            graph = where.get("graph_id")
            assert isinstance(graph, str) or list(graph or ()) == ["$in"], (method, command)
    assert checked > 300


async def test_every_command_has_a_time_limit_and_waits_for_a_majority(
    asked: list[tuple[str, Sent]],
) -> None:
    """The server knows when to give up, and acknowledges nothing that could be lost."""
    for method, command in asked:
        name, body, envelope = command["name"], command["body"], command["envelope"]
        if name in BY_THE_DRIVER | {"getMore"}:
            continue
        assert 0 < body["maxTimeMS"] <= 10_000, (method, command)
        is_inside = "autocommit" in envelope
        if name == "commitTransaction" or (name in WRITES and not is_inside):
            assert body["writeConcern"]["w"] == "majority", (method, command)
        if envelope.get("startTransaction"):
            assert body["readConcern"]["level"] == "snapshot"
        assert envelope.get("$readPreference", {"mode": "primary"})["mode"] in {
            "primary",
            "primaryPreferred",  # of a client that was told to talk to one server alone
        }


async def test_a_step_is_one_transaction(
    deployment: tuple[MongoServer, str], cold: ColdStores
) -> None:
    """A turn, its words and its work: one transaction from the first question to the commit."""
    server, _ = deployment
    await cold.graphs.create_graph(graph_of("race"))
    server.clear_commands()
    await cold.turns.append_turn(SCOPE, turn_by(), [draft("a"), draft("b", "learn")])
    sent = [one for one in server.commands if _is_of_step(one)]
    shown = [(one["name"], one["body"].get(one["name"])) for one in sent]
    assert shown == [
        ("aggregate", "turns"),
        ("aggregate", "graphs"),  # with how many words there are, and the work that is known
        ("insert", "turns"),
        ("insert", "word_totals"),
        ("insert", "work"),
        ("insert", "searchable"),
        ("commitTransaction", 1),
    ]
    assert len({one["envelope"]["txnNumber"] for one in sent}) == 1
    assert len({bytes(one["envelope"]["lsid"]["id"]) for one in sent}) == 1
    assert [one["envelope"].get("startTransaction", False) for one in sent] == [True, *[False] * 6]


async def test_a_belief_asks_at_one_time_what_does_not_wait_for_each_other(
    deployment: tuple[MongoServer, str], cold: ColdStores
) -> None:
    """Five questions where nobody has spoken, eight writes and the commit."""
    server, _ = deployment
    await cold.graphs.create_graph(graph_of("race"))
    server.clear_commands()
    assert (await cold.beliefs.commit(SCOPE, belief_by())).is_new
    sent = Counter(one["name"] for one in server.commands)
    assert sent["find"] + sent["aggregate"] == 5
    assert sent["insert"] + sent["update"] == 8
    assert sent["commitTransaction"] == 1


def _is_of_step(command: Sent) -> bool:
    return command["name"] not in BY_THE_DRIVER and command["body"].get("update") != "word_totals"


async def _line_of_graphs(cold: ColdStores, graph_id: str, length: int) -> None:
    """Make a graph that inherits from another, that from the next, and so on."""
    above: tuple[str, ...] = ()
    for name in [*(f"{graph_id}, {number}" for number in range(length)), graph_id]:
        await cold.graphs.create_graph(graph_of(name, *above))
        above = (name,)


@pytest.mark.parametrize(
    "deployment", ["pymongo", pytest.param("motor", marks=pytest.mark.slow)], indirect=True
)
async def test_round_trips_do_not_grow_with_what_is_done(
    deployment: tuple[MongoServer, str], cold: ColdStores
) -> None:
    """Queueing, claiming, covering and beating fifty take as many as two.

    What a graph inherits from takes a question for each step up, and one for what it is itself.
    """
    server, _ = deployment
    counts = []
    for number in (2, 50):
        scope = SCOPE.model_copy(update={"graph_id": f"graph {number}"})
        await _line_of_graphs(cold, scope.graph_id, number)
        turns = [(await cold.turns.append_turn(scope, turn_by(scope)))[0] for _ in range(number)]
        server.clear_commands()
        await cold.queue.enqueue(scope, [draft(f"{n}") for n in range(number)], NOW)
        claimed = await cold.queue.claim(["index"], "me", number, 10, NOW, scope=scope)
        assert len(claimed) == number
        await cold.episodic.put_summary(scope, summary_by(scope, turns))
        await cold.turns.waiting_turns(scope, 0, 100)
        await cold.fleet.beat(scope, [f"{n}" for n in range(number)], NOW)
        counts.append(len([one for one in server.commands if _is_of_step(one)]))
        server.clear_commands()
        standing = await cold.graphs.standing(scope)
        assert standing is not None
        assert len(standing.lineage) == number
        assert len([one for one in server.commands if _is_of_step(one)]) <= number + 1
    assert counts[0] == counts[1]
