"""What the parts of a runtime call when something happens: a span and a number in one."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from functools import partial

from opentelemetry.trace import SpanKind, Tracer

from tiers.records import Scope

from .numbers import Numbers
from .spans import Attributes, Spans, Watched

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
        return self.spans.watch("ezra.turn", {**_who(scope), "ezra.turn.id": turn_id})

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
            {"ezra.step": "write_back", **_who(scope), "ezra.turn.id": turn_id},
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
        return self.spans.watch("ezra.recall", _who(scope), observe=self.numbers.recalled)

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


def _who(scope: Scope) -> dict[str, str]:
    """Return whose context it is: the graph is the conversation of OpenTelemetry's conventions."""
    who = {"ezra.tenant": scope.tenant, "gen_ai.conversation.id": scope.graph_id}
    return who if scope.agent_id is None else {**who, "gen_ai.agent.id": scope.agent_id}
