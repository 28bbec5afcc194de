"""Who gets in and as whom, what ends a session, and what every page promises."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from pydantic import Field
from support.console import House
from support.service import inside, serving

from ezra.service.console.pages import Pages, Query, href, name_of, named
from ezra.service.console.signing_in import COOKIE, IDLE_SECONDS, SESSIONS_MAX, Sessions
from ezra.service.console.signing_in import inside as inside_console
from ezra.service.tokens import TokenFile
from tiers.errors import UsageError

pytestmark = pytest.mark.asyncio(loop_scope="session")

HTML = {"accept": "text/html"}


@dataclass(frozen=True)
class Guarded:
    """The house behind a server that asks for tokens."""

    url: str
    tokens: TokenFile
    house: House

    def token(self, **given: Any) -> str:
        """Return a new token, by default one for an operator."""
        return self.tokens.create("ann", **{"role": "operator", "expires_at": None, **given})[1]

    @asynccontextmanager
    async def signed_in(self, token: str) -> AsyncIterator[httpx2.AsyncClient]:
        """Give a client that signed in as a browser does."""
        async with httpx2.AsyncClient(base_url=self.url, headers=HTML) as http:
            answer = await http.post("/console/sign-in", data={"token": token, "next": ""})
            assert answer.status_code == 303
            yield http


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def guarded(house: House, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Guarded]:
    """A second server over the runtime of the house, which asks everybody for a token."""
    tokens = TokenFile(tmp_path_factory.mktemp("door") / "tokens.json", house.clock)
    tokens.create("first", "operator", expires_at=None)
    async with serving(house.ezra, tokens=tokens) as url:
        yield Guarded(url, tokens, house)


async def test_a_token_opens_a_session_and_signing_out_ends_it(
    guarded: Guarded, tabs: Any, shots: Any
) -> None:
    """Who comes without is asked for one, a wrong one is refused, the right one leads on."""
    page = await tabs.open(f"{guarded.url}/console/graphs?q=imo")
    assert await page.title() == "Sign in · ezra"
    await shots("sign-in", page)
    await page.fill("#token", "ezra_aaaaaaaaaaaa_" + "b" * 43)
    await page.keyboard.press("Enter")
    await page.wait_for_selector("[role=alert]")
    tabs.problems.clear()  # the browser tells of the 403
    await page.fill("#token", guarded.token())
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{guarded.url}/console/graphs?q=imo")
    assert await page.locator(".who").inner_text() == "?\nann\nSign out"
    (cookie,) = await page.context.cookies()
    assert (cookie["name"], cookie["path"]) == (COOKIE, "/console")
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    await page.click("text=Sign out")
    await page.wait_for_url(f"{guarded.url}/console/sign-in")
    assert await page.context.cookies() == []
    async with httpx2.AsyncClient(base_url=guarded.url, headers=HTML) as http:
        headers = {"cookie": f"{COOKIE}={cookie['value']}"}
        again = await http.get("/console", headers=headers)
    assert again.headers["location"] == "/console/sign-in?ended=1"


async def test_a_session_ends_with_its_token(guarded: Guarded, tabs: Any) -> None:
    """Revoked, the token's open page leads to signing in by itself; expired, the next one does."""
    token, shown = guarded.tokens.create("bob", "reader", expires_at=None)
    page = await tabs.open(f"{guarded.url}/console/sign-in")
    await page.fill("#token", shown)
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{guarded.url}/console")
    guarded.tokens.revoke(token.id)
    await page.wait_for_url(f"{guarded.url}/console/sign-in?ended=1")
    assert "over" in await page.locator("[role=alert]").inner_text()
    assert await page.context.cookies() == []
    tabs.problems.clear()  # the browser tells of the 401 that the live section got

    soon = guarded.house.clock() + timedelta(minutes=1)
    async with guarded.signed_in(guarded.token(expires_at=soon)) as http:
        assert (await http.get("/console")).status_code == 200
        guarded.house.clock.move(minutes=1)
        ended = await http.get("/console/graphs")
    assert ended.headers["location"] == "/console/sign-in?next=%2Fconsole%2Fgraphs&ended=1"


