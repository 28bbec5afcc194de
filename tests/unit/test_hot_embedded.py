"""The hot store inside this process: how long it keeps what, for how many, and for nobody else."""

from __future__ import annotations

from typing import Any

import pytest
from support.runtime import running
from support.service import Ticking
from support.tier_samples import TWIN_SCOPES, belief_of, mesh_of, scope_of, turn_of

from tiers.errors import TierRejected, UsageError
from tiers.hot import EmbeddedHotStore, embedded
from tiers.hot.rules import TTL_SECONDS
from tiers.records import HotState, Scope

SCOPE = scope_of()


def _calls(store: EmbeddedHotStore, scope: Scope) -> dict[str, Any]:
    return {
        "append": lambda: store.append(scope, turn_of(scope, 2), 8),
        "restore": lambda: store.restore(scope, [turn_of(scope, 1)], 8),
        "pin": lambda: store.pin(scope, belief_of(scope, "b")),
        "put_mesh": lambda: store.put_mesh(scope, mesh_of("m")),
        "read": lambda: store.read(scope),
        "unpin": lambda: store.unpin(scope, "other"),
    }


@pytest.mark.parametrize("name", ["append", "restore", "pin", "put_mesh"])
async def test_every_write_prolongs_the_time_to_live(name: str) -> None:
    """The broom sweeps only agents that nobody writes to."""
    clock = Ticking()
    store = EmbeddedHotStore(clock=clock)
    await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    clock.now += TTL_SECONDS - 1
    await _calls(store, SCOPE)[name]()
    clock.now += TTL_SECONDS - 1
    assert (await store.read(SCOPE)).turns[0].seq == 1
    clock.now += 1
    assert await store.read(SCOPE) == HotState()


@pytest.mark.parametrize("name", ["read", "unpin"])
async def test_what_writes_nothing_prolongs_nothing(name: str) -> None:
    """Reading and unpinning leave the end where it was."""
    clock = Ticking()
    store = EmbeddedHotStore(clock=clock)
    await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    clock.now += TTL_SECONDS - 1
    await _calls(store, SCOPE)[name]()
    clock.now += 1
    assert await store.read(SCOPE) == HotState()
    assert await store.append(SCOPE, turn_of(SCOPE, 2), 1) == ()


async def test_who_is_never_asked_for_again_is_swept_away_too() -> None:
    """Any write takes out those whose time is over, so that nothing is kept for ever."""
    clock = Ticking()
    store = EmbeddedHotStore(ttl_seconds=60, clock=clock)
    for number in range(100):
        scope = scope_of(agent_id=f"agent {number}")
        await store.append(scope, turn_of(scope, 1), 8)
        clock.now += 1
    assert len(store._agents) == 60


async def test_beyond_the_most_agents_the_longest_unwritten_goes() -> None:
    """A write keeps an agent, reading does not."""
    store = EmbeddedHotStore(agents_max=3)
    scopes = [scope_of(agent_id=name) for name in "abcd"]
    for scope in scopes[:3]:
        await store.append(scope, turn_of(scope, 1), 8)
    await store.put_mesh(scopes[0], mesh_of("m"))
    await store.read(scopes[1])
    await store.pin(scopes[3], belief_of(scopes[3], "b"))
    kept = [bool((await store.read(scope)) != HotState()) for scope in scopes]
    assert kept == [True, False, True, True]


async def test_nothing_is_left_of_an_agent_without_state() -> None:
    """Reading makes nothing, and clearing or unpinning the last belief removes what was there."""
    store = EmbeddedHotStore()
    await store.read(SCOPE)
    await store.restore(SCOPE, [], 8)
    await store.pin(SCOPE, belief_of(SCOPE, "b"))
    assert len(store._agents) == 1
    await store.unpin(SCOPE, "b")
    assert not store._agents
    await store.put_mesh(SCOPE, mesh_of("m"))
    await store.clear(SCOPE)
    assert not store._agents


@pytest.mark.parametrize("pair", TWIN_SCOPES, ids=range(len(TWIN_SCOPES)))
async def test_store_that_mixes_up_places_touches_nothing(
    pair: tuple[Any, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Were places made wrong, for a name that looks alike, every operation would be refused."""
    left, right = (scope_of(*names) for names in pair)
    store = EmbeddedHotStore()
    await store.append(right, turn_of(right, 1), 8)
    before = await store.read(right)
    (wrong,) = store._agents
    monkeypatch.setattr(embedded, "place_of", lambda _scope: wrong)
    for call in (*_calls(store, left).values(), lambda: store.clear(left)):
        with pytest.raises(TierRejected, match="scope's agent"):
            await call()
    assert await store.read(right) == before


@pytest.mark.parametrize("wrong", [{"ttl_seconds": 0}, {"agents_max": 0}], ids=str)
def test_wrong_bounds_are_refused(wrong: dict[str, int]) -> None:
    """A store that could keep nothing is refused at construction."""
    with pytest.raises(UsageError):
        EmbeddedHotStore(**wrong)


async def test_closing_forgets_everything() -> None:
    """What is kept ends with the store."""
    async with EmbeddedHotStore() as store:
        await store.append(SCOPE, turn_of(SCOPE, 1), 8)
    await store.aclose()
    assert not store._agents


async def test_a_ring_that_was_forgotten_is_filled_again_from_cold(tmp_path: Any) -> None:
    """Losing what is kept loses nothing: the next context has the last turns all the same."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("race")
        agent = await graph.spawn_agent("pit")
        for number in range(3):
            await (await agent.turn(f"lap {number}?")).reply(f"lap {number}.")
        hot: Any = ezra._runtime.hot
        hot._agents.clear()
        turn = await agent.turn("and now?")
        assert [slot.kind for slot in turn.slots].count("hot") == 3
        ((kept),) = hot._agents.values()
        assert sorted(kept.turns) == [1, 2, 3]
