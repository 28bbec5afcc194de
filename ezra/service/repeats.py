"""Idempotency keys: a request that is sent again gets the answer that it got before.

A caller that heard nothing cannot know whether what it asked for was done. With a key it may ask
again: the work is done once, whoever asks meanwhile waits for it, and the answer is kept a while.
Answers to what only reads are not kept: it is read anew. And whatever request takes words away
takes those of all answers that are kept: their keys stay used.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from starlette.types import Message, Scope, Send

from tiers.errors import Conflict, UsageError

HEADER = "idempotency-key"
SECONDS = 600.0
KEYS_MAX = 10_000
BYTES_MAX = 64 * 1024 * 1024
ANSWER_BYTES_MAX = 1024 * 1024
KEY_CHARS_MAX = 255
REPLAYED = (b"idempotent-replayed", b"true")

READING = frozenset(
    "cards counts entity history holdings inbox inject latest list lookup neighbours one path "
    "recall recall-archival search-memory thread unread verify".split()
)
TAKING = frozenset(
    "changes confirm correct delete discard erasures forget lifecycle purges redact redactions "
    "remove retention revert rewind roll-backs rows".split()
)
"""Last words of the addresses to which a POST only reads, or takes words away."""
_CONSOLE = "/console/"
_MCP = "/mcp"
_TAKING_TOOL = b"forget"

_TOO_MANY = 429
_FAILED = 500

Key: TypeAlias = tuple[str, str]
"""The caller, and the key that it chose."""


@dataclass
class _Running:
    """A request under way, and what came of it."""

    fingerprint: bytes
    done: asyncio.Event = field(default_factory=asyncio.Event)
    messages: tuple[Message, ...] | None = None


@dataclass(frozen=True)
class _Kept:
    """What is sent again; without messages the answer was too large, or was dropped since."""

    fingerprint: bytes
    messages: tuple[Message, ...] | None
    size: int
    since: float


class Repeats:
    """Answers by key, for ten minutes; bounded in count and size, oldest first.

    Args:
        seconds: Monotonic seconds.
    """

    def __init__(self, seconds: Callable[[], float]) -> None:
        self._seconds = seconds
        self._running: dict[Key, _Running] = {}
        self._kept: OrderedDict[Key, _Kept] = OrderedDict()
        self._size = 0
        self._removals = 0

    def drop_words(self) -> None:
        """Drop what answers say, also those under way; that their keys were used stays known."""
        self._removals += 1
        for key, kept in self._kept.items():
            self._kept[key] = replace(kept, messages=None, size=0)
        self._size = 0

    async def answer(
        self,
        key: Key,
        fingerprint: bytes,
        send: Send,
        work: Callable[[Send], Awaitable[None]],
        *,
        is_removal: bool = False,
    ) -> None:
        """Do the work and keep what it sends, or send what was kept.

        A failure of the server is told to those who waited for it and is not kept: the next
        request with the key tries again.

        Args:
            key: Whose, and which.
            fingerprint: Of what is asked.
            send: Where the answer goes.
            work: Answers through what it is given.
            is_removal: The work drops the words of what is kept; its own answer stays.

        Raises:
            Conflict: Another request has the key, or its answer was too large to keep, or was
                dropped since.
        """
        self._drop_old()
        held = self._kept.get(key) or self._running.get(key)
        if held is None:
            await self._first(key, fingerprint, send, work, is_removal=is_removal)
            return
        if held.fingerprint != fingerprint:
            raise Conflict(HEADER, "the request that the key came with first", "another one")
        if isinstance(held, _Running):
            await held.done.wait()
        if held.messages is None:
            found = "one too large, cut short, or dropped since"
            raise Conflict(HEADER, "an answer that was kept", found)
        for message in _replayed(held.messages):
            await send(message)

    async def _first(
        self,
        key: Key,
        fingerprint: bytes,
        send: Send,
        work: Callable[[Send], Awaitable[None]],
        *,
        is_removal: bool,
    ) -> None:
        running = self._running[key] = _Running(fingerprint)
        removals = self._removals + is_removal
        sent: list[Message] = []
        size = 0

        async def keeping(message: Message) -> None:
            nonlocal size
            size += len(message.get("body", b""))
            if size <= ANSWER_BYTES_MAX:
                sent.append(message)
            else:
                del sent[1:]  # too large; the head says how it went
            await send(message)

        try:
            await work(keeping)
            is_small = size <= ANSWER_BYTES_MAX
            is_kept = is_small and removals >= self._removals
            running.messages = tuple(sent) if is_kept and _is_whole(sent) else None
            status = sent[0]["status"] if sent else _FAILED
            if status < _FAILED and status != _TOO_MANY and (running.messages or not is_kept):
                self._keep(key, running, size if is_kept else 0)
        finally:
            del self._running[key]
            running.done.set()

    def _keep(self, key: Key, running: _Running, size: int) -> None:
        kept = _Kept(running.fingerprint, running.messages, size, self._seconds())
        self._kept[key] = kept
        self._size += size
        self._drop_old()

    def _drop_old(self) -> None:
        now = self._seconds()
        while self._kept:
            key, oldest = next(iter(self._kept.items()))
            is_much = len(self._kept) > KEYS_MAX or self._size > BYTES_MAX
            if now - oldest.since <= SECONDS and not is_much:
                return
            del self._kept[key]
            self._size -= oldest.size


def key_of(caller: str, header: str) -> Key:
    """Return whose key it is, and which.

    Raises:
        UsageError: It cannot be one.
    """
    if not 0 < len(header) <= KEY_CHARS_MAX or not header.isascii() or not header.isprintable():
        raise UsageError(HEADER, header, f"1 to {KEY_CHARS_MAX} printable ASCII characters")
    return caller, header


def only_reads(scope: Scope) -> bool:
    """Whether a request changes nothing, by its address."""
    return scope["method"] in ("GET", "HEAD", "OPTIONS") or _last_word(scope) in READING


def takes_away(scope: Scope, body: bytes) -> bool:
    """Whether a request takes words away, by its address; of what a person does in the console any.

    Of what comes over MCP any that names the one tool that does. No DELETE does: by it an agent
    leaves, a parent is inherited from no longer, a belief is unpinned.
    """
    if scope["path"] == _MCP:
        return _TAKING_TOOL in body
    is_taking = _last_word(scope) in TAKING or _CONSOLE in scope["path"]
    return bool(is_taking and scope["method"] == "POST")


def _last_word(scope: Scope) -> str:
    return str(scope["path"]).rpartition("/")[2]


def fingerprint_of(scope: Scope, body: bytes) -> bytes:
    """Return what tells a request from another one."""
    asked = hashlib.sha256()
    for part in (scope["path"].encode("utf-8", "surrogateescape"), scope["query_string"], body):
        asked.update(hashlib.sha256(part).digest())
    return asked.digest()


def _is_whole(sent: Sequence[Message]) -> bool:
    return len(sent) > 1 and not sent[-1].get("more_body", False)


def _replayed(messages: Sequence[Message]) -> Sequence[Message]:
    head = {**messages[0], "headers": [*messages[0].get("headers", ()), REPLAYED]}
    return (head, *messages[1:])
