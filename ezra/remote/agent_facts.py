"""What the handle of an agent on a server does with facts and rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TypeVar

from tiers.records import Fact, FactTier, Rule, Source
from tiers.upkeep import Page

from ..latest import LATEST_MAX
from ..wire import Asked, Operation, agents
from ..wire.recalling import FactsAsked, LatestFactsAsked
from .listing import listed

_A = TypeVar("_A", bound=Asked)
_R = TypeVar("_R")


class RemoteAgentFacts(ABC):
    """The part of an agent's handle that keeps facts and rules, as ``ezra.agent.Agent`` has it."""

    @abstractmethod
    async def ask(self, operation: Operation[_A, _R], asked: _A, **names: str) -> _R:
        """Ask the server for something that this agent does."""

    async def remember(
        self,
        what: str | Fact | Rule,
        *,
        topics: Iterable[str] | None = None,
        private: bool = False,
        shared: bool = False,
        supersedes: str | None = None,
        id: str | None = None,  # noqa: A002 - it is the id of what is stored
        source: Source = "user",
    ) -> str:
        """Remember a fact or a rule and return its id; the same statement is stored once."""
        asked = agents.RememberAsked(
            what=what,
            topics=listed("topics", topics),
            private=private,
            shared=shared,
            supersedes=supersedes,
            id=id,
            source=source,
        )
        return await self.ask(agents.REMEMBER, asked)

    async def forget(self, fact_id: str, *, reason: str, superseded_by: str | None = None) -> bool:
        """Forget a fact on request; ``False`` when it is forgotten or superseded already."""
        asked = agents.ForgetAsked(reason=reason, superseded_by=superseded_by)
        return await self.ask(agents.FORGET, asked, fact_id=fact_id)

    async def forget_facts(self, ids: Sequence[str], *, reason: str) -> tuple[str, ...]:
        """Forget several facts in one step; return those that lived until now."""
        asked = agents.ForgetFactsAsked(ids=listed("ids", ids) or (), reason=reason)
        return await self.ask(agents.FORGET_FACTS, asked)

    async def facts(self, ids: Sequence[str]) -> tuple[Fact, ...]:
        """Return the facts among ``ids`` that the agent sees, in the order asked."""
        return await self.ask(agents.AGENT_FACTS, FactsAsked(ids=listed("ids", ids) or ()))

    async def latest_facts(
        self,
        *,
        tier: FactTier | None = None,
        topics: Iterable[str] | None = None,
        all_topics: Iterable[str] | None = None,
        after: str = "",
        limit: int = LATEST_MAX,
    ) -> Page[Fact]:
        """Return the live facts that the agent sees, the latest first; as ``Agent.latest_facts``.

        Raises:
            UsageError: An argument is not acceptable.
        """
        asked = LatestFactsAsked(
            tier=tier,
            topics=listed("topics", topics),
            all_topics=listed("all_topics", all_topics),
            after=after,
            limit=limit,
        )
        return await self.ask(agents.AGENT_LATEST_FACTS, asked)
