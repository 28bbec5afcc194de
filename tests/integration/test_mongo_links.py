"""Links between graphs in MongoDB: made by two processes at once, cut off, revoked, and late."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from typing import Any

import pytest
from support.cold_samples import graph_of
from support.mongo_cuts import cut_at
from support.mongo_deployments import COMMANDS_MAX, REFUSED, Deployment, deployed
from support.tier_samples import NOW, scope_of

from tiers.cold.mongo.records import _Transaction
from tiers.cold.stores import ColdStores
from tiers.errors import Conflict, TierError, UsageError
from tiers.records import Parent, Scope

A, B, C = (Scope.of_graph("acme", name) for name in "abc")


@pytest.fixture(scope="module")
def deployment() -> Iterator[Deployment]:
    """A server for all tests of this file."""
    with deployed() as found:
        yield found


@pytest.fixture
def database(deployment: Deployment) -> str:
    """The name of a database of its own."""
    return deployment.fresh_database()


@pytest.fixture
async def pair(
    deployment: Deployment, database: str
) -> AsyncIterator[tuple[ColdStores, ColdStores]]:
    """Two stores over one database, each with a client of its own, as two processes have."""
    async with deployment.opened(database) as one, deployment.opened(database) as other:
        for name in "abc":
            await one.graphs.create_graph(graph_of(name))
        yield one, other


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


async def test_of_two_links_that_close_a_cycle_one_is_made(
    pair: tuple[ColdStores, ColdStores],
) -> None:
    """Whichever process is first, and whichever graphs of the tenant are linked meanwhile."""
    one, other = pair
    for number in range(8):
        names = [f"{number} {name}" for name in ("left", "right", "far")]
        for name in names:
            await one.graphs.create_graph(graph_of(name))
        left, right, far = (scope_of("acme", name) for name in names)
        done = await asyncio.gather(
            _linked(one, left, right), _linked(other, right, left), _linked(other, A, far)
        )
        assert sorted(done[:2]) == [False, True]
        assert done[2]
        parents = [await _parents(one, scope) for scope in (left, right)]
        assert sorted(map(len, parents)) == [0, 1]
    assert len(await _parents(one, A)) == 8


async def test_a_link_that_begins_while_another_is_made_sees_it(
    pair: tuple[ColdStores, ColdStores], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process links the other way round after the first one has looked: it is refused."""
    one, other = pair
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


async def test_racing_links_of_one_graph_are_all_there_and_none_twice(
    pair: tuple[ColdStores, ColdStores],
) -> None:
    """Ten parents, each linked by both processes: one of the two is told that it exists."""
    scopes = [scope_of("acme", f"parent {number}") for number in range(10)]
    for scope in scopes:
        await pair[0].graphs.create_graph(graph_of(scope.graph_id))
    answers = await asyncio.gather(
        *(cold.graphs.link(A, _to(scope)) for scope in scopes for cold in pair),
        return_exceptions=True,
    )
    assert sum(answer is None for answer in answers) == 10
    assert sum(isinstance(answer, Conflict) for answer in answers) == 10
    assert sorted(await _parents(pair[1], A)) == sorted(scope.graph_id for scope in scopes)


@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_a_link_that_is_cut_off_is_made_once_or_not_at_all(
    deployment: Deployment, *, after: bool
) -> None:
    """Cut at any command: whoever links next sees what it closes."""
    felt = 0
    for number in range(1, COMMANDS_MAX):
        async with deployment.opened(deployment.fresh_database()) as cold:
            for name in "abc":
                await cold.graphs.create_graph(graph_of(name))
            with cut_at(deployment.server, number, code=REFUSED, after=after) as cut:
                try:
                    await cold.graphs.link(A, _to(B))
                except TierError:
                    felt += 1
            if not cut.happened:
                break
            await cold.graphs.link(C, _to(A))
            is_made = await _parents(cold, A) == ("b",)
            assert await _linked(cold, B, C) is not is_made, "a cycle, or no reason to refuse"
            try:
                await cold.graphs.link(A, _to(B))
            except Conflict:
                assert is_made
            except UsageError:
                assert not is_made
    assert felt >= 4


@pytest.mark.parametrize("after", [False, True], ids=["undone", "unanswered"])
async def test_a_revoked_link_does_not_come_back(deployment: Deployment, *, after: bool) -> None:
    """However far its making had come when it was cut off; and a link may be made again."""
    for number in range(1, COMMANDS_MAX):
        async with deployment.opened(deployment.fresh_database()) as cold:
            for name in "abc":
                await cold.graphs.create_graph(graph_of(name))
            cutting = cut_at(deployment.server, number, code=REFUSED, after=after)
            with cutting as cut, suppress(TierError):
                await cold.graphs.link(A, _to(B))
            if not cut.happened:
                break
            await cold.graphs.unlink(A, "b")
            assert await _parents(cold, A) == ()
            await cold.graphs.link(C, _to(A))
            assert await _parents(cold, A) == ()
            await cold.graphs.link(A, _to(B))
            assert await _parents(cold, A) == ("b",)
