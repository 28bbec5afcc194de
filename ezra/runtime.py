"""The assembler: puts engines, agents and router together.

Everything is opened on one exit stack, in the order of need, and closed in reverse: the clock
stops before the stores it ticks for.
"""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial

from metaagents.clock import Beat, MetaAgentClock
from metaagents.learning.agent import IndexHandler, LearningAgent
from metaagents.learning.rules import LearningPolicy
from metaagents.lifecycle.agent import LifecycleAgent
from metaagents.lifecycle.keeper import GraphKeeper
from metaagents.lifecycle.retention import BeliefRetention
from metaagents.lifecycle.rules import LifecyclePolicy
from metaagents.lifecycle.states import StatePolicy
from metaagents.reindex.agent import Reembedder
from metaagents.reindex.archival import ArchivalKeeper
from metaagents.reindex.generations import OpenGenerations
from metaagents.reindex.index import SwitchingIndex
from metaagents.work import Worker, WorkHandler
from tiers.cold.stores import ColdStores
from tiers.ids import IdFactory, system_clock
from tiers.ports import Embedder, HotStore, LanguageModel, LeaseStore
from tiers.records import GraphState, Scope, WorkKind
from tiers.upkeep import ArchivalVectors

from .contradiction import ContradictionJudge, Handlers, Settler
from .engines import (
    cold_store,
    contradiction_judge,
    embedder_of,
    hot_store,
    language_model,
    owned_home,
    wanted_embedder,
    warm_generations,
)
from .membership import Membership
from .metering import Meter
from .parts import Parts, SpeakerNames
from .proving import Witness
from .recall import Recaller
from .redaction import retire
from .router import Connector, Router, RouterLimits
from .settings import Settings
from .signing import Signer


@asynccontextmanager
async def assemble_runtime(
    settings: Settings,
    model: LanguageModel | None = None,
    connectors: dict[str, Connector] | None = None,
    clock: Callable[[], datetime] = system_clock,
) -> AsyncIterator[Parts]:
    """Open every store and agent for the length of an ``async with`` block.

    Raises:
        ConfigError: The data folder is owned by another process or cannot be used, or a required
            model is missing.
    """
    async with AsyncExitStack() as stack:
        stores = await _open_stores(settings, clock, stack)
        await stores.cold.upkeep.take_over()
        answering = await stack.enter_async_context(language_model(settings, model))
        owner = _owner(IdFactory(clock))
        judge = await stack.enter_async_context(contradiction_judge(settings, answering))
        parts = _parts(settings, stores, answering, judge, connectors or {}, clock, owner)
        await parts.reembedder.begin()
        yield await _with_clock(parts, stores.cold.leases, owner, stack)


@dataclass(frozen=True)
class _Stores:
    embedder: Embedder | None
    hot: HotStore
    generations: OpenGenerations
    warm: SwitchingIndex
    cold: ColdStores


async def _open_stores(
    settings: Settings, clock: Callable[[], datetime], stack: AsyncExitStack
) -> _Stores:
    await stack.enter_async_context(owned_home(settings))
    chosen = wanted_embedder(settings)
    wanted = None if chosen is None else await stack.enter_async_context(chosen)
    engine = await stack.enter_async_context(warm_generations(settings))
    generations = await stack.enter_async_context(
        OpenGenerations(engine, settings.tenant, wanted, partial(embedder_of, settings), clock)
    )
    warm = SwitchingIndex(generations)
    cold = await stack.enter_async_context(cold_store(settings, archival_index=warm))
    warm.fill_in_from(cold.words)
    hot = await stack.enter_async_context(hot_store(settings))
    return _Stores(wanted, hot, generations, warm, cold)


