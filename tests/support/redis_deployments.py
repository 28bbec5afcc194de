"""The ways Redis is deployed, each made of real servers on this machine."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import trustme
from redis import Redis

from .processes import wait_until
from .redis_server import RedisServer, running_redis

SLOTS = 16384
SERVICE = "ezra-master"


def free_ports(count: int) -> list[int]:
    """Return ports nobody listens on, below 55536 so that a cluster's bus port exists too."""
    with ExitStack() as stack:
        ports: list[int] = []
        while len(ports) < count:
            probe = stack.enter_context(socket.socket())
            probe.bind(("127.0.0.1", 0))
            port = probe.getsockname()[1]
            if port < 55536:
                ports.append(port)
        return ports


@dataclass(frozen=True)
class Certificates:
    """Files of a private authority, of what it signed, and of an authority that signed nothing."""

    authority: Path
    certificate: Path
    key: Path
    stranger: Path

    @property
    def options(self) -> tuple[str, ...]:
        """The server's part; clients need no certificate."""
        return (
            *("--tls-cert-file", str(self.certificate), "--tls-key-file", str(self.key)),
            *("--tls-ca-cert-file", str(self.authority), "--tls-auth-clients", "no"),
        )


@contextmanager
def certificates() -> Iterator[Certificates]:
    """Make certificates for ``localhost`` and 127.0.0.1."""
    folder = Path(tempfile.mkdtemp(prefix="ezra-tls-"))
    made = Certificates(
        *(folder / name for name in ("ca.pem", "cert.pem", "key.pem", "stranger.pem"))
    )
    authority = trustme.CA()
    issued = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(str(made.authority))
    trustme.CA().cert_pem.write_to_path(str(made.stranger))
    issued.private_key_pem.write_to_path(str(made.key))
    made.certificate.write_bytes(b"".join(blob.bytes() for blob in issued.cert_chain_pems))
    try:
        yield made
    finally:
        shutil.rmtree(folder)


@dataclass(frozen=True)
class SentinelDeployment:
    """A master, its replica, and a Sentinel over both."""

    servers: tuple[RedisServer, RedisServer]
    ports: tuple[int, int]
    sentinel: RedisServer
    sentinel_port: int
    scheme: str
    sentinel_user: str | None

    def url(self, login: str = "", options: str = "") -> str:
        """The address for clients; a Sentinel that is not there comes first."""
        (nobody,) = free_ports(1)
        hosts = f"127.0.0.1:{nobody},127.0.0.1:{self.sentinel_port}"
        return f"{self.scheme}+sentinel://{login}{hosts}/{SERVICE}/0{options}"

    def master(self) -> int:
        """Return which of the two servers Sentinel calls the master."""
        with self._admin() as admin:
            _, port = admin.sentinel_get_master_addr_by_name(SERVICE)
        return self.ports.index(int(port))

    def fail_over(self) -> None:
        """Ask Sentinel to make the replica the master; returns at once."""
        with self._admin() as admin:
            admin.execute_command("SENTINEL", "FAILOVER", SERVICE)

    def agreed(self) -> bool:
        """Whether Sentinel sees a master and a replica that follows it."""
        with self._admin() as admin:
            replicas = admin.sentinel_slaves(SERVICE)
        following = [
            replica
            for replica in replicas
            if replica["master-link-status"] == "ok" and not replica["is_disconnected"]
        ]
        return len(following) == 1

    def _admin(self) -> Redis:
        return Redis(unix_socket_path=str(self.sentinel.socket), username=self.sentinel_user)


class _SentinelServer(RedisServer):
    """A Sentinel, which needs a file to write down what it learns."""

    def __init__(self, folder: Path, config: str, *options: str) -> None:
        super().__init__(folder, *options)
        self._config = folder / "sentinel.conf"
        self._config.write_text(config)

    def _mode(self) -> tuple[str, ...]:
        return (str(self._config), "--sentinel")


