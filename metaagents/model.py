"""The language model as the meta-agents use it: with a deadline, under budgets, never trusted.

A pass has one way to ask and one kind of refusal to expect. What comes back is text from a
stranger; who asked checks it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from pydantic import BaseModel

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
        return await self._call(scope, "complete", self.model.complete(messages))

    async def fill(self, scope: Scope, messages: Sequence[dict[str, str]], schema: type[M]) -> M:
        """Return an answer that fits ``schema``; what it says may be anything.

        Raises:
            EzraError: There is none: no budget left, too late, refused, or broken.
        """
        answer = await self._call(scope, "generate", self.model.generate(messages, schema))
        try:
            # Checked again: an instance may have been made without looking at what is in it.
            return schema.model_validate(answer.model_dump(warnings=False))
        except (AttributeError, TypeError, ValueError) as problem:
            reason = f"{self.name} answered with what fits no {schema.__name__}"
            raise TierRejected("model", "generate", reason) from problem

    async def _call(self, scope: Scope, operation: str, call: Awaitable[_T]) -> _T:
        try:
            await self._charge(scope)
        except BaseException:
            _discard(call)
            raise
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await call
        except TimeoutError as late:
            reason = f"no answer within {self.timeout_seconds:g} s"
            raise TierTimeout("model", operation, reason) from late
        except EzraError:
            raise
        except Exception as error:  # a model is somebody else's code, and a pass must survive it
            reason = f"{self.name} failed: {type(error).__name__}"
            raise TierRejected("model", operation, reason) from error

    async def _charge(self, scope: Scope) -> None:
        standing = await self.graphs.standing(scope)
        if standing is None:
            raise NotFound("session graph", scope.graph_id)
        of_agent = Budget() if standing.agent is None else standing.agent.budget
        await self.usage.charge(scope, Usage(model_calls=1), of_agent, standing.graph.budget)


def _discard(call: Awaitable[object]) -> None:
    """Close a call that will not be made, so that nothing warns of it."""
    if asyncio.iscoroutine(call):
        call.close()
