"""The bridge of one coding agent: its memory by way of handles, in process or on a server.

Writes go by way of the outbox and succeed while the memory is away; reads say that it is away.
"""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias
from urllib.parse import urlsplit

from tiers.errors import (
    Conflict,
    EzraError,
    FolderInUse,
    NotFound,
    PolicyDenied,
    TierError,
    TierUnavailable,
    UsageError,
)
from tiers.ids import Clock, system_clock
from tiers.records import ALL_TOPICS

from ..handles.lookup import graph_or_new
from .config import BridgeConfig
from .outbox import Kind, Outbox, outbox_of
from .sending import Outcome, Sent, send_all, verdict_of, write

if TYPE_CHECKING:
    from ..app import Ezra
    from ..handles.agent import Agent
    from ..handles.graph import Graph
    from ..remote.ezra import RemoteEzra

AnyEzra: TypeAlias = "Ezra | RemoteEzra"
Opener: TypeAlias = Callable[[], AbstractAsyncContextManager[AnyEzra]]

PROBE_SECONDS = 2.0
"""So long a server has to take a connection."""

_PORTS = {"http": 80, "https": 443}
_PROXIES = ("http_proxy", "https_proxy", "all_proxy")


class Away(EzraError):
    """The memory cannot be read now. What is written waits on this machine meanwhile."""

    def __init__(self, target: str, reason: str) -> None:
        super().__init__(f"the memory at {target} is away: {reason}")
        self.target = target
        self.reason = reason


class Bridge:
    """A coding agent's way to its memory. Made by ``bridged``.

    Args:
        config: Who asks.
        outbox: Where writes wait; ``None`` for somebody without a name, who only reads.
        ezra: The memory; ``None`` while it is away.
        agent: The agent's handle; ``None`` while the memory is away, and without a name.
        away: Why it is away.
        clock: Where the time comes from.
        is_missing: Whether it is away because it was never made.
    """

    def __init__(
        self,
        config: BridgeConfig,
        outbox: Outbox | None,
        ezra: AnyEzra | None = None,
        agent: Agent | None = None,
        away: str | None = None,
        clock: Clock = system_clock,
        *,
        is_missing: bool = False,
    ) -> None:
        self.config = config
        self.is_missing = is_missing
        self.away = away
        self.clock = clock
        self.first_sent = Sent()
        self._outbox = outbox
        self._ezra = ezra
        self._agent = agent

    @property
    def outbox(self) -> Outbox:
        """Where writes wait.

        Raises:
            ConfigError: Whoever asks has no name.
        """
        return self._outbox or outbox_of(self.config)

    def agent(self) -> Agent:
        """Return the agent's handle, for reading.

        Raises:
            Away: The memory is away.
            ConfigError: Whoever asks has no name.
        """
        if self.away is not None:
            raise Away(self.config.target, self.away)
        if self._agent is None:
            _ = self.config.named_agent
            raise NotFound("agent", self.config.named_agent)
        return self._agent

    async def graph(self) -> Graph:
        """Return the graph's handle, for who looks at all of it.

        Raises:
            Away: The memory is away.
        """
        if self.away is not None or self._ezra is None:
            raise Away(self.config.target, self.away or "it is not open")
        return await self._ezra.session_graph(self.config.graph)

    async def reader(self) -> Agent | Graph:
        """Return what recalls and looks up memories: the agent, or without a name the graph.

        Raises:
            Away: The memory is away.
        """
        return await self.graph() if self._agent is None else self.agent()

    async def write(self, kind: Kind, **arguments: Any) -> Outcome:  # noqa: ANN401 - JSON values
        """Write something: in the memory, or while it is away for later on this machine.

        Args:
            kind: What is to be done.
            arguments: With what; ``None`` is left out.

        Raises:
            EzraError: The memory does not take it, for good; it does not wait then.
            OutboxFull: There is no room; it was not written.
            ConfigError: Whoever asks has no name, or the outbox cannot be used.
        """
        said: Mapping[str, Any] = {k: v for k, v in arguments.items() if v is not None}
        agent = None if self.away is not None else self._agent
        return await write(self.outbox, agent, kind, said, self.away or "it is not open")

    async def sync(self) -> Sent:
        """Send what waits; what was sent when the bridge was opened is told with it.

        Raises:
            Away: The memory is away.
            Conflict: Another process of this machine sends it, and went on doing so.
        """
        first, self.first_sent = self.first_sent, Sent()
        then = await send_all(self.outbox, self.agent())
        return replace(then, outcomes=(*first.outcomes, *then.outcomes))

    async def entered_as(self, agent_id: str) -> Agent:
        """Return the handle of another agent of the graph, which is let in if it is not there.

        Raises:
            Away: The memory is away.
            EzraError: The memory does not let it in.
        """
        if self._ezra is None or self.away is not None:
            raise Away(self.config.target, self.away or "it is not open")
        if self._agent is not None and agent_id == self._agent.id:
            return self._agent
        return await entered(self._ezra, replace(self.config, agent=agent_id))


