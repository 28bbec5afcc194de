"""Session graphs, their members and the runtime's upkeep, through either door."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from support.runtime import MovingClock
from support.service import serving

from ezra import (
    AuditFilter,
    Budget,
    ConfigError,
    Conflict,
    Ezra,
    EzraError,
    Fact,
    NotFound,
    Parent,
    PolicyDenied,
    Retention,
    Rule,
    TierRejected,
    TierUnavailable,
    UsageError,
)
from ezra.remote.graph import RemoteGraph
from ezra.service.routes import handlers
from ezra.service.tokens import TokenFile
from ezra.wire import Operation, agents, graphs
from ezra.wire.handles import HANDLES

LONG_AGO = datetime(2020, 1, 1, tzinfo=UTC)
HOSTILE = (
    *("a/b", "..", ".", "50 % off?#x", "%2F", "100%2F", "a&b=c;d", "a?b#c", "\\", "~'\"<>"),
    *("рейс ✓", "ä ß", "日本"),
)


async def test_a_graph_lives_alike(runtime: Any, behind: Ezra) -> None:
    """Made, linked, configured, closed, opened again and archived, as the runtime then says."""
    await runtime.create_session_graph("monaco")
    await runtime.create_session_graph("bahrain")
    graph = await runtime.create_session_graph(
        "imola",
        inherits_from=["monaco", Parent(id="bahrain", as_of=LONG_AGO, episodes=True)],
        merge_strategy="highest_trust",
        inherit_rules=False,
        budget=Budget(writes=5),
        retention=Retention(plan="pro"),
    )
    assert (graph.id, graph.inherits_from) == ("imola", ("monaco", "bahrain"))
    (_, _, record) = await runtime.session_graphs()
    assert (record,) == (await behind.session_graphs())[2:]
    assert [(one.rules, one.episodes, one.as_of) for one in record.parents] == [
        (False, False, None),
        (True, True, LONG_AGO),
    ]
    assert (record.merge_strategy, record.retention.plan) == ("highest_trust", "pro")

    assert await graph.revoke("monaco")
    assert not await graph.revoke("monaco")
    await graph.inherit(Parent(id="monaco", rules=False))
    assert graph.inherits_from == ("bahrain", "monaco")
    await graph.configure(budget=Budget(tokens=100, writes=7))
    again = await runtime.session_graph("imola")
    assert again.inherits_from == graph.inherits_from
    status = await again.status()
    assert status == await (await behind.session_graph("imola")).status()
    assert (status.budget.writes, status.lineage[0].as_of) == (7, LONG_AGO)

    await graph.close()
    await graph.close()
    assert (await graph.status()).state == "closed"
    assert await graph.reopen()
    assert not await graph.reopen()
    assert await graph.archive()
    assert not await graph.archive()
    with pytest.raises(Conflict):
        await graph.reopen()


async def test_an_empty_name_is_refused_alike(runtime: Any) -> None:
    """Before anybody looks for whom it names."""
    with pytest.raises(UsageError, match=r"session_graph_id: '' .* at least one character"):
        await runtime.session_graph("")
    graph = await runtime.create_session_graph("imola")
    with pytest.raises(UsageError, match=r"agent_id: '' .* at least one character"):
        await graph.agent("")


async def test_members_come_and_go_alike(runtime: Any, behind: Ezra, clock: MovingClock) -> None:
    """Spawned with all that limits them, looked up, let go, and spawned again."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent(
        "strategist",
        topics={"Tyres", "strategy"},
        role="race strategist",
        user_id="team",
        sources=[],
        denied_topics={"budget"},
        denied_sources=("wiki",),
        budget=Budget(writes=3),
        prompts={"daily": "Be brief."},
    )
    assert (agent.id, agent.topics, agent.lineage) == ("strategist", ("strategy", "tyres"), ())
    await agent.remember(Fact(subject="pit", predicate="takes", object="22 s", tier="core"))
    (record,) = await graph.agents()
    assert (record,) == await (await behind.session_graph("imola")).agents()
    assert (record.sources, record.denied_topics, record.denied_sources) == (
        (),
        ("budget",),
        ("wiki",),
    )
    found = await graph.agent("strategist")
    assert [fact.object for fact in found.core_at_spawn] == ["22 s"]
    assert (await graph.core("strategist")).facts == found.core_at_spawn
    assert (await graph.usage_by_agent())["strategist"] == await graph.usage()

    clock.move(minutes=5)
    await agent.heartbeat()
    assert (await graph.agents())[0].seen_at > record.seen_at
    await graph.spawn_agent("engineer")
    await agent.leave()
    await agent.leave()
    with pytest.raises(UsageError, match="has not left"):
        await agent.heartbeat()
    with pytest.raises(UsageError, match="has not left"):
        await graph.agent("strategist")
    await graph.spawn_agent("strategist", topics={"tyres"})
    assert (await graph.agents())[0].left_at is None
    await graph.close()
    with pytest.raises(UsageError, match="has not left"):
        await graph.agent("engineer")


