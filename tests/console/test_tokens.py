"""The tokens page: shown once, no wider than one's own, revoked at once, told to the audit feed."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx2
import pytest
from playwright.async_api import Route, expect
from support.console import House
from support.runtime import MovingClock, running
from support.service import bearer, inside, serving

from ezra import Ezra
from ezra.service.issuing import MADE, REVOKED
from ezra.service.tokens import DEFAULT_EXPIRY, TokenFile
from tiers.errors import TierUnavailable

from .conftest import PHONE, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")


@dataclass
class Guarded:
    """A server that asks for tokens, without a network."""

    ezra: Ezra
    tokens: TokenFile
    clock: MovingClock
    http: httpx2.AsyncClient

    async def post(self, path: str, who: dict[str, str], **said: str) -> httpx2.Response:
        """Send a form with the secret of its session."""
        first = self.tokens.create("form", "operator", expires_at=None)[1]
        shown = await self.http.get("/console/tokens", headers={"authorization": f"Bearer {first}"})
        csrf = re.search(r'name="csrf" value="([^"]+)"', shown.text)
        assert csrf is not None
        return await self.http.post(path, data={"csrf": csrf[1], **said}, headers=who)


@asynccontextmanager
async def guarded(home: Path) -> AsyncIterator[Guarded]:
    """Open one."""
    clock = MovingClock()
    tokens = TokenFile(home / "tokens.json", clock)
    async with running(home / "home", clock) as ezra:
        tokens.create("first", "operator", expires_at=None)
        async with inside(ezra, tokens) as http:
            yield Guarded(ezra, tokens, clock, http)


async def test_an_administrator_makes_and_revokes_a_token(
    house: House, tabs: Tabs, shots: Shots, tmp_path: Path
) -> None:
    """The token is on the page that made it and on no other; it counts, and then counts no more."""
    tokens = TokenFile(tmp_path / "tokens.json", house.clock)
    mine = tokens.create("ann", "operator", expires_at=None)[1]
    async with serving(house.ezra, tokens=tokens) as url, httpx2.AsyncClient(base_url=url) as http:
        page = await tabs.open(f"{url}/console/tokens")
        await page.fill("#token", mine)
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/console/tokens")
        form = page.locator("#make")
        await form.get_by_label("Name").fill("dashboard")
        await form.get_by_label("Role").select_option("reader")
        await form.get_by_label("Only the graph").fill("imola")
        await form.get_by_label("Ends after").fill("30d")
        await shots("tokens-desktop", page)
        await form.get_by_role("button", name="Make it").click()
        shown = await page.locator("#made #token").text_content() or ""
        who = {"authorization": f"Bearer {shown}"}
        assert (await http.get("/v1/graphs/imola/status", headers=who)).status_code == 200
        assert (await http.get("/v1/graphs/monaco/status", headers=who)).status_code == 403
        made = tokens.tokens()[-1]
        assert (made.name, made.role, made.graph_id) == ("dashboard", "reader", "imola")
        assert made.expires_at is not None
        assert abs(made.expires_at - house.clock() - timedelta(days=30)) < timedelta(minutes=1)
        await page.goto(f"{url}/console/tokens")
        secret = shown.removeprefix(f"ezra_{made.id}_")
        assert secret not in await page.content()
        row = page.locator(f"tr[data-token='{made.id}']")
        await row.locator("summary").press("Enter")
        await row.get_by_label("Why").fill("lost")
        await row.get_by_role("button", name="Revoke it").click()
        await expect(row).to_contain_text("revoked")
        assert (await http.get("/v1/graphs/imola/status", headers=who)).status_code == 401
        feed = [one for one in await house.ezra.audit(limit=10_000) if one.kind in (MADE, REVOKED)]
        told = {one.kind: one for one in feed if one.record_ids == (made.id,)}
        assert "by ann" in told[MADE].reason
        assert "reader dashboard for graph imola" in told[MADE].reason
        assert told[REVOKED].reason.endswith(": lost")
        assert secret not in "".join(one.reason for one in feed)
        phone = await page.context.new_page()
        await phone.set_viewport_size({"width": PHONE[0], "height": PHONE[1]})
        await phone.emulate_media(color_scheme="dark")
        await phone.goto(f"{url}/console/tokens")
        assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
        await shots("tokens-phone", phone)


async def test_who_answers_for_less_than_everything_is_refused(tmp_path: Path) -> None:
    """Readers, agents, and operators of one graph or user neither see nor change tokens."""
    async with guarded(tmp_path) as there:
        lesser: tuple[dict[str, Any], ...] = (
            {"role": "reader"},
            {"role": "agent"},
            {"graph_id": "imola"},
            {"user_id": "ann"},
            {"topics": ("tyres",)},
        )
        before = len(there.tokens.tokens()) + len(lesser)
        for given in lesser:
            who = bearer(there.tokens, **given)
            answer = await there.http.get("/console/tokens", headers=who)
            assert answer.status_code == 403, given
            assert "first" not in answer.text
            front = (await there.http.get("/console", headers=who)).text
            assert "/console/tokens" not in front
        for given in lesser:
            who = bearer(there.tokens, **given)
            made = await there.post("/console/tokens", who, name="more", role="operator")
            first = there.tokens.tokens()[0].id
            gone = await there.post(f"/console/tokens/{first}/revoke", who, reason="mine")
            assert (made.status_code, gone.status_code) == (403, 403), given
        names = [one.name for one in there.tokens.tokens()]
        assert "more" not in names
        assert len(names) >= before
        assert there.tokens.tokens()[0].revoked_at is None


async def test_no_token_outlives_the_one_that_made_it(tmp_path: Path) -> None:
    """Not one without an end either; up to the very end is fine, and odd spans are named."""
    async with guarded(tmp_path) as there:
        mine = bearer(there.tokens, expires_at=there.clock() + timedelta(days=10))
        for span in ("11d", "never", "90d"):
            answer = await there.post("/console/tokens", mine, name="longer", expires=span)
            assert answer.status_code == 422, span
            assert "when your own token ends" in answer.text
        odd = await there.post("/console/tokens", mine, name="odd", expires="soon")
        assert "such as 12h, 30d or 4w" in odd.text
        agent = await there.post(
            "/console/tokens", mine, name="odd", role="reader", agent="one", expires="1d"
        )
        assert agent.status_code == 422
        done = await there.post(
            "/console/tokens", mine, name="shorter", expires="9d", topics="tyres, weather"
        )
        assert done.status_code == 200
        assert done.headers["cache-control"] == "no-store"
        made = there.tokens.tokens()[-1]
        assert (made.name, made.topics, made.role) == ("shorter", ("tyres", "weather"), "agent")
        assert not {"longer", "odd"} & {one.name for one in there.tokens.tokens()}


async def test_what_the_feed_is_not_told_is_not_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A token whose making cannot be recorded lets nobody in, and none is revoked untold."""
    async with guarded(tmp_path) as there:
        mine = bearer(there.tokens)

        async def away(*_: object) -> None:
            raise TierUnavailable("cold", "append", "a test")

        first = there.tokens.tokens()[0].id
        monkeypatch.setattr(type(there.ezra._runtime.log), "append_audit", away)
        made = await there.post("/console/tokens", mine, name="untold")
        gone = await there.post(f"/console/tokens/{first}/revoke", mine, reason="x")
        assert (made.status_code, gone.status_code) == (503, 503)
        by_name = {one.name: one for one in there.tokens.tokens()}
        assert by_name["untold"].revoked_at is not None
        assert by_name["first"].revoked_at is None


