"""The contract of ``HotStore``, in this process, on fakeredis, and on a real Redis.

Rings, pins, a mesh result, and for whom a hash was filled: a view is a user with topics.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest
from support.held import held
from support.hot_backends import HOT_BACKENDS, REDIS_BACKENDS, HotBackend
from support.redis_server import RedisServer, running_redis
from support.tier_samples import HOSTILE_TEXT, TWIN_SCOPES, belief_of, mesh_of, scope_of, turn_of

from tiers.errors import TierUnavailable, UsageError
from tiers.hot import RedisHotStore
from tiers.ports import HotStore
from tiers.records import HotState, Scope, Turn

# The contract of ``HotStore``, in this process, on fakeredis, and on a real Redis.

SCOPE = scope_of()


server = held(running_redis, "module")
"""One real Redis for this file."""


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


def _seqs(turns: tuple[Turn, ...]) -> list[int]:
    return [turn.seq for turn in turns]


async def _filled(store: HotStore, scope: Scope, seqs: range, capacity: int = 8) -> None:
    for seq in seqs:
        await store.append(scope, turn_of(scope, seq), capacity)


async def test_unknown_agent_has_an_empty_state(store: HotStore) -> None:
    """Reading, unpinning or clearing what never was is not an error."""
    await store.unpin(SCOPE, "nothing")
    await store.clear(SCOPE)
    assert await store.read(SCOPE) == HotState()


async def test_ring_keeps_the_newest_turns_in_order(store: HotStore) -> None:
    """Each append beyond capacity returns exactly the oldest turn, whole."""
    await _filled(store, SCOPE, range(1, 9))
    assert await store.append(SCOPE, turn_of(SCOPE, 9), 8) == (turn_of(SCOPE, 1),)
    assert await store.append(SCOPE, turn_of(SCOPE, 10), 8) == (turn_of(SCOPE, 2),)
    assert (await store.read(SCOPE)).turns == tuple(turn_of(SCOPE, n) for n in range(3, 11))


async def test_turns_are_ordered_by_number_not_by_digits(store: HotStore) -> None:
    """Seq 10 comes after 9, and very large numbers keep their order."""
    numbers = [2, 10, 9, 2**53 - 2, 2**53 - 1, 100]
    for seq in numbers:
        await store.append(SCOPE, turn_of(SCOPE, seq), 8)
    assert _seqs((await store.read(SCOPE)).turns) == sorted(numbers)
    evicted = await store.append(SCOPE, turn_of(SCOPE, 11), 3)
    assert _seqs(evicted) == [2, 9, 10, 11]


async def test_late_turn_below_the_ring_is_returned_at_once(store: HotStore) -> None:
    """A turn older than everything in a full ring never enters it."""
    await _filled(store, SCOPE, range(10, 18))
    assert _seqs(await store.append(SCOPE, turn_of(SCOPE, 3), 8)) == [3]
    assert _seqs((await store.read(SCOPE)).turns) == list(range(10, 18))


async def test_late_turn_inside_the_ring_takes_its_place(store: HotStore) -> None:
    """A turn that comes out of order is put where its seq belongs."""
    for seq in (1, 2, 4, 5):
        await store.append(SCOPE, turn_of(SCOPE, seq), 4)
    assert _seqs(await store.append(SCOPE, turn_of(SCOPE, 3), 4)) == [1]
    assert _seqs((await store.read(SCOPE)).turns) == [2, 3, 4, 5]


async def test_same_seq_replaces_and_evicts_nothing(store: HotStore) -> None:
    """Repeating an append is harmless, and the later content stays."""
    await _filled(store, SCOPE, range(1, 9))
    assert await store.append(SCOPE, turn_of(SCOPE, 5, "again"), 8) == ()
    turns = (await store.read(SCOPE)).turns
    assert _seqs(turns) == list(range(1, 9))
    assert turns[4].input == "again"


async def test_smaller_capacity_returns_all_that_no_longer_fits(store: HotStore) -> None:
    """Shrinking the ring loses no turn silently: the surplus comes back, oldest first."""
    await _filled(store, SCOPE, range(1, 9))
    assert _seqs(await store.append(SCOPE, turn_of(SCOPE, 9), 2)) == [1, 2, 3, 4, 5, 6, 7]


@pytest.mark.parametrize("capacity", [0, -1, 257])
async def test_capacity_out_of_range_is_refused(store: HotStore, capacity: int) -> None:
    """A ring has 1 to 256 places; nothing is written otherwise."""
    with pytest.raises(UsageError, match="capacity"):
        await store.append(SCOPE, turn_of(SCOPE, 1), capacity)
    with pytest.raises(UsageError, match="capacity"):
        await store.restore(SCOPE, [turn_of(SCOPE, 1)], capacity)
    assert await store.read(SCOPE) == HotState()


async def test_largest_ring_holds_256_turns(store: HotStore) -> None:
    """The upper limit of the capacity works."""
    await store.restore(SCOPE, [turn_of(SCOPE, seq) for seq in range(1, 257)], 256)
    assert _seqs(await store.append(SCOPE, turn_of(SCOPE, 257), 256)) == [1]


async def test_restore_never_replaces_what_is_there(store: HotStore) -> None:
    """A turn in the ring is newer knowledge than its copy from cold."""
    await store.append(SCOPE, turn_of(SCOPE, 2, "live"), 8)
    await store.restore(SCOPE, [turn_of(SCOPE, seq, "cold") for seq in (1, 2, 3)], 8)
    assert [turn.input for turn in (await store.read(SCOPE)).turns] == ["cold", "live", "cold"]


async def test_restore_trims_to_the_capacity(store: HotStore) -> None:
    """Of more turns than fit, in any order, the newest are kept."""
    await store.append(SCOPE, turn_of(SCOPE, 20), 4)
    await store.restore(SCOPE, [turn_of(SCOPE, seq) for seq in (3, 19, 7, 18, 1, 17, 16)], 4)
    assert _seqs((await store.read(SCOPE)).turns) == [17, 18, 19, 20]


async def test_restore_of_nothing_is_a_no_op(store: HotStore) -> None:
    """An empty batch changes nothing, not even the size of the ring."""
    await _filled(store, SCOPE, range(1, 5))
    await store.restore(SCOPE, [], 2)
    assert _seqs((await store.read(SCOPE)).turns) == [1, 2, 3, 4]


async def test_restore_is_all_or_nothing(store: HotStore) -> None:
    """One turn of somebody else refuses the whole batch."""
    stranger = turn_of(scope_of(agent_id="stranger"), 2)
    with pytest.raises(UsageError):
        await store.restore(SCOPE, [turn_of(SCOPE, 1), stranger], 8)
    assert await store.read(SCOPE) == HotState()


@pytest.mark.parametrize(
    "other",
    [scope_of(tenant="acm"), scope_of(graph_id="other"), scope_of(agent_id="other")],
    ids=["tenant", "graph", "agent"],
)
async def test_turn_of_another_owner_is_refused(store: HotStore, other: Scope) -> None:
    """A ring takes turns of its own agent only."""
    with pytest.raises(UsageError):
        await store.append(SCOPE, turn_of(other, 1), 8)
    assert await store.read(SCOPE) == HotState()


async def test_turn_without_a_seq_is_refused(store: HotStore) -> None:
    """Seq 0 means that no store has numbered the turn yet."""
    with pytest.raises(UsageError):
        await store.append(SCOPE, turn_of(SCOPE, 0), 8)


async def test_belief_of_another_graph_is_refused(store: HotStore) -> None:
    """An agent may pin a colleague's belief, but none of another graph or tenant."""
    await store.pin(SCOPE, belief_of(scope_of(agent_id="colleague"), "b1"))
    for other in (scope_of(tenant="acm"), scope_of(graph_id="other")):
        with pytest.raises(UsageError):
            await store.pin(SCOPE, belief_of(other, "b2"))
    assert [pin.id for pin in (await store.read(SCOPE)).pinned] == ["b1"]


