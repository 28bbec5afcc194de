"""Attempts on what learning keeps: facts that are compared, playbooks, and how far was read."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, cast

from tiers.learning import Verdict
from tiers.records import Scope, Superseded, WorkDraft

from .aims import INNER, OUTER, Aim
from .attempts import Method, Move, Touch, answers, asking, of_graph, one_of, own, text, victims_id
from .cold_grains import told_by_ids
from .cold_reads import FACTS, asker
from .cold_writes import changing, is_mine
from .oracle import Reach
from .raw import reader_of
from .worlds import LATER

_LIMIT = 500
_HOW: tuple[Superseded, ...] = ("natural", "denial", "duplicate")


def _work(aim: Aim) -> list[WorkDraft]:
    return [WorkDraft(kind="index", key=aim.word("key 0"), agent_id=aim.victim.corner.agent_id)]


def _facts_of(aim: Aim) -> list[str]:
    """Return ids of facts of the attacker's house."""
    return [one.id for one in aim.world.planted_in(aim.house) if one.kind in FACTS]


def keyed(aim: Aim) -> Move:
    """Ask what stands at the key of the victim's fact, as it is or as if it were the own graph's.

    With the victim's own record it is its user and its privacy that are asked for.
    """
    scope, fact = Scope.of_graph(*aim.house), aim.victim.record
    if aim.random.random() < 0.5:
        owner = {"tenant": scope.tenant, "graph_id": scope.graph_id}
        fact = fact.model_copy(update={**owner, "predicate": aim.word("last")})
    return Move(lambda cold: cold.review.keyed(scope, fact, _LIMIT), scope=scope)


def twins(aim: Aim) -> Move:
    """Ask, as whoever may, which facts say what the victim's says."""
    told = aim.word(aim.victim.id)
    return told_by_ids(aim, lambda cold, scope: cold.review.twins(scope, told))


def ended(aim: Aim) -> Move:
    """Ask which facts gave way or were forgotten."""
    return told_by_ids(aim, lambda cold, scope: cold.review.ended(scope, LATER, LATER, _LIMIT))


def review_as_agent(aim: Aim) -> Move:
    """Ask as an agent for what only the runtime compares."""
    scope, fact = asker(aim), aim.victim.record
    name = aim.random.choice(["live_facts", "keyed", "unjudged"])
    arguments: dict[str, Sequence[Any]] = {
        "live_facts": ("", _LIMIT),
        "keyed": (fact, _LIMIT),
        "unjudged": (_LIMIT,),
    }
    return Move(lambda cold: getattr(cold.review, name)(scope, *arguments[name]), scope=scope)


def settle(aim: Aim) -> Move | None:
    """Let the victim's fact give way to one of the own house, or be judged by its side."""
    if aim.world.holds(aim.house, aim.victim.id):
        return None
    scope, mine = Scope.of_graph(*aim.house), _facts_of(aim)
    other = aim.random.choice(mine) if mine else aim.word("no fact")
    how = aim.random.choice(_HOW)
    old, new = aim.random.sample([aim.victim.id, other], 2)
    judged, work = aim.random.choice([aim.victim.id, other]), _work(aim)
    verdict = Verdict(fact_id=old, by=new, how=how, valid_to=LATER)
    return Move(lambda cold: cold.review.settle(scope, judged, [verdict], LATER, work), scope=scope)


def settle_own(aim: Aim) -> Move | None:
    """Judge facts of the own graph: nothing of the victim's is touched by it."""
    scope, mine = Scope.of_graph(*aim.house), _facts_of(aim)
    if len(mine) < 2:
        return None
    old, new = aim.random.sample(mine, 2)
    verdict = Verdict(fact_id=old, by=new, how=aim.random.choice(_HOW))
    touches = [Touch(*aim.house), changing(aim, old), changing(aim, new)]
    return Move(
        lambda cold: cold.review.settle(scope, new, [verdict], LATER), tuple(touches), scope=scope
    )


def settle_as_agent(aim: Aim) -> Move:
    """Let the victim's fact give way as an agent, which is the runtime's to do."""
    scope, victim = asker(aim), aim.victim
    verdict = Verdict(fact_id=victim.id, by=aim.random.choice(_facts_of(aim)), how="denial")
    return Move(lambda cold: cold.review.settle(scope, victim.id, [verdict], LATER), scope=scope)


def forget(aim: Aim) -> Move | None:
    """Forget the victim's fact."""
    if is_mine(aim, aim.victim.id):
        return None
    fact_id, reason, work = aim.victim.id, aim.word("asked to"), _work(aim)
    return Move(lambda cold: cold.review.forget(aim.scope, fact_id, reason, LATER, work))


def forget_all(aim: Aim) -> Move | None:
    """Forget the victim's fact, as one of several."""
    if is_mine(aim, aim.victim.id):
        return None
    ids, reason, work = [aim.victim.id], aim.word("asked to"), _work(aim)
    return Move(lambda cold: cold.review.forget_all(aim.scope, ids, reason, LATER, work))


