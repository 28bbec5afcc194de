"""What the user of the URL must be allowed, and how to find out what is missing.

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
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from redis.exceptions import NoPermissionError, NoScriptError

from ..records import Scope
from .calls import CallLimits, limited
from .client import Client
from .guard import GuardedClient
from .keys import hot_key
from .scripts import PROBE

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
