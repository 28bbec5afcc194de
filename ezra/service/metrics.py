"""The numbers of the runtime and of this process, for Prometheus: ``GET /metrics``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from prometheus_client import CONTENT_TYPE_LATEST

from ..wire.handles import TENANT
from .caller import Caller
from .handle_pool import HandlePool
from .routes import declare

PATH = "/metrics"
_OPERATION = TENANT.offered["metrics"].operation
_SUMMARY = "Counters, timers and the queue in Prometheus' text form; no ids and no content."


def add_metrics(router: APIRouter, pool: Callable[..., Any], caller: Callable[..., Any]) -> None:
    """Add the route that Prometheus reads; it asks for the token of a reader or an operator.

    Args:
        router: Where to add it.
        pool: Dependency that gives the pool.
        caller: Dependency that gives the caller.
    """

    async def metrics(**given: Any) -> Response:  # noqa: ANN401 - FastAPI goes by the signature
        given["caller_"].check(_OPERATION.needs, _OPERATION.name, None, None)
        text = await given["pool_"].ezra.metrics()
        return Response(text, media_type=CONTENT_TYPE_LATEST)

    parameters = {
        "pool_": Annotated[HandlePool, Depends(pool)],
        "caller_": Annotated[Caller, Depends(caller)],
    }
    declare(metrics, parameters)
    content = {CONTENT_TYPE_LATEST: {"schema": {"type": "string"}}}
    router.add_api_route(
        PATH,
        metrics,
        methods=["GET"],
        operation_id="metrics",
        summary=_SUMMARY,
        tags=["health"],
        response_class=Response,
        response_model=None,
        responses={200: {"description": _SUMMARY, "content": content}},
    )