def _parts(
    settings: Settings,
    stores: _Stores,
    model: LanguageModel,
    judge: ContradictionJudge | None,
    connectors: dict[str, Connector],
    clock: Callable[[], datetime],
    owner: str,
) -> Parts:
    hot, warm, cold, embedder = stores.hot, stores.warm, stores.cold, stores.embedder
    ids = IdFactory(clock)
    recaller = Recaller(warm, cold.words, cold.semantic, embedder, settings.step_timeout_seconds)
    lifecycle = _lifecycle(settings, stores)
    keeper = _keeper(settings, stores, lifecycle)
    meter = Meter(cold.usage, cold.log, clock)
    membership = _membership(settings, cold, keeper, clock)
    handlers = Handlers(settings.resolution_timeout_seconds)
    limits = _limits(settings)
    router = _router(stores, membership, meter, recaller, model, connectors, limits, ids, clock)
    return Parts(
        settings=settings,
        clock=clock,
        ids=ids,
        embedder=embedder,
        model=model,
        hot=hot,
        warm=warm,
        graphs=cold.graphs,
        fleet=cold.fleet,
        usage=cold.usage,
        turns=cold.turns,
        episodic=cold.episodic,
        semantic=cold.semantic,
        procedural=cold.procedural,
        beliefs=cold.beliefs,
        history=cold.history,
        heads=cold.heads,
        queue=cold.queue,
        log=cold.log,
        words=cold.words,
        redactor=cold.redactor,
        membership=membership,
        meter=meter,
        signer=Signer(settings, clock),
        handlers=handlers,
        settler=_settler(settings, stores, handlers, judge),
        keeper=keeper,
        names=SpeakerNames(cold.fleet),
        recaller=recaller,
        router=router,
        lifecycle=lifecycle,
        retention=BeliefRetention(cold.history),
        reembedder=Reembedder(
            stores.generations, cold.upkeep, cold.words, cold.leases, owner, clock
        ),
        archival=_archival_keeper(stores, settings.tenant),
        learning_worker=_learning_worker(settings, stores, owner, clock),
        lifecycle_worker=_lifecycle_worker(settings, stores, lifecycle, owner, clock),
    )


def _lifecycle_worker(
    settings: Settings,
    stores: _Stores,
    lifecycle: LifecycleAgent,
    owner: str,
    clock: Callable[[], datetime],
) -> Worker:
    return Worker(stores.cold.queue, {"compress": lifecycle}, owner, clock, settings.tenant)


def _router(
    stores: _Stores,
    membership: Membership,
    meter: Meter,
    recaller: Recaller,
    model: LanguageModel,
    connectors: dict[str, Connector],
    limits: RouterLimits,
    ids: IdFactory,
    clock: Callable[[], datetime],
) -> Router:
    cold = stores.cold
    return Router(
        hot=stores.hot,
        warm=stores.warm,
        turns=cold.turns,
        semantic=cold.semantic,
        procedural=cold.procedural,
        beliefs=cold.beliefs,
        log=cold.log,
        membership=membership,
        meter=meter,
        recaller=recaller,
        model=model,
        connectors=connectors,
        limits=limits,
        ids=ids,
        clock=clock,
    )


def _lifecycle(settings: Settings, stores: _Stores) -> LifecycleAgent:
    cold, policy = stores.cold, _lifecycle_policy(settings)
    return LifecycleAgent(
        cold.graphs,
        cold.turns,
        cold.episodic,
        stores.warm,
        stores.embedder,
        policy,
        cold.redactor,
    )


def _settler(
    settings: Settings, stores: _Stores, handlers: Handlers, judge: ContradictionJudge | None
) -> Settler:
    cold = stores.cold
    return Settler(
        cold.beliefs,
        cold.history,
        cold.rivals,
        stores.warm,
        stores.embedder,
        handlers,
        judge=judge,
        similarity=settings.contradiction_similarity,
        timeout_seconds=settings.step_timeout_seconds,
    )


def _keeper(settings: Settings, stores: _Stores, lifecycle: LifecycleAgent) -> GraphKeeper:
    cold = stores.cold
    return GraphKeeper(
        graphs=cold.graphs,
        fleet=cold.fleet,
        hot=stores.hot,
        queue=cold.queue,
        events=cold.log,
        lifecycle=lifecycle,
        policy=StatePolicy(
            agent_timeout=timedelta(seconds=settings.agent_timeout_seconds),
            archive_after=timedelta(days=settings.archive_after_days),
        ),
    )


def _learning_worker(
    settings: Settings, stores: _Stores, owner: str, clock: Callable[[], datetime]
) -> Worker:
    handlers: dict[WorkKind, WorkHandler] = {
        "index": IndexHandler(stores.cold.words, stores.warm),
        "learn": LearningAgent(stores.cold.semantic, _learning_policy(settings)),
    }
    return Worker(stores.cold.queue, handlers, owner, clock, settings.tenant)


