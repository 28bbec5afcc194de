"""What the parts of a runtime call when something happens: a span and a number in one.

Handlers of queued work are watched: a span for each batch, and what became of its items. Spans go
to a collector for who says where it is; without that nothing leaves the process.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractContextManager, asynccontextmanager
from datetime import datetime
from functools import partial
from importlib.metadata import version
from typing import TYPE_CHECKING

from opentelemetry.trace import SpanKind, Tracer

from metaagents.work import WorkHandler
from tiers.addresses import checked_base_url
from tiers.extras import needs
from tiers.records import Scope, Work, WorkKind

from .numbers import Numbers
from .spans import SCOPE, Attributes, Spans, Watched

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider


Pass = Callable[[], Awaitable[object]]


class Telemetry:
    """Spans and numbers of one runtime.

    Args:
        tracer: Where spans go; to the application's SDK, if any, when not given.
    """

    def __init__(self, tracer: Tracer | None = None) -> None:
        self.spans = Spans(tracer)
        self.numbers = Numbers()

    def turn(self, scope: Scope, turn_id: str) -> Watched:
        """Watch the way of a message to its context."""
        return self.spans.watch("ezra.turn", {**_attributes(scope), "ezra.turn.id": turn_id})

    def step(self, step: str) -> Watched:
        """Watch a step of the router."""
        return self.spans.watch(
            f"ezra.step {step}",
            {"ezra.step": step},
            observe=partial(self.numbers.stepped, step),
        )

    def write_back(self, scope: Scope, turn_id: str) -> Watched:
        """Watch the step that remembers a turn, which may come much later than the others."""
        return self.spans.watch(
            "ezra.step write_back",
            {"ezra.step": "write_back", **_attributes(scope), "ezra.turn.id": turn_id},
            observe=partial(self.numbers.stepped, "write_back"),
        )

    def model(self, name: str) -> Watched:
        """Watch the step that asks the language model."""
        return self.spans.watch(
            f"chat {name}",
            {
                "ezra.step": "model",
                "gen_ai.operation.name": "chat",
                "gen_ai.request.model": name,
            },
            kind=SpanKind.CLIENT,
            observe=partial(self.numbers.stepped, "model"),
        )

    def recall(self, scope: Scope) -> Watched:
        """Watch a recall."""
        return self.spans.watch("ezra.recall", _attributes(scope), observe=self.numbers.recalled)

    def leg(self, tier: str, leg: str) -> Watched:
        """Watch a question to one tier; connectors, whose names are others', are all ``mesh``."""
        leg = "mesh" if tier == "mesh" else leg
        return self.spans.watch(
            f"ezra.leg {leg}",
            {"ezra.tier": tier, "ezra.leg": leg},
            observe=partial(self.numbers.asked, tier, leg),
        )

    def passing(self, name: str, work: Pass) -> Pass:
        """Return a pass of a meta-agent that is watched whenever it runs."""

        async def watched() -> None:
            outcome = "failed"

            def observe(seconds: float) -> None:
                self.numbers.passed(name, outcome, seconds)

            with self.spans.watch(f"ezra.pass {name}", {"ezra.pass": name}, observe=observe):
                await work()
                outcome = "well"

        return watched

    def batch(self, kind: str, scope: Scope, items: int) -> AbstractContextManager[Watched]:
        """Watch a batch of queued work of one graph."""
        about: Attributes = {
            "ezra.work.kind": kind,
            "ezra.work.items": items,
            "gen_ai.conversation.id": scope.graph_id,
        }
        return self.spans.watch(f"ezra.work {kind}", about)


def _attributes(scope: Scope) -> dict[str, str]:
    """Return whose context it is: the graph is the conversation of OpenTelemetry's conventions."""
    who = {"ezra.tenant": scope.tenant, "gen_ai.conversation.id": scope.graph_id}
    return who if scope.agent_id is None else {**who, "gen_ai.agent.id": scope.agent_id}


def watched_handlers(
    telemetry: Telemetry, handlers: Mapping[WorkKind, WorkHandler]
) -> Mapping[WorkKind, WorkHandler]:
    """Return handlers that do the same, watched."""
    return {kind: _Watched(telemetry, kind, handler) for kind, handler in handlers.items()}


class _Watched:
    def __init__(self, telemetry: Telemetry, kind: WorkKind, handler: WorkHandler) -> None:
        self._telemetry = telemetry
        self._kind = kind
        self._handler = handler

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Carry the items out as the handler does."""
        numbers, is_alone = self._telemetry.numbers, len(items) == 1
        with self._telemetry.batch(self._kind, items[0].scope, len(items)):
            try:
                later = await self._handler.handle(items, now)
            except Exception:
                if is_alone:  # of several, each is tried again alone and counted then
                    numbers.worked(self._kind, "failed", 1)
                raise
        for outcome, count in (("deferred", len(later)), ("done", len(items) - len(later))):
            if count:
                numbers.worked(self._kind, outcome, count)
        return later


SETTING = "EZRA_OTLP_ENDPOINT"
SEND_SECONDS = 5.0
"""So long may one sending take, tries included; closing waits for the last one."""

_PATH = "/v1/traces"


@asynccontextmanager
async def telemetry_of(endpoint: str | None) -> AsyncIterator[Telemetry]:
    """Open what a runtime tells of itself, for the length of the block.

    Args:
        endpoint: A collector's address, with or without ``/v1/traces``. Without one, spans go to
            the SDK that the application has set up, if any.

    Raises:
        ConfigError: It is no address, or the extra that sends is not installed.
    """
    if endpoint is None:
        yield Telemetry()
        return
    address = f"{checked_base_url(endpoint, SETTING).removesuffix(_PATH)}{_PATH}"
    provider = await asyncio.to_thread(_provider, address)  # the SDK takes a while to import
    try:
        yield Telemetry(provider.get_tracer(SCOPE, version("ezra")))
    finally:
        await asyncio.to_thread(provider.shutdown)


def _provider(address: str) -> TracerProvider:
    """Return what collects spans and sends them in batches, from a thread of its own.

    Raises:
        ConfigError: The extra is not installed.
    """
    with needs("telemetry", SETTING):
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import (  # noqa: PLC0415
            OTLPSpanExporter,
        )
        from opentelemetry.sdk.resources import (  # noqa: PLC0415
            OTELResourceDetector,
            Resource,
        )
        from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
        from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    about = Resource({"service.name": "ezra", "service.version": version("ezra")})
    # OTEL_RESOURCE_ATTRIBUTES and OTEL_SERVICE_NAME say otherwise if they are set.
    provider = TracerProvider(resource=about.merge(OTELResourceDetector().detect()))
    exporter = OTLPSpanExporter(address, timeout=SEND_SECONDS)
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return provider
