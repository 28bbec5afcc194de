"""Spans as they are kept in memory, and a collector that takes them over HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter


class Kept:
    """What an application's SDK was given."""

    def __init__(self, exporter: InMemorySpanExporter) -> None:
        self._exporter = exporter

    @property
    def spans(self) -> list[ReadableSpan]:
        """Our spans, in the order in which they ended."""
        found = self._exporter.get_finished_spans()
        return [one for one in found if _scope_of(one) == "ezra"]

    def one(self, name: str) -> ReadableSpan:
        """Return the only span of a name."""
        (found,) = (one for one in self.spans if one.name == name)
        return found

    def under(self, parent: ReadableSpan) -> list[str]:
        """Return the names of the spans right below one."""
        ids = parent.context
        return [
            one.name
            for one in self.spans
            if one.parent is not None
            and (one.parent.trace_id, one.parent.span_id) == (ids.trace_id, ids.span_id)
        ]

    def said(self) -> str:
        """Return everything that the spans tell, as text."""
        return "\n".join(one.to_json() for one in self.spans)


@contextmanager
def kept_spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[Kept]:
    """Be an application that has set up an SDK, for the length of the block."""
    exporter, provider = InMemorySpanExporter(), TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with monkeypatch.context() as patched:
        patched.setattr(trace, "_TRACER_PROVIDER", provider)
        yield Kept(exporter)
    exporter.shutdown()


class Collector:
    """A collector's stand-in: what it was sent, byte by byte."""

    def __init__(self, url: str, bodies: list[tuple[str, bytes]]) -> None:
        self.url = url
        self.bodies = bodies

    def names(self) -> list[str]:
        """Return the names of all spans that came."""
        return [
            span.name
            for sent in self._sent()
            for resource in sent.resource_spans
            for scope in resource.scope_spans
            for span in scope.spans
        ]

    def services(self) -> set[str]:
        """Return what the senders call themselves."""
        return {
            attribute.value.string_value
            for sent in self._sent()
            for resource in sent.resource_spans
            for attribute in resource.resource.attributes
            if attribute.key == "service.name"
        }

    def _sent(self) -> list[ExportTraceServiceRequest]:
        return [ExportTraceServiceRequest.FromString(body) for _, body in self.bodies]


@contextmanager
def collecting() -> Iterator[Collector]:
    """Take spans over HTTP for the length of the block."""
    bodies: list[tuple[str, bytes]] = []

    class Taking(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            size = int(self.headers["content-length"])
            bodies.append((self.path, self.rfile.read(size)))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Taking) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield Collector(f"http://127.0.0.1:{server.server_port}", bodies)
        finally:
            server.shutdown()
            thread.join()


def _scope_of(span: ReadableSpan) -> str:
    return "" if span.instrumentation_scope is None else span.instrumentation_scope.name
