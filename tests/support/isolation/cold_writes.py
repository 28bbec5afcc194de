"""Attempts on the cold tier that write records: forged ids and owners, and changes by id."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from operator import attrgetter
from typing import Any, get_args

from tiers.records import (
    Episode,
    Fact,
    Owned,
    Receipt,
    Rule,
    Scope,
    Summary,
    Superseded,
    ToolOutput,
    Turn,
    Usage,
    WorkDraft,
)
from tiers.taint import RollBack, RolledBack, TaintedKind
from tiers.turn_io import Charge, TurnWrite

from .aims import INNER, OUTER, Aim
from .attempts import (
    FORGED,
    Method,
    Move,
    Touch,
    also_of,
    answers,
    asking,
    graph_of,
    of_graph,
    own,
    text,
)
from .oracle import Reach, permitted
from .worlds import LATER, SHARED_WORDS, Corner, PlantedKind

_FACTS = ("core", "archival")
_ROLLED_BACK: tuple[TaintedKind, ...] = ("turn", "summary", "fact", "rule", "belief", "card")
_REDACTED = ("turn", "summary", "core", "rule", "belief", "card", "quarantined")


def _fresh(aim: Aim) -> str:
    return str(uuid.UUID(int=aim.random.getrandbits(128), version=4))


def of_id(aim: Aim, kind: PlantedKind, record: Owned, mark: str, record_id: str) -> Any:
    """Return the attacker's own record under an id, noted as its own."""
    corner = own(aim, kind, record_id, mark).corner
    shown = {"topics": corner.topics, "private": corner.private}
    return record.model_copy(update=shown).stamped(aim.scope, record_id, LATER)


def _mark(aim: Aim) -> str:
    return aim.word(aim.victim.mark)


def _forged(aim: Aim, record: Any, mark: str) -> Any:
    """Return the record with owner fields that are the victim's."""
    corner = aim.victim.corner
    if aim.is_inner:
        changes: dict[str, Any] = {"user_id": corner.user_id, "agent_id": corner.agent_id}
        changes |= {"private": corner.private}
    else:
        changes = aim.random.choice(
            [
                {"tenant": corner.tenant, "graph_id": corner.graph_id},
                {"tenant": corner.tenant},
                {"tenant": corner.tenant, "graph_id": corner.graph_id, "agent_id": corner.agent_id},
            ]
        )
    forged = record.model_copy(update=changes)
    as_forged = Corner(
        forged.tenant,
        forged.graph_id,
        forged.agent_id,
        forged.user_id,
        forged.topics,
        private=forged.private,
    )
    also_of(aim, aim.world.by_mark[mark][0], as_forged)
    return forged


def id_of_victim_or_new(aim: Aim, *kinds: str) -> str:
    """Return an id for a record of these kinds: no record of another kind may lie under it."""
    new = aim.word(_fresh(aim))
    is_taken = aim.victim.kind not in kinds and aim.world.holds(aim.house, aim.victim.id)
    return new if is_taken else aim.random.choice([aim.victim.id, new])


def variant(aim: Aim, record: Any, mark: str) -> tuple[Any, str]:
    """Return a record as it is or with a forged owner, and the class of attack."""
    is_same_owner = aim.boundary in {"topic", "denied"}
    if not is_same_owner and aim.random.random() < 0.4:
        return _forged(aim, record, mark), FORGED
    return record, ""


def _work(aim: Aim) -> list[WorkDraft]:
    key = aim.word("key 0")
    return [WorkDraft(kind="index", key=key, agent_id=aim.victim.corner.agent_id)]


def append_turn(aim: Aim) -> Move:
    """Store a turn under the victim's id or ``ref``."""
    mark = aim.world.new_mark()
    ref = aim.random.choice([aim.victim.record.ref, aim.name("chat:new"), None])
    record = Turn(
        ref=ref,
        speaker=aim.word("")[:200],
        input=f"{mark} {aim.word()}",
        response=mark,
        tool_outputs=(ToolOutput(tool=aim.name(), output=aim.word()),),
        occurred_at=LATER,
    )
    turn = of_id(aim, "turn", record, mark, id_of_victim_or_new(aim, "turn"))
    turn, label = variant(aim, turn, mark)
    work = _work(aim)
    return Move(
        lambda cold: cold.turns.append_turn(aim.scope, turn, work), graph_of(aim.scope), label
    )


def keep_turn(aim: Aim) -> Move:
    """Do the same at the desk, and charge it."""
    move = append_turn(aim)
    return replace(move, call=lambda cold: move.call(_AtTheDesk(cold)))