async def test_scope_without_agent_is_refused_everywhere(store: HotStore) -> None:
    """The hot tier is per agent; the runtime's own scope names none."""
    nobody = scope_of(agent_id=None)
    for call in _every_call(store, nobody):
        with pytest.raises(UsageError):
            await call


async def test_pins_are_kept_replaced_and_removed(store: HotStore) -> None:
    """Pinning again replaces, unpinning removes one and only one."""
    await store.pin(SCOPE, belief_of(SCOPE, "b2"))
    await store.pin(SCOPE, belief_of(SCOPE, "b1"))
    await store.pin(SCOPE, belief_of(SCOPE, "b2", claim="Start on softs."))
    pinned = (await store.read(SCOPE)).pinned
    assert [(pin.id, pin.claim) for pin in pinned] == [
        ("b1", "Start on mediums."),
        ("b2", "Start on softs."),
    ]
    await store.unpin(SCOPE, "b1")
    await store.unpin(SCOPE, "b1")
    assert [pin.id for pin in (await store.read(SCOPE)).pinned] == ["b2"]


async def test_belief_ids_cannot_pose_as_other_fields(store: HotStore) -> None:
    """An id that looks like a field of the ring stays a belief."""
    ids = ["mesh", "turn:1", "pin:", "pin:mesh", "*", "\x00", "ü" * 200]
    for belief_id in ids:
        await store.pin(SCOPE, belief_of(SCOPE, belief_id))
    await store.append(SCOPE, turn_of(SCOPE, 1), 1)
    assert _seqs(await store.append(SCOPE, turn_of(SCOPE, 2), 1)) == [1]
    state = await store.read(SCOPE)
    assert {pin.id for pin in state.pinned} == set(ids)
    assert state.mesh is None
    for belief_id in ids:
        await store.unpin(SCOPE, belief_id)
    assert (await store.read(SCOPE)).pinned == ()