def _listening(port: int, *, tls: bool) -> tuple[str, ...]:
    return ("--tls-port" if tls else "--port", str(port))


@contextmanager
def running_sentinel(
    server_options: tuple[str, ...] = (),
    sentinel_config: str = "",
    *,
    sentinel_user: str | None = None,
    tls: bool = False,
) -> Iterator[SentinelDeployment]:
    """Run master, replica and Sentinel for the block.

    Args:
        server_options: For master and replica, and with ``tls`` for Sentinel.
        sentinel_config: Further lines for Sentinel.
        sentinel_user: Who may ask Sentinel anything; needs no password.
        tls: Whether all three listen with TLS only; the options must name the certificates.
    """
    first, second, third = free_ports(3)
    config = (
        f"sentinel monitor {SERVICE} 127.0.0.1 {first} 1\n"
        f"sentinel down-after-milliseconds {SERVICE} 500\n"
        f"sentinel failover-timeout {SERVICE} 4000\n"
        f"{sentinel_config}"
    )
    certified = server_options if tls else ()
    options = ("--repl-diskless-sync-delay", "0", *server_options)
    folder = Path(tempfile.mkdtemp(prefix="ezra-redis-"))
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder)
        master = stack.enter_context(running_redis(*_listening(first, tls=tls), *options))
        replica = stack.enter_context(
            running_redis(
                *_listening(second, tls=tls), "--replicaof", "127.0.0.1", str(first), *options
            )
        )
        sentinel = _SentinelServer(folder, config, *_listening(third, tls=tls), *certified)
        stack.callback(sentinel.kill)
        sentinel.start()
        scheme = "rediss" if tls else "redis"
        deployment = SentinelDeployment(
            (master, replica), (first, second), sentinel, third, scheme, sentinel_user
        )
        wait_until(deployment.agreed, "Sentinel to find the replica")
        yield deployment


@dataclass(frozen=True)
class ClusterDeployment:
    """Primaries that share all slots between them."""

    servers: tuple[RedisServer, ...]
    ports: tuple[int, ...]
    scheme: str

    @property
    def url(self) -> str:
        """The address for clients."""
        hosts = ",".join(f"127.0.0.1:{port}" for port in self.ports)
        return f"{self.scheme}+cluster://{hosts}"


@contextmanager
def running_cluster(
    nodes: int = 1, options: tuple[str, ...] = (), *, tls: bool = False
) -> Iterator[ClusterDeployment]:
    """Run a cluster for the block; it takes two seconds before it accepts writes."""
    ports = free_ports(nodes)
    if tls:
        # Otherwise the nodes tell clients their plain ports, which are not open.
        options = (*options, "--tls-cluster", "yes")
    with ExitStack() as stack:
        servers = [
            stack.enter_context(
                running_redis("--cluster-enabled", "yes", *_listening(port, tls=tls), *options)
            )
            for port in ports
        ]
        _form(servers, ports)
        yield ClusterDeployment(tuple(servers), tuple(ports), "rediss" if tls else "redis")


def _form(servers: list[RedisServer], ports: list[int]) -> None:
    """Give each server its share of the slots, introduce them, and wait until all agree."""
    count = len(servers)
    with ExitStack() as stack:
        admins = [
            stack.enter_context(Redis(unix_socket_path=str(server.socket))) for server in servers
        ]
        for place, admin in enumerate(admins):
            first, after = SLOTS * place // count, SLOTS * (place + 1) // count
            admin.execute_command("CLUSTER", "ADDSLOTSRANGE", first, after - 1)
            if place:
                admin.execute_command("CLUSTER", "SET-CONFIG-EPOCH", place + 1)
                admin.execute_command("CLUSTER", "MEET", "127.0.0.1", ports[0])
        wait_until(lambda: all(_complete(admin, count) for admin in admins), "the cluster")


def _complete(node: Redis, nodes: int) -> bool:
    state = node.cluster("INFO")
    return state["cluster_state"] == "ok" and state["cluster_known_nodes"] == str(nodes)
