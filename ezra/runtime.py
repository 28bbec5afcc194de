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
from datetime import datetime
from functools import partial

from metaagents.clock import Beat, MetaAgentClock
from metaagents.learning.agent import IndexHandler, LearningAgent
from metaagents.learning.rules import LearningPolicy
from metaagents.lifecycle.agent import LifecycleAgent
from metaagents.lifecycle.rules import LifecyclePolicy
from metaagents.reindex.agent import Reembedder
from metaagents.reindex.archival import ArchivalKeeper
from metaagents.reindex.generations import OpenGenerations
from metaagents.reindex.index import SwitchingIndex
from metaagents.work import Worker, WorkHandler
from tiers.cold.stores import ColdStores
from tiers.ids import IdFactory, system_clock
from tiers.ports import Embedder, HotStore, LanguageModel, LeaseStore
from tiers.records import ALL_TOPICS, GraphState, Scope, WorkKind
from tiers.upkeep import ArchivalVectors

from .engines import (
    cold_store,
    embedder_of,
    hot_store,
    language_model,
    owned_home,
    wanted_embedder,
    warm_generations,
)
from .parts import Parts, SpeakerNames
from .recall import Recaller
from .router import Connector, Router, RouterLimits
from .settings import Settings


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
        parts = _parts(settings, stores, answering, connectors or {}, clock, owner)
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
    connectors: dict[str, Connector],
    clock: Callable[[], datetime],
    owner: str,
) -> Parts:
    hot, warm, cold, embedder = stores.hot, stores.warm, stores.cold, stores.embedder
    ids = IdFactory(clock)
    recaller = Recaller(warm, cold.words, cold.semantic, embedder, settings.step_timeout_seconds)
    router = Router(
        hot=hot,
        warm=warm,
        turns=cold.turns,
        semantic=cold.semantic,
        procedural=cold.procedural,
        beliefs=cold.beliefs,
        log=cold.log,
        recaller=recaller,
        model=model,
        connectors=connectors,
        limits=_limits(settings),
        ids=ids,
        clock=clock,
    )
    lifecycle = LifecycleAgent(
        cold.turns, cold.episodic, warm, embedder, _lifecycle_policy(settings)
    )
    learning: dict[WorkKind, WorkHandler] = {
        "index": IndexHandler(cold.words, warm),
        "learn": LearningAgent(cold.semantic, _learning_policy(settings)),
    }
    tenant = settings.tenant
    return Parts(
        settings=settings,
        clock=clock,
        ids=ids,
        embedder=embedder,
        model=model,
        hot=hot,
        warm=warm,
        graphs=cold.graphs,
        turns=cold.turns,
        episodic=cold.episodic,
        semantic=cold.semantic,
        procedural=cold.procedural,
        beliefs=cold.beliefs,
        queue=cold.queue,
        log=cold.log,
        words=cold.words,
        names=SpeakerNames(cold.graphs),
        recaller=recaller,
        router=router,
        lifecycle=lifecycle,
        reembedder=Reembedder(
            stores.generations, cold.upkeep, cold.words, cold.leases, owner, clock
        ),
        archival=_archival_keeper(stores, tenant),
        learning_worker=Worker(cold.queue, learning, owner, clock, tenant),
        lifecycle_worker=Worker(cold.queue, {"compress": lifecycle}, owner, clock, tenant),
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
        for graph in await parts.graphs.graphs(parts.settings.tenant):
            if graph.state is GraphState.ACTIVE:
                scope = Scope(tenant=graph.tenant, graph_id=graph.id, topics=(ALL_TOPICS,))
                await parts.lifecycle.consolidate(scope, parts.clock())

    beats = [
        Beat("learning", parts.settings.learning_seconds, parts.learning_worker.drain),
        Beat("lifecycle", parts.settings.lifecycle_seconds, lifecycle_pass),
        Beat(
            "re-embedding",
            parts.settings.learning_seconds,
            parts.reembedder.run_pass,
            leased=False,
        ),
    ]
    if parts.archival is not None:
        seconds = parts.settings.learning_seconds
        beats.append(Beat("archival vectors", seconds, parts.archival.run_pass))
    tenant = parts.settings.tenant
    meta_clock = MetaAgentClock(beats, leases, owner, parts.clock, group=tenant)
    await stack.enter_async_context(meta_clock)
    return replace(parts, meta_clock=meta_clock)


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
