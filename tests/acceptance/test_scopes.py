"""Who sees what: topics, privacy, graphs and tenants, through every way of reading."""

from __future__ import annotations

from pathlib import Path

from support.runtime import MovingClock, running

from ezra import Agent, Fact, Rule
from ezra.app import Ezra

MARK = "zebra"


async def everything_seen(ezra: Ezra, agent: Agent) -> str:
    """Return all that an agent can be shown about the mark."""
    await ezra.drain_learning()
    turn = await agent.turn(f"tell me about {MARK}")
    found = await agent.recall(MARK, limit=100)
    facts = await agent.recall_archival(MARK, limit=100)
    beliefs = await agent.beliefs()
    shown = [slot.text for slot in turn.slots if slot.kind != "input"]
    shown += [hit.text for hit in (*found.items, *facts)]
    shown += [belief.claim for belief in beliefs]
    return "\n".join(shown)


async def leave_marks(ezra: Ezra, agent: Agent, *, private: bool = False) -> None:
    """Let an agent leave the mark in every kind of record that it can write."""
    await agent.remember(f"The {MARK} fact.", private=private)
    await agent.remember(Fact(text=f"The {MARK} core fact.", tier="core"), private=private)
    await agent.remember(Rule(trigger=f"{MARK} question", steps=(f"{MARK} step",)), private=private)
    for number in range(12):
        turn = await agent.turn(f"The {MARK} turn {number}.", private=private)
        await turn.reply(f"{MARK} noted")
    if not private:
        await agent.commit(f"The {MARK} belief.", topic=agent.topics[0])


async def test_topics_keep_agents_of_one_graph_apart(tmp_path: Path) -> None:
    """Other topics see nothing of it, summaries included; the writer's topic sees it."""
    clock = MovingClock()
    async with running(tmp_path, clock, turns_per_summary=2) as ezra:
        graph = await ezra.create_session_graph("imola")
        writer = await graph.spawn_agent("writer", topics={"money"})
        reader = await graph.spawn_agent("reader", topics={"tyres"})
        nothing = await graph.spawn_agent("nothing")
        friend = await graph.spawn_agent("friend", topics={"money", "tyres"})
        await leave_marks(ezra, writer)
        assert (await ezra.run_lifecycle_tick("imola")).summaries_written == 2
        assert MARK not in await everything_seen(ezra, reader)
        assert MARK not in await everything_seen(ezra, nothing)
        seen = await everything_seen(ezra, friend)
        for kind in ("fact", "core fact", "turn", "belief"):
            assert f"The {MARK} {kind}" in seen


async def test_private_records_are_their_writers_alone(tmp_path: Path) -> None:
    """The same topics are not enough; not even the operator's view shows them."""
    clock = MovingClock()
    async with running(tmp_path, clock, turns_per_summary=2) as ezra:
        graph = await ezra.create_session_graph("imola")
        writer = await graph.spawn_agent("writer", topics={"money"})
        twin = await graph.spawn_agent("twin", topics={"money"})
        everyone = await graph.spawn_agent("everyone", topics={"*"})
        await leave_marks(ezra, writer, private=True)
        assert (await ezra.run_lifecycle_tick("imola")).summaries_written == 2
        assert f"The {MARK} fact." in await everything_seen(ezra, writer)
        assert MARK not in await everything_seen(ezra, twin)
        assert MARK not in await everything_seen(ezra, everyone)
        operators = await graph.recall(MARK, limit=100)
        asked = [hit for hit in operators.items if "tell me" not in hit.text]
        assert asked == []


async def test_graphs_and_tenants_are_apart(tmp_path: Path) -> None:
    """The same agent in a graph of another name, or of another tenant, sees nothing."""
    async with running(tmp_path) as ezra:
        first = await ezra.create_session_graph("imola")
        await leave_marks(ezra, await first.spawn_agent("a", topics={"money"}))
        second = await ezra.create_session_graph("imola/2")
        assert MARK not in await everything_seen(
            ezra, await second.spawn_agent("a", topics={"money"})
        )
    async with running(tmp_path, tenant="other") as ezra:
        assert await ezra.session_graphs() == ()
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"money"})
        assert MARK not in await everything_seen(ezra, agent)


async def test_children_see_core_facts_and_rules_of_their_topics_only(tmp_path: Path) -> None:
    """Turns, archival facts, beliefs and private records stay in the parent."""
    async with running(tmp_path, promote_at_uses=1000) as ezra:
        parent = await ezra.create_session_graph("monaco")
        await leave_marks(ezra, await parent.spawn_agent("a", topics={"money"}))
        await leave_marks(ezra, await parent.spawn_agent("b", topics={"money"}), private=True)
        child = await ezra.create_session_graph("imola", inherits_from=["monaco"])
        stranger = await child.spawn_agent("c", topics={"tyres"})
        assert MARK not in await everything_seen(ezra, stranger)
        heir = await child.spawn_agent("b", topics={"money"})
        seen = await everything_seen(ezra, heir)
        assert f"The {MARK} core fact." in seen
        assert f"{MARK} step" in seen
        for kind in ("fact", "turn", "belief"):
            assert f"The {MARK} {kind}" not in seen
        assert seen.count(f"{MARK} step") == 2, "once in the context, once by recall"


async def test_a_caller_can_claim_no_owner_no_uses_and_no_end(tmp_path: Path) -> None:
    """What the handle and the runtime decide is theirs, whatever the record says."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"t"}, user_id="ada")
        forged = Fact(
            text="Forged.",
            id="mine",
            tenant="other",
            graph_id="monaco",
            agent_id="b",
            user_id="ben",
            uses=99,
            superseded_by="nobody",
        )
        (stored,) = await graph.facts([await agent.remember(forged)])
        owner = (stored.tenant, stored.graph_id, stored.agent_id, stored.user_id)
        assert owner == ("default", "imola", "a", "ada")
        assert (stored.uses, stored.superseded_by) == (0, None)
        assert stored.id != "mine"
