"""Agents, their turns and what they know, in process and over HTTP: the same calls and answers."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from support.runtime import MovingClock, running
from support.scripted_model import PassModel
from support.service import serving

from ezra import (
    AuditFilter,
    Budget,
    BudgetExceeded,
    Conflict,
    Ezra,
    Fact,
    NotFound,
    PolicyDenied,
    Rule,
    Settings,
    UsageError,
)
from ezra.handles.agent import Agent
from ezra.handles.catalog import Catalog
from ezra.handles.graph import Graph
from ezra.handles.knowledge import Change, Knowledge
from ezra.handles.turn import Completion, OpenTurn
from ezra.recall.request import Narrowing
from ezra.remote.agent import RemoteAgent, RemoteTurn
from ezra.remote.ezra import RemoteCatalog, RemoteEzra
from ezra.remote.graph import RemoteGraph
from ezra.remote.handle import RemoteKnowledge
from ezra.service.caller import Caller
from ezra.service.handle_pool import HandlePool, acting
from ezra.service.routes import handlers
from ezra.wire import Asked, Operation, handles
from ezra.wire import agents as agent_wire
from ezra.wire.handles import AGENT, AGENT_BOARD, AGENT_DOCUMENTS, AGENT_KNOWLEDGE
from tiers.records import Commitment, HistoricBelief

HERE = {"open", "connect", "settings", "embedder", "model", "reembedding"}
HANDLES: tuple[tuple[type, type, set[str]], ...] = (
    (Ezra, RemoteEzra, {*HERE, "agent", "ask", "spawn_agent", "url"}),
    (Graph, RemoteGraph, {"ask", "url"}),
    (Catalog, RemoteCatalog, {"ask", "opened"}),
    (Agent, RemoteAgent, {"ask"}),
    (Knowledge, RemoteKnowledge, {"ask"}),
    (OpenTurn, RemoteTurn, {"ask"}),
)
"""Handles in process, the remote ones, and what one of the two alone has."""
ADD = {"op": "ADD", "subject": "Ada", "predicate": "likes", "object": "rain"}
NO_SUCH = "01J00000000000000000000000"


async def member(runtime: Any, **given: Any) -> Any:
    """Return an agent of a new graph."""
    graph = await runtime.create_session_graph("imola")
    return await graph.spawn_agent("strategist", **{"topics": {"tyres", "strategy"}, **given})


def public(handle: type) -> dict[str, Any]:
    """Return what a class has that is there for everybody."""
    return {name: one for name, one in inspect.getmembers(handle) if not name.startswith("_")}


def parameters(method: Callable[..., Any]) -> list[tuple[str, Any, Any]]:
    """Return the names, kinds and defaults of what a method takes besides its handle."""
    return [
        (one.name, one.kind, one.default)
        for one in inspect.signature(method).parameters.values()
        if one.name != "self"
    ]


@pytest.mark.parametrize(("here", "there", "apart"), HANDLES)
def test_a_remote_handle_has_the_methods_of_the_one_in_process(
    here: type, there: type, apart: set[str]
) -> None:
    """Whoever writes for one can use the other: same names, same parameters, same defaults."""
    ours, theirs = public(here), public(there)
    assert set(ours) - apart == set(theirs) - apart
    for name in set(ours) - apart:
        if inspect.isfunction(ours[name]):
            assert parameters(theirs[name]) == parameters(ours[name]), name
        else:
            assert isinstance(theirs[name], property) == isinstance(ours[name], property), name


@pytest.mark.parametrize(
    ("asked", "method"),
    [
        (agent_wire.ReplyAsked, OpenTurn.reply),
        (agent_wire.RememberAsked, Agent.remember),
        (handles.RecallAsked, Agent.recall),
        (handles.RecallAsked, Graph.recall),
        (agent_wire.CatalogRememberAsked, Catalog.remember),
    ],
)
def test_what_is_asked_are_the_arguments_of_the_method(
    asked: type[Asked], method: Callable[..., Any]
) -> None:
    """What is written by hand has names and defaults of the handle's method, as all others have."""
    taken = {name: default for name, kind, default in parameters(method)}
    if taken.pop("more", None) is inspect.Parameter.empty:
        taken |= dict.fromkeys(Narrowing.__annotations__)
    fields = asked.model_fields
    assert set(fields) == set(taken)
    for name, field in fields.items():
        if name not in Narrowing.__annotations__ or method.__name__ != "recall":
            assert field.is_required() == (taken[name] is inspect.Parameter.empty), name
            assert field.is_required() or field.default == taken[name], name


