"""Rows EZ-05, EZ-10, EZ-15, EZ-16, AT-09, MA-10, HE-07, NE-05 and NE-10 through the public API."""

from __future__ import annotations

import asyncio
from datetime import datetime
from pathlib import Path

import pytest
from support.runtime import MovingClock, running

from ezra import (
    Agent,
    AuditFilter,
    Budget,
    BudgetExceeded,
    Conflict,
    Fact,
    Graph,
    MeshResult,
    NotFound,
    Parent,
    PolicyDenied,
    Retention,
    Rule,
    ScriptedModel,
    UsageError,
)
from ezra.app import Ezra
from ezra.settings import Settings


async def speak(agent: Agent, message: str, response: str = "", **more):  # noqa: ANN003, ANN201
    """Carry one message through all eight steps."""
    return await (await agent.turn(message, **more)).reply(response)


async def core_seen(agent: Agent) -> dict[str, tuple[str | None, tuple[str, ...]]]:
    """Return the core facts of an agent's next context, with graph and path of the inherited."""
    turn = await agent.turn("what do we know?")
    return {
        slot.text: (slot.inherited_from, slot.path) for slot in turn.slots if slot.kind == "core"
    }


async def keeper_of(graph: Graph, *topics: str) -> Agent:
    """Spawn the agent that fills a graph."""
    return await graph.spawn_agent("keeper", topics=set(topics or ("*",)))


async def core(agent: Agent, subject: str, value: str, **more) -> str:  # noqa: ANN003
    """Remember a core fact."""
    fact = Fact(subject=subject, predicate="is", object=value, tier="core", **more)
    return await agent.remember(fact)


async def test_ez_05_every_spawn_and_turn_has_the_core_of_its_scope(tmp_path: Path) -> None:
    """Own, inherited and catalog facts of the agent's topics; the nearest definition wins."""
    async with running(tmp_path) as ezra:
        catalog = await ezra.catalog()
        await catalog.remember(Fact(subject="pit limit", predicate="is", object="80", tier="core"))
        await catalog.remember(Fact(subject="fuel", predicate="is", object="E10", tier="core"))
        parent = await ezra.create_session_graph("monaco")
        await core(await keeper_of(parent), "pit limit", "60")
        child = await ezra.create_session_graph("imola", inherits_from=["monaco"])
        await core(await keeper_of(child), "wing", "28", topics=("aero",))
        reader = await child.spawn_agent("reader", topics={"tyres"})
        assert [fact.text for fact in reader.core_at_spawn] == ["pit limit is 60", "fuel is E10"]
        assert await core_seen(reader) == {
            "pit limit is 60": ("monaco", ("monaco",)),
            "fuel is E10": ("@catalog", ("@catalog",)),
        }
        turn = await reader.turn("pit limit?")
        assert [fact.text for fact in turn.shadowed] == ["pit limit is 80"]


async def test_ez_10_a_childs_own_archival_fact_hides_what_a_parent_has_in_core(
    tmp_path: Path,
) -> None:
    """It is the nearest definition; when it is forgotten, the parent's holds again."""
    async with running(tmp_path) as ezra:
        parent = await ezra.create_session_graph("imola")
        wing = {"subject": "front wing", "predicate": "is at"}
        await (await keeper_of(parent)).remember(Fact(**wing, object="5", tier="core"))
        child = await ezra.create_session_graph("monza", inherits_from=["imola"])
        agent = await keeper_of(child)
        own = await agent.remember(Fact(**wing, object="7"))
        turn = await agent.turn("Where is the front wing?")
        texts = [slot.text for slot in turn.slots]
        assert "front wing is at 5" not in texts
        assert any("front wing is at 7" in text for text in texts)
        assert [fact.text for fact in turn.shadowed] == ["front wing is at 5"]
        assert (await agent.core()).facts == ()
        found = (await agent.recall("Where is the front wing?")).items
        assert [one.text for one in found] == ["front wing is at 7"]
        await agent.forget(own, reason="measured wrongly")
        assert set(await core_seen(agent)) == {"front wing is at 5"}


