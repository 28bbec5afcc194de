"""Everything that deletes, redacts, clears, closes, archives, expires, replaces or drops.

Each step is done to one tenant. What it does there does not matter; the others must not notice.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import Any

from tiers.cold.ownership import WORK_KINDS
from tiers.documents import PassageDraft
from tiers.errors import ConfigError, EzraError, NotFound
from tiers.records import (
    AuditFilter,
    BranchPoint,
    Budget,
    Commitment,
    Episode,
    GraphState,
    IndexEntry,
    MeshResult,
    Parent,
    Retention,
    Scope,
    SessionGraph,
    Settlement,
    SignedHead,
    Summary,
    Usage,
    Work,
)

from .ruin import LEARNT_STEPS, Ruin, Step
from .worlds import LATER, House

_TRIES = 8


async def destroyed(ports: Any, ruin: Ruin, steps: Mapping[str, Step], count: int) -> None:
    """Take random steps; one that is refused is a step too."""
    names = sorted(steps)
    for number in range(count):
        name = names[number] if number < len(names) else ruin.random.choice(names)
        ruin.now += timedelta(minutes=1)
        try:
            await steps[name](ports, ruin)
        except EzraError:
            continue
        ruin.done[name] = ruin.done.get(name, 0) + 1


# The cold tier.


async def _redact(cold: Any, ruin: Ruin) -> object:
    one = ruin.record(
        *("turn", "summary", "episode", "core", "archival", "rule", "belief"),
        *("document", "passage", "card", "quarantined"),
    )
    scope = ruin.scope(one.corner.house)
    await cold.redactor.begin_erasure(scope, f"{ruin.now}", subject="zebra")
    await cold.redactor.erase_reasons(scope, "because", ruin.now)
    await cold.redactor.erase_roles(scope, "zebra", "because", ruin.now)
    await cold.redactor.blank_receipts(scope, subject="zebra")
    return await cold.redactor.redact(scope, [one.id], "asked to", ruin.now)


async def _rewrite(cold: Any, ruin: Ruin) -> object:
    one = ruin.record("summary", "episode")
    scope = ruin.scope(one.corner.house)
    await cold.redactor.redact(scope, [one.id], "asked to", ruin.now)
    for record in await cold.redactor.redacted(scope, [one.id]):
        left = await cold.redactor.left_of(scope, record)
        text = f"what is left of {len(left)}"
        await cold.redactor.rewrite(scope, record.model_copy(update={"text": text}))
    return one


async def _set_state(cold: Any, ruin: Ruin) -> object:
    # Archived graphs refuse most of what comes after, so they do not stay it.
    scope = ruin.scope()
    for state in ruin.random.sample(list(GraphState), 2):
        await cold.graphs.set_state(scope, state, ruin.now)
    return await cold.graphs.set_state(scope, GraphState.ACTIVE, ruin.now)


async def _unlink(cold: Any, ruin: Ruin) -> object:
    scope = ruin.scope()
    graph = await cold.graphs.graph(*_place(scope))
    for parent in graph.inherits_from:
        await cold.graphs.unlink(scope, parent)
    if graph.inherits_from:
        await cold.graphs.link(scope, Parent(id=graph.inherits_from[0], linked_at=ruin.now))
    return graph


async def _configure(cold: Any, ruin: Ruin) -> object:
    budget, retention = Budget(writes=0), Retention(summary_ttl_hours=0.1)
    return await cold.graphs.configure(ruin.scope(), budget=budget, retention=retention)


async def _leave(cold: Any, ruin: Ruin) -> object:
    silent = ruin.random.choice([None, ruin.now])
    await cold.fleet.leave(ruin.corner.scope(), ruin.now, silent_since=silent)
    for member in await cold.fleet.silent(ruin.tenant, ruin.now, 3):
        gone = Scope.of_graph(ruin.tenant, member.graph_id).for_agent(member.id)
        await cold.fleet.leave(gone, ruin.now, silent_since=ruin.now)
    return None


async def _refund(cold: Any, ruin: Ruin) -> object:
    return await cold.usage.refund(ruin.corner.scope(), Usage(tokens=10**9, writes=10**9))


async def _supersede(cold: Any, ruin: Ruin) -> object:
    old = ruin.record("core", "archival")
    new = old.record.model_copy(update={"id": f"new {ruin.now}", "text": f"other {ruin.now}"})
    scope = old.corner.scope()
    stored, _ = await cold.semantic.put_fact(scope, new)
    return await cold.semantic.supersede(scope, old.id, stored.id, ruin.now)


async def _set_tier(cold: Any, ruin: Ruin) -> object:
    one = ruin.record("core", "archival")
    scope = one.corner.scope()
    moved = [
        await cold.semantic.set_tier(
            scope, fact, "archival" if fact.tier == "core" else "core", "in use", ruin.now
        )
        for fact in await cold.semantic.facts(scope, [one.id])
    ]
    if not any(moved):
        raise NotFound("fact to move", one.id)
    return moved


async def _commit(cold: Any, ruin: Ruin) -> object:
    one = ruin.record("belief")
    changes = {"id": f"belief {ruin.now}", "claim": f"other {ruin.now}", "recorded_at": ruin.now}
    belief: Commitment = one.record.model_copy(update=changes)
    scope = one.corner.scope()
    met = await cold.beliefs.commit(scope, belief)
    settled = [
        Settlement(rival_id=rival.belief.id, winner="new", strategy="last_write_wins", decided=True)
        for rival in met.unsettled
    ]
    return await cold.beliefs.commit(scope, belief, settled)


async def _revert(cold: Any, ruin: Ruin) -> object:
    scope = ruin.scope()
    belief = ruin.random.choice(await _active(cold, scope))
    await cold.beliefs.pin(scope, belief.id, ruin.now)
    await cold.beliefs.unpin(scope, belief.id, ruin.now)
    return await cold.beliefs.revert(scope, belief.id, "was wrong", ruin.now)


async def _rewind(cold: Any, ruin: Ruin) -> object:
    scope = ruin.scope()
    to_seq = ruin.random.randrange(await cold.history.seq_at(scope) + 1)
    return await cold.beliefs.rewind(scope, to_seq, "was all wrong", ruin.now)


async def _distrust(cold: Any, ruin: Ruin) -> object:
    scope, corner = ruin.scope(), ruin.corner
    topic = ruin.random.choice([None, *corner.topics[:1]])
    trust = ruin.random.random()
    return await cold.beliefs.set_trust(scope, corner.agent_id, topic, trust, "no", ruin.now)


async def _branch(cold: Any, ruin: Ruin) -> object:
    """Branch a graph, and sign a head of the branch."""
    parent, name = ruin.scope(), f"branch {ruin.now}"
    graph = SessionGraph(tenant=ruin.tenant, id=name, created_at=ruin.now)
    await cold.graphs.create_graph(graph)
    scope, nothing = Scope.of_graph(ruin.tenant, name), "0" * 64
    known = {"seq": 1, "last_hash": nothing, "root": nothing, "turn": 0}
    point = BranchPoint(graph_id=parent.graph_id, **known)
    adopted = [
        belief.model_copy(
            update={"id": f"{name} {belief.id}", "graph_id": name, "origin_id": belief.id}
        )
        for belief in await cold.beliefs.active(parent)
    ]
    await cold.beliefs.adopt(scope, point, adopted, ruin.now)
    head = SignedHead(
        tenant=ruin.tenant, graph_id=name, size=1, last_hash=nothing, root=nothing,
        signed_at=ruin.now, public_key="key",
    )  # fmt: skip
    return await cold.heads.put_head(scope, head)


async def _active(cold: Any, scope: Scope) -> Sequence[Commitment]:
    found: Sequence[Commitment] = await cold.beliefs.active(scope)
    if not found:
        raise NotFound("active belief", scope.graph_id)
    return found


async def _summarise(cold: Any, ruin: Ruin) -> object:
    turn = ruin.record("turn")
    scope = turn.corner.scope()
    summary = Summary(
        text="an extract", covers=(turn.id,), starts_at=LATER, ends_at=LATER, level=1
    ).stamped(scope, f"summary {ruin.now}", ruin.now)
    await cold.episodic.put_summary(scope, summary)
    episode = Episode(
        grain="weekly", text="a week", children=(summary.id,), starts_at=LATER, ends_at=LATER
    ).stamped(scope, f"episode {ruin.now}", ruin.now)
    return await cold.episodic.put_episode(scope, episode)


async def _finish(cold: Any, ruin: Ruin) -> object:
    found: tuple[Work, ...] = await cold.queue.claim(
        WORK_KINDS, "worker", 3, 60, ruin.now, tenant=ruin.tenant
    )
    ways: list[Callable[[Work], Awaitable[object]]] = [
        cold.queue.complete,
        lambda work: cold.queue.fail(work, "no", None),
        lambda work: cold.queue.defer(work, ruin.now),
    ]
    for work in found:
        await ruin.random.choice(ways)(work)
    parked = await cold.queue.parked(tenant=ruin.tenant)
    return await cold.queue.rerun([work.id for work in parked[:1]], tenant=ruin.tenant)


async def _audit(cold: Any, ruin: Ruin) -> object:
    await cold.log.append_audit(ruin.scope(), "denied", ("x",), "because", ruin.now)
    return await cold.log.tenant_audit(ruin.tenant, 0, 10, AuditFilter(kinds=("denied",)))


def _place(scope: Scope) -> House:
    return scope.tenant, scope.graph_id


async def _shelve(cold: Any, ruin: Ruin) -> object:
    """Revise a document, and remove it."""
    one = ruin.record("document")
    scope = one.corner.scope()
    (known,) = await cold.shelf.documents(scope, [one.id])
    changes = {"revision": known.revision + 1, "digest": f"{ruin.now}", "title": "other"}
    if known.redacted_at is None:
        # One that was redacted is called otherwise, and stored under another id by this name.
        document = known.model_copy(update={**changes, "changed_at": ruin.now})
        await cold.shelf.revise(scope, document, [PassageDraft("other words")])
    return await cold.shelf.remove(scope, [one.id], "gone", ruin.now)


COLD_STEPS: dict[str, Step] = {
    "shelf": _shelve,
    "redact": _redact,
    "rewrite": _rewrite,
    "set_state": _set_state,
    "unlink": _unlink,
    "configure": _configure,
    "leave": _leave,
    "refund": _refund,
    "supersede": _supersede,
    "set_tier": _set_tier,
    "commit": _commit,
    "revert": _revert,
    "rewind": _rewind,
    "distrust": _distrust,
    "branch": _branch,
    "summarise": _summarise,
    **LEARNT_STEPS,
    "finish": _finish,
    "audit": _audit,
}


# The warm tier.


async def _delete(warm: Any, ruin: Ruin) -> object:
    one = ruin.record("turn", "core", "archival", "rule", "belief")
    return await warm.delete(ruin.scope(one.corner.house), [one.id, "no such id", one.mark])


async def _expire(warm: Any, ruin: Ruin) -> object:
    return await warm.delete_expired(ruin.scope(), ruin.now + timedelta(days=400))


async def _replace(warm: Any, ruin: Ruin) -> object:
    one = ruin.record("turn", "rule", "belief")
    entry: IndexEntry = one.entry.model_copy(update={"text": f"other {ruin.now}", "vector": None})
    return await warm.upsert(ruin.scope(one.corner.house), [entry])


async def _flush(warm: Any, _ruin: Ruin) -> object:
    return await warm.flush()


WARM_STEPS: dict[str, Step] = {
    "delete": _delete,
    "expire": _expire,
    "replace": _replace,
    "flush": _flush,
}


# The hot tier.


async def _clear(hot: Any, ruin: Ruin) -> object:
    return await hot.clear(ruin.corner.scope())


async def _unpin(hot: Any, ruin: Ruin) -> object:
    one = ruin.record("belief")
    return await hot.unpin(one.corner.scope(), one.id)


async def _overflow(hot: Any, ruin: Ruin) -> object:
    one = ruin.record("turn")
    later = one.record.model_copy(update={"seq": int(ruin.now.timestamp())})
    return await hot.append(one.corner.scope(), later, 1)


async def _restore(hot: Any, ruin: Ruin) -> object:
    one = ruin.record("turn")
    return await hot.restore(one.corner.scope(), [one.record.model_copy(update={"seq": 1})], 1)


async def _other_view(hot: Any, ruin: Ruin) -> object:
    result = MeshResult(source="x", text="y", queried_at=ruin.now)
    return await hot.put_mesh(ruin.corner.scope(user_id="somebody else", topics=()), result)


HOT_STEPS: dict[str, Step] = {
    "clear": _clear,
    "unpin": _unpin,
    "overflow": _overflow,
    "restore": _restore,
    "other view": _other_view,
}


# The whole runtime, through the public API.


async def _redact_public(runtimes: Any, ruin: Ruin) -> object:
    one = ruin.record("turn", "core", "archival", "rule")
    graph = await runtimes.graph(ruin.scope(one.corner.house))
    return await graph.redact([one.id], reason="asked to")


async def _close(runtimes: Any, ruin: Ruin) -> object:
    graph = await runtimes.graph(ruin.scope())
    await graph.close()
    return await graph.reopen()


async def _archive(runtimes: Any, ruin: Ruin) -> object:
    ezra = await runtimes.of(ruin.tenant)
    graph = await ezra.create_session_graph(f"doomed {ruin.now}")
    agent = await graph.spawn_agent("pit", topics={"tyres"})
    await agent.remember("The doomed know this.")
    return await graph.archive()


async def _supersede_public(runtimes: Any, ruin: Ruin) -> object:
    """Put a fact in the place of one that is still there, and not in the catalog."""
    for _ in range(_TRIES):
        one = ruin.record("core", "archival")
        with suppress(EzraError):
            agent = await runtimes.agent(one.corner.scope())
            return await agent.remember(f"other {ruin.now}", supersedes=one.id)
    raise NotFound("fact to supersede", ruin.tenant)


async def _overrule(runtimes: Any, ruin: Ruin) -> object:
    one = ruin.record("belief")
    agent = await runtimes.agent(one.corner.scope())
    await agent.pin(one.id)
    topic = one.record.topic
    return await agent.commit(f"other {ruin.now}", topic=topic, key=one.record.key)


async def _take_back(runtimes: Any, ruin: Ruin) -> object:
    """Take back what was believed: one belief, then all of them, then destroy one."""
    graph = await runtimes.graph(ruin.scope(ruin.record("belief").corner.house))
    active = await graph.beliefs.active()
    if active:
        await graph.beliefs.revert(ruin.random.choice(active).id, reason="was wrong")
    await graph.beliefs.rewind(seq=0, reason="was all wrong")
    known = await graph.beliefs.query()
    await graph.beliefs.set_trust(known[0].agent_id, ruin.random.random(), reason="was wrong")
    return await graph.beliefs.redact(ruin.random.choice(known).id, reason="asked to")


async def _erase(runtimes: Any, ruin: Ruin) -> object:
    one = ruin.record("turn", "core", "archival", "rule", "belief")
    graph = await runtimes.graph(ruin.scope(one.corner.house))
    user = one.corner.user_id
    if user is None or ruin.random.random() < 0.5:
        return await graph.erase(subject=one.mark, reason="asked to")
    return await graph.erase(user_id=user, reason="asked to")


async def _branch_public(runtimes: Any, ruin: Ruin) -> object:
    graph = await runtimes.graph(ruin.scope(ruin.record("belief").corner.house))
    branch = await graph.branch(session_graph_id=f"branch {ruin.now}")
    with suppress(ConfigError):  # there is no key where all tiers are on servers
        await graph.beliefs.sign()
    return await branch.beliefs.active()


async def _leave_public(runtimes: Any, ruin: Ruin) -> object:
    return await (await runtimes.agent(ruin.corner.scope())).leave()


async def _revoke(runtimes: Any, ruin: Ruin) -> object:
    graph = await runtimes.graph(ruin.scope())
    for parent in graph.inherits_from:
        await graph.revoke(parent)
        await graph.inherit(parent)
    return graph


async def _age(runtimes: Any, ruin: Ruin) -> object:
    """Let time pass, so that everything expires that can, and nobody is heard any more."""
    runtimes.clock.move(days=200)
    graph_id = ruin.house[1]
    ezra = await runtimes.of(ruin.tenant)
    return await ezra.run_lifecycle_tick(graph_id)


async def _learn(runtimes: Any, ruin: Ruin) -> object:
    agent = await runtimes.agent(ruin.corner.scope())
    await (await agent.turn(f"What do we know of zebra mediums? {ruin.now}")).reply("18 laps")
    return await (await runtimes.of(ruin.tenant)).drain_learning()


RUNTIME_STEPS: dict[str, Step] = {
    "redact": _redact_public,
    "close": _close,
    "archive": _archive,
    "supersede": _supersede_public,
    "overrule": _overrule,
    "take back": _take_back,
    "erase": _erase,
    "branch": _branch_public,
    "leave": _leave_public,
    "revoke": _revoke,
    "age": _age,
    "learn": _learn,
}
