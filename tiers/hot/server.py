"""What a Redis says about itself, and whether that will do."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import ResponseError

from .address import Kind, RedisAddress
from .client import Client
from .guard import send_without_key

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
    told = dict(zip(words[::2], words[1::2], strict=False))
    return Greeting(
        server=str(told.get("server", "redis")),
        version=str(told.get("version", "")),
        mode=str(told.get("mode", "standalone")),
        role=str(told.get("role", "master")),
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