async def test_ez_10_recall_and_contexts_have_the_nearest_definition_alone(tmp_path: Path) -> None:
    """Of the catalog, and of what a branch carries: whichever way a farther one is found."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        catalog = await ezra.catalog()
        limit = {"subject": "pit limit", "predicate": "is at"}
        await catalog.remember(Fact(**limit, object="80 km/h", tier="core"))
        await catalog.remember(Fact(subject="pit window", predicate="is at", object="lap 9"))
        parent = await ezra.create_session_graph("monaco")
        keeper = await keeper_of(parent)
        await keeper.remember(Fact(**limit, object="60 km/h", tier="core"))
        await keeper.remember(Fact(subject="pit wall", predicate="is at", object="post 3"))
        await keeper.remember(Fact(subject="pit wall", predicate="likes", object="radio"))
        clock.move(minutes=1)
        branch = await parent.branch(session_graph_id="what-if")
        agent = await keeper_of(branch)
        asked = [f"Where is the pit {what} at?" for what in ("limit", "window", "wall")]

        async def told(at: datetime | None = None) -> list[set[str]]:
            await ezra.drain_learning()
            found, slots = set[str](), set[str]()
            for question in asked:
                found |= {one.text for one in (await agent.recall(question, as_of=at)).items}
                turn = await agent.turn(question)
                slots |= {one.text for one in turn.slots if one.kind in {"core", "archival"}}
            for name in ("pit limit", "pit window", "pit wall"):
                near = await agent.knowledge.neighbours(name, as_of=at)
                found |= {one.fact.text for one in near}
            return [found, slots]

        seen = {"pit wall likes radio", "pit limit is at 60 km/h"}
        for texts in await told():
            assert texts == seen | {"pit wall is at post 3", "pit window is at lap 9"}
        before = clock()
        clock.move(minutes=1)
        own = [
            await agent.remember(Fact(subject="pit wall", predicate="is at", object="post 7")),
            await agent.remember(Fact(subject="pit window", predicate="is at", object="lap 12")),
        ]
        for texts in await told():
            assert texts == seen | {"pit wall is at post 7", "pit window is at lap 12"}
        then, _ = await told(before)
        assert then == seen | {"pit wall is at post 3", "pit window is at lap 9"}
        await agent.forget_facts(own, reason="measured wrongly")
        for texts in await told():
            assert texts == seen | {"pit wall is at post 3", "pit window is at lap 9"}


async def test_ez_10_inheritance_is_transitive_ordered_and_names_its_path(tmp_path: Path) -> None:
    """Nearest first, then list order; rules come through unless the link says no; beliefs never."""
    async with running(tmp_path) as ezra:
        for name, parents in (("root", []), ("left", ["root"]), ("right", ["root"])):
            graph = await ezra.create_session_graph(name, inherits_from=parents)
            keeper = await keeper_of(graph)
            await core(keeper, "source", name)
            await core(keeper, f"only {name}", "here")
            await keeper.remember(Rule(trigger=f"wet race {name}", steps=(f"ask {name}",)))
            await keeper.commit(f"{name} believes")
        child = await ezra.create_session_graph(
            "child", inherits_from=[Parent(id="left", rules=False), "right"]
        )
        agent = await keeper_of(child)
        assert await core_seen(agent) == {
            "source is left": ("left", ("left",)),
            "only left is here": ("left", ("left",)),
            "only right is here": ("right", ("right",)),
            "only root is here": ("root", ("left", "root")),
        }
        turn = await agent.turn("what about a wet race?")
        rules = {slot.inherited_from: slot.path for slot in turn.slots if slot.kind == "rule"}
        assert rules == {"right": ("right",)}
        assert await agent.beliefs() == ()
        found = await agent.recall("source left right root", limit=50)
        paths = {hit.text: hit.path for hit in found.items if hit.inherited_from}
        assert paths["only root is here"] == ("left", "root")


async def test_ez_10_cycles_unknown_parents_and_nonsense_are_refused(tmp_path: Path) -> None:
    """A graph never inherits from itself, near or far; nothing is written by a refusal."""
    async with running(tmp_path) as ezra:
        first = await ezra.create_session_graph("a")
        await ezra.create_session_graph("b", inherits_from=["a"])
        await ezra.create_session_graph("c", inherits_from=["b"])
        for wrong in ("a", "c"):
            with pytest.raises(UsageError, match="inherits_from"):
                await first.inherit(wrong)
        with pytest.raises(NotFound, match="nowhere"):
            await first.inherit("nowhere")
        with pytest.raises(UsageError, match="inherits_from"):
            await ezra.create_session_graph("d", inherits_from=["d"])
        with pytest.raises(NotFound, match="nowhere"):
            await ezra.create_session_graph("d", inherits_from=["a", "nowhere"])
        with pytest.raises(UsageError, match="inherits_from"):
            await ezra.create_session_graph("d", inherits_from="a")
        with pytest.raises(UsageError, match="catalog"):
            await ezra.create_session_graph("@catalog")
        assert [graph.id for graph in await ezra.session_graphs()] == ["a", "b", "c"]
        assert (await ezra.session_graph("a")).inherits_from == ()


async def test_ez_10_a_revoked_parent_is_gone_at_the_next_turn(tmp_path: Path) -> None:
    """Through every path and for who is there already; linking it again brings it back."""
    async with running(tmp_path) as ezra:
        await core(await keeper_of(await ezra.create_session_graph("root")), "secret", "42")
        middle = await ezra.create_session_graph("middle", inherits_from=["root"])
        child = await ezra.create_session_graph("child", inherits_from=["middle"])
        agent = await keeper_of(child)
        assert "secret is 42" in await core_seen(agent)
        assert await middle.revoke("root")
        assert await core_seen(agent) == {}
        assert (await agent.recall("secret")).items == ()
        assert not await middle.revoke("root")
        await middle.inherit("root")
        assert "secret is 42" in await core_seen(agent)


async def test_ez_10_a_pinned_parent_is_read_as_it_was(tmp_path: Path) -> None:
    """Superseding in the parent is seen at once by reference, and not through a pin."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        parent = await ezra.create_session_graph("monaco")
        keeper = await keeper_of(parent)
        old = await core(keeper, "limit", "60")
        then = clock()
        clock.move(hours=1)
        live = await ezra.create_session_graph("live", inherits_from=["monaco"])
        pinned = await ezra.create_session_graph(
            "pinned", inherits_from=[Parent(id="monaco", as_of=then)]
        )
        by_reference, by_pin = await keeper_of(live), await keeper_of(pinned)
        fact = Fact(subject="limit", predicate="is", object="80", tier="core")
        await keeper.remember(fact, supersedes=old)
        await core(keeper, "added", "later")
        assert set(await core_seen(by_reference)) == {"limit is 80", "added is later"}
        assert set(await core_seen(by_pin)) == {"limit is 60"}
        await parent.redact([old], reason="asked for")
        assert set(await core_seen(by_pin)) == set()


