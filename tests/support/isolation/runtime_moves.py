"""Attempts through the public API: what an agent, a graph or a tenant asks for."""

from __future__ import annotations

from collections.abc import Callable
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


def _at_home(make: Callable[[Aim], Move | None]) -> Callable[[Aim], Move | None]:
    """Return the same for the tenant whose turn it is: a runtime is opened once per batch.

    A look-alike is a graph of that tenant, then.
    """

    def made(aim: Aim) -> Move | None:
        scope = aim.scope.model_copy(update={"tenant": aim.home[0]})
        return make(replace(aim, scope=scope))

    return made


def _blind(aim: Aim, scope: Scope) -> Scope | None:
    if scope.graph_id == CATALOG:
        return None
    return None if permitted(Reach.FAMILY, scope, aim.victim) else scope


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


def turn(aim: Aim) -> Move | None:
    """Speak, and look at the context; sometimes be remembered."""
    scope = _agent(aim)
    if scope is None:
        return None
    mark = _mine(aim, scope, "turn")
    # The mark stands first: of one subject, each would teach a fact that ends the one before it.
    text, replies = f"{mark} {aim.word(SHARED_WORDS)}", aim.random.random() < 0.3

    async def call(runtimes: Any) -> object:
        agent = await runtimes.agent(scope)
        opened = await agent.turn(text)
        if replies:
            await opened.reply(mark, [{"tool": "telemetry", "output": text}])
        return agent.core_at_spawn, _seen(opened)

    return Move(call, graph_of(scope), scope=scope)


def turn_of_ref(aim: Aim) -> Move | None:
    """Reply under the victim's own name for a turn."""
    scope = _agent(aim)
    if scope is None:
        return None
    mark, ref = _mine(aim, scope, "turn"), aim.victim.record.ref

    async def call(runtimes: Any) -> object:
        opened = await (await runtimes.agent(scope)).turn(mark, ref=ref)
        return _seen(opened), await opened.reply(mark)

    return Move(call, graph_of(scope), scope=scope)


def turn_of_topics(aim: Aim) -> Move | None:
    """Speak under the victim's topics."""
    scope = _agent(aim)
    if scope is None or ALL_TOPICS in scope.topics:
        return None
    mark, topics = _mine(aim, scope, "turn"), aim.victim.corner.topics

    async def call(runtimes: Any) -> object:
        return _seen(await (await runtimes.agent(scope)).turn(mark, topics=topics))

    return Move(call, graph_of(scope), scope=scope)


def recall(aim: Aim) -> Move | None:
    """Recall the victim's exact words."""
    scope = _agent(aim)
    if scope is None:
        return None
    text = _question(aim)

    async def call(runtimes: Any) -> object:
        found = await (await runtimes.agent(scope)).recall(text, limit=LIMIT)
        return found.items

    return Move(call, graph_of(scope), scope=scope)


def recall_archival(aim: Aim) -> Move | None:
    """Recall for the victim's user and topics, which narrow and never widen."""
    scope = _agent(aim)
    if scope is None:
        return None
    text, corner = _question(aim), aim.victim.corner
    user = aim.random.choice([None, corner.user_id])
    topics = aim.random.choice([None, corner.topics])

    async def call(runtimes: Any) -> object:
        agent = await runtimes.agent(scope)
        return await agent.recall_archival(text, user_id=user, scope_topics=topics, limit=LIMIT)

    return Move(call, graph_of(scope), scope=scope)


def beliefs(aim: Aim) -> Move | None:
    """Ask for the beliefs that are active, or were."""
    scope = _agent(aim)
    if scope is None:
        return None
    moment = aim.random.choice([None, None, 1, 10**6])

    async def call(runtimes: Any) -> object:
        return await (await runtimes.agent(scope)).beliefs(moment)

    return Move(call, graph_of(scope), scope=scope)


def pin(aim: Aim) -> Move | None:
    """Pin the victim's belief."""
    scope = _agent(aim)
    if scope is None:
        return None

    async def call(runtimes: Any) -> object:
        return await (await runtimes.agent(scope)).pin(aim.victim.id)

    return Move(call, graph_of(scope), scope=scope)


