"""Asking the stores what came of a record, graph by graph."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import timedelta

from tiers.errors import NotFound, UsageError, check_within
from tiers.history.visibility import sees
from tiers.ids import first_id
from tiers.owned import Owned
from tiers.paging import parts
from tiers.records import Receipt, Record, Scope
from tiers.taint import Exposure, Reason, Resting, TaintedKind

from ...runtime import Runtime
from ..family import adopted_id, branches_of, heirs_of
from .walk import ASKED_AT_ONCE, Shown, TaintNode, Walk, counted

GRAPHS_MAX = 1_000
RECEIPTS_MAX = 50_000
RECEIPTS_PER_PAGE = 500
ORIGINS_MAX = 100
ORIGINS_DEEP_MAX = 16
PAGE_MAX = 1_000
KEPT_TO_ONE = "only this graph was looked through: others take a token for every graph"
CLOCKS_APART = timedelta(minutes=10)
"""A receipt may have been made by a process whose clock is this much behind."""


class Trace(Record):
    """What came of a record, and what it came of.

    Attributes:
        record_id: The record; the first of all nodes is it.
        origins: What it names as its sources, what these name, and so on, with who wrote them.
        nodes: A page of the tree, each record behind what it comes of.
        counts: How many there are in all, by exposure and kind, the root included.
        total: How many nodes the whole tree has.
        cursor: What ``after`` is for the next page; ``None`` after the last.
        is_whole: Nothing was left out for a limit.
        notes: What was left out, in words.
    """

    record_id: str
    graph_id: str
    origins: tuple[Resting, ...]
    nodes: tuple[TaintNode, ...]
    counts: dict[Exposure, dict[TaintedKind, int]]
    total: int
    cursor: int | None = None
    is_whole: bool = True
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Traced:
    """The whole tree of a record, and where it was looked for.

    Attributes:
        walk: What was found.
        family: The graphs that may have read the record's graph, itself first.
        notes: What was left out, in words.
    """

    walk: Walk
    root: Resting
    family: tuple[Scope, ...]
    notes: tuple[str, ...]


def looked_through(
    scope: Scope, others: Iterable[Scope], *, reads_others: bool
) -> tuple[list[Scope], list[str]]:
    """Return the graphs that are looked through for a record's traces, and what is left out.

    Args:
        scope: Of the record's graph.
        others: Of those that may have read it.
        reads_others: Whether who asks may look into them.
    """
    family = list({one.graph_id: one for one in (scope, *others)}.values())
    if len(family) > 1 and not reads_others:
        return [scope], [KEPT_TO_ONE]
    if len(family) > GRAPHS_MAX:
        left_out = f"only {GRAPHS_MAX:,} of {len(family):,} graphs were looked through"
        return family[:GRAPHS_MAX], [left_out]
    return family, []


async def traced(
    runtime: Runtime, scope: Scope, record_id: str, *, reads_others: bool = True
) -> Traced:
    """Return everything that came of a record of the scope's graph.

    Raises:
        NotFound: The graph has no such record.
        TierError: The cold tier failed.
    """
    root = await described(runtime, scope, record_id)
    branches = await _branches(runtime, scope)
    others = (*await heirs_of(runtime, scope), *branches)
    family, notes = looked_through(scope, others, reads_others=reads_others)
    branches = branches if reads_others else []
    walk = Walk(root)
    while page := walk.page():
        await _rest(runtime, walk, family, branches, page)
    shown, has_all = await shown_since(runtime, family, root)
    if not has_all:
        notes.append(f"only {RECEIPTS_MAX:,} receipts were looked through: exposure may lack some")
    walk.expose()
    while page := walk.page():
        turn_ids = await asyncio.to_thread(walk.show, shown, page)
        for there in family:
            walk.answered(await _described(runtime, there, turn_ids))
        exposed = [node for node in page if node.exposure == "exposed"]
        await _rest(runtime, walk, family, branches, exposed, turn_ids)
    if not walk.is_whole:
        notes.append(f"the tree has more than {len(walk.nodes):,} records")
    return Traced(walk, root, tuple(family), tuple(notes))


async def trace(
    runtime: Runtime,
    scope: Scope,
    record_id: str,
    *,
    limit: int,
    after: int,
    reads_others: bool = True,
) -> Trace:
    """Return a page of the tree of a record.

    Raises:
        NotFound: The graph has no such record.
        UsageError: A number is out of range.
    """
    check_within("limit", limit, 1, PAGE_MAX)
    if after < 0:
        raise UsageError("after", after, "the cursor of a page, or 0 to begin")
    found = await traced(runtime, scope, record_id, reads_others=reads_others)
    nodes = found.walk.nodes
    end = after + limit
    return Trace(
        record_id=record_id,
        graph_id=scope.graph_id,
        origins=await _origins(runtime, scope, found, reads_others=reads_others),
        nodes=tuple(nodes[after:end]),
        counts={name: dict(kinds) for name, kinds in counted(nodes).items()},
        total=len(nodes),
        cursor=end if end < len(nodes) else None,
        is_whole=not found.notes,
        notes=found.notes,
    )


def sees_node(scope: Scope, node: TaintNode | Resting) -> bool:
    """Whether an agent's scope sees a record of its own graph; a receipt is its agent's."""
    if node.graph_id != scope.graph_id:
        return False  # what came of it in graphs that inherit is nothing that they give back
    if node.kind == "receipt":
        return node.agent_id == scope.agent_id
    owned = node.model_dump(include={"id", "graph_id", "agent_id", "user_id", "topics", "private"})
    return sees(scope, Owned(tenant=scope.tenant, **owned))


async def described(runtime: Runtime, scope: Scope, record_id: str) -> Resting:
    """Return a record as a trace sees it.

    Raises:
        NotFound: The graph has no such record.
    """
    found = await runtime.taint.described(scope, [record_id])
    if not found:
        raise NotFound("record", record_id)
    return found[0]


async def _rest(
    runtime: Runtime,
    walk: Walk,
    family: Sequence[Scope],
    branches: Sequence[Scope],
    page: Sequence[TaintNode],
    turn_ids: Sequence[str] = (),
) -> None:
    """Note what rests on a page of records, and on turns that were shown some."""
    ids = list(dict.fromkeys((*(node.id for node in page), *turn_ids)))
    for there in family:
        for some in parts(ids, ASKED_AT_ONCE):
            walk.add(await runtime.taint.resting_on(there, some))
    beliefs = [node.id for node in page if node.kind == "belief"]
    for branch in branches:
        copies = {adopted_id(branch, one): one for one in beliefs}
        for copy in await _described(runtime, branch, list(copies)):
            reason = Reason(id=copies[copy.id], how="adopted from")
            walk.add([copy.model_copy(update={"reasons": (*copy.reasons, reason)})])


async def _described(runtime: Runtime, scope: Scope, ids: Sequence[str]) -> list[Resting]:
    found: list[Resting] = []
    for some in parts(list(dict.fromkeys(ids)), ASKED_AT_ONCE):
        found += await runtime.taint.described(scope, some)
    return found


async def _branches(runtime: Runtime, scope: Scope) -> list[Scope]:
    """Return the graphs that were branched from the scope's, and from these."""
    found: dict[str, Scope] = {}
    waiting = [scope]
    while waiting and len(found) < GRAPHS_MAX:
        for branch in await branches_of(runtime, waiting.pop()):
            if branch.graph_id not in found:
                found[branch.graph_id] = branch
                waiting.append(branch)
    return list(found.values())


