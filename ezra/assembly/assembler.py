"""The assembler: puts engines, agents and router together.

Everything is opened on one exit stack, in the order of need, and closed in reverse: the clock
stops before the stores it ticks for.
"""

from __future__ import annotations

import os
import socket
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from metaagents.learning.agent import IndexHandler, LearningAgent
from metaagents.learning.core import CorePolicy
from metaagents.learning.endings import Endings
from metaagents.learning.extraction import ExtractionAgent, ExtractionPolicy
from metaagents.learning.judging import JudgeAgent, JudgePolicy
from metaagents.learning.moves import CoreKeeper
from metaagents.learning.neighbours import Neighbourhood
from metaagents.learning.rules import LearningPolicy
from metaagents.lifecycle.agent import ConsolidateHandler, LifecycleAgent, RetainHandler
from metaagents.lifecycle.keeper import GraphKeeper
from metaagents.lifecycle.retention import BeliefRetention
from metaagents.lifecycle.retired_traces import RetiredTraces
from metaagents.lifecycle.retirement import RetentionPolicy, Retirement
from metaagents.lifecycle.rules import LifecyclePolicy
from metaagents.lifecycle.states import StatePolicy
from metaagents.lifecycle.writing import Writer
from metaagents.model import BudgetedModel
from metaagents.reindex.agent import Reembedder
from metaagents.reindex.archival import ArchivalKeeper
from metaagents.reindex.generations import OpenGenerations
from metaagents.reindex.index import SwitchingIndex
from metaagents.work import Worker, WorkHandler
from tiers.embedding.own import OwnEmbedder
from tiers.errors import DiskFull
from tiers.history.signer import Signer
from tiers.ids import IdFactory, SteadyClock, system_clock
from tiers.ports import Embedder, HotStore, LanguageModel
from tiers.records import WorkKind
from tiers.upkeep import ArchivalVectors

from ..contradiction import ContradictionJudge, Handlers, RivalFinder, RulesJudge, Settler
from ..mesh import Connector, Mesh, Source, opened_mesh
from ..models.reranking import Reranker
from ..recaller import Recaller, TierNews
from ..rights.membership import Membership
from ..rights.metering import Meter
from ..runtime import Runtime, SpeakerNames
from ..settings import Settings
from ..telemetry import Telemetry
from ..telemetry.instruments import telemetry_of, watched_handlers
from ..turn.fetch import Fetcher
from ..turn.hydrate import Hydrator
from ..turn.ledger import TurnLedger
from ..turn.policy import TurnPolicy
from ..turn.rings import Rings
from ..turn.router import Router
from ..turn.routing import RouterLimits
from .embedders import embedder_of, wanted_embedder
from .engines import (
    cold_store,
    contradiction_judge,
    hot_store,
    language_model,
    meta_agents_model,
    owned_home,
    reranker_of,
    warm_generations,
)
from .schedule import with_clock

if TYPE_CHECKING:
    from tiers.cold.cold_stores import ColdStores


@asynccontextmanager
async def assemble_runtime(
    settings: Settings,
    model: LanguageModel | None = None,
    connectors: dict[str, Connector | Source] | None = None,
    clock: Callable[[], datetime] = system_clock,
    embedder: Embedder | None = None,
) -> AsyncIterator[Runtime]:
    """Open every store and agent for the length of an ``async with`` block.

    Raises:
        ConfigError: The data folder is owned by another process or cannot be used, a required
            model is missing, or the signing key is none.
    """
    home = settings.home if settings.needs_home else None
    signer = Signer(settings.signing_key, settings.signing_key_file, home, clock)
    await signer.check()  # nothing is written by who could not sign for it later
    async with AsyncExitStack() as stack:
        stores = await _open_stores(settings, clock, stack, embedder)
        stack.callback(stores.news.close)
        with suppress(DiskFull):  # the leases of who was here before run out by themselves
            await stores.cold.upkeep.take_over()
        answering = await stack.enter_async_context(language_model(settings, model))
        owner = _owner(IdFactory(clock))
        judge = await stack.enter_async_context(contradiction_judge(settings, answering))
        reranker = await stack.enter_async_context(reranker_of(settings))
        seconds = settings.step_timeout_seconds
        is_served = settings.background  # a command that asks nothing waits for no source
        mesh = opened_mesh(settings.mesh_file, connectors or {}, seconds, checks=is_served)
        sources = await stack.enter_async_context(mesh)
        runtime = _runtime(
            settings, stores, answering, judge, reranker, sources, clock, owner, signer
        )
        await runtime.reembedder.begin()
        yield await with_clock(runtime, stores.cold.leases, owner, stack)


