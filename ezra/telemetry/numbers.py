"""Numbers: what a runtime counts and times, as Prometheus reads it.

Every runtime has a registry of its own. Values of labels are names that stand in the code: of
graphs, agents and people there may be any number, and they are nobody's business here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from typing import TypeAlias

from prometheus_client import (
    CollectorRegistry,
    Counter,
    GCCollector,
    Histogram,
    PlatformCollector,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.registry import Collector

from metaagents.lifecycle.reports import LifecycleReport

OTHER = "other"
"""Stands for each value of a label that is not among the known ones."""

TIERS = frozenset("hot warm cold dense rerank mesh judge model".split())
LEGS = frozenset(
    (
        *("append to the ring", "archival", "archival by words", "audit", "clear the ring"),
        "conversations",
        *("periods of facts", "definitions", "former facts"),
        *("covered turns", "dense", "episodes", "facts", "hot", "inherited"),
        *("inherited rules", "presence"),
        *("keep mesh result", "knowledge", "live", "meaning", "meaning of that time", "mesh"),
        *(
            "opening",
            "outcomes",
            "outdated turns",
            "rebuild",
            "receipt",
            "relevance",
            "rerank",
            "standing",
            "standing facts",
            "timeline",
        ),
        *("turns", "usage", "uses"),
        *("waiting", "warm", "what ended since", "word statistics", "words", "words of ancestors"),
        *("citations", "last turn", "previews", "tail"),
    )
)
"""What the router and recall ask, each by the name that a turn's ``skipped`` has for it."""

CALL_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5)
ANSWER_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 60.0)
PASS_SECONDS = (0.01, 0.1, 1.0, 10.0, 60.0, 300.0)
LAG_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0)

Families: TypeAlias = Iterator[CounterMetricFamily | GaugeMetricFamily]


class Numbers:
    """What one runtime counts and times.

    Attributes:
        registry: Has everything that is here, for whoever collects it by other means.
    """

    def __init__(self) -> None:
        self.registry = registry = CollectorRegistry(auto_describe=True)
        for collects in (ProcessCollector, PlatformCollector, GCCollector):
            collects(registry=registry)
        self.late = _Late()
        registry.register(self.late)

        def counter(name: str, about: str, *labels: str) -> Counter:
            return Counter(f"ezra_{name}", about, labels, registry=registry)

        def timer(name: str, about: str, bounds: tuple[float, ...], *labels: str) -> Histogram:
            return Histogram(
                f"ezra_{name}_seconds", about, labels, buckets=bounds, registry=registry
            )

        # What turns count and time is looked up by its labels once.
        self._turns = cache(counter("turns", "Turns, by what became of them.", "event").labels)
        self._tokens = cache(
            counter("tokens", "Estimated tokens of contexts and replies.", "of").labels
        )
        self._degraded = counter("degraded_legs", "Legs left out, by what was missing.", "tier")
        self._evicted = counter("ring_evictions", "Turns that left a ring for newer ones.")
        self._moved = counter("fact_moves", "Facts that became core or archival.", "tier")
        self._settled = counter("contradictions", "Contradictions settled.", "strategy")
        self._work = counter("work", "Queued work, by what became of it.", "kind", "outcome")
        self._requests = counter("http_requests", "Requests answered.", "operation", "status")
        self._tools = counter("mcp_requests", "MCP requests.", "method", "tool", "outcome")
        self._step = cache(
            timer("turn_step", "One step of the router.", CALL_SECONDS, "step").labels
        )
        self._recall = timer("recall", "One recall, whole.", CALL_SECONDS)
        self._leg = cache(
            timer("leg", "One question to one tier.", CALL_SECONDS, "tier", "leg").labels
        )
        self._pass = timer("pass", "One pass of a meta-agent.", PASS_SECONDS, "name", "outcome")
        self._request = timer("http_request", "One request.", ANSWER_SECONDS, "operation")
        self._tool = timer("mcp_request", "One MCP request.", ANSWER_SECONDS, "method", "tool")
        self._lag = timer("event_loop_lag", "How late the event loop was.", LAG_SECONDS)

    def turn(self, event: str) -> None:
        """Count a turn that was ``opened``, ``written`` or ``repeated``."""
        self._turns(event).inc()

    def tokens(self, of: str, count: int) -> None:
        """Count estimated tokens of a ``context`` or of a ``reply``."""
        self._tokens(of).inc(count)

    def lost(self, tier: str) -> None:
        """Count a leg that was left out for want of a tier or capability."""
        self._degraded.labels(_label(tier, TIERS)).inc()

    def evicted(self, turns: int) -> None:
        """Count turns that left a ring."""
        self._evicted.inc(turns)

    def moved(self, tier: str) -> None:
        """Count a fact that became ``core`` or ``archival``."""
        self._moved.labels(tier).inc()

    def settled(self, strategy: str) -> None:
        """Count a contradiction that was settled by a merge strategy."""
        self._settled.labels(strategy).inc()

    def worked(self, kind: str, outcome: str, items: int) -> None:
        """Count items of queued work that are ``done``, ``deferred`` or ``failed``."""
        self._work.labels(kind, outcome).inc(items)

    def stepped(self, step: str, seconds: float) -> None:
        """Time a step of the router."""
        self._step(step).observe(seconds)

    def recalled(self, seconds: float) -> None:
        """Time a recall."""
        self._recall.observe(seconds)

    def asked(self, tier: str, leg: str, seconds: float) -> None:
        """Time a question to a tier."""
        self._leg(_label(tier, TIERS), _label(leg, LEGS)).observe(seconds)

    def passed(self, name: str, outcome: str, seconds: float) -> None:
        """Time a pass of a meta-agent that went ``well`` or ``failed``."""
        self._pass.labels(name, outcome).observe(seconds)

    def answered(self, operation: str, status: int, seconds: float) -> None:
        """Count and time a request over HTTP."""
        self._requests.labels(operation, str(status)).inc()
        self._request.labels(operation).observe(seconds)

    def used(self, method: str, tool: str, outcome: str, seconds: float) -> None:
        """Count and time a request over MCP."""
        self._tools.labels(method, tool, outcome).inc()
        self._tool.labels(method, tool).observe(seconds)

    def lagged(self, seconds: float) -> None:
        """Note how late the event loop was."""
        self._lag.observe(seconds)
        self.late.lag_max = max(self.late.lag_max, seconds)

    def text(self) -> bytes:
        """Return everything in Prometheus' text form; takes some milliseconds."""
        return generate_latest(self.registry)


