"""Does what is asked of the tenant's catalog."""

from __future__ import annotations

from collections.abc import Mapping

from tiers.records import AuditEvent, Fact, Rule

from ..recall import RecallResult
from ..redaction import RedactionReport
from ..wire import Nothing
from ..wire import catalog as wire
from ..wire.audit import AuditAsked
from ..wire.recalling import FactsAsked
from ..wire.upkeep import RedactAsked
from .caller import Caller
from .desk import Desk
from .handlers import handlers

Names = Mapping[str, str]


@handlers.does(wire.REMEMBER)
async def remember(desk: Desk, caller: Caller, _: Names, asked: wire.RememberAsked) -> str:
    """Put a fact or a rule into the catalog."""
    return await (await desk.catalog(caller)).remember(**asked.said)


@handlers.does(wire.CATALOG_RECALL)
async def recall(
    desk: Desk, caller: Caller, _: Names, asked: wire.CatalogRecallAsked
) -> RecallResult:
    """Return what the catalog knows about a question."""
    said = asked.said
    said.pop("scope", None)  # there is one
    return await (await desk.catalog(caller)).recall(**said)


@handlers.does(wire.FACTS)
async def facts(desk: Desk, caller: Caller, _: Names, asked: FactsAsked) -> tuple[Fact, ...]:
    """Return facts by id."""
    return await (await desk.catalog(caller)).facts(asked.ids)


@handlers.does(wire.CORE)
async def core(desk: Desk, caller: Caller, _: Names, __: Nothing) -> tuple[Fact, ...]:
    """Return the core facts."""
    return await (await desk.catalog(caller)).core()


@handlers.does(wire.RULES)
async def rules(desk: Desk, caller: Caller, _: Names, asked: wire.RulesAsked) -> tuple[Rule, ...]:
    """Return the rules that match a text."""
    return await (await desk.catalog(caller)).rules(**asked.said)


@handlers.does(wire.REDACT)
async def redact(desk: Desk, caller: Caller, _: Names, asked: RedactAsked) -> RedactionReport:
    """Destroy the content of catalog records."""
    return await (await desk.catalog(caller)).redact(**asked.said)


@handlers.does(wire.AUDIT)
async def audit(desk: Desk, caller: Caller, _: Names, asked: AuditAsked) -> tuple[AuditEvent, ...]:
    """Return a page of the catalog's audit feed."""
    return await (await desk.catalog(caller)).audit(asked.after, asked.limit, only=asked.only)
