"""MCP by the SDK's own client: over stdio, over streamable HTTP, and what neither may do."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from mcp.client.client import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from starlette.types import ASGIApp, Receive, Scope, Send
from support.mcp_client import refused, resource, told
from support.runtime import MovingClock, running
from support.service import serving

from ezra import Ezra
from ezra.remote.connection import Connection
from ezra.service.caller import Caller
from ezra.service.handle_pool import HandlePool
from ezra.service.listening import listening
from ezra.service.mcp import CALLER_STATE, McpDoor, mcp_server
from ezra.service.mcp_bridge import mcp_bridge
from ezra.service.tokens import TokenFile
from ezra.wire.tool_answers import SHOWN_CHARS_MAX
from ezra.wire.tools import agent_tools

GRAPH = "race-weekend-imola-2026"
STRATEGIST = Caller("ci", "agent", GRAPH, "strategist", None, ("tyres", "strategy"))
ENGINEER = Caller("ci", "agent", GRAPH, "engineer", None, ("tyres", "engine"))

TOLD = Path(__file__).with_name("mcp_tools.json")

READS = {
    "ask_mesh",
    "beliefs",
    "explain_belief",
    "inbox",
    "list_tasks",
    "mesh_sources",
    "read_tool_output",
    "recall",
    "search_memory",
    "session_handoff",
    "trace_taint",
}
WRITES = {
    "ack_messages",
    "commit_belief",
    "finish_turn",
    "forget",
    "log_action",
    "remember_fact",
    "remember_rule",
    "send_message",
    "start_task",
    "start_turn",
    "update_task",
}


@pytest.fixture
async def ezra(tmp_path: Path) -> AsyncIterator[Ezra]:
    """A runtime with an empty graph."""
    async with running(tmp_path / "home", MovingClock()) as opened:
        await opened.create_session_graph(GRAPH)
        yield opened


def asking(ezra: Ezra, caller: Caller) -> Client:
    """Return a client of a server for one caller, in this process."""
    return Client(mcp_server(HandlePool(ezra, time.monotonic), caller))


async def test_the_tools_are_these_and_say_what_they_do(ezra: Ezra) -> None:
    """Names are what configurations and prompts of others rely on."""
    async with asking(ezra, STRATEGIST) as client:
        tools = {one.name: one for one in (await client.list_tools()).tools}
        assert set(tools) == READS | WRITES
        hints = {name: one.annotations for name, one in tools.items()}
        assert {name for name, one in hints.items() if one and one.read_only_hint} == READS
        destructive = {name for name, one in hints.items() if one and one.destructive_hint}
        assert destructive == {"commit_belief", "forget", "remember_fact"}
        assert "ONLY when a person has explicitly asked" in (tools["forget"].description or "")
        for one in tools.values():
            assert one.output_schema
            assert one.input_schema["additionalProperties"] is False
            assert 20 < len(one.description or "") < 400


async def test_what_a_model_is_told_of_each_tool_stays_as_it_is(ezra: Ezra) -> None:
    """Words, arguments, answers and hints of every tool, over MCP and by the adapters.

    Prompts and programs of others rely on them: a change of ``mcp_tools.json`` is one that users
    see.
    """
    async with asking(ezra, STRATEGIST) as client:
        listed = {one.name: one for one in (await client.list_tools()).tools}
    told_before = {one["name"]: one for one in json.loads(TOLD.read_text())}
    assert listed.keys() == told_before.keys()
    for name, one in listed.items():
        assert one.model_dump(mode="json", exclude_none=True) == told_before[name]
    for spec in agent_tools():
        before = told_before[spec.name]
        assert spec.description == before["description"]
        assert spec.parameters == before["input_schema"]


async def test_a_turn_is_opened_finished_recalled_and_read_word_for_word(ezra: Ezra) -> None:
    """A client without a loop of its own gets contexts, and its tools' outputs in ranges."""
    async with asking(ezra, STRATEGIST) as client:
        await told(client, "remember_fact", text="Mediums last about 18 laps.")
        opened = await told(client, "start_turn", message="How long do the mediums last?")
        assert "18 laps" in json.dumps(opened["messages"])
        output = "lap,seconds\n" + "\n".join(f"{lap},{80 + lap}" for lap in range(4_000))
        finished = await told(
            client,
            "finish_turn",
            turn_id=opened["turn_id"],
            response="About 18 laps.",
            tool_outputs=[{"tool": "telemetry", "output": output}],
        )
        assert finished == {"turn_id": opened["turn_id"], "seq": 1, "was_new": True}
        assert "Conflict" in await refused(
            client, "finish_turn", turn_id=opened["turn_id"], response="Twice."
        )
        read, start = "", 0
        while start is not None:
            page = await told(
                client, "read_tool_output", turn_id=opened["turn_id"], start=start, length=9_000
            )
            read, start = read + page["text"], page["next_start"]
        assert read == output
        assert (page["tool"], page["outputs"], page["total_chars"]) == ("telemetry", 1, len(output))
        found = await told(client, "recall", query="telemetry seconds", kinds=["turn"])
        assert found["items"][0]["id"] == opened["turn_id"]
        assert not found["items"][0]["is_cut"]
        assert len(found["items"][0]["text"]) <= SHOWN_CHARS_MAX
        key = f"{opened['turn_id']}/0"
        assert f'read_tool_output("{key}")' in found["items"][0]["text"]
        again = await told(client, "read_tool_output", key=key, length=9_000)
        assert (again["key"], again["text"]) == (key, output[:9_000])
        assert "one of them" in await refused(client, "read_tool_output")
        days = await told(client, "search_memory", max_days_ago=0)
        assert days["items"][0]["line"].startswith("[2026-05-14] ")


