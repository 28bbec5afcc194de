"""What is said about a Qdrant server, well and unwell, and that saying it changes nothing."""

from __future__ import annotations

from typing import Any

import pytest
from qdrant_client import models
from support.qdrant_collections import Collection
from support.qdrant_shim import VERSION, Fault, QdrantShim
from support.tier_samples import DIMENSIONS, entry_of, scope_of

from tiers.errors import ConfigError
from tiers.health import TierHealth
from tiers.warm.payload import FORMAT, INTEGER_KEYS, KEYWORD_KEYS
from tiers.warm.qdrant_collection import collection_name
from tiers.warm.qdrant_examination import COLLECTIONS_MAX
from tiers.warm.qdrant_opening import qdrant_health
from tiers.warm.qdrant_store import qdrant_warm_store

SCOPE = scope_of()
NAME = collection_name("ezra", "m")


@pytest.fixture
async def server(shim: QdrantShim) -> Any:
    """A server with one index of one entry."""
    async with qdrant_warm_store(shim.url, model_id="m", dimensions=DIMENSIONS) as store:
        await store.upsert(SCOPE, [entry_of(SCOPE, 1)])
    shim.requests.clear()
    yield shim
    shim.heal()
    shim.forget()


async def _health(server: QdrantShim, **given: Any) -> TierHealth:
    return await qdrant_health(server.url, timeout_seconds=2, **given)


async def test_well_server_has_no_problem(server: QdrantShim) -> None:
    """Its version, how long it takes, what the key may do, and each collection of ours."""
    server.collections["somebody's"] = Collection(
        models.CreateCollection(
            vectors={"v": models.VectorParams(size=2, distance=models.Distance.DOT)}
        )
    )
    health = await _health(server)
    assert (health.tier, health.engine, health.version) == ("warm", "qdrant", VERSION)
    assert health.reachable
    assert health.round_trip_ms is not None
    assert health.round_trip_ms > 0
    assert health.problems == ()
    assert health.details["may_manage"] is True
    collections = health.details["collections"]
    assert isinstance(collections, dict)
    assert list(collections) == [NAME]
    found = collections[NAME]
    assert isinstance(found, dict)
    assert (found["model_id"], found["points"], found["status"]) == ("m", 1, "green")
    assert (found["shards"], found["replicas"], found["optimizer"]) == (1, 1, "ok")
    assert found["quantized"] is False
    assert isinstance(found["indexes"], list)
    assert len(found["indexes"]) == len((*KEYWORD_KEYS, *INTEGER_KEYS))


async def test_looking_changes_nothing(server: QdrantShim) -> None:
    """Everything is read; the one removal is of what does not exist."""
    await _health(server)
    changing = [seen for seen in server.requests if seen.method != "GET"]
    assert [seen.method for seen in changing] == ["DELETE"]
    assert changing[0].path.startswith("/collections/ezra_probe_")
    assert server.collections[NAME].count(None) == 1


async def test_unreachable_server_is_an_answer(server: QdrantShim) -> None:
    """With what to look at, and nothing raised."""
    server.stop()
    health = await _health(server)
    assert not health.reachable
    assert health.round_trip_ms is None
    (problem,) = health.problems
    assert "cannot be reached" in problem
    assert "EZRA_QDRANT_URL" in problem


async def test_frozen_server_is_an_answer(server: QdrantShim) -> None:
    """The timeout is kept."""
    with server.frozen():
        health = await qdrant_health(server.url, timeout_seconds=0.2)
    assert not health.reachable
    assert "no answer within 0.2 s" in health.problems[0]


async def test_something_else_at_the_address_is_an_answer(server: QdrantShim) -> None:
    """A page instead of a version."""
    with server.failing(Fault(body="<html>")):
        health = await _health(server)
    assert not health.reachable
    assert "does not answer as Qdrant does" in health.problems[0]


