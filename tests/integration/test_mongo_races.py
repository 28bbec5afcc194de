"""Two processes on one MongoDB database, of which one changes what the other has just looked at.

How processes race that do not wait for each other is asked by the contract.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest
from support.cold_samples import SCOPE, draft, graph_of
from support.mongo_deployments import Opener
from support.tier_samples import NOW

from tiers.cold.mongo.records import _Transaction
from tiers.cold.stores import ColdStores
from tiers.errors import UsageError
from tiers.records import Parent, Scope, Work

EVERY = ("index", "compress", "learn")
A, B = (Scope.of_graph("acme", name) for name in "ab")


@pytest.fixture
async def pair(opener: Opener) -> AsyncIterator[tuple[ColdStores, ColdStores]]:
    """Two stores over one database, each with a client of its own, as two processes have."""
    async with opener() as one, opener() as other:
        yield one, other


async def test_item_that_another_process_claims_while_it_is_queued_runs_again(
    pair: tuple[ColdStores, ColdStores], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between looking at an item and queueing it again it was claimed: it is looked at again."""
    one, other = pair
    await one.queue.enqueue(SCOPE, [draft("k", x=1)], NOW)
    claimed: list[Work] = []
    written = _Transaction._written

    async def interrupted(self: _Transaction, requests: Any) -> None:
        monkeypatch.setattr(_Transaction, "_written", written)
        claimed.extend(await other.queue.claim(EVERY, "other", 1, 10, NOW))
        await written(self, requests)

    monkeypatch.setattr(_Transaction, "_written", interrupted)
    assert await one.queue.enqueue(SCOPE, [draft("k", x=2)], NOW) == 0
    (work,) = claimed
    assert work.payload == {"x": 1}
    assert await one.queue.claim(EVERY, "one", 1, 10, NOW) == (), "nobody has it twice"
    assert await other.queue.complete(work)
    (again,) = await one.queue.claim(EVERY, "one", 1, 10, NOW)
    assert again.payload == {"x": 2}


def _to(scope: Scope) -> Parent:
    return Parent(id=scope.graph_id, linked_at=NOW)


async def _parents(cold: ColdStores, scope: Scope) -> tuple[str, ...]:
    graph = await cold.graphs.graph(scope.tenant, scope.graph_id)
    assert graph is not None
    return graph.inherits_from


async def _linked(cold: ColdStores, scope: Scope, parent: Scope) -> bool:
    """Link, and return whether it was done; a cycle is the only reason why not."""
    try:
        await cold.graphs.link(scope, _to(parent))
    except UsageError:
        return False
    return True


async def test_a_link_that_begins_while_another_is_made_sees_it(
    pair: tuple[ColdStores, ColdStores], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process links the other way round after the first one has looked: it is refused."""
    one, other = pair
    for name in "ab":
        await one.graphs.create_graph(graph_of(name))
    written, begun = _Transaction._written, list[asyncio.Task[bool]]()

    async def interrupted(self: _Transaction, requests: Any) -> None:
        monkeypatch.setattr(_Transaction, "_written", written)
        begun.append(asyncio.create_task(_linked(other, B, A)))
        await asyncio.sleep(0.1)
        await written(self, requests)

    monkeypatch.setattr(_Transaction, "_written", interrupted)
    made = [await _linked(one, A, B), await begun[0]]
    assert sorted(made) == [False, True]
    parents = [await _parents(one, scope) for scope in (A, B)]
    assert parents == ([("b",), ()] if made[0] else [(), ("a",)])