async def test_ez_10_episodes_come_through_when_the_link_says_so(tmp_path: Path) -> None:
    """Off by default; on, they are recalled and in the context, with their graph."""
    clock = MovingClock()
    async with running(tmp_path, clock, turns_per_summary=2) as ezra:
        parent = await ezra.create_session_graph("monaco")
        keeper = await keeper_of(parent)
        for number in range(4):
            await speak(keeper, f"The gearbox oil reached {90 + number} degrees.")
        await parent.archive()
        await ezra.drain_learning()
        assert await parent.episodes()
        plain = await ezra.create_session_graph("plain", inherits_from=["monaco"])
        full = await ezra.create_session_graph(
            "full", inherits_from=["monaco"], inherit_episodes=True
        )
        for graph, expected in ((plain, set()), (full, {"monaco"})):
            agent = await keeper_of(graph)
            turn = await agent.turn("What did the gearbox oil reach?")
            warm = {slot.inherited_from for slot in turn.slots if slot.kind == "warm"}
            assert warm == expected
            found = await agent.recall("gearbox oil degrees", kinds=("episode",))
            assert {hit.inherited_from for hit in found.items} == expected


async def test_ez_15_a_graph_closes_reopens_and_is_archived_by_rule(tmp_path: Path) -> None:
    """Hot goes with the last agent; an idle graph becomes read-only and can be inherited from."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola", retention=Retention(archive_after_days=7))
        keeper = await keeper_of(graph, "tyres")
        await core(keeper, "limit", "60")
        await speak(keeper, "The medium lasted 18 laps.")
        plan = await keeper.commit("Start on mediums.", topic="tyres")
        await keeper.leave()
        status = await graph.status()
        assert (status.state, status.agents, status.hot) == ("closed", 0, 0)
        again = await graph.spawn_agent("keeper", topics={"tyres"})
        assert (await graph.status()).state == "active"
        assert [belief.id for belief in await again.beliefs()] == [plan.id]
        await graph.close()
        assert await graph.reopen()
        assert not await graph.reopen()
        await graph.close()
        clock.move(days=6)
        await ezra.run_lifecycle_tick("imola")
        assert (await graph.status()).state == "closed"
        clock.move(days=2)
        await ezra.run_lifecycle_tick("imola")
        status = await graph.status()
        assert status.state == "archived"
        assert status.cold["turns"] == status.cold["covered_turns"] == 1
        for write in (graph.spawn_agent("late"), graph.reopen(), graph.inherit("imola2")):
            with pytest.raises((Conflict, NotFound)):
                await write
        assert "18 laps" in (await graph.recall("medium lasted")).items[0].text
        child = await ezra.create_session_graph("monza", inherits_from=["imola"])
        heir = await child.spawn_agent("keeper", topics={"tyres"})
        assert await core_seen(heir) == {"limit is 60": ("imola", ("imola",))}


async def test_ez_15_a_crashed_agent_is_noticed_and_released(tmp_path: Path) -> None:
    """Silence past the limit lets it go; the runtime's own agents are never taken for silent."""
    clock = MovingClock()
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        await speak(await graph.spawn_agent("lost", topics={"t"}), "before the crash")
    clock.move(minutes=4)
    async with running(tmp_path, clock) as ezra:
        graph = await ezra.session_graph("imola")
        here = await graph.spawn_agent("here", topics={"t"})
        await ezra.run_lifecycle_tick("imola")
        assert [one.left_at for one in await graph.agents()] == [None, None]
        clock.move(minutes=2)
        await ezra.run_lifecycle_tick("imola")
        assert {one.id: one.released for one in await graph.agents()} == {
            "lost": True,
            "here": False,
        }
        lost = await graph.spawn_agent("lost", topics={"t"})
        turn = await lost.turn("after it")
        assert [slot.text for slot in turn.slots if slot.kind == "hot"] == ["before the crash"]
        clock.move(hours=10)
        await speak(here, "still there")
        released = await graph.audit(only=AuditFilter(kinds=("released",)))
        assert [event.agent_id for event in released] == ["lost"]


