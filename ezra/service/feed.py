"""The audit feed as it grows: server-sent events, by position, without an end of their own."""

from __future__ import annotations

import asyncio
import json
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Depends, Header, Query, Request
from fastapi.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from tiers.errors import BudgetExceeded, EzraError, UsageError
from tiers.fields import Word
from tiers.records import AuditEvent, AuditFilter

from ..wire.problems import problem_of
from .credentials import Credentials
from .routes import Asking, Pool, answers_apart, no_other_fields

PATH = "/v1/audit/feed"
FEEDS_MAX = 100
"""Of one server, which is of one tenant."""

FEEDS_PER_TOKEN_MAX = 10
"""Of these, of one token. A server that needs no token asks nobody whose a feed is."""

PAGE = 500
SECONDS_MAX = 3_600.0
"""Then a feed ends, and the client comes again with the last id that it saw."""

_POSITION_DIGITS_MAX = 18
_SUMMARY = "Follow the audit feed: server-sent events from a position on."


@dataclass(frozen=True)
class Pace:
    """How often a feed looks and speaks, in seconds.

    Attributes:
        look: From one look for new events to the next.
        beat: A silent feed says that it lives after so long.
    """

    look: float = 0.5
    beat: float = 15.0


class Feeds:
    """The feeds of a service, so many at once.

    Args:
        stopping: Set when they have to end.
        pace: How often they look and speak.
    """

    def __init__(self, stopping: asyncio.Event, pace: Pace) -> None:
        self._stopping = stopping
        self._pace = pace
        self._open: Counter[str | None] = Counter()

    def take(self, token_id: str | None) -> None:
        """Count a feed that begins; ``leave`` gives its place back.

        Raises:
            BudgetExceeded: There are as many as may be, of this token or of all.
        """
        own, every = self._open[token_id], self._open.total()
        if token_id is not None and own >= FEEDS_PER_TOKEN_MAX:
            raise BudgetExceeded(f"token {token_id}", "open_feeds", own, 1, FEEDS_PER_TOKEN_MAX)
        if every >= FEEDS_MAX:
            raise BudgetExceeded("this server", "open_feeds", every, 1, FEEDS_MAX)
        self._open[token_id] += 1

    def leave(self, token_id: str | None) -> None:
        """Give the place of a feed back."""
        self._open[token_id] -= 1
        if not self._open[token_id]:
            del self._open[token_id]

    async def follow(
        self,
        page: Callable[[int, int], Awaitable[tuple[AuditEvent, ...]]],
        after: int,
        may_go_on: Callable[[], Awaitable[bool]],
    ) -> AsyncIterator[str]:
        """Yield events as server-sent events, until the service stops or the caller may no more.

        Args:
            page: Gives events after a position, so many at most.
            after: The position to begin behind.
            may_go_on: Whether the caller's token still counts.
        """
        try:
            yield "retry: 1000\n\n"
            began = spoke = time.monotonic()
            while not self._stopping.is_set() and time.monotonic() - began < SECONDS_MAX:
                if not await may_go_on():
                    return
                events = await page(after, PAGE)
                if events:
                    after, spoke = events[-1].position, time.monotonic()
                    yield "".join(map(_event, events))
                elif time.monotonic() - spoke >= self._pace.beat:
                    spoke = time.monotonic()
                    yield ": still here\n\n"
                if len(events) < PAGE:
                    await self._rest()
        except EzraError as error:
            yield f"event: problem\ndata: {json.dumps(problem_of(error))}\n\n"

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(self._pace.look):
                await self._stopping.wait()
        except TimeoutError:
            return


class _Followed(StreamingResponse):
    """A feed as an answer; its place is free again however it ends, even before it began."""

    def __init__(self, events: AsyncIterator[str], leave: Callable[[], None]) -> None:
        super().__init__(events, media_type="text/event-stream")
        self._leave = leave

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the feed ends or nobody listens."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            self._leave()


async def _feeds(request: Request) -> Feeds:
    feeds: Feeds = request.app.state.feeds
    return feeds


async def _still_counts(request: Request) -> bool:
    """Return whether the token of a request lets in still."""
    tokens: Credentials | None = request.app.state.tokens
    token_id: str | None = request.state.token_id
    if tokens is None:
        return True
    return await tokens.counts(token_id) if token_id is not None else not await tokens.needed()


@answers_apart(PATH, "audit.feed", _SUMMARY, {"text/event-stream": {}}, tag="audit")
async def feed(
    request: Request,
    pool: Pool,
    caller: Asking,
    feeds: Annotated[Feeds, Depends(_feeds)],
    _: Annotated[None, Depends(no_other_fields)],
    after: Annotated[int, Query(ge=0, le=10**_POSITION_DIGITS_MAX)] = 0,
    graph_id: Annotated[Word | None, Query()] = None,
    last_event_id: Annotated[str | None, Header()] = None,
) -> StreamingResponse:
    """Follow the audit feed."""
    graph = graph_id or caller.graph_id
    caller.check("read", "audit.feed", graph, None)
    start = after if last_event_id is None else _position(last_event_id)
    only = AuditFilter(graph_id=graph)

    async def page(position: int, limit: int) -> tuple[AuditEvent, ...]:
        return await pool.ezra.audit(position, limit, only=only)

    token_id: str | None = request.state.token_id
    feeds.take(token_id)
    events = feeds.follow(page, start, partial(_still_counts, request))
    return _Followed(events, lambda: feeds.leave(token_id))


def _event(event: AuditEvent) -> str:
    kind = "".join(char for char in event.kind if char.isalnum() or char in "_-")
    return f"id: {event.position}\nevent: {kind}\ndata: {event.model_dump_json()}\n\n"


def _position(header: str) -> int:
    if not header.isascii() or not header.isdigit() or len(header) > _POSITION_DIGITS_MAX:
        raise UsageError("Last-Event-ID", header, "the id of an event of this feed")
    return int(header)
