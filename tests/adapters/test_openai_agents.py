"""The OpenAI Agents SDK's own runner, with a scripted model, over both doors to a runtime."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

import pytest
from agents import Agent, RunConfig, Runner, TResponseInputItem
from agents.memory import Session, SessionSettings, SQLiteSession
from agents.testing import ScriptedModel, assistant_message, function_call
from agents.tool_context import ToolContext
from support.two_doors import House

from ezra.adapters import openai_agents as adapter
from ezra.adapters.keeping import Shelf
from ezra.adapters.openai_agents import EzraSession, memory_tools, pieces_of
from ezra.service.handle_pool import HandlePool
from ezra.service.mcp import mcp_server
from tiers.errors import UsageError

pytestmark = pytest.mark.asyncio(loop_scope="module")

QUIET = RunConfig(tracing_disabled=True)
SAID: list[TResponseInputItem] = [
    {"role": "user", "content": "Which tyres for Imola?"},
    {"type": "reasoning", "id": "r1", "summary": [{"type": "summary_text", "text": "look it up"}]},
    {
        "type": "function_call",
        "call_id": "c1",
        "name": "weather",
        "arguments": '{"place": "Imola", "n": 1.50}',
    },
    {"type": "function_call_output", "call_id": "c1", "output": 'dry, 31 °C \x00 "\\" \ud800 名'},
    {"role": "user", "content": [{"type": "input_image", "image_url": "data:image/png;base64,AA"}]},
    {"role": "user", "content": "yes"},
    {"role": "user", "content": "yes"},
]


def untitled(schema: Any) -> Any:
    """Return a schema without the titles that whoever made it has put in."""
    if isinstance(schema, dict):
        return {
            name: untitled(value)
            for name, value in schema.items()
            if name != "title" or not isinstance(value, str)
        }
    return [untitled(one) for one in schema] if isinstance(schema, list) else schema


async def test_items_come_back_word_for_word_and_in_order(home: House) -> None:
    """Messages, images, reasoning, calls and outputs; twice the same is there twice."""
    agent = await home.agent()
    session = EzraSession("talk", agent)
    assert isinstance(session, Session)
    assert await session.get_items() == []
    await session.add_items(SAID[:4])
    await session.add_items([])
    await session.add_items(SAID[4:])
    assert await session.get_items() == SAID
    assert await session.get_items(2) == SAID[-2:]
    assert await session.get_items(0) == []
    assert await session.get_items(99) == SAID
    # Another object, as after a restart, and another conversation whose name is nearly the same.
    assert await EzraSession("talk", agent).get_items() == SAID
    assert await EzraSession("Talk", agent).get_items() == []
    short = EzraSession("talk", agent, session_settings=SessionSettings(limit=1))
    assert await short.get_items() == SAID[-1:]
    assert await short.get_items(3) == SAID[-3:]


@pytest.mark.parametrize("recalled", [True, False])
async def test_a_secret_in_an_item_comes_back_and_is_found_by_nobody(
    home: House, *, recalled: bool
) -> None:
    """The item is the application's own; the words by which recall finds it have a label."""
    agent = await home.agent()
    session = EzraSession("talk", agent, recalled=recalled)
    items: list[TResponseInputItem] = [
        {"role": "user", "content": "password: hunter2hunter2"},
        {"role": "user", "content": "card 4111 1111 1111 1111"},
    ]
    await session.add_items(items)
    assert await session.get_items() == items
    found = (await agent.recall("password card", kinds=("fact",))).items
    assert len(found) == 2 * recalled
    assert not [one for one in found if "hunter2" in one.text or "4111" in one.text]


async def test_a_session_does_what_the_sdks_own_does(home: House) -> None:
    """Random adding, popping, clearing and reading: each answer is that of ``SQLiteSession``."""
    random = Random(20261122)
    agent = await home.agent()
    ours, theirs = EzraSession("same", agent), SQLiteSession("same")
    for step in range(60):
        kind = random.random()
        if kind < 0.5:
            new = random.choices(SAID[:3] + SAID[4:], k=random.randrange(4))
            answers = [await one.add_items(new) for one in (ours, theirs)]  # type: ignore[func-returns-value]
        elif kind < 0.7:
            answers = [await one.pop_item() for one in (ours, theirs)]
        elif kind < 0.75:
            answers = [await one.clear_session() for one in (ours, theirs)]  # type: ignore[func-returns-value]
        else:
            limit = random.choice([None, 1, 3])
            answers = [await one.get_items(limit) for one in (ours, theirs)]
        assert answers[0] == answers[1], step
    assert await ours.get_items() == await theirs.get_items()
    theirs.close()


