"""How good a ranking is, by where a question's evidence stands in it. Pure functions.

Everything follows from the *ranks* of a question's n evidence turns: for each of them the place,
counted from 1, of the first hit that names it, or ``None`` when none does. Shares are 0 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TypeAlias

from tiers.records import Record

Ranks: TypeAlias = Sequence[int | None]


class Figures(Record):
    """Means over some questions.

    Attributes:
        questions: How many.
        recall: By k, see ``recall_at``.
        hit: By k, see ``hit_at``.
        all: By k, see ``all_at``.
        ndcg: By k, see ``ndcg_at``.
        mrr: Mean of ``reciprocal_rank``.
    """

    questions: int
    recall: dict[int, float]
    hit: dict[int, float]
    all: dict[int, float]
    ndcg: dict[int, float]
    mrr: float

    def measure(self, name: str, k: int | None) -> float:
        """Return one figure: ``mrr``, or a measure at one of the k."""
        by_k = {"recall": self.recall, "hit": self.hit, "all": self.all, "ndcg": self.ndcg}
        return self.mrr if k is None else by_k[name][k]


class Latency(Record):
    """Milliseconds of some calls: how many were timed, and nearest-rank percentiles of them."""

    timed: int
    mean: float
    p50: float
    p95: float
    p99: float
    max: float


def ranks_of(evidence: Sequence[str], named: Sequence[Collection[str]]) -> tuple[int | None, ...]:
    """Return the rank of each evidence turn, given the turns that each hit names, best first."""
    first: dict[str, int] = {}
    for rank, turns in enumerate(named, start=1):
        for turn in turns:
            first.setdefault(turn, rank)
    return tuple(first.get(turn) for turn in evidence)


def recall_at(ranks: Ranks, k: int) -> float:
    """Return the share of the evidence that the first k hits name: |{i: rank_i <= k}| / n."""
    return len(_within(ranks, k)) / len(ranks)


def hit_at(ranks: Ranks, k: int) -> float:
    """Return 1 when the first k hits name any of the evidence, else 0."""
    return float(bool(_within(ranks, k)))


def all_at(ranks: Ranks, k: int) -> float:
    """Return 1 when the first k hits name all of the evidence, else 0."""
    return float(len(_within(ranks, k)) == len(ranks))


def reciprocal_rank(ranks: Ranks) -> float:
    """Return 1 / (the best rank), and 0 when nothing was found."""
    found = [rank for rank in ranks if rank is not None]
    return 1 / min(found) if found else 0.0


def ndcg_at(ranks: Ranks, k: int) -> float:
    """Return the normalised discounted cumulative gain of the first k hits.

    Gains are binary: a hit gains 1 when it names evidence that no hit before it named.
    DCG = Σ gain_r / log2(1 + r) over the ranks r = 1…k (Järvelin and Kekäläinen 2002, with the
    discount that became usual), and it is divided by the DCG of n gains, one to a hit, at the
    top: Σ 1 / log2(1 + r) over r = 1…min(n, k). A hit that names several turns gains 1 as well,
    so the result never exceeds 1.
    """
    gained = sum(1 / math.log2(1 + rank) for rank in sorted(set(_within(ranks, k))))
    ideal = sum(1 / math.log2(1 + rank) for rank in range(1, min(len(ranks), k) + 1))
    return gained / ideal


def figures_of(questions: Sequence[Ranks], ks: Sequence[int]) -> Figures:
    """Return the means over questions, each of which counts alike.

    Args:
        questions: The ranks of each question's evidence; none of them empty.
        ks: Where to cut.
    """
    return Figures(
        questions=len(questions),
        recall={k: _mean([recall_at(ranks, k) for ranks in questions]) for k in ks},
        hit={k: _mean([hit_at(ranks, k) for ranks in questions]) for k in ks},
        all={k: _mean([all_at(ranks, k) for ranks in questions]) for k in ks},
        ndcg={k: _mean([ndcg_at(ranks, k) for ranks in questions]) for k in ks},
        mrr=_mean([reciprocal_rank(ranks) for ranks in questions]),
    )


def percentile(values: Sequence[float], share: float) -> float:
    """Return the nearest-rank percentile: the ⌈share · n⌉-th smallest of n values, at least one."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def latency_of(milliseconds: Sequence[float]) -> Latency | None:
    """Return what calls took; ``None`` when none was timed."""
    if not milliseconds:
        return None
    return Latency(
        timed=len(milliseconds),
        mean=_mean(milliseconds),
        p50=percentile(milliseconds, 0.50),
        p95=percentile(milliseconds, 0.95),
        p99=percentile(milliseconds, 0.99),
        max=max(milliseconds),
    )


def _within(ranks: Ranks, k: int) -> list[int]:
    return [rank for rank in ranks if rank is not None and rank <= k]


def _mean(values: Sequence[float]) -> float:
    # Exact summation: the order of the questions cannot change the last digit.
    return math.fsum(values) / len(values)
