"""The assembler: the only module that names concrete stores and agents.

Everything is opened on one exit stack, in the order of need, and closed in reverse: the clock
stops before the stores it ticks for.
"""

from __future__ import annotations

import json
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

from metaagents.clock import Beat, MetaAgentClock
from metaagents.learning.agent import IndexHandler, LearningAgent
from metaagents.learning.rules import LearningPolicy
from metaagents.lifecycle.agent import LifecycleAgent
from metaagents.lifecycle.rules import LifecyclePolicy
from metaagents.work import Worker, WorkHandler
from tiers.cold.owner import own_folder
from tiers.cold.sqlite import ColdStores, sqlite_cold_store
from tiers.embedding.installed import find_model
from tiers.embedding.onnx_embedder import OnnxEmbedder
from tiers.errors import ConfigError
from tiers.hot.embedded import embedded_hot_store
from tiers.ids import IdFactory, system_clock
from tiers.ports import Embedder, HotStore, LanguageModel, LeaseStore, WarmStore
from tiers.records import ALL_TOPICS, GraphState, Scope, WorkKind
from tiers.warm.edge_store import edge_warm_store

from .models import EchoModel
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
        stores = await _open_stores(settings, stack)
        await stores.cold.upkeep.take_over()
        await _index_anew_if_needed(settings, stores, clock())
        parts = _parts(settings, stores, model or EchoModel(), connectors or {}, clock)
        yield await _with_clock(parts, stores.cold.leases, stack)


@dataclass(frozen=True)
class _Stores:
    embedder: Embedder | None
    hot: HotStore
    warm: WarmStore
    cold: ColdStores


async def _open_stores(settings: Settings, stack: AsyncExitStack) -> _Stores:
    home = _made(settings.home)
    await stack.enter_async_context(own_folder(home))
    embedder = await _embedder(settings, stack)
    warm = await stack.enter_async_context(edge_warm_store(home / "warm"))
    cold = await stack.enter_async_context(sqlite_cold_store(home, archival_index=warm))
    hot = await stack.enter_async_context(embedded_hot_store())
    return _Stores(embedder, hot, warm, cold)


async def _index_anew_if_needed(settings: Settings, stores: _Stores, now: datetime) -> None:
    """Queue the indexing of everything when the warm index is new or of another model.

    The marker lies in the warm folder, so that removing the folder removes it too. It is written
    after the work is queued: a crash in between queues again, which changes nothing.
    """
    marker = settings.home / "warm" / "indexed.json"
    indexed = _read_marker(marker)
    model = stores.embedder.model_id if stores.embedder else None
    known = settings.tenant in indexed
    if known and model in (None, indexed[settings.tenant]):
        return
    await stores.cold.upkeep.queue_indexing(settings.tenant, now)
    marker.write_text(json.dumps({**indexed, settings.tenant: model}))


def _read_marker(marker: Path) -> dict[str, str | None]:
    """Return which model indexed each tenant; a marker that cannot be read is as good as none."""
    try:
        found = json.loads(marker.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _parts(
    settings: Settings,
    stores: _Stores,
    model: LanguageModel,
    connectors: dict[str, Connector],
    clock: Callable[[], datetime],
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
        "index": IndexHandler(cold.words, warm, embedder),
        "learn": LearningAgent(cold.semantic, _learning_policy(settings)),
    }
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
        learning_worker=Worker(cold.queue, learning, _owner(), clock),
        lifecycle_worker=Worker(cold.queue, {"compress": lifecycle}, _owner(), clock),
    )


def _owner() -> str:
    """Return what this runtime is called in the leases it takes."""
    return f"{socket.gethostname()}/{os.getpid()}"


async def _with_clock(parts: Parts, leases: LeaseStore, stack: AsyncExitStack) -> Parts:
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
    ]
    meta_clock = MetaAgentClock(beats, leases, _owner(), parts.clock)
    await stack.enter_async_context(meta_clock)
    return replace(parts, meta_clock=meta_clock)


async def _embedder(settings: Settings, stack: AsyncExitStack) -> Embedder | None:
    if settings.embedder == "off":
        return None
    folder = settings.models_folder()
    installed = find_model(folder)
    if installed is None:
        if settings.embedder == "required":
            reason = f"no embedding model in {folder}; run 'ezra embedder install'"
            raise ConfigError("EZRA_EMBEDDER", reason)
        return None
    return await stack.enter_async_context(OnnxEmbedder(installed))


def _made(home: Path) -> Path:
    try:
        home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError("EZRA_HOME", f"cannot make {home}: {error.strerror}") from error
    return home


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
