"""Attempts on the quarantine: reading what others' texts say, holding and deciding by id."""

from __future__ import annotations

from operator import attrgetter

from tiers.quarantine import Finding, Quarantined
from tiers.records import Scope

from .aims import INNER, OUTER, Aim
from .attempts import Method, Move, asking, graph_of, of_graph, one_of
from .cold_reads import asker
from .cold_writes import id_of_victim_or_new, of_id, variant
from .oracle import Reach
from .worlds import LATER, SHARED_WORDS

_KIND = ("quarantined",)
_LIMIT = 100


def held_text(mark: str) -> Quarantined:
    """Return a text as it is put aside; its payload says its mark too."""
    found = Finding(detector="override", severity="high", what="an order", start=0, end=1)
    text = f"{mark} {SHARED_WORDS}"
    return Quarantined(
        held="fact", source="tool", text=text, payload={"record": {"text": mark}}, findings=(found,)
    )


def hold(aim: Aim) -> Move:
    """Put a text aside under the victim's id; of an own or a forged owner."""
    mark = aim.world.new_mark()
    record = of_id(
        aim, "quarantined", held_text(mark), mark, id_of_victim_or_new(aim, "quarantined")
    )
    record, label = variant(aim, record, mark)
    return Move(lambda cold: cold.quarantine.hold(aim.scope, record), graph_of(aim.scope), label)


def decide(aim: Aim) -> Move | None:
    """Throw the victim's text away from another graph."""
    if aim.world.holds(aim.house, aim.victim.id):
        return None  # its own of the same id
    scope, text_id, reason = Scope.of_graph(*aim.house), aim.victim.id, aim.word("an attack")
    return Move(
        lambda cold: cold.quarantine.decide(scope, text_id, "discarded", reason, LATER), scope=scope
    )


_G, _V = Reach.GRAPH, Reach.VISIBLE
_ID = attrgetter("victim.id")
QUARANTINE_METHODS = (
    of_graph("quarantine.quarantined", _G, _KIND, OUTER, Aim.ids, weight=2),
    of_graph(
        "quarantine.in_quarantine",
        _G,
        _KIND,
        OUTER,
        behind=one_of("", "", _ID),
        limit=_LIMIT,
        weight=2,
    ),
    asking("quarantine.quarantined", _V, _KIND, INNER, Aim.ids, by=asker),
    Method("quarantine.hold", _V, hold, _KIND, (*OUTER, *INNER), weight=2),
    Method("quarantine.decide", _G, decide, _KIND, OUTER, weight=2),
    asking("quarantine.decide", _V, _KIND, INNER, _ID, "released", "let it pass", LATER, by=asker),
)
