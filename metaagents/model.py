"""The language model as the meta-agents use it: with a deadline, under budgets, never trusted.

A pass has one way to ask and one kind of refusal to expect. What comes back is text from a
stranger; who asked checks it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

from tiers.concurrency import answered
from tiers.errors import EzraError, NotFound, TierRejected, TierTimeout
from tiers.ports import LanguageModel
from tiers.records import Budget, Scope, Usage

if TYPE_CHECKING:
    from tiers.cold.stores import GraphStore, UsageStore

M = TypeVar("M", bound=BaseModel)
_T = TypeVar("_T")


@dataclass(eq=False)
class BudgetedModel:
    """Asks a language model on behalf of a graph or of one of its agents.

    Attributes:
        model: The model.
        usage: Where calls are counted.
        graphs: Where the budgets of a graph and its agents are.
        timeout_seconds: The most that one call may take.
    """

    model: LanguageModel
    usage: UsageStore
    graphs: GraphStore
    timeout_seconds: float

    @property
    def name(self) -> str:
        """Which model it is."""
        return self.model.name

    async def write(self, scope: Scope, messages: Sequence[dict[str, str]]) -> str:
        """Return the model's answer as text; it may be anything.

        Raises:
            EzraError: There is none: no budget left, too late, refused, or broken.
        """
        asked = partial(answered, self.model.complete, messages)
        return await self._within(scope, "complete", asked)

    async def fill(self, scope: Scope, messages: Sequence[dict[str, str]], schema: type[M]) -> M:
        """Return an answer that fits ``schema``; what it says may be anything.

        Raises:
            EzraError: There is none: no budget left, too late, refused, or broken.
        """
        return await self._within(scope, "generate", lambda: filled(self.model, messages, schema))

    async def _within(self, scope: Scope, operation: str, call: Callable[[], Awaitable[_T]]) -> _T:
        await self._charge(scope)
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await _called(self.model, operation, call)
        except TimeoutError as late:
            reason = f"no answer within {self.timeout_seconds:g} s"
            raise TierTimeout("model", operation, reason) from late

    async def _charge(self, scope: Scope) -> None:
        standing = await self.graphs.standing(scope)
        if standing is None:
            raise NotFound("session graph", scope.graph_id)
        of_agent = Budget() if standing.agent is None else standing.agent.budget
        await self.usage.charge(scope, Usage(model_calls=1), of_agent, standing.graph.budget)


async def filled(model: LanguageModel, messages: Sequence[dict[str, str]], schema: type[M]) -> M:
    """Return a model's answer that fits ``schema``; what it says may be anything.

    Raises:
        EzraError: There is none: refused, or broken.
        TimeoutError: As whoever waits, or the model, says so.
    """
    answer = await _called(model, "generate", lambda: answered(model.generate, messages, schema))
    try:
        # Checked again: an instance may have been made without looking at what is in it.
        return schema.model_validate(answer.model_dump(warnings=False))
    except (AttributeError, TypeError, ValueError) as problem:
        reason = f"{model.name} answered with what fits no {schema.__name__}"
        raise TierRejected("model", "generate", reason) from problem


async def _called(model: LanguageModel, operation: str, call: Callable[[], Awaitable[_T]]) -> _T:
    try:
        return await call()
    except (EzraError, TimeoutError):
        raise
    except Exception as error:  # a model is somebody else's code, and who asks must survive it
        reason = f"{model.name} failed: {type(error).__name__}"
        raise TierRejected("model", operation, reason) from error