async def test_what_is_popped_or_cleared_is_a_tombstone(home: House) -> None:
    """No answer has it, the feed says who took it away and why, and the history keeps a trace."""
    agent = await home.agent()
    graph = await home.runtime.session_graph(agent.graph_id)
    session = EzraSession("talk", agent, recalled=True)
    await session.add_items(
        [{"role": "user", "content": f"a word about {n} okapis"} for n in "abc"]
    )
    assert len((await agent.recall("okapis", kinds=("fact",))).items) == 3
    assert await session.pop_item() == {"role": "user", "content": "a word about c okapis"}
    await session.clear_session()
    assert await session.pop_item() is None
    assert await session.get_items() == []
    assert (await agent.recall("okapis")).items == ()
    reasons = [event.reason for event in await graph.audit() if event.kind == "forgotten"]
    assert reasons == [adapter.POPPED, adapter.CLEARED, adapter.CLEARED]
    await session.add_items([{"role": "user", "content": "anew"}])
    assert await session.get_items() == [{"role": "user", "content": "anew"}]


async def test_a_long_item_is_kept_whole(home: House) -> None:
    """Longer than one record may be; what is too long is refused before anything is kept."""
    session = EzraSession("long", await home.agent())
    long: Any = {"type": "function_call_output", "call_id": "c", "output": '"\\é' * 100_000}
    await session.add_items([long, *SAID[:1]])
    assert await session.get_items() == [long, *SAID[:1]]
    assert await session.pop_item() == SAID[0]
    assert await session.pop_item() == long
    assert await session.get_items() == []
    for wrong in ({"output": "x" * 9_100_000}, {"output": object()}, {"n": float("nan")}, "text"):
        with pytest.raises(UsageError):
            await session.add_items([*SAID[:1], wrong])  # type: ignore[list-item]
    assert await session.get_items() == []
    with pytest.raises(UsageError):
        EzraSession(" ", await home.agent())


async def test_erasing_a_person_reaches_a_name_between_two_pieces(home: House) -> None:
    """Wherever a long item is cut; no piece keeps a part of the name."""
    agent = await home.agent()
    graph = await home.runtime.session_graph(agent.graph_id)
    before = len('{"role": "user", "content": "')
    for name in ("Leo Voss", "Jörg Müller", "Leo\nVoss"):
        for inside in range(1, len(name), 3):
            session = EzraSession("long", agent)
            start = adapter.PIECE_CHARS_MAX - before - inside - 1
            said = f"{'y' * start} {name} {'word ' * 20_000}"
            await session.add_items([{"role": "user", "content": said}])
            report = await graph.erase(subject=" ".join(name.split()), reason="asked to")
            assert len(report.ids["fact"]) == 2, (name, inside)
            assert await session.get_items() == []
            await session.clear_session()


async def test_who_shares_a_conversation_and_who_does_not(home: House) -> None:
    """Agents of the same topics go on in one session, in order; privacy and users part them."""
    mine = await home.agent(user_id="kim")
    team = await home.agent(mine.graph_id, "two", user_id="kim")
    other = await home.agent(mine.graph_id, "three", user_id="lee")
    ours, theirs = EzraSession("talk", mine), EzraSession("talk", team)
    secret = EzraSession("secret", mine, private=True)
    said: list[TResponseInputItem] = [{"role": "user", "content": str(n)} for n in range(6)]
    for number, item in enumerate(said):
        await (ours if number % 2 else theirs).add_items([item])
    await secret.add_items(said)
    assert await ours.get_items() == await theirs.get_items() == said
    assert await EzraSession("talk", other).get_items() == []
    assert await EzraSession("secret", team).get_items() == []
    assert await secret.get_items() == said
    popped = await asyncio.gather(*(one.pop_item() for one in (ours, theirs, ours, theirs)))
    assert sorted(str(one["content"]) for one in popped if one) == ["2", "3", "4", "5"]  # type: ignore[typeddict-item]


