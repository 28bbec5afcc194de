"""The pure rules of the cold tier: narrowing, fusion, word weights."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cold_samples import OPERATOR, asked
from support.tier_samples import scope_of

from tiers.cold.archival import archival_query, narrowed, reciprocal_ranks
from tiers.cold.sqlite.bm25 import (
    asked_terms,
    looked_up,
    mark_of,
    marked_text,
    norm_of,
    phrase_of,
    rarity,
)
from tiers.errors import UsageError
from tiers.records import ALL_TOPICS

TOPICS = st.lists(st.sampled_from(["a", "b", "c", ALL_TOPICS]), max_size=4)
ENGLISH = (
    "running runner ran easily fairly generalizations oscillators happy sky crying tyres boxes "
    "ring king sing bring thing rating rate relational conditional vietnamization effective "
    "hopping hoping hop falling controlling roll agreed feed plastered bled motoring conflated "
    "probate cease controll ponies caresses cats digitizer conformably adoption laps quali 1 42 18s"
).split()


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


def test_mark_does_not_change_how_a_word_is_stemmed() -> None:
    """FTS5's own stemmer makes of a marked word the mark and what it makes of the word alone."""
    mark = mark_of("acme", "race", "fact")
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE VIRTUAL TABLE w USING fts5(t, tokenize='porter unicode61')")
        connection.execute("CREATE VIRTUAL TABLE v USING fts5vocab(w, 'instance')")
        connection.execute("INSERT INTO w (rowid, t) VALUES (1, ?)", (" ".join(ENGLISH),))
        marked = marked_text(mark, " ".join(ENGLISH))
        connection.execute("INSERT INTO w (rowid, t) VALUES (2, ?)", (marked,))
        rows = connection.execute("SELECT doc, offset, term FROM v").fetchall()
    terms = {(doc, offset): term for doc, offset, term in rows}
    for offset in range(len(ENGLISH)):
        assert terms[2, offset] == mark + terms[1, offset]


def test_marks_differ_by_tenant_graph_and_kind() -> None:
    """Also where the names run together."""
    names = [("a", "bc", "fact"), ("ab", "c", "fact"), ("a", "bc", "turn"), ("", "abc", "fact")]
    marks = {mark_of(*name) for name in names}
    assert len(marks) == 4
    assert all(
        len(mark) == 16 and mark.isalnum() and not set(mark) & set("aeiouy") for mark in marks
    )


def test_what_is_asked_for_is_stems_and_nothing_but_letters() -> None:
    """Each stem once, with how many words have it; quoted, so that no question is syntax."""
    found = asked_terms('the "tyre" OR tyres* NEAR( 18')
    assert found == [("tyre", "tyre", 2), ("near", "near", 1), ("18", "18", 1)]
    assert phrase_of("m1", "tyre") == '"m1tyre"'
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
