"""Ranked lists are put together by rank, and nearer definitions win."""

from __future__ import annotations

from support.records import fact, hit, scope

from ezra.fusion import Leg, fuse, merge_by_words, resolve_core, shared_words, without_names


def test_scores_add_up_over_legs() -> None:
    """A record that two legs find beats the best of one."""
    fused = fuse({"a": Leg([hit("x"), hit("y")]), "b": Leg([hit("z"), hit("y")])}, 10, k=10)
    assert [one.id for one in fused] == ["y", "x", "z"]
    assert fused[0].score == 2 / 12
    assert fused[1].score == 1 / 11


def test_the_first_form_is_kept() -> None:
    """A record is returned once, as the first leg gave it."""
    cold = hit("x", tier="cold")
    fused = fuse({"a": Leg([hit("x")]), "b": Leg([cold])}, 10, k=10)
    assert [(one.id, one.tier, one.score) for one in fused] == [("x", "warm", 2 / 11)]


def test_ties_are_broken_by_id_and_the_limit_is_kept() -> None:
    """The order never depends on who came first into a dictionary."""
    legs = {"a": Leg([hit("b")]), "b": Leg([hit("a")]), "c": Leg([hit("c")])}
    assert [one.id for one in fuse(legs, 2)] == ["a", "b"]
    assert fuse({}, 5) == ()


def test_the_nearest_definition_hides_those_further_away() -> None:
    """Own graph first, then list order; facts of one graph never hide each other."""
    wing = {"subject": "Front wing", "predicate": "setting"}
    own = fact(1, graph_id="imola", object="7", **wing)
    also_own = fact(2, graph_id="imola", object="8", **wing)
    parent = fact(3, graph_id="monaco", object="5", subject="front wing", predicate="Setting")
    free = fact(4, "Team radio is on channel 4.", graph_id="monaco")
    resolved = resolve_core([own, also_own, parent, free])
    assert resolved.visible == (own, also_own, free)
    assert resolved.shadowed == (parent,)


def test_inherited_facts_take_the_rank_their_words_deserve() -> None:
    """Between the hits that have more of the question's words and those that have fewer."""
    hits = [
        hit("a", text="front wing setting notes"),
        hit("b", text="the front tyre is fine"),
        hit("c", text="nothing of the kind"),
    ]
    facts = [
        fact(1, "The wing setting is 28 degrees.", graph_id="monaco"),
        fact(2, "The gearbox has 900 km.", graph_id="monaco"),
    ]
    merged = merge_by_words("front wing setting", hits, facts, scope())
    assert [one.id for one in merged] == ["a", "fact-001", "b", "c"]
    assert merged[1].inherited_from == "monaco"
    assert merge_by_words("front wing setting", hits, facts[1:], scope()) == tuple(hits)


def test_a_leg_may_count_for_some_records_only_at_their_rank_among_all() -> None:
    """What the warm index lacks comes in where its words put it, and nothing counts twice."""
    words = Leg([hit("x"), hit("new"), hit("y")], only=frozenset({"new"}))
    fused = fuse({"warm": Leg([hit("x"), hit("y")]), "words": words}, 10, k=10)
    expected = [("x", 1 / 11), ("new", 1 / 11.5), ("y", 1 / 12)]
    assert [(one.id, one.score) for one in fused] == expected


def test_shared_words_are_a_share_of_the_questions() -> None:
    """Stop words and plurals do not matter."""
    assert shared_words("How long do the mediums last?", "The medium lasts 18 laps.") == 2 / 3
    assert shared_words("", "anything") == 0


def test_names_are_cut_from_the_dense_query_only_where_they_are_names() -> None:
    """Caroline is a name, the tyre in a question about tyres is not."""
    names = ["conv-26/Caroline", "tyre engineer"]
    assert without_names("When did Caroline paint?", names) == "When did paint?"
    assert without_names("Caroline's tyre?", names) == "tyre?"
    assert without_names("Caroline?", names) == "Caroline?"