@dataclass(frozen=True)
class _Stores:
    telemetry: Telemetry
    embedder: Embedder | None
    hot: HotStore
    generations: OpenGenerations
    warm: SwitchingIndex
    cold: ColdStores
    news: TierNews


async def _open_stores(
    settings: Settings,
    clock: Callable[[], datetime],
    stack: AsyncExitStack,
    embedder: Embedder | None,
) -> _Stores:
    telemetry = await stack.enter_async_context(telemetry_of(settings.otlp_endpoint))
    await stack.enter_async_context(owned_home(settings))
    chosen = None if embedder is not None else wanted_embedder(settings)
    own = None if embedder is None else OwnEmbedder(embedder)
    wanted = own if chosen is None else await stack.enter_async_context(chosen)
    engine = await stack.enter_async_context(warm_generations(settings))
    generations = await stack.enter_async_context(
        OpenGenerations(engine, settings.tenant, wanted, partial(embedder_of, settings), clock)
    )
    warm = SwitchingIndex(generations)
    cold = await stack.enter_async_context(cold_store(settings, archival_index=warm))
    warm.fill_in_from(cold.words)
    hot = await stack.enter_async_context(hot_store(settings))
    return _Stores(telemetry, wanted, hot, generations, warm, cold, TierNews())


def _runtime(
    settings: Settings,
    stores: _Stores,
    model: LanguageModel,
    judge: ContradictionJudge | None,
    reranker: Reranker | None,
    mesh: Mesh,
    clock: Callable[[], datetime],
    owner: str,
    signer: Signer,
) -> Runtime:
    warm, cold, embedder, ids = stores.warm, stores.cold, stores.embedder, IdFactory(clock)
    minds, handlers = _minds(settings, stores, model), Handlers(settings.resolution_timeout_seconds)
    worker = partial(_worker, settings, stores, owner, clock)
    way = _way(settings, stores, minds.keeper, model, mesh, clock)
    names = SpeakerNames(cold.fleet, cold.recollection)
    return Runtime(
        **vars(cold),
        settings=settings,
        telemetry=stores.telemetry,
        clock=clock,
        saying=SteadyClock(clock),
        ids=ids,
        embedder=embedder,
        model=model,
        hot=stores.hot,
        warm=warm,
        membership=way.membership,
        meter=way.meter,
        signer=signer,
        handlers=handlers,
        settler=_settler(settings, stores, handlers, judge),
        keeper=minds.keeper,
        names=names,
        recaller=way.recaller,
        news=stores.news,
        reranker=reranker,
        router=_router(settings, stores, way, names, model, ids, clock),
        fetcher=way.fetcher,
        lifecycle=minds.lifecycle,
        retirement=minds.retirement,
        retention=BeliefRetention(cold.history),
        reembedder=_reembedder(stores, owner, clock),
        archival=_archival_keeper(stores, settings.tenant),
        index_worker=worker(_quick_work(settings, stores)),
        learning_worker=worker({"extract": minds.extraction, "judge": minds.judging}),
        lifecycle_worker=worker(_upkeep(minds.lifecycle, minds.retirement)),
    )


class _Way(NamedTuple):
    """What a turn goes through, and what counts and admits it."""

    membership: Membership
    meter: Meter
    recaller: Recaller
    fetcher: Fetcher


def _way(
    settings: Settings,
    stores: _Stores,
    keeper: GraphKeeper,
    model: LanguageModel,
    mesh: Mesh,
    clock: Callable[[], datetime],
) -> _Way:
    cold, seconds = stores.cold, settings.step_timeout_seconds
    recaller = Recaller(stores.warm, cold.words, cold.semantic, stores.embedder, seconds)
    meter = Meter(stores.cold.usage, stores.cold.log, clock)
    membership = _membership(settings, stores.cold, keeper, clock)
    fetcher = Fetcher(
        mesh,
        stores.hot,
        stores.cold.log,
        meter,
        meta_agents_model(settings, model),
        stores.telemetry,
        clock,
        settings.model_timeout_seconds,
    )
    return _Way(membership, meter, recaller, fetcher)


