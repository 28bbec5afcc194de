"""The hot tier as plain dictionaries: what every ``HotStore`` must do, nothing more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from types import TracebackType
from typing import Self

from tiers.errors import TierUnavailable, UsageError
from tiers.records import Commitment, HotState, MeshResult, Owned, Scope, Turn

View = tuple[str | None, bool, tuple[str, ...], tuple[str, ...]]


@dataclass
class _Agent:
    view: View | None = None
    ring: dict[int, Turn] = field(default_factory=dict)
    pins: dict[str, Commitment] = field(default_factory=dict)
    mesh: MeshResult | None = None

    def is_open_to(self, scope: Scope) -> bool:
        """Whether it was filled for the scope's view, or the runtime itself asks."""
        return _is_runtime(scope) or self.view == _view(scope)

    def enter(self, scope: Scope) -> None:
        """Make it the scope's; what was put in under another view goes."""
        if not self.is_open_to(scope):
            self.clear()
            self.view = _view(scope)

    def clear(self) -> None:
        self.view, self.mesh = None, None
        self.ring.clear()
        self.pins.clear()

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
        agent.enter(scope)
        agent.ring[turn.seq] = turn
        return agent.trim(capacity)

    async def read(self, scope: Scope) -> HotState:
        """Return everything held for the agent."""
        agent = self._agent(scope)
        if not agent.is_open_to(scope):
            return HotState()
        turns = [agent.ring[seq] for seq in sorted(agent.ring)]
        pins = sorted(agent.pins.values(), key=lambda pin: (pin.recorded_at, pin.id))
        return HotState(
            turns=tuple(turn for turn in turns if _sees(scope, turn)),
            pinned=tuple(pin for pin in pins if _sees(scope, pin)),
            mesh=agent.mesh,
        )

    async def restore(self, scope: Scope, turns: Sequence[Turn], capacity: int) -> None:
        """Fill the ring from cold."""
        agent = self._agent(scope)
        _check_capacity(capacity)
        for turn in turns:
            _check_turn(scope, turn)
        if not turns:
            return
        agent.enter(scope)
        for turn in turns:
            agent.ring.setdefault(turn.seq, turn)
        agent.trim(capacity)

    async def pin(self, scope: Scope, belief: Commitment) -> None:
        """Keep a belief at hand."""
        agent = self._agent(scope)
        _check_owner(scope, belief)
        if not belief.id:
            raise UsageError("belief.id", belief.id, "an id")
        agent.enter(scope)
        if belief.id not in agent.pins and len(agent.pins) >= self._pins_max:
            raise UsageError("belief", belief.id, "fewer pins")
        agent.pins[belief.id] = belief

    async def unpin(self, scope: Scope, belief_id: str) -> None:
        """Stop keeping a belief."""
        agent = self._agent(scope)
        if agent.is_open_to(scope):
            agent.pins.pop(belief_id, None)
            if not (agent.ring or agent.pins or agent.mesh):
                agent.clear()

    async def put_mesh(self, scope: Scope, result: MeshResult) -> None:
        """Keep the latest mesh result; the runtime has no view to keep it for."""
        agent = self._agent(scope)
        if _is_runtime(scope):
            raise UsageError("scope", "the runtime's", "an agent's")
        agent.enter(scope)
        agent.mesh = result

    async def clear(self, scope: Scope) -> None:
        """Forget the agent."""
        self._agent(scope).clear()

    def _agent(self, scope: Scope) -> _Agent:
        if self._closed:
            raise TierUnavailable("hot", "any", "closed")
        if scope.agent_id is None:
            raise UsageError("scope.agent_id", None, "an agent")
        key = (scope.tenant, scope.graph_id, scope.agent_id)
        return self._agents.setdefault(key, _Agent())


def _is_runtime(scope: Scope) -> bool:
    return scope.every_user and scope.sees_all_topics and not scope.denied


def _view(scope: Scope) -> View:
    return scope.user_id, scope.every_user, scope.topics, scope.denied


def _sees(scope: Scope, record: Owned) -> bool:
    held = scope.sees_all_topics or not record.topics or set(record.topics) & set(scope.topics)
    denied = set(record.topics) & set(scope.denied)
    own = scope.every_user or record.user_id is None or record.user_id == scope.user_id
    private = record.private and record.agent_id != scope.agent_id
    return bool(held and own and not denied and not private)


def _check_capacity(capacity: int) -> None:
    if not 1 <= capacity <= 256:
        raise UsageError("capacity", capacity, "1 to 256")


def _check_owner(scope: Scope, record: Owned) -> None:
    if (record.tenant, record.graph_id) != (scope.tenant, scope.graph_id):
        raise UsageError("owner", (record.tenant, record.graph_id), "the scope's own")
    if not _sees(scope, record):
        raise UsageError("record", record.id, "a visible one")


def _check_turn(scope: Scope, turn: Turn) -> None:
    _check_owner(scope, turn)
    if turn.agent_id != scope.agent_id or turn.seq < 1:
        raise UsageError("turn", turn.seq, "a stored turn of the scope's agent")
