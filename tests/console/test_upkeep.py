"""Upkeep: conservation and retention as tables, waiting work, and charts of recent values."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect
from prometheus_client import CollectorRegistry, Histogram
from support.console import House
from support.runtime import MovingClock, running
from support.service import Ticking, bearer, inside

from ezra import Ezra, Settings
from ezra.handles.graph import Graph
from ezra.service.console.charts import (
    BOTTOM,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    ceiling,
    line_chart,
    spans,
)
from ezra.service.console.sampling import EVERY_SECONDS, KEPT, Sampler, Timing, timing_of
from ezra.service.console.upkeep import kept_by
from ezra.service.handle_pool import HandlePool
from ezra.service.tokens import TokenFile
from metaagents.lifecycle.conservation import ConservationReport, GrainConservation
from tiers.errors import TierUnavailable
from tiers.records import Retention, Scope, WorkDraft

from .conftest import LOOKS, Shots, Tabs

browsing = pytest.mark.asyncio(loop_scope="session")

BEGIN = datetime(2026, 5, 14, 9, tzinfo=UTC)


@browsing
async def test_conservation_and_retention_are_what_the_graph_reports(
    house: House, tabs: Tabs
) -> None:
    """Every grain with its counts and whether it holds; what a pass would do, and nothing done."""
    graph = await house.ezra.session_graph("imola")
    page = await tabs.open(f"{house.url}/console/graphs/imola/upkeep")
    report = await graph.conservation()
    assert report.ok
    assert report.turns > 0
    for one in report.grains:
        row = page.locator(f'#conservation [data-grain="{one.grain}"] td')
        numbers = (await row.all_text_contents())[:7]
        counted = (
            one.records,
            one.covered,
            one.emptied,
            one.tail,
            *map(len, (one.twice, one.lost, one.stranded)),
        )
        assert numbers == [str(count) for count in counted]
        await expect(row.last).to_have_text("holds")
    await expect(page.get_by_text("Every turn is accounted for.")).to_be_visible()
    due = await graph.retain(dry_run=True)
    for line in due.grains:
        row = page.locator(f'#due [data-grain="{line.grain}"] td')
        assert (await row.all_text_contents())[:2] == [str(line.due), str(line.retired)]
    await expect(page.locator("#retention")).to_contain_text("for ever")
    assert (await graph.conservation()).turns == report.turns


@browsing
async def test_what_does_not_hold_is_said(
    house: House, tabs: Tabs, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A turn that is in two summaries, one that is nowhere: named, in red and in words."""
    broken = ConservationReport(
        turns=9,
        grains=(GrainConservation("working", 2, covered=7, tail=1, twice=("t-1",), lost=("t-9",)),),
        missing={"strategist": 1},
    )

    async def conservation(graph: Graph) -> ConservationReport:
        del graph
        return broken

    monkeypatch.setattr(Graph, "conservation", conservation)
    page = await tabs.open(f"{house.url}/console/graphs/imola/upkeep")
    await expect(page.locator('[data-grain="working"]').first).to_contain_text("does not hold")
    alert = page.get_by_role("alert")
    for problem in broken.problems:
        await expect(alert).to_contain_text(problem)
    assert await page.get_by_text("Every turn is accounted for.").count() == 0


@browsing
async def test_work_that_waits_is_counted_and_parked_work_tried_again(
    house: House, tabs: Tabs
) -> None:
    """Counts by kind are the handle's; a button puts parked work back."""
    runtime = house.ezra._runtime
    scope = Scope.of_graph(runtime.settings.tenant, "imola")
    await runtime.queue.enqueue(
        scope, [WorkDraft(kind="judge", key="no-such-fact")], runtime.clock()
    )
    (taken,) = await runtime.queue.claim(["judge"], "test", 1, 60.0, runtime.clock())
    await runtime.queue.fail(taken, "it <b>failed</b>", None)
    before = (await house.ezra.waiting_work())["judge"]
    page = await tabs.open(f"{house.url}/console/upkeep")
    row = page.locator("tbody tr", has_text="it <b>failed</b>")
    await expect(row).to_be_visible()
    await row.get_by_role("button", name="Try again").click()
    await expect(page.get_by_text("No work is parked")).to_be_visible()
    assert await house.ezra.parked_work() == ()
    assert (await house.ezra.waiting_work())["judge"] == before + 1
    await house.ezra.drain_learning()
    waiting = await house.ezra.waiting_work()
    shown = page.locator(".waiting [data-kind]")
    kinds = await shown.evaluate_all("all => all.map(one => one.dataset.kind)")
    assert kinds == list(waiting)