async def test_what_happened_is_told_alike(runtime: Any, behind: Ezra) -> None:
    """Feeds by page and filter, receipts, contexts of the past, and what became of a record."""
    graph = await runtime.create_session_graph("imola")
    theirs = await behind.session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    fact_id = await agent.remember("Mediums last about 18 laps.")
    turn = await agent.turn("how long do the mediums last?")
    await turn.reply("About 18 laps.")
    await graph.configure(retention=Retention(plan="pro"))

    events = await graph.audit()
    assert events == await theirs.audit()
    assert await graph.audit(events[0].seq, 1) == events[1:2]
    assert await runtime.audit(1, 2) == await behind.audit(1, 2)
    only = AuditFilter(kinds=("spawned", "created"), until=events[-1].recorded_at, graph_id="imola")
    chosen = await runtime.audit(only=only)
    assert chosen == await behind.audit(only=only)
    assert {one.kind for one in chosen} == {"created", "spawned"}
    assert await graph.audit(only=AuditFilter(record_id="none")) == ()

    receipt = await graph.receipt(turn.receipt_id)
    assert receipt == await theirs.receipt(turn.receipt_id)
    replayed = await graph.replay_context(receipt.id)
    assert (replayed.is_exact, replayed.messages) == (True, turn.messages)
    assert replayed == await runtime.replay_context(receipt.id)
    today = await runtime.replay_context(receipt.id, today=True)
    assert today.today is not None
    assert today.today == (await theirs.replay_context(receipt.id, today=True)).today
    story = await runtime.explain(fact_id)
    assert story == await behind.explain(fact_id)
    assert "18 laps" in story.text


async def test_beliefs_and_cards_have_a_story(runtime: Any, behind: Ezra) -> None:
    """What they say, how they stand, what they rest on, and who did what to them."""
    graph = await runtime.create_session_graph("imola")
    ann = await graph.spawn_agent("ann", topics={"tyres"})
    bob = await graph.spawn_agent("bob", topics={"tyres"})
    fact_id = await ann.remember("Mediums last 18 laps.")
    about: dict[str, Any] = {"topic": "tyres", "key": ("start", "compound")}
    first = await ann.commit("Start on mediums.", value="medium", sources=[fact_id], **about)
    second = await bob.commit("Start on softs.", value="soft", private=True, **about)
    asked = await ann.board.send("bob", "Which tyre?", subject="Start", type="question")
    answer = await bob.board.reply(asked.id, "Softs.", shared=True)
    await ann.board.ack(answer.id)
    task = await ann.board.start_task("Fit softs")
    done = await ann.board.log("fit", "Front left.", task_id=task.id)
    await ann.board.finish_task(task.id, "all four")
    told = {
        first.id: ("belief", "Start on mediums.", "held by ann about start compound", (fact_id,)),
        second.id: ("belief", "Start on softs.", "held by bob about start compound", ()),
        asked.id: ("message", "Start\nWhich tyre?", "from ann to bob (question)", ()),
        answer.id: ("message", "Softs.", "read by ann", (asked.id,)),
        task.id: ("task", "Fit softs", "completed, version 2, put up by ann", ()),
        done.id: ("action", "Front left.", f"for the task {task.id}", ()),
    }
    for record_id, (kind, text, line, sources) in told.items():
        story = await runtime.explain(record_id)
        assert story == await behind.explain(record_id)
        assert (story.kind, story.text, story.source_ids) == (kind, text, sources)
        assert story.graph_id == "imola"
        assert line in "\n".join(story.lines)
    assert [one.kind for one in (await runtime.explain(task.id)).events] == ["posted", "changed"]
    await graph.redact([first.id, task.id], reason="asked")
    emptied = str([await runtime.explain(one) for one in (first.id, task.id)])
    assert [words for words in ("mediums", "Fit softs", "all four") if words in emptied] == []


