"""The contract of ``GraphStore``."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from support.cold_backends import Cold
from support.cold_calls import AGENT
from support.cold_samples import (
    HOSTILE_NAMES,
    SCOPE,
    belief_by,
    fact_by,
    graph_of,
    rule_by,
    turn_by,
)
from support.tier_samples import NOW, TWIN_GRAPHS, scope_of

from tiers.errors import Conflict, NotFound, UsageError
from tiers.fleet import CATALOG
from tiers.records import Ancestor, Budget, GraphState, Parent, Retention

LATER = NOW + timedelta(hours=1)


def _parent(parent_id: str, **how: object) -> Parent:
    return Parent(id=parent_id, **{"linked_at": NOW, **how})


async def _lineage(cold: Cold, graph_id: str, tenant: str = "acme") -> tuple[str, ...]:
    standing = await cold.graphs.standing(scope_of(tenant, graph_id, None))
    assert standing is not None
    return tuple(ancestor.graph_id for ancestor in standing.lineage)


async def _parents(cold: Cold, graph_id: str) -> tuple[str, ...]:
    graph = await cold.graphs.graph("acme", graph_id)
    assert graph is not None
    return graph.inherits_from


async def test_unknown_graph_is_none_and_stands_nowhere(cold: Cold) -> None:
    """What is not there is a value, not an error."""
    assert await cold.graphs.graph("acme", "race") is None
    assert await cold.graphs.graphs("acme") == ()
    assert await cold.graphs.standing(SCOPE) is None
    assert not await cold.graphs.unlink(SCOPE, "monaco")


async def test_graph_comes_back_as_it_was(cold: Cold) -> None:
    """Every field survives the store, of the links too."""
    for name in ("monaco", "bahrain"):
        await cold.graphs.create_graph(graph_of(name))
    pinned = _parent("bahrain", as_of=NOW - timedelta(microseconds=1), rules=False, episodes=True)
    graph = graph_of("imola").model_copy(
        update={
            "parents": (pinned, _parent("monaco", linked_at=LATER)),
            "merge_strategy": "highest_trust",
            "budget": Budget(tokens=0, writes=7),
            "retention": Retention(summary_ttl_hours=1.5, archive_after_days=2),
        }
    )
    await cold.graphs.create_graph(graph)
    assert await cold.graphs.graph("acme", "imola") == graph
    assert graph in await cold.graphs.graphs("acme")
    standing = await cold.graphs.standing(scope_of(graph_id="imola"))
    assert standing is not None
    assert standing.graph == graph


async def test_graphs_are_listed_oldest_first(cold: Cold) -> None:
    """Order is by creation time, not by the order of writing; the catalog is a graph too."""
    for name, minute in (("late", 9), ("early", 1), (CATALOG, 3), ("middle", 5)):
        await cold.graphs.create_graph(graph_of(name, minute=minute))
    listed = [graph.id for graph in await cold.graphs.graphs("acme")]
    assert listed == ["early", CATALOG, "middle", "late"]


async def test_second_graph_of_one_id_is_a_conflict(cold: Cold) -> None:
    """An id names one graph of a tenant for good; another tenant may use it too."""
    await cold.graphs.create_graph(graph_of("race"))
    with pytest.raises(Conflict, match="race"):
        await cold.graphs.create_graph(graph_of("race", minute=1))
    await cold.graphs.create_graph(graph_of("race", tenant="acm"))
    assert len(await cold.graphs.graphs("acme")) == 1


async def test_parent_that_cannot_be_one_is_refused(cold: Cold, subtests: pytest.Subtests) -> None:
    """Nothing is stored, whether it is there, is itself, or is read anyway."""
    cases: dict[str, tuple[type[Exception], tuple[str, ...]]] = {
        "unknown": (NotFound, ("known", "unknown")),
        "of another tenant": (NotFound, ("theirs",)),
        "itself": (UsageError, ("race",)),
        "the catalog": (UsageError, (CATALOG,)),
        "twice": (UsageError, ("known", "known")),
    }
    for name, tenant in (("theirs", "acm"), ("known", "acme"), (CATALOG, "acme")):
        await cold.graphs.create_graph(graph_of(name, tenant=tenant))
    for case, (error, parents) in cases.items():
        with subtests.test(case):
            with pytest.raises(error, match=parents[-1]):
                await cold.graphs.create_graph(graph_of("race", *parents))
            assert await cold.graphs.graph("acme", "race") is None
    await cold.graphs.create_graph(graph_of("race"))
    assert await _parents(cold, "race") == (), "links of the refused graph were kept"
    if parents != ("known", "known"):
        with pytest.raises(error, match=parents[-1]):
            await cold.graphs.link(SCOPE, _parent(parents[-1]))
        assert await _parents(cold, "race") == ()


async def test_one_of_racing_creators_wins(processes: Cold) -> None:
    """Twenty racing creations make one graph and nineteen conflicts."""
    answers = await asyncio.gather(
        *(processes.graphs.create_graph(graph_of("race", minute=n)) for n in range(20)),
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
    assert await _lineage(cold, "child") == ("right", "left", "root")
    assert await _lineage(cold, "grandchild") == ("child", "root", "right", "left")
    assert await _lineage(cold, "root") == ()


async def test_standing_says_who_asks_and_how_ancestors_are_read(cold: Cold) -> None:
    """The agent's own row, what each link carries, the moment of reading, and the catalog last."""
    for graph in (graph_of("root"), graph_of("monaco", "root")):
        await cold.graphs.create_graph(graph)
    pinned = _parent("monaco", as_of=LATER, rules=False, episodes=True)
    await cold.graphs.create_graph(graph_of("race").model_copy(update={"parents": (pinned,)}))
    await cold.fleet.spawn(AGENT)
    await cold.graphs.create_graph(graph_of(CATALOG, tenant="acm"))
    known = (
        Ancestor(graph_id="monaco", path=("monaco",), as_of=LATER, carries=("episode",)),
        Ancestor(graph_id="root", path=("monaco", "root"), as_of=LATER, carries=()),
    )
    standing = await cold.graphs.standing(scope_of(agent_id="a"))
    assert standing is not None
    assert (standing.agent, standing.lineage) == (AGENT, known)
    for stranger in ("A", None):
        standing = await cold.graphs.standing(scope_of(agent_id=stranger))
        assert standing is not None
        assert standing.agent is None

    await cold.graphs.create_graph(graph_of(CATALOG))
    standing = await cold.graphs.standing(SCOPE)
    assert standing is not None
    assert standing.lineage[:2] == known
    (catalog,) = standing.lineage[2:]
    assert (catalog.graph_id, catalog.as_of) == (CATALOG, None)
    assert await _lineage(cold, CATALOG) == ()


