"""What the surfaces share: a pool of handles, and the turns that wait for their reply."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from sys import getsizeof
from typing import TypeAlias

from tiers.errors import Conflict, NotFound

from ..app import Ezra
from ..handles.agent import Agent
from ..handles.catalog import Catalog
from ..handles.graph import Graph
from ..handles.lookup import known_member
from ..handles.turn import OpenTurn
from ..telemetry import Telemetry
from .caller import Caller
from .issuing import Issuing
from .limits import Latest
from .tokens import TokenFile

TURN_SECONDS = 3_600.0
"""So long a turn waits. Behind it the caller opens it anew."""

Key: TypeAlias = tuple[str, str, str]
"""The graph, the agent and the turn."""


OBJECT_BYTES = 1_000
"""About what a record or a slot takes besides its text."""


@dataclass(frozen=True)
class TurnBounds:
    """How much may wait.

    Attributes:
        turns_per_caller: The most turns of one caller, by name.
        bytes_per_caller: What these may hold together, about.
        turns: The most turns of all.
        bytes: What all may hold together.
    """

    turns_per_caller: int = 2_500
    bytes_per_caller: int = 64 * 1024 * 1024
    turns: int = 10_000
    bytes: int = 256 * 1024 * 1024


@dataclass(frozen=True)
class _Waiting:
    """A turn; of one that was replied to, only what it is stored as."""

    since: float
    turn: OpenTurn | str
    size: int


class _Held(OrderedDict[Key, _Waiting]):
    """The turns of one caller, oldest first, and what they hold together."""

    size = 0


class OpenTurns:
    """Keeps turns until they are replied to, or too old, or there is no room.

    The oldest goes when there is no room, of whoever has most: a turn that nobody replied to is
    rarely replied to late, and its caller can open it anew. Refusing new ones instead would lock a
    caller out for an hour whose replies were lost.

    Args:
        seconds: Monotonic seconds.
        bounds: How much room there is.
    """

    def __init__(self, seconds: Callable[[], float], bounds: TurnBounds | None = None) -> None:
        self._seconds = seconds
        self._bounds = bounds or TurnBounds()
        self._held: dict[str, _Held] = {}
        self._whose: OrderedDict[Key, str] = OrderedDict()

    @property
    def size(self) -> int:
        """About how many bytes wait."""
        return sum(own.size for own in self._held.values())

    def __len__(self) -> int:
        return len(self._whose)

    def keep(self, whose: str, key: Key, turn: OpenTurn) -> None:
        """Keep a turn, and let the oldest go that there is no room for."""
        self._drop_old()
        self._put(whose, key, _Waiting(self._seconds(), turn, size_of(turn)))
        bounds, own = self._bounds, self._held[whose]
        while len(own) > bounds.turns_per_caller or own.size > bounds.bytes_per_caller:
            self._drop(next(iter(own)))
        while len(self._whose) > bounds.turns or self.size > bounds.bytes:
            largest = max(self._held.values(), key=lambda one: (one.size, len(one)))
            self._drop(next(iter(largest)))

    def find(self, key: Key) -> OpenTurn:
        """Return a turn that waits for its reply.

        Raises:
            NotFound: There is none: it was never opened here, or too long or too many turns ago.
            Conflict: It was replied to.
        """
        self._drop_old()
        whose = self._whose.get(key)
        if whose is None:
            raise NotFound("open turn", key[2])
        turn = self._held[whose][key].turn
        if isinstance(turn, str):
            raise Conflict("turn", "no reply yet", f"reply stored as {turn}")
        return turn

    def settle(self, key: Key, stored_as: str) -> None:
        """Note that a turn was replied to: what is kept of it says that alone."""
        whose = self._whose.get(key)
        if whose is None:
            return
        waiting = self._held[whose][key]
        self._held[whose][key] = _Waiting(waiting.since, stored_as, OBJECT_BYTES)
        self._held[whose].size += OBJECT_BYTES - waiting.size

    def _put(self, whose: str, key: Key, waiting: _Waiting) -> None:
        self._drop(key)
        own = self._held.setdefault(whose, _Held())
        own[key] = waiting
        own.size += waiting.size
        self._whose[key] = whose

    def _drop(self, key: Key) -> None:
        whose = self._whose.pop(key, None)
        if whose is None:
            return
        own = self._held[whose]
        own.size -= own.pop(key).size
        if not own:
            del self._held[whose]

    def _drop_old(self) -> None:
        now = self._seconds()
        while self._whose:
            oldest, whose = next(iter(self._whose.items()))
            if now - self._held[whose][oldest].since <= TURN_SECONDS:
                return
            self._drop(oldest)


def size_of(turn: OpenTurn) -> int:
    """Return about how many bytes a turn holds: its texts, and what goes with each.

    By what a turn shows, so that a turn of another server counts as well.
    """
    slots = (*turn.slots, *turn.dropped)
    facts = (*turn.core.facts, *(one for one, _ in turn.core.left_out), *turn.shadowed)
    texts = [
        *(message["content"] for message in turn.messages),
        *(slot.text for slot in slots),
        *(said for slot in slots for _, said in slot.messages),
        *(fact.text for fact in facts),
    ]
    return OBJECT_BYTES * (1 + len(texts)) + sum(map(getsizeof, texts))


AGENTS_MAX = 10_000


class HandlePool:
    """Hands out handles to callers whose right to them was checked, and keeps those of agents.

    Args:
        ezra: The runtime.
        seconds: Monotonic seconds.
        bounds: How many turns may wait for their reply, and how large.
        tokens: The server's own tokens, if it has a file of them.

    Attributes:
        issuing: Makes and revokes tokens; ``None`` without a file of them.
        turns: Those that wait.
    """

    def __init__(
        self,
        ezra: Ezra,
        seconds: Callable[[], float],
        bounds: TurnBounds | None = None,
        *,
        tokens: TokenFile | None = None,
    ) -> None:
        self.ezra = ezra
        self.issuing = None if tokens is None else Issuing(tokens, ezra)
        self.spawning = asyncio.Lock()
        self._agents: Latest[tuple[str, str], Agent] = Latest(AGENTS_MAX)
        self.turns = OpenTurns(seconds, bounds)

    @property
    def telemetry(self) -> Telemetry:
        """What is told of requests goes where the runtime tells of itself."""
        return self.ezra._runtime.telemetry  # noqa: SLF001 - no handle gives it, and none should

    async def graph(self, graph_id: str, caller: Caller | None = None) -> Graph:
        """Return the handle of a graph.

        Args:
            graph_id: The graph.
            caller: Who asks for what may lead into other graphs: with a token that is bound to one
                graph, records are not followed into others.

        Raises:
            NotFound: It does not exist.
        """
        graph = await self.ezra.session_graph(graph_id)
        graph._reads_others = caller is None or caller.graph_id is None  # noqa: SLF001 - as above
        return graph

    async def catalog(self, caller: Caller) -> Catalog:
        """Return the tenant's catalog; it is made when new, but by nobody who only looks."""
        if caller.only_looks:
            return Catalog(self.ezra._runtime)  # noqa: SLF001 - as above
        return await self.ezra.catalog()

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
        self._agents.put((graph_id, agent.id), agent)
        return agent

    def arrived(self, graph_id: str, agent: Agent) -> Agent:
        """Remember the handle of an agent that was spawned for somebody elsewhere; return it.

        That its handle is here is no sign that the agent lives.
        """
        membership = self.ezra._runtime.membership  # noqa: SLF001 - as above
        membership.forget(agent._record)  # noqa: SLF001 - as above
        return self.hold(graph_id, agent)

    async def watched(self, graph_id: str, agent_id: str) -> Agent:
        """Return a handle that sees what a member sees, and leaves no trace of having looked.

        Raises:
            NotFound: The graph does not exist, or has no such member.
            UsageError: The member has left.
        """
        agent = await (await self.graph(graph_id)).agent(agent_id)
        agent._only_looks = True  # noqa: SLF001 - no caller of the library needs such a handle
        return agent

    def drop(self, graph_id: str, agent_id: str | None = None) -> None:
        """Forget the handle of a member that left, or all of a graph that was closed."""
        for key in [one for one in self._agents if one[0] == graph_id]:
            if agent_id in (None, key[1]):
                del self._agents[key]

    def keep(self, caller: Caller, graph_id: str, agent_id: str, turn: OpenTurn) -> None:
        """Keep a turn until it is replied to, or too old, or there is no room for it."""
        self.turns.keep(caller.name, (graph_id, agent_id, turn.id), turn)

    def turn(self, graph_id: str, agent_id: str, turn_id: str) -> OpenTurn:
        """Return a turn that waits for its reply.

        Raises:
            NotFound: There is none: it was never opened here, or too long or too many turns ago.
            Conflict: It was replied to.
        """
        return self.turns.find((graph_id, agent_id, turn_id))

    def settle(self, graph_id: str, agent_id: str, turn_id: str, stored_as: str) -> None:
        """Note that a turn was replied to, and under which id its reply is stored."""
        self.turns.settle((graph_id, agent_id, turn_id), stored_as)


