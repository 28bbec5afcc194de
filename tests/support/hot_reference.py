"""The hot tier as plain dictionaries: what every ``HotStore`` must do, nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from tiers.errors import TierUnavailable, UsageError
from tiers.records import Commitment, HotState, MeshResult, Owned, Scope, Turn


@dataclass
class _Agent:
    ring: dict[int, Turn] = field(default_factory=dict)
    pins: dict[str, Commitment] = field(default_factory=dict)
    mesh: MeshResult | None = None

    def trim(self, capacity: int) -> tuple[Turn, ...]:
        surplus = sorted(self.ring)[: max(0, len(self.ring) - capacity)]
        return tuple(self.ring.pop(seq) for seq in surplus)


class ReferenceHotStore:
    """A ``HotStore`` in memory."""

    def __init__(self, pins_max: int = 1024) -> None:
        self._agents: dict[tuple[str, str, str], _Agent] = {}
        self._pins_max = pins_max
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._closed = True

    async def append(self, scope: Scope, turn: Turn, capacity: int) -> tuple[Turn, ...]:
        """Put a turn into the ring and return what no longer fits."""
        agent = self._agent(scope)
        _check_capacity(capacity)
        _check_turn(scope, turn)
        agent.ring[turn.seq] = turn
        return agent.trim(capacity)

    async def read(self, scope: Scope) -> HotState:
        """Return everything held for the agent."""
        agent = self._agent(scope)
        return HotState(
            turns=tuple(agent.ring[seq] for seq in sorted(agent.ring)),
            pinned=tuple(sorted(agent.pins.values(), key=lambda pin: (pin.recorded_at, pin.id))),
            mesh=agent.mesh,
        )

    async def restore(self, scope: Scope, turns: Sequence[Turn], capacity: int) -> None:
        """Fill the ring from cold."""
        agent = self._agent(scope)
        _check_capacity(capacity)
        for turn in turns:
            _check_turn(scope, turn)
        for turn in turns:
            agent.ring.setdefault(turn.seq, turn)
        if turns:
            agent.trim(capacity)

    async def pin(self, scope: Scope, belief: Commitment) -> None:
        """Keep a belief at hand."""
        agent = self._agent(scope)
        _check_owner(scope, belief)
        if not belief.id:
            raise UsageError("belief.id", belief.id, "an id")
        if belief.id not in agent.pins and len(agent.pins) >= self._pins_max:
            raise UsageError("belief", belief.id, "fewer pins")
        agent.pins[belief.id] = belief

    async def unpin(self, scope: Scope, belief_id: str) -> None:
        """Stop keeping a belief."""
        self._agent(scope).pins.pop(belief_id, None)

    async def put_mesh(self, scope: Scope, result: MeshResult) -> None:
        """Keep the latest mesh result."""
        self._agent(scope).mesh = result

    async def clear(self, scope: Scope) -> None:
        """Forget the agent."""
        agent = self._agent(scope)
        agent.ring.clear()
        agent.pins.clear()
        agent.mesh = None

    def _agent(self, scope: Scope) -> _Agent:
        if self._closed:
            raise TierUnavailable("hot", "any", "closed")
        if scope.agent_id is None:
            raise UsageError("scope.agent_id", None, "an agent")
        key = (scope.tenant, scope.graph_id, scope.agent_id)
        return self._agents.setdefault(key, _Agent())


def _check_capacity(capacity: int) -> None:
    if not 1 <= capacity <= 256:
        raise UsageError("capacity", capacity, "1 to 256")


def _check_owner(scope: Scope, record: Owned) -> None:
    if (record.tenant, record.graph_id) != (scope.tenant, scope.graph_id):
        raise UsageError("owner", (record.tenant, record.graph_id), "the scope's own")


def _check_turn(scope: Scope, turn: Turn) -> None:
    _check_owner(scope, turn)
    if turn.agent_id != scope.agent_id or turn.seq < 1:
        raise UsageError("turn", turn.seq, "a stored turn of the scope's agent")