async def test_what_a_graph_inherits_is_another_conversation(home: House) -> None:
    """A session of the same id in the parent's graph is neither read, nor gone on with."""
    parent = await home.agent()
    await EzraSession("talk", parent).add_items(SAID)
    # What was used often is core, and core facts are inherited.
    (often,) = pieces_of(Shelf("openai").subject(("talk",)), 1, {"role": "user", "content": "hi"})
    await parent.remember(often.model_copy(update={"tier": "core"}))
    graph = await home.runtime.create_session_graph(
        f"child-of-{parent.graph_id}", inherits_from=[parent.graph_id]
    )
    session = EzraSession("talk", await graph.spawn_agent("one", topics={"tyres"}))
    assert await session.get_items() == []
    assert await session.pop_item() is None
    await session.add_items(SAID[:1])
    await session.clear_session()
    assert len(await EzraSession("talk", parent).get_items()) == len(SAID) + 1


async def test_what_is_added_later_comes_later_though_the_clock_steps_back(home: House) -> None:
    """After a restart on a machine whose clock is years behind, and on one whose clock stands."""
    agent = await home.agent()
    said: list[TResponseInputItem] = [{"role": "user", "content": str(n)} for n in range(4)]
    for year, item in zip((2026, 2001, 2001, 2030), said, strict=True):
        session = EzraSession("talk", agent, clock=lambda: datetime(year, 1, 1, tzinfo=UTC))  # noqa: B023
        await session.add_items([item])
    assert await EzraSession("talk", agent).get_items() == said