def remember(aim: Aim) -> Move | None:
    """Remember a fact that says to be the victim's."""
    scope = _agent(aim)
    if scope is None:
        return None
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

    async def call(runtimes: Any) -> object:
        return await (await runtimes.agent(scope)).remember(forged)

    return Move(call, graph_of(scope), FORGED, scope)


def remember_instead(aim: Aim) -> Move | None:
    """Put a fact in the place of the victim's."""
    scope = _agent(aim)
    if scope is None:
        return None
    text = _mine(aim, scope, "archival")

    async def call(runtimes: Any) -> object:
        agent = await runtimes.agent(scope)
        return await agent.remember(text, supersedes=aim.victim.id)

    return Move(call, graph_of(scope), scope=scope)


def commit(aim: Aim) -> Move | None:
    """Commit to something about the victim's own key and topic."""
    scope, corner = _agent(aim), aim.victim.corner
    topic = corner.topics[0] if corner.topics else None
    if scope is None:
        return None
    mark, key = aim.world.new_mark(), aim.victim.record.key
    belief_id = derived_id(UNRECORDED, "belief", *aim.house, mark)
    topics = () if topic is None else (topic,)
    writer = Corner(*aim.house, scope.agent_id or "", scope.user_id, topics, private=False)
    belief = Commitment(claim=mark, topic=topic, key=key)
    rivals = [one for one in _beliefs(aim) if _is_rival(one, writer, belief)]
    if aim.victim in rivals:
        return None  # of the same key, topic and user: it may take the victim's place
    aim.world.note(Planted("belief", writer, mark, belief_id, LATER, belief))

    async def call(runtimes: Any) -> object:
        agent = await runtimes.agent(scope)
        return await agent.commit(mark, topic=topic, key=key, value=mark, ref=mark)

    replaced = [Touch(*aim.house, record_id=one.id) for one in rivals]
    return Move(call, (*graph_of(scope), *replaced), scope=scope)


def _beliefs(aim: Aim) -> list[Planted]:
    places = aim.world.by_place.items()
    found = [one for place, these in places if place[:2] == aim.house for one in these]
    return [one for one in found if one.kind == "belief"]


def _is_rival(one: Planted, writer: Corner, belief: Commitment) -> bool:
    said = (one.record.key, one.record.topic, one.corner.user_id)
    return said == (belief.key, belief.topic, writer.user_id)


def history(aim: Aim) -> Move | None:
    """Ask for everything that a graph's belief history has, and for the victim by its id."""
    whole, victim = Scope.of_graph(*aim.house), aim.victim
    if whole.graph_id == CATALOG or permitted(Reach.GRAPH, whole, victim):
        return None
    key = victim.record.key

    async def call(runtimes: Any) -> object:
        asked = (await runtimes.graph(whole)).beliefs
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

    return Move(call, graph_of(whole), scope=whole)


def facts(aim: Aim) -> Move | None:
    """Ask a graph for facts by the victim's ids."""
    scope = _operator(aim)
    if scope is None:
        return None
    ids = aim.ids()

    async def call(runtimes: Any) -> object:
        return await (await runtimes.graph(scope)).facts(ids)

    return Move(call, graph_of(scope), scope=scope)


def turns_by_ref(aim: Aim) -> Move | None:
    """Ask a graph for turns by the victim's own names for them."""
    scope = _operator(aim)
    if scope is None:
        return None
    refs = [aim.victim.record.ref, aim.word("chat:0:0")]

    async def call(runtimes: Any) -> object:
        return await (await runtimes.graph(scope)).turns_by_ref(refs)

    return Move(call, graph_of(scope), scope=scope)


def graph_recall(aim: Aim) -> Move | None:
    """Recall as the operator of a graph."""
    scope = _operator(aim)
    if scope is None:
        return None
    text = _question(aim)

    async def call(runtimes: Any) -> object:
        found = await (await runtimes.graph(scope)).recall(text, limit=LIMIT)
        return found.items

    return Move(call, graph_of(scope), scope=scope)


def graph_reads(aim: Aim) -> Move | None:
    """Read everything else that a graph's handle has, and a receipt by the victim's id."""
    scope = _operator(aim)
    if scope is None:
        return None
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

    return Move(call, graph_of(scope), scope=scope)


