"""The hot tier on Redis 7.0 or later, a single server or a cluster.

One hash per agent, ``<prefix>:{<tenant>/<graph>/<agent>}:hot`` (see ``keys``), with the fields
``turn:<seq>``, ``pin:<belief id>``, ``mesh`` and ``view``. The last holds a digest of the user and
the topics for which the hash was filled: a write under another view empties it first, in the same
atomic step, and a read under another view finds nothing (see ``view``).

Every method is one round trip and atomic; what takes more than one command is a Lua script. Every
command leaves through ``guard``, which checks its key against the scope once more.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Self, TypeVar

from pydantic import ValidationError
from redis.asyncio import Redis, RedisCluster

from ..errors import CorruptRecord, TierUnavailable, UsageError
from ..records import Commitment, HotState, MeshResult, Owned, Record, Scope, Turn
from . import rules, scripts
from .calls import CallLimits, limited
from .guard import GuardedClient
from .keys import encodable, hot_key
from .view import RUNTIME_VIEW, may_see, view_of

_RecordT = TypeVar("_RecordT", bound=Record)
_OwnedT = TypeVar("_OwnedT", bound=Owned)


class RedisHotStore:
    """A ``HotStore`` over a client that somebody else made and will close.

    The store is open from construction until ``aclose`` or the end of its ``async with`` block.

    Args:
        client: A ``redis.asyncio`` client, of one server or of a cluster; ``decode_responses``
            may be on or off.
        prefix: First part of every key; separates installations that share a server.
        ttl_seconds: An agent without a write for so long is swept away. Only a broom: nothing
            in ezra waits for it.
        limits: How long a call may take and how often it is tried.
    """

    def __init__(
        self,
        client: Redis | RedisCluster,
        *,
        prefix: str = "ezra",
        ttl_seconds: float = rules.TTL_SECONDS,
        limits: CallLimits = CallLimits(),  # noqa: B008 - frozen
    ) -> None:
        if not prefix.isprintable() or not prefix or "{" in prefix or "}" in prefix:
            raise UsageError("prefix", prefix, "printable characters without braces")
        rules.check_ttl(ttl_seconds)
        self._client = client
        self._guarded = GuardedClient(client, prefix)
        self._prefix = prefix
        self._ttl_ms = int(ttl_seconds * 1000)
        self._limits = limits
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exc_info: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """End the store; the client stays as it is. May be repeated."""
        self._closed = True

    async def append(self, scope: Scope, turn: Turn, capacity: int) -> tuple[Turn, ...]:
        """Put a turn into the ring and return what no longer fits, oldest first.

        Repeating it is safe; what the first call evicted is not returned again. Neither is what
        was put in under another view.
        """
        key = self._key(scope, "append")
        rules.check_capacity(capacity)
        field = _turn_field(scope, turn)
        evicted = await self._run(
            scope, "append", scripts.APPEND, key, capacity, field, rules.as_json(turn)
        )
        return tuple(_parsed(Turn, stored, "append") for stored in evicted)

    async def read(self, scope: Scope) -> HotState:
        """Return everything held for the agent; unknown, or of another view, is an empty state."""
        key = self._key(scope, "read")
        stored = await limited(
            "read", self._limits, lambda: self._guarded.send(scope, "read", "HGETALL", key)
        )
        view = view_of(scope)
        found = stored.get(b"view", stored.get("view"))
        if view != RUNTIME_VIEW and found not in {view, view.encode()}:
            return HotState()
        return _state(scope, {_text(name, "read"): value for name, value in stored.items()})

    async def restore(self, scope: Scope, turns: Sequence[Turn], capacity: int) -> None:
        """Fill the ring from cold, never replacing a turn that is already there."""
        key = self._key(scope, "restore")
        rules.check_capacity(capacity)
        by_seq: dict[int, tuple[str, Turn]] = {}
        for turn in turns:
            by_seq.setdefault(turn.seq, (_turn_field(scope, turn), turn))
        if not by_seq:
            return
        # More than the highest `capacity` would be trimmed anyway, so they are not sent.
        newest = [by_seq[seq] for seq in sorted(by_seq)[-capacity:]]
        args = [part for field, turn in newest for part in (field, rules.as_json(turn))]
        await self._run(scope, "restore", scripts.RESTORE, key, capacity, *args)

    async def pin(self, scope: Scope, belief: Commitment) -> None:
        """Keep a belief at hand for the agent; pinning again replaces it.

        Raises:
            UsageError: The agent already holds ``PINS_MAX`` other beliefs.
        """
        key = self._key(scope, "pin")
        rules.check_belief(scope, belief)
        field = f"pin:{belief.id}"
        kept = await self._run(
            scope, "pin", scripts.PIN, key, rules.PINS_MAX, field, rules.as_json(belief)
        )
        if not kept:
            raise rules.too_many_pins(belief)

    async def unpin(self, scope: Scope, belief_id: str) -> None:
        """Stop keeping a belief; one that is unknown, or of another view, is no error."""
        key = self._key(scope, "unpin")
        field = f"pin:{encodable('belief_id', belief_id)}"
        await self._run(scope, "unpin", scripts.UNPIN, key, field)

    async def put_mesh(self, scope: Scope, result: MeshResult) -> None:
        """Keep the latest mesh result, replacing the one before.

        Raises:
            UsageError: The scope is the runtime's.
        """
        key = self._key(scope, "put_mesh")
        rules.check_asker(scope)
        await self._run(scope, "put_mesh", scripts.PUT_MESH, key, rules.as_json(result))

    async def clear(self, scope: Scope) -> None:
        """Forget everything held for the agent, of whatever view."""
        key = self._key(scope, "clear")
        await limited("clear", self._limits, lambda: self._guarded.send(scope, "clear", "DEL", key))

    async def _run(
        self, scope: Scope, operation: str, script: scripts.Script, key: str, *args: str | int
    ) -> Any:  # noqa: ANN401 - Lua's
        """Run a script on the agent's hash under the scope's view."""
        send = partial(self._guarded.send, scope, operation)
        view = view_of(scope)
        return await limited(
            operation, self._limits, lambda: script.run(send, key, self._ttl_ms, view, *args)
        )

    def _key(self, scope: Scope, operation: str) -> str:
        """Return the agent's key, if the store is open."""
        if self._closed:
            raise TierUnavailable("hot", operation, "the store is closed")
        return hot_key(self._prefix, scope)


