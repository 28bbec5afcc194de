"""Attempts through the public API: what an agent, a graph or a tenant asks for."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Any

from ezra import Fact
from ezra.handles.agent import OpenTurn
from tiers.errors import NotFound
from tiers.fleet import CATALOG
from tiers.ids import derived_id
from tiers.records import ALL_TOPICS, UNRECORDED, Ancestor, AuditFilter, Commitment, Scope

from .aims import INNER, OUTER, Aim
from .attempts import FORGED, Method, Move, Touch, graph_of
from .oracle import Reach, permitted
from .worlds import LATER, SHARED_WORDS, Corner, House, Planted, PlantedKind, World

LIMIT = 100
KEPT = ("turn", "core", "archival", "rule", "belief")
FACTS = ("core", "archival")
OPEN = (*OUTER, "private")
"""What stands between an operator, who sees every user and topic, and a victim."""


def ancestors_of(world: World, house: House) -> tuple[Ancestor, ...]:
    """Return the ancestors that a graph of the world has, whatever an engine says.

    Each graph of a tenant inherits from the one before, and all from the catalog.
    """
    tenant, graph_id = house
    names = [name for owner, name in world.houses if owner == tenant]
    before = names[: names.index(graph_id)][::-1] if graph_id in names else []
    chain = [Ancestor(graph_id=name, path=(name,)) for name in before]
    carried = ("document", "fact", "rule")
    return (*chain, Ancestor(graph_id=CATALOG, path=(CATALOG,), carries=carried))


def _agent(aim: Aim) -> Scope | None:
    """Return the attacker's scope as a handle can have it; ``None`` when it sees the victim."""
    changes = {
        "agent_id": aim.scope.agent_id or "nobody",
        "every_user": False,
        "lineage": ancestors_of(aim.world, aim.house),
    }
    return _blind(aim, aim.scope.model_copy(update=changes))


def _operator(aim: Aim) -> Scope | None:
    """Return the scope of a graph's handle; ``None`` when it sees the victim."""
    whole = Scope.of_graph(*aim.house)
    lineage = ancestors_of(aim.world, aim.house)
    return _blind(aim, whole.model_copy(update={"lineage": lineage}))


def _blind(aim: Aim, scope: Scope) -> Scope | None:
    if scope.graph_id == CATALOG:
        return None
    return None if permitted(Reach.FAMILY, scope, aim.victim) else scope


def _auditor(aim: Aim) -> Scope | None:
    """Return the scope of a graph's history; ``None`` when it sees the victim."""
    whole = Scope.of_graph(*aim.house)
    seen = whole.graph_id == CATALOG or permitted(Reach.GRAPH, whole, aim.victim)
    return None if seen else whole


Asked = Callable[[Any], Awaitable[object]] | Move | None
"""What is asked of an open handle; ``None``: this aim is nothing for it."""


def _attack(
    who: Callable[[Aim], Scope | None], opened: Callable[[Any, Scope], Awaitable[Any]]
) -> Callable[[Callable[[Aim, Scope], Asked]], Callable[[Aim], Move | None]]:
    """Return what makes moves of questions to a handle, for the tenant whose turn it is.

    A runtime is opened once per batch. A look-alike is a graph of that tenant, then. What is asked
    may be new in the asker's graph.
    """

    def attacking(asking: Callable[[Aim, Scope], Asked]) -> Callable[[Aim], Move | None]:
        def made(aim: Aim) -> Move | None:
            aim = replace(aim, scope=aim.scope.model_copy(update={"tenant": aim.home[0]}))
            scope = who(aim)
            asked = None if scope is None else asking(aim, scope)
            if scope is None or asked is None:
                return None
            move = asked if isinstance(asked, Move) else Move(asked, graph_of(scope))

            async def call(runtimes: Any) -> object:
                return await move.call(await opened(runtimes, scope))

            return replace(move, call=call, scope=move.scope or scope)

        return made

    return attacking


async def _itself(runtimes: Any, _: Scope) -> Any:
    return runtimes


_by_agent = _attack(_agent, lambda runtimes, scope: runtimes.agent(scope))
_by_operator = _attack(_operator, lambda runtimes, scope: runtimes.graph(scope))
_by_auditor = _attack(_auditor, lambda runtimes, scope: runtimes.graph(scope))
_by_tenant = _attack(_operator, _itself)