@browsing
@pytest.mark.parametrize(("size", "scheme"), LOOKS)
async def test_pages_fit_a_desk_and_a_phone(
    house: House, tabs: Tabs, shots: Shots, size: tuple[int, int], scheme: str
) -> None:
    """Nothing sticks out; the charts are drawn again while one looks; screenshots are kept."""
    page = await tabs.open(f"{house.url}/console/upkeep", size=size, scheme=scheme)
    await expect(page.locator("#charts figure.chart")).to_have_count(3)
    await shots(f"work-{size[0]}-{scheme}", page)
    fits = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
    assert await page.evaluate(fits)
    await page.goto(f"{house.url}/console/graphs/imola/upkeep")
    await shots(f"upkeep-{size[0]}-{scheme}", page)
    assert await page.evaluate(fits)


async def test_who_may_not_run_retention_is_told(tmp_path: Path) -> None:
    """A reader sees what is kept, not what a pass would do, and cannot try work again."""
    clock = MovingClock()
    async with running(tmp_path / "home", clock) as ezra:
        await ezra.create_session_graph("imola", retention=Retention(plan="pro", beliefs_days=7))
        tokens = TokenFile(tmp_path / "tokens.json", clock)
        reader, operator = (bearer(tokens, role=role) for role in ("reader", "operator"))
        async with inside(ezra, tokens) as http:
            page = (await http.get("/console/graphs/imola/upkeep", headers=reader)).text
            assert "operator" in re.sub("<[^>]+>", "", page)
            assert 'data-grain="facts"' not in page
            for kept in ("240 hours", "8 years", "90 days", "7 days"):
                assert kept in page
            full = (await http.get("/console/graphs/imola/upkeep", headers=operator)).text
            assert 'data-grain="facts"' in full
            work = (await http.get("/console/upkeep", headers=reader)).text
            found = re.search(r'name="csrf" value="([^"]+)"', work)
            form = {"csrf": found[1] if found else "", "work": "1"}
            refused = await http.post("/console/upkeep/rerun", data=form, headers=reader)
            assert refused.status_code in (400, 403)


def test_what_a_graph_says_goes_before_the_settings(tmp_path: Path) -> None:
    """Each line says who decides."""
    settings = Settings(home=tmp_path)
    plain = {one.what: one for one in kept_by(Retention(), settings)}
    assert {one.said_by for one in plain.values()} == {"settings"}
    own = Retention(plan="working=2d", forgotten_facts_days=3)
    rows = {one.what: one for one in kept_by(own, settings)}
    assert (rows["turns"].long, rows["turns"].said_by) == ("2 days", "graph")
    assert rows["daily episodes"].long == "for ever"
    assert (rows["forgotten facts"].long, rows["forgotten facts"].said_by) == ("3 days", "graph")
    assert rows["superseded facts"].said_by == "settings"


