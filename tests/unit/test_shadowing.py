"""Nearer definitions hide those further away."""

from __future__ import annotations

from support.records import fact

from ezra.turn.shadowing import resolve_core


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
