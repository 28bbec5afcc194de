"""Retention of beliefs: what is believed no longer loses its content when its graph says so."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, TypeAlias

from tiers.records import BeliefQuery, BeliefStatus, Scope, SessionGraph

from .rules import beliefs_kept_since, is_past_retention

if TYPE_CHECKING:
    from tiers.cold.stores import BeliefHistory

RETENTION = "retention:"
"""How the reason begins for which retention redacts beliefs."""

RETIRED_PER_PASS = 500
PAGE_BELIEFS = 1_000
PAGES_PER_PASS = 20
"""Pages of ended beliefs that a pass looks through; the next one goes on behind them."""

_ENDED: tuple[BeliefStatus, ...] = ("superseded", "reverted")

Erase: TypeAlias = Callable[[Scope, Sequence[str], str], Awaitable[object]]
"""Destroys the content of records of a graph in every store, for a reason; may be repeated."""


class BeliefRetention:
    """Finds the beliefs whose time is over and has them erased.

    Args:
        history: What became of the beliefs, and when.
    """

    def __init__(self, history: BeliefHistory) -> None:
        self._history = history
        self._places: dict[tuple[str, str], int] = {}

    async def retire(self, graph: SessionGraph, now: datetime, erase: Erase) -> int:
        """Erase beliefs of the graph that ended too long ago; may be repeated.

        At most ``RETIRED_PER_PASS``; a later pass takes the next ones. Their events stay, and so
        does the chain over them.

        Args:
            graph: With its own retention; without ``beliefs_days`` nothing happens.
            now: The current time.
            erase: Does it; the reason it is given begins with ``RETENTION``.

        Returns:
            How many were erased.
        """
        since = beliefs_kept_since(graph.retention, now)
        if since is None:
            return 0
        scope = Scope.of_graph(graph.tenant, graph.id)
        # Neither falls in a log: what ended by this event ended at or before that moment.
        last_seq = await self._history.seq_at(scope, time=since)
        due = await self._due(scope, last_seq) if last_seq else []
        if due:
            reason = f"{RETENTION} kept for {graph.retention.beliefs_days:g} days after its end"
            await erase(scope, due, reason)
        return len(due)

    async def _due(self, scope: Scope, last_seq: int) -> list[str]:
        """Return the first beliefs that ended by an event, as many as a pass takes."""
        owner = (scope.tenant, scope.graph_id)
        place = self._places.pop(owner, 0)
        due: list[str] = []
        for _ in range(PAGES_PER_PASS):
            # Who ended by an event began before it.
            query = BeliefQuery(
                statuses=_ENDED, until_seq=last_seq, after=place, limit=PAGE_BELIEFS
            )
            found = await self._history.query(scope, query)
            due += [one.id for one in found if is_past_retention(one, last_seq)]
            if len(found) < PAGE_BELIEFS or len(due) >= RETIRED_PER_PASS:
                # From the start next time: what was erased is not found again.
                return due[:RETIRED_PER_PASS]
            place = found[-1].committed_seq
        self._places[owner] = place
        return due