async def test_a_turn_is_opened_replied_to_and_remembered(runtime: Any) -> None:
    """Steps 1 to 8: the context comes back whole, the reply is stored once and found by its ref."""
    agent = await member(runtime, role="Race strategist.")
    await agent.remember(Fact(subject="mediums", predicate="last", object="18 laps", tier="core"))
    turn = await agent.turn("How long do the mediums last?", ref="radio-1", topics={"tyres"})
    assert [one["role"] for one in turn.messages] == ["system", "user"]
    assert "18 laps" in turn.messages[0]["content"]
    assert [slot.kind for slot in turn.slots] == ["system", "core", "input"]
    assert turn.slots[1].source_ids == (turn.core.facts[0].id,)
    assert turn.tokens == sum(slot.tokens for slot in turn.slots)
    assert "cold" in turn.tiers_used
    assert turn.receipt_id is not None
    assert (turn.dropped, turn.shadowed) == ((), ())
    assert "write_back" not in turn.step_ms
    turn.messages.clear()
    assert turn.messages

    written = await turn.reply("About 18 laps.", [{"tool": "timing", "output": "lap 1: 81.2"}])
    assert (written.turn.id, written.turn.seq, written.was_new) == (turn.id, 1, True)
    assert written.turn.topics == ("tyres",)
    assert "write_back" in turn.step_ms
    with pytest.raises(Conflict) as refused:
        await turn.reply("About 20 laps.")
    assert refused.value.what == "turn"
    graph = await runtime.session_graph("imola")
    assert await graph.turns_by_ref(["radio-1", "radio-2"]) == {"radio-1": written.turn}
    shown = await agent.read_tool_output(turn.id, start=4, length=2)
    assert (shown.text, shown.tool, shown.total, shown.next_start) == ("1:", "timing", 11, 6)


async def test_a_model_answers_over_either_door(door: str, tmp_path: Path) -> None:
    """``complete`` says which model spoke; a turn's own ``complete`` remembers nothing yet."""
    model = PassModel({"said": "box"}, {"said": "stay"})
    settings = Settings(home=tmp_path, embedder="off", background=False)
    async with (
        Ezra.open(settings, model=model, clock=MovingClock()) as ezra,
        serving(ezra) as url,
        Ezra.connect(url) as remote,
    ):
        agent = await member(ezra if door == "in process" else remote)
        done = await agent.complete("Box now?", speaker="driver")
        turn = await agent.turn("And now?")
        said = await turn.complete()
        used = await agent.usage()
    assert (used.model_calls, used.writes) == (2, 1)
    assert isinstance(done, Completion)
    assert (done.response, done.model, said) == ('{"said": "box"}', "scripted", '{"said": "stay"}')
    assert (done.written.turn.speaker, done.written.turn.id) == ("driver", done.turn.id)
    assert "model" in turn.step_ms


async def test_facts_rules_and_text_are_remembered_recalled_and_forgotten(runtime: Any) -> None:
    """Three forms of one argument, each stored as what it is; the same statement once."""
    agent = await member(runtime)
    graph = await runtime.session_graph("imola")
    text = await agent.remember("The pit lane is 400 m long.", topics=["strategy"])
    fact = await agent.remember(Fact(text="Mediums last 18 laps.", tier="core", confidence=0.5))
    rule = await agent.remember(Rule(trigger="it rains", steps=("Box.", "Take inters.")))
    again = await agent.remember("The pit lane is 400 m long.", topics={"strategy"})
    assert again == text
    found = await graph.facts([fact, NO_SUCH, text])
    assert [(one.id, one.tier, one.topics) for one in found] == [
        (fact, "core", ("strategy", "tyres")),
        (text, "archival", ("strategy",)),
    ]
    assert found[0].confidence == 0.5
    later = await agent.remember("Mediums last 20 laps.", supersedes=fact)
    (old,) = await graph.facts([fact])
    assert old.superseded_by == later

    hits = await agent.recall("How long is the pit lane?", kinds=["fact"], explain=True)
    assert hits.items[0].id == text
    assert hits.reasons[text].ranks
    assert "dense" in hits.degraded
    (playbook,) = (await agent.recall("it rains", kinds=["rule"], topics={"tyres"})).items
    assert playbook.id == rule
    (archival,) = await agent.recall_archival("pit lane", scope_topics={"strategy"}, limit=1)
    assert archival.id == text
    assert (await graph.recall("pit lane", kinds=("fact",), limit=1)).items[0].id == text
    assert [one.id for one in (await agent.core()).facts] == [later], "core as what it replaced"

    assert await agent.forget(text, reason="it was measured anew") is True
    assert await agent.forget(text, reason="it was measured anew") is False
    assert text not in {one.id for one in (await agent.recall("pit lane")).items}


