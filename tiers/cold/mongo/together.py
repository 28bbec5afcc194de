"""Asking several things at the same time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from ...errors import EzraError

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")


async def together(questions: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Return all answers, in order; the error of the first that failed, once all have ended.

    The others are not stopped: each has its limit in time, and a driver that is interrupted while
    it opens a connection leaves it open. Not for the inside of a transaction, whose commands go
    one after the other.
    """
    async with asyncio.TaskGroup() as group:
        asked = [group.create_task(_ended(question)) for question in questions]
    answers: list[T] = []
    for task in asked:
        answer, problem = task.result()
        if problem is not None:
            raise problem
        answers += answer
    return answers


async def both(first: Coroutine[Any, Any, A], second: Coroutine[Any, Any, B]) -> tuple[A, B]:
    """Return two answers of different kinds, as ``together`` does."""
    answers: list[Any] = await together([first, second])
    return answers[0], answers[1]


async def _ended(question: Coroutine[Any, Any, T]) -> tuple[list[T], EzraError | None]:
    try:
        return [await question], None
    except EzraError as error:
        return [], error
