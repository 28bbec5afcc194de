"""What a Redis says about itself, for ``ezra doctor``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from pydantic import JsonValue
from redis.exceptions import NoPermissionError

from ..errors import ConfigError, TierError, TierRejected, TierTimeout, TierUnavailable
from ..health import Findings, TierHealth, round_trip_ms
from .address import RedisAddress, parse_redis_url
from .calls import CallLimits, limited
from .client import Client, ClientLimits, redis_client
from .guard import send_without_key
from .permissions import missing_permissions
from .server import advice_on_silence, each_server, greetings, obstacles


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