async def test_a_turn_that_is_opened_again_uses_facts_once(runtime: Any, behind: Ezra) -> None:
    """Whether its first reply was stored or never came; one of another name uses them again."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist")
    fact = await agent.remember("Mediums last 18 laps.")
    for ref, uses in (("q1", 1), ("q1", 1), ("q1", 1), ("q2", 2)):
        for is_replied_to in (False, True):
            turn = await agent.turn("How long do the mediums last?", ref=ref)
            assert fact in [one for slot in turn.slots for one in slot.source_ids]
            if is_replied_to:
                await turn.reply("18 laps.")
        await behind.drain_learning()
        assert [(one.uses, one.tier) for one in await agent.facts([fact])] == [(uses, "archival")]


async def test_what_is_committed_to_in_a_repeated_turn_is_of_the_stored_one(runtime: Any) -> None:
    """Before its reply and after: the turn tells of it, and a trace of what was said reaches it."""
    graph = await runtime.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist")
    stored = (await (await agent.turn("It is dry.", ref="q1")).reply("Noted.")).turn
    again = await agent.turn("It is dry.", ref="q1")
    before = await agent.commit("Start on mediums.", key=("start", "compound"))
    assert (await again.reply("Noted.")).turn.id == stored.id
    after = await agent.commit("Stop once.", key=("stops", "number"))
    assert before.turn_id == after.turn_id == stored.id
    assert len((await graph.beliefs.replay(1)).events) == 2
    found = await graph.taint.trace(stored.id)
    assert {before.id, after.id} <= {one.id for one in found.nodes if one.exposure == "derived"}

    await agent.turn("It rains.", ref="q1")
    other = await agent.commit("Start on wets.", key=("rain", "compound"))
    assert other.turn_id != stored.id  # what was said there is something else


async def test_what_no_model_may_answer_costs_nothing(runtime: Any) -> None:
    """No context is made for a model that may not be asked, be it for want of a call or a write."""
    graph = await runtime.create_session_graph("imola", budget=Budget(model_calls=1, writes=2))
    agent = await graph.spawn_agent("strategist")
    await agent.complete("Are mediums better?")
    used = await graph.usage()
    for budget, named in ((Budget(model_calls=1), "model calls"), (Budget(writes=1), "writes")):
        await graph.configure(budget=budget)
        with pytest.raises(BudgetExceeded, match=named):
            await agent.complete("Are hards better?")
        assert await graph.usage() == used
    turn = await agent.turn("Are softs better?")
    assert (await graph.usage()).tokens == used.tokens + turn.tokens


async def test_the_past_is_searched_by_days(runtime: Any, clock: MovingClock) -> None:
    """Lines begin with their day, over both handles that can look."""
    agent = await member(runtime)
    said = clock() - timedelta(days=3)
    await (await agent.turn("Rain is likely at two.", at=said)).reply("Noted.")
    graph = await runtime.session_graph("imola")
    for found in (
        await agent.search_memory("rain", max_days_ago=7),
        await graph.search_memory(max_days_ago=7, agent_id="strategist"),
    ):
        assert len(found.lines) == 1
        assert found.lines[0].startswith(f"[{said:%Y-%m-%d}] ")
        assert found.since == (said - timedelta(days=4)).date()
        assert found.items[0].occurred_at == said
    assert (await agent.search_memory(min_days_ago=4)).items == ()


async def test_beliefs_are_committed_settled_pinned_and_looked_back_at(runtime: Any) -> None:
    """The winner is active, what it replaced is in the past, a repeat under one ``ref`` is none."""
    agent = await member(runtime)
    await (await agent.turn("What do we start on?")).reply("Mediums.")
    about: dict[str, Any] = {"topic": "strategy", "key": ("start", "compound")}
    first = await agent.commit("Start on mediums.", value="medium", ref="start", **about)
    assert type(first) is Commitment
    assert (first.key, first.topics) == (("start", "compound"), ("strategy",))
    await (await agent.turn("It is cold.")).reply("Then softs.")
    second = await agent.commit("Start on softs.", value="soft", sources=[first.id], **about)
    again = await agent.commit("Start on mediums.", value="medium", ref="start", **about)
    with pytest.raises(Conflict):
        await agent.commit("Start on hards.", value="hard", ref="start", **about)
    assert isinstance(again, HistoricBelief)
    assert (again.id, again.status, again.superseded_by) == (first.id, "superseded", second.id)
    assert [one.id for one in await agent.beliefs()] == [second.id]
    assert [one.id for one in await agent.beliefs(as_of=1)] == [first.id]
    assert [one.id for one in await agent.beliefs(first.recorded_at)] == [first.id]
    pinned = await agent.pin(second.id)
    assert pinned.pinned
    assert (await agent.beliefs()) == (pinned,)
    with pytest.raises(NotFound):
        await agent.pin(first.id)


@pytest.mark.parametrize("whose", ["agent", "graph"])
async def test_the_knowledge_graph_is_read_and_changed(runtime: Any, whose: str) -> None:
    """Every method of an agent's knowledge and of a graph's."""
    agent = await member(runtime)
    graph = await runtime.session_graph("imola")
    knowledge = (agent if whose == "agent" else graph).knowledge
    born = datetime(2020, 1, 1, tzinfo=UTC)
    added = await knowledge.add("Ada", "drives for", "Falcon", valid_from=born, confidence=0.9)
    assert await knowledge.entity("Nobody") is None
    moved = await knowledge.update("ada", "drives for", "Osprey")
    await knowledge.alias("Osprey", "The Greens")
    applied = await knowledge.apply(
        [
            {"op": "add", "subject": "Osprey", "predicate": "based in", "object": "Leeds"},
            Change(op="DELETE", subject="Nobody", predicate="likes"),
        ]
    )
    assert [(one.op, one.ended, one.problem) for one in applied] == [
        ("ADD", (), None),
        ("DELETE", (), None),
    ]
    entity = await knowledge.entity("the greens")
    assert entity is not None
    assert {entity.name, *entity.aliases} == {"Osprey", "The Greens"}
    near = await knowledge.neighbours("Ada", 2, limit=10)
    assert [(one.fact.id, one.distance) for one in near] == [(moved, 1), (applied[0].id, 2)]
    path = await knowledge.path("Ada", "Leeds")
    assert path is not None
    assert [one.id for one in path] == [moved, applied[0].id]
    assert await knowledge.path("Ada", "Leeds", depth=1) is None
    told = await knowledge.history("Ada", "drives for")
    assert [(one.id, one.superseded_by) for one in told] == [(added, moved), (moved, None)]
    assert told[0].valid_from == born
    before = told[1].recorded_at - timedelta(microseconds=1)
    assert [one.fact.id for one in await knowledge.neighbours("Ada", as_of=before)] == [added]
    assert await knowledge.delete("Ada", "drives for", reason="retired") == (moved,)


UNSHOWN = "\u200b \ufeff\x07"
EARLIER, LATER = (datetime(2026, 1, day, tzinfo=UTC) for day in (1, 2))

REFUSED: list[tuple[str, type[Exception], Callable[[Any, Any], Any]]] = [
    ("message", UsageError, lambda agent, _: agent.turn("  ")),
    ("message", UsageError, lambda agent, _: agent.turn(UNSHOWN)),
    ("what", UsageError, lambda agent, _: agent.remember(UNSHOWN)),
    ("text", UsageError, lambda agent, _: agent.remember(Fact(text=UNSHOWN))),
    ("query", UsageError, lambda agent, _: agent.recall(UNSHOWN)),
    ("topics", UsageError, lambda agent, _: agent.turn("Box?", topics="tyres")),
    ("query", UsageError, lambda agent, _: agent.recall(" ")),
    ("limit", UsageError, lambda agent, _: agent.recall("x", limit=101)),
    ("limit", UsageError, lambda _, graph: graph.recall("x", limit=-1)),
    ("scope", UsageError, lambda agent, _: agent.recall("x", scope="world")),
    ("scope", UsageError, lambda agent, _: agent.recall("x", scope="user")),
    ("colour", UsageError, lambda agent, _: agent.recall("x", colour="red")),
    ("as_of", UsageError, lambda _, graph: graph.recall("x", as_of=datetime(2026, 1, 1))),  # noqa: DTZ001
    ("grain", UsageError, lambda agent, _: agent.search_memory(grain="hourly")),
    ("max_days_ago", UsageError, lambda agent, _: agent.search_memory(max_days_ago=-1)),
    ("what", UsageError, lambda agent, _: agent.remember(42)),
    ("reason", UsageError, lambda agent, _: agent.forget(NO_SUCH, reason=" ")),
    ("half_life_days", UsageError, lambda agent, _: agent.recall("x", half_life_days=math.nan)),
    ("since", UsageError, lambda _, g: g.beliefs.query(since=datetime(2026, 1, 1), until=LATER)),  # noqa: DTZ001
    ("until", UsageError, lambda _, g: g.episodes(since=LATER, until=datetime(2026, 1, 1))),  # noqa: DTZ001
    ("since", UsageError, lambda _, g: g.recall("x", since=LATER, until=EARLIER)),
    ("until", UsageError, lambda _, g: g.beliefs.query(since=LATER, until=EARLIER)),
    ("until", UsageError, lambda _, g: g.beliefs.query(since=3, until=2)),
    ("until", UsageError, lambda agent, _: agent.board.history(since=LATER, until=EARLIER)),
    ("until", UsageError, lambda _, g: g.episodes(since=LATER, until=EARLIER)),
    ("until", UsageError, lambda *_: AuditFilter(since=LATER, until=EARLIER)),
    ("ids", UsageError, lambda agent, _: agent.facts(NO_SUCH)),
    ("ids", UsageError, lambda agent, _: agent.forget_facts(NO_SUCH, reason="No.")),
    ("refs", UsageError, lambda _, graph: graph.turns_by_ref("r1")),
    ("record_ids", UsageError, lambda _, graph: graph.redact(NO_SUCH, reason="No.")),
    ("claim", UsageError, lambda agent, _: agent.commit("")),
    ("sources", UsageError, lambda agent, _: agent.commit("Box.", sources="abc")),
    ("changes[1].op", UsageError, lambda agent, _: agent.knowledge.apply([ADD, ADD | {"op": "X"}])),
    ("changes[0].object", UsageError, lambda _, g: g.knowledge.apply([ADD | {"object": " "}])),
    ("commit", PolicyDenied, lambda agent, _: agent.commit("Box.", topic="money")),
    ("active belief", NotFound, lambda agent, _: agent.pin(NO_SUCH)),
    ("fact", NotFound, lambda agent, _: agent.remember("Box.", supersedes=NO_SUCH)),
    ("turn", NotFound, lambda agent, _: agent.read_tool_output("no/such?turn=%2F")),
    ("agent", NotFound, lambda _, graph: graph.search_memory(agent_id="nobody")),
]


async def test_refusals_say_the_same(runtime: Any) -> None:
    """The same class of error, about the same thing; and nothing was stored."""
    agent = await member(runtime)
    graph = await runtime.session_graph("imola")
    for about, kind, call in REFUSED:
        with pytest.raises(kind) as refused:
            await call(agent, graph)
        error = refused.value
        names = ("field", "action", "kind")
        said = next(getattr(error, name) for name in names if hasattr(error, name))
        assert said == about, str(error)
        assert about != "limit" or "a whole number, 1 to 100" in str(error)
    assert (await agent.usage()).writes == 0
    assert await agent.beliefs() == ()


async def test_who_has_left_can_do_no_more_through_an_old_handle(runtime: Any) -> None:
    """Leaving twice is once, and spawning again does not wake the handle that left."""
    agent = await member(runtime)
    await agent.heartbeat()
    await agent.leave()
    await agent.leave()
    for call in (agent.heartbeat, agent.core, lambda: agent.turn("Box?")):
        with pytest.raises(UsageError) as refused:
            await call()
        assert (refused.value.field, refused.value.value) == ("agent", "strategist")
    graph = await runtime.session_graph("imola")
    back = await graph.spawn_agent("strategist", topics={"tyres"})
    assert (back.topics, (await back.core()).facts) == (("tyres",), ())
    with pytest.raises(UsageError):
        await agent.core()


async def test_who_left_before_it_replied_leaves_nothing_in_the_ring(tmp_path: Path) -> None:
    """The turn is stored; the ring was cleared when the agent left, and stays so."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        for by_another_handle in (False, True):
            agent = await graph.spawn_agent("strategist")
            await (await agent.turn("Which tyre?")).reply("Softs.")
            turn = await agent.turn("Box?")
            await (await graph.agent("strategist") if by_another_handle else agent).leave()
            await turn.reply("Box.")
            assert (await graph.memory_of("strategist")).ring == ()
        assert (await graph.memory_of("strategist")).turns == 4