def _turn_field(scope: Scope, turn: Turn) -> str:
    rules.check_turn(scope, turn)
    return f"turn:{turn.seq}"


def _text(stored: bytes | str, operation: str) -> str:
    try:
        return stored.decode() if isinstance(stored, bytes) else stored
    except UnicodeDecodeError as error:
        raise CorruptRecord("hot", operation, "stored bytes are not UTF-8") from error


def _parsed(model: type[_RecordT], stored: bytes | str, operation: str) -> _RecordT:
    try:
        return model.model_validate_json(stored)
    except ValidationError as error:
        reason = f"a stored {model.__name__.lower()} cannot be read back"
        raise CorruptRecord("hot", operation, reason) from error


def _state(scope: Scope, fields: dict[str, bytes | str]) -> HotState:
    """Return the fields of one hash as records: turns by ``seq``, beliefs by record time.

    What the runtime put in under the scope's view, and the scope may not see, is left out.
    """
    turns = _visible(Turn, scope, fields, "turn:")
    pinned = _visible(Commitment, scope, fields, "pin:")
    mesh = fields.get("mesh")
    return HotState(
        turns=tuple(sorted(turns, key=lambda turn: turn.seq)),
        pinned=tuple(sorted(pinned, key=lambda belief: (belief.recorded_at, belief.id))),
        mesh=None if mesh is None else _parsed(MeshResult, mesh, "read"),
    )


def _visible(
    model: type[_OwnedT], scope: Scope, fields: dict[str, bytes | str], kind: str
) -> list[_OwnedT]:
    stored = (value for name, value in fields.items() if name.startswith(kind))
    return [one for value in stored if may_see(scope, one := _parsed(model, value, "read"))]
