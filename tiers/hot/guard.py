"""The way out of the hot tier: every command is looked at once more before it leaves.

The key of a command must name the tenant, the graph and the agent of the scope for which the
operation runs. It is taken apart here by other means than those that made it in ``keys``, so that
no single mistake lets a command reach the state of somebody else. What is not understood does
not leave.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote_to_bytes

from redis.asyncio import Redis
from redis.asyncio.cluster import ClusterNode

from ..errors import TierRejected
from ..records import Scope
from .client import Client

Argument = str | int

KEYLESS = frozenset({"HELLO", "INFO", "PING"})
"""What a server may be asked about itself."""

_FIRST_IS_KEY = frozenset(
    {"HDEL", "HEXISTS", "HGET", "HGETALL", "HKEYS", "HSET", "HSETNX", "PEXPIRE"}
)
_ALL_ARE_KEYS = frozenset({"DEL"})
_COUNTS_ITS_KEYS = frozenset({"EVAL", "EVALSHA"})

_NAME = r"((?:[A-Za-z0-9_.~-]|%[0-9A-F]{2})+)"
_KEY = re.compile(rf"(.+):\{{{_NAME}/{_NAME}/{_NAME}\}}:hot", re.DOTALL)
_NEEDLESS = re.compile("%(?:2[DE]|3[0-9]|[46][1-9A-F]|[57][0-9A]|5F|7E)")
"""What stands for itself in a name and is encoded all the same: a second key of one agent."""


@dataclass(frozen=True, slots=True)
class GuardedClient:
    """Sends commands about the hash of one agent, and refuses all others.

    Attributes:
        client: The driver's.
        prefix: First part of every key.
    """

    client: Client
    prefix: str

    async def send(self, scope: Scope, operation: str, command: str, *arguments: Argument) -> Any:  # noqa: ANN401 - the driver's
        """Send a command about the scope's agent and return the answer.

        Raises:
            TierRejected: It is about another agent, several or none; nothing was sent.
        """
        keys = _keys(command, arguments)
        if len(keys) != 1:
            reason = f"{command} does not have exactly one key that is known; it was not sent"
            raise TierRejected("hot", operation, reason)
        if not self._is_of(scope, str(keys[0])):
            reason = f"the key of {command} is not that of the scope's agent; it was not sent"
            raise TierRejected("hot", operation, reason)
        return await self.client.execute_command(command, *arguments)

    def _is_of(self, scope: Scope, key: str) -> bool:
        found = _KEY.fullmatch(key)
        if found is None or scope.agent_id is None:
            return False
        prefix, *names = found.groups()
        wanted = (scope.tenant, scope.graph_id, scope.agent_id)
        return prefix == self.prefix and all(
            unquote_to_bytes(name) == want.encode(errors="surrogatepass")
            and not _NEEDLESS.search(name)
            for name, want in zip(names, wanted, strict=True)
        )


async def send_without_key(client: Client, command: str, node: ClusterNode | None = None) -> Any:  # noqa: ANN401 - the driver's
    """Ask a server, in a cluster the given one, about itself; this concerns no agent.

    Raises:
        TierRejected: The command may concern one; nothing was sent.
    """
    if command not in KEYLESS:
        raise TierRejected("hot", "ask", f"{command} is not known to need no key; it was not sent")
    if isinstance(client, Redis):
        return await client.execute_command(command)  # type: ignore[no-untyped-call]
    return await client.execute_command(command, target_nodes=node)


def _keys(command: str, arguments: tuple[Argument, ...]) -> tuple[Argument, ...]:
    """Return the keys of a command; none when the command is not known."""
    if command in _FIRST_IS_KEY:
        return arguments[:1]
    if command in _ALL_ARE_KEYS:
        return arguments
    if command in _COUNTS_ITS_KEYS and len(arguments) > 1:
        count = str(arguments[1])
        return arguments[2 : 2 + int(count)] if count.isdecimal() else ()
    return ()