async def test_ez_15_redaction_reaches_every_store(tmp_path: Path) -> None:
    """The text is in no context, recall, summary or episode any more; rows and coverage stay."""
    async with running(tmp_path, turns_per_summary=2) as ezra:
        graph = await ezra.create_session_graph("imola")
        keeper = await keeper_of(graph, "t")
        told = [await speak(keeper, text) for text in ("My PIN is xyzzy7.", "Lap 18 was clean.")]
        fact = await keeper.remember("The PIN is xyzzy7.", topics={"t"})
        await graph.close()
        await ezra.run_lifecycle_tick("imola")
        await ezra.drain_learning()
        report = await graph.redact([told[0].turn.id, fact], reason="asked by the person")
        assert {told[0].turn.id, fact} <= {one for ids in report.ids.values() for one in ids}
        await ezra.drain_learning()
        keeper = await keeper_of(graph, "t")
        turn = await keeper.turn("What is the PIN?")
        found = await keeper.recall("PIN xyzzy7", limit=50)
        shown = [slot.text for slot in turn.slots] + [hit.text for hit in found.items]
        shown += [summary.text for summary in await graph.summaries()]
        assert not any("xyzzy7" in text for text in shown)
        assert any("Lap 18" in summary.text for summary in await graph.summaries())
        census = (await graph.status()).cold
        assert census["turns"] == census["covered_turns"] == 2
        (event,) = await graph.audit(only=AuditFilter(kinds=("redacted",)))
        assert told[0].turn.id in event.record_ids
        assert "xyzzy7" not in event.model_dump_json()


