"""How parts of a step follow each other: side by side where they may, off the loop when long."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from typing import Any, TypeVar

from .database import Session
from .together import together

AT_ONCE_MAX = 100
"""So many things are worked out where they stand; more take longer than the loop may wait."""

T = TypeVar("T")


async def worked_out(size: int, work: Callable[[], T]) -> T:
    """Return what takes the longer the more there is; the event loop is not held up by it."""
    return work() if size <= AT_ONCE_MAX else await asyncio.to_thread(work)


async def each(session: Session, questions: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return all answers, in order; inside a transaction commands go one after the other."""
    if session.is_atomic:
        return [await question for question in questions]
    return await together(questions)


async def side_by_side(session: Session, *parts: Callable[[], Awaitable[Any]]) -> list[Any]:
    """Do several things, of which none is begun before its turn, and return their answers."""

    async def answer(part: Callable[[], Awaitable[Any]]) -> Any:  # noqa: ANN401 - whatever it says
        return await part()

    return await each(session, (answer(part) for part in parts))
