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
from collections.abc import Callable, Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, TypeVar

from .errors import UsageError

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


async def answered(function: Callable[..., Any], *args: object) -> Any:  # noqa: ANN401 - likewise
    """Return what a function of somebody's answers: in a thread, where it is not async."""
    if inspect.iscoroutinefunction(function):
        return await function(*args)
    return await awaited(await asyncio.to_thread(function, *args))


def check_loop(opened_in: asyncio.AbstractEventLoop | None) -> None:
    """Refuse a call from another event loop than the one in which its answers come in.

    Raises:
        UsageError: It is another one: that of a second ``asyncio.run``, or of another thread.
    """
    if opened_in not in (None, asyncio.get_running_loop()):
        accepted = "the event loop in which it was opened; each asyncio.run has one of its own"
        raise UsageError("call", "another event loop", accepted)


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


class Lifetime:
    """How long something is open: until it is closed, in the event loop in which it was opened."""

    def __init__(self) -> None:
        self._end: Callable[[], Coroutine[Any, Any, object]] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._closing: asyncio.Task[object] | None = None

    def begin(self, end: Callable[[], Coroutine[Any, Any, object]]) -> None:
        """Say that it is open from now on, and what ends it."""
        self._end, self._loop = end, asyncio.get_running_loop()

    async def close(self) -> None:
        """End it, whoever is cancelled meanwhile. May be repeated; all wait for the one end.

        What its event loop has ended with itself is left alone.

        Raises:
            UsageError: Another event loop asks than the one in which it was opened.
        """
        if self._end is None or self._loop is None or self._loop.is_closed():
            return
        check_loop(self._loop)
        if self._closing is None:
            self._closing = asyncio.create_task(self._end())
        try:
            await asyncio.shield(self._closing)
        except asyncio.CancelledError:
            await asyncio.wait((self._closing,))
            raise


async def held(block: AbstractAsyncContextManager[T], lifetime_of: Callable[[T], Lifetime]) -> T:
    """Return what ``block`` opens. A task of its own is inside of the block until it is closed.

    So it is left where it was entered, and in order when ``asyncio.run`` ends what is left.
    """
    ready: asyncio.Future[tuple[T, asyncio.Event]] = asyncio.get_running_loop().create_future()

    async def hold() -> None:
        async with block as opened:
            over = asyncio.Event()
            ready.set_result((opened, over))
            await over.wait()

    holding = asyncio.create_task(hold())
    try:
        await asyncio.wait((holding, ready), return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        await _ended((holding,))
        raise
    if holding.done():
        await holding  # it failed, and says why
    opened, over = ready.result()

    async def end() -> None:
        over.set()
        await asyncio.wait((holding,))
        if not holding.cancelled():
            holding.result()  # what it failed with while it closed

    lifetime_of(opened).begin(end)
    return opened


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
