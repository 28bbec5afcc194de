"""Attempts on the knowledge graph: every planted fact is about the same names."""

from __future__ import annotations

from .aims import INNER, OUTER, Aim
from .attempts import Method, Move
from .cold_reads import FACTS
from .oracle import Reach
from .worlds import LATER

_LIMIT = 500


def _names(aim: Aim) -> list[str]:
    """Return the names at the ends of the victim's fact, among others."""
    return [aim.victim.record.subject, aim.word("18 laps"), aim.word(aim.victim.id)]


def entities(aim: Aim) -> Move:
    """Ask what the victim's names stand for."""
    names, as_of = _names(aim), aim.random.choice([None, LATER])
    return Move(lambda cold: cold.knowledge.entities(aim.scope, names, 9, as_of=as_of))


def neighbours(aim: Aim) -> Move:
    """Ask for the facts around the victim's names, now and then."""
    names, depth = _names(aim), aim.random.randrange(1, 5)
    as_of = aim.random.choice([None, LATER, aim.victim.recorded_at])
    return Move(
        lambda cold: cold.knowledge.neighbours(aim.scope, names, depth, _LIMIT, as_of=as_of)
    )


def path(aim: Aim) -> Move:
    """Ask for a way along the victim's fact."""
    start, end = aim.random.sample([aim.victim.record.subject, aim.victim.record.object], 2)
    as_of = aim.random.choice([None, LATER, aim.victim.recorded_at])
    return Move(lambda cold: cold.knowledge.path(aim.scope, start, end, 6, as_of=as_of))


def statements(aim: Aim) -> Move:
    """Ask for the history of the victim's subject."""
    subject, predicate = aim.victim.record.subject, aim.random.choice([None, aim.word("last")])
    return Move(lambda cold: cold.knowledge.statements(aim.scope, subject, predicate, _LIMIT))


_F, _ALL = Reach.FAMILY, (*OUTER, *INNER)

COLD_KNOWLEDGE = (
    Method("knowledge.entities", _F, entities, FACTS, _ALL),
    Method("knowledge.neighbours", _F, neighbours, FACTS, _ALL, weight=3),
    Method("knowledge.path", _F, path, FACTS, _ALL, weight=2),
    Method("knowledge.statements", _F, statements, FACTS, _ALL, weight=3),
)
