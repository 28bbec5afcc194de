"""Language models that need no key: an echo for trying things out, a script for tests.

Both say what they are, in ``name`` and in what they answer, so that nobody takes them for a model.
"""

from __future__ import annotations

from collections.abc import Sequence

from tiers.errors import UsageError


class EchoModel:
    """Answers with the last message, labelled. The default when no model is configured."""

    name = "echo (no language model configured)"

    async def complete(self, messages: Sequence[dict[str, str]]) -> str:
        """Return the input behind the label."""
        return f"[{self.name}] {messages[-1]['content']}"


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