async def test_a_session_counts_on_its_own_pages_alone(guarded: Guarded) -> None:
    """Neither REST nor MCP takes the cookie, so that no form of another site reaches them."""
    async with guarded.signed_in(guarded.token()) as http:
        cookie = {"cookie": f"{COOKIE}={http.cookies[COOKIE]}"}
        for path in ("/v1/graphs", "/v1/audit", "/metrics", "/mcp"):
            assert (await http.get(path, headers=cookie)).status_code == 401, path
        assert (await http.get("/console/graphs")).status_code == 200


async def test_forms_are_taken_from_our_own_pages_alone(guarded: Guarded) -> None:
    """Without the session's secret, or from another site, nothing is done."""
    async with guarded.signed_in(guarded.token()) as http:
        front = (await http.get("/console")).text
        secret = front.partition('name="csrf" value="')[2].partition('"')[0]
        assert len(secret) == 43
        refused: list[tuple[dict[str, str], dict[str, str]]] = [
            ({}, {}),
            ({"csrf": "x" * 43}, {}),
            ({"csrf": secret}, {"sec-fetch-site": "cross-site"}),
            ({"csrf": secret}, {"sec-fetch-site": "same-site"}),
            ({"csrf": secret}, {"origin": "http://ezra.example"}),
            ({"csrf": secret}, {"origin": "null"}),
        ]
        for fields, headers in refused:
            answer = await http.post("/console/sign-out", data=fields, headers=headers)
            assert answer.status_code == 422, (fields, headers)
        assert (await http.get("/console")).status_code == 200
        assert (await http.post("/console/sign-out", content=b"\xff=\xfe")).status_code == 422
        own = {"origin": guarded.url, "sec-fetch-site": "same-origin"}
        answer = await http.post("/console/sign-out", data={"csrf": secret}, headers=own)
        assert answer.headers["location"] == "/console/sign-in"


async def test_signing_in_is_not_done_for_another_site_and_leads_nowhere_else(
    guarded: Guarded,
) -> None:
    """A page from afar cannot sign a browser in, and what follows is an address of the console."""
    async with httpx2.AsyncClient(base_url=guarded.url, headers=HTML) as http:
        fields = {"token": guarded.token(), "next": "//ezra.example/console"}
        afar = {"origin": "http://ezra.example", "sec-fetch-site": "cross-site"}
        refused = await http.post("/console/sign-in", data=fields, headers=afar)
        assert refused.status_code == 422
        assert "set-cookie" not in refused.headers
        done = await http.post("/console/sign-in", data=fields)
        assert done.headers["location"] == "/console"
        behind = {"x-forwarded-proto": "https"}
        safe = await http.post("/console/sign-in", data=fields, headers=behind)
        assert "Secure" in safe.headers["set-cookie"]


async def test_an_address_to_go_to_is_one_of_the_console() -> None:
    """Whatever could lead elsewhere leads to the front."""
    assert inside_console("/console/graphs?q=a") == "/console/graphs?q=a"
    for other in ("", "/v1", "//x/console", "http://x/console", "/console\\@x", "/consoles", "a\n"):
        assert inside_console(other) == "/console", other


async def test_what_a_token_may_not_see_it_is_not_shown(guarded: Guarded, tabs: Any) -> None:
    """A token for one agent sees that agent as itself; graphs, audit and others are refused."""
    given = {"role": "agent", "graph_id": "imola", "agent_id": "engineer", "topics": ("tyres",)}
    page = await tabs.open(f"{guarded.url}/console/sign-in")
    await page.fill("#token", guarded.token(**given))
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{guarded.url}/console")
    assert await page.locator(".top nav a").all_inner_texts() == ["Overview"]
    await page.click("text=What engineer knows")
    await page.wait_for_selector("h1:text-is('engineer')")
    body = await page.locator("main").inner_text()
    assert "Imola pit loss is 28 seconds" in body, "a core fact of its topic"
    assert "Kerb nine" not in body
    assert await page.locator(".tabs").count() == 1, "no tabs of the graph"
    refused = (
        "/graphs",
        "/graphs/imola",
        "/graphs/imola/agents/strategist",
        "/graphs/imola/agents/engineer/live",
        "/overview/live",
    )
    for path in refused:
        answer = await page.request.get(f"{guarded.url}/console{path}")
        assert answer.status == 403, path
        assert "mediums" not in (await answer.text()).casefold()


