"""What waits to be read, and the snapshots from which it is answered.

Questions that are asked in one round of the event loop share a snapshot and a trip to a reader's
thread: what a turn asks side by side costs one trip. One that fails fails alone.
"""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .translation import translated

TOGETHER_MAX = 16
"""So many questions share a snapshot; more would keep the first waiting for the last."""


@dataclass(eq=False)
class Question:
    """One question: what is asked, and who gets its value or its refusal."""

    operation: str
    function: Callable[[sqlite3.Connection], Any]
    answer: asyncio.Future[Any]
    value: Any = None
    refusal: BaseException | None = None

    def tell(self) -> None:
        """Give the answer, on the event loop; who has left gets none."""
        if self.answer.done():
            return
        if self.refusal is None:
            self.answer.set_result(self.value)
        else:
            self.answer.set_exception(self.refusal)


def answered(connection: sqlite3.Connection, questions: Sequence[Question]) -> None:
    """Answer questions from one snapshot, on a reader's thread; whoever has left is passed over."""
    try:
        with translated(questions[0].operation):
            connection.execute("BEGIN")
    except BaseException as error:  # noqa: BLE001 - it goes to who asked, as from any thread
        for one in questions:
            one.refusal = error
        return
    try:
        for one in questions:
            if not one.answer.cancelled():
                _answer(connection, one)
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def told(questions: Sequence[Question]) -> None:
    """Give every answer, on the event loop."""
    for one in questions:
        one.tell()


def _answer(connection: sqlite3.Connection, question: Question) -> None:
    try:
        with translated(question.operation):
            question.value = question.function(connection)
    except BaseException as error:  # noqa: BLE001 - as above
        question.refusal = error