async def acting(
    pool: HandlePool, caller: Caller, names: Mapping[str, str], *, watches: bool = False
) -> Agent:
    """Return the handle of the agent that a path names.

    Args:
        pool: Hands out handles.
        caller: Who asks.
        names: Of the path.
        watches: Whether somebody looks at the agent, who is not the agent: its last sign of life
            stays where it is, as with a caller that only looks.

    Raises:
        NotFound: The graph does not exist, or has no such member.
        PolicyDenied: The agent holds other topics, or works for another user.
        UsageError: The member has left.
    """
    await check_acting(pool, caller, names)
    graph_id, agent_id = names["graph_id"], names["agent_id"]
    if caller.only_looks or watches:
        return await pool.watched(graph_id, agent_id)
    return await pool.agent(graph_id, agent_id)


async def check_acting(pool: HandlePool, caller: Caller, names: Mapping[str, str]) -> None:
    """Refuse to act as the member that a path names, present or gone, to whom that is too much.

    An agent may have been spawned, or re-attached since, with more than a token allows; then the
    token does not act as it.

    Raises:
        NotFound: The graph does not exist, or has no such member.
        PolicyDenied: The agent holds other topics, or works for another user.
    """
    if not caller.is_limited:
        return
    agent_id = names["agent_id"]
    found = await known_member(await pool.graph(names["graph_id"]), agent_id)
    caller.check_member(f"act as {agent_id}", found.topics, found.user_id)
