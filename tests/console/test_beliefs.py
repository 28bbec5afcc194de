"""Beliefs: the moment that is chosen, the timeline, settlements, one story, and verifying."""

from __future__ import annotations

import sqlite3
from collections import Counter
from contextlib import closing
from typing import Any

import httpx2
import pytest
from playwright.async_api import expect
from support.console import HOSTILE, House
from support.console_past import BRANCH, GRAPH, with_past

from ezra.service.console import beliefs
from ezra.service.console.lanes import FULL, timeline
from tiers.cold.sqlite.database import Database

from .conftest import PHONE, Shots, Tabs

pytestmark = pytest.mark.asyncio(loop_scope="session")

BELIEFS = f"/console/graphs/{GRAPH}/beliefs"
_TRIGGER = "belief_contents__no_update"


async def shown_ids(page: Any) -> list[str]:
    """Return the ids of the beliefs that the page says were held."""
    rows = await page.locator("#then tbody tr[data-id]").all()
    return [str(await row.get_attribute("data-id")) for row in rows]


async def slide(page: Any, seq: int) -> None:
    """Move the slider as a hand does, and wait for what follows it."""
    await page.locator("#seq").evaluate(
        "(one, to) => { one.value = to; one.dispatchEvent(new Event('input', {bubbles: true})); }",
        str(seq),
    )
    await expect(page.locator(".moment-told")).to_have_attribute("data-seq", str(seq))