def keep_turns(aim: Aim) -> Move:
    """Do the same with a history."""
    move = append_turn(aim)
    return replace(move, call=lambda cold: move.call(_AtTheDesk(cold, keeps_many=True)))


class _AtTheDesk:
    """A cold tier whose turns and receipts are kept at the desk."""

    def __init__(self, cold: Any, *, keeps_many: bool = False) -> None:
        self._desk = cold.desk
        self._keeps_many = keeps_many
        self.turns = self.log = self

    async def append_turn(self, scope: Scope, turn: Turn, work: Sequence[WorkDraft]) -> Any:
        charge = Charge(Usage(writes=1))
        if not self._keeps_many:
            return await self._desk.keep_turn(scope, turn, work, charge)
        return (await self._desk.keep_turns([TurnWrite(scope, turn, work, charge)]))[0]

    async def put_receipt(self, scope: Scope, receipt: Receipt) -> Any:
        return await self._desk.keep_receipt(scope, receipt, [], Charge(Usage(tokens=1)))


def keep_receipt(aim: Aim) -> Move:
    """Store a receipt at the desk, and charge it."""
    move = put_receipt(aim)
    return replace(move, call=lambda cold: move.call(_AtTheDesk(cold)))


def put_summary(aim: Aim) -> Move | None:
    """Store a summary that covers the victim's turns, or has the victim's id."""
    mark = aim.world.new_mark()
    covers = aim.foreign_ids()
    if not covers:
        return None
    record = Summary(
        text=f"{mark} {aim.word()}", covers=tuple(covers), starts_at=LATER, ends_at=LATER
    )
    summary = of_id(aim, "summary", record, mark, id_of_victim_or_new(aim, "summary"))
    summary, label = variant(aim, summary, mark)
    work = _work(aim)
    return Move(
        lambda cold: cold.episodic.put_summary(aim.scope, summary, work), graph_of(aim.scope), label
    )


def put_episode(aim: Aim) -> Move | None:
    """Store an episode whose children are the victim's summaries."""
    mark = aim.world.new_mark()
    children = aim.foreign_ids()
    if not children:
        return None
    record = Episode(
        grain="daily",
        text=f"{mark} {aim.word()}",
        children=tuple(children),
        starts_at=LATER,
        ends_at=LATER,
    )
    episode = of_id(aim, "episode", record, mark, id_of_victim_or_new(aim, "episode"))
    episode, label = variant(aim, episode, mark)
    return Move(
        lambda cold: cold.episodic.put_episode(aim.scope, episode), graph_of(aim.scope), label
    )


def put_fact(aim: Aim) -> Move:
    """State something under the victim's id, or the victim's very words."""
    victim = aim.victim
    mark = aim.world.new_mark()
    is_copy = aim.random.random() < 0.3
    if is_copy:
        mark = victim.mark  # from now on the word is the attacker's as well
    record = Fact(
        text=victim.record.text if is_copy else f"{mark} {aim.word()}",
        subject="mediums",
        predicate=aim.word("last"),
        object="18 laps",
        tier=aim.random.choice(["core", "archival"]),
        source_ids=(aim.word(victim.id),),
    )
    kind: PlantedKind = "core" if record.tier == "core" else "archival"
    fact = of_id(
        aim, kind, record, mark, _fresh(aim) if is_copy else id_of_victim_or_new(aim, *_FACTS)
    )
    label = ""
    if not is_copy:
        fact, label = variant(aim, fact, mark)
    work = _work(aim)
    return Move(
        lambda cold: cold.semantic.put_fact(aim.scope, fact, work), graph_of(aim.scope), label
    )


def impersonate(aim: Aim) -> Move:
    """Hand in the victim's own record, as the attacker: it must not come back, nor be doubled."""
    record, scope, another = aim.victim.record, aim.scope, _fresh(aim)
    calls: dict[str, Any] = {
        "turn": lambda cold: cold.turns.append_turn(scope, record),
        "core": lambda cold: cold.semantic.put_fact(scope, record),
        "archival": lambda cold: cold.semantic.put_fact(scope, record),
        "rule": lambda cold: cold.procedural.put_rule(scope, record),
        "belief": lambda cold: cold.beliefs.commit(
            scope, record.model_copy(update={"id": another, "value": "forged"})
        ),
        "summary": lambda cold: cold.episodic.put_summary(scope, record),
        "episode": lambda cold: cold.episodic.put_episode(scope, record),
    }
    touches = graph_of(scope) if aim.is_inner else ()
    return Move(calls[aim.victim.kind], touches, FORGED)


