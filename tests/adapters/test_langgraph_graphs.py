"""LangGraph's compiled graphs with the store and the tools, through both doors to a runtime."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest
from langchain_core.language_models.fake_chat_models import FakeMessagesListChatModel
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from langchain_core.runnables import RunnableLambda
from langchain_core.tools import StructuredTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.graph import START, MessagesState, StateGraph
from langgraph.prebuilt import ToolNode, tools_condition
from langgraph.store.base import BaseStore
from support.two_doors import House

from ezra.adapters.langgraph import EzraStore, memory_tools
from tiers.errors import UsageError

pytestmark = pytest.mark.asyncio(loop_scope="module")


def calling(name: str, **arguments: Any) -> AIMessage:
    """Return what a model says that calls a tool."""
    return AIMessage("", tool_calls=[{"name": name, "args": arguments, "id": f"call-{name}"}])


def scripted(tools: list[StructuredTool], *says: AIMessage) -> Any:
    """Return a compiled graph of a model that says this, and the tools that it calls."""
    model = FakeMessagesListChatModel(responses=list(says))

    async def think(state: MessagesState) -> dict[str, Any]:
        return {"messages": [await model.ainvoke(state["messages"])]}

    def think_in_a_thread(state: MessagesState) -> dict[str, Any]:
        return {"messages": [model.invoke(state["messages"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("model", RunnableLambda(think_in_a_thread, afunc=think))
    graph.add_node("tools", ToolNode(tools))
    graph.add_edge(START, "model")
    graph.add_conditional_edges("model", tools_condition)
    graph.add_edge("tools", "model")
    return graph.compile()


def answers(state: dict[str, Any]) -> list[ToolMessage]:
    """Return what tools answered."""
    return [one for one in state["messages"] if isinstance(one, ToolMessage)]


async def test_a_graph_of_langgraph_remembers_and_recalls_by_tools(home: House) -> None:
    """A model that calls them one after the other, in a compiled graph; and again in a thread."""
    agent = await home.agent()
    says = (
        calling("remember_fact", text="Mediums last 18 laps."),
        calling("recall", query="mediums", kinds=["fact"], limit=3),
        AIMessage("18 laps."),
    )
    told = {"messages": [HumanMessage("How long do the mediums last?")]}
    state = await scripted(memory_tools(agent), *says).ainvoke(told)
    remembered, recalled = (json.loads(one.content) for one in answers(state))
    assert [one["id"] for one in recalled["items"]] == [remembered["id"]]
    assert state["messages"][-1].content == "18 laps."
    in_thread = scripted(memory_tools(agent), *says)
    state = await asyncio.to_thread(in_thread.invoke, told)
    assert remembered["was_new"]
    assert json.loads(answers(state)[0].content) == remembered | {"was_new": False}


async def test_what_a_model_may_not_is_told_to_it(home: House) -> None:
    """Arguments that do not fit, and memories that are not there; the graph goes on."""
    tools = memory_tools(await home.agent())
    says = (
        calling("recall", query="x", limit=0, colour="red"),
        calling("remember_fact", text="x", topics=["money"]),
        calling("commit_belief", claim="x", key=["one"]),
        AIMessage("So be it."),
    )
    state = await scripted(tools, *says).ainvoke({"messages": [HumanMessage("Go on.")]})
    refused = answers(state)
    assert [one.status for one in refused] == ["error"] * 3
    assert "limit" in refused[0].content
    assert "colour" in refused[0].content
    assert refused[1].content.startswith("PolicyDenied")
    assert refused[2].content.startswith("UsageError: key")
    with pytest.raises(UsageError, match="ainvoke"):
        tools[0].invoke({"query": "x"})


@pytest.mark.parametrize("name", ["self", "config", "run_manager", "args", "arguments"])
async def test_an_argument_is_the_models_whatever_its_name(home: House, name: str) -> None:
    """None passes for one of LangChain's own: it is refused as any other that there is not."""
    tools = memory_tools(await home.agent())
    asked = {"messages": [HumanMessage("Go on.")]}
    says = (calling("recall", query="x", **{name: "mine"}), AIMessage("So be it."))
    awaited = await scripted(tools, *says).ainvoke(asked)
    in_thread = await asyncio.to_thread(scripted(tools, *says).invoke, asked)
    for state in (awaited, in_thread):
        (refused,) = answers(state)
        assert refused.status == "error"
        assert f"'{name}' is not accepted" in refused.content


async def test_models_are_told_of_the_common_tools(home: House) -> None:
    """Names, descriptions and parameters are those that every framework is told of."""
    tools = {tool.name: tool for tool in memory_tools(await home.agent())}
    names = {"recall", "remember_fact", "read_tool_output", "commit_belief", "beliefs", "forget"}
    assert names <= set(tools)
    told = convert_to_openai_tool(tools["forget"])["function"]
    assert told["description"].startswith("Forget a fact, ONLY when a person has explicitly")
    assert set(told["parameters"]["properties"]) == {"fact_id", "reason"}
    assert tools["forget"].metadata == {"effect": "ends"}


async def test_nodes_of_a_compiled_graph_are_given_the_store(home: House) -> None:
    """As LangGraph hands a store to its nodes: awaited in a node, and from a thread's."""
    store = EzraStore(await home.agent())

    async def note(state: MessagesState, *, store: BaseStore) -> dict[str, Any]:
        text = str(state["messages"][-1].content)
        await store.aput(("notes", "kim"), "last", {"text": text})
        return {}

    def read(state: MessagesState, *, store: BaseStore) -> dict[str, Any]:
        (item,) = store.search(("notes",), query="tyres")
        return {"messages": [AIMessage(item.value["text"])]}

    graph = StateGraph(MessagesState)
    graph.add_node("note", note)
    graph.add_node("read", read)
    graph.add_edge(START, "note")
    graph.add_edge("note", "read")
    ran = graph.compile(store=store)
    state = await ran.ainvoke({"messages": [HumanMessage("The tyres are worn.")]})
    assert state["messages"][-1].content == "The tyres are worn."
