"""Nearer definitions hide those further away."""

from __future__ import annotations

from datetime import timedelta
from typing import Literal

import pytest
from support.records import START, fact

from ezra.turn.shadowing import resolve_core
from tiers.fleet import Ancestor, Scope

CHILD = Scope(
    tenant="acme",
    graph_id="imola",
    lineage=tuple(
        Ancestor(graph_id=graph_id, path=(graph_id,), carries=("fact",))
        for graph_id in ("monza", "monaco")
    ),
)


def test_the_nearest_definition_hides_those_further_away() -> None:
    """Own graph first, then list order; facts of one graph never hide each other."""
    wing = {"subject": "Front wing", "predicate": "setting"}
    own = fact(1, graph_id="imola", object="7", **wing)
    also_own = fact(2, graph_id="imola", object="8", **wing)
    parent = fact(3, graph_id="monaco", object="5", subject="front wing", predicate="Setting")
    free = fact(4, "Team radio is on channel 4.", graph_id="monaco")
    resolved = resolve_core(CHILD, [own, also_own, parent, free], now=START)
    assert resolved.visible == (own, also_own, free)
    assert resolved.shadowed == (parent,)


def test_a_nearer_archival_fact_defines_too() -> None:
    """The own graph's, or that of an ancestor between; the archival fact itself is no core fact."""
    wing = {"subject": "Front wing", "predicate": "is at"}
    far = fact(1, graph_id="monaco", object="5", **wing)
    for nearer in ("imola", "monza"):
        archival = fact(2, graph_id=nearer, object="7", tier="archival", **wing)
        resolved = resolve_core(CHILD, [far], [archival], now=START)
        assert (resolved.visible, resolved.shadowed) == ((), (far,))


def test_what_is_no_nearer_definition_hides_nothing() -> None:
    """What is further away, what ended, and one of several objects of the same predicate."""
    near = fact(1, graph_id="monza", subject="wing", predicate="is at", object="5")
    further = fact(2, graph_id="monaco", subject="wing", predicate="is at", object="7")
    ended = fact(3, graph_id="imola", subject="wing", predicate="is at", object="7", valid_to=START)
    tea = fact(4, graph_id="monza", subject="Ada", predicate="likes", object="tea")
    juice = fact(5, graph_id="imola", subject="Ada", predicate="likes", object="juice")
    resolved = resolve_core(CHILD, [near, tea], [further, ended, juice], now=START)
    assert (resolved.visible, resolved.shadowed) == ((near, tea), ())


@pytest.mark.parametrize("tier", ["core", "archival"])
def test_a_nearer_definition_hides_only_while_it_holds(tier: Literal["core", "archival"]) -> None:
    """Before its day and after its last one what is further away stands beside it."""
    first, last = START + timedelta(days=2), START + timedelta(days=4)
    wing = {"subject": "wing", "predicate": "is at"}
    far = fact(1, graph_id="monaco", object="5", tier="core", **wing)
    near = fact(2, graph_id="imola", object="7", valid_from=first, valid_to=last, tier=tier, **wing)
    core, nearer = ([near, far], []) if tier == "core" else ([far], [near])
    for days, is_hidden in ((0, False), (2, True), (3, True), (4, False)):
        resolved = resolve_core(CHILD, core, nearer, now=START + timedelta(days=days))
        assert resolved.shadowed == ((far,) if is_hidden else ())
        assert (near in resolved.visible) == (tier == "core")
