"""The scope as MongoDB gets it: one question for a whole family, and names as they are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any

import pytest
from support.cold_samples import (
    SCOPE,
    fact_by,
    heir_of,
    rule_by,
)
from support.mongo_deployments import Deployment
from support.tier_samples import NOW, scope_of

from tiers.records import Ancestor


@pytest.fixture
async def database(deployment: Deployment) -> str:
    """The name of a database that is new."""
    return deployment.fresh_database()


@pytest.fixture
async def cold(deployment: Deployment, database: str) -> AsyncIterator[Any]:
    """A cold tier in it."""
    async with deployment.opened(database) as stores:
        deployment.server.clear_commands()
        yield stores


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
    assert [one["name"] for one in deployment.server.commands] == ["aggregate"]


async def test_names_of_graphs_are_no_expressions(cold: Any) -> None:
    """A graph called like a field is as far away as it is, and not everywhere."""
    names = ("$graph_id", "$id", "$$ROOT")
    for name in reversed(names):
        above = scope_of(graph_id=name)
        await cold.procedural.put_rule(above, rule_by(above, topics=()))
    heir = heir_of(*names, scope=scope_of(graph_id="imola"))
    found = await cold.procedural.match_rules(heir, "tyre change", 9)
    assert [rule.graph_id for rule in found] == list(names)
