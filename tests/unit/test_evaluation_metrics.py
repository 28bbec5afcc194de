"""Measures of a ranking: by hand, and against the definitions read off the list itself."""

from __future__ import annotations

import math
from random import Random

import pytest

from ezra.evaluation.metrics import (
    all_at,
    figures_of,
    hit_at,
    latency_of,
    ndcg_at,
    percentile,
    ranks_of,
    recall_at,
    reciprocal_rank,
)


def test_ranks_are_the_first_places_that_name_each_turn() -> None:
    """A hit may name several turns, a turn may be named twice, and one not at all."""
    named = [("x",), ("b", "a"), (), ("a", "c")]
    assert ranks_of(("a", "b", "c", "d"), named) == (2, 2, 4, None)


def test_measures_worked_out_by_hand() -> None:
    """Evidence at ranks 2 and 5, and one that is not found."""
    ranks = (5, None, 2)
    assert [recall_at(ranks, k) for k in (1, 2, 5)] == [0, 1 / 3, 2 / 3]
    assert [hit_at(ranks, k) for k in (1, 2, 5)] == [0, 1, 1]
    assert all_at(ranks, 100) == 0
    assert all_at((5, 2), 4) == 0
    assert all_at((5, 2), 5) == 1
    assert reciprocal_rank(ranks) == 1 / 2
    assert reciprocal_rank((None,)) == 0
    # log2(3) = 1.584963, log2(6) = 2.584963; ideal: 1 + 0.630930 + 0.5 = 2.130930
    assert ndcg_at(ranks, 5) == pytest.approx((0.630930 + 0.386853) / 2.130930, abs=1e-6)
    assert ndcg_at(ranks, 2) == pytest.approx(0.630930 / 1.630930, abs=1e-6)


def test_a_hit_that_names_all_evidence_is_no_better_than_perfect() -> None:
    """A summary at the top gains one, not three: NDCG stays within 1."""
    assert ndcg_at((1, 1, 1), 10) == pytest.approx(1 / (1 + 1 / math.log2(3) + 1 / 2))
    assert ndcg_at((1, 2, 3), 10) == 1
    assert ndcg_at((1, 2, 3), 2) == 1


def test_measures_agree_with_the_list_itself() -> None:
    """On random lists of turns: sets of the first k, and gains counted hit by hit."""
    random = Random(7)
    for _ in range(200):
        turns = [str(number) for number in range(30)]
        evidence = random.sample(turns, random.randint(1, 6))
        found = random.sample(turns, 20)
        ranks = ranks_of(evidence, [(turn,) for turn in found])
        for k in (1, 5, 10, 20):
            common = set(found[:k]) & set(evidence)
            gains = [turn in evidence for turn in found[:k]]
            gained = sum(gain / math.log2(place + 2) for place, gain in enumerate(gains))
            ideal = sum(1 / math.log2(place + 2) for place in range(min(k, len(evidence))))
            assert recall_at(ranks, k) == len(common) / len(evidence)
            assert hit_at(ranks, k) == bool(common)
            assert all_at(ranks, k) == (common == set(evidence))
            assert ndcg_at(ranks, k) == pytest.approx(gained / ideal)


def test_questions_count_alike_whatever_their_order() -> None:
    """Means are over questions, not over evidence, and exact to the last digit."""
    questions = [(1, None), (None,), (3,), (2, 2, 7)] * 5
    figures = figures_of(questions, (1, 5))
    assert figures.questions == 20
    assert figures.recall == pytest.approx({1: 1 / 8, 5: (1 / 2 + 0 + 1 + 2 / 3) / 4})
    assert figures.measure("mrr", None) == pytest.approx((1 + 0 + 1 / 3 + 1 / 2) / 4)
    assert figures.measure("hit", 5) == 3 / 4
    assert figures_of(questions[::-1], (1, 5)) == figures


def test_percentiles_are_values_that_occurred() -> None:
    """Nearest rank: the 95th of a hundred, the only one of one, none of none."""
    hundred = [float(number) for number in range(100, 0, -1)]
    assert [percentile(hundred, share) for share in (0.0, 0.5, 0.95, 1.0)] == [1, 50, 95, 100]
    assert percentile([3.0], 0.99) == 3
    times = latency_of(hundred)
    assert times is not None
    assert (times.timed, times.mean, times.p95, times.max) == (100, 50.5, 95, 100)
    assert latency_of([]) is None