async def test_ez_16_one_feed_tells_all_in_order_and_never_content(tmp_path: Path) -> None:
    """Per graph and per tenant: ordered, paginated, filtered; every denial is in it."""
    clock = MovingClock()

    async def timing(message: str, scope) -> MeshResult:  # noqa: ANN001
        return MeshResult(source="timing", text="P3 xyzzy", queried_at=clock())

    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, connectors={"timing": timing}, clock=clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"tyres"}, denied_sources={"stocks"})
        await agent.turn("where are we, xyzzy?", mesh="timing")
        for refused in (agent.turn("hm", mesh="stocks"), agent.commit("xyzzy", topic="money")):
            with pytest.raises(PolicyDenied):
                await refused
        key = ("start", "compound")
        await agent.commit("Start on softs.", topic="tyres", key=key)
        await agent.commit("Start on mediums, xyzzy.", topic="tyres", key=key)
        other = await ezra.create_session_graph("monza")
        await agent.leave()
        events = await graph.audit()
        assert [event.kind for event in events] == [
            "created",
            "spawned",
            "fetched",
            "denied",
            "denied",
            "committed",
            "committed",
            "contradiction",
            "reconciliation",
            "left",
            "closed",
        ]
        assert [event.seq for event in events] == list(range(1, 12))
        assert "source stocks (denied)" in events[3].reason
        assert "topic money" in events[4].reason
        assert not any("xyzzy" in event.model_dump_json() for event in events)
        tenant = await ezra.audit()
        assert [event.position for event in tenant] == list(range(1, 13))
        assert [event.graph_id for event in tenant].count(other.id) == 1
        pages = [await ezra.audit(after, 5) for after in (0, 5, 10)]
        assert [event for page in pages for event in page] == list(tenant)
        only = AuditFilter(kinds=("denied",), agent_id="a", graph_id="imola")
        assert [event.kind for event in await ezra.audit(only=only)] == ["denied", "denied"]
        window = AuditFilter(since=events[2].recorded_at, until=events[4].recorded_at)
        assert [event.kind for event in await graph.audit(only=window)] == ["fetched", "denied"]


async def test_ne_05_a_kept_mesh_result_goes_with_the_right_to_its_source(tmp_path: Path) -> None:
    """Re-attached without the source, the agent no longer has what it fetched there before."""
    clock = MovingClock()

    async def timing(message: str, scope) -> MeshResult:  # noqa: ANN001
        return MeshResult(source="timing", text="P3", queried_at=clock())

    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, connectors={"timing": timing}, clock=clock) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"tyres"})
        await agent.turn("where are we?", mesh="timing")
        kept = await agent.turn("and now?")
        assert [slot.kind for slot in kept.slots].count("mesh") == 1
        agent = await graph.spawn_agent("a", topics={"tyres"}, denied_sources={"timing"})
        after = await agent.turn("and now?")
        assert [slot.kind for slot in after.slots].count("mesh") == 0


async def test_at_12_what_the_catalog_is_told_is_found_at_once(tmp_path: Path) -> None:
    """By its words, before anything indexes it; only by those whose topics meet its own."""
    async with running(tmp_path) as ezra:
        catalog = await ezra.catalog()
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"pit"})
        other = await graph.spawn_agent("b", topics={"catering"})
        fact = Fact(text="The pit lane limit is 80 km/h.", topics=("pit",))
        fact_id = await catalog.remember(fact)
        (found,) = (await agent.recall("pit lane limit")).items
        assert (found.id, found.inherited_from) == (fact_id, "@catalog")
        assert (await other.recall("pit lane limit")).items == ()
        assert (await agent.recall("pit lane limit", kinds=("turn",))).items == ()
        await catalog.redact([fact_id], reason="test")
        assert (await agent.recall("pit lane limit")).items == ()


