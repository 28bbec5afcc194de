"""What is not acceptable is refused by the same name in the same words, whichever door is asked."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

import httpx2
import pytest
import pytest_asyncio
from support.runtime import running
from support.service import serving

from ezra import Ezra, EzraError, UsageError

HALF = "\ud800"
ENCODABLE = "text without lone surrogates"


class Doors(NamedTuple):
    """A runtime, a client of a server over it, and the server itself."""

    behind: Ezra
    client: Any
    http: httpx2.AsyncClient


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def doors(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Doors]:
    """One graph with an agent."""
    async with running(tmp_path_factory.mktemp("doors")) as behind, serving(behind) as url:
        graph = await behind.create_session_graph("imola")
        await graph.spawn_agent("one", topics={"tyres"})
        async with Ezra.connect(url) as client, httpx2.AsyncClient(base_url=url) as http:
            yield Doors(behind, client, http)


class Case(NamedTuple):
    """An operation, what it is given, and what it says of it.

    Attributes:
        handle: Where it is: a graph's attribute, or ``agent`` and one of its.
        method: Which.
        given: Its arguments.
        field: Which of them is refused.
        accepted: What would be.
        sent: To which address under the graph's the same is sent by REST; nothing if not given.
    """

    handle: str
    method: str
    given: dict[str, Any]
    field: str
    accepted: str
    sent: str = ""


AGENT = "agents/one"
CASES = (
    Case("agent", "recall", {"query": HALF}, "query", ENCODABLE, f"{AGENT}/recall"),
    Case(
        "agent",
        "recall",
        {"query": "x" * 200_001},
        "query",
        "text of at most 200000 characters",
        f"{AGENT}/recall",
    ),
    Case("agent", "recall", {"query": "a", "bogus": 1}, "bogus", "one of query", f"{AGENT}/recall"),
    Case(
        "agent",
        "recall",
        {"query": "a", "explain": 1},
        "explain",
        "true or false",
        f"{AGENT}/recall",
    ),
    Case(
        "agent",
        "recall",
        {"query": "a", "grains": 3},
        "grains",
        "a set, list or tuple",
        f"{AGENT}/recall",
    ),
    Case(
        "agent",
        "recall",
        {"query": "a", "limit": 101},
        "limit",
        "a whole number, 1 to 100",
        f"{AGENT}/recall",
    ),
    Case("agent", "turn", {"message": HALF}, "message", ENCODABLE, f"{AGENT}/turns"),
    Case(
        "agent",
        "turn",
        {"message": "x" * 200_001},
        "message",
        "text of at most 200000 characters",
        f"{AGENT}/turns",
    ),
    Case("agent", "turn", {"message": "a", "private": 1}, "private", "true or false"),
    Case("agent.board", "send", {"to": 1, "text": "a"}, "to", "text or a set, list or tuple"),
    Case(
        "agent.board",
        "send",
        {"to": "two", "text": "a", "subject": HALF},
        "subject",
        ENCODABLE,
        f"{AGENT}/board/messages",
    ),
    Case(
        "agent.board",
        "log",
        {"action": "a\0b"},
        "action",
        "text without control characters",
        f"{AGENT}/board/actions",
    ),
    Case("agent.board", "cards", {"ids": {}}, "ids", "a set, list or tuple"),
    Case("beliefs", "seq_at", {"point": -1}, "point", "a time with its zone or the number of"),
    Case("beliefs", "query", {"as_of_seq": 9}, "as_of_seq", "0 to 0"),
    Case("beliefs", "export", {"path": None}, "path", "a path or text"),
    Case("graph", "run_forward", {"take": "step"}, "take", "a function"),
    Case("graph", "run_forward", {"take": print, "turns": ["a"]}, "turns[0]", "a Turn"),
    Case(
        "beliefs",
        "rewind",
        {"turn": 0, "reason": "x" * 200_001},
        "reason",
        "text of at most 200000 characters",
        "beliefs/rewind",
    ),
    Case(
        "agent",
        "recall",
        {"query": "a", "kinds": ["turn", "x"]},
        "kinds",
        "turn, summary",
        f"{AGENT}/recall",
    ),
    Case(
        "agent",
        "recall",
        {"query": "a", "grains": ["hourly"]},
        "grains",
        "daily, weekly",
        f"{AGENT}/recall",
    ),
    Case("agent", "inject", {"kinds": ["x"]}, "kinds", "turn, summary", f"{AGENT}/inject"),
    Case("agent.board", "ack", {"ids": {}}, "ids", "text or a set", f"{AGENT}/board/read"),
    Case("graph.quarantine", "list", {"after": "x"}, "after", "the id of the last text"),
    Case("graph", "export_rows", {"table": "turns", "after": "x"}, "after", "the cursor of a"),
    Case("graph", "spawn_agent", {"agent_id": "a", "topics": {}}, "topics", "a set", "agents/a"),
    Case("agent", "turn", {"message": "a", "mesh": {}}, "mesh.source", "a value", f"{AGENT}/turns"),
    Case("graph", "audit", {"limit": 0}, "limit", "a whole number, 1 to 10,000"),
    Case(
        "agent",
        "remember",
        {"what": "a", "id": "0198A1B2-0C3D-7E4F-8A5B-6C7D8E9FA0B1"},
        "id",
        "a UUID in small letters with hyphens, such as 0198a1b2",
    ),
    Case(
        "agent",
        "remember",
        {"what": "a", "private": True, "shared": True},
        "shared",
        "false where private is true",
        f"{AGENT}/memories",
    ),
    Case("graph", "latest_facts", {"limit": -1}, "limit", "a whole number, 1 to 100"),
    Case("graph", "latest_rules", {"limit": 101}, "limit", "a whole number, 1 to 100"),
    Case("agent", "latest_facts", {"limit": 0}, "limit", "a whole number, 1 to 100"),
    Case("graph", "spawn_agent", {"agent_id": HALF}, "agent_id", ENCODABLE),
    Case("graph", "spawn_agent", {"agent_id": ""}, "agent_id", "a name of at least one character"),
    Case("graph", "agent", {"agent_id": "x" * 200_001}, "agent_id", "a name of at most 4,096"),
    Case("graph", "spawn_agent", {"agent_id": "a", "role": 3}, "role", "text", "agents/a"),
    Case(
        "graph",
        "spawn_agent",
        {"agent_id": "a", "prompts": {"hourly": "Tell the hour."}},
        "prompts.hourly",
        "'working', 'daily', 'weekly', 'monthly', 'quarterly' or 'yearly'",
        "agents/a",
    ),
    *(
        Case(
            "agent.knowledge",
            "neighbours",
            {"name": "a", "depth": depth},
            "depth",
            "a whole number, 1 to 4",
            f"{AGENT}/knowledge/neighbours",
        )
        for depth in (-1, 0, 5)
    ),
    Case(
        "agent.knowledge",
        "path",
        {"start": "a", "end": "b", "depth": -1},
        "depth",
        "a whole number, 1 to 6",
    ),
    *(
        Case(handle, "search_memory", {name: value}, name, accepted, f"{path}search-memory")
        for handle, path in (("agent", f"{AGENT}/"), ("graph", ""))
        for name, value, accepted in (
            ("min_days_ago", -1, "a whole number, 0 to 36,500"),
            ("max_days_ago", -1, "a whole number, 0 to 36,500"),
            ("max_results", -1, "a whole number, 1 to 100"),
            ("max_results", True, "a whole number, 1 to 100"),
        )
    ),
    Case(
        "agent",
        "inject",
        {"token_budget": -1},
        "token_budget",
        "a whole number, 1 to 1,000,000",
        f"{AGENT}/inject",
    ),
    *(
        Case("agent", "recall", {"query": "a", name: value}, name, accepted, f"{AGENT}/recall")
        for name, value, accepted in (
            ("token_budget", -1, "a whole number, 1 to 1,000,000"),
            ("depth", -1, "a whole number, 0 to 4"),
            ("max_days_ago", -1, "a whole number, 0 to 36,500"),
            ("all_topics", [f"t{number}" for number in range(17)], "at most 16"),
            ("topics", ["x", ""], "printable names that are not blank, unlike ''"),
        )
    ),
)


@pytest.mark.parametrize(
    "case", CASES, ids=lambda case: f"{case.handle}.{case.method} {case.field}"
)
@pytest.mark.asyncio(loop_scope="module")
async def test_each_door_says_the_same(doors: Doors, case: Case) -> None:
    """In process, by the client of a server, and in a problem document."""
    said = []
    for door in (doors.behind, doors.client):
        graph = await door.session_graph("imola")
        first, *rest = case.handle.split(".")
        handle = graph if first == "graph" else getattr(graph, first, None)
        if first == "agent":
            handle = await graph.agent("one")
        for name in rest:
            handle = getattr(handle, name)
        with pytest.raises(UsageError) as caught:
            await getattr(handle, case.method)(**case.given)
        said.append(caught.value)
    here, there = said
    assert (here.field, here.accepted) == (there.field, there.accepted)
    assert here.field == case.field
    assert here.accepted.startswith(case.accepted)
    if case.sent:
        verb = "PUT" if case.method == "spawn_agent" else "POST"
        given = {name: one for name, one in case.given.items() if name != "agent_id"}
        answer = await doors.http.request(
            verb,
            f"/v1/graphs/imola/{case.sent}",
            content=json.dumps(given),
            headers={"content-type": "application/json"},
        )
        assert answer.status_code == 422
        problem = answer.json()
        assert (problem["field"], problem["accepted"]) == (here.field, here.accepted)


@pytest.mark.parametrize("year", [1, 9999])
@pytest.mark.asyncio(loop_scope="module")
async def test_the_edges_of_the_calendar_are_moments(doors: Doors, year: int) -> None:
    """Of the first and the last year, by every door."""
    moment = datetime(year, 6, 1, tzinfo=UTC)
    for door in (doors.behind, doors.client):
        graph = await door.session_graph("imola")
        agent = await graph.agent("one")
        assert await agent.beliefs(as_of=moment) == ()
        assert (await agent.board.history(since=moment)).rows == ()
        assert await graph.episodes(since=moment) == ()
    asked = {"as_of": moment.isoformat()}
    answer = await doors.http.get("/v1/graphs/imola/agents/one/beliefs", params=asked)
    assert answer.status_code == 200


@pytest.mark.asyncio(loop_scope="module")
async def test_what_is_too_long_for_an_address_is_refused_by_name(doors: Doors) -> None:
    """The client of a server says which of what it was given is too much."""
    agent = await (await doors.client.session_graph("imola")).agent("one")
    with pytest.raises(EzraError, match="after: 'xxx"):
        await agent.latest_facts(after="x" * 200_000)


@pytest.mark.asyncio(loop_scope="module")
async def test_a_body_may_be_deep(doors: Doors) -> None:
    """Whoever sends lists in lists is told so, by their kind."""
    deep = "[" * 200 + "]" * 200
    answer = await doors.http.post(
        "/v1/graphs/imola/agents/one/recall",
        content=f'{{"query": {deep}}}',
        headers={"content-type": "application/json"},
    )
    assert answer.status_code == 422
    assert answer.json()["field"] == "query"
