"""Answers over HTTP that come as they are and end: not compressed, and of so many bytes at most.

A server chooses what it sends. A few bytes that are compressed become as many as it likes before
anything of them is counted, and a body need never end.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any, TypeAlias

import httpx2

PLAIN = {"accept-encoding": "identity"}
"""What a request says, so that what is counted is what came."""

Hooks: TypeAlias = dict[str, list[Callable[[Any], Awaitable[None]]]]


class AnswerRefused(httpx2.TransportError):
    """An answer is more than is read, or in a form that was not asked for."""


def bounded(bytes_max: int) -> Hooks:
    """Return the event hooks of a client that reads no answer further than ``bytes_max``.

    What goes beyond is refused with ``AnswerRefused``, when it is read.
    """

    async def ask(request: httpx2.Request) -> None:
        request.headers.update(PLAIN)

    async def bound(answer: httpx2.Response) -> None:
        form = answer.headers.get("content-encoding", "identity").strip().lower()
        if form not in {"", "identity"}:
            message = "its answer is compressed, which was not asked for"
            raise AnswerRefused(message)
        stream = answer.stream
        if not isinstance(stream, httpx2.AsyncByteStream):
            message = "its answer is no stream"
            raise AnswerRefused(message)
        answer.stream = _Bounded(stream, bytes_max)

    return {"request": [ask], "response": [bound]}


class _Bounded(httpx2.AsyncByteStream):
    """A body that is read no further than its limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, bytes_max: int) -> None:
        self._stream = stream
        self._bytes_max = bytes_max

    async def __aiter__(self) -> AsyncIterator[bytes]:
        left = self._bytes_max
        async for part in self._stream:
            left -= len(part)
            if left < 0:
                message = f"its answer has more than {self._bytes_max} bytes"
                raise AnswerRefused(message)
            yield part

    async def aclose(self) -> None:
        """Let go of the connection."""
        await self._stream.aclose()
