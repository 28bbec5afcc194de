"""Contradictions: finding the beliefs that a new one is held against, and settling who stays."""

from __future__ import annotations

from .detector import Settled, Settler
from .finding import RivalFinder
from .judges import ContradictionJudge, ModelJudge, NliJudge, RulesJudge
from .records import Contradiction, Judgement
from .strategies import Callback, Handlers, Resolver

__all__ = [
    "Callback",
    "Contradiction",
    "ContradictionJudge",
    "Handlers",
    "Judgement",
    "ModelJudge",
    "NliJudge",
    "Resolver",
    "RivalFinder",
    "RulesJudge",
    "Settled",
    "Settler",
]