class _Minds(NamedTuple):
    """The meta-agents, over the stores and with the model that they may use."""

    lifecycle: LifecycleAgent
    retirement: Retirement
    extraction: ExtractionAgent
    judging: JudgeAgent
    keeper: GraphKeeper


def _minds(settings: Settings, stores: _Stores, model: LanguageModel) -> _Minds:
    thinking = _meta_model(settings, stores.cold, model)
    lifecycle = _lifecycle(settings, stores, thinking)
    stores.telemetry.numbers.late.done = lambda: lifecycle.done
    judging = _judging(settings, stores, thinking)
    return _Minds(
        lifecycle=lifecycle,
        retirement=_retirement(settings, stores),
        extraction=_extraction(settings, stores, thinking),
        judging=judging,
        keeper=_keeper(settings, stores, lifecycle, judging),
    )


def _reembedder(stores: _Stores, owner: str, clock: Callable[[], datetime]) -> Reembedder:
    cold = stores.cold
    return Reembedder(stores.generations, cold.upkeep, cold.words, cold.leases, owner, clock)


def _router(
    settings: Settings,
    stores: _Stores,
    way: _Way,
    names: SpeakerNames,
    model: LanguageModel,
    ids: IdFactory,
    clock: Callable[[], datetime],
) -> Router:
    """Return the eight steps over what they ask."""
    cold, limits = stores.cold, _limits(settings)
    policy = TurnPolicy(cold.desk, way.membership, way.fetcher, cold.log, names.of, clock)
    rings = Rings(stores.hot, cold.turns, limits.ring_capacity)
    hydrator = Hydrator(rings, cold.turns, cold.semantic, way.recaller, limits, clock)
    ledger = TurnLedger(cold.desk, stores.hot, way.meter, limits, ids, clock, stores.telemetry)
    return Router(
        admission=policy,
        hydrator=hydrator,
        fetcher=way.fetcher,
        ledger=ledger,
        answering=model,
        limits=limits,
        ids=ids,
        telemetry=stores.telemetry,
        news=stores.news,
    )


def _quick_work(settings: Settings, stores: _Stores) -> Mapping[WorkKind, WorkHandler]:
    """Return what is done at once: it has a worker of its own, which nothing slow holds up."""
    on_move = stores.telemetry.numbers.moved
    return {
        "index": IndexHandler(stores.cold.words, stores.warm),
        "learn": LearningAgent(stores.cold.semantic, _learning_policy(settings), on_move),
    }


def _upkeep(lifecycle: LifecycleAgent, retirement: Retirement) -> Mapping[WorkKind, WorkHandler]:
    return {
        "compress": lifecycle,
        "consolidate": ConsolidateHandler(lifecycle),
        "retain": RetainHandler(retirement),
    }


def _worker(
    settings: Settings,
    stores: _Stores,
    owner: str,
    clock: Callable[[], datetime],
    work: Mapping[WorkKind, WorkHandler],
) -> Worker:
    seconds = settings.work_lease_seconds
    work = watched_handlers(stores.telemetry, work)
    return Worker(stores.cold.queue, work, owner, clock, settings.tenant, seconds)


def _meta_model(settings: Settings, cold: ColdStores, model: LanguageModel) -> BudgetedModel | None:
    chosen = meta_agents_model(settings, model)
    if chosen is None:
        return None
    return BudgetedModel(chosen, cold.usage, cold.graphs, settings.model_timeout_seconds)


def _lifecycle(settings: Settings, stores: _Stores, model: BudgetedModel | None) -> LifecycleAgent:
    cold, policy = stores.cold, _lifecycle_policy(settings)
    prompts, guard = settings.prompts, settings.guard_policy
    writer = Writer(model=model, fleet=cold.fleet, prompts=prompts, policy=policy, guard=guard)
    return LifecycleAgent(
        graphs=cold.graphs,
        fleet=cold.fleet,
        turns=cold.turns,
        episodic=cold.episodic,
        grains=cold.grains,
        warm=stores.warm,
        writer=writer,
        policy=policy,
        redactor=cold.redactor,
        log=cold.log,
    )


