"""The contracts of ``FleetStore`` and ``UsageStore``."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from support.cold_backends import Cold
from support.cold_samples import HOSTILE_NAMES, LONE_SURROGATE, fact_by, graph_of, rule_by
from support.tier_samples import HOSTILE_TEXT, NOW, TWIN_SCOPES, scope_of

from tiers.errors import BudgetExceeded, NotFound, UsageError
from tiers.records import UNRECORDED, AgentRecord, Budget, Departure, Scope, Usage
from tiers.turn_io import Charge

# The contract of ``FleetStore``.

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


async def test_spawn_needs_the_graph(fleet: Cold, subtests: pytest.Subtests) -> None:
    """No member without a graph of just that name."""
    for graph_id in ("race/2", "rac"):
        with subtests.test(graph_id), pytest.raises(NotFound, match=graph_id):
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
    stays = {"spawned_at": NOW, "seen_at": LATER, "serves_since": LATER}
    assert first == again.model_copy(update=stays)
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


# The contract of ``UsageStore``.

ANN, BEN, GRAPH = (scope_of(agent_id=name) for name in ("ann", "ben", None))
FREE = Budget()
SOME = Usage(tokens=3, model_calls=2, writes=1)


async def _counts(cold: Cold) -> list[Usage]:
    return [await cold.usage.usage(scope) for scope in (ANN, BEN, GRAPH)]


async def test_unused_is_nothing(cold: Cold) -> None:
    """Whoever has used nothing has counts of 0, and is in no list."""
    assert await _counts(cold) == [Usage()] * 3
    assert await cold.usage.usage_by_agent(GRAPH) == {}
    await cold.usage.refund(ANN, SOME)
    await cold.usage.charge(ANN, Usage(), Budget(tokens=0), Budget(tokens=0))
    assert await cold.usage.usage_by_agent(GRAPH) == {}


async def test_charge_counts_for_the_agent_and_its_graph(cold: Cold) -> None:
    """What nobody in particular has used is the graph's alone."""
    await cold.usage.charge(ANN, SOME, FREE, FREE)
    await cold.usage.charge(ANN, Usage(tokens=1), FREE, FREE)
    await cold.usage.charge(BEN, SOME, FREE, FREE)
    await cold.usage.charge(GRAPH, Usage(writes=5), Budget(writes=0), FREE)
    of_ann = Usage(tokens=4, model_calls=2, writes=1)
    whole = Usage(tokens=7, model_calls=4, writes=7)
    assert await _counts(cold) == [of_ann, SOME, whole]
    assert await cold.usage.usage_by_agent(GRAPH) == {"ann": of_ann, "ben": SOME}


@pytest.mark.parametrize(
    ("scope", "of_agent", "of_graph", "told"),
    [
        (ANN, Budget(tokens=7), FREE, ("agent 'ann'", "tokens", 6, 2, 7)),
        (ANN, FREE, Budget(writes=4), ("session graph 'race'", "writes", 4, 1, 4)),
        (ANN, Budget(writes=2), Budget(writes=4), ("agent 'ann'", "writes", 2, 1, 2)),
        (GRAPH, Budget(tokens=0), Budget(tokens=12), ("session graph 'race'", "tokens", 12, 2, 12)),
        (BEN, Budget(writes=0), FREE, ("agent 'ben'", "writes", 2, 1, 0)),
    ],
    ids=["agent", "graph", "both", "graph alone", "lowered"],
)
async def test_charge_above_a_limit_counts_nothing(
    cold: Cold,
    scope: Scope,
    of_agent: Budget,
    of_graph: Budget,
    told: tuple[str, str, int, int, int],
) -> None:
    """Neither for the agent nor for the graph; the error says whose limit, and all of the sum."""
    for _ in range(2):
        await cold.usage.charge(ANN, SOME, FREE, FREE)
        await cold.usage.charge(BEN, SOME, FREE, FREE)
    before = await _counts(cold)
    with pytest.raises(BudgetExceeded) as refusal:
        await cold.usage.charge(scope, Usage(tokens=2, writes=1), of_agent, of_graph)
    error = refusal.value
    assert (error.whose, error.what, error.used, error.asked, error.limit) == told
    assert await _counts(cold) == before
    # What is not asked for is not looked at, and up to its limit a count may come.
    room = Budget(tokens=0, model_calls=100)
    await cold.usage.charge(scope, Usage(model_calls=1), room, Budget(model_calls=9, writes=0))
    assert (await cold.usage.usage(GRAPH)).model_calls == 9
    # What is needed besides must be left, and is not counted.
    before = await _counts(cold)
    writes = (await cold.usage.usage(GRAPH)).writes
    needing = (scope, Usage(model_calls=1), Budget(), Budget(writes=writes))
    with pytest.raises(BudgetExceeded, match="writes"):
        await cold.usage.charge(*needing, Usage(writes=1))
    assert await _counts(cold) == before
    await cold.usage.charge(*needing)


