"""Where the records of each kind are that searches find, and what is shown of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...forms import hit_of
from ...records import Hit, Kind, Owned, Scope, SearchQuery
from ..conditions import Among
from ..ownership import in_order
from ..port import Collection, Steps, counts, every
from .belief_projection import BELIEFS
from .belief_spans import active_then
from .episodes import EPISODES, SUMMARIES
from .passages import PASSAGES
from .questions import among
from .rules import RULES
from .statements import FACTS
from .turns import TURNS
from .word_search import Found, conditions, stored_kinds
from .words import SEARCHABLE, Filed

READERS: Mapping[Kind, Collection[Any]] = {
    "turn": TURNS,
    "summary": SUMMARIES,
    "episode": EPISODES,
    "fact": FACTS,
    "rule": RULES,
    "belief": BELIEFS,
    "document": PASSAGES,
}
"""What the records of a kind are read from."""


def live_among(scope: Scope, query: SearchQuery, ids: Sequence[str]) -> Steps[list[str]]:
    """Return those of some records of the scope's graph that a question may find."""
    kinds = Among("kind", tuple(stored_kinds(query.kinds)))
    asked = among(SEARCHABLE, scope, ids, kinds, *conditions(query))
    found: Iterable[tuple[Any, ...]] = yield from counts(asked, "id", "kind")
    if query.as_of is None:
        return [one for one, _ in found]
    beliefs = [one for one, kind in found if kind == "belief"]
    were = yield from active_then(scope, query.as_of, beliefs)
    return [one for one, kind in found if kind != "belief" or one in were]


def records_of(scope: Scope, found: Iterable[Found | Filed]) -> Steps[list[Owned]]:
    """Return the visible records of some entries of the word index, each from its own room."""
    of_kind: dict[Kind, list[str]] = defaultdict(list)
    for one in found:
        of_kind[one.kind].append(one.id)
    records: list[Owned] = yield from every(
        *(among(READERS[kind], scope, ids) for kind, ids in of_kind.items())
    )
    return records


def read_hits(scope: Scope, found: Sequence[Found]) -> Steps[tuple[Hit, ...]]:
    """Return what was found in the scope's own graph as hits, in the same order.

    Live or not: whether records are wanted is asked before. Those that are not visible, or have
    lost their content, are left out.
    """
    records = yield from records_of(scope, found)
    by_id = {one.id: one for one in found}
    hits = {
        record.id: _hit(record, by_id[record.id], scope)
        for record in records
        if record.redacted_at is None
    }
    return in_order(hits, [one.id for one in found])


def _hit(record: Owned, found: Found, scope: Scope) -> Hit:
    hit = hit_of(record, found.score, scope.graph_id)
    return hit.model_copy(update={"words_only": True}) if found.words_only else hit