@asynccontextmanager
async def bridged(config: BridgeConfig, opener: Opener) -> AsyncIterator[Bridge]:
    """Open the bridge for the length of the block; whatever the memory does, it opens.

    What waits of the agent is sent first, so that it reads what it wrote.

    Args:
        config: Who asks.
        opener: Opens the memory.

    Raises:
        ConfigError: The memory's settings do not allow opening it.
        EzraError: The memory does not let the agent in.
    """
    outbox = None if config.agent is None else outbox_of(config)
    async with AsyncExitStack() as stack:
        try:
            await _probe(config)
            ezra = await stack.enter_async_context(opener())
            # A server that takes connections and does not answer is away as well.
            agent = None if config.agent is None else await entered(ezra, config)
            found = Bridge(config, outbox, ezra, agent)
        except (TierError, FolderInUse) as error:
            if verdict_of(error) != "away":
                raise
            found = Bridge(config, outbox, away=str(error))
        else:
            await _send_first(found)
        yield found


async def _send_first(bridge: Bridge) -> None:
    if bridge.config.agent is None:
        return
    try:
        sent = await send_all(bridge.outbox, bridge.agent())
    except Conflict as busy:
        if busy.what != "outbox":
            raise
        return  # another process of this machine does it
    bridge.first_sent = sent
    bridge.away = sent.away if sent.is_away else None


async def entered(ezra: AnyEzra, config: BridgeConfig) -> Agent:
    """Return the agent's handle; it is let into the graph, which is made, where that is needed.

    Raises:
        PolicyDenied: Nobody has let the agent in yet, and its token does not; says who can.
        EzraError: The memory does not let it in.
    """
    has_left = False
    try:
        return await _member(ezra, config)
    except NotFound:
        pass
    except UsageError as gone:
        if gone.field != "agent":
            raise
        has_left = True
    try:
        graph = await graph_or_new(ezra, config.graph)
        return await graph.spawn_agent(
            config.named_agent, topics={ALL_TOPICS}, role="A coding agent at the bridge."
        )
    except PolicyDenied as denied:
        if has_left and hasattr(ezra, "spawn_agent"):
            # A token of one agent does not open its graph, and lets it come back as it was.
            return await ezra.spawn_agent(config.graph, config.named_agent)
        raise _not_let_in(config) from denied


def _not_let_in(config: BridgeConfig) -> PolicyDenied:
    """Say what an operator does for an agent whose token makes no members with topics."""
    graph, agent = shlex.quote(config.graph), shlex.quote(config.named_agent)
    spawn = f"'ezra graph create {graph}' and 'ezra agent spawn {graph} {agent} --topic \"*\"'"
    missing = (f"an operator's {spawn}",)
    return PolicyDenied(
        config.named_agent, f"enter {graph}", missing, "a token that lets nobody in"
    )


async def _member(ezra: AnyEzra, config: BridgeConfig) -> Agent:
    if hasattr(ezra, "agent"):
        # A token of one agent does not open its graph.
        return await ezra.agent(config.graph, config.named_agent)
    return await (await ezra.session_graph(config.graph)).agent(config.named_agent)


async def _probe(config: BridgeConfig) -> None:
    """Ask whether a server takes connections, for at most ``PROBE_SECONDS``.

    Raises:
        TierUnavailable: It does not.
    """
    where = urlsplit(config.url or "")
    by_proxy = any(os.environ.get(one) or os.environ.get(one.upper()) for one in _PROXIES)
    if not where.hostname or by_proxy:
        return
    port = where.port or _PORTS.get(where.scheme, 80)
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            _, writer = await asyncio.open_connection(where.hostname, port)
            writer.close()
            await writer.wait_closed()
    except (OSError, TimeoutError) as error:
        reason = "no connection in time" if isinstance(error, TimeoutError) else "not reachable"
        raise TierUnavailable("server", "connect", f"{config.url} is {reason}") from error
