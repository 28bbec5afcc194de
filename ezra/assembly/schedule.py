"""The recurring passes of a runtime: what its meta-agents do by themselves, and how often."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from metaagents.clock import Beat, MetaAgentClock
from tiers.records import GraphState, Scope

from ..beliefs.proofs import Witness
from ..erasure.redaction import retire
from ..rights.backlog import Backlog
from ..runtime import Runtime

if TYPE_CHECKING:
    from tiers.cold.stores import LeaseStore


async def with_clock(
    runtime: Runtime, leases: LeaseStore, owner: str, stack: AsyncExitStack
) -> Runtime:
    """Return the runtime with the background clock running, if the settings want one.

    Args:
        runtime: What there is.
        leases: Where the right to a pass is taken.
        owner: Names this runtime in them.
        stack: Stops the clock when it closes.
    """
    if not runtime.settings.background:
        return runtime

    async def lifecycle_pass() -> None:
        await runtime.membership.keep()
        await _keep_graphs(runtime, GraphState.ACTIVE)
        await runtime.lifecycle_worker.drain()

    async def closed_pass() -> None:
        await _keep_graphs(runtime, GraphState.CLOSED)
        await runtime.lifecycle_worker.drain()

    async def signing_pass() -> None:
        for graph in await runtime.graphs.graphs(runtime.settings.tenant):
            if graph.state is not GraphState.ARCHIVED:
                await Witness(runtime, Scope.of_graph(graph.tenant, graph.id)).sign_if_grown()

    settings = runtime.settings
    beats = [
        # What is queued is claimed item by item, so that every runtime may help.
        Beat("indexing", settings.learning_seconds, runtime.index_worker.keep_up, leased=False),
        Beat("learning", settings.extract_seconds, runtime.learning_worker.keep_up, leased=False),
        Beat("upkeep", settings.lifecycle_seconds, runtime.lifecycle_worker.keep_up, leased=False),
        Beat("lifecycle", settings.lifecycle_seconds, lifecycle_pass),
        Beat("closed graphs", settings.closed_lifecycle_seconds, closed_pass),
        Beat("signing", settings.sign_seconds, signing_pass),
        Beat("re-embedding", settings.learning_seconds, runtime.reembedder.run_pass, leased=False),
    ]
    if runtime.archival is not None:
        seconds = runtime.settings.learning_seconds
        beats.append(Beat("archival vectors", seconds, runtime.archival.run_pass))
    passing, tenant = runtime.telemetry.passing, runtime.settings.tenant
    beats = [replace(beat, run=passing(beat.name, beat.run)) for beat in beats]
    meta_clock = MetaAgentClock(beats, leases, owner, runtime.clock, group=tenant)
    await stack.enter_async_context(meta_clock)
    runtime = replace(runtime, meta_clock=meta_clock)
    most = settings.index_backlog_max
    return replace(runtime, backlog=Backlog(runtime.index_depth, runtime.wake_learning, most))


async def _keep_graphs(runtime: Runtime, state: GraphState) -> None:
    """Queue the recurring work of the tenant's graphs of one state, and move them on if need be.

    Archived graphs go with the closed ones, for what is kept for so long and no longer.
    """
    for graph in await runtime.graphs.graphs(runtime.settings.tenant):
        is_archived = state is GraphState.CLOSED and graph.state is GraphState.ARCHIVED
        if graph.state is state:
            await runtime.schedule(Scope.of_graph(graph.tenant, graph.id))
            await runtime.keeper.keep([graph], runtime.clock())
        elif is_archived:
            await runtime.schedule(Scope.of_graph(graph.tenant, graph.id), is_archived=True)
        if graph.state is state or is_archived:
            await retire(runtime, graph)
