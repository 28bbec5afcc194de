"""A runtime for tests: embedded, on its own folder, with a clock that tests move."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ezra import Ezra, Settings


class MovingClock:
    """A clock that stands still until a test moves it; each reading is a microsecond later."""

    def __init__(self, start: datetime = datetime(2026, 5, 14, 9, 0, tzinfo=UTC)) -> None:
        self._now = start

    def __call__(self) -> datetime:
        """Return the time."""
        self._now += timedelta(microseconds=1)
        return self._now

    def move(self, **by: float) -> None:
        """Move forward by a ``timedelta``'s arguments."""
        self._now += timedelta(**by)


@asynccontextmanager
async def running(
    home: Path, clock: MovingClock | None = None, **settings: object
) -> AsyncIterator[Ezra]:
    """Open a runtime whose meta-agents run only when a test says so.

    Without ``embedder="auto"`` or ``"required"`` it recalls by words only, which needs no model.
    """
    values: dict[str, object] = {"embedder": "off", "background": False, **settings}
    chosen = Settings(home=home, **values)
    async with Ezra.open(chosen, clock=clock or MovingClock()) as ezra:
        yield ezra
