"""Attempts on the knowledge graph: every planted fact is about the same names."""

from __future__ import annotations

from operator import attrgetter

from .aims import INNER, OUTER, Aim
from .attempts import Method, Move, asking, one_of, text
from .cold_reads import FACTS
from .oracle import Reach
from .worlds import LATER

_LIMIT = 500


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


_F, _ALL = Reach.FAMILY, (*OUTER, *INNER)
_THEN = one_of(None, LATER, attrgetter("victim.recorded_at"))
_SUBJECT, _PREDICATE = attrgetter("victim.record.subject"), one_of(None, text("last"))

COLD_KNOWLEDGE = (
    asking("knowledge.entities", _F, FACTS, _ALL, _names, 9, as_of=one_of(None, LATER)),
    asking("knowledge.neighbours", _F, FACTS, _ALL, _names, _depth, _LIMIT, as_of=_THEN, weight=3),
    Method("knowledge.path", _F, path, FACTS, _ALL, weight=2),
    asking("knowledge.statements", _F, FACTS, _ALL, _SUBJECT, _PREDICATE, _LIMIT, weight=3),
)