async def test_a_server_that_needs_no_token_makes_none(tmp_path: Path) -> None:
    """It says how the first is made; tokens of other tenants are neither shown nor revoked."""
    async with running(tmp_path / "home", MovingClock()) as ezra:
        tokens = TokenFile(tmp_path / "tokens.json")
        async with inside(ezra, tokens) as http:
            page = (await http.get("/console/tokens")).text
            assert "ezra token create NAME --role operator" in page
            csrf = re.search(
                r'name="csrf" value="([^"]+)"', (await http.get("/console/subject")).text
            )
            assert csrf is not None
            answer = await http.post("/console/tokens", data={"csrf": csrf[1], "name": "x"})
            assert answer.status_code == 403
            assert tokens.tokens() == ()
    async with guarded(tmp_path / "other") as there:
        mine = bearer(there.tokens)
        theirs = TokenFile(tmp_path / "other" / "tokens.json", there.clock, tenant="rival")
        made, _ = theirs.create("rival", "operator", expires_at=None)
        page = (await there.http.get("/console/tokens", headers=mine)).text
        assert made.id not in page
        answer = await there.post(f"/console/tokens/{made.id}/revoke", mine, reason="mine")
        assert answer.status_code == 404
        assert theirs.tokens()[-2].revoked_at is None
        assert next(one for one in theirs.tokens() if one.id == made.id).revoked_at is None