async def test_a_reader_of_one_graph_is_told_of_no_other(guarded: Guarded) -> None:
    """Neither the list nor the drawing around its graph is there, and other graphs are refused."""
    async with guarded.signed_in(guarded.token(role="reader", graph_id="monaco")) as http:
        own = await http.get("/console/graphs/monaco")
        assert own.status_code == 200
        assert "imola" not in own.text
        assert 'href="/console/graphs/monaco/audit"' in own.text
        assert 'href="/console/audit"' not in own.text, "no link to what is refused"
        for path in ("/console/graphs", "/console/graphs/imola", "/console/graphs-rows"):
            assert (await http.get(path)).status_code == 403, path
        refused = (await http.get("/console/graphs")).text
        assert "may not open /console/graphs: missing every graph; it holds" in refused
        front = (await http.get("/console")).text
        assert "monaco" in front
        assert "All times are in UTC." in front


async def test_every_answer_carries_the_policy_and_nothing_runs_inline(house: House) -> None:
    """Pages, parts, static files, refusals: the same headers, and no inline script or style."""
    async with httpx2.AsyncClient(base_url=house.url, headers=HTML) as http:
        agent = "/console/graphs/imola/agents/strategist"
        for path in ("/console", "/console/graphs", agent, f"{agent}/live", "/console/nowhere"):
            answer = await http.get(path)
            policy = answer.headers["content-security-policy"]
            assert policy.startswith("default-src 'none'; style-src 'self'; script-src 'self'")
            assert "unsafe" not in policy
            assert answer.headers["cache-control"] == "no-store"
            assert answer.headers["referrer-policy"] == "same-origin"
            for inline in (" style=", " onclick=", "<style", "<script>", "javascript:"):
                shown = answer.text.replace("&lt;", "")
                assert inline not in shown, (path, inline)
        address = (await http.get("/console")).text.partition('href="/console/static/console.css')
        style = await http.get("/console/static/console.css" + address[2].partition('"')[0])
        assert style.headers["content-type"] == "text/css; charset=utf-8"
        assert "immutable" in style.headers["cache-control"]
        plain = await http.get("/console/static/console.css")
        assert plain.headers["cache-control"] == "no-cache"
        assert (await http.get("/console/static/..%2Fdoor.py")).status_code == 404


async def test_browsers_are_led_from_the_root_and_programs_are_not(house: House) -> None:
    """Who asks for HTML gets to the console, who does not is told that there is nothing."""
    async with httpx2.AsyncClient(base_url=house.url) as http:
        led = await http.get("/", headers=HTML)
        assert (led.status_code, led.headers["location"]) == (303, "/console")
        assert (await http.get("/console/", headers=HTML)).headers["location"] == "/console"
        told = await http.get("/")
        assert (told.status_code, told.json()["type"]) == (404, "urn:ezra:error:NotFound")


async def test_refusals_are_pages_that_name_the_field(house: House) -> None:
    """An unknown graph, a bad number, a state that is none: the status, and what is accepted."""
    cases = (
        ("/console/graphs/nope", 404, "nope"),
        ("/console/graphs?after=-1", 422, "after"),
        ("/console/graphs?state=asleep", 422, "&#39;archived&#39;"),
        ("/console/graphs/imola/agents/nobody", 404, "nobody"),
    )
    async with httpx2.AsyncClient(base_url=house.url, headers=HTML) as http:
        for path, status, said in cases:
            whole = await http.get(path)
            part = await http.get(path, headers={"x-ezra-fragment": "1"})
            assert whole.status_code == part.status_code == status, path
            assert said in whole.text
            assert said in part.text
            assert "<html" in whole.text
            assert "<html" not in part.text