def put_rule(aim: Aim) -> Move:
    """Store a rule under the victim's id."""
    mark = aim.world.new_mark()
    record = Rule(trigger=f"{mark} {aim.word(SHARED_WORDS)}", steps=(f"{mark} {aim.word()}",))
    rule = of_id(aim, "rule", record, mark, id_of_victim_or_new(aim, "rule"))
    rule, label = variant(aim, rule, mark)
    return Move(lambda cold: cold.procedural.put_rule(aim.scope, rule), graph_of(aim.scope), label)


def put_receipt(aim: Aim) -> Move:
    """Store a receipt under the victim's id, of an own or a forged owner."""
    mark = aim.world.new_mark()
    receipt_id = id_of_victim_or_new(aim, "receipt")
    planted = own(aim, "receipt", receipt_id, mark)
    record = Receipt(
        id=receipt_id[:256],
        tenant=aim.scope.tenant,
        graph_id=aim.scope.graph_id,
        agent_id=aim.scope.agent_id or "",
        kind="turn",
        query=f"{mark} {aim.word()}",
        body={aim.word("slots"): [aim.word()], "$set": {"a.b": 1}},
        recorded_at=LATER,
    )
    label = ""
    if not aim.is_inner and aim.random.random() < 0.4:
        corner = aim.victim.corner
        owner = {"tenant": corner.tenant, "graph_id": corner.graph_id}
        record, label = record.model_copy(update=owner), FORGED
        also_of(aim, planted, corner)
    return Move(lambda cold: cold.log.put_receipt(aim.scope, record), graph_of(aim.scope), label)


def append_audit(aim: Aim) -> Move:
    """Append to the audit feed about the victim's records."""
    mark = aim.world.new_mark()
    own(aim, "audit", mark, mark)
    kind, ids, reason = aim.word("said"), aim.ids(ids_max=3), f"{mark} {aim.word()}"
    return Move(
        lambda cold: cold.log.append_audit(aim.scope, kind, ids, reason, LATER), graph_of(aim.scope)
    )


def add_uses(aim: Aim) -> Move:
    """Count uses of the victim's facts; of what the attacker sees they do count."""
    ids = aim.ids()
    cause = aim.word(f"cause {aim.random.getrandbits(60)}")
    return Move(
        lambda cold: cold.semantic.add_uses({aim.scope: {cause: ids}}, LATER), _seen(aim, ids)
    )


def _seen(aim: Aim, ids: Sequence[str]) -> tuple[Touch, ...]:
    """Return the right to count uses of the facts among ``ids`` that the attacker sees."""
    graphs = [aim.scope.graph_id, *(one.graph_id for one in aim.scope.lineage)]
    return tuple(
        Touch(aim.scope.tenant, graph_id, record_id=record_id)
        for graph_id in graphs
        for record_id in ids
        for one in aim.world.by_place.get((aim.scope.tenant, graph_id, record_id), ())
        if permitted(Reach.FAMILY, aim.scope, one)
    )


def set_tier(aim: Aim) -> Move | None:
    """Move the victim's fact between the tiers, as if it had been read."""
    victim = aim.victim
    if is_mine(aim, victim.id):
        return None
    fact = victim.record
    if aim.random.random() < 0.5:
        fact = fact.stamped(aim.scope, victim.id, LATER)
    to = "archival" if victim.kind == "core" else "core"
    reason, work = aim.word("often used"), _work(aim)
    return Move(lambda cold: cold.semantic.set_tier(aim.scope, fact, to, reason, LATER, work))


def supersede(aim: Aim) -> Move | None:
    """Put a fact of the attacker's in the place of the victim's, or the other way round."""
    if is_mine(aim, aim.victim.id):
        return None
    mine = [
        one.id
        for one in aim.world.planted_in(aim.house)
        if one.kind in _FACTS and one.id != aim.victim.id
    ]
    other = aim.random.choice(mine) if mine else aim.word(_fresh(aim))
    pair = (aim.victim.id, other)
    if aim.random.random() < 0.3:
        pair = (other, aim.victim.id)
    work, how = _work(aim), aim.random.choice(get_args(Superseded))
    return Move(lambda cold: cold.semantic.supersede(aim.scope, *pair, LATER, work, how=how))


def is_mine(aim: Aim, record_id: str) -> bool:
    """Whether the attacker rightly sees a record of its own house under the id."""
    found = aim.world.by_place.get((*aim.house, record_id), ())
    return any(permitted(Reach.VISIBLE, aim.scope, one) for one in found)


