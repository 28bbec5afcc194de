"""The scope as MongoDB gets it: one filter for a whole family, and records from before users."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from datetime import timedelta
from typing import Any

import pytest
from support.cold_samples import (
    SCOPE,
    belief_by,
    fact_by,
    heir_of,
    rule_by,
    summary_by,
    turn_by,
)
from support.mongo_deployments import Deployment, deployed
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo.grain_backfill import tell_grains
from tiers.cold.mongo.scope import check_scoped, core, inherited, readable_facts, visible
from tiers.errors import TierRejected
from tiers.moments import microseconds
from tiers.records import Ancestor, Scope

THEN, BEFORE = NOW - timedelta(hours=1), NOW - timedelta(hours=2)
ALICE = scope_of(user_id="alice")
OWNED = ("turns", "summaries", "episodes", "facts", "rules")
"""Beliefs are not among them: a later upgrade makes their projection anew from the log."""

GAINED = frozenset(
    (
        *("for_user", "core_spans", "rules", "made_by", "lost", "loose_for", "period"),
        *("fact_type", "superseded_as", "earned_from", "judged_at", "forgotten_at", "fact_key"),
        *("former", "source_ids", "also", "said_by", "ends"),
    )
)
"""Fields that the first records did not have."""


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """A server with transactions, shared by the module."""
    with deployed("replica_set") as found:
        yield found


@pytest.fixture
async def database(deployment: Deployment) -> str:
    """The name of a database that is new."""
    return deployment.server.fresh_database()


@pytest.fixture
async def cold(deployment: Deployment, database: str) -> AsyncIterator[Any]:
    """A cold tier in it."""
    async with deployment.opened(database) as stores:
        deployment.server.clear_commands()
        yield stores


def _family() -> Scope:
    """A graph with two ancestors read as they are, and three pinned to two moments."""
    moments = {"live": None, "then": THEN, "also live": None, "also then": THEN, "before": BEFORE}
    lineage = tuple(
        Ancestor(graph_id=name, path=(name,), as_of=moment) for name, moment in moments.items()
    )
    return SCOPE.model_copy(update={"lineage": lineage})


def test_a_family_is_one_filter() -> None:
    """All ids at the top; those read alike in one place; of one's own graph alone, no places."""
    where = inherited(_family(), "rule", trigger_words="tyre")
    then, before = microseconds(THEN), microseconds(BEFORE)
    assert where["graph_id"] == {
        "$in": ["race", "live", "also live", "then", "also then", "before"]
    }
    assert where["$and"] == [
        {
            "$or": [
                {"graph_id": {"$in": ["race", "live", "also live"]}},
                {"graph_id": {"$in": ["then", "also then"]}, "recorded_at": {"$lte": then}},
                {"graph_id": {"$in": ["before"]}, "recorded_at": {"$lte": before}},
            ]
        }
    ]
    live = core(heir_of("live", "also live"), redacted_at=None)
    assert "$and" not in live
    assert (live["tier"], live["live"]) == ("core", True)
    assert inherited(_family(), "episode")["graph_id"] == {"$in": ["race"]}, "it carries none"


@pytest.mark.parametrize("family", [_family(), heir_of("above"), SCOPE], ids=["mixed", "live", "1"])
def test_the_guard_knows_what_scopes_become(family: Scope) -> None:
    """Every filter that is made here passes it."""
    for where in (visible(family), inherited(family, "rule"), core(family), readable_facts(family)):
        check_scoped("find", where, whole_tenant=False)


@pytest.mark.parametrize(
    "graph",
    [
        {"$in": ["race", {"$ne": ""}]},
        {"$in": ["race", ""]},
        {"$in": "race"},
        {"$in": ["race"], "$ne": "x"},
        {"$nin": ["race"]},
        ["race"],
        None,
    ],
    ids=str,
)
def test_the_guard_knows_nothing_else(graph: Any) -> None:
    """Neither in the place of the graph, nor further down, where it narrows nothing by itself."""
    for where in (
        {"tenant": "acme", "graph_id": graph},
        {"tenant": "acme", "$and": [{"graph_id": graph}]},
    ):
        with pytest.raises(TierRejected, match="without a graph"):
            check_scoped("find", where, whole_tenant=False)


async def test_the_core_of_a_family_is_one_question(deployment: Deployment, cold: Any) -> None:
    """However many ancestors there are, and at however many moments they are read."""
    lineage = tuple(
        Ancestor(
            graph_id=f"g{n}", path=(f"g{n}",), as_of=NOW - timedelta(hours=n) if n % 2 else None
        )
        for n in range(60)
    )
    stored = []
    for n in (3, 40, 20, 1):
        fact = fact_by(scope_of(graph_id=f"g{n}"), f"{n}", tier="core", topics=(), minute=-90)
        stored.append((await cold.semantic.put_fact(scope_of(graph_id=f"g{n}"), fact))[0])
    deployment.server.clear_commands()
    found = await cold.semantic.core(SCOPE.model_copy(update={"lineage": lineage}))
    assert [fact.text for fact in found] == ["1", "20", "40"], "what g3 has came later"
    assert [one["name"] for one in deployment.server.commands] == ["find"]


async def test_names_of_graphs_are_no_expressions(cold: Any) -> None:
    """A graph called like a field is as far away as it is, and not everywhere."""
    names = ("$graph_id", "$id", "$$ROOT")
    for name in reversed(names):
        above = scope_of(graph_id=name)
        await cold.procedural.put_rule(above, rule_by(above, topics=()))
    heir = heir_of(*names, scope=scope_of(graph_id="imola"))
    found = await cold.procedural.match_rules(heir, "tyre change", 9)
    assert [rule.graph_id for rule in found] == list(names)


async def test_records_from_before_users_are_told_apart(
    deployment: Deployment, database: str, cold: Any
) -> None:
    """Each is its user's again, and its statement no other's; core facts are core since ever."""
    for scope in (ALICE, SCOPE):
        said = turn_by(scope)
        await cold.turns.append_turn(scope, said)
        await cold.episodic.put_summary(scope, summary_by(scope, [said]))
        await cold.semantic.put_fact(scope, fact_by(scope))
        await cold.semantic.put_fact(scope, fact_by(scope, "core", tier="core"))
        await cold.procedural.put_rule(scope, rule_by(scope))
        await cold.beliefs.commit(scope, belief_by(scope))
    now = _documents(deployment, database)
    assert {one["for_user"] for found in now.values() for one in found} == {"", "alice"}
    with deployment.server.tampering() as client:
        for name in OWNED:
            for document in now[name]:
                client[database][name].replace_one({"_id": document["_id"]}, _older(document))
    for _ in range(2):
        await tell_grains(cold.semantic._database.raw)
        assert _documents(deployment, database) == now


def _documents(deployment: Deployment, database: str) -> dict[str, list[dict[str, Any]]]:
    """Return the records as the server has them; a fact that was never core has no spans."""
    client = deployment.server.client
    found = {name: list(client[database][name].find().sort("_id", 1)) for name in OWNED}
    for fact in found["facts"]:
        if not fact.get("core_spans"):
            fact.pop("core_spans", None)
    return found


def _older(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document as it was stored when users were not told apart."""
    told_apart = ("active_identity", "identity", "active_key")
    older = {name: f"{name}, no user" for name in told_apart if name in document}
    # Facts had sources from the first.
    gained = GAINED - {"source_ids"} if "confidence" in document else GAINED
    kept = {name: document[name] for name in document if name not in gained}
    return kept | (older if document["user_id"] else {})
