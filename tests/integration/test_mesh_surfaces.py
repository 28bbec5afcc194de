"""Live sources over MCP and REST: the same handle, within what a token allows."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from mcp.client.client import Client
from support.mcp_client import refused, told
from support.mesh_sources import SECRET, mesh_file, shop_at, stock
from support.runtime import MovingClock, running
from support.service import bearer, inside

from ezra import Ezra
from ezra.service.caller import Caller
from ezra.service.handle_pool import HandlePool
from ezra.service.mcp import mcp_server
from ezra.service.tokens import TokenFile

BUYER = Caller("ci", "agent", "imola", "buyer", None, ("tyres",))
PATH = "/v1/graphs/imola/agents/buyer/mesh"


@pytest.fixture
async def ezra(tmp_path: Path) -> AsyncIterator[Ezra]:
    """A runtime with a source that is open to agents about tyres, and one that is not."""
    shop = shop_at(tmp_path / "shop.db", more=100)
    file = mesh_file(
        tmp_path / "mesh.yaml",
        stock=stock(shop, topics=["tyres"]),
        closed=stock(shop, topics=["money"]),
    )
    async with running(tmp_path / "home", MovingClock(), mesh_file=file) as opened:
        graph = await opened.create_session_graph("imola")
        await graph.spawn_agent("buyer", topics={"tyres"})
        yield opened


async def test_a_model_lists_and_asks_over_mcp(ezra: Ezra) -> None:
    """What it may ask, what came, and one short line where it may not."""
    async with Client(mcp_server(HandlePool(ezra, time.monotonic), BUYER)) as client:
        (source,) = (await told(client, "mesh_sources"))["sources"]
        assert source["name"] == "stock"
        assert source["questions"]["level"]["slots"]["sku"]["required"]
        found = await told(
            client, "ask_mesh", source="stock", question="level", slots={"sku": "A1"}
        )
        assert found["rows"][0]["level"] == 42
        assert found["field_types"]["level"] == "integer"
        words = await told(client, "ask_mesh", source="stock", message="level of B2")
        assert words["question"] == "level"
        wide = await told(client, "ask_mesh", source="stock", question="all")
        assert (len(wide["rows"]), wide["truncated"], wide["rows_total"]) == (50, True, 103)
        wrong = await refused(
            client, "ask_mesh", source="stock", question="level", slots={"sku": "' OR 1=1"}
        )
        assert wrong.startswith("UsageError: slots.sku")
        denied = await refused(client, "ask_mesh", source="closed", question="all")
        assert denied.startswith("PolicyDenied")
        nested = {"sku": {"$gt": ""}}
        assert await refused(client, "ask_mesh", source="stock", question="level", slots=nested)


async def test_a_token_asks_as_its_agents_only(ezra: Ezra, tmp_path: Path) -> None:
    """All sources are for readers; an agent's are for whoever may act as it."""
    tokens = TokenFile(tmp_path / "tokens.json", MovingClock())
    agent = bearer(tokens, role="agent", graph_id="imola", agent_id="buyer")
    other = bearer(tokens, role="agent", graph_id="imola", agent_id="somebody")
    narrow = bearer(tokens, role="agent", graph_id="imola", topics=("laps",))
    reader = bearer(tokens, role="reader")
    body = {"source": "stock", "question": "level", "slots": {"sku": "A1"}}
    async with inside(ezra, tokens) as http:
        everything = await http.get("/v1/mesh", headers=reader)
        assert [one["name"] for one in everything.json()] == ["closed", "stock"]
        assert SECRET not in everything.text
        assert str(tmp_path) not in everything.text
        assert (await http.get("/v1/mesh", headers=agent)).status_code == 403
        own = await http.get(PATH, headers=agent)
        assert [one["name"] for one in own.json()] == ["stock"]
        found = await http.post(PATH, headers=agent, json=body)
        assert found.json()["rows"][0]["sku"] == "A1"
        for headers in (other, narrow):
            assert (await http.post(PATH, headers=headers, json=body)).status_code == 403
            assert (await http.get(PATH, headers=headers)).status_code == 403
        for wrong in (
            {**body, "sql": "SELECT 1"},
            {**body, "slots": {"sku": ["A1"]}},
            {**body, "slots": {f"s{at}": "x" for at in range(33)}},
            {"source": "stock"},
        ):
            assert (await http.post(PATH, headers=agent, json=wrong)).status_code == 422
