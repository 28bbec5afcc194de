"""The numbers of the runtime and of this process, for Prometheus: ``GET /metrics``."""

from __future__ import annotations

from fastapi import Response
from prometheus_client import CONTENT_TYPE_LATEST

from ..wire.handles import TENANT
from .routes import Asking, Pool, answers_apart

PATH = "/metrics"
_OPERATION = TENANT.offered["metrics"].operation
_SUMMARY = "Counters, timers and the queue in Prometheus' text form; no ids and no content."


@answers_apart(
    PATH,
    "metrics",
    _SUMMARY,
    {CONTENT_TYPE_LATEST: {"schema": {"type": "string"}}},
    tag="health",
    kind=Response,
)
async def metrics(pool: Pool, caller: Asking) -> Response:
    """Answer Prometheus; it asks with the token of a reader or an operator."""
    caller.check(_OPERATION.needs, _OPERATION.name, None, None)
    return Response(await pool.ezra.metrics(), media_type=CONTENT_TYPE_LATEST)