async def test_at_09_what_takes_a_facts_place_is_for_those_who_read_it(tmp_path: Path) -> None:
    """Of every user and topic; a private one cannot, and in a private one's place it is private."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("pit")
        ada = await graph.spawn_agent("of ada", topics={"x", "y"}, user_id="ada")
        bob = await graph.spawn_agent("of bob", topics={"y"}, user_id="bob")
        code = await bob.remember("The pit code is 12.", shared=True)
        with pytest.raises(UsageError, match="private"):
            await ada.remember("The pit code is 99.", supersedes=code, private=True)
        code = await ada.remember("The pit code is 99.", supersedes=code)
        assert [one.text for one in (await bob.recall("pit code")).items] == ["The pit code is 99."]
        own = await ada.remember("My locker is 7.", private=True)
        await ada.remember("My locker is 8.", supersedes=own)
        assert [one.text for one in (await ada.recall("locker")).items] == ["My locker is 8."]
        assert (await bob.recall("locker")).items == ()


async def test_at_09_users_are_apart_and_the_catalog_is_for_all(tmp_path: Path) -> None:
    """In every way of reading, by any topic; a forged owner changes nothing; no user sees none."""
    async with running(tmp_path, turns_per_summary=2) as ezra:
        await (await ezra.catalog()).remember("The zebra manual is for everybody.")
        graph = await ezra.create_session_graph("support")
        agents = {
            name: await graph.spawn_agent(f"of {name}", topics={"*"}, user_id=name or None)
            for name in ("alice", "bob", "")
        }
        for name, agent in agents.items():
            whose = name or "nobody"
            await agent.remember(f"The zebra of {whose} is striped.")
            forged = Fact(text=f"A zebra core fact of {whose}.", tier="core", user_id="bob")
            await agent.remember(forged)
            rule = Rule(trigger="zebra question", steps=(f"ask {whose} for the zebra",))
            await agent.remember(rule)
            await agent.commit(f"The zebra is {whose}'s.", key=("zebra", "owner"))
            for number in range(12):
                await speak(agent, f"zebra turn {number} of {whose}")
        await ezra.run_lifecycle_tick("support")
        await ezra.drain_learning()
        seen = {name: await _everything(agent) for name, agent in agents.items()}
        assert all("for everybody" in text and "of nobody" in text for text in seen.values())
        assert "alice" in seen["alice"]
        assert "bob" not in seen["alice"]
        assert "bob" in seen["bob"]
        assert "alice" not in seen["bob"]
        assert "alice" not in seen[""]
        assert "bob" not in seen[""]
        assert len(await agents["alice"].beliefs()) == 2
        shared = await agents["alice"].remember("The zebra fence is open.", shared=True)
        await ezra.drain_learning()
        assert shared in {hit.id for hit in (await agents["bob"].recall("zebra fence")).items}


async def _everything(agent: Agent) -> str:
    """Return all that an agent can be shown about the zebra, its own input aside."""
    turn = await agent.turn("zebra question")
    found = await agent.recall("zebra", limit=100)
    facts = await agent.recall_archival("zebra", limit=100)
    shown = [slot.text for slot in turn.slots if slot.kind not in ("input", "system")]
    shown += [hit.text for hit in (*found.items, *facts)]
    shown += [belief.claim for belief in await agent.beliefs()]
    shown += [fact.text for fact in agent.core_at_spawn]
    return "\n".join(shown)


async def test_at_09_another_users_ring_is_not_taken_over(tmp_path: Path) -> None:
    """An agent re-attached for another person, or with fewer topics, starts without the ring."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("support")
        await graph.spawn_agent("other", topics={"*"})
        first = await graph.spawn_agent("desk", topics={"money"}, user_id="alice")
        await speak(first, "my balance is 7")
        for change in ({"user_id": "bob", "topics": {"money"}}, {"user_id": "alice"}):
            desk = await graph.spawn_agent("desk", **change)
            turn = await desk.turn("hello")
            assert not [slot for slot in turn.slots if slot.kind == "hot"]
        desk = await graph.spawn_agent("desk", topics={"money"}, user_id="alice")
        turn = await desk.turn("hello")
        assert [slot.text for slot in turn.slots if slot.kind == "hot"] == ["my balance is 7"]


