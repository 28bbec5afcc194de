"""Which beliefs were active right after an event: a look-up whose cost is its answer's."""

from __future__ import annotations

import json

from ...history.spans import stations
from ...records import Scope
from .database import Session, Value
from .scope import scoped

# The open spans that had begun, and of the closed ones those that are filed where one that holds
# at the event can be: behind it by where they begin, before it by where they end.
HELD = (
    "SELECT o.belief_id, o.pinned FROM belief_spans o"
    " WHERE $own(o) AND o.until_seq IS NULL AND o.since_seq <= :seq"
    " UNION ALL SELECT o.belief_id, o.pinned FROM json_each(:nodes_after) n"
    " CROSS JOIN belief_spans o WHERE $own(o) AND o.node = n.value AND o.since_seq <= :seq"
    " UNION ALL SELECT o.belief_id, o.pinned FROM json_each(:nodes_before) n"
    " CROSS JOIN belief_spans o WHERE $own(o) AND o.node = n.value AND o.until_seq > :seq"
)
"""Ids of the beliefs that were active, and whether pinned; with ``stations_of`` as parameters."""


def stations_of(seq: int, last_seq: int) -> dict[str, Value]:
    """Return the parameters of ``HELD``."""
    found = stations(seq, last_seq)
    return {
        "seq": seq,
        "nodes_after": json.dumps(found.after),
        "nodes_before": json.dumps(found.before),
    }


def active_at(session: Session, scope: Scope, seq: int, last_seq: int) -> dict[str, bool]:
    """Return whether each belief of the graph that was active right after an event was pinned."""
    rows = session.all(scoped(HELD, scope, carrying=None, **stations_of(seq, last_seq)))
    return {row["belief_id"]: bool(row["pinned"]) for row in rows}
