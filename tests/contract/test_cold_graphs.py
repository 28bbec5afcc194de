"""The contract of ``GraphStore``."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from support.cold_backends import Cold
from support.cold_samples import HOSTILE_NAMES, LONE_SURROGATE, graph_of
from support.tier_samples import NOW, TWIN_SCOPES, scope_of

from tiers.errors import Conflict, NotFound, UsageError
from tiers.records import AgentRecord, GraphState

SCOPE = scope_of()


def _agent(agent_id: str = "strategist", **fields: object) -> AgentRecord:
    known = {"tenant": "acme", "graph_id": "race", "topics": ("tyres",), "spawned_at": NOW}
    return AgentRecord(id=agent_id, **{**known, **fields})


async def test_unknown_graph_is_none_and_has_no_lineage(cold: Cold) -> None:
    """What is not there is a value, not an error."""
    assert await cold.graphs.graph("acme", "race") is None
    assert await cold.graphs.graphs("acme") == ()
    assert await cold.graphs.lineage("acme", "race") == ()
    assert await cold.graphs.agents(SCOPE) == ()
    assert await cold.graphs.leave(SCOPE, NOW) == 0


async def test_graph_comes_back_as_it_was(cold: Cold) -> None:
    """Every field survives the store."""
    await cold.graphs.create_graph(graph_of("monaco"))
    graph = graph_of("imola", "monaco").model_copy(update={"merge_strategy": "highest_trust"})
    await cold.graphs.create_graph(graph)
    assert await cold.graphs.graph("acme", "imola") == graph


async def test_graphs_are_listed_oldest_first(cold: Cold) -> None:
    """Order is by creation time, not by the order of writing."""
    for name, minute in (("late", 9), ("early", 1), ("middle", 5)):
        await cold.graphs.create_graph(graph_of(name, minute=minute))
    assert [graph.id for graph in await cold.graphs.graphs("acme")] == ["early", "middle", "late"]


async def test_second_graph_of_one_id_is_a_conflict(cold: Cold) -> None:
    """An id names one graph of a tenant for good; another tenant may use it too."""
    await cold.graphs.create_graph(graph_of("race"))
    with pytest.raises(Conflict, match="race"):
        await cold.graphs.create_graph(graph_of("race", minute=1))
    await cold.graphs.create_graph(graph_of("race", tenant="acm"))
    assert len(await cold.graphs.graphs("acme")) == 1


@pytest.mark.parametrize("parent", ["unknown", "race", "theirs"])
async def test_parent_that_does_not_exist_is_refused(cold: Cold, parent: str) -> None:
    """Unknown, itself, or another tenant's: nothing is stored."""
    await cold.graphs.create_graph(graph_of("theirs", tenant="acm"))
    with pytest.raises(NotFound, match=parent):
        await cold.graphs.create_graph(graph_of("race", parent))
    assert await cold.graphs.graph("acme", "race") is None


async def test_one_of_racing_creators_wins(cold: Cold) -> None:
    """Twenty racing creations make one graph and nineteen conflicts."""
    answers = await asyncio.gather(
        *(cold.graphs.create_graph(graph_of("race", minute=n)) for n in range(20)),
        return_exceptions=True,
    )
    assert sum(answer is None for answer in answers) == 1
    assert sum(isinstance(answer, Conflict) for answer in answers) == 19


async def test_lineage_is_nearest_first_and_names_each_once(cold: Cold) -> None:
    """Distance decides, then list order; a shared ancestor counts where it is nearest."""
    for graph in (
        graph_of("root"),
        graph_of("left", "root"),
        graph_of("right", "root"),
        graph_of("child", "right", "left"),
        graph_of("grandchild", "child", "root"),
    ):
        await cold.graphs.create_graph(graph)
    assert await cold.graphs.lineage("acme", "child") == ("right", "left", "root")
    assert await cold.graphs.lineage("acme", "grandchild") == ("child", "root", "right", "left")
    assert await cold.graphs.lineage("acme", "root") == ()


async def test_long_lineage_is_whole_and_bounded(cold: Cold) -> None:
    """A thousand ancestors are walked; a graph that would have more is refused."""
    await cold.graphs.create_graph(graph_of("g0"))
    for number in range(1, 1_001):
        await cold.graphs.create_graph(graph_of(f"g{number}", f"g{number - 1}"))
    assert len(await cold.graphs.lineage("acme", "g1000")) == 1_000
    with pytest.raises(UsageError, match="1000 ancestors"):
        await cold.graphs.create_graph(graph_of("g1001", "g1000"))
    assert await cold.graphs.graph("acme", "g1001") is None


async def test_state_moves_and_closing_is_dated(cold: Cold) -> None:
    """``closed_at`` is set once on closing, kept in the archive, cleared on opening again."""
    await cold.graphs.create_graph(graph_of("race"))
    later = NOW + timedelta(hours=1)
    moves = (
        (GraphState.CLOSED, NOW, NOW),
        (GraphState.CLOSED, later, NOW),
        (GraphState.ARCHIVED, later, NOW),
        (GraphState.ACTIVE, later, None),
        (GraphState.CLOSED, later, later),
    )
    for state, at, closed_at in moves:
        await cold.graphs.set_state(SCOPE, state, at)
        graph = await cold.graphs.graph("acme", "race")
        assert graph is not None
        assert (graph.state, graph.closed_at) == (state, closed_at)