async def test_refund_takes_back_and_never_below_nothing(cold: Cold) -> None:
    """For the agent and its graph; what comes back to nothing is used by nobody."""
    await cold.usage.charge(ANN, SOME, FREE, FREE)
    await cold.usage.charge(BEN, Usage(tokens=10), FREE, FREE)
    await cold.usage.refund(ANN, Usage(tokens=1))
    assert await _counts(cold) == [
        Usage(tokens=2, model_calls=2, writes=1),
        Usage(tokens=10),
        Usage(tokens=12, model_calls=2, writes=1),
    ]
    await cold.usage.refund(ANN, Usage(tokens=5, model_calls=5, writes=5))
    assert await _counts(cold) == [Usage(), Usage(tokens=10), Usage(tokens=7)]
    assert await cold.usage.usage_by_agent(GRAPH) == {"ben": Usage(tokens=10)}


async def test_racing_charges_never_pass_a_limit(processes: Cold) -> None:
    """Sixty charges of three agents and room for 31: so many are counted, each twice or never."""
    limit = Budget(writes=31)
    scopes = [scope_of(agent_id=f"agent-{number % 3}") for number in range(60)]
    answers = await asyncio.gather(
        *(
            processes.usage.charge(scope, Usage(writes=1), Budget(writes=14), limit)
            for scope in scopes
        ),
        return_exceptions=True,
    )
    assert sum(answer is None for answer in answers) == 31
    assert sum(isinstance(answer, BudgetExceeded) for answer in answers) == 29
    charged = [scope.agent_id for scope, one in zip(scopes, answers, strict=True) if one is None]
    by_agent = await processes.usage.usage_by_agent(GRAPH)
    assert {name: used.writes for name, used in by_agent.items()} == {
        name: charged.count(name) for name in set(charged)
    }
    assert max(used.writes for used in by_agent.values()) <= 14
    assert (await processes.usage.usage(GRAPH)).writes == 31


@pytest.mark.parametrize(("one", "other"), TWIN_SCOPES)
async def test_names_that_look_alike_are_counted_apart(
    cold: Cold, one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    """Prefixes, separators and case do not mix counts up."""
    await cold.usage.charge(scope_of(*one), SOME, FREE, FREE)
    assert await cold.usage.usage(scope_of(*other)) == Usage()
    of_other = Usage() if one[:2] != other[:2] else SOME
    assert await cold.usage.usage(scope_of(*other[:2], agent_id=None)) == of_other
    await cold.usage.refund(scope_of(*other), SOME)
    assert await cold.usage.usage(scope_of(*one)) == SOME


async def test_hostile_names_are_counted(cold: Cold) -> None:
    """SQL, placeholders and odd characters in ids are counted like any other."""
    for name in HOSTILE_NAMES:
        scope = scope_of(name, name, name)
        await cold.usage.charge(scope, SOME, FREE, FREE)
        assert await cold.usage.usage_by_agent(scope) == {name: SOME}


async def test_a_fact_and_a_rule_are_charged_once_in_their_own_step(cold: Cold) -> None:
    """A repetition is free, also at the limit; a new one beyond it leaves nothing behind."""
    charge = Charge(Usage(writes=1), of_graph=Budget(writes=2))
    fact, rule = fact_by(ANN, "It rains."), rule_by(ANN, "rain")
    for is_first in (True, False):
        assert (await cold.semantic.put_fact(ANN, fact, (), charge))[1] is is_first
        assert (await cold.procedural.put_rule(ANN, rule, (), charge))[1] is is_first
    other, another = fact_by(ANN, "It snows."), rule_by(ANN, "snow")
    with pytest.raises(BudgetExceeded):
        await cold.semantic.put_fact(ANN, other, (), charge)
    with pytest.raises(BudgetExceeded):
        await cold.procedural.put_rule(ANN, another, (), charge)
    assert await cold.semantic.facts(ANN, [other.id]) == ()
    assert await cold.playbooks.rules(ANN, [another.id]) == ()
    assert await cold.usage.usage(ANN) == await cold.usage.usage(GRAPH) == Usage(writes=2)
