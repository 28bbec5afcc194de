"""A language model that answers passes of the meta-agents as a test has written it."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from typing import Any, TypeVar

from pydantic import BaseModel

M = TypeVar("M", bound=BaseModel)


class PassModel:
    """Gives one scripted answer after the other; out of answers, it says that there is nothing.

    Args:
        answers: What each question is answered with: fields of the schema, or an error to raise.

    Attributes:
        asked: The messages of every question, in order.
    """

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self._answers = deque(answers)
        self.asked: list[Sequence[dict[str, str]]] = []

    @property
    def name(self) -> str:
        """Says what it is."""
        return "scripted"

    def then(self, *answers: dict[str, Any] | Exception) -> None:
        """Add answers."""
        self._answers.extend(answers)

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the next answer as JSON."""
        return json.dumps(self._next(messages))

    async def generate(self, messages: Sequence[dict[str, str]], schema: type[M]) -> M:
        """Return the next answer in the form asked for."""
        return schema.model_validate(self._next(messages))

    def _next(self, messages: Sequence[dict[str, str]]) -> dict[str, Any]:
        self.asked.append(messages)
        answer = self._answers.popleft() if self._answers else {}
        if isinstance(answer, Exception):
            raise answer
        return answer