def redact(aim: Aim) -> Move | None:
    """Redact by ids of another house."""
    scope = _operator(aim)
    ids = aim.foreign_ids()
    if scope is None or not ids or aim.is_inner:
        return None
    reason = aim.word("asked to")

    async def call(runtimes: Any) -> object:
        return await (await runtimes.graph(scope)).redact(ids, reason=reason)

    return Move(call, graph_of(scope), scope=scope)


def inherit(aim: Aim) -> Move | None:
    """Let a new graph inherit from the victim's, by an id that only another tenant has."""
    scope = _operator(aim)
    corner = aim.victim.corner
    if scope is None or corner.tenant == scope.tenant:
        return None
    graph_id = f"heir {aim.random.getrandbits(40)}"

    async def call(runtimes: Any) -> object:
        ezra = await runtimes.of(scope.tenant)
        parents = [name for owner, name in aim.world.houses if owner == scope.tenant]
        if corner.graph_id in parents:
            return None
        return await ezra.create_session_graph(graph_id, inherits_from=[corner.graph_id])

    return Move(call, (Touch(scope.tenant, graph_id),), scope=scope)


def catalog(aim: Aim) -> Move | None:
    """Ask the own catalog for what another's has."""
    scope = _operator(aim)
    if scope is None or aim.victim.corner.tenant == scope.tenant:
        return None
    text, ids = _question(aim), aim.ids()
    at_catalog = scope.model_copy(update={"graph_id": CATALOG, "lineage": ()})

    async def call(runtimes: Any) -> object:
        found = await (await runtimes.of(scope.tenant)).catalog()
        hits = (await found.recall(text, limit=LIMIT)).items
        return hits, await found.facts(ids), await found.core(), await found.rules(text)

    return Move(call, (Touch(scope.tenant, CATALOG),), scope=at_catalog)


def drain(aim: Aim) -> Move | None:
    """Finish the learning of the tenant: what was used, compared, and read."""
    scope = _operator(aim)
    if scope is None:
        return None

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
    return Move(call, (Touch(scope.tenant, None), *learnt, *gone), scope=scope)


_LEAVING = frozenset(("belief", *FACTS))
"""What leaves the warm index when it gives way."""

_F, _G = Reach.FAMILY, Reach.GRAPH
_ALL = (*OUTER, *INNER)

RUNTIME_METHODS = (
    Method("agent.turn", _F, _at_home(turn), KEPT, _ALL, weight=5),
    Method("agent.turn", _F, _at_home(turn_of_ref), ("turn",), _ALL, weight=2),
    Method("agent.turn", _F, _at_home(turn_of_topics), KEPT, ("topic",)),
    Method("agent.recall", _F, _at_home(recall), KEPT, _ALL, weight=5),
    Method("agent.recall_archival", _F, _at_home(recall_archival), ("archival",), _ALL, weight=2),
    Method("agent.beliefs", _F, _at_home(beliefs), ("belief",), _ALL, weight=2),
    Method("agent.pin", _F, _at_home(pin), ("belief",), _ALL, weight=2),
    Method("agent.remember", _F, _at_home(remember), FACTS, _ALL, weight=2),
    Method("agent.remember", _F, _at_home(remember_instead), FACTS, _ALL, weight=2),
    Method("agent.commit", _F, _at_home(commit), ("belief",), _ALL, weight=2),
    Method("graph.beliefs", _G, _at_home(history), ("belief",), OUTER, weight=2),
    Method("graph.facts", _F, _at_home(facts), FACTS, OPEN, weight=2),
    Method("graph.turns_by_ref", _F, _at_home(turns_by_ref), ("turn",), OPEN),
    Method("graph.recall", _F, _at_home(graph_recall), KEPT, OPEN, weight=2),
    Method("graph.receipt", _F, _at_home(graph_reads), KEPT, OPEN),
    Method("graph.redact", _F, _at_home(redact), ("turn", "core", "rule"), OUTER),
    Method("ezra.create_session_graph", _F, _at_home(inherit), KEPT, ("tenant",)),
    Method("ezra.catalog", _F, _at_home(catalog), FACTS, ("tenant",)),
    Method("ezra.drain_learning", _F, _at_home(drain), FACTS, OUTER),
)
