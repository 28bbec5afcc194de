"""The catalog of the tenant, as operations."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field, TypeAdapter

from tiers.fields import TOPICS_MAX
from tiers.records import AuditEvent, Fact, Rule

from ..redaction import RedactionReport
from .audit import AuditAsked
from .operation import Asked, Nothing, Operation
from .points import Count
from .recalling import RECALL, FactsAsked, RecallAsked
from .upkeep import RedactAsked


class RememberAsked(Asked):
    """As ``Catalog.remember``: text, the fields of a fact, or those of a rule."""

    what: str | Fact | Rule
    topics: tuple[str, ...] | None = Field(default=None, max_length=TOPICS_MAX)
    supersedes: str | None = None


class CatalogRecallAsked(RecallAsked):
    """As ``Catalog.recall``; there is one scope class, the catalog."""

    scope: Literal["any"] = "any"


class RulesAsked(Asked):
    """As ``Catalog.rules``."""

    text: str
    limit: Count = 10


REMEMBER = Operation(
    "catalog.remember",
    "POST",
    "/v1/catalog/memories",
    RememberAsked,
    TypeAdapter(str),
    "operate",
    "Put a fact or a rule into the catalog, which every agent reads; answers its id.",
)
CATALOG_RECALL = Operation(
    "catalog.recall",
    "POST",
    "/v1/catalog/recall",
    CatalogRecallAsked,
    RECALL,
    "read",
    "What the catalog knows about a question, best first.",
)
FACTS = Operation(
    "catalog.facts",
    "POST",
    "/v1/catalog/facts/lookup",
    FactsAsked,
    TypeAdapter(tuple[Fact, ...]),
    "read",
    "Facts of the catalog by id, in the order asked.",
)
CORE = Operation(
    "catalog.core",
    "GET",
    "/v1/catalog/core",
    Nothing,
    TypeAdapter(tuple[Fact, ...]),
    "read",
    "The catalog's core facts, oldest first.",
)
RULES = Operation(
    "catalog.rules",
    "POST",
    "/v1/catalog/rules/lookup",
    RulesAsked,
    TypeAdapter(tuple[Rule, ...]),
    "read",
    "The catalog's rules whose trigger shares words with a text, best match first.",
)
REDACT = Operation(
    "catalog.redact",
    "POST",
    "/v1/catalog/redactions",
    RedactAsked,
    TypeAdapter(RedactionReport),
    "operate",
    "Destroy the content of catalog records for good.",
    repeats=False,
)
AUDIT = Operation(
    "catalog.audit",
    "GET",
    "/v1/catalog/audit",
    AuditAsked,
    TypeAdapter(tuple[AuditEvent, ...]),
    "read",
    "The catalog's audit feed after a seq, in order.",
)

OPERATIONS: tuple[Operation[Any, Any], ...] = (
    REMEMBER,
    CATALOG_RECALL,
    FACTS,
    CORE,
    RULES,
    REDACT,
    AUDIT,
)
