"""Asking several things at the same time, inside the task of whoever wants the answers.

``asyncio.TaskGroup`` is not used for it: when one of its tasks fails, it ends its own block by
cancelling the task around it, and on Python 3.11 that task keeps a cancellation to its count
(https://github.com/python/cpython/issues/116720). Deadlines of whoever asked then end as
cancellations that nobody requested. It also wraps a single error in a group, which callers that
wait for an ``EzraError`` do not catch. Here nobody but the questions is ever cancelled.
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import Coroutine, Iterable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
Other = TypeVar("Other")


async def together(
    questions: Iterable[Coroutine[Any, Any, T]], *, ends_all: bool = False
) -> list[T]:
    """Return all answers, in order; the bare error of the first that failed, if one did.

    When this returns, raises or is cancelled, every question has ended.

    Args:
        questions: What is asked, begun in this order.
        ends_all: One that fails lets the others come to their end; otherwise they are cancelled.
            Where whoever asks is cancelled, all are.
    """
    asked = [asyncio.create_task(question) for question in questions]
    if not asked:
        return []
    until = asyncio.ALL_COMPLETED if ends_all else asyncio.FIRST_EXCEPTION
    try:
        await asyncio.wait(asked, return_when=until)
        failed = _failed(asked)
    finally:
        await _ended(asked)
    if failed:
        raise failed[0]
    return [task.result() for task in asked]


async def both(
    first: Coroutine[Any, Any, T], second: Coroutine[Any, Any, Other]
) -> tuple[T, Other]:
    """Return two answers that differ in type, as ``together`` does."""
    questions: tuple[Coroutine[Any, Any, Any], ...] = (first, second)
    one, other = await together(questions)
    return one, other


async def awaited(answer: object) -> Any:  # noqa: ANN401 - whatever was called answers
    """Return an answer that some give at once and others when awaited."""
    return await answer if inspect.isawaitable(answer) else answer


async def to_the_end(work: Coroutine[Any, Any, T]) -> T:
    """Return what ``work`` returns. A cancellation goes on when it has finished."""
    task = asyncio.create_task(work)
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await task
        raise


def _failed(asked: Sequence[asyncio.Task[T]]) -> list[BaseException]:
    """Return the errors of those that have failed so far; one that is under way has none."""
    over = (task for task in asked if task.done() and not task.cancelled())
    return [error for error in (task.exception() for task in over) if error is not None]


async def _ended(asked: Sequence[asyncio.Task[T]]) -> None:
    """Cancel what is under way and wait for it; whoever is cancelled meanwhile is so afterwards."""
    left = {task for task in asked if not task.done()}
    for task in left:
        task.cancel()
    cancelled: asyncio.CancelledError | None = None
    while left:
        try:
            _, left = await asyncio.wait(left)
        except asyncio.CancelledError as error:
            cancelled = error
            left = {task for task in left if not task.done()}
    _failed(asked)  # what they failed with while they ended is nobody's: it was asked for
    if cancelled is not None:
        raise cancelled