class _Late(Collector):
    """What is read when it is asked for.

    Attributes:
        waiting: Queued work by kind; ``None`` where that is not known.
        index_age: For how many seconds the oldest record has waited for the index.
        done: What the lifecycle agent has done.
        lag_max: The longest that the event loop was late; 0 where nobody looks.
    """

    def __init__(self) -> None:
        self.waiting: Mapping[str, int] | None = None
        self.index_age: float | None = None
        self.done: Callable[[], LifecycleReport] = LifecycleReport
        self.lag_max = 0.0

    def collect(self) -> Families:
        """Yield them."""
        yield GaugeMetricFamily(
            "ezra_event_loop_lag_max_seconds",
            "The longest that the event loop was late since the start.",
            value=self.lag_max,
        )
        if self.waiting is not None:
            queue = GaugeMetricFamily(
                "ezra_queue_depth", "Work that waits, by kind; parked work.", labels=["kind"]
            )
            for kind, count in self.waiting.items():
                queue.add_metric([kind], count)
            yield queue
        if self.index_age is not None:
            yield GaugeMetricFamily(
                "ezra_index_age_seconds",
                "For how long the oldest record has waited to be indexed; 0 when none waits.",
                value=self.index_age,
            )
        yield from _lifecycle(self.done())


def _lifecycle(done: LifecycleReport) -> Families:
    for name, about, count in (
        ("compressed_turns", "Turns that summaries stand for.", done.turns_covered),
        ("summaries", "Summaries written.", done.summaries_written),
        ("warm_evictions", "Entries that left the warm tier.", done.entries_evicted),
    ):
        yield CounterMetricFamily(f"ezra_{name}", about, value=count)
    episodes = CounterMetricFamily("ezra_episodes", "Episodes written.", labels=["grain"])
    for grain, count in done.episodes_by_grain.items():
        episodes.add_metric([grain], count)
    yield episodes


def _label(value: str, known: frozenset[str]) -> str:
    return value if value in known else OTHER
