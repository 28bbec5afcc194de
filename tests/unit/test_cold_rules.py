"""The pure rules of the cold tier: narrowing, fusion, word weights."""

from __future__ import annotations

import math
import sqlite3
from contextlib import closing

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.cold_samples import OPERATOR, asked
from support.tier_samples import scope_of

from tiers.cold.archival import archival_query, narrowed, reciprocal_ranks
from tiers.cold.sqlite.bm25 import local_weight, mark_of, marked_terms, marked_text
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


def test_terms_are_quoted_words_under_every_mark() -> None:
    """Nothing but letters and digits comes between the quotes."""
    found = marked_terms(["m1", "m2"], 'the "tyre" OR tyre* NEAR(')
    assert found == [
        ("tyre", '"m1tyre"'),
        ("tyre", '"m2tyre"'),
        ("near", '"m1near"'),
        ("near", '"m2near"'),
    ]
    assert len(marked_terms(["m"], " ".join(f"w{n}" for n in range(500)))) == 64


def test_local_weight_restores_the_local_rarity() -> None:
    """The term's score times the weight is the same however large the rest of the index is."""

    def fts5_idf(listed: int, everything: int) -> float:
        return max(1e-6, math.log((everything - listed + 0.5) / (listed + 0.5)))

    for having in (1, 5, 50, 99):
        scores = [
            fts5_idf(having, everything) * local_weight(having, having, 100, everything)
            for everything in (100, 1_000, 1_000_000)
        ]
        assert scores == pytest.approx([scores[0]] * 3)
        assert scores[0] > 0
    rare, common = (local_weight(n, n, 100, 10_000) * fts5_idf(n, 10_000) for n in (1, 60))
    assert rare > 5 * common