@pytest.mark.parametrize("key", [None, "hunter2"])
async def test_refused_key_is_a_problem(server: QdrantShim, key: str | None) -> None:
    """The server is there, the key is not shown."""
    server.api_key = "another"
    health = await _health(server, api_key=key)
    assert health.reachable
    assert any("EZRA_QDRANT_API_KEY" in problem for problem in health.problems)
    assert "hunter2" not in repr(health)


async def test_key_without_the_right_to_make_collections_is_a_problem(server: QdrantShim) -> None:
    """Everything else is still looked at."""
    server.may_manage = False
    health = await _health(server)
    assert health.details["may_manage"] is False
    assert "may not make or remove" in health.problems[0]
    assert health.details["collections"]


async def test_old_server_is_a_problem(server: QdrantShim) -> None:
    """With its version and the one that is needed."""
    server.version = "1.12.4"
    health = await _health(server)
    assert health.version == "1.12.4"
    assert "1.12.4 is too old; update it to 1.19" in health.problems[0]


async def test_lost_indexes_are_a_problem(server: QdrantShim) -> None:
    """Each is named."""
    for key in ("graph", "expires_at"):
        server.collections[NAME].unindex(key)
    (problem,) = (await _health(server)).problems
    assert NAME in problem
    assert "graph, expires_at" in problem


async def test_tenant_that_is_no_tenant_key_is_a_problem(server: QdrantShim) -> None:
    """It works, and keeps tenants' points scattered."""
    params = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD)
    server.collections[NAME].schema["tenant"] = params
    (problem,) = (await _health(server)).problems
    assert "tenant key" in problem


@pytest.mark.parametrize(
    ("status", "expected"), [("red", True), ("grey", True), ("yellow", False), ("green", False)]
)
async def test_states_that_do_not_pass_by_themselves_are_problems(
    server: QdrantShim, status: str, *, expected: bool
) -> None:
    """A collection that is being optimised is only shown as such."""
    server.collections[NAME].status = models.CollectionStatus(status)
    health = await _health(server)
    assert bool(health.problems) is expected
    collections = health.details["collections"]
    assert isinstance(collections, dict)
    assert isinstance(collections[NAME], dict)
    assert collections[NAME]["status"] == status


async def test_failed_optimiser_is_a_problem(server: QdrantShim) -> None:
    """Its error is not repeated: it may name files, or worse."""
    server.collections[NAME].optimizer_error = "no space left on /secret"
    (problem,) = (await _health(server)).problems
    assert "cannot be optimised" in problem
    assert "secret" not in problem


async def test_other_format_is_a_problem(server: QdrantShim) -> None:
    """A collection of a later version is named, with what to do."""
    server.collections[NAME].made.metadata = {"ezra": {"format": FORMAT + 1, "model_id": "m"}}
    (problem,) = (await _health(server)).problems
    assert f"format {FORMAT + 1}" in problem


async def test_many_collections_are_not_all_looked_at(
    server: QdrantShim, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number is bounded, and what was left out is said."""
    monkeypatch.setattr("tiers.warm.qdrant_examination.COLLECTIONS_MAX", 1)
    async with qdrant_warm_store(server.url, model_id="n", dimensions=DIMENSIONS):
        health = await _health(server)
    assert COLLECTIONS_MAX > 1
    assert "1 more collections" in health.problems[0]


@pytest.mark.parametrize(
    ("url", "open_"),
    [
        ("http://198.51.100.7:1", True),
        ("https://198.51.100.7:1", False),
        ("http://localhost:1", False),
    ],
)
async def test_key_in_the_open_is_a_problem(url: str, *, open_: bool) -> None:
    """A key that leaves this machine travels by TLS."""
    health = await qdrant_health(url, api_key="k", timeout_seconds=0.05)
    assert any("unencrypted" in problem for problem in health.problems) is open_
    assert not health.reachable


async def test_unusable_address_is_a_config_error() -> None:
    """There is nothing to look at."""
    with pytest.raises(ConfigError, match="EZRA_QDRANT_URL"):
        await qdrant_health("redis://localhost")
