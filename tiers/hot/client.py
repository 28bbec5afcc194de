"""The driver's client for each kind of deployment, bounded alike.

Every client has a limit of connections and lets callers wait for one; none retries by itself
(``calls`` does, knowing what may be repeated); none says more to the server than it must, so that
a user with few rights suffices.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, TypeAlias

from redis.asyncio import BlockingConnectionPool, ConnectionPool, Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.connection import (
    Connection,
    RedisSSLContext,
    SSLConnection,
    UnixDomainSocketConnection,
)
from redis.asyncio.retry import Retry
from redis.asyncio.sentinel import (
    MasterNotFoundError,
    Sentinel,
    SentinelConnectionPool,
    SentinelManagedConnection,
    SentinelManagedSSLConnection,
)
from redis.backoff import NoBackoff
from redis.cluster import PRIMARY
from redis.exceptions import (
    ConnectionError,  # noqa: A004 - the driver's own class
    RedisClusterException,
    SlotNotCoveredError,
    TimeoutError,  # noqa: A004 - the driver's own class
)

from ..errors import UsageError
from .address import URL_KEY, Host, RedisAddress
from .tls import tls_context

Client: TypeAlias = Redis | RedisCluster


@dataclass(frozen=True, slots=True)
class ClientLimits:
    """What a client may use.

    Attributes:
        connections_max: Calls at the same time; more wait. In a cluster each node may come to
            have so many connections.
        timeout_seconds: For connecting, for each answer, and for waiting for a connection.
        health_check_seconds: A connection idle for longer is tried with PING before it is used;
            0 never does.
    """

    connections_max: int = 32
    timeout_seconds: float = 2.0
    health_check_seconds: float = 30.0

    def __post_init__(self) -> None:
        if self.connections_max < 1:
            raise UsageError("connections_max", self.connections_max, "1 or more")
        if not self.timeout_seconds > 0:
            raise UsageError("timeout_seconds", self.timeout_seconds, "more than 0")
        if not self.health_check_seconds >= 0:
            raise UsageError("health_check_seconds", self.health_check_seconds, "0 or more")


@asynccontextmanager
async def redis_client(address: RedisAddress, limits: ClientLimits) -> AsyncIterator[Client]:
    """Open a client for the block; nothing is sent before the first call.

    Raises:
        ConfigError: The files for TLS cannot be used.
    """
    tls = None if address.tls is None else await tls_context(URL_KEY, address.tls)
    common = _common(address, limits)
    if address.kind == "cluster":
        common["socket_keepalive"] = address.keepalive
        cluster = _Cluster(address.hosts, limits.connections_max, tls, common)
        try:
            yield cluster
        finally:
            await cluster.aclose()
    elif address.kind == "sentinel":
        async with _Sentinels(address, limits, tls) as sentinels:
            pool: ConnectionPool = _SentinelPool(  # type: ignore[no-untyped-call]
                address.service,
                sentinels,
                connection_class=_MasterTls if tls else _MasterTcp,
                max_connections=limits.connections_max,
                timeout=limits.timeout_seconds,
                **common,
                **_shared(tls),
                **_endpoint(address),
            )
            async with Redis.from_pool(pool) as client:
                yield client
    else:
        pool = BlockingConnectionPool(
            connection_class=_connection_class(address),
            max_connections=limits.connections_max,
            timeout=limits.timeout_seconds,
            **common,
            **_shared(tls),
            **_endpoint(address),
        )
        async with Redis.from_pool(pool) as client:
            yield client


def _common(address: RedisAddress, limits: ClientLimits) -> dict[str, Any]:
    """Return the arguments of every connection to a data server."""
    return {
        "username": address.username,
        "password": address.password,
        "client_name": address.client_name,
        "health_check_interval": limits.health_check_seconds,
        **_manners(limits.timeout_seconds),
    }


def _manners(timeout_seconds: float) -> dict[str, Any]:
    """Return the arguments of every connection whatever it leads to."""
    return {
        "socket_connect_timeout": timeout_seconds,
        "socket_timeout": timeout_seconds,
        "retry": Retry(NoBackoff(), 0),
        # The answers are the same in both protocols, and the newer one costs a round trip more.
        "protocol": 2,
        # Telling the driver's name needs a right that nothing else needs.
        "driver_info": None,
    }


def _connection_class(address: RedisAddress) -> type[_Tcp | _Tls | _Unix]:
    if address.path:
        return _Unix
    return _Tcp if address.tls is None else _Tls


def _endpoint(address: RedisAddress) -> dict[str, Any]:
    """Return where one server is, as far as the address and not Sentinel knows it."""
    if address.path:
        return {"db": address.db, "path": address.path}
    arguments: dict[str, Any] = {"db": address.db, "socket_keepalive": address.keepalive}
    if address.kind == "standalone":
        host, port = address.hosts[0]
        arguments |= {"host": host, "port": port}
    return arguments


def _shared(tls: RedisSSLContext | None) -> dict[str, Any]:
    return {} if tls is None else {"shared_context": tls}


class _Abrupt:
    """Makes a connection end at once.

    A polite end waits until the server has taken what was sent, over TLS until it has said
    farewell too. One that hangs does neither, and the driver's error would come out of closing.
    While one call waits so, the cluster client may give the connection to another.
    """

    _writer: asyncio.StreamWriter | None

    async def disconnect(
        self,
        nowait: bool = False,  # noqa: ARG002, FBT001, FBT002 - the driver's
        error: Exception | None = None,
        failure_count: int | None = None,
        health_check_failed: bool = False,  # noqa: FBT001, FBT002 - the driver's
    ) -> None:
        """End the connection without waiting; what matters was answered before."""
        if self._writer is not None:
            self._writer.transport.abort()
        await super().disconnect(True, error, failure_count, health_check_failed)  # type: ignore[misc]  # noqa: FBT003

    async def _send_packed_command(self, command: Iterable[bytes]) -> None:
        if self._writer is None:
            # The driver takes it for connected, checks nothing here and fails on the None.
            raise ConnectionError("another call has ended the connection")
        await super()._send_packed_command(command)  # type: ignore[misc]


class _Encrypted(_Abrupt):
    """Makes a connection use a TLS context that is made already."""

    def __init__(self, *, shared_context: RedisSSLContext, **arguments: Any) -> None:  # noqa: ANN401 - the driver's
        super().__init__(**arguments)
        self.ssl_context = shared_context


class _Tcp(_Abrupt, Connection):
    """A connection to one server, node or Sentinel."""


class _Tls(_Encrypted, SSLConnection):
    """The same over TLS."""


class _Unix(_Abrupt, UnixDomainSocketConnection):
    """A connection to a socket of this machine."""


class _MasterTcp(_Abrupt, SentinelManagedConnection):
    """A connection to the master that Sentinel names."""


class _MasterTls(_Encrypted, SentinelManagedSSLConnection):
    """The same over TLS."""


class _SentinelPool(SentinelConnectionPool, BlockingConnectionPool):
    """Connections to the master; callers wait for one, which the driver's own pool refuses.

    That pool asks Sentinel for the master only to make a connection. After a failover the old
    master may go on as one for many seconds, and what is written there is lost when it becomes a
    replica; so a pool at work asks again, at most every ``LOOK_SECONDS``.
    """

    LOOK_SECONDS = 1.0
    LOOK_AGAIN_SECONDS = 10.0
    """After no Sentinel answered: the master may be well, and callers should not pay for it."""

    _look_at = 0.0

    async def ensure_connection(self, connection: Any) -> None:  # noqa: ANN401 - the driver's
        """Make a connection ready, to the master of now."""
        now = asyncio.get_running_loop().time()
        if connection.is_connected and now >= self._look_at:
            self._look_at = now + self.LOOK_AGAIN_SECONDS
            with suppress(ConnectionError, TimeoutError):
                await self.get_master_address()  # type: ignore[no-untyped-call]
                self._look_at = now + self.LOOK_SECONDS
        if connection.is_connected and (connection.host, connection.port) != self.master_address:
            await connection.disconnect()
        await super().ensure_connection(connection)


class _Sentinels(Sentinel):
    """The Sentinels of a deployment, asked one after the other.

    The driver's own search forgets why a Sentinel did not answer, and a Sentinel that hangs uses
    up the time of the whole call.
    """

    def __init__(
        self, address: RedisAddress, limits: ClientLimits, tls: RedisSSLContext | None
    ) -> None:
        super().__init__([])  # type: ignore[no-untyped-call]
        arguments = {
            **_manners(limits.timeout_seconds / (len(address.hosts) + 1)),
            "username": address.sentinel_username,
            "password": address.sentinel_password,
            "socket_keepalive": address.keepalive,
            "connection_class": _Tcp if tls is None else _Tls,
            "max_connections": limits.connections_max,
            "timeout": limits.timeout_seconds,
            **_shared(tls),
        }
        self.sentinels = [
            Redis.from_pool(BlockingConnectionPool(host=host, port=port, **arguments))
            for host, port in address.hosts
        ]

    async def discover_master(self, service_name: str) -> tuple[str, int]:
        """Return where the master is.

        Raises:
            ConnectionError: No Sentinel answers, or none knows a master in good health.
        """
        silent: ConnectionError | TimeoutError | None = None
        answered = False
        for sentinel in tuple(self.sentinels):
            try:
                masters: Any = await sentinel.sentinel_masters()
            except (ConnectionError, TimeoutError) as error:
                silent = error
                continue
            answered = True
            state = masters.get(service_name)
            if state and self.check_master_state(state, service_name):
                # The next search begins with one that answers.
                self.sentinels.sort(key=lambda known: known is not sentinel)
                return state["ip"], state["port"]
        if silent is not None and not answered:
            raise silent
        reason = f"Sentinel knows no master in good health named {service_name!r}"
        raise MasterNotFoundError(reason)


class _KeyIsFirst:
    """Where a command has its key: every command of the hot tier has it first.

    Instead of the driver's parser, which asks the server for all its commands whenever the
    cluster changes: 19 ms on the event loop, and a right that nothing else needs.
    """

    async def initialize(self, _node: ClusterNode | None = None) -> None:
        """Ask nothing."""

    async def get_keys(self, _command: str, *arguments: Any) -> tuple[Any, ...]:  # noqa: ANN401 - the driver's
        """Return the key of a command."""
        return arguments[:1]


class _Cluster(RedisCluster):
    """The driver's cluster client, which waits instead of refusing and closes what it opened."""

    def __init__(
        self,
        hosts: Sequence[Host],
        connections_max: int,
        tls: RedisSSLContext | None,
        common: dict[str, Any],
    ) -> None:
        super().__init__(
            startup_nodes=[ClusterNode(host, port) for host, port in hosts],
            max_connections=connections_max,
            # Part of a cluster is better than none.
            require_full_coverage=False,
            **common,
        )
        self.commands_parser = _KeyIsFirst()  # type: ignore[assignment]
        self._hosts = list(hosts)
        self._gate = asyncio.Semaphore(connections_max)
        self._connect_by(_Tcp if tls is None else _Tls, _shared(tls))

    def _connect_by(self, connection_class: type[Connection], more: dict[str, Any]) -> None:
        """Tell the nodes of the URL, and the template of all later ones, how to connect."""
        self.connection_kwargs |= {"connection_class": connection_class, **more}
        for node in self.nodes_manager.startup_nodes.values():
            node.connection_class = connection_class
            node.connection_kwargs |= more

    async def initialize(
        self,
        additional_startup_nodes_info: list[Host] | None = None,
        last_failed_node_name: str | None = None,
    ) -> RedisCluster:
        """Learn the nodes from those known last, and when all are gone, from those of the URL."""
        try:
            return await super().initialize(additional_startup_nodes_info, last_failed_node_name)
        except RedisClusterException:
            known = self.nodes_manager.startup_nodes
            given = [ClusterNode(*host, **self.connection_kwargs) for host in self._hosts]
            forgotten = {node.name: node for node in given if node.name not in known}
            if not forgotten:
                raise
            known.update(forgotten)
        return await super().initialize()

    async def execute_command(self, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401 - the driver's
        """Run a command when one of the connections is free."""
        async with self._gate:
            try:
                return await super().execute_command(*args, **kwargs)
            except KeyError as error:
                # The driver's list of slots has no such slot, which it does not expect.
                self._initialize = True
                raise SlotNotCoveredError(f"no node serves slot {error}") from error

    def get_node(
        self, host: str | None = None, port: int | None = None, node_name: str | None = None
    ) -> ClusterNode | None:
        """Return a node, also one so new that it is known only by a redirection to it."""
        found = super().get_node(host, port, node_name)
        if found is None and node_name is not None:
            new_host, _, new_port = node_name.rpartition(":")
            found = ClusterNode(new_host, int(new_port), PRIMARY, **self.connection_kwargs)
            self.nodes_manager.nodes_cache[node_name] = found
        return found

    async def aclose(self) -> None:
        """Close every connection, also those that the driver forgets after an outage."""
        await super().aclose()
        await self.nodes_manager.aclose()
        await self.nodes_manager.aclose("startup_nodes")