async def test_a_tool_output_is_found_by_ref_and_gone_when_redacted(ezra: Ezra) -> None:
    """A turn's own name does as well as its id; what was destroyed cannot be read."""
    async with asking(ezra, STRATEGIST) as client:
        opened = await told(client, "start_turn", message="Stints?", ref="stints")
        outputs = [{"tool": "plan", "output": one} for one in ("soft, 12", "medium, 18")]
        turn_id = opened["turn_id"]
        await told(client, "finish_turn", turn_id=turn_id, response="Two.", tool_outputs=outputs)
        second = await told(client, "read_tool_output", turn_id="stints", index=1, start=8)
        beyond = await told(client, "read_tool_output", turn_id="stints", index=1, start=99)
        assert (second["turn_id"], second["text"], second["next_start"]) == (turn_id, "18", None)
        assert (beyond["text"], beyond["next_start"]) == ("", None)
        assert "tool output" in await refused(client, "read_tool_output", turn_id=turn_id, index=2)
        await (await ezra.session_graph(GRAPH)).redact([turn_id], reason="The team asked.")
        assert "NotFound" in await refused(client, "read_tool_output", turn_id=turn_id)


async def test_beliefs_are_committed_explained_and_handed_over(ezra: Ezra) -> None:
    """A later belief takes the place of an earlier one, and the next session hears of it."""
    async with asking(ezra, STRATEGIST) as client:
        key = ["start", "compound"]
        first = await told(
            client, "commit_belief", claim="Softs.", topic="tyres", key=key, value="soft", ref="a"
        )
        second = await told(
            client, "commit_belief", claim="Mediums.", topic="tyres", key=key, value="medium"
        )
        why = await told(client, "explain_belief", belief_id=first["id"])
        await told(client, "remember_rule", trigger="it rains", steps=["Box.", "Take inters."])
    assert (why["belief"]["status"], why["superseded_by"]["id"]) == ("superseded", second["id"])
    agent = await (await ezra.session_graph(GRAPH)).agent("strategist")
    turn = await agent.turn("Which start?")
    await turn.reply("# Not a heading\nMediums.")
    async with asking(ezra, STRATEGIST) as client:
        past = await told(client, "beliefs", as_of=first["recorded_at"])
        handoff = await told(client, "session_handoff", turns=1)
        prompt = await client.get_prompt("handoff")
    assert [one["claim"] for one in past["beliefs"]] == ["Softs."]
    assert [one["claim"] for one in handoff["beliefs"]] == ["Mediums."]
    told_of = "- [belief by strategist] Mediums. (start, compound: medium)\n"
    assert told_of in handoff["markdown"]
    assert "\n# Not a heading" not in handoff["markdown"]
    assert handoff["markdown"] in prompt.messages[0].content.text  # type: ignore[union-attr]