def _membership(
    settings: Settings, cold: ColdStores, keeper: GraphKeeper, clock: Callable[[], datetime]
) -> Membership:
    return Membership(
        graphs=cold.graphs,
        fleet=cold.fleet,
        events=cold.log,
        keeper=keeper,
        clock=clock,
        tenant=settings.tenant,
        heartbeat=timedelta(seconds=settings.heartbeat_seconds),
    )


def _archival_keeper(stores: _Stores, tenant: str) -> ArchivalKeeper | None:
    """Return what gives facts their vectors where the cold tier can search by them itself."""
    facts = stores.cold.semantic
    if not isinstance(facts, ArchivalVectors):
        return None
    return ArchivalKeeper(facts, stores.cold.words, stores.warm, tenant)


def _owner(ids: IdFactory) -> str:
    """Return what this runtime, and no other of the same process, is called in its leases."""
    return f"{socket.gethostname()}/{os.getpid()}/{ids.new()}"


async def _with_clock(parts: Parts, leases: LeaseStore, owner: str, stack: AsyncExitStack) -> Parts:
    """Return the parts with the background clock running, if the settings want one."""
    if not parts.settings.background:
        return parts

    async def lifecycle_pass() -> None:
        await parts.lifecycle_worker.drain()
        await parts.membership.keep()
        await _keep_graphs(parts, GraphState.ACTIVE)

    async def closed_pass() -> None:
        await _keep_graphs(parts, GraphState.CLOSED)

    async def signing_pass() -> None:
        for graph in await parts.graphs.graphs(parts.settings.tenant):
            if graph.state is not GraphState.ARCHIVED:
                await Witness(parts, Scope.of_graph(graph.tenant, graph.id)).sign_if_grown()

    settings = parts.settings
    beats = [
        Beat("learning", settings.learning_seconds, parts.learning_worker.drain),
        Beat("lifecycle", settings.lifecycle_seconds, lifecycle_pass),
        Beat("closed graphs", settings.closed_lifecycle_seconds, closed_pass),
        Beat("signing", settings.sign_seconds, signing_pass),
        Beat("heartbeat", settings.heartbeat_seconds, parts.membership.beat, leased=False),
        Beat("re-embedding", settings.learning_seconds, parts.reembedder.run_pass, leased=False),
    ]
    if parts.archival is not None:
        seconds = parts.settings.learning_seconds
        beats.append(Beat("archival vectors", seconds, parts.archival.run_pass))
    tenant = parts.settings.tenant
    meta_clock = MetaAgentClock(beats, leases, owner, parts.clock, group=tenant)
    await stack.enter_async_context(meta_clock)
    return replace(parts, meta_clock=meta_clock)


async def _keep_graphs(parts: Parts, state: GraphState) -> None:
    """Consolidate and evict for the tenant's graphs of one state, then move them on if need be.

    Archived graphs go with the closed ones where beliefs are kept for so long and no longer.
    """
    for graph in await parts.graphs.graphs(parts.settings.tenant):
        if graph.state is state:
            await parts.consolidate(Scope.of_graph(graph.tenant, graph.id))
            await parts.keeper.keep([graph], parts.clock())
        is_archived = state is GraphState.CLOSED and graph.state is GraphState.ARCHIVED
        if graph.state is state or is_archived:
            await retire(parts, graph)


def _limits(settings: Settings) -> RouterLimits:
    return RouterLimits(
        ring_capacity=settings.ring_capacity,
        context_tokens=settings.context_tokens,
        step_timeout_seconds=settings.step_timeout_seconds,
        model_timeout_seconds=settings.model_timeout_seconds,
    )


def _lifecycle_policy(settings: Settings) -> LifecyclePolicy:
    return LifecyclePolicy(
        ring_capacity=settings.ring_capacity,
        turns_per_summary=settings.turns_per_summary,
        summary_ttl=settings.summary_ttl,
    )


def _learning_policy(settings: Settings) -> LearningPolicy:
    return LearningPolicy(promote_at_uses=settings.promote_at_uses, core_cap=settings.core_cap)
