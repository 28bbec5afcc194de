"""Attempts on beliefs: changing them, reading their log and their past, and signed heads."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, get_args

from tiers.records import (
    BeliefQuery,
    BeliefStatus,
    BranchPoint,
    Commitment,
    Scope,
    Settlement,
    SignedHead,
)

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
    of_its_graph,
    one_of,
    own,
    victims_id,
)
from .cold_reads import asker
from .cold_writes import changing, id_of_victim_or_new, is_mine, of_id, variant
from .oracle import Reach, permitted
from .worlds import LATER, Corner, Planted

_LIMIT = 500
_SEQS = (0, 1, 2, 5, 10**6, -1)
_AFTER = one_of(0, 0, 1, -5)
_STATUSES: tuple[BeliefStatus, ...] = get_args(BeliefStatus)
_NOWHERE = "0" * 64


# What is believed.


def commit(aim: Aim) -> Move:
    """Commit to something about the victim's own key, with the victim named as settled."""
    mark = aim.world.new_mark()
    record = Commitment(
        claim=f"{mark} {aim.word()}",
        key=aim.random.choice([aim.victim.record.key, None]),
        value=aim.word(mark),
    )
    belief = of_id(aim, "belief", record, mark, id_of_victim_or_new(aim, "belief"))
    topics = belief.topics
    belief = belief.model_copy(update={"topic": topics[0] if topics else None})
    rivals = [one for one in _rivals(aim, belief) if permitted(Reach.VISIBLE, aim.scope, one)]
    belief, label = variant(aim, belief, mark)
    named = [_settled(aim, aim.victim.id)] if aim.random.random() < 0.5 else []
    mine = [aim.victim.id] if is_mine(aim, aim.victim.id) else []
    ways = [_settled(aim, "") for _ in range(2)]

    async def call(cold: Any) -> object:
        """Commit, and once more with the rivals that were met settled."""
        met = answers(await cold.beliefs.commit(aim.scope, belief, named))
        unsettled = [rival.belief.id for one in met for rival in one.unsettled]
        settled = [
            way.model_copy(update={"rival_id": one})
            for way, one in zip(ways, unsettled, strict=False)
        ]
        if settled:
            met = answers(await cold.beliefs.commit(aim.scope, belief, [*settled, *named]))
        # Its own belief, which comes back as it was handed in, may have the victim's id.
        stored = [one.belief for one in met if one.belief.claim != belief.claim]
        return stored, [(one.superseded, one.unsettled) for one in met]

    touches = [changing(aim, one) for one in (*mine, *(one.id for one in rivals))]
    return Move(call, (*graph_of(aim.scope), *touches), label)


def _settled(aim: Aim, rival_id: str) -> Settlement:
    return Settlement(
        rival_id=rival_id,
        winner=aim.random.choice(["new", "new", "old", "both"]),
        strategy="highest_trust",
        found_by=aim.name("key"),
        reason=aim.word("later"),
        agree=aim.random.random() < 0.2,
        decided=aim.random.random() < 0.5,
    )


def _rivals(aim: Aim, belief: Commitment) -> list[Planted]:
    """Return whose place a belief takes by right: same key, topic, privacy and user."""
    if belief.key is None:
        return []
    return [
        one
        for place, found in aim.world.by_place.items()
        if place[:2] == aim.house
        for one in found
        if one.kind == "belief"
        and one.corner.user_id == belief.user_id
        and (one.corner.topics[:1] or (None,))[0] == belief.topic
        and one.corner.private == belief.private
        and (not belief.private or one.corner.agent_id == belief.agent_id)
    ]


def pin(aim: Aim) -> Move:
    """Pin the victim's belief; one of the attacker's own under the same id may be pinned."""
    belief_id = aim.word(aim.victim.id)
    return Move(
        lambda cold: cold.beliefs.pin(aim.scope, belief_id, LATER), _if_mine(aim, belief_id)
    )


def unpin(aim: Aim) -> Move:
    """Take the mark from the victim's belief, likewise."""
    belief_id = aim.word(aim.victim.id)
    return Move(
        lambda cold: cold.beliefs.unpin(aim.scope, belief_id, LATER), _if_mine(aim, belief_id)
    )


