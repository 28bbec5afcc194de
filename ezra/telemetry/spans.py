"""Spans: what happens, step by step, for an OpenTelemetry SDK that somebody has set up.

Without one a span is a method call that does nothing, and no context is kept for it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextvars import Token
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import version
from time import perf_counter
from types import TracebackType
from typing import Self, TypeAlias

from opentelemetry import trace
from opentelemetry.context import Context, attach, detach
from opentelemetry.trace import Span, SpanKind, Status, StatusCode, Tracer
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

SCOPE = "ezra"
"""What made the spans, as OpenTelemetry calls it."""

_W3C = TraceContextTextMapPropagator()
"""Named, and not what the environment chooses: baggage would carry what others put in it."""

Attributes: TypeAlias = Mapping[str, str | int | float | bool | Sequence[str]]
Observe: TypeAlias = Callable[[float], None]


@dataclass(eq=False, slots=True)
class Watched:
    """Something under way: a span around it, and how long it takes. A context manager, used once.

    An error that leaves the block marks the span with its class; its message, which may quote what
    was said, stays out.

    Attributes:
        seconds: How long it took, once it is over.
    """

    tracer: Tracer
    name: str
    attributes: Attributes
    kind: SpanKind
    parent: Context | None
    observe: Observe | None
    seconds: float = field(default=0.0, init=False)
    _span: Span = field(default=trace.INVALID_SPAN, init=False)
    _token: Token[Context] | None = field(default=None, init=False)
    _since: float = field(default=0.0, init=False)

    def __enter__(self) -> Self:
        self._since = perf_counter()
        self._span = self.tracer.start_span(self.name, self.parent, self.kind, self.attributes)
        if self._span.get_span_context().is_valid:
            self._token = attach(trace.set_span_in_context(self._span, self.parent))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        if kind is not None:
            self.fail(kind.__name__)
        if self._token is not None:
            detach(self._token)
        self._span.end()
        self.seconds = perf_counter() - self._since
        if self.observe is not None:
            self.observe(self.seconds)

    def note(self, **attributes: str | float | Sequence[str]) -> None:
        """Add attributes; of their names ``__`` stands for a dot."""
        if self._span.is_recording():
            for name, value in attributes.items():
                self._span.set_attribute(name.replace("__", "."), value)

    def rename(self, name: str) -> None:
        """Call the span otherwise, now that it is known what it is."""
        self._span.update_name(name)

    def fail(self, what: str) -> None:
        """Mark the span as failed, by the class of an error or its number."""
        if self._span.is_recording():
            self._span.set_attribute("error.type", what)
            self._span.set_status(Status(StatusCode.ERROR))


class Spans:
    """Makes spans.

    Args:
        tracer: Where they go; to the SDK that the application has set up, if any, when not given.
    """

    def __init__(self, tracer: Tracer | None = None) -> None:
        self._tracer = tracer or trace.get_tracer(SCOPE, own_version())

    def watch(
        self,
        name: str,
        attributes: Attributes,
        *,
        kind: SpanKind = SpanKind.INTERNAL,
        parent: Context | None = None,
        observe: Observe | None = None,
    ) -> Watched:
        """Return a span for the length of a block, a child of the current one.

        Args:
            name: One of few.
            attributes: Ids and numbers.
            kind: On which side of a call it is.
            parent: Instead of the current context.
            observe: Told the seconds when it is over.
        """
        return Watched(self._tracer, name, attributes, kind, parent, observe)


def parent_in(headers: Mapping[str, str]) -> Context | None:
    """Return the context of who calls, by the W3C headers that came along; ``None`` without."""
    if "traceparent" not in headers:
        return None
    context = _W3C.extract(headers)
    found = trace.get_current_span(context).get_span_context()
    return context if found.is_valid else None


def headers_of_current() -> dict[str, str]:
    """Return the W3C headers that carry the current context to whom is called; none without."""
    headers: dict[str, str] = {}
    _W3C.inject(headers)
    return headers


@cache
def own_version() -> str:
    """Return what is installed, as a file says that stays the same while the process lives."""
    return version("ezra")
