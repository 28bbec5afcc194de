"""What a runtime is made of, as ports: handles hold this and never a concrete store."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime

from metaagents.clock import MetaAgentClock
from metaagents.lifecycle.agent import LifecycleAgent, LifecycleReport
from metaagents.reindex.agent import Reembedder
from metaagents.reindex.archival import ArchivalKeeper
from metaagents.work import Worker
from tiers.errors import TierError
from tiers.ids import IdFactory
from tiers.ports import (
    BeliefStore,
    Embedder,
    EpisodicStore,
    GraphStore,
    HotStore,
    LanguageModel,
    LexicalIndex,
    ProceduralStore,
    RecordLog,
    SemanticStore,
    TurnStore,
    WarmStore,
    WorkQueue,
)
from tiers.records import Scope

from .recall import Recaller
from .router import Router
from .settings import Settings

GRAPHS_REMEMBERED = 256


class SpeakerNames:
    """The names of a graph's agents, remembered for a bounded number of graphs."""

    def __init__(self, graphs: GraphStore) -> None:
        self._graphs = graphs
        self._names: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()

    async def of(self, scope: Scope) -> tuple[str, ...]:
        """Return the ids of all agents the scope's graph has had.

        While the cold tier is away nobody is known: names only refine a question, and what else
        cold is needed for says that it is missing.
        """
        key = (scope.tenant, scope.graph_id)
        names = self._names.get(key)
        if names is None:
            try:
                names = tuple(agent.id for agent in await self._graphs.agents(scope))
            except TierError:
                return ()
            self._names[key] = names
        self._names.move_to_end(key)
        while len(self._names) > GRAPHS_REMEMBERED:
            self._names.popitem(last=False)
        return names

    def forget(self, scope: Scope) -> None:
        """Read the names anew next time: the graph has a new member."""
        self._names.pop((scope.tenant, scope.graph_id), None)


@dataclass(frozen=True)
class Parts:
    """Everything the handles act through."""

    settings: Settings
    clock: Callable[[], datetime]
    ids: IdFactory
    embedder: Embedder | None
    model: LanguageModel
    hot: HotStore
    warm: WarmStore
    graphs: GraphStore
    turns: TurnStore
    episodic: EpisodicStore
    semantic: SemanticStore
    procedural: ProceduralStore
    beliefs: BeliefStore
    queue: WorkQueue
    log: RecordLog
    words: LexicalIndex
    names: SpeakerNames
    recaller: Recaller
    router: Router
    lifecycle: LifecycleAgent
    reembedder: Reembedder
    archival: ArchivalKeeper | None
    learning_worker: Worker
    lifecycle_worker: Worker
    meta_clock: MetaAgentClock | None = None

    async def sweep(self, scope: Scope) -> LifecycleReport:
        """Compress what waits for every agent of the graph, then consolidate and evict."""
        before = self.lifecycle.done
        queued = await self.lifecycle_worker.drain(scope)
        waiting = 0
        for agent in await self.graphs.agents(scope):
            left = await self.lifecycle.compress(scope.for_agent(agent.id), self.clock())
            waiting += left.turns
        await self.lifecycle.consolidate(scope, self.clock())
        done = self.lifecycle.done.since(before)
        return replace(done, turns_waiting=waiting, problems=tuple(queued.problems))

    def wake_learning(self) -> None:
        """Let the learning agent look at the queue now, if it runs in the background."""
        if self.meta_clock is not None:
            self.meta_clock.wake("learning")
