"""The contract of ``FleetStore``."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from support.cold_backends import Cold
from support.cold_samples import HOSTILE_NAMES, LONE_SURROGATE, graph_of
from support.tier_samples import HOSTILE_TEXT, NOW, TWIN_SCOPES, scope_of

from tiers.errors import NotFound, UsageError
from tiers.records import UNRECORDED, AgentRecord, Budget, Departure

SCOPE = scope_of()
LATER = NOW + timedelta(hours=1)


def _agent(agent_id: str = "strategist", **fields: object) -> AgentRecord:
    known = {
        "tenant": "acme",
        "graph_id": "race",
        "topics": ("tyres",),
        "spawned_at": NOW,
        "seen_at": NOW,
    }
    return AgentRecord(id=agent_id, **{**known, **fields})


@pytest.fixture
async def fleet(cold: Cold) -> Cold:
    """A tier with one graph and no member."""
    await cold.graphs.create_graph(graph_of("race"))
    return cold


async def test_nobody_is_an_empty_answer(cold: Cold) -> None:
    """Neither the graph nor the agent has to be there to be asked about, or to leave."""
    assert await cold.fleet.agents(SCOPE) == ()
    assert await cold.fleet.leave(SCOPE, NOW) == Departure(left=False, remaining=0)
    assert await cold.fleet.beat(SCOPE, ["strategist"], NOW) == ()
    assert await cold.fleet.beat(SCOPE, [], NOW) == ()
    assert await cold.fleet.silent("acme", LATER, 10) == ()


async def test_member_comes_back_as_it_was(fleet: Cold) -> None:
    """Every field survives, in order of spawn; nobody spawns as gone."""
    member = _agent(
        role=HOSTILE_TEXT,
        user_id="team",
        denied_topics=("budget",),
        sources=("db", "telemetry"),
        denied_sources=("mail",),
        budget=Budget(tokens=10, model_calls=0),
        inject="start",
        model_window_tokens=128_000,
        seen_at=LATER,
    )
    gone = {"left_at": NOW, "released": True}
    assert await fleet.fleet.spawn(_agent("z").model_copy(update=gone))
    assert await fleet.fleet.spawn(member)
    assert await fleet.fleet.agents(SCOPE) == (_agent("z"), member)


@pytest.mark.parametrize("graph_id", ["race/2", "rac"])
async def test_spawn_needs_the_graph(fleet: Cold, graph_id: str) -> None:
    """No member without a graph of just that name."""
    with pytest.raises(NotFound, match=graph_id):
        await fleet.fleet.spawn(_agent(graph_id=graph_id))


async def test_spawn_again_reattaches(fleet: Cold) -> None:
    """What is new is taken over, the first spawn and the place stay, and nobody is gone."""
    assert await fleet.fleet.spawn(_agent("a"))
    assert await fleet.fleet.spawn(_agent("b"))
    scope = scope_of(agent_id="a")
    assert (await fleet.fleet.leave(scope, NOW, silent_since=NOW)).left
    again = _agent(
        "a",
        role="driver",
        user_id="team",
        topics=("pace",),
        denied_topics=("money",),
        sources=("db",),
        denied_sources=("mail",),
        budget=Budget(writes=3),
        inject="turn",
        model_window_tokens=8_192,
        spawned_at=LATER,
        seen_at=UNRECORDED,
    )
    assert not await fleet.fleet.spawn(again)
    first, second = await fleet.fleet.agents(SCOPE)
    assert first == again.model_copy(update={"spawned_at": NOW, "seen_at": LATER})
    assert second == _agent("b")


async def test_leave_is_idempotent_and_counts_who_remains(fleet: Cold) -> None:
    """Leaving twice keeps the first time, and an unknown agent changes nothing."""
    for name in ("a", "b"):
        await fleet.fleet.spawn(_agent(name))
    leaving = [("a", NOW), ("a", LATER), ("nobody", NOW), ("b", NOW), ("b", LATER)]
    departures = [await fleet.fleet.leave(scope_of(agent_id=name), at) for name, at in leaving]
    assert [(one.left, one.remaining) for one in departures] == [
        *((True, 1), (False, 1), (False, 1), (True, 0), (False, 0))
    ]
    assert {agent.left_at for agent in await fleet.fleet.agents(SCOPE)} == {NOW}
    with pytest.raises(UsageError, match="agent"):
        await fleet.fleet.leave(scope_of(agent_id=None), NOW)


async def test_racing_members_are_all_there_and_all_gone(fleet: Cold, processes: Cold) -> None:
    """Sixty come, then these leave, twice each, while thirty more come: no update is lost."""
    first = [f"agent-{number}" for number in range(60)]
    second = [f"late-{number}" for number in range(30)]
    assert all(await asyncio.gather(*(processes.fleet.spawn(_agent(name)) for name in first)))
    departures, arrivals = await asyncio.gather(
        asyncio.gather(
            *(processes.fleet.leave(scope_of(agent_id=name), NOW) for name in (*first, *first))
        ),
        asyncio.gather(*(processes.fleet.spawn(_agent(name)) for name in second)),
    )
    assert sum(one.left for one in departures) == 60
    assert all(arrivals)
    members = await processes.fleet.agents(SCOPE)
    assert sorted(one.id for one in members) == sorted([*first, *second])
    assert {one.id for one in members if one.left_at is None} == set(second)
    assert (await processes.fleet.leave(scope_of(agent_id="agent-0"), NOW)).remaining == 30


async def test_one_of_racing_spawns_of_one_id_is_new(fleet: Cold, processes: Cold) -> None:
    """The others re-attach; of racing departures one is a departure."""
    new = await asyncio.gather(*(processes.fleet.spawn(_agent("a")) for _ in range(10)))
    assert sum(new) == 1
    assert await processes.fleet.agents(SCOPE) == (_agent("a"),)
    left = await asyncio.gather(
        *(processes.fleet.leave(scope_of(agent_id="a"), NOW) for _ in range(10))
    )
    assert [one.left for one in left].count(True) == 1
    assert {one.remaining for one in left} == {0}


async def test_only_the_silent_are_released(fleet: Cold) -> None:
    """A later sign of life keeps a member; who is released is marked until it is back."""
    scope = scope_of(agent_id="a")
    for name in ("a", "b"):
        await fleet.fleet.spawn(_agent(name))
    heard = NOW + timedelta(minutes=5)
    assert await fleet.fleet.beat(SCOPE, ["a"], heard) == ("a",)
    kept = await fleet.fleet.leave(scope, LATER, silent_since=heard - timedelta(microseconds=1))
    assert kept == Departure(left=False, remaining=2)
    gone = await fleet.fleet.leave(scope, LATER, silent_since=heard)
    assert gone == Departure(left=True, remaining=1)
    first, second = await fleet.fleet.agents(SCOPE)
    assert (first.left_at, first.released, first.seen_at) == (LATER, True, heard)
    assert second == _agent("b")
    assert await fleet.fleet.beat(SCOPE, ["a", "b"], LATER) == ("b",), "a beat revives nobody"

    assert not await fleet.fleet.spawn(_agent("a"))
    first, _ = await fleet.fleet.agents(SCOPE)
    assert (first.left_at, first.released) == (None, False)
    await fleet.fleet.leave(scope, LATER)
    assert not (await fleet.fleet.agents(SCOPE))[0].released, "who leaves is not released"


async def test_beat_never_goes_back(fleet: Cold) -> None:
    """The latest sign of life counts, whichever is told first; only of those that are asked for."""
    for name in ("b", "a", "c"):
        await fleet.fleet.spawn(_agent(name))
    assert await fleet.fleet.beat(SCOPE, ["b", "a", "b", "nobody"], LATER) == ("a", "b")
    assert await fleet.fleet.beat(SCOPE, ["a"], NOW) == ("a",)
    assert await fleet.fleet.beat(scope_of(graph_id="race/2"), ["c"], LATER) == ()
    assert await fleet.fleet.beat(scope_of(tenant="acm"), ["c"], LATER) == ()
    seen = {agent.id: agent.seen_at for agent in await fleet.fleet.agents(SCOPE)}
    assert seen == {"a": LATER, "b": LATER, "c": NOW}


async def test_silent_are_named_the_longest_silent_first(fleet: Cold) -> None:
    """Of every graph of the tenant and of no other; whoever left is not silent."""
    await fleet.graphs.create_graph(graph_of("race/2"))
    await fleet.graphs.create_graph(graph_of("race", tenant="acm"))
    seen = [("race", "a", 3), ("race/2", "b", 1), ("race", "c", 2), ("race", "d", 4)]
    for graph_id, name, minute in (*seen, ("race", "gone", 0)):
        at = NOW + timedelta(minutes=minute)
        await fleet.fleet.spawn(_agent(name, graph_id=graph_id, seen_at=at))
    await fleet.fleet.spawn(_agent("theirs", tenant="acm"))
    await fleet.fleet.leave(scope_of(agent_id="gone"), NOW)
    since = NOW + timedelta(minutes=3)
    silent = await fleet.fleet.silent("acme", since, 10)
    assert [(one.graph_id, one.id) for one in silent] == [
        *(("race/2", "b"), ("race", "c"), ("race", "a"))
    ]
    assert await fleet.fleet.silent("acme", since, 2) == silent[:2]
    assert await fleet.fleet.silent("acme", NOW, 10) == ()
    with pytest.raises(UsageError, match="limit"):
        await fleet.fleet.silent("acme", since, 0)


@pytest.mark.parametrize(("one", "other"), TWIN_SCOPES)
async def test_names_that_look_alike_are_different(
    cold: Cold, one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    """Prefixes, separators and case do not mix members up; one leaves, the other stays."""
    for tenant, graph_id, agent_id in (one, other):
        if await cold.graphs.graph(tenant, graph_id) is None:
            await cold.graphs.create_graph(graph_of(graph_id, tenant=tenant))
        assert await cold.fleet.spawn(_agent(agent_id, tenant=tenant, graph_id=graph_id))
    assert (await cold.fleet.leave(scope_of(*one), NOW)).left
    left = {
        names: {agent.id: agent.left_at for agent in await cold.fleet.agents(scope_of(*names))}
        for names in (one, other)
    }
    assert (left[one][one[2]], left[other][other[2]]) == (NOW, None)
    assert await cold.fleet.beat(scope_of(*other), [one[2], other[2]], LATER) == (other[2],)


async def test_hostile_names_are_just_names(cold: Cold) -> None:
    """SQL, placeholders and odd characters in ids are stored and found like any other."""
    for name in HOSTILE_NAMES:
        await cold.graphs.create_graph(graph_of(name, tenant=name))
        of_name = {"tenant": name, "graph_id": name, "user_id": name, "topics": (name,)}
        await cold.fleet.spawn(_agent(name, **of_name))
        scope = scope_of(name, name, name)
        assert [agent.id for agent in await cold.fleet.agents(scope)] == [name]
        assert await cold.fleet.beat(scope, [name], LATER) == (name,)
        assert [agent.user_id for agent in await cold.fleet.silent(name, LATER, 2)] == [name]
        assert await cold.fleet.leave(scope, LATER) == Departure(left=True, remaining=0)


async def test_text_without_a_utf8_form_is_the_callers_mistake(fleet: Cold) -> None:
    """A lone surrogate is refused, and nothing is written."""
    with pytest.raises(UsageError, match="surrogates"):
        await fleet.fleet.spawn(_agent().model_copy(update={"role": LONE_SURROGATE}))
    assert await fleet.fleet.agents(SCOPE) == ()
