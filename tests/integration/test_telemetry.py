"""What a runtime tells of itself: spans and numbers that agree with what was done, no content."""

from __future__ import annotations

import ast
import asyncio
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import context
from support.load import samples
from support.runtime import MovingClock, running
from support.spans import collecting, kept_spans

import ezra as package
from ezra import ConfigError, Ezra, Fact
from ezra.telemetry import Telemetry, instruments
from ezra.telemetry.numbers import LEGS, OTHER
from metaagents.clock import Beat
from tiers.errors import TierUnavailable

CANARY = "zanzibar"
STEPS = ["parse", "policy", "beliefs", "hydrate", "fetch", "assemble"]


async def lived(ezra: Ezra) -> Any:
    """Let an agent have a turn, a recall, a fact and a belief, all full of the canary."""
    graph = await ezra.create_session_graph("imola")
    agent = await graph.spawn_agent("strategist", topics={"tyres"})
    turn = await agent.turn(f"How long do the {CANARY} tyres last?", speaker="driver")
    await turn.reply(f"18 laps of {CANARY}.", [{"tool": "timing", "output": CANARY}])
    await agent.remember(Fact(text=f"The {CANARY} lasts 18 laps."))
    await agent.commit(f"Start on {CANARY}.", topic="tyres")
    await agent.recall(f"the {CANARY}?")
    return agent


