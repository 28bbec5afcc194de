"""What is asked of the database: carried out on a thread of its own, answered on the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(eq=False)
class Asked:
    """A question or a write: what is to be done on a connection, and who gets what it comes to."""

    operation: str
    function: Callable[[Any], Any]
    answer: asyncio.Future[Any]
    is_brief: bool = True
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


def told(asked: Sequence[Asked]) -> None:
    """Give every answer, on the event loop."""
    for one in asked:
        one.tell()