async def test_state_of_an_unknown_graph_is_not_found(cold: Cold) -> None:
    """Acting on one named thing needs the thing."""
    with pytest.raises(NotFound, match="race"):
        await cold.graphs.set_state(SCOPE, GraphState.CLOSED, NOW)


async def test_spawn_needs_the_graph(cold: Cold) -> None:
    """No member without a graph."""
    with pytest.raises(NotFound, match="race"):
        await cold.graphs.spawn(_agent())


async def test_spawn_again_reattaches(cold: Cold) -> None:
    """Role, user, topics and sources are the new ones, the first spawn and the place stay."""
    await cold.graphs.create_graph(graph_of("race"))
    assert await cold.graphs.spawn(_agent("a"))
    assert await cold.graphs.spawn(_agent("b"))
    assert await cold.graphs.leave(scope_of(agent_id="a"), NOW) == 1
    again = _agent(
        "a",
        role="driver",
        user_id="team",
        topics=("pace",),
        sources=("db",),
        spawned_at=NOW + timedelta(days=1),
    )
    assert not await cold.graphs.spawn(again)
    first, second = await cold.graphs.agents(SCOPE)
    assert first == again.model_copy(update={"spawned_at": NOW})
    assert second == _agent("b")


async def test_leave_is_idempotent_and_counts_who_remains(cold: Cold) -> None:
    """Leaving twice keeps the first time, and an unknown agent changes nothing."""
    await cold.graphs.create_graph(graph_of("race"))
    for name in ("a", "b"):
        await cold.graphs.spawn(_agent(name))
    assert await cold.graphs.leave(scope_of(agent_id="a"), NOW) == 1
    assert await cold.graphs.leave(scope_of(agent_id="a"), NOW + timedelta(days=1)) == 1
    assert await cold.graphs.leave(scope_of(agent_id="nobody"), NOW) == 1
    assert await cold.graphs.leave(scope_of(agent_id="b"), NOW) == 0
    assert {agent.left_at for agent in await cold.graphs.agents(SCOPE)} == {NOW}
    with pytest.raises(UsageError, match="agent"):
        await cold.graphs.leave(scope_of(agent_id=None), NOW)


async def test_racing_spawns_lose_nobody(cold: Cold) -> None:
    """Fifty concurrent spawns and leaves of different agents are all there."""
    await cold.graphs.create_graph(graph_of("race"))
    names = [f"agent-{number}" for number in range(50)]
    new = await asyncio.gather(*(cold.graphs.spawn(_agent(name)) for name in names))
    assert all(new)
    left = await asyncio.gather(
        *(cold.graphs.leave(scope_of(agent_id=name), NOW) for name in names)
    )
    assert sorted(left) == list(range(50))
    assert {agent.id for agent in await cold.graphs.agents(SCOPE)} == set(names)


@pytest.mark.parametrize(("one", "other"), TWIN_SCOPES)
async def test_names_that_look_alike_are_different(
    cold: Cold, one: tuple[str, str, str], other: tuple[str, str, str]
) -> None:
    """Prefixes, separators and case do not mix graphs or members up."""
    for tenant, graph_id, agent_id in (one, other):
        if await cold.graphs.graph(tenant, graph_id) is None:
            await cold.graphs.create_graph(graph_of(graph_id, tenant=tenant))
        spawned = _agent(agent_id, tenant=tenant, graph_id=graph_id)
        assert await cold.graphs.spawn(spawned)
    members = await cold.graphs.agents(scope_of(*one))
    expected = {one[2], other[2]} if one[:2] == other[:2] else {one[2]}
    assert {member.id for member in members} == expected


@pytest.mark.parametrize("name", HOSTILE_NAMES)
async def test_hostile_names_are_just_names(cold: Cold, name: str) -> None:
    """SQL, placeholders and odd characters in ids are stored and found like any other."""
    await cold.graphs.create_graph(graph_of(name, tenant=name))
    assert await cold.graphs.spawn(_agent(name, tenant=name, graph_id=name))
    assert [graph.id for graph in await cold.graphs.graphs(name)] == [name]
    scope = scope_of(tenant=name, graph_id=name, agent_id=name)
    assert [agent.id for agent in await cold.graphs.agents(scope)] == [name]


async def test_text_without_a_utf8_form_is_the_callers_mistake(cold: Cold) -> None:
    """A lone surrogate is refused, and nothing is written."""
    await cold.graphs.create_graph(graph_of("race"))
    with pytest.raises(UsageError, match="surrogates"):
        await cold.graphs.spawn(_agent().model_copy(update={"role": LONE_SURROGATE}))
    assert await cold.graphs.agents(SCOPE) == ()
