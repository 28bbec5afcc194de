"""Nearer definitions hide those further away."""

from __future__ import annotations

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
    resolved = resolve_core(CHILD, [own, also_own, parent, free])
    assert resolved.visible == (own, also_own, free)
    assert resolved.shadowed == (parent,)


def test_a_nearer_archival_fact_defines_too() -> None:
    """The own graph's, or that of an ancestor between; the archival fact itself is no core fact."""
    wing = {"subject": "Front wing", "predicate": "is at"}
    far = fact(1, graph_id="monaco", object="5", **wing)
    for nearer in ("imola", "monza"):
        archival = fact(2, graph_id=nearer, object="7", tier="archival", **wing)
        resolved = resolve_core(CHILD, [far], [archival])
        assert (resolved.visible, resolved.shadowed) == ((), (far,))


def test_what_is_no_nearer_definition_hides_nothing() -> None:
    """What is further away, what ended, and one of several objects of the same predicate."""
    near = fact(1, graph_id="monza", subject="wing", predicate="is at", object="5")
    further = fact(2, graph_id="monaco", subject="wing", predicate="is at", object="7")
    ended = fact(3, graph_id="imola", subject="wing", predicate="is at", object="7", valid_to=START)
    tea = fact(4, graph_id="monza", subject="Ada", predicate="likes", object="tea")
    juice = fact(5, graph_id="imola", subject="Ada", predicate="likes", object="juice")
    resolved = resolve_core(CHILD, [near, tea], [further, ended, juice])
    assert (resolved.visible, resolved.shadowed) == ((near, tea), ())