async def test_ma_10_no_argument_changes_the_tenant(tmp_path: Path) -> None:
    """Owner fields in what is given, and names that look like other scopes, stay inside."""
    async with running(tmp_path, tenant="acme") as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("a", topics={"t"}, user_id="ada")
        stored = await agent.remember(
            Fact(text="zebra", tenant="other", graph_id="x", topics={"t"})
        )
        (fact,) = await graph.facts([stored]) or ((await agent.recall("zebra")).items)
        assert fact.graph_id == "imola"
    async with running(tmp_path, tenant="other") as ezra:
        for name in ("imola", "acme/imola", "../acme/imola"):
            with pytest.raises(NotFound):
                await ezra.session_graph(name)
            graph = await ezra.create_session_graph(name)
            agent = await graph.spawn_agent("a", topics={"*"}, user_id="ada")
            assert (await agent.recall("zebra")).items == ()
        assert {event.tenant for event in await ezra.audit()} == {"other"}


async def test_he_07_concurrent_passes_lose_and_double_nothing(tmp_path: Path) -> None:
    """Eight lifecycle passes at once beside agents that speak: each turn is in one summary."""
    clock = MovingClock()
    async with running(tmp_path, clock, turns_per_summary=4, ring_capacity=2) as ezra:
        graph = await ezra.create_session_graph("imola")
        agents = [await graph.spawn_agent(f"a{number}", topics={"t"}) for number in range(3)]

        async def talk(agent: Agent) -> None:
            for number in range(10):
                await speak(agent, f"{agent.id} lap {number}")

        async def keep() -> None:
            for _ in range(4):
                await ezra.run_lifecycle_tick("imola")

        await asyncio.gather(*map(talk, agents), *(keep() for _ in range(8)))
        await graph.close()
        await asyncio.gather(*(ezra.run_lifecycle_tick("imola") for _ in range(8)))
        covered = [turn for summary in await graph.summaries() for turn in summary.covers]
        assert len(covered) == len(set(covered)) == 30
        clock.move(days=2)
        await asyncio.gather(*(ezra.run_lifecycle_tick("imola") for _ in range(8)))
        children = [child for episode in await graph.episodes() for child in episode.children]
        assert len(children) == len(set(children)) == len(await graph.summaries())


async def test_ne_05_a_denied_topic_wins_over_everything_held(tmp_path: Path) -> None:
    """In every way of reading and writing, also for who holds every topic."""
    async with running(tmp_path, turns_per_summary=2) as ezra:
        graph = await ezra.create_session_graph("imola")
        writer = await graph.spawn_agent("writer", topics={"money", "zebra"})
        await writer.remember("The zebra money fact.")
        await core(writer, "zebra", "core")
        await writer.remember(Rule(trigger="zebra question", steps=("zebra step",)))
        await writer.commit("The zebra belief.")
        for number in range(12):
            await speak(writer, f"zebra turn {number}")
        await ezra.run_lifecycle_tick("imola")
        await ezra.drain_learning()
        reader = await graph.spawn_agent("reader", topics={"*"}, denied_topics={"Money"})
        assert "zebra" not in await _everything(reader)
        with pytest.raises(PolicyDenied, match=r"topic money \(denied\)"):
            await reader.remember("mine", topics={"money"})
        with pytest.raises(UsageError, match="denied_topics"):
            await graph.spawn_agent("nobody", topics={"a"}, denied_topics={"*"})


