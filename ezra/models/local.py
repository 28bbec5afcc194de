"""Language models that need no key: an echo for trying things out, a script for tests.

Both say what they are, in ``name`` and in what they answer, so that nobody takes them for a model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from tiers.errors import TierRejected, UsageError
from tiers.providers import first_problem

_M = TypeVar("_M", bound=BaseModel)


class EchoModel:
    """Answers with the last message, labelled. The default when no model is configured."""

    name = "echo (no language model configured)"

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the input behind the label."""
        return f"[{self.name}] {messages[-1]['content']}"

    async def generate(self, messages: Sequence[dict[str, str]], schema: type[_M]) -> _M:
        """Refuse: an echo fits no schema, and nothing is made up in its place.

        Raises:
            UsageError: Always.
        """
        del messages
        accepted = f"a configured language model, to answer with a {schema.__name__}"
        raise UsageError("model", self.name, accepted)


class ScriptedModel:
    """Answers with given texts, one after the other.

    Args:
        answers: The answers in order; asking for more is a ``UsageError``.
    """

    name = "scripted"

    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = tuple(answers)
        self._asked = 0

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the next answer; ``messages`` are not looked at."""
        del messages
        if self._asked >= len(self._answers):
            raise UsageError("answers", len(self._answers), "an answer for every question")
        self._asked += 1
        return self._answers[self._asked - 1]

    async def generate(self, messages: Sequence[dict[str, str]], schema: type[_M]) -> _M:
        """Return the next answer, read as JSON; there is no second attempt.

        Raises:
            TierRejected: It does not fit ``schema``.
        """
        answer = await self.complete(messages)
        try:
            return schema.model_validate_json(answer)
        except ValidationError as problem:
            reason = f"the scripted answer fits no {schema.__name__}: {first_problem(problem)}"
            raise TierRejected("model", "generate", reason) from problem