async def test_long_lineage_is_whole_and_bounded(cold: Cold) -> None:
    """A thousand ancestors are read; what would make more is refused, and nothing is written."""
    chain = [graph_of("g0"), *(graph_of(f"g{n}", f"g{n - 1}") for n in range(1, 1_001))]
    await cold.archive.import_rows("acme", "graphs", [*chain, graph_of("race")])
    for parents in (("g1000",), ("race", "g999")):
        with pytest.raises(UsageError, match="1000 ancestors"):
            await cold.graphs.create_graph(graph_of("g1001", *parents))
        assert await cold.graphs.graph("acme", "g1001") is None
    with pytest.raises(UsageError, match="1000 ancestors"):
        await cold.graphs.link(SCOPE, _parent("g1000"))
    await cold.graphs.link(SCOPE, _parent("g999"))
    assert len(await _lineage(cold, "race")) == 1_000
    with pytest.raises(UsageError, match="g1000"):
        await cold.graphs.link(scope_of(graph_id="g0"), _parent("g1000"))


async def test_link_comes_after_those_there_are(cold: Cold) -> None:
    """A new parent is the last, a revoked one is gone at once, and linked again it is the last."""
    for name in ("race", "monaco", "bahrain"):
        await cold.graphs.create_graph(graph_of(name))
    pinned = _parent("monaco", as_of=NOW, episodes=True)
    await cold.graphs.link(SCOPE, pinned)
    await cold.graphs.link(SCOPE, _parent("bahrain"))
    graph = await cold.graphs.graph("acme", "race")
    assert graph is not None
    assert graph.parents == (pinned, _parent("bahrain"))
    with pytest.raises(Conflict, match="monaco"):
        await cold.graphs.link(SCOPE, _parent("monaco"))

    assert await cold.graphs.unlink(SCOPE, "monaco")
    assert await _lineage(cold, "race") == ("bahrain",)
    assert not await cold.graphs.unlink(SCOPE, "monaco")
    assert not await cold.graphs.unlink(scope_of(tenant="acm"), "bahrain")
    await cold.graphs.link(SCOPE, _parent("monaco", linked_at=LATER))
    assert await _lineage(cold, "race") == ("bahrain", "monaco")