async def test_the_slider_shows_what_was_believed(house: House, tabs: Tabs, shots: Shots) -> None:
    """At every event of the log the page holds the beliefs of ``as_of``, and the bars agree."""
    history = (await with_past(house.ezra, house.clock)).beliefs
    page = await tabs.open(f"{house.url}{BELIEFS}")
    last = await history.seq_at()
    assert await page.locator("#seq").get_attribute("max") == str(last)
    assert await shown_ids(page) == [one.id for one in await history.active()]
    await shots("beliefs-desktop", page)
    seen = set()
    for seq in range(last + 1):
        await slide(page, seq)
        held = [one.id for one in await history.as_of(seq=seq)]
        assert await shown_ids(page) == held
        bars = await page.locator(".lane .bar.held").evaluate_all(
            "all => all.map(one => one.dataset.belief)"
        )
        assert sorted(bars) == sorted(held)
        seen.add(tuple(held))
    assert len(seen) > 4
    assert page.url.endswith(f"seq={last}")
    await slide(page, last // 2)
    await shots("beliefs-half", page)


async def test_the_moment_is_chosen_without_a_script(house: House, tabs: Tabs) -> None:
    """The slider is a form like any other; a time or a turn leads to the same as the handle."""
    history = (await with_past(house.ezra, house.clock)).beliefs
    second = (await history.query(limit=2))[1]
    page = await tabs.open(f"{house.url}{BELIEFS}?seq={second.committed_seq}", js=False)
    await page.get_by_role("button", name="Show", exact=True).click()
    then = await history.as_of(seq=second.committed_seq)
    assert await shown_ids(page) == [one.id for one in then]
    await page.get_by_label("Or in turn").fill("2")
    await page.get_by_role("button", name="Go there").click()
    assert await shown_ids(page) == [one.id for one in await history.as_of(turn=2)]
    at = second.recorded_at.replace(microsecond=0)
    page = await tabs.open(f"{house.url}{BELIEFS}?time={at:%Y-%m-%dT%H:%M:%S}", js=False)
    assert await shown_ids(page) == [one.id for one in await history.as_of(at)]


async def test_beliefs_are_filtered_and_paged(
    house: House, tabs: Tabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By topic, agent, subject and what became of them; rows go on as they are scrolled."""
    history = (await with_past(house.ezra, house.clock)).beliefs
    page = await tabs.open(f"{house.url}{BELIEFS}")
    await page.get_by_label("Topic").fill("tyres")
    await page.get_by_role("button", name="Filter").click()
    found = await history.query(topic="tyres")
    assert await page.locator(".lane .bar").count() == len(found) == 3
    assert await page.locator(".lane").count() == 1
    assert len(await shown_ids(page)) == 1
    monkeypatch.setattr(beliefs, "ROWS_PER_PAGE", 1)
    page = await tabs.open(f"{house.url}{BELIEFS}")
    await expect(page.locator("#then tbody tr[data-id]")).to_have_count(len(await history.active()))
    page = await tabs.open(f"{house.url}{BELIEFS}?seq=100000")
    await expect(page.get_by_role("alert")).to_contain_text("seq")
    tabs.problems.clear()


async def test_who_filters_stays_at_the_moment(house: House, tabs: Tabs) -> None:
    """However it was chosen: by the slider, a turn or a time; at the end of the log it moves on."""
    history = (await with_past(house.ezra, house.clock)).beliefs
    last = await history.seq_at()
    page = await tabs.open(f"{house.url}{BELIEFS}")
    told = page.locator(".moment-told")
    await slide(page, 2)
    await page.get_by_label("Topic").fill("tyres")
    await page.get_by_role("button", name="Filter").click()
    await page.wait_for_url("**topic=tyres**")
    await expect(told).to_have_attribute("data-seq", "2")
    await slide(page, last)
    await page.get_by_role("button", name="Filter").click()
    await page.wait_for_url(lambda address: "seq=" not in address)
    await expect(told).to_have_attribute("data-seq", str(last))
    seq = str(await history.seq_at(2))
    assert seq != str(last)
    plain = await tabs.open(f"{house.url}{BELIEFS}?turn=2", js=False)
    await plain.get_by_label("Topic").fill("tyres")
    await plain.get_by_role("button", name="Filter").click()
    await expect(plain.locator(".moment-told")).to_have_attribute("data-seq", seq)


async def test_claims_are_shown_as_text(house: House, tabs: Tabs) -> None:
    """Markup in a claim and in a key runs nowhere: in the list, a lane's name or a bar's title."""
    history = (await with_past(house.ezra, house.clock)).beliefs
    page = await tabs.open(f"{house.url}{BELIEFS}")
    assert HOSTILE in await page.locator("#then tbody").inner_text()
    (claim,) = await history.query(subject="rain")
    await page.locator(f'tr[data-id="{claim.id}"] th a').click()
    await expect(page.locator(".claim-text")).to_have_text(claim.claim)
    assert await page.evaluate("window.pwned") is None


async def test_contradictions_say_who_won_and_why(
    house: House, tabs: Tabs, shots: Shots, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last first, both sides, the strategy and the reason of the log; paged."""
    history = (await with_past(house.ezra, house.clock)).beliefs
    page = await tabs.open(f"{house.url}/console/graphs/{GRAPH}/contradictions")
    rows = page.locator(".settled")
    await expect(rows).to_have_count(2)
    third = (await history.query(topic="tyres"))[2]
    (decision,) = (await history.explain(third.id)).contradictions
    newest = rows.first
    await expect(newest.locator(".side.won")).to_contain_text(third.claim)
    await expect(newest).to_contain_text(str(decision["strategy"]))
    await expect(newest).to_contain_text(str(decision["reason"]))
    await shots("contradictions", page)
    monkeypatch.setattr(beliefs, "SETTLED_PER_PAGE", 1)
    page = await tabs.open(f"{house.url}/console/graphs/{GRAPH}/contradictions")
    await expect(page.locator(".settled")).to_have_count(2)


async def test_one_belief_tells_its_whole_story(house: House, tabs: Tabs, shots: Shots) -> None:
    """What took its place, its spans, events and sources are those of ``explain``."""
    graph = await with_past(house.ezra, house.clock)
    second = (await graph.beliefs.query(topic="tyres"))[1]
    told = await graph.beliefs.explain(second.id)
    page = await tabs.open(f"{house.url}{BELIEFS}/{second.id}")
    facts = page.locator(".claim .facts")
    assert told.superseded_by is not None
    await expect(facts).to_contain_text(told.superseded_by.claim)
    await expect(facts).to_contain_text(told.superseded[0].claim)
    events = page.locator("table", has_text="Its events in the log").locator("tbody tr")
    assert await events.count() == len(told.events)
    assert await page.locator("table", has_text="Contradictions").locator("tbody tr").count() == 2
    await shots("belief-desktop", page)
    phone = await tabs.open(f"{house.url}{BELIEFS}/{second.id}", size=PHONE, scheme="dark")
    assert await phone.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await shots("belief-phone-dark", phone)
    assert told.receipt is not None
    await page.get_by_role("link", name="What its agent saw").click()
    await expect(page.locator("body")).to_contain_text(told.receipt.id)


async def test_a_branch_shows_what_it_adopted(house: House, tabs: Tabs, shots: Shots) -> None:
    """Its bars look adopted, and each belief leads to where it came from."""
    await with_past(house.ezra, house.clock)
    page = await tabs.open(f"{house.url}/console/graphs/{BRANCH}/beliefs", size=PHONE)
    bars = await page.locator(".lane .bar").count()
    assert bars == await page.locator(".lane .bar.adopted").count() == 2
    assert await page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    await shots("branch-phone", page)
    await page.locator("#then tbody th a").first.click()
    await expect(page.locator(".claim")).to_contain_text("Came with a branch")


async def test_verifying_says_that_all_is_intact(house: House, tabs: Tabs, shots: Shots) -> None:
    """One press of the button asks the handle; a redaction breaks nothing."""
    history = (await with_past(house.ezra, house.clock)).beliefs
    await history.sign()
    page = await tabs.open(f"{house.url}{BELIEFS}")
    await page.get_by_role("button", name="Verify").click()
    await expect(page.locator("#verified")).to_have_attribute("data-ok", "yes")
    verdict = await history.verify()
    assert verdict.ok
    await expect(page.locator("#verified")).to_contain_text(verdict.root)
    await expect(page.locator("#verified")).to_contain_text(f"All {verdict.events} events")
    await shots("verified", page)


async def test_verifying_says_where_the_log_was_changed(
    house: House, tabs: Tabs, shots: Shots
) -> None:
    """A content that was rewritten in the database is told, with its event."""
    graph = await house.ezra.create_session_graph("tampered")
    agent = await graph.spawn_agent("scout", topics={"tyres"})
    for value in ("soft", "hard", "medium"):
        await agent.commit(f"Start on {value}.", topic="tyres", key=("start", "on"), value=value)
    victim = (await graph.beliefs.query())[1]
    (event,) = await graph.beliefs.events(victim.committed_seq - 1, 1)
    rewrite(house, event.id)
    page = await tabs.open(f"{house.url}/console/graphs/tampered/beliefs")
    await page.get_by_role("button", name="Verify").click()
    await expect(page.locator("#verified")).to_have_attribute("data-ok", "no")
    verdict = await graph.beliefs.verify()
    assert not verdict.ok
    rows = page.locator("#verified tbody tr")
    assert await rows.count() == len(verdict.problems)
    told = await rows.first.inner_text()
    assert f"{verdict.problems[0].seq}" in told
    assert victim.committed_seq in {one.seq for one in verdict.problems}
    await shots("tampered", page)


def rewrite(house: House, event_id: str) -> None:
    """Change what an event says behind the runtime's back."""
    database = next(house.ezra.settings.home.rglob("ezra.db"))
    with closing(sqlite3.connect(database, timeout=30)) as raw, raw:
        (made,) = raw.execute(
            "SELECT sql FROM sqlite_master WHERE name = ?", (_TRIGGER,)
        ).fetchone()
        raw.execute(f"DROP TRIGGER {_TRIGGER}")
        raw.execute(
            "UPDATE belief_contents SET body = replace(body, 'hard', 'soft') WHERE id = ?",
            (event_id,),
        )
        raw.execute(made)


async def test_a_timeline_needs_no_browser(house: House) -> None:
    """Bars lie inside the drawing, in the order of time, and one lane has no two at once."""
    history = (await with_past(house.ezra, house.clock)).beliefs
    found = await history.query()
    lives = await history.lives([one.id for one in found])
    last = await history.seq_at()
    drawn = timeline(lives, last, (await history.events(last - 1, 1))[0].recorded_at)
    bars = [bar for lane in drawn.lanes for bar in lane.bars]
    assert len(bars) == sum(len(life.held) for life in lives)
    assert all(bar.x >= 0 and bar.x + bar.width <= FULL for bar in bars)
    assert {bar.belief.id for bar in bars if bar.is_now} == {
        one.id for one in await history.active()
    }
    assert [len(lane.bars) for lane in drawn.lanes] == [3, 1, 1, 1]
    assert timeline((), 0, None).lanes == ()


async def test_a_page_asks_no_more_of_a_longer_log(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However many beliefs there are: the same number of questions, and of bars and rows."""
    graph = await house.ezra.create_session_graph("long")
    agent = await graph.spawn_agent("scout", topics={"tyres"})
    read, asked = Database.read, Counter[str]()

    async def counted(self: Database, operation: str, *given: Any, **more: Any) -> Any:
        asked[operation] += 1
        return await read(self, operation, *given, **more)

    monkeypatch.setattr(Database, "read", counted)
    counts = []
    async with httpx2.AsyncClient(base_url=house.url) as http:
        for size in (60, 120):
            for number in range(size - 60, size):
                await agent.commit(
                    f"Lap {number} is fast.", topic="tyres", key=("lap", f"{number}")
                )
            questions = []
            for _ in range(3):  # what goes on beside it may ask something meanwhile
                asked.clear()
                page = await http.get("/console/graphs/long/beliefs")
                questions.append(sum(asked.values()))
            shown = page.text.count('class="bar'), page.text.count("<tr data-id")
            counts.append((min(questions), *shown))
    assert counts[0] == counts[1]
    assert counts[0][0] < 80
    assert counts[0][2] == beliefs.ROWS_PER_PAGE


async def test_a_claim_turns_only_its_own_words_around(house: House, tabs: Tabs) -> None:
    """A mark for the other direction that is never ended stays in what its agent said."""
    graph = await house.ezra.create_session_graph("turned")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    turned = "\N{RIGHT-TO-LEFT OVERRIDE}softs last long"
    await agent.commit(turned, topic="tyres", key=(turned, "life"), value="12")
    page = await tabs.open(f"{house.url}/console/graphs/turned/beliefs")
    about = page.locator("td[data-label='About']")
    assert (await about.text_content() or "").startswith(turned)
    lefts = [
        await about.locator(one).bounding_box() for one in ("span >> nth=0", "strong", ".badge")
    ]
    places = [box["x"] for box in lefts if box is not None]
    assert len(places) == 3
    assert places == sorted(places), "what it is about, its value, then its topic"
    lane = page.locator(".lane-name")
    name, topic = (
        await lane.locator("span").first.bounding_box(),
        await lane.locator(".badge").bounding_box(),
    )
    assert name is not None
    assert topic is not None
    assert name["x"] < topic["x"]
