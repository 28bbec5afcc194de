"""The lifecycle's queued work that is of a whole graph: consolidating, and retention."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime

from tiers.records import Scope, Work

from .agent import LifecycleAgent
from .retirement import Retirement

log = logging.getLogger(__name__)


class ConsolidateHandler:
    """Carries out work of the kind ``consolidate``.

    Args:
        lifecycle: Does it.
    """

    def __init__(self, lifecycle: LifecycleAgent) -> None:
        self._lifecycle = lifecycle

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Consolidate each item's graph once."""
        for scope in _graphs_of(items):
            await self._lifecycle.consolidate(scope, now)
        return {}


class RetainHandler:
    """Carries out work of the kind ``retain``.

    Args:
        retirement: Does it.
    """

    def __init__(self, retirement: Retirement) -> None:
        self._retirement = retirement

    async def handle(self, items: Sequence[Work], now: datetime) -> Mapping[str, datetime]:
        """Retire what is past its retention in each item's graph."""
        for scope in _graphs_of(items):
            report = await self._retirement.run(scope, now)
            for line in report.grains:
                if line.refused:
                    log.warning("retention of %r, %s: %s", scope.graph_id, line.grain, line.refused)
        return {}


def _graphs_of(items: Sequence[Work]) -> list[Scope]:
    scopes = [item.scope.for_graph() for item in items]
    return list({(one.tenant, one.graph_id): one for one in scopes}.values())
