"""The order of candidates: the same whatever order an engine holds them in."""

from __future__ import annotations

from itertools import permutations

import pytest

from tiers.warm.ranking import Candidate, best


def _leg(*found: tuple[str, float]) -> list[Candidate]:
    return [Candidate(score, name, f"point-{name}") for name, score in found]


def test_one_leg_keeps_its_own_scores() -> None:
    """Best first, ties by record id, no more than the limit."""
    found = best([_leg(("c", 0.5), ("a", 0.9), ("b", 0.5))], rrf_k=10, limit=2)
    assert found == {"point-a": 0.9, "point-b": 0.5}


def test_two_legs_add_up_reciprocal_ranks_from_zero() -> None:
    """1/10 + 1/11 for who is first here and second there."""
    found = best([_leg(("a", 3.0), ("b", 2.0)), _leg(("b", 9.0), ("a", 8.0), ("c", 1.0))], 10, 10)
    assert found["point-a"] == pytest.approx(1 / 10 + 1 / 11)
    assert list(found) == ["point-a", "point-b", "point-c"]


def test_scores_that_are_alike_share_a_rank_in_every_order() -> None:
    """The last digits of a 32-bit sum decide nothing, and neither does the engine's order."""
    words = [("a", 4.123456), ("b", 4.123457), ("c", 4.1234561), ("d", 1.0)]
    answers = {
        tuple(best([_leg(*order), _leg(("d", 0.5), ("c", 0.4))], 10, 10).items())
        for order in permutations(words)
    }
    assert len(answers) == 1
    (answer,) = answers
    assert dict(answer)["point-a"] == dict(answer)["point-b"] == pytest.approx(1 / 10)
    assert dict(answer)["point-d"] == pytest.approx(1 / 13 + 1 / 10)


def test_nothing_found_is_an_empty_answer() -> None:
    """Without legs, or with empty ones."""
    assert best([], 10, 10) == {}
    assert best([[], []], 10, 10) == {}
