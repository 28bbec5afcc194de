"""The order of candidates: the same whatever order an engine holds them in."""

from __future__ import annotations

from itertools import permutations

import pytest

from tiers.warm.ranking import Candidate, best, goes_on, rounded, through_ties


def _leg(*found: tuple[str, float]) -> list[Candidate]:
    return [Candidate(rounded(score), f"point-{name}") for name, score in found]


def test_one_leg_keeps_its_own_scores() -> None:
    """No more than the limit, and those that tie with the last of them."""
    found = best([_leg(("c", 0.5), ("a", 0.9), ("b", 0.5), ("d", 0.4))], rrf_k=10, limit=2)
    assert found == {"point-a": 0.9, "point-b": 0.5, "point-c": 0.5}


def test_two_legs_add_up_reciprocal_ranks_from_zero() -> None:
    """1/10 + 1/11 for who is first here and second there."""
    found = best([_leg(("a", 3.0), ("b", 2.0)), _leg(("b", 9.0), ("a", 8.0), ("c", 1.0))], 10, 10)
    assert found["point-a"] == pytest.approx(1 / 10 + 1 / 11)
    assert found["point-a"] == found["point-b"] > found["point-c"]


def test_scores_that_are_alike_share_a_rank_in_every_order() -> None:
    """The last digits of a 32-bit sum decide nothing, and neither does the engine's order."""
    words = [("a", 4.123456), ("b", 4.123457), ("c", 4.1234561), ("d", 1.0)]
    answers = {
        tuple(sorted(best([_leg(*order), _leg(("d", 0.5), ("c", 0.4))], 10, 10).items()))
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


def test_a_leg_ends_where_a_tie_does() -> None:
    """What ties with the last one wanted belongs to it; an engine may have even more of it."""
    leg = _leg(("a", 0.9), ("b", 0.5), ("c", 0.5), ("d", 0.4))
    assert [one.found_id for one in through_ties(leg, 2)] == ["point-a", "point-b", "point-c"]
    assert through_ties(leg, 9) == leg
    assert goes_on(leg[:3], most=2, asked=3)
    assert not goes_on(leg[:3], most=2, asked=9)
    assert not goes_on(leg, most=2, asked=4)