async def test_link_that_closes_a_cycle_is_refused(processes: Cold) -> None:
    """Near or far; and of two that would close one together, whoever comes first."""
    for graph in (graph_of("root"), graph_of("middle", "root"), graph_of("race", "middle")):
        await processes.graphs.create_graph(graph)
    for child in ("root", "middle"):
        with pytest.raises(UsageError, match="race"):
            await processes.graphs.link(scope_of(graph_id=child), _parent("race"))
    assert await _parents(processes, "root") == ()
    assert await _parents(processes, "middle") == ("root",)
    with pytest.raises(NotFound, match="nowhere"):
        await processes.graphs.link(scope_of(graph_id="nowhere"), _parent("race"))

    for name in ("one", "other"):
        await processes.graphs.create_graph(graph_of(name))
    answers = await asyncio.gather(
        processes.graphs.link(scope_of(graph_id="one"), _parent("other")),
        processes.graphs.link(scope_of(graph_id="other"), _parent("one")),
        return_exceptions=True,
    )
    assert sorted(type(answer).__name__ for answer in answers) == ["NoneType", "UsageError"]


async def test_racing_links_lose_none(processes: Cold) -> None:
    """Ten parents at once are ten links; one parent ten times is one link and nine conflicts."""
    names = [f"g{number}" for number in range(10)]
    for name in ("race", "twice", *names):
        await processes.graphs.create_graph(graph_of(name))
    await asyncio.gather(*(processes.graphs.link(SCOPE, _parent(name)) for name in names))
    assert sorted(await _parents(processes, "race")) == names
    twice = scope_of(graph_id="twice")
    answers = await asyncio.gather(
        *(processes.graphs.link(twice, _parent("race")) for _ in names), return_exceptions=True
    )
    assert [answer for answer in answers if not isinstance(answer, Conflict)] == [None]
    assert await _parents(processes, "twice") == ("race",)


async def test_state_moves_and_closing_is_dated(cold: Cold) -> None:
    """``closed_at`` is set once on closing, kept in the archive, cleared on opening again."""
    await cold.graphs.create_graph(graph_of("race"))
    moves = (
        (GraphState.CLOSED, NOW, NOW),
        (GraphState.CLOSED, LATER, NOW),
        (GraphState.ARCHIVED, LATER, NOW),
        (GraphState.ACTIVE, LATER, None),
        (GraphState.CLOSED, LATER, LATER),
    )
    for state, at, closed_at in moves:
        assert await cold.graphs.set_state(SCOPE, state, at)
        graph = await cold.graphs.graph("acme", "race")
        assert graph is not None
        assert (graph.state, graph.closed_at) == (state, closed_at)


async def test_state_moves_only_from_where_it_was_expected(cold: Cold) -> None:
    """From another state nothing is written; of ten racing movers one moves."""
    await cold.graphs.create_graph(graph_of("race"))
    before = await cold.graphs.graph("acme", "race")
    for elsewhere in ([GraphState.CLOSED, GraphState.ARCHIVED], []):
        assert not await cold.graphs.set_state(SCOPE, GraphState.CLOSED, NOW, elsewhere)
    assert await cold.graphs.graph("acme", "race") == before
    moved = await asyncio.gather(
        *(
            cold.graphs.set_state(
                SCOPE, GraphState.CLOSED, NOW + timedelta(minutes=n), [GraphState.ACTIVE]
            )
            for n in range(10)
        )
    )
    assert sum(moved) == 1
    graph = await cold.graphs.graph("acme", "race")
    assert graph is not None
    assert graph.closed_at == NOW + timedelta(minutes=moved.index(True))
    for only_from in (None, [GraphState.ACTIVE]):
        with pytest.raises(NotFound, match="nowhere"):
            await cold.graphs.set_state(
                scope_of(graph_id="nowhere"), GraphState.CLOSED, NOW, only_from
            )


