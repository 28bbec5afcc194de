"""What a runtime is made of: handles hold this, and never an engine."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from tiers.cold.cold_stores import ColdStores
from tiers.concurrency import Lifetime
from tiers.errors import TierError
from tiers.records import Scope, WorkDraft

from .checks import apart_from_now
from .ranking.terms import Reader
from .recaller import Degradation, Recaller, TierNews

if TYPE_CHECKING:
    from metaagents.clock import MetaAgentClock
    from metaagents.lifecycle.agent import LifecycleAgent
    from metaagents.lifecycle.keeper import GraphKeeper
    from metaagents.lifecycle.reports import LifecycleReport
    from metaagents.lifecycle.retention import BeliefRetention
    from metaagents.lifecycle.retirement import Retirement
    from metaagents.reindex.agent import Reembedder
    from metaagents.reindex.archival import ArchivalKeeper
    from metaagents.work import Worker, WorkReport
    from tiers.cold.stores import FleetStore, Recollection
    from tiers.history.signer import Signer
    from tiers.ids import IdFactory
    from tiers.ports import Embedder, HotStore, LanguageModel, WarmStore

    from .contradiction import Handlers, Settler
    from .models.reranking import Reranker
    from .rights.backlog import Backlog
    from .rights.membership import Membership
    from .rights.metering import Meter
    from .settings import Settings
    from .telemetry import Telemetry
    from .turn.fetch import Fetcher
    from .turn.router import Router


GRAPHS_UNDER_WAY = 10_000


class TurnsUnderWay:
    """The last turn of each graph that this process has opened, of a bounded number of graphs.

    A change of beliefs happens in it: an agent's own changes carry its own turn, but what people
    change, and agents that have no turn, happens while somebody's turn is under way, and must not
    be told as if it had been before it.
    """

    def __init__(self) -> None:
        self._last: OrderedDict[tuple[str, str], str] = OrderedDict()

    def opened(self, scope: Scope, turn_id: str) -> None:
        """Take in that a turn was opened."""
        key = (scope.tenant, scope.graph_id)
        self._last[key] = turn_id
        self._last.move_to_end(key)
        while len(self._last) > GRAPHS_UNDER_WAY:
            self._last.popitem(last=False)

    def during(self, scope: Scope, own: str | None = None) -> Scope:
        """Return a scope that says in which turn it changes beliefs.

        Args:
            scope: Who changes them.
            own: The turn of its own, if it has one.
        """
        return scope.during(own or self._last.get((scope.tenant, scope.graph_id)))


GRAPHS_REMEMBERED = 256
SPEAKERS_MAX = 1_000
PINS_DROPPED_SINGLY = 16

log = logging.getLogger(__name__)


class SpeakerNames:
    """The names of a graph's agents and speakers, remembered for a bounded number of graphs."""

    def __init__(self, fleet: FleetStore, recollection: Recollection) -> None:
        self._fleet = fleet
        self._recollection = recollection
        self._names: OrderedDict[tuple[str, str], tuple[str, ...]] = OrderedDict()

    async def of(self, scope: Scope) -> tuple[str, ...]:
        """Return the ids of all agents the scope's graph has had, and who speaks in it.

        While the cold tier is away nobody is known: names only refine a question, and what else
        cold is needed for says that it is missing.
        """
        key = (scope.tenant, scope.graph_id)
        names = self._names.get(key)
        if names is None:
            try:
                agents = [agent.id for agent in await self._fleet.agents(scope)]
                speakers = await self._recollection.speakers(scope, SPEAKERS_MAX)
                names = tuple(dict.fromkeys((*agents, *speakers)))
            except TierError:
                return ()
            self._names[key] = names
        self._names.move_to_end(key)
        while len(self._names) > GRAPHS_REMEMBERED:
            self._names.popitem(last=False)
        return names

    def heard(self, scope: Scope, speaker: str) -> None:
        """Remember somebody who has just spoken in the graph."""
        key = (scope.tenant, scope.graph_id)
        names = self._names.get(key)
        if names is not None and speaker not in names:
            self._names[key] = (*names, speaker)

    def forget(self, scope: Scope) -> None:
        """Read the names anew next time: the graph has a new member."""
        self._names.pop((scope.tenant, scope.graph_id), None)