def _mine(aim: Aim, scope: Scope, kind: PlantedKind, *, private: bool = False) -> str:
    """Return the mark of what the attacker writes, noted under all topics that it will carry."""
    mark = aim.world.new_mark()
    held = () if ALL_TOPICS in scope.topics else scope.topics
    topics = tuple(topic for topic in held if topic not in scope.denied)
    agent_id = scope.agent_id or ""
    corner = Corner(*aim.house, agent_id, scope.user_id, topics, private=private)
    aim.world.note(Planted(kind, corner, mark, mark, LATER))
    return mark


def _question(aim: Aim) -> str:
    return aim.word(aim.random.choice([f"{aim.victim.mark} {SHARED_WORDS}", SHARED_WORDS]))


def _seen(turn: OpenTurn) -> object:
    return turn.slots, turn.dropped, turn.shadowed, turn.messages


@_by_agent
def turn(aim: Aim, scope: Scope) -> Asked:
    """Speak, and look at the context; sometimes be remembered."""
    mark = _mine(aim, scope, "turn")
    # The mark stands first: of one subject, each would teach a fact that ends the one before it.
    text, replies = f"{mark} {aim.word(SHARED_WORDS)}", aim.random.random() < 0.3

    async def call(agent: Any) -> object:
        opened = await agent.turn(text)
        if replies:
            await opened.reply(mark, [{"tool": "telemetry", "output": text}])
        return agent.core_at_spawn, _seen(opened)

    return call


@_by_agent
def turn_of_ref(aim: Aim, scope: Scope) -> Asked:
    """Reply under the victim's own name for a turn."""
    mark, ref = _mine(aim, scope, "turn"), aim.victim.record.ref

    async def call(agent: Any) -> object:
        opened = await agent.turn(mark, ref=ref)
        return _seen(opened), await opened.reply(mark)

    return call


@_by_agent
def turn_of_topics(aim: Aim, scope: Scope) -> Asked:
    """Speak under the victim's topics."""
    if ALL_TOPICS in scope.topics:
        return None
    mark, topics = _mine(aim, scope, "turn"), aim.victim.corner.topics

    async def call(agent: Any) -> object:
        return _seen(await agent.turn(mark, topics=topics))

    return call


@_by_agent
def recall(aim: Aim, scope: Scope) -> Asked:
    """Recall the victim's exact words."""
    text = _question(aim)

    async def call(agent: Any) -> object:
        found = await agent.recall(text, limit=LIMIT)
        return found.items

    return call


@_by_agent
def recall_archival(aim: Aim, scope: Scope) -> Asked:
    """Recall for the victim's user and topics, which narrow and never widen."""
    text, corner = _question(aim), aim.victim.corner
    user = aim.random.choice([None, corner.user_id])
    topics = aim.random.choice([None, corner.topics])
    return lambda agent: agent.recall_archival(text, user_id=user, scope_topics=topics, limit=LIMIT)


@_by_agent
def beliefs(aim: Aim, scope: Scope) -> Asked:
    """Ask for the beliefs that are active, or were."""
    moment = aim.random.choice([None, None, 1, 10**6])
    return lambda agent: agent.beliefs(moment)


@_by_agent
def pin(aim: Aim, scope: Scope) -> Asked:
    """Pin the victim's belief."""
    return lambda agent: agent.pin(aim.victim.id)


@_by_agent
def remember(aim: Aim, scope: Scope) -> Asked:
    """Remember a fact that says to be the victim's."""
    private = aim.random.random() < 0.3
    mark, corner = _mine(aim, scope, "archival", private=private), aim.victim.corner
    forged = Fact(
        text=f"{mark} {aim.word(SHARED_WORDS)}",
        id=aim.victim.id,
        tenant=corner.tenant,
        graph_id=corner.graph_id,
        agent_id=corner.agent_id,
        user_id=corner.user_id,
        superseded_by=aim.victim.id,
        uses=99,
        source_ids=(aim.victim.id,),
        private=private,
    )
    return Move(lambda agent: agent.remember(forged), graph_of(scope), FORGED)


@_by_agent
def remember_instead(aim: Aim, scope: Scope) -> Asked:
    """Put a fact in the place of the victim's."""
    text = _mine(aim, scope, "archival")
    return lambda agent: agent.remember(text, supersedes=aim.victim.id)


