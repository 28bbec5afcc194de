"""Rolling back what came of a poisoned record, and undoing or confirming that.

The cold tier comes first, in one transaction over all graphs: it is done or it is not. After it no
recall and no context has what was set aside, since what the rings and the index hold is looked up
in cold. What follows (rings cleared, the index cleaned, summaries and episodes made anew of what is
left of them) is finished by repeating the call, if the process died in between.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field

from tiers.errors import ConfigError, Conflict, TierError, TierTimeout, UsageError
from tiers.paging import parts
from tiers.records import Episode, Scope, Summary
from tiers.taint import ITEMS_MAX, SET_ASIDE, RollBack, RolledBack
from tiers.upkeep import Redacted

from ...checks import check_text
from ...runtime import Runtime
from .tracing import Traced, traced
from .walk import TaintNode, Walk

ATTEMPTS_MAX = 20
REWRITTEN_AT_ONCE = 500

_MADE_ANEW = frozenset({"summary", "episode"})


@dataclass(frozen=True)
class RollBackReport:
    """What a roll-back, its undoing or its confirmation did, or would do.

    Attributes:
        roll_back: The roll-back, with everything that it changed.
        dry_run: Nothing was written.
        rebuilt: Summaries and episodes that have a new text, made of what is left of them.
        notes: What was left out of the trace, in words.
        waiting: Stores that are not clean yet, each with the reason and what will clean it.
    """

    roll_back: RollBack
    dry_run: bool = False
    rebuilt: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    waiting: dict[str, str] = field(default_factory=dict)


async def roll_back(
    runtime: Runtime,
    scope: Scope,
    record_id: str,
    reason: str,
    *,
    dry_run: bool = False,
    exposed: bool = False,
    reads_others: bool = True,
) -> RollBackReport:
    """Set aside what came of a record of the scope's graph, and revert what was believed for it.

    Repeated while its roll-back is open, it goes on with that: it takes in what has come of the
    record since, and finishes what broke off.

    Raises:
        NotFound: The graph has no such record.
        UsageError: The reason is blank, or more than ``ITEMS_MAX`` records came of it.
        Conflict: The record has no content any more, nor has anything that came of it.
        TierError: The cold tier failed; nothing was done.
    """
    check_text("reason", reason, "a reason that is not blank")
    done: RollBack | None = None
    notes: tuple[str, ...] = (f"more came of it under each of {ATTEMPTS_MAX} attempts: repeat",)
    for _ in range(ATTEMPTS_MAX):
        known = await _open_one(runtime, scope, record_id)
        found = await traced(runtime, scope, record_id, reads_others=reads_others)
        draft = _draft(runtime, scope, found, known, reason, exposed=exposed)
        if known is not None and not draft.items:
            done, notes = known, found.notes
            break
        tried = await runtime.taint.set_aside(draft, runtime.clock(), dry_run=dry_run)
        if tried is not None and dry_run:
            rebuilt = tuple(rebuilt_by(found.walk, draft.items, record_id))
            return RollBackReport(tried, dry_run=True, rebuilt=rebuilt, notes=found.notes)
        done = tried or done
    if done is not None and dry_run:
        return RollBackReport(done, dry_run=True, notes=notes)
    if done is None:
        raise TierTimeout("cold", "roll_back", "another roll-back began under each attempt")
    rebuilt, waiting = await _clean(runtime, done)
    return RollBackReport(done, rebuilt=rebuilt, notes=notes, waiting=waiting)


async def go_on_with(runtime: Runtime, scope: Scope, belief_ids: Collection[str]) -> None:
    """Go on with the open roll-backs that reverted some beliefs of the scope's graph.

    For a branch that has copies of these: it was made while they were rolled back.
    """
    for graph in await runtime.graphs.graphs(scope.tenant):
        there = Scope.of_graph(graph.tenant, graph.id)
        for known in await runtime.taint.roll_backs(there):
            named = {one.id for one in known.items if one.graph_id == scope.graph_id}
            if known.state == "open" and not named.isdisjoint(belief_ids):
                again = (there, known.record_id, known.reason)
                await roll_back(runtime, *again, exposed=known.exposed)


async def undo(runtime: Runtime, scope: Scope, roll_back_id: str, reason: str) -> RollBackReport:
    """Bring back what an open roll-back set aside and reverted.

    Raises:
        NotFound: The graph has no such roll-back.
        Conflict: It was confirmed.
        UsageError: The reason is blank.
    """
    done = await runtime.taint.undo(scope, roll_back_id, reason, runtime.clock())
    rebuilt: list[str] = []
    waiting: dict[str, str] = {}
    for graph_id in done.graph_ids:
        there = Scope.of_graph(scope.tenant, graph_id)
        runtime.reader.forget(there.tenant, there.graph_id)
        rebuilt += await _write_anew(runtime, there, done, waiting)
        await _clear_rings(runtime, there, done, waiting)
        await _index(runtime, there, waiting)
    return RollBackReport(done, rebuilt=tuple(rebuilt), waiting=waiting)


async def confirm(runtime: Runtime, scope: Scope, roll_back_id: str, reason: str) -> RollBackReport:
    """Destroy what an open roll-back keeps: it can be undone no longer.

    Raises:
        NotFound: The graph has no such roll-back.
        Conflict: It was undone.
        UsageError: The reason is blank.
    """
    done = await runtime.taint.confirm(scope, roll_back_id, reason, runtime.clock())
    return RollBackReport(done)


async def _open_one(runtime: Runtime, scope: Scope, record_id: str) -> RollBack | None:
    """Return the roll-back of a record that is open, if there is one."""
    for one in await runtime.taint.roll_backs(scope):
        if one.record_id == record_id and one.state == "open":
            return one
    return None


def _draft(
    runtime: Runtime,
    scope: Scope,
    found: Traced,
    known: RollBack | None,
    reason: str,
    *,
    exposed: bool,
) -> RollBack:
    """Return a roll-back with what it is to do now."""
    nodes = found.walk.nodes
    items = with_more(known, planned(nodes, exposed=exposed), found.walk)
    has_content = planned((one for one in nodes if not one.is_kept), exposed=exposed)
    if known is None and not has_content:
        raise Conflict(f"record {found.root.id}", "one that has its content", "one without any")
    if not found.walk.is_whole or len(items) > ITEMS_MAX:
        accepted = f"a record of which at most {ITEMS_MAX:,} came; roll back parts of its tree"
        raise UsageError("record_id", found.root.id, accepted)
    now = runtime.clock()
    if known is not None:
        return known.model_copy(update={"items": tuple(items), "exposed": exposed})
    return RollBack(
        id=runtime.ids.new(),
        tenant=scope.tenant,
        graph_id=scope.graph_id,
        record_id=found.root.id,
        reason=reason,
        made_at=now,
        exposed=exposed,
        items=tuple(items),
    )


async def _clean(runtime: Runtime, done: RollBack) -> tuple[tuple[str, ...], dict[str, str]]:
    """Clean the other stores, and write anew what can be; return that, and what waits."""
    rebuilt: list[str] = []
    waiting: dict[str, str] = {}
    for graph_id in done.graph_ids:
        there = Scope.of_graph(done.tenant, graph_id)
        redacted = Redacted(ids={kind: tuple(ids) for kind, ids in done.ids_in(graph_id).items()})
        runtime.reader.forget(there.tenant, there.graph_id)
        await _leave_index(runtime, there, redacted.all_ids, waiting)
        rebuilt += await _write_anew(runtime, there, done, waiting)
        # A turn that was under way may have put back meanwhile what it had read before.
        await _clear_rings(runtime, there, done, waiting)
        await _index(runtime, there, waiting)
    return tuple(rebuilt), waiting


async def _write_anew(
    runtime: Runtime, scope: Scope, done: RollBack, waiting: dict[str, str]
) -> tuple[str, ...]:
    """Give summaries and episodes that are set aside a new text, made of what is left of them.

    Not one that is poison itself: it would say the same again.
    """
    ids = done.ids_in(scope.graph_id)
    named = [*ids.get("summary", ()), *ids.get("episode", ())]
    if not named:
        return ()
    try:
        aside: dict[str, tuple[str, ...]] = {}
        for page in parts(named, REWRITTEN_AT_ONCE):
            for one in await runtime.redactor.redacted(scope, page):
                if isinstance(one, Summary | Episode) and one.text == SET_ASIDE:
                    kind = "summary" if isinstance(one, Summary) else "episode"
                    aside[kind] = (*aside.get(kind, ()), one.id)
        poison = {
            one.record_id for one in await runtime.taint.roll_backs(scope) if one.state != "undone"
        }
        return await runtime.lifecycle.rewrite(
            scope, Redacted(ids=aside), runtime.redactor, leave=poison
        )
    except (TierError, ConfigError) as error:
        waiting["cold"] = f"{error}; repeating the call gives summaries a new text"
        return ()


async def _clear_rings(
    runtime: Runtime, scope: Scope, done: RollBack, waiting: dict[str, str]
) -> None:
    """Clear the rings of a graph whose turns were changed, and pins of beliefs.

    They fill again from cold.
    """
    beliefs = [one.id for one in done.items if one.done == "reverted"]
    try:
        await runtime.drop_pins(scope, beliefs)
        if done.ids_in(scope.graph_id).get("turn"):
            for agent in await runtime.fleet.agents(scope):
                await runtime.hot.clear(scope.for_agent(agent.id))
    except TierError as error:
        waiting["hot"] = f"{error}; what the rings hold is looked up in cold before it is shown"


async def _leave_index(
    runtime: Runtime, scope: Scope, ids: Sequence[str], waiting: dict[str, str]
) -> None:
    try:
        await runtime.warm.delete(scope, ids)
    except (TierError, ConfigError) as error:
        waiting["warm"] = f"{error}; the queued index work removes the entries"


async def _index(runtime: Runtime, scope: Scope, waiting: dict[str, str]) -> None:
    """Let the index follow at once."""
    try:
        await runtime.index_worker.drain(scope)
    except (TierError, ConfigError) as error:
        waiting["warm"] = f"{error}; the queued index work follows"


def planned(nodes: Iterable[TaintNode], *, exposed: bool) -> list[RolledBack]:
    """Return what is to be done with each record of a tree.

    Receipts stay: they are the evidence. So does what has lost its content, and what was taken
    back already, unless another roll-back did so: what came of both stays away until the last one
    of them is undone.

    Args:
        nodes: Of the tree.
        exposed: Whether records that were only exposed are rolled back as well.
    """
    return [
        RolledBack(
            graph_id=node.graph_id,
            kind=node.kind,
            id=node.id,
            done="reverted" if node.kind == "belief" else "set aside",
            exposure=node.exposure,
        )
        for node in nodes
        if node.kind != "receipt"
        and (node.is_kept or not (node.is_gone or node.is_over))
        and (exposed or node.exposure != "exposed")
    ]


def rebuilt_by(walk: Walk, items: Sequence[RolledBack], root_id: str) -> list[str]:
    """Return the summaries and episodes that can be made anew: something else is left of them.

    Not the poisoned record itself: it would say the same again.
    """
    gone = {one.id for one in items}
    nodes = {(node.graph_id, node.id): node for node in walk.nodes}
    built: list[str] = []
    # From the bottom up: an episode is left something when one of its summaries is.
    for item in sorted(items, key=lambda one: (one.kind == "episode", _depth(nodes, one))):
        if item.kind not in _MADE_ANEW or item.id == root_id:
            continue
        sources = {reason.id for reason in walk.reasons_of(nodes[item.graph_id, item.id])}
        if sources - gone or sources & set(built):
            built.append(item.id)
    return built


def with_more(known: RollBack | None, items: Sequence[RolledBack], walk: Walk) -> list[RolledBack]:
    """Return what an open roll-back is to change yet: what it does not name, or what came back.

    Another version was put of a document that it had set aside, or a record that stood again for it
    is to go as well. A summary or an episode was made anew of what was left: it is to go again with
    a further one of its sources.
    """
    had = set() if known is None else {one.named for one in known.items}
    nodes = {(node.graph_id, node.id): node for node in walk.nodes}
    more: set[tuple[str, str, str]] = set()
    # From the bottom up: an episode is made anew when one of its summaries is.
    for item in sorted(items, key=lambda one: (one.kind == "episode", one.kind == "summary")):
        node = nodes[item.graph_id, item.id]
        if item.named not in had:
            more.add(item.named)
        elif item.kind in _MADE_ANEW:
            sources = {reason.id for reason in walk.reasons_of(node)}
            if not node.is_gone and sources & {name for *_, name in more}:
                more.add(item.named)
        elif not (node.is_gone or node.is_over):
            more.add(item.named)
    return [one for one in items if one.named in more]


def _depth(nodes: dict[tuple[str, str], TaintNode], item: RolledBack) -> int:
    return nodes[item.graph_id, item.id].depth