async def test_ne_10_budgets_are_counted_and_refused_by_name(tmp_path: Path) -> None:
    """Writes, model calls and tokens, of the agent and of the graph; what fails costs nothing."""
    settings = Settings(home=tmp_path, embedder="off", background=False)
    model = ScriptedModel(["one", "two"])
    async with Ezra.open(settings, model=model, clock=MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola", budget=Budget(writes=4))
        agent = await graph.spawn_agent("a", topics={"t"}, budget=Budget(model_calls=1, writes=3))
        await agent.remember("one")
        await agent.remember("one")
        assert (await agent.usage()).writes == 1
        await agent.complete("hello")
        with pytest.raises(BudgetExceeded, match="agent 'a' allows 1 model calls"):
            await agent.complete("again")
        await agent.commit("three")
        with pytest.raises(BudgetExceeded, match="agent 'a' allows 3 writes"):
            await agent.remember("four")
        other = await graph.spawn_agent("b", topics={"t"}, budget=Budget(tokens=100))
        await other.remember("four")
        with pytest.raises(BudgetExceeded, match="session graph 'imola' allows 4 writes"):
            await other.commit("five")
        used = await graph.usage()
        assert (used.writes, used.model_calls) == (4, 1)
        assert (await graph.status()).usage == used
        by_agent = await graph.usage_by_agent()
        assert {name: spent.writes for name, spent in by_agent.items()} == {"a": 3, "b": 1}
        await other.turn("hello there")
        asking = [other.turn("hello there") for _ in range(20)]
        answers = await asyncio.gather(*asking, return_exceptions=True)
        refused = [one for one in answers if isinstance(one, BudgetExceeded)]
        assert refused
        assert all(one.what == "tokens" for one in refused)
        assert (await other.usage()).tokens <= 100
        denials = await graph.audit(only=AuditFilter(kinds=("denied",)))
        assert [event.agent_id for event in denials] == ["a", "a", "b", *["b"] * len(refused)]
        await graph.configure(budget=Budget(writes=5))
        await other.commit("five")


async def test_ne_10_no_model_is_asked_whose_answer_could_not_be_kept(tmp_path: Path) -> None:
    """Where no write is left, a turn by the model is refused before the model costs anything."""
    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with Ezra.open(settings, model=ScriptedModel(["one"]), clock=MovingClock()) as ezra:
        graph = await ezra.create_session_graph("imola", budget=Budget(model_calls=9, writes=1))
        agent = await graph.spawn_agent("a")
        await agent.remember("one")
        with pytest.raises(BudgetExceeded, match="session graph 'imola' allows 1 writes"):
            await agent.complete("hello")
        assert (await graph.usage()).model_calls == 0
        await graph.configure(budget=Budget(model_calls=9, writes=2))
        assert (await agent.complete("hello")).response == "one"


async def test_two_runtimes_see_each_others_changes_at_once(tmp_path: Path, tiers: str) -> None:
    """A revocation, a narrowing re-attach and a close elsewhere count from the next call on."""
    if tiers == "embedded":
        return  # one process owns embedded data
    clock = MovingClock()
    async with running(tmp_path, clock) as here, running(tmp_path, clock) as there:
        await core(await keeper_of(await here.create_session_graph("root")), "secret", "42")
        graph = await here.create_session_graph("child", inherits_from=["root"])
        agent = await graph.spawn_agent("a", topics={"*"})
        assert "secret is 42" in await core_seen(agent)
        elsewhere = await there.session_graph("child")
        await elsewhere.revoke("root")
        assert await core_seen(agent) == {}
        await speak(agent, "about money", topics={"money"})
        await elsewhere.spawn_agent("a", topics={"tyres"})
        assert not [slot for slot in (await agent.turn("hm")).slots if slot.kind == "hot"]
        with pytest.raises(PolicyDenied):
            await agent.turn("hm", topics={"money"})
        await elsewhere.close()
        with pytest.raises(UsageError, match="has not left"):
            await agent.turn("anybody?")