def _retirement(settings: Settings, stores: _Stores) -> Retirement:
    cold = stores.cold
    return Retirement(
        graphs=cold.graphs,
        grains=cold.grains,
        review=cold.review,
        episodic=cold.episodic,
        policy=RetentionPolicy(
            plan=settings.retention_plan,
            superseded_facts_days=settings.superseded_facts_days,
            forgotten_facts_days=settings.forgotten_facts_days,
            share_max=settings.retention_share_max,
            records_min=settings.retention_records_min,
        ),
        hot=stores.hot,
        fleet=cold.fleet,
        traces=RetiredTraces(redactor=cold.redactor, warm=stores.warm, taint=cold.taint),
    )


def _extraction(
    settings: Settings, stores: _Stores, model: BudgetedModel | None
) -> ExtractionAgent:
    cold, looks = stores.cold, JudgePolicy()
    return ExtractionAgent(
        turns=cold.turns,
        semantic=cold.semantic,
        procedural=cold.procedural,
        playbooks=cold.playbooks,
        watermarks=cold.watermarks,
        fleet=cold.fleet,
        model=model,
        events=cold.log,
        policy=ExtractionPolicy(zone=settings.zone),
        guard=settings.guard_policy,
        embedder=stores.embedder,
        endings=Endings(
            Neighbourhood(
                cold.review,
                cold.semantic,
                stores.warm,
                cold.words,
                embedder=None,
                hits=looks.hits,
                nearest=looks.nearest,
            )
        ),
    )


def _judging(settings: Settings, stores: _Stores, model: BudgetedModel | None) -> JudgeAgent:
    cold, on_move = stores.cold, stores.telemetry.numbers.moved
    return JudgeAgent(
        review=cold.review,
        semantic=cold.semantic,
        warm=stores.warm,
        words=cold.words,
        embedder=stores.embedder,
        model=model,
        comparer=RulesJudge(),
        events=cold.log,
        policy=JudgePolicy(),
        keeper=CoreKeeper(cold.semantic, _learning_policy(settings), on_move),
        on_move=on_move,
    )


def _settler(
    settings: Settings, stores: _Stores, handlers: Handlers, judge: ContradictionJudge | None
) -> Settler:
    cold = stores.cold
    finder = RivalFinder(
        cold.history,
        cold.rivals,
        stores.warm,
        stores.embedder,
        judge,
        similarity=settings.contradiction_similarity,
        timeout_seconds=settings.step_timeout_seconds,
    )
    return Settler(cold.beliefs, cold.history, handlers, finder)


def _keeper(
    settings: Settings, stores: _Stores, lifecycle: LifecycleAgent, judging: JudgeAgent
) -> GraphKeeper:
    cold = stores.cold
    return GraphKeeper(
        graphs=cold.graphs,
        fleet=cold.fleet,
        hot=stores.hot,
        queue=cold.queue,
        lifecycle=lifecycle,
        review=judging.review_graph,
        policy=StatePolicy(
            agent_timeout=timedelta(seconds=settings.agent_timeout_seconds),
            archive_after=timedelta(days=settings.archive_after_days),
        ),
    )


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


def _limits(settings: Settings) -> RouterLimits:
    return RouterLimits(
        ring_capacity=settings.ring_capacity,
        context_tokens=settings.context_tokens,
        step_timeout_seconds=settings.step_timeout_seconds,
        model_timeout_seconds=settings.model_timeout_seconds,
        core=CorePolicy(facts_max=settings.core_facts_max, share=settings.core_share),
        window_tokens=settings.model_window_tokens,
        shrink_above=settings.context_shrink_above,
        grow_below=settings.context_grow_below,
        zone=settings.zone,
    )


def _lifecycle_policy(settings: Settings) -> LifecyclePolicy:
    return LifecyclePolicy(
        ring_capacity=settings.ring_capacity,
        turns_per_summary=settings.turns_per_summary,
        summary_ttl=settings.summary_ttl,
        zone=settings.zone,
    )


def _learning_policy(settings: Settings) -> LearningPolicy:
    return LearningPolicy(promote_at_uses=settings.promote_at_uses, core_cap=settings.core_cap)
