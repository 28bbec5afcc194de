"""A hash of the hot tier belongs to one view: the user and the topics of who filled it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from typing import Any

import pytest
from support.hot_backends import HOT_BACKENDS, REDIS_BACKENDS, HotBackend
from support.redis_server import RedisServer, running_redis
from support.tier_samples import belief_of, mesh_of, scope_of, turn_of

from tiers.errors import UsageError
from tiers.hot import RedisHotStore
from tiers.ports import HotStore
from tiers.records import HotState, Scope

SCOPE = scope_of()


@pytest.fixture(scope="module")
def server() -> Iterator[RedisServer]:
    """One real Redis for this file."""
    with running_redis() as running:
        yield running


def _server_for(backend: HotBackend, request: pytest.FixtureRequest) -> RedisServer | None:
    return request.getfixturevalue("server") if backend.needs_server else None


@pytest.fixture(params=HOT_BACKENDS, ids=lambda backend: backend.name)
async def store(request: pytest.FixtureRequest) -> AsyncIterator[HotStore]:
    """An empty store of each backend."""
    async with request.param.opened(_server_for(request.param, request)) as opened:
        yield opened


@pytest.fixture(params=REDIS_BACKENDS, ids=lambda backend: backend.name)
async def redis_store(request: pytest.FixtureRequest) -> AsyncIterator[RedisHotStore]:
    """An empty store of each backend that has a raw engine to look into."""
    async with request.param.opened(_server_for(request.param, request)) as opened:
        yield opened


VIEWS: dict[str, dict[str, Any]] = {
    "user": {"user_id": "ada"},
    "other user": {"user_id": "adam"},
    "topics": {"topics": ("tyres",)},
    "more topics": {"topics": ("fuel", "tyres")},
    "denied": {"denied": ("fuel",)},
    "other denied": {"denied": ("wind",)},
    "joined names": {"user_id": "ada,", "topics": ("tyres", "fuel,")},
    "all but one": {"denied": ("fuel",), "every_user": True},
    "a few of all users": {"topics": ("tyres",), "every_user": True},
}
"""Ways in which an agent may be attached again, besides as it was."""


async def _hold_everything(store: HotStore, scope: Scope, text: str) -> None:
    await store.append(scope, turn_of(scope, 1, text), 8)
    await store.pin(scope, belief_of(scope, "b", text))
    await store.put_mesh(scope, mesh_of(text))


def _texts(state: HotState) -> list[str]:
    mesh = [state.mesh.text] if state.mesh else []
    return [turn.input for turn in state.turns] + [pin.claim for pin in state.pinned] + mesh


@pytest.mark.parametrize("view", VIEWS.values(), ids=VIEWS)
async def test_nothing_is_shown_under_another_view(store: HotStore, view: dict[str, Any]) -> None:
    """What was put in for one user and set of topics is empty for any other, in both directions."""
    other = scope_of(**view)
    for left, right in ((SCOPE, other), (other, SCOPE)):
        await _hold_everything(store, left, "left")
        assert _texts(await store.read(left)) == ["left"] * 3
        assert await store.read(right) == HotState()
        await store.unpin(right, "b")
        assert _texts(await store.read(left)) == ["left"] * 3
        await store.clear(right)
        assert await store.read(left) == HotState()


WRITES: dict[str, Callable[[HotStore, Scope], Awaitable[object]]] = {
    "append": lambda store, scope: store.append(scope, turn_of(scope, 9, "new"), 1),
    "restore": lambda store, scope: store.restore(scope, [turn_of(scope, 1, "new")], 8),
    "pin": lambda store, scope: store.pin(scope, belief_of(scope, "b", "new")),
    "put_mesh": lambda store, scope: store.put_mesh(scope, mesh_of("new")),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
async def test_write_under_another_view_empties_the_hash_first(
    store: HotStore, write: Callable[[HotStore, Scope], Awaitable[object]]
) -> None:
    """Only what was written since is there, for nobody else, and it evicts no foreign turn."""
    other = scope_of(user_id="ada", topics=("tyres",))
    await _hold_everything(store, SCOPE, "old")
    assert await write(store, other) in {None, ()}
    assert _texts(await store.read(other)) == ["new"]
    assert await store.read(SCOPE) == HotState()
    assert _texts(await store.read(SCOPE.for_graph().for_agent("strategist"))) == ["new"]


async def test_runtime_reads_any_view_and_keeps_it(store: HotStore) -> None:
    """It counts and clears for everybody; what it writes is not for a view of its own."""
    runtime = SCOPE.for_graph().for_agent("strategist")
    await store.append(runtime, turn_of(SCOPE, 1, "nobody's"), 8)
    assert _texts(await store.read(runtime)) == ["nobody's"]
    assert await store.read(SCOPE) == HotState()
    ada = scope_of(user_id="ada", topics=("tyres",))
    await store.put_mesh(ada, mesh_of("ada's"))
    await store.restore(runtime, [turn_of(SCOPE, 1, "restored")], 8)
    await store.append(runtime, turn_of(SCOPE, 2, "appended"), 8)
    for scope in (ada, runtime):
        assert _texts(await store.read(scope)) == ["restored", "appended", "ada's"]
    unseen = turn_of(SCOPE, 3, "another's").model_copy(update={"user_id": "adam"})
    await store.append(runtime, unseen, 8)
    assert _texts(await store.read(ada)) == ["restored", "appended", "ada's"]
    await store.clear(runtime)
    assert await store.read(ada) == HotState()


async def test_record_that_the_view_may_not_see_is_refused(store: HotStore) -> None:
    """Another user's, of topics that do not meet, or denied: nothing is written."""
    scope = scope_of(user_id="ada", topics=("fuel", "tyres"), denied=("fuel",))
    for unseen in ({"user_id": "adam"}, {"topics": ("wind",)}, {"topics": ("fuel", "tyres")}):
        turn = turn_of(scope, 2).model_copy(update=unseen)
        belief = belief_of(scope, "b").model_copy(update=unseen)
        for call in (
            store.append(scope, turn, 8),
            store.restore(scope, [turn_of(scope, 1), turn], 8),
            store.pin(scope, belief),
        ):
            with pytest.raises(UsageError):
                await call
    colleague = scope_of(agent_id="colleague")
    with pytest.raises(UsageError):
        await store.pin(scope, belief_of(colleague, "b").model_copy(update={"private": True}))
    assert await store.read(scope.for_graph().for_agent("strategist")) == HotState()


