"""The pure rules of the cold tier: narrowing, fusion, word weights."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cold_samples import OPERATOR, asked
from support.tier_samples import scope_of

from tiers.cold.stores.recall import archival_query, narrowed, reciprocal_ranks
from tiers.cold.stores.word_search import (
    Words,
    asked_terms,
    looked_up,
    norm_of,
    rarity,
)
from tiers.errors import UsageError
from tiers.records import ALL_TOPICS

TOPICS = st.lists(st.sampled_from(["a", "b", "c", ALL_TOPICS]), max_size=4)


@given(TOPICS, st.none() | TOPICS)
def test_narrowing_never_widens(held: list[str], asked_for: list[str] | None) -> None:
    """Whatever is asked for, what remains was held."""
    scope = scope_of(topics=held)
    result = narrowed(scope, asked_for)
    if not scope.sees_all_topics:
        assert set(result.topics) <= set(scope.topics)
    if asked_for is not None and ALL_TOPICS not in asked_for:
        assert set(result.topics) <= set(asked_for)
    assert result.model_copy(update={"topics": scope.topics}) == scope


def test_narrowing_of_everything_leaves_what_is_asked() -> None:
    """And refuses what cannot be a topic."""
    assert narrowed(OPERATOR, [" Tyres", "pace"]).topics == ("pace", "tyres")
    assert narrowed(OPERATOR, []).topics == ()
    with pytest.raises(UsageError, match="scope_topics"):
        narrowed(OPERATOR, ["\x00"])
    with pytest.raises(UsageError, match="scope_topics"):
        narrowed(OPERATOR, "tyres")


@pytest.mark.parametrize(("limit", "wide"), [(1, 20), (10, 20), (11, 22), (100, 200), (200, 200)])
def test_archival_legs_fetch_more_than_is_returned(limit: int, wide: int) -> None:
    """Twice the limit, at least 20, at most what a query may ask for."""
    query = archival_query(asked(), "team", limit)
    assert (query.kinds, query.tier, query.user_id, query.limit) == (
        *(("fact",), "archival"),
        *("team", wide),
    )


def test_reciprocal_ranks_sum_over_rankings() -> None:
    """1 / (10 + rank) each, best first, ties by id; a place may be nobody's."""
    scores = reciprocal_ranks(["a", None, "d"], [None, "c", "a"], [])
    assert scores == {
        "a": pytest.approx(1 / 11 + 1 / 13),
        "c": pytest.approx(1 / 12),
        "d": pytest.approx(1 / 13),
    }
    assert list(scores) == ["a", "c", "d"]
    assert list(reciprocal_ranks(["z"], ["y"])) == ["y", "z"]
    assert reciprocal_ranks() == {}


def test_what_is_asked_for_is_stems_and_nothing_but_letters() -> None:
    """Each stem once, with how many words have it; no question is syntax."""
    found = asked_terms('the "tyre" OR tyres* NEAR( 18')
    assert found == [("tyre", 2), ("near", 1), ("18", 1)]
    assert len(asked_terms(" ".join(f"w{n}" for n in range(500)))) == 64
    assert asked_terms("?!") == []


def test_the_rarest_terms_are_looked_up_first() -> None:
    """As many as there is room for; what does not fit ends the list, and nobody's is not in it."""
    having = {"common": 9, "rare": 2, "some": 5, "few": 2, "none": 0}
    assert looked_up(having, 10) == ["few", "rare", "some"]
    assert looked_up(having, 18) == ["few", "rare", "some", "common"]
    assert looked_up(having, 1) == []


def test_rarer_words_weigh_more_and_longer_records_less() -> None:
    """However common a word is, it weighs something; an empty graph is no error."""
    weights = [rarity(having, 100) for having in (1, 5, 50, 99, 100, 120)]
    assert weights == sorted(weights, reverse=True)
    assert weights[-1] > 0
    assert rarity(1, 100) > 5 * rarity(60, 100)
    norm = norm_of(4, 40)
    assert norm.flat + 10 * norm.per_word == pytest.approx(1.2)
    assert norm_of(0, 0).per_word > 0


def test_what_has_all_of_several_terms_is_not_held_to_be_long() -> None:
    """With two terms, or without one of three, a long record weighs less than a short one."""
    terms = ("check", "logs", "mail")
    words = Words(("turn",), dict.fromkeys(terms, 2), dict.fromkeys(terms, 1.0), norm_of(2, 20), 2)

    def weighed(*terms: str) -> list[float]:
        rows = [
            (f"turn {term}", 1, one, "turn", 5 if one == "short" else 700)
            for term in terms
            for one in ("long", "short")
        ]
        scores = words.scored(row for row in rows if row[:3] != ("turn logs", 1, "short"))
        return [scores["long", "turn"], scores["short", "turn"]]

    long, short = weighed(*terms)
    assert long > short
    long, short = weighed(*terms[::2])
    assert long < short
