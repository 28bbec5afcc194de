"""The pure parts of the knowledge graph: keys, walks, chains and entities."""

from __future__ import annotations

import pytest

from tiers.cold.digests import ALIAS_KEY, Step, edge_of, key_of, keys_of
from tiers.cold.graph_walk import Said, Walk, called, entities_of, has_met, next_walk, shortest
from tiers.errors import UsageError
from tiers.knowledge import Entity
from tiers.records import Fact


@pytest.mark.parametrize("same", ["red bull", " Red_BULL ", "RED\u2003bull", "\uff32ed bull"])
def test_one_key_for_every_spelling(same: str) -> None:
    """Case, underscores, white space and compatibility forms make no difference."""
    assert key_of(same) == key_of("Red Bull") != key_of("RedBull")
    assert keys_of(["Red Bull", same, " _ "]) == (key_of("Red Bull"),)


def test_only_a_whole_triple_is_an_edge() -> None:
    """A fact without an object, or with a blank part, is none; an alias is told by any spelling."""
    fact = Fact(text="x", subject="Max", predicate="ALIAS", object="Mad Max")
    edge = edge_of(fact)
    assert edge is not None
    assert (edge.predicate, edge.is_alias) == (ALIAS_KEY, True)
    assert edge_of(fact.model_copy(update={"object": None})) is None
    assert edge_of(fact.model_copy(update={"object": "_"})) is None
    with pytest.raises(UsageError):
        keys_of(["n"] * 1001)


def test_aliases_reach_four_facts_far() -> None:
    """A longer chain of names is another entity's from there on."""
    joins = [("a", "b"), ("c", "b"), ("c", "d"), ("e", "d"), ("e", "f")]
    assert called(["a"], joins) == {"a", "b", "c", "d", "e"}
    assert called(["c"], joins) == {"a", "b", "c", "d", "e", "f"}
    assert called(["z"], []) == {"z"}


def test_walk_ends_with_its_room() -> None:
    """It asks for each name once, and a full step is the last."""
    walk = Walk(["a"], 3)
    walk.join([("a", "A")])
    assert walk.names == ("A", "a")
    walk.take([Step("1", "a", "b"), Step("2", "c", "A")])
    assert (walk.ahead, walk.room, walk.is_over) == (("b", "c", "A"), 1, False)
    walk.join([])
    walk.take([Step("3", "b", "a")])
    assert (walk.taken, walk.is_cut, walk.is_over) == (("1", "2", "3"), True, True)


def test_two_walks_meet_on_the_first_of_the_shortest_ways() -> None:
    """The one with fewer names goes on; of chains of one length that with the lowest ids wins."""
    one, other = Walk(["a"], 9), Walk(["z"], 9)
    for walk in (one, other):
        walk.join([])
    assert next_walk(one, other, 2) is one
    one.take([Step("2", "a", "m"), Step("3", "n", "a"), Step("5", "a", "q")])
    one.join([])
    assert not has_met(one, other)
    assert next_walk(one, other, 2) is other
    assert next_walk(one, other, 1) is None
    other.take([Step("1", "n", "z"), Step("4", "m", "z")])
    other.join([])
    assert has_met(one, other)
    assert shortest(one, other, "a", "z") == ("2", "4")
    assert shortest(one, other, "a", "a") == ()
    assert shortest(one, other, "a", "nowhere") is None


def test_entity_is_called_what_it_is_called_most() -> None:
    """Of its spellings the most used; of its names too; between two of them a fact counts once."""
    said = [
        Said("m", "Max", 3, 0),
        Said("m", "MAX", 2, 1),
        Said("v", "Verstappen", 4, 0),
        Said("x", "Mad Max", 0, 0),
        Said("n", "Niki", 0, 1),
    ]
    joins = [("m", "x"), ("m", "v")]
    found = entities_of(["q", "x", "m", "n"], joins, said, {("m", "v"): 2, ("m", "n"): 9}, 9)
    assert found == (
        Entity(name="Verstappen", aliases=("Max", "Mad Max"), facts=7),
        Entity(name="Niki"),
    )
    assert entities_of(["n", "m"], joins, said, {}, 1) == (Entity(name="Niki"),)
