"""Connections of a server: each has deadlines, each peer a share, and somebody always gets in.

Whoever connects and sends nothing, half a head, or a body byte by byte holds a place that others
need. So a head and a body have a deadline, and when places run out the one that has been of no use
for the longest is closed: a request that arrived whole is never. Health is answered whatever is
going on.
"""

from __future__ import annotations

import asyncio
from collections import Counter, OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, TypeAlias

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from tiers.errors import TierUnavailable, UsageError

from . import health
from .limits import network_of
from .problem_answers import problem_answer

SPARE = 32
"""So many connections more than may be at work are let in: to be told so, or to ask for health."""

LINGER_SECONDS = 2.0
"""For a late body's answer to be sent before its connection is closed."""

"""What one house has of IPv6, and may take addresses of as it likes."""

_LATE = b"HTTP/1.1 408 Request Timeout\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"

Phase: TypeAlias = Literal["head", "body", "rest", "work", "idle", "closing"]
"""What a connection waits for: a request's head; its body; the rest of a body that was answered
already; our answer; the next request; its end."""


@dataclass(frozen=True)
class ConnectionLimits:
    """Deadlines and shares of connections.

    Attributes:
        head_seconds: For a request's head to arrive, from when its connection was made or from its
            first byte; and for the rest of a body that nobody waits for any more.
        body_seconds: For a body to arrive.
        total: Requests at work at a time.
        per_peer: Of these, of one address.
        send_seconds: For a peer to take any of an answer.
    """

    head_seconds: float = 10.0
    body_seconds: float = 30.0
    total: int = 1_000
    per_peer: int = 500
    send_seconds: float = 60.0


class Guard:
    """All connections of a server.

    Args:
        limits: How long, and how many.
    """

    def __init__(self, limits: ConnectionLimits) -> None:
        self.limits = limits
        self._open: dict[str, OrderedDict[Connection, None]] = {}
        self._at_work: Counter[str] = Counter()

    def protocol(self) -> type[asyncio.Protocol]:
        """Return what uvicorn makes of each connection."""
        return type("GuardedConnection", (Connection,), {"guard": self})

    def admit(self, connection: Connection) -> bool:
        """Let a connection in; whether there is room for it, or could be made."""
        own = self._open.setdefault(connection.peer, OrderedDict())
        own[connection] = None
        if len(own) > self.limits.per_peer + SPARE:
            return self._make_room(own, connection)
        if sum(map(len, self._open.values())) > self.limits.total + SPARE:
            return self._make_room(max(self._open.values(), key=len), connection)
        return True

    def leave(self, connection: Connection) -> None:
        """Forget a connection. May be repeated."""
        own = self._open.get(connection.peer)
        if own is not None:
            own.pop(connection, None)
            if not own:
                del self._open[connection.peer]

    def was_of_use(self, connection: Connection) -> None:
        """Note that a connection was answered: it is the last to be closed for another."""
        own = self._open.get(connection.peer)
        if own is not None and connection in own:
            own.move_to_end(connection)

    def begin(self, peer: str, path: str) -> bool:
        """Count a request that begins; ``False``: it is one too many, and was not counted."""
        is_full = (
            self._at_work.total() >= self.limits.total
            or self._at_work[peer] >= self.limits.per_peer
        )
        if is_full and path != health.PATH:
            # Who is still sending a body has begun, and is not at work yet.
            held = (one for one in self._open.get(peer, ()) if one.phase == "body")
            late = next(held, None)
            if late is None:
                return False
            late.cut()
        self._at_work[peer] += 1
        return True

    def finish(self, peer: str) -> None:
        """Note that a request was answered."""
        self._at_work[peer] -= 1
        if not self._at_work[peer]:
            del self._at_work[peer]

    def _make_room(self, among: Mapping[Connection, None], newest: Connection) -> bool:
        """Close the connection that has been of no use for the longest, but none at work."""
        for one in among:
            if one is not newest and one.phase != "work":
                one.cut()
                return True
        self.leave(newest)
        return False