async def test_one_request_too_many_is_told_as_a_page(house: House, guarded: Guarded) -> None:
    """Limits hold for sessions as for tokens, and say when to come again."""
    token = guarded.token()
    async with inside(house.ezra, guarded.tokens, serve_requests_per_minute=3) as http:
        await http.post("/console/sign-in", data={"token": token}, headers=HTML)
        cookie = {"cookie": f"{COOKIE}={http.cookies[COOKIE]}"}
        answers = [await http.get("/console/graphs", headers=cookie | HTML) for _ in range(4)]
    assert [one.status_code for one in answers] == [200, 200, 200, 429]
    assert answers[-1].headers["retry-after"] == "20"
    assert "<h1>" in answers[-1].text


async def test_a_failure_tells_no_details(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    """The page has the id under which the log tells more, and nothing of the error."""

    async def broken(_: object) -> Mapping[str, int]:
        message = "the driver's secret"
        raise RuntimeError(message)

    monkeypatch.setattr(type(house.ezra), "waiting_work", broken)
    async with inside(house.ezra) as http:
        answer = await http.get("/console", headers=HTML)
    assert answer.status_code == 500
    assert answer.headers["x-request-id"] in answer.text
    assert "secret" not in answer.text


async def test_hosts_of_others_are_refused_without_tokens(house: House) -> None:
    """A name that was bent to this machine, or a foreign page, reaches no page of the console."""
    async with inside(house.ezra) as http:
        for headers in ({"host": "ezra.example"}, {"origin": "http://ezra.example"}):
            answer = await http.get("/console", headers=HTML | headers)
            assert answer.status_code == 403
            assert "imola" not in answer.text


async def test_sessions_are_so_many_and_idle_ones_end() -> None:
    """The one unused longest goes first; using one keeps it; a secret is never shown."""
    now = [0.0]
    sessions = Sessions(lambda: now[0])
    first = sessions.begin("one")
    found = sessions.find(first)
    assert found is not None
    assert found.shown == "one"
    assert "one" not in repr(found)
    now[0] = IDLE_SECONDS - 1
    assert sessions.find(first) is not None
    now[0] += IDLE_SECONDS + 1
    assert sessions.find(first) is None
    kept = sessions.begin("kept")
    for number in range(SESSIONS_MAX - 1):
        sessions.begin(str(number))
    assert sessions.find(kept) is not None
    sessions.begin("one more")
    assert sessions.find(kept) is not None
    for number in range(SESSIONS_MAX):
        sessions.begin(str(number))
    assert sessions.find(kept) is None


async def test_names_survive_the_way_through_an_address() -> None:
    """Slashes, steps, tildes and other scripts come back as they were."""
    for name in ("a/b", "..", ".", "~", "~..", "100%2F", "ä ß", "a?b#c", "日本"):
        part = named(name)
        assert "/" not in part
        assert part not in (".", "..", "%2E", "%2E%2E")
        assert name_of(part) == name
    assert (
        href("graphs", "a/b", q="x y", after=0, state=None) == "/console/graphs/a%2Fb?q=x+y&after=0"
    )


async def test_a_query_takes_what_it_knows_and_names_what_it_refuses() -> None:
    """Blank is not given, several values make a tuple, and unknown fields are passed over."""

    class Asked(Query):
        q: str = "nothing"
        kinds: tuple[str, ...] | None = None
        limit: int = Field(default=5, ge=1)

    asked = Asked.of([("q", " "), ("kinds", "a"), ("kinds", "b"), ("csrf", "x"), ("limit", "7")])
    assert (asked.q, asked.kinds, asked.limit) == ("nothing", ("a", "b"), 7)
    with pytest.raises(UsageError) as refused:
        Asked.of([("limit", "0")])
    assert (refused.value.field, refused.value.value) == ("limit", "0")


async def test_a_page_and_a_key_are_there_once() -> None:
    """Two pages under one address or one letter are a mistake that shows at import."""
    some = Pages()

    @some.page("/one", needs="read", label="One", key="x")
    async def one(_: Query) -> None: ...

    with pytest.raises(ValueError, match="twice"):
        some.page("/one", needs="read")(one)
    with pytest.raises(ValueError, match="'x'"):
        some.page("/two", needs="read", key="x")(one)