@_by_agent
def commit(aim: Aim, scope: Scope) -> Asked:
    """Commit to something about the victim's own key and topic."""
    corner = aim.victim.corner
    topic = corner.topics[0] if corner.topics else None
    mark, key = aim.world.new_mark(), aim.victim.record.key
    belief_id = derived_id(UNRECORDED, "belief", *aim.house, mark)
    topics = () if topic is None else (topic,)
    writer = Corner(*aim.house, scope.agent_id or "", scope.user_id, topics, private=False)
    belief = Commitment(claim=mark, topic=topic, key=key)
    rivals = [one for one in _beliefs(aim) if _is_rival(one, writer, belief)]
    if aim.victim in rivals:
        return None  # of the same key, topic and user: it may take the victim's place
    aim.world.note(Planted("belief", writer, mark, belief_id, LATER, belief))
    replaced = [Touch(*aim.house, record_id=one.id) for one in rivals]
    return Move(
        lambda agent: agent.commit(mark, topic=topic, key=key, value=mark, ref=mark),
        (*graph_of(scope), *replaced),
    )


def _beliefs(aim: Aim) -> list[Planted]:
    places = aim.world.by_place.items()
    found = [one for place, these in places if place[:2] == aim.house for one in these]
    return [one for one in found if one.kind == "belief"]


def _is_rival(one: Planted, writer: Corner, belief: Commitment) -> bool:
    said = (one.record.key, one.record.topic, one.corner.user_id)
    return said == (belief.key, belief.topic, writer.user_id)


@_by_auditor
def history(aim: Aim, _: Scope) -> Asked:
    """Ask for everything that a graph's belief history has, and for the victim by its id."""
    victim, key = aim.victim, aim.victim.record.key

    async def call(graph: Any) -> object:
        asked = graph.beliefs
        found = [await asked.query(key=key), await asked.query(agent_id=victim.corner.agent_id)]
        found += [await asked.as_of(turn=2), await asked.active(), await asked.logged()]
        found += [await asked.events(), await asked.trusts(), await asked.heads()]
        if not aim.world.holds(aim.house, victim.id):
            for ask in (asked.explain, asked.pin, asked.unpin):
                with suppress(NotFound):
                    found.append(await ask(victim.id))
            for change in (asked.revert, asked.redact):
                with suppress(NotFound):
                    found.append(await change(victim.id, reason="no longer"))
        return found

    return call


@_by_operator
def facts(aim: Aim, scope: Scope) -> Asked:
    """Ask a graph for facts by the victim's ids."""
    ids = aim.ids()
    return lambda graph: graph.facts(ids)


@_by_operator
def turns_by_ref(aim: Aim, scope: Scope) -> Asked:
    """Ask a graph for turns by the victim's own names for them."""
    refs = [aim.victim.record.ref, aim.word("chat:0:0")]
    return lambda graph: graph.turns_by_ref(refs)


@_by_operator
def graph_recall(aim: Aim, scope: Scope) -> Asked:
    """Recall as the operator of a graph."""
    text = _question(aim)

    async def call(graph: Any) -> object:
        found = await graph.recall(text, limit=LIMIT)
        return found.items

    return call


@_by_tenant
def graph_reads(aim: Aim, scope: Scope) -> Asked:
    """Read everything else that a graph's handle has, and a receipt by the victim's id."""
    only = AuditFilter(graph_id=aim.victim.corner.graph_id)

    async def call(runtimes: Any) -> object:
        graph = await runtimes.graph(scope)
        found = [await graph.summaries(), await graph.episodes(), await graph.audit(only=only)]
        found += [await graph.agents(), await graph.status(), await graph.usage_by_agent()]
        ezra = await runtimes.of(scope.tenant)
        found += [await ezra.audit(only=only), await ezra.session_graphs()]
        found += [await ezra.parked_work(), await ezra.rerun_work([aim.victim.id])]
        with suppress(NotFound):
            found.append(await graph.receipt(aim.victim.id))
            found.append(await graph.replay_context(aim.victim.id))
        return found

    return call


