"""How the service is: whether the tiers answer, and the numbers of the runtime and of this process.

``GET /health`` is for load balancers and people, without a token and without names; ``GET
/metrics`` for Prometheus, with the token of a reader or an operator.
"""

from __future__ import annotations

import asyncio
import time
from typing import Annotated

from fastapi import Depends, Request, Response
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, ConfigDict

from ..app import Ezra
from ..moving.graph_status import HealthState, TierState
from ..wire.handles import TENANT
from .routes import Asking, Pool, answers_apart

PATH = "/health"
KEEP_SECONDS = 1.0
"""An answer serves everybody who asks within so long: nobody loads the tiers by asking."""

_SUMMARY = (
    "Whether each tier answers; 503 when the cold tier, without which nothing goes, does not."
)


class Health(BaseModel):
    """How the service is.

    Attributes:
        status: ``ok``; ``degraded`` when turns go on without a tier; ``failing`` without cold.
        tiers: Each tier's state, by name.
    """

    model_config = ConfigDict(frozen=True)

    status: HealthState
    tiers: dict[str, TierState]


class Pulse:
    """Feels the tiers of a runtime, once for all who ask at the same time.

    Args:
        ezra: The runtime.
    """

    def __init__(self, ezra: Ezra) -> None:
        self._ezra = ezra
        self._asking = asyncio.Lock()
        self._last: tuple[float, Health] | None = None

    async def feel(self) -> Health:
        """Return how the tiers are, or were a moment ago."""
        async with self._asking:
            now = time.monotonic()
            if self._last is not None and now - self._last[0] <= KEEP_SECONDS:
                return self._last[1]
            felt = await self._ezra.health()
            states = {name: one.state for name, one in felt.tiers.items()}
            found = Health(status=felt.status, tiers=states)
            self._last = (time.monotonic(), found)
            return found


async def _pulse(request: Request) -> Pulse:
    pulse: Pulse = request.app.state.pulse
    return pulse


@answers_apart(
    PATH,
    "health",
    _SUMMARY,
    {"application/json": {"schema": Health.model_json_schema()}},
    tag="health",
    codes=(200, 503),
)
async def health(pulse: Annotated[Pulse, Depends(_pulse)]) -> Response:
    """Answer whoever balances load, or looks."""
    found = await pulse.feel()
    status = 503 if found.status == "failing" else 200
    return Response(found.model_dump_json(), status, media_type="application/json")


METRICS_PATH = "/metrics"
_OPERATION = TENANT.offered["metrics"].operation
_METRICS_SUMMARY = "Counters, timers and the queue in Prometheus' text form; no ids and no content."


@answers_apart(
    METRICS_PATH,
    "metrics",
    _METRICS_SUMMARY,
    {CONTENT_TYPE_LATEST: {"schema": {"type": "string"}}},
    tag="health",
    kind=Response,
)
async def metrics(pool: Pool, caller: Asking) -> Response:
    """Answer Prometheus; it asks with the token of a reader or an operator."""
    caller.check(_OPERATION.needs, _OPERATION.name, None, None)
    return Response(await pool.ezra.metrics(), media_type=CONTENT_TYPE_LATEST)