async def test_pins_have_a_limit(store: HotStore) -> None:
    """One pin too many is refused; replacing one that is there is not."""
    await asyncio.gather(*(store.pin(SCOPE, belief_of(SCOPE, f"b{n}")) for n in range(1024)))
    with pytest.raises(UsageError, match="belief"):
        await store.pin(SCOPE, belief_of(SCOPE, "one too many"))
    await store.pin(SCOPE, belief_of(SCOPE, "b7", claim="replaced"))
    assert len((await store.read(SCOPE)).pinned) == 1024


async def test_latest_mesh_result_wins(store: HotStore) -> None:
    """Only one mesh result is kept."""
    await store.put_mesh(SCOPE, mesh_of("first"))
    await store.put_mesh(SCOPE, mesh_of("second"))
    assert (await store.read(SCOPE)).mesh == mesh_of("second")


async def test_clear_forgets_everything_of_one_agent(store: HotStore) -> None:
    """Ring, pins and mesh go together, and the ring works again afterwards."""
    colleague = scope_of(agent_id="colleague")
    for scope in (SCOPE, colleague):
        await store.append(scope, turn_of(scope, 1), 8)
        await store.pin(scope, belief_of(scope, "b"))
        await store.put_mesh(scope, mesh_of("m"))
    await store.clear(SCOPE)
    assert await store.read(SCOPE) == HotState()
    assert len((await store.read(colleague)).turns) == 1
    assert await store.append(SCOPE, turn_of(SCOPE, 1), 8) == ()


@pytest.mark.parametrize("pair", TWIN_SCOPES, ids=range(len(TWIN_SCOPES)))
async def test_scopes_do_not_leak(store: HotStore, pair: tuple[Any, Any]) -> None:
    """Names that share prefixes, separators or encodings never share state."""
    left, right = (scope_of(*names) for names in pair)
    await store.append(left, turn_of(left, 1, "left"), 8)
    await store.pin(left, belief_of(left, "left"))
    await store.put_mesh(left, mesh_of("left"))
    assert await store.read(right) == HotState()
    await store.append(right, turn_of(right, 1, "right"), 8)
    await store.clear(right)
    assert [turn.input for turn in (await store.read(left)).turns] == ["left"]


async def test_content_comes_back_as_it_was(store: HotStore) -> None:
    """Control characters, emoji and very long texts survive."""
    turn = turn_of(SCOPE, 1, HOSTILE_TEXT)
    long_turn = turn_of(SCOPE, 2, "x" * 200_000)
    await store.append(SCOPE, turn, 8)
    await store.append(SCOPE, long_turn, 8)
    await store.put_mesh(SCOPE, mesh_of(HOSTILE_TEXT))
    state = await store.read(SCOPE)
    assert state.turns == (turn, long_turn)
    assert state.mesh == mesh_of(HOSTILE_TEXT)


async def test_lone_surrogates_are_refused(store: HotStore) -> None:
    """Text that no encoding can carry is the caller's mistake, not the server's."""
    broken = belief_of(SCOPE, "b\ud800")
    with pytest.raises(UsageError):
        await store.pin(SCOPE, broken)
    with pytest.raises(UsageError):
        await store.unpin(SCOPE, broken.id)
    with pytest.raises(UsageError):
        await store.put_mesh(SCOPE, mesh_of("m").model_copy(update={"text": "\ud800"}))
    with pytest.raises(UsageError):
        await store.read(SCOPE.for_agent("\ud800"))
    assert await store.read(SCOPE) == HotState()


async def test_what_is_kept_changes_for_nobody_outside(store: HotStore) -> None:
    """Whoever put a mesh result in, or read it, may change its rows: they are copies."""
    result = mesh_of("m").model_copy(update={"rows": ({"laps": [18]},)})
    await store.put_mesh(SCOPE, result)
    result.rows[0]["laps"] = "gone"
    read = (await store.read(SCOPE)).mesh
    assert read is not None
    assert read.rows == ({"laps": [18]},)
    read.rows[0].clear()
    again = (await store.read(SCOPE)).mesh
    assert again is not None
    assert again.rows == ({"laps": [18]},)