async def test_what_is_forgotten_or_corrected_is_gone_from_answers(ezra: Ezra) -> None:
    """Forgetting needs a reason, leaves a tombstone, and happens once."""
    async with asking(ezra, STRATEGIST) as client:
        old = await told(client, "remember_fact", text="The pit lane limit is 60 km/h.")
        new = await told(
            client,
            "remember_fact",
            subject="pit lane",
            predicate="limit",
            object="80 km/h",
            supersedes=old["id"],
        )
        found = await told(client, "recall", query="pit lane limit", kinds=["fact"])
        assert [one["id"] for one in found["items"]] == [new["id"]]
        await refused(client, "forget", fact_id=new["id"], reason="")
        assert "reason" in await refused(client, "forget", fact_id=new["id"], reason="  ")
        gone = await told(client, "forget", fact_id=new["id"], reason="The team asked.")
        again = await told(client, "forget", fact_id=new["id"], reason="The team asked.")
        found = await told(client, "recall", query="pit lane limit", kinds=["fact"])
    assert (gone["forgotten"], again["forgotten"], found["items"]) == (True, False, [])
    (tombstone,) = await (await ezra.session_graph(GRAPH)).facts([new["id"]])
    assert tombstone.forgotten_at is not None


async def test_resources_and_prompts_speak_for_the_same_agent(ezra: Ezra) -> None:
    """Tiers are shown to who may read the whole graph, and to nobody else."""
    async with asking(ezra, STRATEGIST) as client:
        await told(client, "commit_belief", claim="Mediums.", topic="tyres")
        shown = [str(one.uri) for one in (await client.list_resources()).resources]
        graph = await resource(client, "ezra://graph")
        core = await resource(client, "ezra://core")
        beliefs = await resource(client, "ezra://beliefs")
        first = await client.get_prompt("recall_first", {"question": "How many laps?"})
    assert sorted(shown) == ["ezra://beliefs", "ezra://core", "ezra://graph"]
    assert (graph["agent_id"], graph["topics"]) == ("strategist", ["strategy", "tyres"])
    assert graph["tiers"] is None
    assert core["facts"] == []
    assert [one["claim"] for one in beliefs["beliefs"]] == ["Mediums."]
    assert first.messages[0].content.text.endswith("How many laps?")  # type: ignore[union-attr]
    reader = Caller("ci", "reader", GRAPH, "strategist")
    async with asking(ezra, reader) as client:
        graph = await resource(client, "ezra://graph")
    assert (graph["tiers"]["state"], graph["tiers"]["agents"]) == ("active", 1)


async def test_prompts_say_what_is_wrong_and_log_nothing_of_it(
    ezra: Ezra, caplog: pytest.LogCaptureFixture
) -> None:
    """Of a name, an argument and a text; what was said stands in no log."""
    wrong: tuple[tuple[str, dict[str, str], str], ...] = (
        ("hand-off", {}, "name: 'hand-off' is not accepted; accepted: a prompt: recall_first"),
        ("handoff", {"secret": "hush"}, "secret: 'hush' is not accepted; accepted: no such"),
        ("recall_first", {"question": "hush " * 3_000}, "accepted: text of at most 10000"),
    )
    async with asking(ezra, STRATEGIST) as client:
        for name, arguments, said in wrong:
            with pytest.raises(MCPError, match=said):
                await client.get_prompt(name, arguments)
    assert "hush" not in caplog.text


