"""What a question may find by words, what of records is searched, and what a graph holds.

Where the records of each kind are that searches find, and what is shown of them.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...forms import entry_of, hit_of, is_current
from ...known_records import Known, Seen, Sighted, SightedWords
from ...liveness import RecordKey, by_graph
from ...records import Hit, IndexEntry, Kind, Owned, Scope, SearchQuery
from ..conditions import Absent, Among, Is
from ..ownership import in_order
from ..port import Collection, Steps, counts, every
from .belief_projection import BELIEFS
from .belief_spans import active_then
from .documents import DOCUMENTS
from .episodes import EPISODES, SUMMARIES
from .passages import PASSAGES
from .questions import MANY, among, numbers, whole
from .rules import RULES
from .statements import FACTS
from .store_base import OverEngine, reading
from .turns import TURNS
from .word_search import (
    Found,
    conditions,
    found_by_words,
    ranked,
    statistics_of,
    stored_kinds,
    words_of,
)
from .words import SEARCHABLE, Filed
from .work import count_work

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


class LexicalIndex(OverEngine):
    """Word search in the cold tier: answers at once, before any vector exists."""

    @reading
    def search_words(self, scope: Scope, query: SearchQuery) -> Steps[tuple[Hit, ...]]:
        """Return visible records by BM25, best first.

        The engine's query carries the scope. ``query.vector`` is not used, and ancestors are not
        searched: ``query.inherited`` finds nothing. Hits whose indexing is still queued, and kinds
        that are never indexed, are marked ``words_only``. The rarest words are looked up first,
        and the commonest not at all once enough records have been looked at.
        """
        return (yield from read_hits(scope, (yield from found_by_words(scope, query))))

    @reading
    def sight_words(
        self, scope: Scope, queries: Sequence[SearchQuery], known: Known
    ) -> Steps[tuple[SightedWords, ...]]:
        """Return for each query what ``search_words`` does, turns of ``known`` by ids alone.

        Queries of the same words and kinds count them once.
        """
        answers: tuple[SightedWords, ...] = ()
        for query in queries:
            answers += ((yield from _sighted_words(scope, query, known)),)
        return answers

    async def entries(self, scope: Scope, ids: Sequence[str]) -> tuple[IndexEntry, ...]:
        """Return the searchable forms, without vectors, of the visible records among ``ids``.

        Superseded, forgotten, redacted and unknown records are left out; in the order asked,
        each once.
        """
        records = await self._store.read("entries", lambda: _records(scope, ids))
        found = {one.id: entry_of(one) for one in records if is_current(one)}
        return in_order(found, ids)

    @reading
    def live(
        self, scope: Scope, query: SearchQuery, keys: Sequence[RecordKey]
    ) -> Steps[frozenset[RecordKey]]:
        """Return which records a search may answer with at this moment.

        Those of the own graph, or of ancestors that carry their kind, that are visible, live (at
        ``query.as_of`` if that is given) and meet every condition of the query; its words, vector
        and limit are not looked at. Right at once after a write, unlike the vector index. One
        read, however many are asked about.
        """
        found: set[RecordKey] = set()
        for there, question, ids in by_graph(scope, query, keys):
            live = yield from live_among(there, question, ids)
            found |= {(there.graph_id, record_id) for record_id in live}
        return frozenset(found)

    @reading
    def census(self, scope: Scope) -> Steps[dict[str, int]]:
        """Return what the scope's graph holds, by name.

        Names: turns, covered_turns, summaries, episodes, facts_core, facts_archival, rules,
        beliefs, documents, passages, waiting_work. Superseded facts and beliefs, forgotten facts,
        removed documents and parked work are not counted.
        """
        finds = (whole(kept, scope, *by, limit=MANY) for kept, *by in _CENSUS.values())
        found = yield from numbers(*finds)
        counts = dict(zip(_CENSUS, found, strict=True))
        covered = counts["turns"] - counts.pop("tail")
        work = yield from count_work(scope)
        waiting = sum(work.values()) - work["parked"]
        return counts | {"covered_turns": covered, "waiting_work": waiting}


def _sighted_words(scope: Scope, query: SearchQuery, known: Known) -> Steps[SightedWords]:
    words = yield from words_of(scope, query)
    if words is None:
        return SightedWords((), None)
    found = yield from ranked(scope, query, words)
    seen = yield from _sighted(scope, found, known)
    return SightedWords(seen, statistics_of(query, words))


def _sighted(scope: Scope, found: Sequence[Found], known: Known) -> Steps[tuple[Seen, ...]]:
    seen: dict[str, Seen] = {
        one.id: Sighted(one.id, one.score, "cold", one.words_only)
        for one in found
        if one.kind == "turn" and one.id in known
    }
    hits = yield from read_hits(scope, [one for one in found if one.id not in seen])
    seen |= {hit.id: hit for hit in hits}
    return in_order(seen, [one.id for one in found])


def _records(scope: Scope, ids: Sequence[str]) -> Steps[list[Owned]]:
    """Return the visible records among some ids that can be found now, each from its own room."""
    filed = yield from every(among(SEARCHABLE, scope, ids, Is("live", 1)))
    return (yield from records_of(scope, filed))


_CENSUS: Mapping[str, tuple[Any, ...]] = {
    "turns": (TURNS, "recorded"),
    "tail": (TURNS, "waiting"),
    "summaries": (SUMMARIES, "id"),
    "episodes": (EPISODES, "id"),
    "facts_core": (FACTS, "said", Is("tier", "core")),
    "facts_archival": (FACTS, "said", Is("tier", "archival")),
    "rules": (RULES, "id"),
    "beliefs": (BELIEFS, "active"),
    "documents": (DOCUMENTS, "there", Absent("redacted_at")),
    "passages": (PASSAGES, "current", Absent("redacted_at")),
}
"""What is counted under which name: where, by which index, and what must hold."""
