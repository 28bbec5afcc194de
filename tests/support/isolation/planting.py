"""Puts a world into the stores, each record by its own writer."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from itertools import pairwise
from typing import Any

from tiers.fleet import CATALOG
from tiers.ports import HotStore, WarmStore
from tiers.records import (
    AgentRecord,
    Budget,
    Commitment,
    MeshResult,
    Parent,
    Scope,
    SessionGraph,
    Usage,
    Work,
    WorkDraft,
)

from ..tier_samples import NOW
from .worlds import Corner, House, Planted, World

CAPACITY = 256
TOKENS = 1_000
"""What the first owner has used; each after it one more, so that a count names its owner."""

_LEASE_SECONDS = 30 * 86_400.0


async def plant_hot(hot: HotStore, world: World) -> None:
    """Fill the cache of every agent as its first owner sees it; forget what lies in none."""
    kept: dict[tuple[str, str, str], Corner] = {}
    for corner in world.corners:
        kept.setdefault((*corner.house, corner.agent_id), corner)
    cached = set(kept.values())
    world.planted[:] = [one for one in world.planted if one.corner in cached]
    seqs: dict[Corner, int] = defaultdict(int)
    for one in world.planted:
        scope = one.corner.scope()
        if one.kind == "turn":
            seqs[one.corner] += 1
            turn = one.record.model_copy(update={"seq": seqs[one.corner]})
            await hot.append(scope, turn, CAPACITY)
        elif one.kind == "belief":
            await hot.pin(scope, one.record)
        elif one.kind == "mesh":
            result = MeshResult(source="telemetry", text=one.record, queried_at=one.recorded_at)
            await hot.put_mesh(scope, result)


async def plant_warm(warm: WarmStore, world: World) -> None:
    """Index everything that has a text."""
    for house in world.houses:
        found = [
            one.entry for one in world.planted if one.corner.house == house and one.is_searchable
        ]
        await warm.upsert(Scope.of_graph(*house), found)


async def plant_cold(cold: Any, world: World) -> tuple[Sequence[Work], Sequence[Work]]:
    """Store everything; return items that their graphs hold claimed, and items that are parked."""
    by_corner: dict[Corner, list[Planted]] = defaultdict(list)
    for one in world.planted:
        by_corner[one.corner].append(one)
    for tenant in world.tenants:
        await _graphs(cold, [house for house in world.houses if house[0] == tenant])
    for number, (corner, found) in enumerate(by_corner.items()):
        for one in found:
            await _put(cold, corner.scope(), one)
        used = Usage(tokens=TOKENS + number)
        await cold.usage.charge(corner.scope(), used, Budget(), Budget())
    held: list[Work] = []
    parked: list[Work] = []
    for house in world.houses:
        claimed = await cold.queue.claim(
            ("learn",), "planter", 2, _LEASE_SECONDS, NOW, scope=Scope.of_graph(*house)
        )
        held += claimed[:1]
        for work in claimed[1:]:
            await cold.queue.fail(work, "will not do", None)
            parked.append(work)
    return held, parked


async def _graphs(cold: Any, houses: Sequence[House]) -> None:
    """Make the graphs of a tenant, each the child of the one before; the catalog is nobody's."""
    names = [graph_id for _, graph_id in houses if graph_id != CATALOG]
    parents = {child: parent for parent, child in pairwise(names)}
    for tenant, graph_id in houses:
        links = [Parent(id=parents[graph_id], linked_at=NOW)] if graph_id in parents else []
        await cold.graphs.create_graph(
            SessionGraph(tenant=tenant, id=graph_id, parents=tuple(links), created_at=NOW)
        )


async def _put(cold: Any, scope: Scope, one: Planted) -> None:
    record = one.record
    work = [WorkDraft(kind="index", key=one.id)]
    put: dict[str, Callable[[], Awaitable[object]]] = {
        "turn": lambda: cold.turns.append_turn(scope, record, work),
        "summary": lambda: cold.episodic.put_summary(scope, record),
        "episode": lambda: cold.episodic.put_episode(scope, record),
        "core": lambda: cold.semantic.put_fact(scope, record),
        "archival": lambda: cold.semantic.put_fact(scope, record),
        "rule": lambda: cold.procedural.put_rule(scope, record),
        "card": lambda: cold.board.post(scope, record),
        "quarantined": lambda: cold.quarantine.hold(scope, record),
        "belief": lambda: _commit(cold, scope, record),
        "trust": lambda: cold.beliefs.set_trust(
            scope.for_graph(), one.corner.agent_id, one.mark, record, one.mark, one.recorded_at
        ),
        "head": lambda: cold.heads.put_head(scope.for_graph(), record),
        "document": lambda: cold.archive.import_rows(scope.tenant, "documents", [record]),
        "passage": lambda: cold.archive.import_rows(scope.tenant, "passages", [record]),
        "receipt": lambda: cold.log.put_receipt(scope, record),
        "audit": lambda: cold.log.append_audit(scope, "said", (one.id,), record, one.recorded_at),
        "work": lambda: cold.queue.enqueue(scope, [record], one.recorded_at),
        "agent": lambda: cold.fleet.spawn(_member(one)),
        # The reader is called like its mark: whoever is told how far it is has read of another.
        "watermark": lambda: cold.watermarks.advance(scope, one.mark, record, one.recorded_at),
    }
    if one.kind in put:
        await put[one.kind]()


async def _commit(cold: Any, scope: Scope, belief: Commitment) -> None:
    """Commit to a belief that has no rival: one with a rival would not be there."""
    assert (await cold.beliefs.commit(scope, belief)).is_new


def _member(one: Planted) -> AgentRecord:
    return AgentRecord(
        tenant=one.corner.tenant,
        graph_id=one.corner.graph_id,
        id=one.corner.agent_id,
        role=one.record,
        user_id=one.corner.user_id,
        topics=one.corner.topics,
        spawned_at=one.recorded_at,
        seen_at=one.recorded_at + timedelta(minutes=1),
    )
