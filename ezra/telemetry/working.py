"""Watches handlers of queued work: a span for each batch, and what became of its items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from metaagents.work import WorkHandler
from tiers.records import Work, WorkKind

from .telling import Telemetry


def watched_handlers(
    telemetry: Telemetry, handlers: Mapping[WorkKind, WorkHandler]
) -> Mapping[WorkKind, WorkHandler]:
    """Return handlers that do the same, watched."""
    return {kind: _Watched(telemetry, kind, handler) for kind, handler in handlers.items()}


class _Watched:
    def __init__(self, telemetry: Telemetry, kind: WorkKind, handler: WorkHandler) -> None:
        self._telemetry = telemetry
        self._kind = kind
        self._handler = handler

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Carry the items out as the handler does."""
        numbers, is_alone = self._telemetry.numbers, len(items) == 1
        with self._telemetry.batch(self._kind, items[0].scope, len(items)):
            try:
                later = await self._handler.handle(items, now)
            except Exception:
                if is_alone:  # of several, each is tried again alone and counted then
                    numbers.worked(self._kind, "failed", 1)
                raise
        for outcome, count in (("deferred", len(later)), ("done", len(items) - len(later))):
            if count:
                numbers.worked(self._kind, outcome, count)
        return later
