"""Sends spans to a collector, for who says where it is. Without that nothing leaves the process."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import TYPE_CHECKING

from tiers.extras import needs
from tiers.provider_clients import checked_base_url

from .spans import SCOPE
from .telling import Telemetry

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider

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