async def test_a_turn_is_a_tree_of_spans(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The steps under the turn, the legs under their step, ids and numbers as attributes."""
    with kept_spans(monkeypatch) as kept:
        async with running(tmp_path) as ezra:
            await lived(ezra)
    turn = kept.one("ezra.turn")
    assert turn.parent is None
    assert kept.under(turn) == [f"ezra.step {step}" for step in STEPS]
    about = dict(turn.attributes or {})
    assert about["gen_ai.conversation.id"] == "imola"
    assert about["gen_ai.agent.id"] == "strategist"
    assert about["ezra.context.tokens"] > 0
    assert about["ezra.degraded"] == ("dense",)
    hydrated = kept.under(kept.one("ezra.step hydrate"))
    assert {"ezra.leg hot", "ezra.leg archival", "ezra.leg warm"} <= set(hydrated)
    assert kept.under(kept.one("ezra.step policy")) == ["ezra.leg opening"]
    written = kept.one("ezra.step write_back")
    assert (written.attributes or {})["ezra.turn.id"] == about["ezra.turn.id"]
    recalled = kept.under(kept.one("ezra.recall"))
    assert {"ezra.leg words", "ezra.leg hot"} <= set(recalled)
    assert CANARY not in kept.said()
    assert {len(span.events) for span in kept.spans} == {0}


async def test_what_fails_is_told_by_its_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A leg that is left out, and an error that leaves a step, without the words of either."""

    async def away(*_: object) -> None:
        raise TierUnavailable("hot", "read", CANARY)

    async def broken(*_: object) -> str:
        raise RuntimeError(CANARY)

    with kept_spans(monkeypatch) as kept:
        async with running(tmp_path) as ezra:
            agent = await lived(ezra)
            model = ezra._runtime.model.name
            monkeypatch.setattr(ezra._runtime.hot, "read", away)
            before = samples(await ezra.metrics())
            turn = await agent.turn("And now?")
            monkeypatch.setattr(ezra._runtime.model, "complete", broken, raising=False)
            with pytest.raises(RuntimeError):
                await turn.complete()
            after = samples(await ezra.metrics())
    failed = [one for one in kept.spans if "error.type" in (one.attributes or {})]
    told = [(one.name, (one.attributes or {})["error.type"]) for one in failed]
    assert told == [("ezra.leg hot", "TierUnavailable"), (f"chat {model}", "RuntimeError")]
    assert [one.status.description for one in failed] == [None, None]
    lost = 'ezra_degraded_legs_total{tier="hot"}'
    assert after[lost] - before.get(lost, 0.0) == 1
    assert CANARY not in kept.said()


async def test_without_an_sdk_nothing_is_kept_and_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not even where OpenTelemetry's own variables name a collector."""
    with collecting() as collector:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", collector.url)
        async with running(tmp_path) as ezra:
            await lived(ezra)
            telemetry = ezra._runtime.telemetry
            with telemetry.step("parse"):
                assert context.get_current() == {}
            assert not [one for one in threading.enumerate() if one.name.startswith("Otel")]
    assert collector.bodies == []


@pytest.mark.parametrize("path", ["/", "/v1/traces"])
async def test_spans_are_sent_where_the_setting_says(tmp_path: Path, path: str) -> None:
    """All of them have come when the runtime is closed; no word of what was said is among them."""
    with collecting() as collector:
        async with running(tmp_path, otlp_endpoint=f"{collector.url}{path}") as ezra:
            await lived(ezra)
    assert {where for where, _ in collector.bodies} == {"/v1/traces"}
    assert {"ezra.turn", "ezra.step hydrate", "ezra.leg words"} <= set(collector.names())
    assert collector.services() == {"ezra"}
    assert not [one for _, one in collector.bodies if CANARY.encode() in one]


async def test_a_collector_that_is_away_holds_nothing_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Turns go on, and closing waits no longer than one sending may take."""
    monkeypatch.setattr(instruments, "SEND_SECONDS", 0.5)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers there
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        async with running(tmp_path, otlp_endpoint=url) as ezra:
            await lived(ezra)
            since = time.monotonic()
        assert time.monotonic() - since < 8


@pytest.mark.parametrize("address", ["collector:4318", "ftp://host", "http://a:b@host", "http://"])
async def test_what_is_no_address_is_refused(tmp_path: Path, address: str) -> None:
    """By the name of the setting, and before anything is opened."""
    with pytest.raises(ConfigError) as refused:
        async with running(tmp_path / "home", otlp_endpoint=address):
            pass
    assert refused.value.key == "EZRA_OTLP_ENDPOINT"
    assert not (tmp_path / "home").exists()


async def test_sending_without_the_extra_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The SDK is not part of an ordinary installation."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ConfigError, match=r"ezra\[telemetry\]"):
        async with running(tmp_path / "home", otlp_endpoint="http://127.0.0.1:4318"):
            pass


async def test_the_numbers_agree_with_what_was_done(tmp_path: Path) -> None:
    """Turns, tokens, legs, evictions, summaries, promotions, contradictions, work and the queue."""
    clock = MovingClock()
    given = {"ring_capacity": 2, "turns_per_summary": 2, "promote_at_uses": 1}
    async with running(tmp_path, clock, **given) as ezra:
        graph = await ezra.create_session_graph("imola")
        agent = await graph.spawn_agent("strategist", topics={"tyres"})
        await agent.remember("Mediums last 18 laps.")
        tokens = 0
        for number in range(5):
            turn = await agent.turn("How many laps do mediums last?", ref=f"radio-{number}")
            tokens += turn.tokens
            await turn.reply("18 laps.")
        again = await agent.turn("How many laps do mediums last?", ref="radio-4")
        await again.reply("18 laps.")
        about = {"topic": "tyres", "key": ("start", "compound")}
        await agent.commit("Start on mediums.", value="medium", **about)
        await agent.commit("Start on softs.", value="soft", **about)
        await agent.recall("mediums")
        waiting = await ezra.waiting_work()
        told = samples(await ezra.metrics())
        await ezra.drain_learning()
        report = await ezra.run_lifecycle_tick("imola")
        later = samples(await ezra.metrics())
        core = (await agent.core()).facts
    assert {kind: told[f'ezra_queue_depth{{kind="{kind}"}}'] for kind in waiting} == waiting
    assert told['ezra_turns_total{event="opened"}'] == 6
    assert told['ezra_turns_total{event="written"}'] == 5
    assert told['ezra_turns_total{event="repeated"}'] == 1
    assert told['ezra_tokens_total{of="context"}'] == tokens + again.tokens
    assert told["ezra_ring_evictions_total"] == 3
    assert told['ezra_contradictions_total{strategy="last_write_wins"}'] == 1
    assert told["ezra_recall_seconds_count"] == 1
    assert told['ezra_turn_step_seconds_count{step="hydrate"}'] == 6
    assert told['ezra_turn_step_seconds_count{step="write_back"}'] == 6
    assert told['ezra_leg_seconds_count{leg="words",tier="cold"}'] == 1
    assert report.turns_covered == later["ezra_compressed_turns_total"] == 2
    assert report.summaries_written == later["ezra_summaries_total"]
    assert len(core) == later['ezra_fact_moves_total{tier="core"}'] == 1
    assert later['ezra_work_total{kind="compress",outcome="deferred"}'] >= 1
    assert later['ezra_work_total{kind="index",outcome="done"}'] >= 1
    assert later['ezra_queue_depth{kind="index"}'] == 0
    assert OTHER not in {one for name in later for one in name.split('"')}


async def test_runtimes_of_one_process_count_for_themselves(tmp_path: Path) -> None:
    """There is no registry of the whole process in which their names would clash."""
    async with running(tmp_path / "a") as one, running(tmp_path / "b") as two:
        await lived(one)
        told = [samples(await each.metrics()) for each in (one, two)]
    assert [each.get('ezra_turns_total{event="written"}', 0) for each in told] == [1, 0]


async def test_no_label_holds_a_name_that_somebody_gave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither content nor graph, agent or user ids; a tier's unknown name counts as another.

    While cold is away the queue is left out, and whoever watches sees everything else.
    """

    async def away(**_: object) -> dict[str, int]:
        raise TierUnavailable("cold", "waiting", "away")

    async with running(tmp_path) as ezra:
        await lived(ezra)
        ezra._runtime.telemetry.numbers.lost(CANARY)
        with ezra._runtime.telemetry.leg("mesh", f"mesh source {CANARY}"):
            pass
        text = await ezra.metrics()
        monkeypatch.setattr(ezra._runtime.queue, "waiting", away)
        without = await ezra.metrics()
    for name in (CANARY, "imola", "strategist", "driver"):
        assert name not in text
    assert samples(text)[f'ezra_degraded_legs_total{{tier="{OTHER}"}}'] == 1
    assert samples(text)['ezra_leg_seconds_count{leg="mesh",tier="mesh"}'] == 1
    assert "ezra_queue_depth" in text
    assert "ezra_queue_depth" not in without
    assert samples(without)['ezra_turns_total{event="written"}'] == 1


async def test_passes_and_batches_of_work_are_watched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A pass that fails is counted as failed, raises what it raised, and its words stay out."""

    async def bad() -> None:
        raise RuntimeError(CANARY)

    with kept_spans(monkeypatch) as kept:
        async with running(tmp_path) as ezra:
            await lived(ezra)
            passing = ezra._runtime.telemetry.passing
            drain: Callable[[], Awaitable[object]] = ezra._runtime.index_worker.drain
            good = Beat("indexing", 1.0, passing("indexing", drain))
            await good.run()
            with pytest.raises(RuntimeError):
                await passing("signing", bad)()
            told = samples(await ezra.metrics())
    assert set(kept.under(kept.one("ezra.pass indexing"))) == {"ezra.work index"}
    assert told['ezra_pass_seconds_count{name="indexing",outcome="well"}'] == 1
    assert told['ezra_pass_seconds_count{name="signing",outcome="failed"}'] == 1
    failed = kept.one("ezra.pass signing")
    assert (failed.attributes or {})["error.type"] == "RuntimeError"
    assert CANARY not in kept.said()


async def test_the_clock_runs_watched_passes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the background does by itself has spans, too."""
    ran = threading.Event()
    observed = Telemetry.passing

    def noted(self: Telemetry, name: str, work: Any) -> Any:
        watched = observed(self, name, work)

        async def run() -> None:
            await watched()
            if name == "indexing":
                ran.set()

        return run

    monkeypatch.setattr(Telemetry, "passing", noted)
    with kept_spans(monkeypatch) as kept:
        async with running(tmp_path, background=True, learning_seconds=0.05) as ezra:
            await lived(ezra)
            assert await asyncio.to_thread(ran.wait, 20)
    assert "ezra.pass indexing" in {one.name for one in kept.spans}


def test_every_leg_has_its_label() -> None:
    """Whatever a tier is asked for in our code is among the known names, and none is made up."""
    asked = {"mesh", "rerank"}
    folder = Path(package.__file__).parent
    for path in folder.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call):
                asked |= set(_leg(node))
    assert asked == LEGS


def _leg(call: ast.Call) -> list[str]:
    """Return the leg that a call names, if it is a question to a tier."""
    name = getattr(call.func, "attr", getattr(call.func, "id", ""))
    place = {"answer": 1, "_warm": 1, "_sight": 1, "_charged": 1, "found": 2, "sight": 2}.get(name)
    if place is None or len(call.args) < 3:
        return []
    leg = call.args[place]
    return [leg.value] if isinstance(leg, ast.Constant) and isinstance(leg.value, str) else []