@pytest.mark.parametrize("lasts", [{"days": 90}, {"days": 10}, {"hours": 30}, {"minutes": 40}])
async def test_the_span_that_the_form_offers_is_one_that_it_takes(
    tmp_path: Path, lasts: dict[str, int]
) -> None:
    """Who came with a token of the usual span has less than that left, and is not refused it."""
    async with guarded(tmp_path) as there:
        mine = bearer(there.tokens, expires_at=there.clock() + timedelta(**lasts))
        there.clock.move(minutes=1)
        page = await there.http.get("/console/tokens", headers=mine)
        offered = re.search(r'name="expires" required value="(\w+)"', page.text)
        assert offered is not None
        there.clock.move(minutes=2)  # to fill it in
        made = await there.post("/console/tokens", mine, name="mine", expires=offered[1])
        assert made.status_code == 200, made.text
        ends = there.tokens.tokens()[-1].expires_at
        assert ends is not None
        assert (ends - there.clock()) * 2 > timedelta(**lasts), "most of what is left"
        refused = await there.post("/console/tokens", mine, name="mine", expires="91d")
        assert f"expires: &#39;{there.clock() + timedelta(days=91):%Y-%m-%dT}" in refused.text


async def test_who_bounds_nothing_is_offered_the_usual_span(tmp_path: Path) -> None:
    """A token without an end bounds no other; the form then says what the command line says."""
    async with guarded(tmp_path) as there:
        page = await there.http.get("/console/tokens", headers=bearer(there.tokens))
        assert f'name="expires" required value="{DEFAULT_EXPIRY}"' in page.text


async def test_a_form_that_is_pressed_twice_acts_once(
    house: House, tabs: Tabs, tmp_path: Path
) -> None:
    """The second press would make a token that nobody is shown; who goes back may press again."""
    tokens = TokenFile(tmp_path / "tokens.json", house.clock)
    mine = tokens.create("ann", "operator", expires_at=None)[1]
    async with serving(house.ezra, tokens=tokens) as url:
        page = await tabs.open(f"{url}/console/tokens")
        await page.fill("#token", mine)
        await page.keyboard.press("Enter")
        await page.wait_for_url("**/console/tokens")
        pressed, sent = asyncio.Event(), list[str]()

        async def hold(route: Route) -> None:
            if route.request.method == "POST":
                sent.append(route.request.url)
                await pressed.wait()
            await route.continue_()

        await page.route("**/console/tokens", hold)
        for name in ("once", "again"):
            pressed.clear()
            await page.get_by_label("Name").fill(name)
            place = await page.get_by_role("button", name="Make it").bounding_box()
            assert place is not None
            for _ in range(2):  # a mouse, unlike a locator, does not wait for what is on its way
                await page.mouse.click(place["x"] + 5, place["y"] + 5)
            pressed.set()
            await expect(page.locator("#made")).to_contain_text(f"The token of {name}")
            await page.goto(f"{url}/console/tokens")
        assert [one.name for one in tokens.tokens()] == ["ann", "once", "again"]
        assert len(sent) == 2