async def test_samples_are_taken_in_time_and_bounded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One every few seconds whoever looks, a bounded number, numbers alone; cold away is a gap."""
    clock, seconds = MovingClock(), Ticking()
    async with running(tmp_path / "home", clock) as ezra:
        pool = HandlePool(ezra, seconds)
        sampler = Sampler(pool, clock, seconds)
        assert len(await sampler.look()) == len(await sampler.look()) == 1
        pool.telemetry.numbers.answered("graph.recall", 200, 0.030)
        pool.telemetry.numbers.answered("graph.status", 200, 0.010)
        seconds.now += EVERY_SECONDS
        first, second = await sampler.look()
        assert first.mean_ms["requests"] is None, "what was before is not its own"
        assert second.mean_ms["requests"] == pytest.approx(20.0)
        assert second.waiting == await ezra.waiting_work()

        async def away(_: Ezra) -> dict[str, int]:
            raise TierUnavailable("cold", "waiting", "test")

        monkeypatch.setattr(Ezra, "waiting_work", away)
        for _ in range(KEPT + 5):
            seconds.now += EVERY_SECONDS
            samples = await sampler.look()
        assert len(samples) == KEPT
        assert samples[-1].waiting is None
        assert samples[-1].mean_ms["requests"] is None


def test_timings_are_read_from_histograms() -> None:
    """All labels together, what came since, the mean, and the value that most stay below."""
    registry = CollectorRegistry()
    timer = Histogram("t_seconds", "x", ["of"], buckets=(0.01, 0.1, 1.0), registry=registry)
    timer.labels("a").observe(0.005)
    before = timing_of(registry, "t_seconds")
    assert (before.count, before.mean_ms) == (1, pytest.approx(5.0))
    for _ in range(18):
        timer.labels("a").observe(0.05)
    timer.labels("b").observe(0.5)
    timer.labels("b").observe(0.5)
    come = timing_of(registry, "t_seconds").since(before)
    assert come.count == 20
    assert come.mean_ms == pytest.approx(1000 * (18 * 0.05 + 1.0) / 20)
    # 19 of 20: half of what lies between the bounds 0.1 and 1.
    assert come.slow_ms == pytest.approx(550.0)
    timer.labels("b").observe(30.0)
    assert timing_of(registry, "t_seconds").since(come).slow_ms is not None
    assert Timing().mean_ms is None
    assert Timing().slow_ms is None
    beyond = Timing(10, 100.0, {0.1: 0, 1.0: 0, float("inf"): 10})
    assert beyond.slow_ms == pytest.approx(1000.0), "no more than the greatest bound is known"


def _moments(count: int) -> list[datetime]:
    return [BEGIN + timedelta(seconds=5 * number) for number in range(count)]


def _points(path: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(r"[ML]([\d.]+) ([\d.]+)", path)]


def test_lines_are_drawn_to_scale_and_broken_where_nothing_is_known() -> None:
    """From the left axis to the right one, 0 at the bottom; a lone value is a dot."""
    values: list[float | None] = [0.0, 40.0, None, 80.0, None]
    chart = line_chart(_moments(5), {"queue": values, "none": [None] * 5})
    queue, none = chart.lines
    points = _points(queue.path)
    assert queue.path.count("M") == 2
    assert points[0] == (LEFT, HEIGHT - BOTTOM)
    assert points[1][1] == pytest.approx(HEIGHT - BOTTOM - 0.4 * (HEIGHT - TOP - BOTTOM))
    assert queue.dots == (points[2],)
    assert (queue.last, queue.most) == (80.0, 80.0)
    assert (none.path, none.last, none.most) == ("", None, None)
    assert chart.levels[-1].at == TOP
    assert [tick.label for tick in chart.levels] == ["0", "25", "50", "75", "100"]
    assert chart.times[0].label == "09:00:00"
    assert chart.times[-1].at == WIDTH - RIGHT
    assert not chart.is_empty
    assert line_chart([], {"queue": []}).is_empty
    assert line_chart(_moments(2), {"queue": [1.0, 0.0]}, 4.0).levels[-1].label == "5"
    assert line_chart(_moments(1), {"queue": [3.0]}).lines[0].dots != ()


@pytest.mark.parametrize(
    ("value", "above"), [(0, 1), (1, 1), (1.1, 2), (2.2, 2.5), (3, 5), (7, 10), (0.03, 0.05)]
)
def test_scales_end_at_round_numbers(value: float, above: float) -> None:
    """The least round number that is not below."""
    assert ceiling(value) == pytest.approx(above)


def test_spans_of_time_lie_inside_their_bar() -> None:
    """What began before begins at the left; what goes on reaches the right."""
    day = timedelta(days=1)
    held: list[Any] = [(BEGIN - day, BEGIN + day), (BEGIN + 3 * day, None)]
    found = spans(BEGIN, BEGIN + 4 * day, held)
    assert [(one.at, one.width) for one in found] == [(0.0, 25.0), (75.0, 25.0)]
    assert spans(BEGIN, BEGIN, held) == ()
