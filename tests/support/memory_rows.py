"""Everything that a cold tier holds of a tenant, as rows of its archive: what oracles count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from tiers.cold.stores import ColdStores
from tiers.records import (
    AgentRecord,
    AuditEvent,
    Episode,
    Fact,
    LoggedBelief,
    Receipt,
    Record,
    Rule,
    Summary,
    Turn,
)
from tiers.upkeep import FactUse, QueuedWork, RuleOutcome, Table, Watermark

from .cold_estate import read_out

R = TypeVar("R", bound=Record)
PAGE = 1_000


@dataclass(frozen=True)
class MemoryRows:
    """Every row of a tenant, by table."""

    agents: Sequence[AgentRecord]
    turns: Sequence[Turn]
    summaries: Sequence[Summary]
    episodes: Sequence[Episode]
    facts: Sequence[Fact]
    uses: Sequence[FactUse]
    rules: Sequence[Rule]
    outcomes: Sequence[RuleOutcome]
    watermarks: Sequence[Watermark]
    events: Sequence[LoggedBelief]
    receipts: Sequence[Receipt]
    audit: Sequence[AuditEvent]
    work: Sequence[QueuedWork]


async def memory_rows(cold: ColdStores) -> MemoryRows:
    """Read all rows of the default tenant."""

    async def rows(table: Table, kind: type[R]) -> list[R]:
        found = await read_out(cold.archive, "default", table, PAGE)
        return [row for row in found if isinstance(row, kind)]

    return MemoryRows(
        agents=await rows("agents", AgentRecord),
        turns=await rows("turns", Turn),
        summaries=await rows("summaries", Summary),
        episodes=await rows("episodes", Episode),
        facts=await rows("facts", Fact),
        uses=await rows("fact_uses", FactUse),
        rules=await rows("rules", Rule),
        outcomes=await rows("rule_outcomes", RuleOutcome),
        watermarks=await rows("watermarks", Watermark),
        events=await rows("belief_events", LoggedBelief),
        receipts=await rows("receipts", Receipt),
        audit=await rows("audit", AuditEvent),
        work=await rows("work", QueuedWork),
    )