async def test_racing_views_never_mix(store: HotStore) -> None:
    """However writers of two views interleave, the hash is one view's alone in the end."""
    scopes = [scope_of(user_id=user) for user in ("ada", "adam")]
    turns = [(scope, seq) for seq in range(1, 33) for scope in scopes]
    await asyncio.gather(
        *(store.append(scope, turn_of(scope, seq, str(scope.user_id)), 8) for scope, seq in turns)
    )
    held = await store.read(SCOPE.for_graph().for_agent("strategist"))
    assert len(set(_texts(held))) == 1
    states = [await store.read(scope) for scope in scopes]
    assert sorted(state == held for state in states) == [False, True]


async def test_hash_without_a_view_belongs_to_nobody(redis_store: RedisHotStore) -> None:
    """What an older version left behind is not read, and goes with the first write."""
    client, key = redis_store._client, redis_store._key(SCOPE, "test")
    await client.hset(key, "turn:1", turn_of(SCOPE, 1).model_dump_json())
    assert await redis_store.read(SCOPE) == HotState()
    await redis_store.pin(SCOPE, belief_of(SCOPE, "b"))
    assert set(await client.hgetall(key)) == {b"pin:b", b"view"}


async def test_view_names_nobody(redis_store: RedisHotStore) -> None:
    """The digest is short and shows neither user nor topic."""
    scope = scope_of(user_id="ada", topics=("tyres",), denied=("fuel",))
    await redis_store.put_mesh(scope, mesh_of("m"))
    stored: Any = await redis_store._client.hgetall(redis_store._key(scope, "test"))
    assert len(stored[b"view"]) == 32
    assert not any(name in b"".join(stored.values()) for name in (b"ada", b"tyres", b"fuel"))