async def test_an_agent_is_spawned_with_what_its_token_allows_and_never_more(ezra: Ezra) -> None:
    """What an operator denied stays denied when the agent comes back; more is refused."""
    graph = await ezra.session_graph(GRAPH)
    bob = Caller("ci", "agent", GRAPH, "engineer", "bob", ("tyres",))
    async with asking(ezra, bob) as client:
        await told(client, "recall", query="anything")
        member = await _member(ezra, "engineer")
        assert (member.topics, member.user_id) == (("tyres",), "bob")
        assert "strategy" in await refused(
            client, "remember_fact", text="Boxing at lap 18.", topics=["strategy"]
        )
        back = await graph.spawn_agent(
            "engineer", topics={"*"}, user_id="bob", denied_topics={"engine"}
        )
        assert "PolicyDenied" in await refused(client, "recall", query="anything")
        await back.leave()
        assert "PolicyDenied" in await refused(client, "recall", query="anything")
        again = await graph.spawn_agent(
            "engineer", topics={"tyres"}, user_id="bob", denied_topics={"engine"}
        )
        await again.leave()
        await told(client, "recall", query="anything")
        member = await _member(ezra, "engineer")
        assert (member.topics, member.denied_topics) == (("tyres",), ("engine",))
        await graph.spawn_agent("engineer", topics={"tyres"}, user_id="alice")
        assert "PolicyDenied" in await refused(client, "recall", query="anything")


async def test_a_token_that_names_no_agent_or_an_unknown_graph_gets_nowhere(ezra: Ezra) -> None:
    """Nothing is made up for it."""
    async with asking(ezra, Caller("ci", "operator")) as client:
        assert "a token that names a graph and an agent" in await refused(
            client, "recall", query="anything"
        )
        with pytest.raises(MCPError, match="a token that names"):
            await client.read_resource("ezra://core")
    async with asking(ezra, Caller("ci", "agent", "nowhere", "strategist")) as client:
        assert "NotFound" in await refused(client, "recall", query="anything")


HOSTILE: Mapping[str, Mapping[str, Any]] = {
    "another agent": {"query": "x", "agent_id": "engineer"},
    "another graph": {"query": "x", "graph_id": "monaco", "tenant": "other"},
    "no argument": {},
    "blank": {"query": "   "},
    "too long": {"query": "x" * 200_001},
    "another type": {"query": {"$ne": None}},
    "lone surrogate": {"query": "\ud800"},
    "limit": {"query": "x", "limit": 10_000},
    "not a kind": {"query": "x", "kinds": ["secret"]},
    "kinds without end": {"query": "x", "kinds": ["fact"] * 9},
    "topic of all": {"query": "x", "topics": ["\n"]},
    "no time": {"query": "x", "as_of": "2026"},
    "no zone": {"query": "x", "as_of": "2026-05-14T09:00:00"},
    "window": {"query": "x", "min_days_ago": 5, "max_days_ago": 1},
}


async def test_hostile_arguments_are_refused_in_one_line(ezra: Ezra) -> None:
    """Unknown arguments count as well: nobody is asked for by an argument."""
    async with asking(ezra, STRATEGIST) as client:
        for what, arguments in HOSTILE.items():
            said = await refused(client, "recall", **arguments)
            assert "\n" not in said, what
            assert "x" * 200 not in said, what
            assert "is not accepted; accepted: " in said, what
            assert said.startswith("UsageError: "), what
        said = await refused(client, "recall", query="x", kinds=["opinion"])
        assert "'opinion' is not accepted; accepted: " in said
        assert "'turn', 'summary'" in said
        assert said.endswith("'chat_message' or 'document_chunk'")
        assert said.startswith("UsageError: kinds[0]: 'opinion'")
        said = await refused(client, "recall", query="x", limti=5)
        assert said.startswith("UsageError: limti: 5 is not accepted")
        assert "limit" in said
        said = await refused(client, "mesh_sources", source="stock")
        assert said.endswith("no such argument; there are none")