async def test_what_was_thought_before_leaving_is_remembered_at_either_door(runtime: Any) -> None:
    """A turn is answered, or the model asked, as if the agent were there; it opens no other."""
    agent = await member(runtime)
    turn, other = await agent.turn("Box?"), await agent.turn("Now?")
    await agent.leave()
    assert await other.complete()
    written = await turn.reply("Box.")
    assert written.turn.response == "Box."
    with pytest.raises(Conflict):
        await turn.reply("Box again.")
    graph = await runtime.session_graph("imola")
    assert [one.response for one in await graph.turns("strategist")] == ["Box."]
    with pytest.raises(UsageError):
        await agent.turn("And now?")


async def test_a_turn_belongs_to_its_agent(tmp_path: Path) -> None:
    """Who knows a turn's id, but acts as somebody else, cannot reply to it."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        pool = HandlePool(ezra, lambda: 0.0)
        turn = await (await graph.spawn_agent("strategist")).turn("Box?")
        pool.keep(Caller("one", "operator"), "imola", "strategist", turn)
        assert pool.turn("imola", "strategist", turn.id) is turn
        for names in (("imola", "spy"), ("monza", "strategist")):
            with pytest.raises(NotFound):
                pool.turn(*names, turn.id)


@pytest.mark.parametrize(
    ("caller", "missing"),
    [
        (Caller("ben's", "agent", user_id="ben"), ("user ann",)),
        (Caller("narrow", "operator", topics=("money",)), ("tyres",)),
    ],
    ids=lambda one: getattr(one, "name", None),
)
async def test_a_token_does_not_act_as_an_agent_that_is_more_than_it_allows(
    tmp_path: Path, caller: Caller, missing: tuple[str, ...]
) -> None:
    """Whoever spawned the agent: in no operation does a token reach beyond its user and topics."""
    async with running(tmp_path) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"}, user_id="ann")
        names = {"graph_id": "imola", "agent_id": "strategist"}
        pool = HandlePool(ezra, lambda: 0.0)
        allowed = Caller("ann's", "agent", user_id="ann", topics=("tyres",))
        assert (await acting(pool, allowed, names)).id == agent.id
        offered = (AGENT, AGENT_BOARD, AGENT_DOCUMENTS, AGENT_KNOWLEDGE)
        acts = {one.operation.name for handle in offered for one in handle.offered.values()}
        acts |= {one.name for one in vars(agent_wire).values() if isinstance(one, Operation)}
        done = [(one, handler) for one, handler in handlers if one.name in acts]
        assert len(done) == len(acts)
        for operation, handler in done:
            given = names | {name: NO_SUCH for name in operation.names if name not in names}
            with pytest.raises(PolicyDenied) as refused:
                await handler(pool, caller, given, operation.asks.model_construct())
            assert refused.value.missing == missing, operation.name


HOSTILE: list[tuple[str, bytes, str]] = [
    ("turns", b'{"message": NaN}', "message"),
    ("turns", b'{"message": "Box?", "colour": 1}', "colour"),
    ("turns", b'{"message": "Box?", "at": "2026-05-14T09:00:00"}', "at"),
    ("turns", b'{"message": ' + b"[" * 700 + b"]" * 700 + b"}", "message"),
    ("recall", b'{"query": "x", "limit": 1e400}', "limit"),
    ("recall", b'{"query": "x", "limit": 10000000000000000000000}', "limit"),
    ("recall", b'{"query": "x", "topics": "tyres"}', "topics"),
    ("memories", b'{"what": {"trigger": "it rains", "steps": []}}', "what.rule.steps"),
    ("memories", b'{"what": {"text": "\\ud800"}}', "what.fact.text"),
    ("memories", b'{"what": null}', "what"),
    ("beliefs", b'{"claim": "Box.", "key": ["start"]}', "key[1]"),
    ("knowledge/changes", b'{"changes": [{"op": "add"}]}', "changes[0].subject"),
]


async def test_what_does_not_fit_is_refused_by_name(behind: Ezra) -> None:
    """Odd, deep, large and broken JSON is the sender's mistake, and says where it is."""
    graph = await behind.create_session_graph("imola")
    agent = await graph.spawn_agent("a/b", topics={"tyres"})
    root = "/v1/graphs/imola/agents/a%2Fb"
    headers = {"content-type": "application/json"}
    async with serving(behind) as url, httpx2.AsyncClient(base_url=url, headers=headers) as client:
        for path, body, field in HOSTILE:
            answer = await client.post(f"{root}/{path}", content=body)
            said = answer.json()
            assert (answer.status_code, said["field"]) == (422, field), (path, body[:80], said)
            assert len(answer.content) < 2_000
    assert (await agent.usage()).writes == 0
