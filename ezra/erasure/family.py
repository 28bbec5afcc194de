"""The graphs that hold what rests on a graph's records: those that inherit, and its branches.

Inherited records are read by reference, and others may name them as their source. A branch has
copies of beliefs, each under an id that follows from that of its origin.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from metaagents.lifecycle.retention import RETENTION
from tiers.fleet import CATALOG
from tiers.ids import derived_id
from tiers.paging import pages_of, parts
from tiers.records import UNRECORDED, AuditFilter, BeliefQuery, Scope

from ..runtime import Runtime
from .feed import EVENTS_PER_PAGE

RECORDS_PER_PAGE = 500


async def heirs_of(runtime: Runtime, scope: Scope) -> list[Scope]:
    """Return the graphs that inherit from the scope's, and all that ever revoked a link."""
    graphs = await runtime.graphs.graphs(scope.tenant)
    if scope.graph_id == CATALOG:
        return [Scope.of_graph(one.tenant, one.id) for one in graphs if one.id != CATALOG]
    heirs, found = {scope.graph_id}, 0
    while found < len(heirs):
        found = len(heirs)
        heirs |= {one.id for one in graphs if not heirs.isdisjoint(one.inherits_from)}
    heirs |= await _once_linked(runtime, scope.tenant)
    theirs = heirs - {scope.graph_id, CATALOG}
    return [Scope.of_graph(one.tenant, one.id) for one in graphs if one.id in theirs]


async def _once_linked(runtime: Runtime, tenant: str) -> set[str]:
    """Return the graphs that revoked a link, to whichever graph."""
    read = partial(runtime.log.tenant_audit, tenant, only=AuditFilter(kinds=("revoked",)))
    pages = pages_of(read, lambda event: event.position, EVENTS_PER_PAGE)
    return {event.graph_id async for page in pages for event in page}


async def branches_of(runtime: Runtime, scope: Scope) -> list[Scope]:
    """Return the graphs whose beliefs began as those of the scope's graph, linked to it or not."""
    return (await all_branches(runtime, scope.tenant)).get(scope.graph_id, [])


async def all_branches(runtime: Runtime, tenant: str) -> dict[str, list[Scope]]:
    """Return the branches of each graph of a tenant that has any."""
    found: dict[str, list[Scope]] = {}
    for graph in await runtime.graphs.graphs(tenant):
        branch = Scope.of_graph(graph.tenant, graph.id)
        first = await runtime.history.logged(branch, 0, 1)
        if first and first[0].event.kind == "branched":
            left = (first[0].said or {}).get("graph_id")
            found.setdefault(str(left), []).append(branch)
    return found


async def copies_in(runtime: Runtime, branch: Scope, belief_ids: Sequence[str]) -> list[str]:
    """Return the copies of beliefs that a branch holds."""
    wanted = [adopted_id(branch, one) for one in belief_ids]
    copies: list[str] = []
    for page in parts(wanted, RECORDS_PER_PAGE):
        query = BeliefQuery(ids=tuple(page), limit=RECORDS_PER_PAGE)
        copies += [one.id for one in await runtime.history.query(branch, query)]
    return copies


def adopted_id(branch: Scope, belief_id: str) -> str:
    """Return the id that a belief of the graph that was branched has in the branch."""
    return derived_id(UNRECORDED, "adopted", branch.tenant, branch.graph_id, belief_id)


async def resting_on(runtime: Runtime, heir: Scope, record_ids: Sequence[str]) -> list[str]:
    """Return the records of a graph that have content and name one of another's as their source."""
    found: dict[str, None] = {}
    for page in parts(record_ids, RECORDS_PER_PAGE):
        resting = await runtime.taint.resting_on(heir, page)
        found |= dict.fromkeys(one.id for one in resting if not one.is_gone or one.is_kept)
    return list(found)


async def orphans_in(runtime: Runtime, scope: Scope, branch: Scope) -> list[str]:
    """Return the copies that a branch holds of beliefs that were redacted in the scope's graph.

    Not of those that retention has redacted there: a branch keeps to a retention of its own.
    """
    copies: dict[str, str] = {}
    place = 0
    while True:
        query = BeliefQuery(after=place, limit=RECORDS_PER_PAGE)
        page = await runtime.history.query(branch, query)
        adopted = [one for one in page if one.origin_id is not None]
        copies |= {one.origin_id or "": one.id for one in adopted if one.redacted_at is None}
        # A branch begins with them: none is behind one of its own.
        if len(adopted) < RECORDS_PER_PAGE:
            break
        place = page[-1].committed_seq
    gone: list[str] = []
    for some in parts(list(copies), RECORDS_PER_PAGE):
        query = BeliefQuery(ids=tuple(some), limit=RECORDS_PER_PAGE)
        origins = await runtime.history.query(scope, query)
        gone += [one.id for one in origins if one.redacted_at is not None]
    return [copies[one] for one in gone if not await _is_retired(runtime, scope, one)]


async def _is_retired(runtime: Runtime, scope: Scope, belief_id: str) -> bool:
    """Whether it was retention that redacted a belief, by what its log says."""
    events = await runtime.history.naming(scope, belief_id)
    reasons = ((one.said or {}).get("reason") for one in events if one.event.kind == "redacted")
    return any(str(reason).startswith(RETENTION) for reason in reasons)
