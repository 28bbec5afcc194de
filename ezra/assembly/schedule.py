"""The recurring passes of a runtime: what its meta-agents do by themselves, and how often."""

from __future__ import annotations

from contextlib import AsyncExitStack
from dataclasses import replace
from typing import TYPE_CHECKING

from metaagents.clock import Beat, MetaAgentClock
from tiers.records import GraphState, Scope

from ..beliefs.proofs import Witness
from ..erasure.redaction import retire
from ..parts import Parts
from ..rights.backlog import Backlog

if TYPE_CHECKING:
    from tiers.cold.stores import LeaseStore


async def with_clock(parts: Parts, leases: LeaseStore, owner: str, stack: AsyncExitStack) -> Parts:
    """Return the parts with the background clock running, if the settings want one.

    Args:
        parts: What there is.
        leases: Where the right to a pass is taken.
        owner: Names this runtime in them.
        stack: Stops the clock when it closes.
    """
    if not parts.settings.background:
        return parts

    async def lifecycle_pass() -> None:
        await parts.membership.keep()
        await _keep_graphs(parts, GraphState.ACTIVE)
        await parts.lifecycle_worker.drain()

    async def closed_pass() -> None:
        await _keep_graphs(parts, GraphState.CLOSED)
        await parts.lifecycle_worker.drain()

    async def signing_pass() -> None:
        for graph in await parts.graphs.graphs(parts.settings.tenant):
            if graph.state is not GraphState.ARCHIVED:
                await Witness(parts, Scope.of_graph(graph.tenant, graph.id)).sign_if_grown()

    settings = parts.settings
    beats = [
        # What is queued is claimed item by item, so that every runtime may help.
        Beat("indexing", settings.learning_seconds, parts.index_worker.keep_up, leased=False),
        Beat("learning", settings.extract_seconds, parts.learning_worker.keep_up, leased=False),
        Beat("upkeep", settings.lifecycle_seconds, parts.lifecycle_worker.keep_up, leased=False),
        Beat("lifecycle", settings.lifecycle_seconds, lifecycle_pass),
        Beat("closed graphs", settings.closed_lifecycle_seconds, closed_pass),
        Beat("signing", settings.sign_seconds, signing_pass),
        Beat("re-embedding", settings.learning_seconds, parts.reembedder.run_pass, leased=False),
    ]
    if parts.archival is not None:
        seconds = parts.settings.learning_seconds
        beats.append(Beat("archival vectors", seconds, parts.archival.run_pass))
    passing, tenant = parts.telemetry.passing, parts.settings.tenant
    beats = [replace(beat, run=passing(beat.name, beat.run)) for beat in beats]
    meta_clock = MetaAgentClock(beats, leases, owner, parts.clock, group=tenant)
    await stack.enter_async_context(meta_clock)
    parts = replace(parts, meta_clock=meta_clock)
    most = settings.index_backlog_max
    return replace(parts, backlog=Backlog(parts.index_depth, parts.wake_learning, most))


async def _keep_graphs(parts: Parts, state: GraphState) -> None:
    """Queue the recurring work of the tenant's graphs of one state, and move them on if need be.

    Archived graphs go with the closed ones, for what is kept for so long and no longer.
    """
    for graph in await parts.graphs.graphs(parts.settings.tenant):
        is_archived = state is GraphState.CLOSED and graph.state is GraphState.ARCHIVED
        if graph.state is state:
            await parts.schedule(Scope.of_graph(graph.tenant, graph.id))
            await parts.keeper.keep([graph], parts.clock())
        elif is_archived:
            await parts.schedule(Scope.of_graph(graph.tenant, graph.id), is_archived=True)
        if graph.state is state or is_archived:
            await retire(parts, graph)