def _if_mine(aim: Aim, belief_id: str) -> tuple[Touch, ...]:
    mine = is_mine(aim, belief_id)
    return (*graph_of(aim.scope), changing(aim, belief_id)) if mine else ()


def revert(aim: Aim) -> Move | None:
    """Take the victim's belief back."""
    if is_mine(aim, aim.victim.id):
        return None  # rightly done, and what it had superseded comes back with it
    reason = aim.word("wrong")
    return Move(lambda cold: cold.beliefs.revert(aim.scope, aim.victim.id, reason, LATER))


def rewind(aim: Aim) -> Move:
    """Rewind the own graph to where the victim's log is; sometimes really, there and back."""
    whole, theirs = Scope.of_graph(*aim.house), Scope.of_graph(*aim.victim.corner.house)
    is_real, early = aim.random.random() < 0.2, aim.random.choice(_SEQS)

    async def call(cold: Any) -> object:
        last = max(answers(await cold.history.seq_at(whole)))
        if not is_real:
            elsewhere = max(answers(await cold.history.seq_at(theirs)))
            to_seq = max(last, elsewhere)
            return await cold.beliefs.rewind(whole, to_seq, "there", LATER)
        there = await cold.beliefs.rewind(whole, min(max(early, 0), last), "there", LATER)
        return there, await cold.beliefs.rewind(whole, last, "and back", LATER)

    touches = (Touch(*aim.house, table="beliefs"),) if is_real else ()
    return Move(call, (*graph_of(whole), *touches), scope=whole)


def set_trust(aim: Aim) -> Move:
    """Set the trust in the victim's agent about its topic, in the own graph."""
    corner, reason = aim.victim.corner, aim.word("because")
    topic = aim.random.choice([None, *corner.topics[:1]])
    trust = aim.random.random()
    return Move(
        lambda cold: cold.beliefs.set_trust(
            aim.scope, corner.agent_id, topic, trust, reason, LATER
        ),
        graph_of(aim.scope),
    )


def adopt(aim: Aim) -> Move:
    """Begin the own log as a branch of the victim's graph, with beliefs of its agents."""
    mark = aim.world.new_mark()
    victim, whole = aim.victim, Scope.of_graph(*aim.house)
    planted = own(aim, "belief", f"adopted {mark}", mark, whole)
    belief: Commitment = victim.record.model_copy(
        update={
            "id": planted.id,
            "claim": mark,
            "value": mark,
            "origin_id": victim.id,
            "tenant": aim.scope.tenant,
            "graph_id": aim.scope.graph_id,
        }
    )
    label = ""
    if aim.random.random() < 0.4:
        owner = {"tenant": victim.corner.tenant, "graph_id": victim.corner.graph_id}
        belief, label = belief.model_copy(update=owner), FORGED
    also_of(aim, planted, _corner_of(belief))
    point = BranchPoint(
        graph_id=victim.corner.graph_id,
        seq=aim.random.choice([0, 1, 10**6]),
        last_hash=_NOWHERE,
        root=_NOWHERE,
        turn=1,
    )
    return Move(
        lambda cold: cold.beliefs.adopt(whole, point, [belief], LATER),
        graph_of(whole),
        label,
        whole,
    )


def _corner_of(belief: Commitment) -> Corner:
    return Corner(
        belief.tenant,
        belief.graph_id,
        belief.agent_id,
        belief.user_id,
        belief.topics,
        private=belief.private,
    )


# What was believed.


def _question(aim: Aim) -> BeliefQuery:
    victim, corner = aim.victim, aim.victim.corner
    subject, attribute = victim.record.key
    asked: list[dict[str, Any]] = [
        {},
        {"ids": aim.ids()},
        {"topic": aim.word(victim.record.topic or "tyres")},
        {"agent_id": aim.word(corner.agent_id)},
        {"user_id": aim.word(corner.user_id or "ada")},
        {"subject": aim.word(subject)},
        {"key": (aim.word(subject), attribute)},
        {"statuses": aim.random.sample(_STATUSES, 2)},
        {"since_seq": 0, "until_seq": 10**6},
        {"active_at": aim.random.choice([1, 4, 9])},
        {"ids": (victim.id,), "key": victim.record.key, "agent_id": corner.agent_id},
    ]
    return BeliefQuery(**aim.random.choice(asked), limit=_LIMIT)


