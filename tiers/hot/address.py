"""Where a Redis deployment is, read from a URL.

    redis://[user[:password]@]host[:port][/db]                        one server
    unix://[user:password@]/path/to/socket[?db=N]                     a socket of this machine
    redis+sentinel://[user:password@]host[:port][,…]/service[/db]     the master Sentinel names
    redis+cluster://[user:password@]host[:port][,…]                   a cluster
    rediss://, rediss+sentinel://, rediss+cluster://                  the same over TLS

User, password and socket path are percent-encoded. The URL may hold a password, so an error
names an option at most and shows nothing else of what was given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias
from urllib.parse import parse_qsl, unquote

from ..errors import ConfigError
from .tls import TLS_OPTIONS, tls_arguments, yes_or_no

URL_KEY = "EZRA_REDIS_URL"
HOSTS_MAX = 64
REDIS_PORT = 6379
SENTINEL_PORT = 26379
_PORT_MAX = 65535

Kind: TypeAlias = Literal["standalone", "sentinel", "cluster"]
Host: TypeAlias = tuple[str, int]

_KINDS: Mapping[str, Kind] = {
    "redis": "standalone",
    "rediss": "standalone",
    "unix": "standalone",
    "redis+sentinel": "sentinel",
    "rediss+sentinel": "sentinel",
    "redis+cluster": "cluster",
    "rediss+cluster": "cluster",
}
_HOST = re.compile(r"(?:\[([0-9A-Fa-f:.]+)\]|([^:\[\]\s]*))(?::([0-9]{1,5}))?")
_SAID_ELSEWHERE = {
    "health_check_interval": "the setting health_check_seconds",
    "max_connections": "the setting connections_max",
    "password": "the part of the URL before the host",
    "retry_on_timeout": "the setting retries_max",
    "socket_connect_timeout": "the setting timeout_seconds",
    "socket_timeout": "the setting timeout_seconds",
    "timeout": "the setting timeout_seconds",
    "username": "the part of the URL before the host",
}
"""Options that other clients read from a URL and that have one other place here."""


@dataclass(frozen=True)
class RedisAddress:
    """A deployment and how to log in. Its ``repr`` shows no secret.

    Attributes:
        kind: One server, a master watched by Sentinel, or a cluster.
        hosts: The server, the Sentinels, or nodes to start from; empty for a socket.
        path: The Unix socket, or empty.
        service: The name under which Sentinel knows the master.
        db: Number of the database; a cluster has only 0.
        username: On the data servers; ``None`` for the default user.
        password: On the data servers.
        sentinel_username: On the Sentinels, which know users of their own.
        sentinel_password: On the Sentinels.
        client_name: What CLIENT LIST shows; setting it needs the right to CLIENT SETNAME.
        keepalive: Whether the operating system keeps idle TCP connections open.
        tls: Arguments for the TLS context of every connection, Sentinel's included; ``None``
            when nothing is encrypted.
    """

    kind: Kind
    hosts: tuple[Host, ...] = ()
    path: str = ""
    service: str = ""
    db: int = 0
    username: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    sentinel_username: str | None = field(default=None, repr=False)
    sentinel_password: str | None = field(default=None, repr=False)
    client_name: str | None = None
    keepalive: bool = True
    tls: Mapping[str, object] | None = field(default=None, repr=False)


def parse_redis_url(url: str) -> RedisAddress:
    """Return what ``url`` names.

    Raises:
        ConfigError: The URL cannot be understood; says what is accepted, never what was given.
    """
    scheme, authority, path, query = _split(url.strip())
    kind = _KINDS[scheme]
    login, _, place = authority.rpartition("@")
    username, password = _login(login)
    options = _options(query, _accepted(scheme))
    service, db = _service_and_db(kind, "" if scheme == "unix" else path, options)
    encrypted = scheme.startswith("rediss")
    return RedisAddress(
        kind=kind,
        hosts=() if scheme == "unix" else _hosts(kind, place),
        path=_socket(place, path) if scheme == "unix" else "",
        service=service,
        db=db,
        username=username,
        password=password,
        sentinel_username=options.get("sentinel_username"),
        sentinel_password=options.get("sentinel_password"),
        client_name=options.get("client_name"),
        keepalive=_keepalive(options),
        tls=tls_arguments(URL_KEY, options) if encrypted else None,
    )


def _refused(reason: str) -> ConfigError:
    return ConfigError(URL_KEY, reason)


def _split(url: str) -> tuple[str, str, str, str]:
    """Return scheme, authority, path and query.

    Not ``urlsplit``: it takes a stray ``/``, ``?`` or ``#`` in a password for the end of the
    host, and its errors repeat what it found there.
    """
    scheme, found, rest = url.partition("://")
    scheme = scheme.lower()
    if not found or scheme not in _KINDS:
        accepted = ", ".join(f"{known}://" for known in _KINDS)
        raise _refused(f"the URL must start with one of {accepted}")
    if "#" in rest or not rest.isprintable() or " " in rest:
        raise _refused("'#', white space and control characters must be percent-encoded")
    before_query, _, query = rest.partition("?")
    authority, slash, path = before_query.partition("/")
    if "@" in path or "@" in query:
        reason = "'@', ':', '/', '?' and '#' in a user, password or path must be percent-encoded"
        raise _refused(reason)
    return scheme, authority, slash + path, query


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        # Not chained: the cause shows the bytes.
        raise _refused("what is percent-encoded must be UTF-8") from None


def _login(login: str) -> tuple[str | None, str | None]:
    username, _, password = login.partition(":")
    return _decoded(username) or None, _decoded(password) or None


def _hosts(kind: Kind, place: str) -> tuple[Host, ...]:
    default_port = SENTINEL_PORT if kind == "sentinel" else REDIS_PORT
    if kind == "standalone":
        return (_host(place or "localhost", default_port),)
    hosts = tuple(_host(part, default_port) for part in place.split(","))
    if len(hosts) > HOSTS_MAX:
        raise _refused(f"at most {HOSTS_MAX} hosts")
    return hosts


def _host(part: str, default_port: int) -> Host:
    found = _HOST.fullmatch(part)
    name = found and (found[1] or found[2])
    if not found or not name:
        raise _refused("each host must be name:port, or [address]:port for IPv6")
    port = int(found[3] or default_port)
    if not 1 <= port <= _PORT_MAX:
        raise _refused(f"each port must be a number from 1 to {_PORT_MAX}")
    return _decoded(name), port


def _socket(place: str, path: str) -> str:
    if place or path in {"", "/"}:
        raise _refused("unix:// must be followed by an absolute path: unix:///run/redis.sock")
    return _decoded(path)


def _service_and_db(kind: Kind, path: str, options: Mapping[str, str]) -> tuple[str, int]:
    """Return the Sentinel service, if any, and the number of the database."""
    parts = [part for part in path.split("/") if part]
    service = ""
    if kind == "sentinel":
        if not parts:
            raise _refused("the path must name the master: redis+sentinel://host:26379/mymaster")
        service = _decoded(parts.pop(0))
    if len(parts) > 1 or (parts and "db" in options):
        raise _refused("after the host only one number of a database is accepted")
    db = parts[0] if parts else options.get("db", "0")
    if not re.fullmatch(r"[0-9]{1,5}", db):
        raise _refused("the database must be a number: /0")
    if kind == "cluster" and int(db) != 0:
        raise _refused("a cluster has no database but 0")
    return service, int(db)


def _keepalive(options: Mapping[str, str]) -> bool:
    try:
        return yes_or_no(options.get("socket_keepalive", "yes"))
    except ValueError as error:
        raise _refused(f"socket_keepalive must be {error}") from None


def _accepted(scheme: str) -> tuple[str, ...]:
    """Return the options that a URL of this scheme may carry."""
    names = ["client_name"]
    if _KINDS[scheme] != "cluster":
        names.append("db")
    if scheme != "unix":
        names.append("socket_keepalive")
    if _KINDS[scheme] == "sentinel":
        names += ["sentinel_username", "sentinel_password"]
    if scheme.startswith("rediss"):
        names += TLS_OPTIONS
    return tuple(names)


def _options(query: str, accepted: tuple[str, ...]) -> dict[str, str]:
    try:
        pairs = parse_qsl(query, keep_blank_values=True, strict_parsing=bool(query))
    except ValueError:
        # Not chained: the cause repeats what was given.
        raise _refused("what follows '?' must be name=value&name=value") from None
    options: dict[str, str] = {}
    for name, value in pairs:
        if name in _SAID_ELSEWHERE and name not in accepted:
            raise _refused(f"{name} is not an option of the URL but {_SAID_ELSEWHERE[name]}")
        if name not in accepted or name in options:
            shown = name if re.fullmatch(r"[a-z_]{1,32}", name) else "an option"
            why = "is given twice" if name in options else "is not accepted"
            raise _refused(f"{shown} {why}; accepted here: {', '.join(accepted)}")
        options[name] = value
    return options