class Connection(H11Protocol):
    """A connection as uvicorn has it, with deadlines. Made by ``Guard.protocol``."""

    guard: ClassVar[Guard]

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401 - uvicorn's own
        super().__init__(*arguments, **named)
        self._service = self.app
        self.app = self._answer
        self.peer = ""
        self.phase: Phase = "head"
        self._deadline: asyncio.TimerHandle | None = None
        self._unsent: tuple[asyncio.TimerHandle, int] | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Let a peer in, if there is room for it."""
        super().connection_made(transport)
        self.peer = network_of(self.client)
        if not self.guard.admit(self):
            transport.abort()
            return
        self._arm(self.guard.limits.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """Let go of it."""
        self._arm(None)
        self.resume_writing()
        self.guard.leave(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came; a deadline goes on unless a part of the request is complete."""
        super().data_received(data)
        self._look()

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the rest of this one."""
        self.guard.was_of_use(self)
        super().on_response_complete()
        self._look()

    def send_400_response(self, msg: str) -> None:
        """Answer what is no HTTP; where an answer is out already, there is only the end."""
        if self.conn.our_state not in {h11.IDLE, h11.SEND_RESPONSE}:
            self.cut()
            return
        said = problem_answer(
            UsageError("request", msg, "an HTTP/1.1 request, its head not too long"), 400
        )
        headers = [*said.raw_headers, (b"connection", b"close")]
        for event in (
            h11.Response(status_code=said.status_code, headers=headers),
            h11.Data(data=bytes(said.body)),
            h11.EndOfMessage(),
        ):
            self.transport.write(self.conn.send(event))
        self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """End a connection that nothing was asked over for a while."""
        super().timeout_keep_alive_handler()
        self._look()

    def pause_writing(self) -> None:
        """Wait until the peer takes more of an answer, but not for ever."""
        super().pause_writing()
        self._watch_unsent()

    def resume_writing(self) -> None:
        """Go on: the peer took what was waiting."""
        if self._unsent is not None:
            self._unsent[0].cancel()
            self._unsent = None
        super().resume_writing()

    def cut(self) -> None:
        """Close it, at once: whatever was not sent is lost."""
        self.guard.leave(self)
        self._arm(None)
        self.phase = "closing"
        if self.transport.get_write_buffer_size():
            self.transport.abort()
        else:
            self.transport.close()

    def _look(self) -> None:
        """See what is waited for now, and until when."""
        phase = self._now_in()
        if phase == self.phase:
            return
        self.phase = phase
        limits = self.guard.limits
        seconds: dict[Phase, float] = {
            "head": limits.head_seconds,
            "body": limits.body_seconds + min(LINGER_SECONDS, limits.body_seconds),
            "rest": limits.head_seconds,
            "closing": limits.send_seconds,
        }
        self._arm(seconds.get(phase))

    def _now_in(self) -> Phase:
        if self.transport.is_closing():
            return "closing"
        ours, theirs = self.conn.our_state, self.conn.their_state
        if theirs is h11.IDLE:
            has_begun = self.timeout_keep_alive_task is None or bool(self.conn.trailing_data[0])
            return "head" if has_begun else "idle"
        if theirs is h11.SEND_BODY:
            return "body" if ours in {h11.SEND_RESPONSE, h11.SEND_BODY} else "rest"
        return "work"

    def _arm(self, seconds: float | None) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline = None if seconds is None else self.loop.call_later(seconds, self._late)

    def _late(self) -> None:
        """Close what did not come in time; who has sent half a head is told why."""
        if self.phase == "head" and self.conn.trailing_data[0] and not self.transport.is_closing():
            self.transport.write(_LATE)
        if self.phase == "closing":
            self.transport.abort()
        else:
            self.cut()

    def _watch_unsent(self) -> None:
        size = self.transport.get_write_buffer_size()
        seconds = self.guard.limits.send_seconds
        self._unsent = (self.loop.call_later(seconds, self._is_stuck), size)

    def _is_stuck(self) -> None:
        """Give up a peer that took nothing; who took some has as long again."""
        if self._unsent is not None and self.transport.get_write_buffer_size() < self._unsent[1]:
            self._watch_unsent()
        else:
            self.transport.abort()

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or say that there are too many."""
        if not self.guard.begin(self.peer, scope["path"]):
            answer = problem_answer(
                TierUnavailable("server", "request", "too many requests are at work")
            )
            answer.headers["connection"] = "close"
            answer.headers["retry-after"] = "1"
            await answer(scope, receive, send)
            return
        try:
            await self._service(scope, receive, send)
        finally:
            self.guard.finish(self.peer)