@_by_operator
def redact(aim: Aim, scope: Scope) -> Asked:
    """Redact by ids of another house."""
    ids = aim.foreign_ids()
    if not ids or aim.is_inner:
        return None
    reason = aim.word("asked to")
    return lambda graph: graph.redact(ids, reason=reason)


@_by_tenant
def inherit(aim: Aim, scope: Scope) -> Asked:
    """Let a new graph inherit from the victim's, by an id that only another tenant has."""
    corner = aim.victim.corner
    if corner.tenant == scope.tenant:
        return None
    graph_id = f"heir {aim.random.getrandbits(40)}"

    async def call(runtimes: Any) -> object:
        ezra = await runtimes.of(scope.tenant)
        parents = [name for owner, name in aim.world.houses if owner == scope.tenant]
        if corner.graph_id in parents:
            return None
        return await ezra.create_session_graph(graph_id, inherits_from=[corner.graph_id])

    return Move(call, (Touch(scope.tenant, graph_id),))


@_by_tenant
def catalog(aim: Aim, scope: Scope) -> Asked:
    """Ask the own catalog for what another's has."""
    if aim.victim.corner.tenant == scope.tenant:
        return None
    text, ids = _question(aim), aim.ids()
    at_catalog = scope.model_copy(update={"graph_id": CATALOG, "lineage": ()})

    async def call(runtimes: Any) -> object:
        found = await (await runtimes.of(scope.tenant)).catalog()
        hits = (await found.recall(text, limit=LIMIT)).items
        return hits, await found.facts(ids), await found.core(), await found.rules(text)

    return Move(call, (Touch(scope.tenant, CATALOG),), scope=at_catalog)


@_by_tenant
def drain(aim: Aim, scope: Scope) -> Asked:
    """Finish the learning of the tenant: what was used, compared, and read."""

    async def call(runtimes: Any) -> object:
        return await (await runtimes.of(scope.tenant)).drain_learning()

    # Which facts were used or compared before is not this attempt's to say, nor which playbooks
    # were spoken of, how far was read, or which beliefs and facts gave way.
    learnt = [Touch(scope.tenant, None, table=name) for name in ("facts", "rules", "watermarks")]
    gone = [
        Touch(tenant, graph_id, record_id=record_id, table="points")
        for (tenant, graph_id, record_id), found in aim.world.by_place.items()
        if tenant == scope.tenant and any(one.kind in _LEAVING for one in found)
    ]
    return Move(call, (Touch(scope.tenant, None), *learnt, *gone))


_LEAVING = frozenset(("belief", *FACTS))
"""What leaves the warm index when it gives way."""

_F, _G = Reach.FAMILY, Reach.GRAPH
_ALL = (*OUTER, *INNER)

RUNTIME_METHODS = (
    Method("agent.turn", _F, turn, KEPT, _ALL, weight=5),
    Method("agent.turn", _F, turn_of_ref, ("turn",), _ALL, weight=2),
    Method("agent.turn", _F, turn_of_topics, KEPT, ("topic",)),
    Method("agent.recall", _F, recall, KEPT, _ALL, weight=5),
    Method("agent.recall_archival", _F, recall_archival, ("archival",), _ALL, weight=2),
    Method("agent.beliefs", _F, beliefs, ("belief",), _ALL, weight=2),
    Method("agent.pin", _F, pin, ("belief",), _ALL, weight=2),
    Method("agent.remember", _F, remember, FACTS, _ALL, weight=2),
    Method("agent.remember", _F, remember_instead, FACTS, _ALL, weight=2),
    Method("agent.commit", _F, commit, ("belief",), _ALL, weight=2),
    Method("graph.beliefs", _G, history, ("belief",), OUTER, weight=2),
    Method("graph.facts", _F, facts, FACTS, OPEN, weight=2),
    Method("graph.turns_by_ref", _F, turns_by_ref, ("turn",), OPEN),
    Method("graph.recall", _F, graph_recall, KEPT, OPEN, weight=2),
    Method("graph.receipt", _F, graph_reads, KEPT, OPEN),
    Method("graph.redact", _F, redact, ("turn", "core", "rule"), OUTER),
    Method("ezra.create_session_graph", _F, inherit, KEPT, ("tenant",)),
    Method("ezra.catalog", _F, catalog, FACTS, ("tenant",)),
    Method("ezra.drain_learning", _F, drain, FACTS, OUTER),
)
