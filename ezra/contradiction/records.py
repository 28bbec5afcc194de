"""What a contradiction is, and what a judge says about two claims."""

from __future__ import annotations

from dataclasses import dataclass

from tiers.beliefs import TRUST_AT_FIRST, Commitment
from tiers.fleet import MergeStrategy

FOUND_BY_KEY = "key"
"""What finds two beliefs of one key: no judge is asked."""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two beliefs that cannot both be held: what callbacks and resolvers are asked about.

    Attributes:
        claim: The new belief.
        rival: The active one.
        found_by: ``key``, or the judge that said so: ``rules``, ``nli`` or ``model``.
        reason: Why they contradict each other, in words.
        similarity: Cosine of the claims, where it is known.
        trust_claim: Trust in the agent of the new belief about its topic.
        trust_rival: Trust in the agent of the active one about its own.
        strategy: The merge strategy of the graph.
        graph_id: The graph.
    """

    claim: Commitment
    rival: Commitment
    found_by: str
    reason: str = ""
    similarity: float | None = None
    trust_claim: float = TRUST_AT_FIRST
    trust_rival: float = TRUST_AT_FIRST
    strategy: MergeStrategy = "last_write_wins"
    graph_id: str = ""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a judge says about a claim and a rival.

    Attributes:
        contradicts: They cannot both be true.
        score: How sure of it the judge is, 0 to 1.
        reason: Why, in words.
        agrees: They say the same.
    """

    contradicts: bool
    score: float
    reason: str = ""
    agrees: bool = False