async def test_the_last_items_are_read_from_the_end(
    home: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However long the talk is; what adds and pops reads no more. With any limit it is the end."""
    monkeypatch.setattr(adapter, "_PAGE", 10)
    agent = await home.agent()
    session = EzraSession("talk", agent, clock=home.clock)
    said: list[TResponseInputItem] = [{"role": "user", "content": str(n)} for n in range(48)]
    for number in range(0, len(said), 4):
        await session.add_items(said[number : number + 4])
        home.clock.move(hours=1)
    pages: list[int] = []
    ask = agent.knowledge.history

    async def counted(*args: Any, **given: Any) -> Any:
        facts = await ask(*args, **given)
        pages.append(len(facts))
        return facts

    knowledge = agent.knowledge
    monkeypatch.setattr(knowledge, "history", counted)
    monkeypatch.setattr(type(agent), "knowledge", property(lambda _: knowledge))
    later: TResponseInputItem = {"role": "user", "content": "later"}
    assert await EzraSession("talk", agent).get_items(2) == said[-2:]
    assert len(pages) == 1
    await EzraSession("talk", agent, clock=home.clock).add_items([later])
    assert await EzraSession("talk", agent).pop_item() == later
    assert len(pages) == 3
    for limit in range(len(said) + 2):
        assert await session.get_items(limit) == said[max(0, len(said) - limit) :]
    pages.clear()
    await session.clear_session()
    assert sum(pages) == len(said)
    assert await session.get_items() == []


@pytest.mark.parametrize("ahead", [0, 3_000])
async def test_the_last_items_of_machines_whose_clocks_differ(
    home: House, monkeypatch: pytest.MonkeyPatch, ahead: int
) -> None:
    """By less than an hour: what says that it comes last does, whenever it was recorded."""
    monkeypatch.setattr(adapter, "_PAGE", 2)
    agent = await home.agent()
    for number in range(12):
        early = timedelta(seconds=ahead * (number % 2))
        session = EzraSession("talk", agent, clock=lambda: home.clock() + early)  # noqa: B023
        session._last = 0  # it was opened before any other added
        await session.add_items([{"role": "user", "content": str(number)}])
        home.clock.move(minutes=10)
    whole = await EzraSession("talk", agent).get_items()
    for limit in range(1, 13):
        assert await EzraSession("talk", agent).get_items(limit) == whole[-limit:]


async def test_an_id_that_no_store_can_keep_is_refused(home: House) -> None:
    """In words, before anything is asked; what can be kept is, however odd it looks."""
    agent = await home.agent()
    for session_id in (" ", "talk \ud83d"):
        with pytest.raises(UsageError, match="session_id"):
            EzraSession(session_id, agent)
    said: list[TResponseInputItem] = [{"role": "user", "content": "Box now?"}]
    for session_id in ("x" * 5_000, "talk\x00", "a/b \U0001f3ce"):
        await EzraSession(session_id, agent).add_items(said)
        assert await EzraSession(session_id, agent).get_items() == said


async def test_the_runner_goes_on_where_the_session_left_off(home: House) -> None:
    """Two runs: the model of the second sees the call, its result and the answer of the first."""
    member = await home.agent()
    model = ScriptedModel(
        [
            [function_call("remember_fact", {"text": "Mediums last 18 laps."}, call_id="c1")],
            [assistant_message("Noted.")],
            [function_call("recall", {"query": "mediums laps", "limit": 1}, call_id="c2")],
            [assistant_message("18 laps.")],
        ]
    )
    agent = Agent(name="strategist", model=model, tools=list(memory_tools(member)))
    session = EzraSession("race", member)
    first = await Runner.run(agent, "Mediums last 18 laps.", session=session, run_config=QUIET)
    assert first.final_output == "Noted."
    second = await Runner.run(agent, "How long?", session=session, run_config=QUIET)
    assert second.final_output == "18 laps."
    model.assert_complete()
    asked: Any = model.calls[2].input
    kinds = [item.get("type") or item["role"] for item in asked]
    assert kinds == ["user", "function_call", "function_call_output", "message", "user"]
    kept: list[Any] = await session.get_items()
    assert kept[:4] == asked[:4]
    (found,) = json.loads(kept[6]["output"])["items"]
    assert (found["kind"], found["text"]) == ("fact", "Mediums last 18 laps.")


async def test_a_refused_call_is_told_and_the_run_goes_on(home: House) -> None:
    """A topic that is not the agent's, arguments that do not fit, and JSON that is none."""
    model = ScriptedModel(
        [
            [function_call("remember_fact", {"text": "x", "topics": ["brakes"]}, call_id="c1")],
            [function_call("recall", {"query": "", "as": "admin"}, call_id="c2")],
            [function_call("forget", '{"fact_id": ', call_id="c3")],
            [assistant_message("I give up.")],
        ]
    )
    member = await home.agent()
    agent = Agent(name="strategist", model=model, tools=list(memory_tools(member)))
    done = await Runner.run(agent, "Go.", run_config=QUIET)
    assert done.final_output == "I give up."
    outputs = [
        json.loads(item["output"])["error"]
        for item in done.to_input_list()
        if item.get("type") == "function_call_output"
    ]
    assert [one.split(":")[0] for one in outputs] == ["PolicyDenied", "UsageError", "UsageError"]
    assert "brakes" in outputs[0]
    assert "query" in outputs[1]
    assert "admin" not in outputs[1]


async def test_the_context_of_the_run_says_whose_memory_it_is(home: House) -> None:
    """An application that serves many finds the agent by its own context, never by the model's."""
    members = {name: await home.agent(name=name) for name in ("ann", "bob")}

    async def of_context(context: ToolContext[Any]) -> Any:
        return members[context.context]

    tools: list[Any] = list(memory_tools(of_context))
    for name in members:
        model = ScriptedModel(
            [
                [function_call("remember_fact", {"text": f"I am {name}."}, call_id="c1")],
                [assistant_message("ok")],
            ]
        )
        agent = Agent(name="one", model=model, tools=tools)
        await Runner.run(agent, "Remember.", context=name, run_config=QUIET)
    for name, member in members.items():
        assert [hit.text for hit in (await member.recall("I am")).items] == [f"I am {name}."]


async def test_an_agent_that_is_not_found_is_told_and_the_run_goes_on(home: House) -> None:
    """As while a server is away; what found nobody is asked at each call."""
    graph_id = (await home.agent()).graph_id

    async def of_context(context: ToolContext[Any]) -> Any:
        return await (await home.runtime.session_graph(graph_id)).agent(context.context)

    model = ScriptedModel(
        [
            [function_call("recall", {"query": "mediums"}, call_id="c1")],
            [assistant_message("So be it.")],
        ]
    )
    agent = Agent(name="strategist", model=model, tools=list(memory_tools(of_context)))
    done = await Runner.run(agent, "Go.", context="nobody", run_config=QUIET)
    assert done.final_output == "So be it."
    (told,) = [item for item in done.to_input_list() if item.get("type") == "function_call_output"]
    assert json.loads(told["output"])["error"].startswith("NotFound")


async def test_tools_are_those_of_mcp(home: House) -> None:
    """Name, description and arguments are said once, for every surface."""
    tools = {tool.name: tool for tool in memory_tools(await home.agent())}
    assert {"recall", "remember_fact", "read_tool_output", "commit_belief"} < set(tools)
    assert {"beliefs", "forget"} < set(tools)
    pool = HandlePool(home.behind, lambda: 0.0)
    offered = {tool.name: tool for tool in await mcp_server(pool).list_tools()}
    for name, tool in tools.items():
        assert tool.description == offered[name].description
        assert untitled(tool.params_json_schema) == untitled(offered[name].input_schema)