async def test_configuring_replaces_what_is_given(cold: Cold) -> None:
    """And nothing else: a budget whole, without the limits that it had before."""
    await cold.graphs.create_graph(graph_of("race"))
    retention = Retention(archive_after_days=3)
    await cold.graphs.configure(SCOPE, budget=Budget(tokens=5), retention=retention)
    configured = await cold.graphs.configure(SCOPE, budget=Budget(writes=0))
    assert (configured.budget, configured.retention) == (Budget(writes=0), retention)
    assert await cold.graphs.configure(SCOPE) == configured
    assert await cold.graphs.graph("acme", "race") == configured
    with pytest.raises(NotFound, match="nowhere"):
        await cold.graphs.configure(scope_of(graph_id="nowhere"), budget=Budget())


async def test_archived_graph_is_read_only(cold: Cold) -> None:
    """Agents write nothing into it and it gains no parent; what it holds stays readable."""
    for name in ("race", "monaco"):
        await cold.graphs.create_graph(graph_of(name))
    await cold.fleet.spawn(AGENT)
    turn, _ = await cold.turns.append_turn(SCOPE, turn_by(ref="1"))
    await cold.graphs.set_state(SCOPE, GraphState.ARCHIVED, NOW)
    writes = {
        "turn": lambda: cold.turns.append_turn(SCOPE, turn_by(text="More?")),
        "fact": lambda: cold.semantic.put_fact(SCOPE, fact_by()),
        "rule": lambda: cold.procedural.put_rule(SCOPE, rule_by()),
        "belief": lambda: cold.beliefs.commit(SCOPE, belief_by()),
        "member": lambda: cold.fleet.spawn(AGENT.model_copy(update={"id": "b"})),
        "re-attached member": lambda: cold.fleet.spawn(AGENT),
        "link": lambda: cold.graphs.link(SCOPE, _parent("monaco")),
    }
    census = await cold.words.census(SCOPE)
    for written, write in writes.items():
        with pytest.raises(Conflict, match="'race': expected 'active or closed'"):
            pytest.fail(f"{written}: {await write()}")
    assert await cold.words.census(SCOPE) == census
    assert await cold.turns.append_turn(SCOPE, turn_by(ref="1")) == (turn, False)
    assert await cold.fleet.agents(SCOPE) == (AGENT,)
    await cold.graphs.create_graph(graph_of("heir", "race"))

    await cold.graphs.set_state(SCOPE, GraphState.CLOSED, NOW, [GraphState.ARCHIVED])
    for write in writes.values():
        await write()


async def test_names_that_look_alike_are_different(cold: Cold) -> None:
    """Prefixes, separators and case do not mix graphs, links or states up."""
    for number, (tenant, graph_id) in enumerate(TWIN_GRAPHS):
        parent = f"parent {number}"
        await cold.graphs.create_graph(graph_of(parent, tenant=tenant))
        await cold.graphs.create_graph(graph_of(graph_id, tenant=tenant))
        await cold.graphs.link(scope_of(tenant, graph_id), _parent(parent))
    for number, (tenant, graph_id) in enumerate(TWIN_GRAPHS):
        assert await _lineage(cold, graph_id, tenant) == (f"parent {number}",)
    active = {*TWIN_GRAPHS}
    for names in TWIN_GRAPHS:
        await cold.graphs.set_state(scope_of(*names), GraphState.CLOSED, NOW)
        active.remove(names)
        for tenant in {tenant for tenant, _ in TWIN_GRAPHS}:
            for graph in await cold.graphs.graphs(tenant):
                is_active = graph.state is GraphState.ACTIVE
                is_parent = graph.id.startswith("parent ")
                assert is_active == (is_parent or (tenant, graph.id) in active), (names, graph.id)


async def test_hostile_names_are_just_names(cold: Cold) -> None:
    """SQL, placeholders and odd characters in ids are stored and found like any other."""
    for name in HOSTILE_NAMES:
        await cold.graphs.create_graph(graph_of(name, tenant=name))
        await cold.graphs.create_graph(graph_of("child", name, tenant=name))
        assert [graph.id for graph in await cold.graphs.graphs(name)] == [name, "child"]
        assert await _lineage(cold, "child", name) == (name,)
        assert await cold.graphs.unlink(scope_of(name, "child"), name)
        assert await _lineage(cold, "child", name) == ()
