"""What the surfaces share: handles by name, and the turns that wait for their reply."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable

from tiers.errors import NotFound

from ..agent import Agent
from ..app import Ezra
from ..graph import Graph
from ..telemetry import Telemetry
from ..turn import OpenTurn

AGENTS_MAX = 10_000
TURNS_MAX = 10_000
TURN_SECONDS = 3_600.0
"""So many turns wait so long for their reply. Behind it the caller opens the turn anew."""


class Desk:
    """Hands out handles to callers whose right to them was checked.

    Args:
        ezra: The runtime.
        seconds: Monotonic seconds.
    """

    def __init__(self, ezra: Ezra, seconds: Callable[[], float]) -> None:
        self.ezra = ezra
        self._seconds = seconds
        self._agents: OrderedDict[tuple[str, str], Agent] = OrderedDict()
        self._turns: OrderedDict[tuple[str, str, str], tuple[float, OpenTurn]] = OrderedDict()

    @property
    def telemetry(self) -> Telemetry:
        """What is told of requests goes where the runtime tells of itself."""
        return self.ezra._parts.telemetry  # noqa: SLF001 - no handle gives it, and none should

    async def graph(self, graph_id: str) -> Graph:
        """Return the handle of a graph.

        Raises:
            NotFound: It does not exist.
        """
        return await self.ezra.session_graph(graph_id)

    async def agent(self, graph_id: str, agent_id: str) -> Agent:
        """Return the handle of a member of a graph.

        One handle goes on serving: it looks its scope up at each call, and knows the turn under
        way.

        Raises:
            NotFound: The graph does not exist, or has no such member.
            UsageError: The member has left.
        """
        agent = self._agents.get((graph_id, agent_id))
        if agent is None:
            graph = await self.graph(graph_id)
            agent = await graph.agent(agent_id)
        return self.hold(graph_id, agent)

    def hold(self, graph_id: str, agent: Agent) -> Agent:
        """Remember a handle, in the place of any former one of that member; return it."""
        self._agents[graph_id, agent.id] = agent
        self._agents.move_to_end((graph_id, agent.id))
        while len(self._agents) > AGENTS_MAX:
            self._agents.popitem(last=False)
        return agent

    def drop(self, graph_id: str, agent_id: str | None = None) -> None:
        """Forget the handle of a member that left, or all of a graph that was closed."""
        for key in [one for one in self._agents if one[0] == graph_id]:
            if agent_id in (None, key[1]):
                del self._agents[key]

    def keep(self, graph_id: str, agent_id: str, turn: OpenTurn) -> None:
        """Keep a turn until it is replied to, or too old, or one of too many."""
        self._drop_old()
        self._turns[graph_id, agent_id, turn.id] = (self._seconds(), turn)
        while len(self._turns) > TURNS_MAX:
            self._turns.popitem(last=False)

    def turn(self, graph_id: str, agent_id: str, turn_id: str) -> OpenTurn:
        """Return a turn that waits for its reply; a repeated reply finds it as well.

        Raises:
            NotFound: There is none: it was never opened here, or too long ago.
        """
        self._drop_old()
        found = self._turns.get((graph_id, agent_id, turn_id))
        if found is None:
            raise NotFound("open turn", turn_id)
        return found[1]

    def _drop_old(self) -> None:
        now = self._seconds()
        while self._turns:
            (since, _) = next(iter(self._turns.values()))
            if now - since <= TURN_SECONDS:
                return
            self._turns.popitem(last=False)
