"""What platforms build on: statements remembered once, knowledge brought, contexts compared."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field, JsonValue, TypeAdapter

from tiers.records import Source

from ..context_report import REPORT_TURNS, ContextReport
from ..injecting import TOKEN_BUDGET, Injected
from ..remembering_facts import FactScope, RememberedFact
from .agents import AGENT
from .operation import Asked, Operation
from .points import Count
from .recalling import KINDS_MAX, KindNamed


class RememberFactAsked(Asked):
    """A statement, for whom, and what else is known of it."""

    content: str
    scope: FactScope = "user"
    metadata: dict[str, JsonValue] | None = None
    topics: tuple[str, ...] | None = None
    source: Source = "user"


class InjectAsked(Asked):
    """What is to be brought."""

    query: str | None = None
    token_budget: Count = TOKEN_BUDGET
    kinds: Annotated[tuple[KindNamed, ...], Field(max_length=KINDS_MAX)] | None = None


class ContextReportAsked(Asked):
    """How many turns."""

    limit: Count = REPORT_TURNS


REMEMBER_FACT = Operation(
    "agent.remember_fact",
    "POST",
    f"{AGENT}/facts",
    RememberFactAsked,
    TypeAdapter(RememberedFact),
    "act",
    "Remember a statement once for a person or an agent; answers its id and whether it was new.",
)
INJECT = Operation(
    "agent.inject",
    "POST",
    f"{AGENT}/inject",
    InjectAsked,
    TypeAdapter(Injected),
    "see",
    "What is known about a message: documents, memories and facts, fairly mixed.",
)
CONTEXT_REPORT = Operation(
    "agent.context_report",
    "GET",
    f"{AGENT}/context-report",
    ContextReportAsked,
    TypeAdapter(ContextReport),
    "see",
    "How an agent's last contexts followed one another, and what they began alike with.",
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (REMEMBER_FACT, INJECT, CONTEXT_REPORT)
