"""The hot tier inside this process: what is kept for each agent is an object in memory.

It answers as ``redis_store`` and its scripts do, and a contract test takes both through the same
random histories. No method awaits anything, so each is one atomic step and none can block.

What is kept ends with the store, as befits a cache, and before that when nobody has written for an
agent for a week, or when ``AGENTS_MAX`` others were written for since. The ring is filled again
from cold.
"""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Self, TypeAlias

from ..errors import TierRejected, TierUnavailable, UsageError
from ..health import TierHealth, round_trip_ms
from ..records import Commitment, HotState, MeshResult, Scope, Turn
from . import rules
from .keys import encodable
from .view import View, is_runtime, may_see, view_key

AGENTS_MAX = 10_000
"""Most agents for whom something is kept; one more, and who was written for longest ago goes."""

_PROBE_SCOPE = Scope(tenant="doctor", graph_id="doctor", agent_id="doctor")

_Place: TypeAlias = tuple[str, str, str]


@dataclass(slots=True)
class _Kept:
    """What is kept for one agent.

    Attributes:
        tenant: Whose agent it is.
        graph_id: Of which graph.
        agent_id: Which agent.
        ends_at: When it is swept away, in seconds of the store's clock.
        view: For whom it was put in; ``None``: for nobody, by the runtime.
        turns: The ring, by ``seq``.
        pins: The pinned beliefs, by id.
        mesh: The latest mesh result, as JSON: unlike other records it has parts that can be
            changed, and whoever put it in or read it keeps a copy.
    """

    tenant: str
    graph_id: str
    agent_id: str | None
    ends_at: float
    view: View | None = None
    turns: dict[int, Turn] = field(default_factory=dict)
    pins: dict[str, Commitment] = field(default_factory=dict)
    mesh: str | None = None

    def is_open_to(self, scope: Scope) -> bool:
        """Whether it was filled for the scope's view, or the runtime itself asks."""
        return is_runtime(scope) or self.view == view_key(scope)

    def enter(self, scope: Scope) -> None:
        """Give it to the scope's view; what was put in under another one goes first."""
        if not self.is_open_to(scope):
            self.view, self.mesh = view_key(scope), None
            self.turns.clear()
            self.pins.clear()

    def trim(self, capacity: int) -> tuple[Turn, ...]:
        """Take out the lowest turns beyond ``capacity`` and return them, oldest first."""
        if len(self.turns) <= capacity:
            return ()
        return tuple(self.turns.pop(seq) for seq in sorted(self.turns)[:-capacity])

    def state(self, scope: Scope) -> HotState:
        """Return it as records: turns by ``seq``, beliefs by record time.

        What the runtime put in under the scope's view, and the scope may not see, is left out.
        """
        turns = [self.turns[seq] for seq in sorted(self.turns)]
        pins = sorted(self.pins.values(), key=lambda belief: (belief.recorded_at, belief.id))
        return HotState(
            turns=tuple(turn for turn in turns if may_see(scope, turn)),
            pinned=tuple(belief for belief in pins if may_see(scope, belief)),
            mesh=None if self.mesh is None else MeshResult.model_validate_json(self.mesh),
        )


