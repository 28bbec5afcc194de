"""What a platform function of an agent does: remember a statement once, bring what is known."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated

from pydantic import Field, JsonValue

from tiers.records import AgentRecord, Scope, Source, Standing, Turn

from ..checks import check_source, checked
from ..operations import operation
from ..recall.injection import TOKEN_BUDGET, Injected, inject, last_message
from ..recall.request import Kinds, TokenBudget
from ..receipts.context_report import (
    REPORT_TURNS,
    REPORT_TURNS_MAX,
    ContextReport,
    context_report,
)
from ..rights.metering import charge_of_write
from ..runtime import Runtime
from .remembering_facts import FactScope, RememberedFact, fact_of, owner_of, remember_fact


class AgentPlatform(ABC):
    """The part of an agent's handle that platforms build on."""

    _runtime: Runtime
    _record: AgentRecord
    _standing: Standing

    @operation("POST", "/facts", changes=True)
    async def remember_fact(
        self,
        content: str,
        scope: FactScope = "user",
        metadata: Mapping[str, JsonValue] | None = None,
        *,
        topics: Iterable[str] | None = None,
        source: Source = "user",
    ) -> RememberedFact:
        """Remember a statement for the person the agent works for, or for the agent itself.

        The id is derived from graph, owner, topics and words: whichever process or agent of the
        same person is told the same comes to the same fact. What has been superseded or forgotten
        since stays so, and saying it again is a new fact.

        Args:
            content: One statement, complete in itself.
            scope: ``user``: agents of the same person see it, in this graph. ``agent``: only this
                agent, in all of its conversations in this graph.
            metadata: What else is known of it: ``confidence``, ``fact_type``, ``valid_from``,
                ``valid_to``, ``source_ids``, ``subject``, ``predicate``, ``object``. A fact has
                no place for anything else. They are kept by who stores it first.
            topics: Its topics; the agent's own if not given.
            source: Whose words it is; see ``remember``.

        Raises:
            UsageError: ``user`` without a person, an argument that is not acceptable, or the
                agent has left.
            PolicyDenied: A topic is not the agent's.
            BudgetExceeded: The agent or the graph has no write left.
            Conflict: The graph is archived.
            WriteRefused: The write guard has put it aside or blocks it.
        """
        fact = fact_of(content, metadata)
        check_source(source)
        given = None if topics is None else checked(Turn, topics=topics).topics
        asker, allowed = await self._writing(given, "remember")
        owner_of(asker, scope)
        charge = charge_of_write(self._standing)
        return await remember_fact(self._runtime, asker, fact, allowed, scope, source, charge)

    @operation("POST", "/inject")
    async def inject(
        self,
        query: str | None = None,
        *,
        token_budget: TokenBudget = TOKEN_BUDGET,
        kinds: Kinds | None = None,
    ) -> Injected:
        """Return what is known about a message: documents, memories and facts, fairly mixed.

        Each class of source ranks its own and the rankings are fused by place, so that none crowds
        out another. What says the same comes once; a reranker has its say where one is configured.

        Args:
            query: What it is to be about; what was said to the agent last if not given, or else
                its role.
            token_budget: The most tokens of the text, headings included.
            kinds: Of ``fact``, ``document``, ``turn``, ``summary``, ``episode``; all if not given.

        Raises:
            UsageError: An argument is not acceptable, or the agent has left.
        """
        scope = await self._reading()
        asked = query
        if asked is None:
            asked = await last_message(self._runtime, scope, self._record.role)
        return await inject(self._runtime, scope, asked, token_budget=token_budget, kinds=kinds)

    @operation("GET", "/context-report")
    async def context_report(
        self, limit: Annotated[int, Field(ge=1, le=REPORT_TURNS_MAX)] = REPORT_TURNS
    ) -> ContextReport:
        """Return how the agent's last contexts followed one another, rebuilt from their receipts.

        What each began with as the one before did, how full the model was, and which epochs there
        were. What the agent may not see any more cannot be rebuilt, and the report says so.

        Args:
            limit: The most turns, 1 to 50.

        Raises:
            UsageError: The limit is out of range, or the agent has left.
        """
        scope = await self._scope()
        return await context_report(self._runtime, scope, self._record.id, limit)

    @abstractmethod
    async def _scope(self) -> Scope:
        """Return the agent's scope as it stands now."""

    @abstractmethod
    async def _reading(self) -> Scope:
        """Return the scope as it stands, or as it last was while cold is away."""

    @abstractmethod
    async def _writing(
        self, asked: Sequence[str] | None, action: str
    ) -> tuple[Scope, tuple[str, ...]]:
        """Return the scope as it stands, and the topics that a new record carries."""