async def test_hostile_texts_are_remembered_as_they_are(ezra: Ezra) -> None:
    """Text is data: JSON, markup, quotes and NUL come back unchanged, and nothing else happens."""
    async with asking(ezra, STRATEGIST) as client:
        for text in ('{"text": "JSON"}', "'; DROP TABLE facts; --", "<b>\x00\u202e</b>", "[1, 2]"):
            fact = await told(client, "remember_fact", text=text)
            again = await told(client, "remember_fact", text=text)
            assert (fact.pop("was_new"), again.pop("was_new")) == (True, False)
            assert fact == again
        await refused(client, "read_tool_output", turn_id="../../etc/passwd\x00")
        await refused(client, "finish_turn", turn_id="x", response="x")
        await refused(client, "explain_belief", belief_id="'--")
        await refused(client, "commit_belief", claim="x", key=["subject"])
        await refused(client, "nothing_like_it")


@asynccontextmanager
async def served(ezra: Ezra, tokens: Mapping[str, Caller]) -> AsyncIterator[str]:
    """Serve MCP by uvicorn on loopback; yields its address."""
    app = FastAPI()
    app.state.stopping = asyncio.Event()
    app.state.pool = HandlePool(ezra, time.monotonic)
    app.state.mcp = McpDoor(app.state.pool)
    app.add_route("/mcp", app.state.mcp)
    app.add_middleware(_Gate, tokens=tokens)
    async with listening(app, "127.0.0.1", 0) as url:
        yield f"{url}/mcp"


class _Gate:
    """Says who asks, as the gate of the service does."""

    def __init__(self, app: ASGIApp, tokens: Mapping[str, Caller]) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        said = dict(scope["headers"]).get(b"authorization", b"").decode()
        caller = self._tokens.get(said.removeprefix("Bearer "))
        scope.setdefault("state", {})[CALLER_STATE] = caller
        await self._app(scope, receive, send)


@asynccontextmanager
async def over_http(url: str, token: str, **more: Any) -> AsyncIterator[Client]:
    """Yield a client with a bearer token."""
    headers = {"authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers) as http,
        Client(streamable_http_client(url, http_client=http), **more) as client,
    ):
        yield client


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_over_http_each_request_is_its_own_tokens(ezra: Ezra, mode: str) -> None:
    """A token for one agent reaches nothing private of another, nor its open turns."""
    tokens = {"one": STRATEGIST, "two": ENGINEER}
    async with (
        served(ezra, tokens) as url,
        over_http(url, "one", mode=mode) as one,
        over_http(url, "two", mode=mode) as two,
    ):
        assert {tool.name for tool in (await one.list_tools()).tools} == READS | WRITES
        text = "The undercut secret: box on lap 16."
        fact = await told(one, "remember_fact", text=text, scope="agent", topics=["tyres"])
        shared = await told(one, "remember_fact", text="The undercut works.", topics=["tyres"])
        private = await told(one, "commit_belief", claim="Undercut.", topic="tyres", private=True)
        opened = await told(one, "start_turn", message="When to undercut?", private=True)
        own = await told(one, "recall", query="undercut", kinds=["fact"])
        seen = await told(two, "recall", query="undercut")
        assert {item["id"] for item in own["items"]} == {fact["id"], shared["id"]}
        assert [item["id"] for item in seen["items"]] == [shared["id"]]
        await refused(two, "forget", fact_id=fact["id"], reason="Mine?")
        await refused(two, "finish_turn", turn_id=opened["turn_id"], response="Taken over.")
        await told(
            one,
            "finish_turn",
            turn_id=opened["turn_id"],
            response="On lap 16.",
            tool_outputs=[{"tool": "plan", "output": "lap 16"}],
        )
        await refused(two, "read_tool_output", turn_id=opened["turn_id"])
        await refused(two, "explain_belief", belief_id=private["id"])
        assert (await told(two, "beliefs"))["beliefs"] == []
        assert "secret" not in json.dumps(await told(two, "session_handoff"))