def changing(aim: Aim, record_id: str) -> Touch:
    """Return the right to change one record of the attacker's house."""
    return Touch(aim.scope.tenant, aim.scope.graph_id, record_id=record_id)


def rewrite(aim: Aim) -> Move | None:
    """Give the victim's summary or episode another text."""
    if aim.world.holds(aim.house, aim.victim.id):
        return None
    mark = aim.world.new_mark()
    own(aim, "summary", aim.victim.id, mark)
    record = aim.victim.record.model_copy(
        update={
            "text": f"{mark} {aim.word()}",
            "tenant": aim.scope.tenant,
            "graph_id": aim.scope.graph_id,
            "expires_at": LATER + timedelta(days=1),
            "redacted_at": LATER,
        }
        if aim.victim.kind == "summary"
        else {"text": mark, "redacted_at": LATER}
    )
    return Move(lambda cold: cold.redactor.rewrite(aim.scope, record), ())


def holding(aim: Aim) -> Move:
    """Ask which records speak of what only the victim says, or belong to its user."""
    victim, house = aim.victim, aim.house
    scope = Scope.of_graph(*house)
    asked: list[dict[str, str]] = [{"subject": aim.word(victim.mark)}, {"subject": SHARED_WORDS}]
    asked += [{"user_id": victim.corner.user_id}] if victim.corner.user_id else []
    who = aim.random.choice(asked)

    async def call(cold: Any) -> object:
        found = await cold.redactor.holding(scope, **who, limit=1000)
        ids = {row.id for page in answers(found) for row in page.rows}
        # A reference names no tenant: one that nothing in the own house has shows another's.
        strange = {one for one in ids if not aim.world.holds(house, one)}
        return found, [one.mark for one in aim.world.planted if one.id in strange]

    return Move(call, scope=scope)


def begin_erasure(aim: Aim) -> Move:
    """Begin to erase, in the own graph, whom only the victim's records are of."""
    scope, corner = Scope.of_graph(*aim.house), aim.victim.corner
    user, agent = {"user_id": corner.user_id}, {"agent_id": corner.agent_id}
    who = aim.random.choice((user, agent)) if corner.user_id is not None else agent
    name = f"erasure {aim.random.random()}"
    return Move(
        lambda cold: cold.redactor.begin_erasure(scope, name, **who), graph_of(scope), scope=scope
    )


def blank_receipts(aim: Aim) -> Move:
    """Blank receipts of what only the victim asked, or that its agent was given, in the own graph.

    Whoever has them blanked there by an agent's name has them blanked by right.
    """
    victim, scope = aim.victim, Scope.of_graph(*aim.house)
    subject, agents = aim.word(victim.mark), (victim.corner.agent_id,)
    chance, ids = aim.random.random(), aim.ids()
    if chance < 0.3:
        theirs = Touch(*aim.house, table="receipts")
        return Move(
            lambda cold: cold.redactor.blank_receipts(scope, agent_ids=agents),
            (*graph_of(scope), theirs),
            scope=scope,
        )
    if chance < 0.6 and ids:
        return Move(
            lambda cold: cold.redactor.blank_receipts(scope, record_ids=ids),
            graph_of(scope),
            scope=scope,
        )
    return Move(
        lambda cold: cold.redactor.blank_receipts(scope, subject=subject),
        graph_of(scope),
        scope=scope,
    )


def set_aside(aim: Aim) -> Move | None:
    """Roll back records of another house, as if they were of the own."""
    ids = aim.foreign_ids()
    if not ids:
        return None
    tenant, graph_id = aim.house
    items = tuple(
        RolledBack(graph_id=graph_id, kind=kind, id=one, done="set aside")
        for one in ids
        for kind in _ROLLED_BACK
    )
    roll_back = RollBack(
        id=_fresh(aim),
        tenant=tenant,
        graph_id=graph_id,
        record_id=ids[0],
        reason=aim.word("asked to"),
        made_at=LATER,
        items=items,
    )
    scope = Scope.of_graph(*aim.house)
    return Move(lambda cold: cold.taint.set_aside(roll_back, LATER), graph_of(scope), scope=scope)


def left_of(aim: Aim) -> Move | None:
    """Ask what is left of a summary that says to be made of the victim's turns."""
    covers = aim.foreign_ids()
    if not covers:
        return None
    record = Summary(text="", covers=tuple(covers), starts_at=LATER, ends_at=LATER)
    forged = record.stamped(aim.scope, aim.random.choice([_fresh(aim), aim.victim.id]), LATER)
    return Move(lambda cold: cold.redactor.left_of(aim.scope, forged))


