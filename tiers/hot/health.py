"""What a Redis says about itself: whether that will do, and what its user is not allowed.

The smallest rule under which everything works, here for the prefix ``ezra``::

    ACL SETUSER ezra on >PASSWORD resetchannels ~ezra:* -@all +ping +eval +evalsha
        +hset +hsetnx +hget +hgetall +hkeys +hexists +hdel +pexpire +del

Besides: ``+select`` for a database other than 0; ``+client|setname`` with ``?client_name=``;
``+cluster|slots`` and, while slots move, ``+asking`` on a cluster; ``+info`` lets ``ezra doctor``
see persistence and eviction, which it otherwise reports as unknown. Sentinel has users of its
own: there ``+sentinel|masters`` is enough, and ``+ping`` where health checks are on.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any

from pydantic import JsonValue
from redis.asyncio import Redis
from redis.exceptions import NoPermissionError, NoScriptError, ResponseError

from ..errors import ConfigError, TierError, TierRejected, TierTimeout, TierUnavailable
from ..health import Findings, TierHealth, round_trip_ms
from ..records import Scope
from .address import Kind, RedisAddress, parse_redis_url
from .calls import CallLimits, limited
from .client import Client, ClientLimits, redis_client
from .guard import GuardedClient, send_without_key
from .keys import hot_key
from .scripts import PROBE

VERSION_MIN = (7, 0)
_UNKNOWN_COMMAND = "unknown command"


@dataclass(frozen=True, slots=True)
class Greeting:
    """The answer to HELLO, which every user may send.

    Attributes:
        server: ``redis``, or what else speaks its protocol.
        version: As the server writes it; empty before version 6, which knows no HELLO.
        mode: ``standalone``, ``sentinel`` or ``cluster``.
        role: ``master`` or ``replica``.
    """

    server: str
    version: str
    mode: str
    role: str


async def each_server(client: Client, command: str) -> tuple[Any, ...]:
    """Return the answer of the server, or of each primary of a cluster, about itself."""
    if isinstance(client, Redis):
        return (await send_without_key(client, command),)
    await client.initialize()
    primaries = client.get_primaries()
    return tuple([await send_without_key(client, command, node) for node in primaries])


async def greetings(client: Client) -> tuple[Greeting, ...]:
    """Ask each server who it is."""
    try:
        answers = await each_server(client, "HELLO")
    except ResponseError as error:
        if _UNKNOWN_COMMAND not in str(error).lower():
            raise
        return (Greeting("redis", "", "standalone", "master"),)
    return tuple(_greeting(answer) for answer in answers)


def _greeting(answer: Sequence[Any]) -> Greeting:
    """Read ``[name, value, name, value, …]``."""
    words = [part.decode() if isinstance(part, bytes) else part for part in answer]
    info = dict(zip(words[::2], words[1::2], strict=False))
    return Greeting(
        server=str(info.get("server", "redis")),
        version=str(info.get("version", "")),
        mode=str(info.get("mode", "standalone")),
        role=str(info.get("role", "master")),
    )


def obstacles(kind: Kind, found: Sequence[Greeting]) -> tuple[str, ...]:
    """Return why ezra cannot work with these servers, each with what to do about it."""
    reasons: list[str] = []
    for greeting in found:
        if _version(greeting.version) < VERSION_MIN:
            needed = ".".join(map(str, VERSION_MIN))
            version = greeting.version or "older than 6.0"
            reasons.append(f"Redis {needed} or later is needed, found {version}; upgrade it")
        if greeting.mode == "sentinel":
            reasons.append("this is a Sentinel; use redis+sentinel://host:port/master-name")
        elif kind != "cluster" and greeting.mode == "cluster":
            reasons.append("this is a node of a cluster; use redis+cluster://host:port")
        elif greeting.role != "master":
            reasons.append("this is a read-only replica; use the address of its master")
    return tuple(dict.fromkeys(reasons))


def advice_on_silence(address: RedisAddress) -> str:
    """Return what to look at when nobody answers, or not as Redis does."""
    look = "see that the server runs and that it can be reached from here"
    if address.path:
        return look
    scheme = "redis" if address.tls is not None else "rediss"
    does = "does not speak" if address.tls is not None else "expects"
    return f"{look}; if its port {does} TLS, the URL begins with {scheme}"


def _version(text: str) -> tuple[int, int]:
    found = re.match(r"(\d+)\.(\d+)", text)
    return (int(found[1]), int(found[2])) if found else (0, 0)


_ON_A_KEY: Mapping[str, tuple[str, ...]] = {
    "HSET": ("field", "1"),
    "PEXPIRE": ("60000",),
    "HSETNX": ("field", "1"),
    "HGET": ("field",),
    "HGETALL": (),
    "HKEYS": (),
    "HEXISTS": ("field",),
    "EVALSHA": (),
    "EVAL": (),
    "HDEL": ("field",),
    "DEL": (),
}
"""Each command with what follows its key. In this order they leave nothing, and should the
connection break in between, what is left goes away by itself after a minute."""

_KEY_REFUSED = re.compile("access (?:a|one of the) key")

STORE_COMMANDS = ("PING", *_ON_A_KEY)
"""Every command that the store sends or its scripts call."""


async def missing_permissions(client: Client, prefix: str, limits: CallLimits) -> tuple[str, ...]:
    """Try each command on a key of its own, and say which the user may not run.

    Returns:
        Sentences, each with what to grant; none when nothing is missing.

    Raises:
        TierError: A command failed for another reason.
    """
    scope = Scope(tenant="doctor", graph_id="doctor", agent_id=str(uuid.uuid4()))
    key = hot_key(prefix, scope)
    send = partial(GuardedClient(client, prefix).send, scope, "check permissions")
    refused: list[str] = []
    for name, arguments in _ON_A_KEY.items():
        command = _command(name, key, arguments)
        refusal = await limited("check permissions", limits, lambda: _refusal(send, command))  # noqa: B023 - awaited at once
        if _KEY_REFUSED.search(refusal):
            return (f"the user may not use keys that begin with {prefix}: - grant ~{prefix}:*",)
        if refusal:
            refused.append(name)
    if not refused:
        return ()
    grants = " ".join(f"+{name.lower()}" for name in refused)
    return (f"the user may not run {', '.join(refused)}; grant {grants}",)


def _command(name: str, key: str, arguments: tuple[str, ...]) -> tuple[str, ...]:
    if name == "EVAL":
        return (name, PROBE.text, "1", key)
    if name == "EVALSHA":
        return (name, PROBE.sha, "1", key)
    return (name, key, *arguments)


async def _refusal(send: Callable[..., Awaitable[object]], command: tuple[str, ...]) -> str:
    """Return why the user may not run a command, or nothing."""
    try:
        await send(*command)
    except NoPermissionError as error:
        return str(error)
    except NoScriptError:
        return ""
    return ""


async def redis_health(url: str, prefix: str = "ezra", timeout_seconds: float = 2.0) -> TierHealth:
    """Look at a deployment through a connection of its own, closed before this returns.

    Whatever is wrong with the URL or the server is a problem of the answer, not an error. The
    permissions are tried on a key of their own under ``prefix``, which is removed.

    Args:
        url: As ``address`` describes.
        prefix: First part of every key of the store.
        timeout_seconds: For each question; the first that is not answered is the last.
    """
    findings = Findings("hot", "redis")
    calls = CallLimits(timeout_seconds, retries_max=0)
    try:
        address = parse_redis_url(url)
        findings.details["kind"] = address.kind
        async with redis_client(address, ClientLimits(1, timeout_seconds, 0)) as client:
            try:
                await _look(findings, client, address, prefix, calls)
            except (TierUnavailable, TierTimeout) as error:
                findings.problems.append(f"{error.reason}; {advice_on_silence(address)}")
    except (ConfigError, TierError) as error:
        findings.problems.append(error.reason)
    return findings.as_health()


async def _look(
    findings: Findings, client: Client, address: RedisAddress, prefix: str, calls: CallLimits
) -> None:
    """Find out everything, in the order in which it stops making sense to go on."""
    try:
        found = await limited("greet", calls, lambda: greetings(client))
    except TierRejected:
        # It said no, and whoever says no is there.
        findings.reachable = True
        raise
    findings.reachable = True
    findings.engine, findings.version = found[0].server, found[0].version
    findings.details["role"] = found[0].role
    if address.kind == "cluster":
        findings.details["primaries"] = len(found)
    findings.problems += obstacles(address.kind, found)
    if findings.problems:
        return
    findings.round_trip_ms = await round_trip_ms(
        lambda: limited("ping", calls, lambda: _ping(client))
    )
    infos = await limited("info", calls, lambda: _infos(client))
    findings.details |= _state(infos)
    findings.problems += _weaknesses(infos)
    findings.problems += await missing_permissions(client, prefix, calls)


async def _ping(client: Client) -> None:
    await send_without_key(client, "PING")


async def _infos(client: Client) -> tuple[Mapping[str, Any], ...]:
    """Return INFO of each server; nothing when the user may not ask."""
    try:
        return await each_server(client, "INFO")
    except NoPermissionError:
        return ()


def _state(infos: Sequence[Mapping[str, Any]]) -> dict[str, JsonValue]:
    """Return what people want to know; of several servers the policies and the oldest save."""
    if not infos:
        return {"info": "not allowed: grant +info to see persistence and eviction"}
    saved_at = min(int(info.get("rdb_last_save_time", 0)) for info in infos)
    return {
        "appendonly": all(bool(info.get("aof_enabled")) for info in infos),
        "last_save": datetime.fromtimestamp(saved_at, UTC).isoformat(),
        "maxmemory": sum(int(info.get("maxmemory", 0)) for info in infos),
        "maxmemory_policy": ", ".join(
            sorted({str(info.get("maxmemory_policy", "unknown")) for info in infos})
        ),
        "used_memory": sum(int(info.get("used_memory", 0)) for info in infos),
        "replicas": sum(int(info.get("connected_slaves", 0)) for info in infos),
    }


def _weaknesses(infos: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    """Return what will go wrong one day, each with what to do about it."""
    found: list[str] = []
    for info in infos:
        policy = str(info.get("maxmemory_policy", "noeviction"))
        # Every key of the store has a time to live, so volatile-* may choose it too.
        if policy != "noeviction":
            found.append(
                f"maxmemory-policy is {policy}: when memory is short Redis drops the hot state "
                "of agents at work; set it to noeviction, or give Redis memory of its own"
            )
        if info.get("aof_enabled") and info.get("aof_last_write_status", "ok") != "ok":
            found.append("Redis cannot write its append-only file; look at its disk")
        if info.get("rdb_last_bgsave_status", "ok") != "ok":
            found.append("the last snapshot failed, and Redis may refuse writes; look at its disk")
    return tuple(dict.fromkeys(found))
