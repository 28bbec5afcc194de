"""The audit feed as it grows: server-sent events, by position, without an end of their own."""

# Annotations are not postponed here: FastAPI could not resolve the dependencies closed over.
import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.responses import StreamingResponse

from tiers.errors import BudgetExceeded, EzraError, UsageError
from tiers.records import AuditEvent, AuditFilter

from ..wire.problems import problem_of
from .caller import Caller
from .desk import Desk

PATH = "/v1/audit/feed"
FEEDS_MAX = 100
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
        self._open = 0

    def check(self) -> None:
        """Refuse one feed too many.

        Raises:
            BudgetExceeded: There are as many as may be.
        """
        if self._open >= FEEDS_MAX:
            raise BudgetExceeded("this server", "open_feeds", self._open, 1, FEEDS_MAX)

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
        self._open += 1
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
        finally:
            self._open -= 1

    async def _rest(self) -> None:
        try:
            async with asyncio.timeout(self._pace.look):
                await self._stopping.wait()
        except TimeoutError:
            return


def add_feed(
    router: APIRouter,
    desk: Callable[..., Any],
    caller: Callable[..., Any],
    feeds: Feeds,
    still: Callable[[Request], Awaitable[bool]],
) -> None:
    """Add the route of the feed.

    Args:
        router: Where to.
        desk: Dependency that gives the desk.
        caller: Dependency that gives the caller.
        feeds: Those of the service.
        still: Whether the token of a request still counts.
    """

    async def feed(
        request: Request,
        desk_: Annotated[Desk, Depends(desk)],
        caller_: Annotated[Caller, Depends(caller)],
        after: Annotated[int, Query(ge=0, le=10**_POSITION_DIGITS_MAX)] = 0,
        graph_id: Annotated[str | None, Query(max_length=256)] = None,
        last_event_id: Annotated[str | None, Header()] = None,
    ) -> StreamingResponse:
        graph = graph_id or caller_.graph_id
        caller_.check("read", "audit.feed", graph, None)
        start = after if last_event_id is None else _position(last_event_id)
        only = AuditFilter(graph_id=graph)
        feeds.check()

        async def page(position: int, limit: int) -> tuple[AuditEvent, ...]:
            return await desk_.ezra.audit(position, limit, only=only)

        async def may_go_on() -> bool:
            return await still(request)

        events = feeds.follow(page, start, may_go_on)
        return StreamingResponse(events, media_type="text/event-stream")

    router.add_api_route(
        PATH,
        feed,
        methods=["GET"],
        operation_id="audit.feed",
        summary=_SUMMARY,
        tags=["audit"],
        response_model=None,
        responses={200: {"description": _SUMMARY, "content": {"text/event-stream": {}}}},
    )


def _event(event: AuditEvent) -> str:
    kind = "".join(char for char in event.kind if char.isalnum() or char in "_-")
    return f"id: {event.position}\nevent: {kind}\ndata: {event.model_dump_json()}\n\n"


def _position(header: str) -> int:
    if not header.isascii() or not header.isdigit() or len(header) > _POSITION_DIGITS_MAX:
        raise UsageError("Last-Event-ID", header, "the id of an event of this feed")
    return int(header)