async def shown_since(
    runtime: Runtime, family: Iterable[Scope], root: Resting
) -> tuple[list[Shown], bool]:
    """Return what was shown in the graphs since the record was there, and whether that is all."""
    shown: list[Shown] = []
    for scope in family:
        after = first_id(root.recorded_at - CLOCKS_APART)
        while True:
            if len(shown) >= RECEIPTS_MAX:
                return shown, False
            page = await runtime.log.receipts(scope, after, RECEIPTS_PER_PAGE)
            shown += map(shown_in, page)
            if len(page) < RECEIPTS_PER_PAGE:
                break
            after = page[-1].id
    return shown, True


def shown_in(receipt: Receipt) -> Shown:
    """Return which records a receipt showed. A slot names its record first, then its sources."""
    named = (slot.get("source_ids") for slot in receipt.body.get("slots", ()))
    return Shown(
        Resting(
            graph_id=receipt.graph_id,
            kind="receipt",
            id=receipt.id,
            agent_id=receipt.agent_id,
            recorded_at=receipt.recorded_at,
        ),
        str(receipt.body.get("turn_id") or "") if receipt.kind == "turn" else "",
        frozenset(ids[0] for ids in named if ids),
    )


async def _origins(
    runtime: Runtime, scope: Scope, found: Traced, *, reads_others: bool
) -> tuple[Resting, ...]:
    """Return what a record rests on, and that in turn, nearest first; ancestors' included."""
    lineage = (await runtime.membership.of_graph(scope)).lineage if reads_others else ()
    graphs = (scope, *(Scope.of_graph(scope.tenant, one.graph_id) for one in lineage))
    known: dict[str, Resting] = {}
    waiting = [reason.id for reason in found.root.reasons]
    for _ in range(ORIGINS_DEEP_MAX):
        asked = [one for one in dict.fromkeys(waiting) if one not in known]
        asked = asked[: ORIGINS_MAX - len(known)]
        if not asked:
            break
        waiting = []
        for there in graphs:
            for one in await _described(runtime, there, asked):
                known.setdefault(one.id, one)
                waiting += [reason.id for reason in one.reasons]
    return tuple(known.values())