async def test_over_http_the_address_narrows_a_token_and_never_widens_it(ezra: Ezra) -> None:
    """It names the agent of a token that reaches several; any other is refused, as is nobody."""
    tokens = {"all": Caller("ci", "operator"), "one": STRATEGIST}
    async with served(ezra, tokens) as url:
        async with over_http(f"{url}?graph={GRAPH}&agent=radio", "all") as client:
            assert (await resource(client, "ezra://graph"))["agent_id"] == "radio"
        wrong = ("?agent=radio", "?graph=monaco", "?graph=", f"?graph={GRAPH}&agent=")
        for token, more in (*(("one", one) for one in wrong), ("none", "")):
            refusal = await _first(url + more, token)
            assert "may not use memory" in refusal["error"]["message"]
        async with httpx2.AsyncClient() as http:
            assert (await http.get(url)).status_code == 405
            assert (await http.delete(url)).status_code == 405
            named = {"host": "evil.example", "content-type": "application/json"}
            assert (await http.post(url, headers=named, json={})).status_code == 421
            large = b'{"x": "' + b"x" * 5_000_000 + b'"}'
            sent = {"content-type": "application/json"}
            assert (await http.post(url, headers=sent, content=large)).status_code == 413


async def test_the_service_answers_mcp_by_its_own_tokens(ezra: Ezra, tmp_path: Path) -> None:
    """Beside REST, behind the same gate: what the token's agent remembers, and nobody without."""
    tokens = TokenFile(tmp_path / "tokens.json")
    _, secret = tokens.create(
        "pit", "agent", graph_id=GRAPH, agent_id="pit", topics=("tyres",), expires_at=None
    )
    async with serving(ezra, tokens=tokens) as url:
        async with over_http(f"{url}/mcp", secret) as client:
            fact = await told(client, "remember_fact", text="Mediums last about 18 laps.")
            found = await told(client, "recall", query="medium laps", kinds=["fact"])
        async with httpx2.AsyncClient() as http:
            assert (await http.post(f"{url}/mcp", json={})).status_code == 401
    assert [one["id"] for one in found["items"]] == [fact["id"]]
    assert (await _member(ezra, "pit")).topics == ("tyres",)


async def test_a_bridge_has_the_memory_of_a_running_server(ezra: Ezra) -> None:
    """Stdio in front of a server spawns by it, and does what the same tools do in process."""
    caller = Caller("stdio", "agent", GRAPH, "strategist", None, ("tyres",))
    async with (
        serving(ezra) as url,
        Connection(url, None) as connection,
        Client(mcp_bridge(connection, caller, time.monotonic)) as client,
    ):
        fact = await told(client, "remember_fact", text="Mediums last about 18 laps.")
        opened = await told(client, "start_turn", message="How long do the mediums last?")
        output = {"tool": "telemetry", "output": "stint 1: 18 laps"}
        await told(
            client,
            "finish_turn",
            turn_id=opened["turn_id"],
            response="18 laps.",
            tool_outputs=[output],
        )
        page = await told(client, "read_tool_output", turn_id=opened["turn_id"], length=7)
        key = ["start", "compound"]
        old = await told(client, "commit_belief", claim="Softs.", key=key, value="soft")
        new = await told(client, "commit_belief", claim="Mediums.", key=key, value="medium")
        why = await told(client, "explain_belief", belief_id=old["id"])
        handoff = await told(client, "session_handoff")
        found = await told(client, "recall", query="medium laps", kinds=["fact"])
        assert "NotFound" in await refused(client, "read_tool_output", turn_id="nothing")
    assert "18 laps" in json.dumps(opened["messages"])
    assert (page["text"], page["next_start"]) == ("stint 1", 7)
    assert why["superseded_by"]["id"] == new["id"]
    assert [one["id"] for one in handoff["beliefs"]] == [new["id"]]
    assert [one["id"] for one in found["items"]] == [fact["id"]]
    assert (await _member(ezra, "strategist")).topics == ("tyres",)


async def _member(ezra: Ezra, agent_id: str) -> Any:
    members = await (await ezra.session_graph(GRAPH)).agents()
    return next(one for one in members if one.id == agent_id)


async def _first(url: str, token: str) -> dict[str, Any]:
    """Return what the server answers to the first message of a session."""
    params = {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    }
    asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}
    headers = {"authorization": f"Bearer {token}", "accept": "application/json, text/event-stream"}
    async with httpx2.AsyncClient() as http:
        answer = await http.post(url, json=asked, headers=headers)
    found: dict[str, Any] = answer.json()
    return found