def worded_like(aim: Aim) -> Move:
    """Ask for what is filed like the victim's belief, and says the same."""
    scope, victim = asker(aim), aim.victim.record
    belief = victim.model_copy(update={"claim": aim.word(victim.claim)})
    return Move(lambda cold: cold.rivals.worded_like(scope, belief, _LIMIT), scope=scope)


# The log itself, which is read with the scope of a graph.


def seq_at(aim: Aim) -> Move:
    """Ask for the place of the victim's moment in the log."""
    moment: dict[str, Any] = aim.random.choice(
        [{}, {"time": aim.victim.recorded_at}, {"turn": aim.random.choice([0, 1, 10**6])}]
    )
    scope = of_its_graph(aim)
    return Move(lambda cold: cold.history.seq_at(scope, **moment), scope=scope)


# Signed heads.


def put_head(aim: Aim) -> Move:
    """Keep a head of the size of the victim's, of an own or a forged owner."""
    mark = aim.world.new_mark()
    planted = own(aim, "head", mark, mark)
    victim: SignedHead = aim.victim.record
    head = victim.model_copy(
        update={
            "tenant": aim.scope.tenant,
            "graph_id": aim.scope.graph_id,
            "public_key": mark,
            "root": aim.word(_NOWHERE),
        }
    )
    label = ""
    if not aim.is_inner and aim.random.random() < 0.5:
        owner = {"tenant": aim.victim.corner.tenant, "graph_id": aim.victim.corner.graph_id}
        head, label = head.model_copy(update=owner), FORGED
        also_of(aim, planted, aim.victim.corner)
    return Move(lambda cold: cold.heads.put_head(aim.scope, head), graph_of(aim.scope), label)


_V, _G = Reach.VISIBLE, Reach.GRAPH
_ALL = (*OUTER, *INNER)
_BELIEF: Sequence[str] = ("belief",)
_HEAD: Sequence[str] = ("head",)

BELIEF_METHODS = (
    asking("beliefs.active", _V, _BELIEF, _ALL, weight=2),
    Method("beliefs.commit", _V, commit, _BELIEF, _ALL, weight=3),
    Method("beliefs.pin", _V, pin, _BELIEF, _ALL, weight=2),
    Method("beliefs.unpin", _V, unpin, _BELIEF, _ALL, weight=2),
    Method("beliefs.revert", _V, revert, _BELIEF, _ALL, weight=2),
    Method("beliefs.rewind", _G, rewind, _BELIEF, OUTER, weight=2),
    Method("beliefs.set_trust", _G, set_trust, _BELIEF, OUTER),
    Method("beliefs.adopt", _G, adopt, _BELIEF, OUTER, weight=2),
    asking("history.as_of", _V, _BELIEF, _ALL, one_of(3, 8, *_SEQS, 10**6), by=asker, weight=3),
    of_graph("history.as_of", _G, _BELIEF, OUTER, one_of(3, 8, *_SEQS)),
    asking("history.query", _V, _BELIEF, _ALL, _question, by=asker, weight=3),
    of_graph("history.query", _G, _BELIEF, OUTER, _question),
    Method("rivals.worded_like", _V, worded_like, _BELIEF, _ALL, weight=3),
    of_graph("history.events", _G, _BELIEF, OUTER, _AFTER, _LIMIT),
    of_graph("history.logged", _G, _BELIEF, OUTER, _AFTER, _LIMIT),
    asking("history.logged", _V, _BELIEF, INNER, _AFTER, _LIMIT, by=asker),
    of_graph("history.naming", _G, _BELIEF, OUTER, victims_id),
    asking("history.naming", _V, _BELIEF, INNER, attrgetter("victim.id"), by=asker),
    Method("history.seq_at", _G, seq_at, _BELIEF, OUTER),
    of_graph("history.projected", _G, _BELIEF, OUTER, _AFTER, _LIMIT),
    asking("history.projected", _V, _BELIEF, INNER, _AFTER, _LIMIT, by=asker),
    of_graph("history.trusts", _G, ("trust",), OUTER),
    Method("heads.put_head", _G, put_head, _HEAD, OUTER),
    of_graph("heads.heads", _G, _HEAD, OUTER, _AFTER, _LIMIT),
    of_graph("heads.last_head", _G, _HEAD, OUTER),
)
