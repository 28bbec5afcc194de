"""A lifecycle agent over a real cold store, with the warm tier as a dictionary.

Turns are stored at a moment that a test names; nothing is indexed by itself.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any
from zoneinfo import ZoneInfo

from metaagents.lifecycle.agent import LifecycleAgent
from metaagents.lifecycle.conservation import ConservationReport, report
from metaagents.lifecycle.retired_traces import RetiredTraces
from metaagents.lifecycle.retirement import RetentionPolicy, RetentionReport, Retirement
from metaagents.lifecycle.rules import LifecyclePolicy
from metaagents.lifecycle.writing import Writer
from metaagents.model import BudgetedModel
from tiers.cold.sqlite import sqlite_cold_store
from tiers.cold.stores import ColdStores
from tiers.hot import EmbeddedHotStore
from tiers.ids import IdFactory
from tiers.plans import AnyGrain
from tiers.ports import LanguageModel
from tiers.records import AgentRecord, Episode, Retention, Scope, SessionGraph, Turn

from .warm_reference import ReferenceWarmStore

BERLIN = ZoneInfo("Europe/Berlin")
BEFORE_ALL = datetime(2020, 1, 1, tzinfo=UTC)
WHOLE = Scope.of_graph("acme", "imola")


@dataclass
class House:
    """One graph, its stores and its lifecycle agent."""

    cold: ColdStores
    warm: ReferenceWarmStore
    policy: LifecyclePolicy
    lifecycle: LifecycleAgent
    hot: EmbeddedHotStore = field(default_factory=EmbeddedHotStore)
    ids: IdFactory = field(default_factory=lambda: IdFactory(lambda: BEFORE_ALL, Random(20260301)))

    async def say(self, agent: str, at: datetime, text: str, **more: Any) -> Turn:
        """Store a turn that occurred at a moment, and was recorded then unless told otherwise."""
        values: dict[str, Any] = {"recorded_at": at, "occurred_at": at, "topics": ("t",), **more}
        turn = Turn(
            id=self.ids.new(), tenant="acme", graph_id="imola", agent_id=agent, input=text, **values
        )
        stored, _ = await self.cold.turns.append_turn(WHOLE.for_agent(agent), turn)
        return stored

    async def episodes(self) -> list[Episode]:
        """Return every episode, of every agent, oldest first, finest first."""
        agents = await self.cold.fleet.agents(WHOLE)
        found: dict[str, Episode] = {}
        for agent in agents:
            for one in await self.cold.episodic.episodes(WHOLE.for_agent(agent.id)):
                found[one.id] = one
        return sorted(found.values(), key=lambda one: (one.starts_at, one.id))

    async def periods(self, grain: str, agent: str | None = None) -> list[str]:
        """Return the periods of which there are episodes, of one agent or of all."""
        return [
            one.period
            for one in await self.episodes()
            if one.grain == grain and agent in (None, one.agent_id)
        ]

    async def conserved(self) -> ConservationReport:
        """Return the account of the graph, which must be whole."""
        found = await report(self.cold.grains, WHOLE)
        assert found.ok, found.problems
        return found

    async def retain(
        self, now: datetime, policy: RetentionPolicy | None = None, **how: bool
    ) -> RetentionReport:
        """Let retention look at the graph."""
        retirement = Retirement(
            graphs=self.cold.graphs,
            grains=self.cold.grains,
            review=self.cold.review,
            episodic=self.cold.episodic,
            policy=policy or RetentionPolicy(),
            hot=self.hot,
            fleet=self.cold.fleet,
            traces=RetiredTraces(
                redactor=self.cold.redactor, warm=self.warm, taint=self.cold.taint
            ),
        )
        return await retirement.run(WHOLE, now, **how)


@asynccontextmanager
async def house(
    folder: Path,
    *,
    agents: Sequence[str] = ("ada", "bob"),
    model: LanguageModel | None = None,
    prompts: Mapping[AnyGrain, str] | None = None,
    retention: Retention | None = None,
    model_seconds: float = 5.0,
    **policy: Any,
) -> AsyncIterator[House]:
    """Open a house with agents in its graph, in Berlin unless told otherwise."""
    chosen = LifecyclePolicy(**{"zone": BERLIN, **policy})
    async with sqlite_cold_store(folder) as cold:
        graph = SessionGraph(
            tenant="acme", id="imola", created_at=BEFORE_ALL, retention=retention or Retention()
        )
        if await cold.graphs.graph("acme", "imola") is None:
            await cold.graphs.create_graph(graph)
        for name in agents:
            await cold.fleet.spawn(
                AgentRecord(tenant="acme", graph_id="imola", id=name, spawned_at=BEFORE_ALL)
            )
        asked = None
        if model is not None:
            asked = BudgetedModel(model, cold.usage, cold.graphs, model_seconds)
        warm = ReferenceWarmStore(2)
        yield House(cold, warm, chosen, lifecycle_of(cold, warm, chosen, asked, prompts))


def lifecycle_of(
    cold: ColdStores,
    warm: ReferenceWarmStore,
    policy: LifecyclePolicy,
    model: BudgetedModel | None = None,
    prompts: Mapping[AnyGrain, str] | None = None,
) -> LifecycleAgent:
    """Return a lifecycle agent over stores."""
    writer = Writer(model=model, fleet=cold.fleet, prompts=prompts or {}, policy=policy)
    return LifecycleAgent(
        graphs=cold.graphs,
        turns=cold.turns,
        episodic=cold.episodic,
        grains=cold.grains,
        warm=warm,
        writer=writer,
        policy=policy,
        redactor=cold.redactor,
        fleet=cold.fleet,
        log=cold.log,
    )
