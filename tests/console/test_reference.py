"""``/docs`` and ``/docs/tools``: of this server alone, for anybody, and a request can be tried."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import httpx2
import pytest
from starlette.requests import Request
from support.console import House
from support.service import serving

from ezra.service import mcp_door, reference
from ezra.service.app import service_app
from ezra.service.handle_pool import HandlePool
from ezra.service.reference import asked_of, fields_of, kind_of
from ezra.service.tokens import TokenFile
from tiers.errors import ConfigError

pytestmark = pytest.mark.asyncio(loop_scope="session")

RECALL = "details[id='agent.recall']"


@pytest.mark.parametrize("path", ["/docs", "/docs/tools"])
@pytest.mark.parametrize(("size", "scheme"), [((1280, 800), "light"), ((390, 844), "dark")])
async def test_nothing_of_another_site_is_asked_for(
    house: House, tabs: Any, shots: Any, path: str, size: tuple[int, int], scheme: str
) -> None:
    """Every request goes to this server, the policy forbids others, nothing scrolls sideways."""
    page = await tabs.open(f"{house.url}/console", size=size, scheme=scheme)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    answer = await page.goto(f"{house.url}{path}")
    await page.wait_for_selector("html[data-ready]")
    assert {f"{urlsplit(url).scheme}://{urlsplit(url).netloc}" for url in asked} == {house.url}
    assert len(asked) > 2
    policy = answer.headers["content-security-policy"]
    assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self';")
    assert "unsafe" not in policy
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= size[0]
    await shots(f"reference{path.replace('/', '-')}-{size[0]}-{scheme}", page)


async def test_a_request_is_tried_out_with_a_token(
    house: House, tabs: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Anybody reads the page; without a token its request is refused, with one it is answered."""
    tokens = TokenFile(tmp_path_factory.mktemp("docs") / "tokens.json", house.clock)
    _, token = tokens.create("ann", "operator", expires_at=None)
    async with serving(house.ezra, tokens=tokens) as url:
        page = await tabs.open(f"{url}/docs#agent.recall")
        form = page.locator(f"{RECALL} form")
        assert await form.is_visible()  # the address leads to the operation, opened
        await form.locator("[name=graph_id]").fill("imola")
        await form.locator("[name=agent_id]").fill("strategist")
        await form.locator("[name=body]").fill('{"query": "how long do the mediums last"}')
        await form.locator("button").click()
        answer = form.locator("output")
        await answer.get_by_text("401 Unauthorized").wait_for()
        tabs.problems.clear()  # the browser tells of the 401
        await page.fill("#token", token)
        await form.locator("button").click()
        await answer.get_by_text("200 OK").wait_for()
        assert "Mediums last about 18 laps at Imola." in await answer.inner_text()
        assert await page.evaluate("[localStorage.length, sessionStorage.length]") == [0, 0]
        assert await page.context.cookies() == []


async def test_what_is_looked_for_is_shown_alone(house: House, tabs: Any) -> None:
    """Words narrow the operations and the schemas; without words all are there."""
    page = await tabs.open(f"{house.url}/docs")
    everything = await page.locator("details.operation").count()
    async with httpx2.AsyncClient(base_url=house.url) as http:
        document = (await http.get("/openapi.json")).json()
    assert everything == sum(len(verbs) for verbs in document["paths"].values())
    await page.fill("#only", "post recall agents")
    shown = page.locator("details.operation:not([hidden])")
    told = [await one.get_attribute("id") for one in await shown.all()]
    assert "agent.recall" in told
    assert 0 < len(told) < 10
    await page.fill("#only", "")
    assert await page.locator("details.operation:not([hidden])").count() == everything


async def test_every_link_into_the_page_leads_somewhere(house: House, tabs: Any) -> None:
    """Each schema and group that is named is there."""
    page = await tabs.open(f"{house.url}/docs")
    dangling = await page.evaluate(
        "[...document.querySelectorAll('a[href^=\"#\"]')]"
        ".map(one => one.getAttribute('href').slice(1)).filter(id => !document.getElementById(id))"
    )
    assert dangling == []


async def test_every_tool_stands_on_the_tools_page(house: House, tabs: Any) -> None:
    """With its words and its schema, as an MCP client is told of it."""
    words, tools = mcp_door.listed_tools(HandlePool(house.ezra, lambda: 0.0))
    page = await tabs.open(f"{house.url}/docs/tools")
    for tool in tools:
        assert await page.locator(f"details[id='{tool.name}']").count() == 1
    assert len(tools) > 15
    shown = await page.locator("main").inner_text()
    assert words.split(".")[0] in shown


async def test_pages_drawn_ahead_are_there_for_the_first_reader(house: House) -> None:
    """``ezra serve`` draws them before it listens: asking makes neither document nor page."""
    app = service_app(house.ezra, tokens=None, settings=house.ezra.settings)
    await app.state.reference.draw()
    app.router.routes.clear()  # of which a document made now would tell nothing
    request = Request({"type": "http", "method": "GET", "path": "/docs"})
    pages = {route.path: route for route in app.state.reference.routes()}
    answers = [await pages[path].endpoint(request) for path in ("/docs", "/docs/tools")]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert "agent.recall" in bytes(answers[0].body).decode()


async def test_without_mcp_the_page_says_what_to_install(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The console of the core has no MCP: the page names the extra and does not fail."""

    def missing(_: object) -> None:
        raise ConfigError("/mcp", "needs mcp, which is not installed: pip install 'ezra[serve]'")

    monkeypatch.setattr(reference, "listed_tools", missing)
    async with serving(house.ezra) as url, httpx2.AsyncClient(base_url=url) as http:
        answer = await http.get("/docs/tools")
    assert answer.status_code == 200
    assert "ezra[serve]" in answer.text


async def test_kinds_are_told_in_a_few_words() -> None:
    """References by name, choices joined, arrays and maps by what they hold, formats behind."""
    assert kind_of({"$ref": "#/components/schemas/Fact"}) == "Fact"
    assert kind_of({"anyOf": [{"type": "string"}, {"type": "null"}]}) == "string or null"
    assert kind_of({"type": "array", "items": {"type": "integer"}}) == "array of integer"
    assert kind_of({"type": "array", "items": {}}) == "array"
    assert (
        kind_of({"type": "object", "additionalProperties": {"type": "number"}})
        == "object of number"
    )
    assert kind_of({"type": "string", "format": "date-time"}) == "string (date-time)"
    assert kind_of({"enum": ["a", 1]}) == '"a" or 1'
    assert kind_of({"const": None}) == "null"
    assert kind_of({}) == "anything"


async def test_fields_carry_limits_and_an_operation_its_example() -> None:
    """What is required, what is taken if nothing is given, and how much at most."""
    schema = {
        "required": ["query"],
        "properties": {
            "query": {"type": "string", "description": "Words.", "maxLength": 2000},
            "limit": {"type": "integer", "default": 10, "minimum": 1},
        },
    }
    query, limit = fields_of(schema, {})
    assert (query.is_required, query.about) == (True, "Words; characters at most 2,000")
    assert (limit.is_required, limit.about) == (False, "at least 1; 10 if not given")
    body = {
        "content": {
            "application/json": {"schema": {"$ref": "#/components/schemas/A"}, "example": 1}
        }
    }
    one = {"operationId": "agent.do", "requestBody": body, "responses": {}}
    asked = asked_of("post", "/v1/x", one, {"A": schema})
    assert (asked.verb, asked.summary, asked.example) == ("POST", "agent.do", "1")
    assert asked.body == (query, limit)