def store_vectors(aim: Aim) -> Move:
    """Keep a vector under the victim's id, of an own or a forged owner."""
    victim = aim.victim
    entry = victim.entry.model_copy(
        update={"tenant": aim.scope.tenant, "graph_id": aim.scope.graph_id}
    )
    label = ""
    if aim.random.random() < 0.4:
        entry, label = victim.entry, FORGED
    model_id = aim.word("model")
    return Move(
        lambda cold: cold.semantic.store_vectors(aim.scope, [entry], model_id),
        (*graph_of(aim.scope), changing(aim, victim.id)),
        label,
    )


_V, _F, _G = Reach.VISIBLE, Reach.FAMILY, Reach.GRAPH
_ALL = (*OUTER, *INNER)
_OF_TENANT = ("tenant", "lookalike")
_ID, _WHY = attrgetter("victim.id"), text("asked to")
_OWNERS = (*OUTER, "private", "user")
"""Under which topics somebody may write is the policy's business, not the store's."""

COLD_WRITES = (
    Method("turns.append_turn", _V, append_turn, ("turn",), _ALL, weight=3),
    Method("desk.keep_turn", _V, keep_turn, ("turn",), _ALL),
    Method("desk.keep_turns", _V, keep_turns, ("turn",), _ALL),
    Method("turns.append_turn", _V, impersonate, ("turn",), _OWNERS),
    Method("episodic.put_summary", _V, put_summary, ("turn",), OUTER),
    Method("episodic.put_summary", _V, impersonate, ("summary",), OUTER),
    Method("episodic.put_episode", _V, put_episode, ("summary",), OUTER),
    Method("semantic.put_fact", _V, put_fact, _FACTS, _ALL, weight=3),
    Method("semantic.put_fact", _V, impersonate, _FACTS, _OWNERS),
    Method("procedural.put_rule", _V, put_rule, ("rule",), _ALL),
    Method("procedural.put_rule", _V, impersonate, ("rule",), _OWNERS),
    Method("beliefs.commit", _V, impersonate, ("belief",), _OWNERS),
    Method("semantic.add_uses", _F, add_uses, _FACTS, _ALL, weight=3),
    Method("semantic.set_tier", _V, set_tier, _FACTS, _ALL, weight=3),
    Method("semantic.supersede", _V, supersede, _FACTS, _ALL, weight=3),
    Method("log.put_receipt", _G, put_receipt, ("receipt",), OUTER),
    Method("desk.keep_receipt", _G, keep_receipt, ("receipt",), OUTER),
    Method("log.append_audit", _G, append_audit, ("audit",), OUTER),
    asking("redactor.redact", _G, _REDACTED, OUTER, Aim.foreign_ids, _WHY, LATER, weight=2),
    asking("redactor.redacted", _G, _REDACTED, OUTER, Aim.ids),
    Method("redactor.holding", _G, holding, _REDACTED, OUTER, weight=2),
    Method("redactor.begin_erasure", _G, begin_erasure, _REDACTED, OUTER),
    of_graph("redactor.erase_reasons", _G, ("audit",), OUTER, _mark, LATER, adds=True),
    of_graph("redactor.erase_roles", _G, ("agent",), OUTER, _mark, "asked to", LATER, adds=True),
    Method("redactor.blank_receipts", _G, blank_receipts, ("receipt",), OUTER),
    Method("redactor.left_of", _G, left_of, ("turn", "summary"), OUTER),
    of_graph("taint.described", _G, _REDACTED, OUTER, Aim.ids),
    of_graph("taint.resting_on", _G, _REDACTED, OUTER, Aim.ids),
    Method("taint.set_aside", _G, set_aside, _REDACTED, OUTER),
    of_graph("taint.undo", _G, _REDACTED, OUTER, _ID, "no", LATER),
    of_graph("taint.confirm", _G, _REDACTED, OUTER, _ID, "no", LATER),
    of_graph("taint.roll_backs", _G, _REDACTED, OUTER),
    Method("redactor.rewrite", _G, rewrite, ("summary", "episode"), OUTER),
)

VECTOR_METHODS = (
    Method("semantic.store_vectors", _G, store_vectors, _FACTS, OUTER),
    asking("semantic.facts_without_vectors", Reach.TENANT, _FACTS, _OF_TENANT, text("model"), 200),
)
"""Of a cold tier that keeps the vectors of facts itself."""