async def test_upkeep_is_done_alike(runtime: Any, behind: Ezra, clock: MovingClock) -> None:
    """Lifecycle, learning, retention, conservation, work and the key, each with its report."""
    graph = await runtime.create_session_graph("imola")
    theirs = await behind.session_graph("imola")
    agent = await graph.spawn_agent("strategist")
    for number in range(30):
        await (await agent.turn(f"lap {number}")).reply(f"done {number}")
    waiting = await runtime.waiting_work()
    assert waiting == await behind.waiting_work()
    assert waiting["index"] == 30
    learnt = await runtime.drain_learning()
    assert (learnt.completed["index"], learnt.problems) == (30, [])
    clock.move(days=3)
    ticked = await runtime.run_lifecycle_tick("imola")
    assert ticked.summaries_written >= 1
    assert ticked.episodes_by_grain["daily"] == 1
    summaries, episodes = await graph.summaries(), await graph.episodes(grain="daily")
    assert (summaries, episodes) == (await theirs.summaries(), await theirs.episodes(grain="daily"))
    assert len(episodes) == 1
    assert await graph.episodes(until=LONG_AGO) == ()
    conserved = await graph.conservation()
    assert conserved.ok
    assert conserved == await theirs.conservation()
    assert await graph.retain(dry_run=True) == await theirs.retain(dry_run=True)
    assert (await runtime.parked_work(), await runtime.rerun_work(["none"])) == ((), 0)
    assert (await runtime.reembed()) == await behind.reembed()
    with pytest.raises(TierRejected, match="no vector search"):
        await runtime.ensure_archival_index()
    key = await runtime.public_key()
    assert key == await behind.public_key()
    assert await runtime.rotate_key() == await behind.public_key() != key


