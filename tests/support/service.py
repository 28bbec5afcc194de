"""A service over a runtime, on a real port of loopback, in the event loop of the test."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import httpx2

from ezra import Ezra
from ezra.service.app import service_app
from ezra.service.listening import listening
from ezra.service.tokens import TokenFile

DOORS = ("in process", "remote")
"""The two ways to a runtime that tests of both sides go."""


@asynccontextmanager
async def serving(
    ezra: Ezra, *, tokens: TokenFile | None = None, port: int = 0
) -> AsyncIterator[str]:
    """Serve a runtime by uvicorn for the length of the block; yields its address.

    Args:
        ezra: The runtime, which stays open when the block ends.
        tokens: Who may ask; without it everybody on this machine may do everything.
        port: Where; some free one if not given.
    """
    app = service_app(ezra, tokens=tokens, settings=ezra.settings)
    async with listening(app, "127.0.0.1", port) as url:
        yield url


class Ticking:
    """Monotonic seconds that stand still until a test moves them."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        """Return them."""
        return self.now


class Slow:
    """A language model that answers when it is let."""

    name = "slow"

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.let = asyncio.Event()

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Wait until it is let, then answer."""
        del messages
        self.asked.set()
        await self.let.wait()
        return "eighteen laps"


@asynccontextmanager
async def inside(
    ezra: Ezra, tokens: TokenFile | None = None, *, seconds: Ticking | None = None, **settings: Any
) -> AsyncIterator[httpx2.AsyncClient]:
    """Ask a service without a network between."""
    chosen = ezra.settings.model_copy(update=settings)
    app = service_app(ezra, tokens=tokens, settings=chosen, seconds=seconds or Ticking())
    way = httpx2.ASGITransport(app, raise_app_exceptions=False)
    async with httpx2.AsyncClient(transport=way, base_url="http://localhost") as http:
        yield http


def bearer(tokens: TokenFile, **given: Any) -> dict[str, str]:
    """Return the header of a new operator."""
    _, shown = tokens.create("one", **{"role": "operator", "expires_at": None, **given})
    return {"authorization": f"Bearer {shown}"}