async def test_racing_appends_lose_no_turn(store: HotStore) -> None:
    """Of N racing writers every turn ends in the ring or is returned to exactly one of them."""
    seqs = list(range(1, 65))
    order = sorted(seqs, key=lambda seq: (seq * 37) % 65)
    answers = await asyncio.gather(*(store.append(SCOPE, turn_of(SCOPE, seq), 8) for seq in order))
    evicted = [turn.seq for answer in answers for turn in answer]
    kept = _seqs((await store.read(SCOPE)).turns)
    assert kept == seqs[-8:]
    assert sorted(evicted + kept) == seqs


async def test_racing_restore_and_append_agree(store: HotStore) -> None:
    """A restore that races live appends never brings an old copy over a live turn."""
    live = [store.append(SCOPE, turn_of(SCOPE, seq, "live"), 8) for seq in range(5, 13)]
    cold = [
        store.restore(SCOPE, [turn_of(SCOPE, seq, "cold") for seq in range(1, 5)], 8)
        for _ in range(8)
    ]
    await asyncio.gather(*(call for pair in zip(live, cold, strict=True) for call in pair))
    turns = (await store.read(SCOPE)).turns
    assert [(turn.seq, turn.input) for turn in turns] == [(seq, "live") for seq in range(5, 13)]


@pytest.mark.parametrize("backend", HOT_BACKENDS, ids=lambda backend: backend.name)
async def test_opened_and_closed_twice(backend: HotBackend, request: pytest.FixtureRequest) -> None:
    """Opening again works, and a closed store refuses every call."""
    server = _server_for(backend, request)
    for _ in range(2):
        async with backend.opened(server) as opened:
            await opened.append(SCOPE, turn_of(SCOPE, 1), 8)
        for call in _every_call(opened, SCOPE):
            with pytest.raises(TierUnavailable):
                await call


def _every_call(store: HotStore, scope: Scope) -> list[Any]:
    return [
        store.append(scope, turn_of(scope, 1), 8),
        store.read(scope),
        store.restore(scope, [turn_of(scope, 1)], 8),
        store.pin(scope, belief_of(scope, "b")),
        store.unpin(scope, "b"),
        store.put_mesh(scope, mesh_of("m")),
        store.clear(scope),
    ]


async def test_raw_hash_holds_what_was_written(redis_store: RedisHotStore) -> None:
    """One hash per agent with the documented key and fields, and a time to live."""
    scope = scope_of("ac me", "r/1", "a}b")
    await redis_store.append(scope, turn_of(scope, 7), 8)
    await redis_store.pin(scope, belief_of(scope, "b1"))
    await redis_store.put_mesh(scope, mesh_of("m"))
    client = redis_store._client
    keys = [key async for key in client.scan_iter(match=f"{redis_store._prefix}:*")]
    assert keys == [f"{redis_store._prefix}:{{ac%20me/r%2F1/a%7Db}}:hot".encode()]
    stored = await client.hgetall(keys[0])
    assert set(stored) == {b"turn:7", b"pin:b1", b"mesh", b"view"}
    assert Turn.model_validate_json(stored[b"turn:7"]) == turn_of(scope, 7)
    assert 0 < await client.pttl(keys[0]) <= 7 * 86_400_000


async def test_every_write_prolongs_the_time_to_live(redis_store: RedisHotStore) -> None:
    """The broom sweeps only agents that nobody writes to."""
    client, key = redis_store._client, redis_store._key(SCOPE, "test")
    await redis_store.append(SCOPE, turn_of(SCOPE, 1), 8)
    for write in (
        redis_store.append(SCOPE, turn_of(SCOPE, 2), 8),
        redis_store.restore(SCOPE, [turn_of(SCOPE, 1)], 8),
        redis_store.pin(SCOPE, belief_of(SCOPE, "b")),
        redis_store.put_mesh(SCOPE, mesh_of("m")),
    ):
        await client.pexpire(key, 60_000)
        await write
        assert await client.pttl(key) > 6 * 86_400_000


async def test_history_leaves_nothing_behind(redis_store: RedisHotStore) -> None:
    """After many turns the hash is the ring and its view: cost does not grow with history."""
    for seq in range(1, 301):
        await redis_store.append(SCOPE, turn_of(SCOPE, seq), 4)
    assert await redis_store._client.hlen(redis_store._key(SCOPE, "test")) == 4 + 1


async def test_empty_agent_leaves_no_key(redis_store: RedisHotStore) -> None:
    """Removing the last field, or clearing, removes the key."""
    key = redis_store._key(SCOPE, "test")
    await redis_store.pin(SCOPE, belief_of(SCOPE, "b"))
    await redis_store.unpin(SCOPE, "b")
    assert not await redis_store._client.exists(key)
    await redis_store.restore(SCOPE, [], 8)
    assert not await redis_store._client.exists(key)


# A hash of the hot tier belongs to one view: the user and the topics of who filled it.

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
