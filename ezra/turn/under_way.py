"""Which turn of a graph was opened last: the one that a change of beliefs happens in.

An agent's own changes carry its own turn. What people change, and agents that have no turn,
happens while somebody's turn is under way, and must not be told as if it had been before it.
"""

from __future__ import annotations

from collections import OrderedDict

from tiers.records import Scope

GRAPHS_REMEMBERED = 10_000


class TurnsUnderWay:
    """The last turn of each graph that this process has opened, of a bounded number of graphs."""

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[str, str], str] = OrderedDict()

    def opened(self, scope: Scope, turn_id: str) -> None:
        """Take in that a turn was opened."""
        key = (scope.tenant, scope.graph_id)
        self._last[key] = turn_id
        self._last.move_to_end(key)
        while len(self._last) > GRAPHS_REMEMBERED:
            self._last.popitem(last=False)

    def during(self, scope: Scope, own: str | None = None) -> Scope:
        """Return a scope that says in which turn it changes beliefs.

        Args:
            scope: Who changes them.
            own: The turn of its own, if it has one.
        """
        return scope.during(own or self._last.get((scope.tenant, scope.graph_id)))
