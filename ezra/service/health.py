"""Whether the tiers answer: for load balancers and people, without a token and without names."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Literal, TypeAlias

from fastapi import APIRouter, Response
from pydantic import BaseModel, ConfigDict

from tiers.errors import TierError
from tiers.records import Scope
from tiers.registry import CATALOG

from ..app import Ezra

PATH = "/health"
ASK_SECONDS = 2.0
KEEP_SECONDS = 1.0
"""An answer serves everybody who asks within so long: nobody loads the tiers by asking."""

State: TypeAlias = Literal["ok", "unavailable"]
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

    status: Literal["ok", "degraded", "failing"]
    tiers: dict[str, State]


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
            found = health_of(await self._tiers())
            self._last = (time.monotonic(), found)
            return found

    async def _tiers(self) -> dict[str, State]:
        parts = self._ezra._parts  # noqa: SLF001 - no handle asks a tier without a graph
        scope = Scope.of_graph(parts.settings.tenant, CATALOG)
        asked: Mapping[str, Callable[[], Awaitable[object]]] = {
            "hot": lambda: parts.hot.read(scope.for_agent("health")),
            "warm": lambda: parts.warm.count(scope),
            "cold": lambda: parts.graphs.graph(scope.tenant, CATALOG),
        }
        states = await asyncio.gather(*map(_state, asked.values()))
        return dict(zip(asked, states, strict=True))


def health_of(tiers: Mapping[str, State]) -> Health:
    """Return how a service is whose tiers are so."""
    if tiers["cold"] != "ok":
        return Health(status="failing", tiers=dict(tiers))
    is_whole = all(state == "ok" for state in tiers.values())
    return Health(status="ok" if is_whole else "degraded", tiers=dict(tiers))


def add_health(router: APIRouter, pulse: Pulse) -> None:
    """Add the route of the health."""

    async def health() -> Response:
        found = await pulse.feel()
        status = 503 if found.status == "failing" else 200
        return Response(found.model_dump_json(), status, media_type="application/json")

    content = {"application/json": {"schema": Health.model_json_schema()}}
    router.add_api_route(
        PATH,
        health,
        methods=["GET"],
        operation_id="health",
        summary=_SUMMARY,
        tags=["health"],
        response_model=None,
        responses={code: {"description": _SUMMARY, "content": content} for code in (200, 503)},
    )


async def _state(ask: Callable[[], Awaitable[object]]) -> State:
    try:
        async with asyncio.timeout(ASK_SECONDS):
            await ask()
    except (TierError, TimeoutError):
        return "unavailable"
    return "ok"