def record_outcome(aim: Aim) -> Move | None:
    """Speak well or ill of the victim's rule."""
    if is_mine(aim, aim.victim.id):
        return None
    rule_id, cause = aim.victim.id, aim.word(f"cause {aim.random.getrandbits(60)}")
    good = aim.random.random() < 0.5
    return Move(
        lambda cold: cold.playbooks.record_outcome(
            aim.scope, rule_id, cause, LATER, is_success=good
        )
    )


def refine(aim: Aim) -> Move | None:
    """Give the victim's rule other steps, as if it had been read."""
    if is_mine(aim, aim.victim.id):
        return None
    rule, mark, work = aim.victim.record, aim.world.new_mark(), _work(aim)
    if aim.random.random() < 0.5:
        rule = rule.stamped(aim.scope, aim.victim.id, LATER)
    steps, sources = (f"{mark} {aim.word('box')}",), (aim.word(aim.victim.id),)
    return Move(lambda cold: cold.playbooks.refine(aim.scope, rule, steps, sources, LATER, work))


def watermark(aim: Aim) -> Move:
    """Ask how far the victim's reader is; it is called by the victim's mark."""
    scope, victim = asker(aim), aim.victim
    name = aim.random.choice([victim.mark, victim.mark, aim.name("extract")])

    async def call(cold: Any) -> object:
        found = await cold.watermarks.watermark(scope, name)
        # The attacker's own reader of that name is never where the victim's is.
        is_theirs = name == victim.mark and victim.record in answers(found)
        return found, [victim.mark] if is_theirs else []

    return Move(call, scope=scope)


def advance(aim: Aim) -> Move:
    """Move the victim's reader: it is the attacker's own, of the same name, that moves."""
    scope, name = asker(aim), aim.random.choice([aim.victim.mark, aim.name("extract")])
    seq = aim.random.randrange(10, 10**6)
    record_id = reader_of(cast("str", scope.agent_id), name)
    if name == aim.victim.mark:
        own(aim, "watermark", record_id, name, scope)  # shown to it, it is its own
    touches = (Touch(*aim.house), Touch(*aim.house, record_id=record_id, table="watermarks"))
    return Move(lambda cold: cold.watermarks.advance(scope, name, seq, LATER), touches, scope=scope)


_V, _G, _R = Reach.VISIBLE, Reach.GRAPH, Reach.RING
_ALL = (*OUTER, *INNER)
_READERS = (*OUTER, "private")
"""A watermark is an agent's, whatever the topics and the user of who asks for it."""

COLD_LEARNING = (
    of_graph("review.live_facts", _G, FACTS, OUTER, one_of("", "", victims_id), _LIMIT),
    Method("review.keyed", _G, keyed, FACTS, OUTER, weight=2),
    of_graph("review.unjudged", _G, FACTS, OUTER, _LIMIT),
    Method("review.live_facts", _V, review_as_agent, FACTS, INNER, weight=2),
    Method("review.ended", _G, ended, FACTS, OUTER),
    Method("review.twins", _G, twins, FACTS, OUTER),
    asking("review.rolled_back", _V, FACTS, _ALL, Aim.ids),
    Method("review.settle", _G, settle, FACTS, OUTER, weight=3),
    Method("review.settle", _G, settle_own, FACTS, OUTER),
    Method("review.settle", _V, settle_as_agent, FACTS, INNER),
    Method("review.forget", _V, forget, FACTS, _ALL, weight=3),
    Method("review.forget_all", _V, forget_all, FACTS, _ALL),
    asking("playbooks.rules", _V, ("rule",), _ALL, Aim.ids, weight=3),
    Method("playbooks.record_outcome", _V, record_outcome, ("rule",), _ALL, weight=2),
    Method("playbooks.refine", _V, refine, ("rule",), _ALL, weight=2),
    Method("watermarks.watermark", _R, watermark, ("watermark",), _READERS, weight=2),
    Method("watermarks.advance", _R, advance, ("watermark",), _READERS, weight=2),
)


# Attempts on the knowledge graph: every planted fact is about the same names.


def _names(aim: Aim) -> list[str]:
    """Return the names at the ends of the victim's fact, among others."""
    return [aim.victim.record.subject, aim.word("18 laps"), aim.word(aim.victim.id)]


def _depth(aim: Aim) -> int:
    return aim.random.randrange(1, 5)


def path(aim: Aim) -> Move:
    """Ask for a way along the victim's fact."""
    start, end = aim.random.sample([aim.victim.record.subject, aim.victim.record.object], 2)
    as_of = _THEN(aim)
    return Move(lambda cold: cold.knowledge.path(aim.scope, start, end, 6, as_of=as_of))


_F = Reach.FAMILY
_THEN = one_of(None, LATER, attrgetter("victim.recorded_at"))
_SUBJECT, _PREDICATE = attrgetter("victim.record.subject"), one_of(None, text("last"))

COLD_KNOWLEDGE = (
    asking("knowledge.entities", _F, FACTS, _ALL, _names, 9, as_of=one_of(None, LATER)),
    asking("knowledge.neighbours", _F, FACTS, _ALL, _names, _depth, _LIMIT, as_of=_THEN, weight=3),
    Method("knowledge.path", _F, path, FACTS, _ALL, weight=2),
    asking("knowledge.statements", _F, FACTS, _ALL, _SUBJECT, _PREDICATE, _LIMIT, weight=3),
)
