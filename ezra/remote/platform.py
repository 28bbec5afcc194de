"""What platforms build on, for the handle of an agent on a server."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from pydantic import JsonValue

from tiers.records import Kind, Source

from ..context_report import REPORT_TURNS, ContextReport
from ..injecting import TOKEN_BUDGET, Injected
from ..remembering_facts import FactScope, RememberedFact
from ..wire import Asked, Operation
from ..wire.platform import (
    CONTEXT_REPORT,
    INJECT,
    REMEMBER_FACT,
    ContextReportAsked,
    InjectAsked,
    RememberFactAsked,
)
from .listing import listed

_A = TypeVar("_A", bound=Asked)
_R = TypeVar("_R")


class RemotePlatform(ABC):
    """The part of an agent's handle that platforms build on; as ``ezra.agent_platform``."""

    async def remember_fact(
        self,
        content: str,
        scope: FactScope = "user",
        metadata: Mapping[str, JsonValue] | None = None,
        *,
        topics: Iterable[str] | None = None,
        source: Source = "user",
    ) -> RememberedFact:
        """Remember a statement for the agent's person, or for the agent itself, once."""
        told = {"content": content, "scope": scope, "metadata": metadata, "source": source}
        asked = RememberFactAsked.model_validate({**told, "topics": listed("topics", topics)})
        return await self.ask(REMEMBER_FACT, asked)

    async def inject(
        self,
        query: str | None = None,
        *,
        token_budget: int = TOKEN_BUDGET,
        kinds: Sequence[Kind] | None = None,
    ) -> Injected:
        """Return what is known about a message: documents, memories and facts, fairly mixed."""
        told = {"query": query, "token_budget": token_budget, "kinds": listed("kinds", kinds)}
        return await self.ask(INJECT, InjectAsked.model_validate(told))

    async def context_report(self, limit: int = REPORT_TURNS) -> ContextReport:
        """Return how the agent's last contexts followed one another."""
        return await self.ask(CONTEXT_REPORT, ContextReportAsked(limit=limit))

    @abstractmethod
    async def ask(self, operation: Operation[_A, _R], asked: _A, **names: str) -> _R:
        """Ask the server for something that this agent does."""
