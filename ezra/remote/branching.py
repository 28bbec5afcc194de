"""Branches of a session graph on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from datetime import datetime
from typing import Any, Self

from tiers.errors import UsageError
from tiers.records import Turn

from ..branching import TURNS_MAX, Step, StepTaker
from ..difference import BeliefDiff
from ..wire.branching import BRANCH, DIFF, BranchAsked, DiffAsked
from ..wire.graphs import GraphAnswer
from .connection import Connection
from .history import RemoteHistory


class GraphBranches(ABC):
    """What the handle of a graph on a server can do with branches; as ``Graph`` does it."""

    _connection: Connection
    _graph_id: str

    @abstractmethod
    def _other(self, shown: GraphAnswer) -> Self:
        """Return the handle of another graph on the same server."""

    async def branch(
        self,
        *,
        session_graph_id: str,
        turn: int | None = None,
        time: datetime | None = None,
    ) -> Self:
        """Make a graph that begins with what this one believed at a moment, and goes on alone.

        Args:
            session_graph_id: Of the branch; unique in the tenant.
            turn: Leave after this turn of the graph.
            time: Leave at this time.

        Raises:
            Conflict: The branch exists.
            UsageError: Both a turn and a time are given, or more than 10,000 beliefs were active.
        """
        asked = BranchAsked(session_graph_id=session_graph_id, turn=turn, time=time)
        return self._other(await self._connection.call(BRANCH, asked, graph_id=self._graph_id))

    async def diff(self, other: Self) -> BeliefDiff:
        """Return how what ``other`` believes now differs from what this graph believes now.

        Raises:
            UsageError: ``other`` is on another server.
        """
        if other._connection.url != self._connection.url:
            raise UsageError("other", other._graph_id, "a graph of the same server")
        asked = DiffAsked(other_id=other._graph_id)
        return await self._connection.call(DIFF, asked, graph_id=self._graph_id)

    async def run_forward(
        self, take: StepTaker, *, turns: Sequence[Turn] | None = None, limit: int = 1000
    ) -> tuple[Any, ...]:
        """Let ``take`` live through turns in this branch, one after the other, on this side.

        Each turn of the other graph is read from its history when its step begins.

        Args:
            take: Called with each ``Step``; what it returns is returned in order, and its error
                ends the run.
            turns: What to live through; the turns that the other graph had after the branch left,
                if not given.
            limit: The most steps, 1 to 100,000.

        Raises:
            UsageError: The graph is no branch and no turns are given.
        """
        if not 1 <= limit <= TURNS_MAX:
            raise UsageError("limit", limit, f"1 to {TURNS_MAX}")
        if turns is not None:
            steps = [Step(number, turn) for number, turn in enumerate(turns[:limit], 1)]
            return tuple([await take(step) for step in steps])
        left = await RemoteHistory(self._connection, self._graph_id).origin()
        if left is None:
            accepted = f"turns, since {self._graph_id!r} is no branch of another graph"
            raise UsageError("turns", None, accepted)
        other = RemoteHistory(self._connection, left.graph_id)
        done: list[Any] = []
        for number in range(left.turn + 1, left.turn + 1 + limit):
            turn = (await other.replay(number)).turn
            if turn is None:
                break
            done.append(await take(Step(number, turn)))
        return tuple(done)