@dataclass(frozen=True)
class Runtime(ColdStores):
    """Everything the handles act through: the stores of the cold tier, and what stands beside."""

    settings: Settings
    telemetry: Telemetry
    clock: Callable[[], datetime]
    saying: Callable[[], datetime]
    """The time of what is said now: of two statements the later one counts."""
    ids: IdFactory
    embedder: Embedder | None
    model: LanguageModel
    hot: HotStore
    warm: WarmStore
    membership: Membership
    meter: Meter
    signer: Signer
    handlers: Handlers
    settler: Settler
    keeper: GraphKeeper
    names: SpeakerNames
    recaller: Recaller
    news: TierNews
    """What calls have learnt of the tiers."""
    reranker: Reranker | None
    router: Router
    fetcher: Fetcher
    lifecycle: LifecycleAgent
    retirement: Retirement
    retention: BeliefRetention
    reembedder: Reembedder
    archival: ArchivalKeeper | None
    index_worker: Worker
    learning_worker: Worker
    lifecycle_worker: Worker
    meta_clock: MetaAgentClock | None = None
    backlog: Backlog | None = None
    """Where meta-agents run: without them nothing gets shorter by waiting."""
    lifetime: Lifetime = field(default_factory=Lifetime)
    under_way: TurnsUnderWay = field(default_factory=TurnsUnderWay)
    key_turns: WeakValueDictionary[object, asyncio.Lock] = field(
        default_factory=WeakValueDictionary
    )

    @property
    def reader(self) -> Reader:
        """What reads texts once, for recall and for contexts."""
        return self.recaller.reader

    def degradation(self) -> Degradation:
        """Return what notes which tiers answer one call."""
        return Degradation(self.settings.step_timeout_seconds, self.telemetry, self.news)

    def apart_from_now(self, asked: datetime | None) -> datetime | None:
        """Return the moment that is asked about; ``None`` for now."""
        return apart_from_now(asked, self.saying(), self.clock())

    async def sweep(self, scope: Scope) -> LifecycleReport:
        """Do the lifecycle's queued work of a graph now, and what its schedule would queue.

        Then close or archive the graph, if it is time for that.
        """
        before = self.lifecycle.done
        await self.schedule(scope)
        queued = await self.lifecycle_worker.drain(scope)
        waiting = 0
        for agent in await self.fleet.agents(scope):
            left = await self.lifecycle.compress(scope.for_agent(agent.id), self.clock())
            waiting += left.turns
        graph = await self.graphs.graph(scope.tenant, scope.graph_id)
        if graph is not None:
            await self.keeper.keep([graph], self.clock())
        done = self.lifecycle.done.since(before)
        return replace(done, turns_waiting=waiting, problems=tuple(queued.problems))

    async def schedule(self, scope: Scope, *, is_archived: bool = False) -> None:
        """Queue the recurring work of a graph; while it waits, it is queued once.

        Of an archived one everything is in episodes already; retention goes on.
        """
        recurring = [WorkDraft(kind="retain", key="retention")]
        if not is_archived:
            recurring.insert(0, WorkDraft(kind="consolidate", key="grains"))
        await self.queue.enqueue(scope, recurring, self.clock())

    async def finish_learning(self, scope: Scope | None = None) -> WorkReport:
        """Do all learning that is due, of a graph or of all; what it stores is indexed as well."""
        report = await self.index_worker.drain(scope)
        report.add(await self.learning_worker.drain(scope))
        report.add(await self.index_worker.drain(scope))
        return report

    async def drop_pins(self, scope: Scope, belief_ids: Sequence[str]) -> None:
        """Take beliefs that are active no longer out of the hot tier of every agent of the graph.

        Contexts are made from the active beliefs of the cold tier, so nobody sees those that stay.

        Raises:
            TierError: The hot tier is away; they stay until they expire.
        """
        if not belief_ids:
            return
        whole = scope.for_graph()
        for agent in await self.fleet.agents(whole):
            own = whole.for_agent(agent.id)
            if len(belief_ids) > PINS_DROPPED_SINGLY:
                await self.hot.clear(own)  # it is filled again from cold
                continue
            for belief_id in belief_ids:
                await self.hot.unpin(own, belief_id)

    async def forget_pins(self, scope: Scope, belief_ids: Sequence[str]) -> None:
        """Do the same for a change that is done already, and must not fail for it."""
        try:
            await self.drop_pins(scope, belief_ids)
        except TierError as error:
            log.warning("pins of beliefs that ended stay until they expire: %s", error)

    async def make_room(self, writes: int = 1) -> None:
        """Wait, within bounds, while too much waits to be indexed. Called before writing records.

        Args:
            writes: How many.
        """
        if self.backlog is not None:
            await self.backlog.make_room(writes)

    async def index_depth(self) -> int:
        """Return how much of the tenant's waits to be indexed."""
        return (await self.queue.waiting(tenant=self.settings.tenant))["index"]

    @contextmanager
    def arriving(self, scope: Scope, record_id: str) -> Iterator[None]:
        """Announce a record that the block stores to who asks by meaning next."""
        warm = self.recaller.warm
        if self.meta_clock is None or warm.serving.embedder is None:
            yield  # nobody indexes it at once, or words are all that there is
            return
        with warm.arrivals.coming(scope, record_id):
            yield

    def wake_learning(self) -> None:
        """Let the background index and count now, if there is one; learning waits for its beat."""
        if self.meta_clock is not None:
            self.meta_clock.wake("indexing")