class EmbeddedHotStore:
    """A ``HotStore`` in the memory of this process.

    The store is open from construction until ``aclose`` or the end of its ``async with`` block.

    Args:
        ttl_seconds: An agent without a write for so long is swept away. Only a broom: nothing
            in ezra waits for it.
        agents_max: For how many agents something is kept at most.
        clock: Where the time comes from, in seconds since whenever.
    """

    def __init__(
        self,
        *,
        ttl_seconds: float = rules.TTL_SECONDS,
        agents_max: int = AGENTS_MAX,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        rules.check_ttl(ttl_seconds)
        if agents_max < 1:
            raise UsageError("agents_max", agents_max, "1 or more")
        self._ttl_seconds = ttl_seconds
        self._agents_max = agents_max
        self._clock = clock
        self._closed = False
        # In the order of the last write, so that what is swept away comes first.
        self._agents: OrderedDict[_Place, _Kept] = OrderedDict()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the store and forget everything. May be repeated."""
        self._closed = True
        self._agents.clear()

    async def append(self, scope: Scope, turn: Turn, capacity: int) -> tuple[Turn, ...]:
        """Put a turn into the ring and return what no longer fits, oldest first.

        What was put in under another view is not returned.
        """
        place = self._place(scope, "append")
        rules.check_capacity(capacity)
        rules.check_turn(scope, turn)
        kept = self._entered(scope, "append", place)
        kept.turns[turn.seq] = turn
        return kept.trim(capacity)

    async def read(self, scope: Scope) -> HotState:
        """Return everything held for the agent; unknown, or of another view, is an empty state."""
        kept = self._entry(scope, "read", self._place(scope, "read"))
        if kept is None or not kept.is_open_to(scope):
            return HotState()
        return kept.state(scope)

    async def restore(self, scope: Scope, turns: Sequence[Turn], capacity: int) -> None:
        """Fill the ring from cold, never replacing a turn that is already there."""
        place = self._place(scope, "restore")
        rules.check_capacity(capacity)
        for turn in turns:
            rules.check_turn(scope, turn)
        if not turns:
            return
        kept = self._entered(scope, "restore", place)
        for turn in turns:
            kept.turns.setdefault(turn.seq, turn)
        kept.trim(capacity)

    async def pin(self, scope: Scope, belief: Commitment) -> None:
        """Keep a belief at hand for the agent; pinning again replaces it.

        Raises:
            UsageError: The agent already holds ``PINS_MAX`` other beliefs.
        """
        place = self._place(scope, "pin")
        rules.check_belief(scope, belief)
        belief_id = encodable("belief.id", belief.id)
        kept = self._entered(scope, "pin", place)
        if belief_id not in kept.pins and len(kept.pins) >= rules.PINS_MAX:
            raise rules.too_many_pins(belief)
        kept.pins[belief_id] = belief

    async def unpin(self, scope: Scope, belief_id: str) -> None:
        """Stop keeping a belief; one that is unknown, or of another view, is no error."""
        place = self._place(scope, "unpin")
        wanted = encodable("belief_id", belief_id)
        kept = self._entry(scope, "unpin", place)
        if kept is None or not kept.is_open_to(scope):
            return
        kept.pins.pop(wanted, None)
        if not (kept.turns or kept.pins or kept.mesh):
            del self._agents[place]

    async def put_mesh(self, scope: Scope, result: MeshResult) -> None:
        """Keep the latest mesh result, replacing the one before.

        Raises:
            UsageError: The scope is the runtime's.
        """
        place = self._place(scope, "put_mesh")
        rules.check_asker(scope)
        stored = rules.as_json(result)
        self._entered(scope, "put_mesh", place).mesh = stored

    async def clear(self, scope: Scope) -> None:
        """Forget everything held for the agent, of whatever view."""
        place = self._place(scope, "clear")
        if self._entry(scope, "clear", place) is not None:
            del self._agents[place]

    def _place(self, scope: Scope, operation: str) -> _Place:
        """Return where the agent's state is, if the store is open."""
        if self._closed:
            raise TierUnavailable("hot", operation, "the store is closed")
        return place_of(scope)

    def _entry(self, scope: Scope, operation: str, place: _Place) -> _Kept | None:
        """Return what is kept for the scope's agent, of whatever view; ``None``: nothing."""
        kept = self._agents.get(place)
        if kept is None:
            return None
        _check_is_of(scope, kept, operation)
        if kept.ends_at <= self._clock():
            del self._agents[place]
            return None
        return kept

    def _entered(self, scope: Scope, operation: str, place: _Place) -> _Kept:
        """Return what is kept for the scope's agent, to write to under the scope's view."""
        ends_at = self._clock() + self._ttl_seconds
        kept = self._entry(scope, operation, place)
        if kept is None:
            kept = _Kept(scope.tenant, scope.graph_id, scope.agent_id, ends_at)
            self._agents[place] = kept
        kept.enter(scope)
        kept.ends_at = ends_at
        self._agents.move_to_end(place)
        self._sweep()
        return kept

    def _sweep(self) -> None:
        """Forget agents whose time is over, and those beyond the most that are kept."""
        now = self._clock()
        while len(self._agents) > self._agents_max or self._oldest().ends_at <= now:
            self._agents.popitem(last=False)

    def _oldest(self) -> _Kept:
        return next(iter(self._agents.values()))


def place_of(scope: Scope) -> _Place:
    """Return where the state of the scope's agent is.

    Raises:
        UsageError: The scope names no agent, or a name cannot be encoded.
    """
    if scope.agent_id is None:
        raise UsageError("scope.agent_id", None, "the agent whose hot state is meant")
    return (
        encodable("scope", scope.tenant),
        encodable("scope", scope.graph_id),
        encodable("scope", scope.agent_id),
    )


def _check_is_of(scope: Scope, kept: _Kept, operation: str) -> None:
    """Refuse to touch what is kept for somebody else, should a place ever be mistaken.

    Raises:
        TierRejected: It names another tenant, graph or agent than the scope.
    """
    is_same = (
        kept.tenant == scope.tenant
        and kept.graph_id == scope.graph_id
        and kept.agent_id == scope.agent_id
    )
    if not is_same:
        reason = "what is kept there is not of the scope's agent; it was not touched"
        raise TierRejected("hot", operation, reason)


@asynccontextmanager
async def embedded_hot_store() -> AsyncIterator[EmbeddedHotStore]:
    """Open a hot store of its own; what it holds ends with the block, as befits a cache."""
    async with EmbeddedHotStore() as store:
        yield store


async def embedded_hot_health() -> TierHealth:
    """Look at the engine inside this process, through a store of its own."""
    async with embedded_hot_store() as store:
        return TierHealth(
            tier="hot",
            engine="in-process",
            version=version("ezra"),
            round_trip_ms=await round_trip_ms(lambda: store.read(_PROBE_SCOPE)),
            details={
                "kind": "embedded",
                "role": "master",
                "persistence": "none: rebuilt from the cold tier after a restart",
            },
        )