async def test_content_is_destroyed_alike(runtime: Any, behind: Ezra) -> None:
    """By id, by subject in a graph, and in the whole tenant, with a receipt of the key's owner."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", user_id="anna")
    first = await agent.remember("Bob likes softs.")
    await agent.remember("Carla likes hards.")
    await agent.remember("Dan likes mediums.")
    made = await agent.remember(Fact(text="Fit softs for him.", source_ids=(first,)))
    report = await graph.redact([first], reason="asked")
    assert report.ids["fact"] == (first, made)
    assert report.is_complete
    assert report.receipt.reason == "asked"
    assert report.receipt.public_key == await behind.public_key()
    assert (await graph.erase(subject="Carla", reason="asked")).ids["fact"] != (first,)
    everywhere = await runtime.erase(user_id="anna", reason="left")
    assert list(everywhere) == ["imola"]
    story = await runtime.explain(first)
    assert story.text == "[redacted]"
    assert "redacted" in {event.kind for event in story.events}
    assert "Bob" not in str(story)
    story = await runtime.explain(made)
    assert (story.text, story.lines) == ("[redacted]", ("emptied with what it was made of",))


async def test_the_catalog_is_kept_alike(runtime: Any, behind: Ezra) -> None:
    """Facts and rules for every agent: put in, found, superseded and destroyed."""
    ours, theirs = await runtime.catalog(), await behind.catalog()
    graph = await runtime.create_session_graph("imola")
    fact = Fact(subject="pit", predicate="takes", object="22 s", tier="core", topics=("tyres",))
    first = await ours.remember(fact)
    second = await ours.remember("Pit stops take 21 s.", supersedes=first)
    rule = Rule(trigger="safety car comes out", steps=("box at once",))
    await ours.remember(rule, topics={"strategy"})
    await ours.remember(fact.model_copy(update={"object": "23 s"}))
    assert {one.object for one in await ours.core()} == {None, "23 s"}
    assert await ours.facts([first, second]) == await theirs.facts([first, second])
    assert [one.steps for one in await ours.rules("safety car", 1)] == [rule.steps]
    found = await ours.recall("pit stops", kinds=("fact",), limit=5, receipt=False)
    assert second in {one.id for one in found.items}
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    assert {one.object for one in agent.core_at_spawn} == {None, "23 s"}
    assert (await ours.redact([second], reason="asked")).ids["fact"] == (second,)
    assert await ours.audit(only=AuditFilter(kinds=("redacted",))) == (await theirs.audit())[-1:]


Refused = Callable[[Any, Any], Awaitable[object]]
REFUSED: dict[str, tuple[type[EzraError], Refused]] = {
    "graph twice": (Conflict, lambda ezra, _: ezra.create_session_graph("imola")),
    "no such graph": (NotFound, lambda ezra, _: ezra.session_graph("none")),
    "catalog": (UsageError, lambda ezra, _: ezra.run_lifecycle_tick("@catalog")),
    "no such parent": (
        NotFound,
        lambda ezra, _: ezra.create_session_graph("x", inherits_from=["none"]),
    ),
    "text for a list": (
        UsageError,
        lambda ezra, _: ezra.create_session_graph("x", inherits_from="imola"),
    ),
    "strategy": (UsageError, lambda ezra, _: ezra.create_session_graph("x", merge_strategy="any")),
    "own parent": (UsageError, lambda _, graph: graph.inherit("imola")),
    "topics as text": (UsageError, lambda _, graph: graph.spawn_agent("x", topics="tyres")),
    "name": (UsageError, lambda _, graph: graph.spawn_agent("x\ny")),
    "surrogate": (UsageError, lambda _, graph: graph.spawn_agent("\ud800")),
    "all denied": (UsageError, lambda _, graph: graph.spawn_agent("x", denied_topics={"*"})),
    "no such member": (NotFound, lambda _, graph: graph.agent("none")),
    "no core": (NotFound, lambda _, graph: graph.core("none")),
    "grain": (UsageError, lambda _, graph: graph.episodes(grain="hourly")),
    "page": (UsageError, lambda _, graph: graph.audit(limit=0)),
    "huge": (UsageError, lambda ezra, _: ezra.audit(after=2**70)),
    "no receipt": (NotFound, lambda _, graph: graph.receipt("none")),
    "no replay": (NotFound, lambda ezra, _: ezra.replay_context("none")),
    "no record": (NotFound, lambda ezra, _: ezra.explain("none")),
    "blank reason": (UsageError, lambda _, graph: graph.redact(["x"], reason=" ")),
    "nothing to redact": (NotFound, lambda _, graph: graph.redact(["x"], reason="asked")),
    "neither": (UsageError, lambda ezra, _: ezra.erase(reason="asked")),
}


async def test_refusals_are_alike(runtime: Any) -> None:
    """What is not acceptable is the same error on both sides, and nothing is written."""
    graph = await runtime.create_session_graph("imola")
    before = await runtime.audit()
    for what, (error, call) in REFUSED.items():
        with pytest.raises(EzraError) as refusal:
            await call(runtime, graph)
        assert type(refusal.value) is error, what
    assert await runtime.audit() == before
    assert await graph.agents() == ()


async def test_names_of_any_kind_reach_their_graph(runtime: Any) -> None:
    """Slashes, dots, percent signs and other scripts are names like any other."""
    for name in HOSTILE:
        graph = await runtime.create_session_graph(name)
        agent = await graph.spawn_agent(name, topics={"tyres"})
        await agent.heartbeat()
        assert ((await runtime.session_graph(name)).id, agent.id) == (name, name)
        assert [one.id for one in await graph.agents()] == [name]
        assert (await graph.status()).agents == 1
    assert [one.id for one in await runtime.session_graphs()] == list(HOSTILE)


async def test_functions_do_not_go_over_the_wire(behind: Ezra) -> None:
    """A resolver, a callback and a progress bar are refused before anything is sent."""

    async def decide(_: object) -> str:
        return "new"

    async with Ezra.connect("http://127.0.0.1:9") as remote:
        with pytest.raises(UsageError, match="decide") as refusal:
            await remote.create_session_graph("x", merge_strategy="custom", resolver=decide)
        assert refusal.value.field == "resolver"
        with pytest.raises(UsageError, match="last_write_wins, highest_trust or manual"):
            await remote.create_session_graph("x", merge_strategy="custom")
        with pytest.raises(UsageError, match="decide"):
            await remote.session_graph("x", resolver=decide)
        with pytest.raises(UsageError, match="a function does not go over the wire"):
            remote.on_contradiction(decide)
        with pytest.raises(UsageError, match="progress"):
            await remote.ensure_archival_index(lambda *_: None)
        with pytest.raises(TierUnavailable, match="not reachable"):
            await remote.create_session_graph("x")
    with pytest.raises(ConfigError):
        async with Ezra.connect("nowhere"):
            pass


async def test_a_token_spawns_within_its_bounds(behind: Ezra, tmp_path: Path) -> None:
    """No body makes an agent more than the token of its caller allows; nothing is written."""
    graph = await behind.create_session_graph("imola")
    limits: dict[str, Any] = {"budget": Budget(writes=1), "denied_topics": {"budget"}}
    await graph.spawn_agent("mine", topics={"tyres"}, user_id="anna", **limits)
    await graph.spawn_agent("wide", topics={"*"}, user_id="anna")
    await graph.spawn_agent("other", topics={"tyres"}, user_id="bob")
    before = await graph.agents()
    file = TokenFile(tmp_path / "tokens")
    _, token = file.create(
        "anna's", "agent", user_id="anna", topics=("tyres", "fuel"), expires_at=None
    )
    _, one_agent = file.create("one", "agent", graph_id="imola", agent_id="mine", expires_at=None)
    spawn: dict[str, Any] = {"topics": {"tyres"}, "user_id": "anna"}
    beyond: list[tuple[str, dict[str, Any]]] = [
        ("new", spawn | {"topics": {"tyres", "money"}}),
        ("new", spawn | {"topics": {"*"}}),
        ("new", spawn | {"user_id": "bob"}),
        ("mine", spawn | {"budget": Budget()}),
        ("mine", spawn | {"denied_topics": set()}),
        ("mine", spawn | {"sources": {"*"}}),
        ("mine", spawn | {"topics": {"fuel"}}),
        ("wide", spawn),
        ("other", spawn),
    ]
    async with serving(behind, tokens=file) as url:
        async with Ezra.connect(url, token) as remote:
            theirs = RemoteGraph(
                remote._connection, graphs.GraphAnswer(id="imola", inherits_from=())
            )
            for agent_id, given in beyond:
                with pytest.raises(PolicyDenied):
                    await theirs.spawn_agent(agent_id, **given)
            for agent_id in ("wide", "other"):
                with pytest.raises(PolicyDenied):
                    await remote.agent("imola", agent_id)
            for reading in (remote.session_graphs, theirs.agents, theirs.close, remote.audit):
                with pytest.raises(PolicyDenied):
                    await reading()
            assert await graph.agents() == before
            again = await theirs.spawn_agent("mine", **spawn)
            await theirs.spawn_agent("new", **spawn)
        async with Ezra.connect(url, one_agent) as remote:
            assert (await remote.agent("imola", "mine")).topics == again.topics == ("tyres",)
            with pytest.raises(PolicyDenied):
                await remote.agent("imola", "new")
    mine = (await graph.agents())[0]
    assert (mine.budget.writes, mine.denied_topics) == (1, ("budget",))


def test_every_operation_is_done_by_somebody() -> None:
    """Each has a handler, a name and an address of its own."""
    spoken = (agents, graphs)
    ours = {one.name for module in spoken for one in vars(module).values() if _is_one(one)}
    ours |= {one.operation.name for handle in HANDLES for one in handle.offered.values()}
    done = [operation for operation, _ in handlers]
    assert {one.name for one in done} == ours
    assert len({(one.verb, one.path) for one in done}) == len(done)


def _is_one(one: object) -> bool:
    return isinstance(one, Operation)


async def test_a_name_with_blanks_around_it_is_found_as_it_was_stored(runtime: Any) -> None:
    """Who spells a name alike everywhere finds, erases and revokes what was stored under it."""
    await runtime.create_session_graph("parent ")
    graph = await runtime.create_session_graph(" child", inherits_from=["parent "])
    agent = await graph.spawn_agent("one ", topics={"*"}, user_id="ada ")
    other = await graph.spawn_agent("two ", topics={"*"})
    await agent.remember("Ada has diabetes.")
    await other.remember("The pit lane is closed.")
    await agent.board.send(["two ", "two"], "box this lap", shared=True)

    assert (await runtime.session_graph("child\t")).id == "child"
    assert (await graph.agent(" one")).id == "one"
    assert (await graph.memory_of("one ")).agent.id == "one"
    assert len((await graph.board.inbox("two ")).rows) == 1
    assert await graph.board.unread([" two "]) == {"two": 1}
    events = await graph.audit(only=AuditFilter(agent_id=" one", graph_id="child "))
    assert {one.agent_id for one in events} == {"one"}
    assert (await graph.holding(user_id="ada ")).records[0].user_id == "ada"
    assert {one.agent_id for one in (await graph.holding(agent_id="two ")).records} == {"two"}

    assert (await runtime.erase(user_id=" ada ", reason="request 17")).keys() == {"child"}
    assert (await graph.erase(agent_id="two ", reason="request 18")).ids["fact"]
    assert not (await agent.recall("diabetes pit lane")).items
    assert await graph.revoke("parent ")
    assert graph.inherits_from == ()
    with pytest.raises(UsageError, match="session_graph_id"):
        await runtime.session_graph(" ")
    with pytest.raises(UsageError, match="user_id"):
        await graph.erase(user_id=" ", reason="request 19")
