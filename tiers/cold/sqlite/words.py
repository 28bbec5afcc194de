"""Word search over everything in the cold tier, and what a graph holds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ...forms import entry_of, is_current
from ...records import Hit, IndexEntry, Kind, Owned, Scope, SearchQuery
from ...sighting import Known, Seen, Sighted, SightedWords
from ..ownership import in_order
from .beliefs import read_active_beliefs
from .database import Database, Session
from .episodic import read_episodes, read_summaries
from .hits import read_hits
from .procedural import read_rules
from .queue import count_work
from .scope import as_json, scoped
from .semantic import read_active_facts
from .shelf import read_passages
from .turns import read_turns
from .word_search import Found, WordSearch

Reader = Callable[[Session, Scope, Sequence[str]], Mapping[str, Owned]]

_READERS: Mapping[Kind, Reader] = {
    "turn": read_turns,
    "summary": read_summaries,
    "episode": read_episodes,
    "fact": read_active_facts,
    "rule": read_rules,
    "belief": read_active_beliefs,
    "document": read_passages,
}
_KINDS_OF = (
    "SELECT r.id, r.kind FROM searchable r WHERE $visible(r) AND r.live = 1"
    " AND r.id IN (SELECT value FROM json_each(:ids))"
)
_CENSUS = """
SELECT
    (SELECT COUNT(*) FROM turns t WHERE $own(t)) AS turns,
    (SELECT COUNT(*) FROM tail w WHERE $own(w)) AS tail,
    (SELECT COUNT(*) FROM summaries s WHERE $own(s)) AS summaries,
    (SELECT COUNT(*) FROM episodes e WHERE $own(e)) AS episodes,
    (SELECT COUNT(*) FROM facts f WHERE $own(f) AND f.superseded_by IS NULL
        AND f.forgotten_at IS NULL AND f.redacted_at IS NULL
        AND f.tier = 'core') AS facts_core,
    (SELECT COUNT(*) FROM facts f WHERE $own(f) AND f.superseded_by IS NULL
        AND f.forgotten_at IS NULL AND f.redacted_at IS NULL
        AND f.tier = 'archival') AS facts_archival,
    (SELECT COUNT(*) FROM rules r WHERE $own(r)) AS rules,
    (SELECT COUNT(*) FROM beliefs b WHERE $own(b) AND b.active = 1) AS beliefs,
    (SELECT COUNT(*) FROM documents d WHERE $own(d) AND d.removed_at IS NULL
        AND d.redacted_at IS NULL) AS documents,
    (SELECT COUNT(*) FROM passages p WHERE $own(p) AND p.until IS NULL
        AND p.redacted_at IS NULL) AS passages
"""


class SqliteLexicalIndex:
    """A ``LexicalIndex`` over the SQLite stores."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def search_words(self, scope: Scope, query: SearchQuery) -> tuple[Hit, ...]:
        """Return visible records of the asked kinds by BM25, best first, ties by id.

        Only the scope's own graph is searched, and only its word statistics count. A question
        without words, or to the ancestors (``query.inherited``), finds nothing. ``query.vector``
        is not used. What it costs does not grow with the graph: see ``word_search``.
        """

        def question(session: Session) -> tuple[Hit, ...]:
            return read_hits(session, scope, WordSearch(session, scope).ranked(query))

        return await self._database.read("search_words", question)

    async def sight_words(
        self, scope: Scope, queries: Sequence[SearchQuery], known: Known
    ) -> tuple[SightedWords, ...]:
        """Return for each query what ``search_words`` does, turns of ``known`` by ids alone."""

        def question(session: Session) -> tuple[SightedWords, ...]:
            search = WordSearch(session, scope)
            answers = ((search.ranked(query), search.statistics(query)) for query in queries)
            return tuple(
                SightedWords(_sighted(session, scope, found, known), statistics)
                for found, statistics in answers
            )

        return await self._database.read("search_words", question)

    async def entries(self, scope: Scope, ids: Sequence[str]) -> tuple[IndexEntry, ...]:
        """Return the searchable forms, without vectors, of the visible records among ``ids``.

        Superseded, forgotten, redacted and unknown records are left out; in the order asked,
        each once.
        """

        def question(session: Session) -> tuple[IndexEntry, ...]:
            rows = session.all(scoped(_KINDS_OF, scope, ids=as_json(ids)))
            records = _read(session, scope, {row["id"]: row["kind"] for row in rows})
            entries = {record_id: entry_of(record) for record_id, record in records.items()}
            return in_order(entries, ids)

        return await self._database.read("entries", question)

    async def census(self, scope: Scope) -> dict[str, int]:
        """Return what the scope's graph holds, by name.

        Names: turns, covered_turns, summaries, episodes, facts_core, facts_archival, rules,
        beliefs, documents, passages, waiting_work. Superseded facts and beliefs, forgotten facts,
        removed documents and parked work are not counted.
        """

        def question(session: Session) -> dict[str, int]:
            row = session.all(scoped(_CENSUS, scope))[0]
            counts = {name: int(row[name]) for name in row.keys()}  # noqa: SIM118 - values otherwise
            covered = counts["turns"] - counts.pop("tail")
            work = count_work(session, scope)
            waiting = sum(work.values()) - work["parked"]
            return counts | {"covered_turns": covered, "waiting_work": waiting}

        return await self._database.read("census", question)


def _sighted(
    session: Session, scope: Scope, found: Sequence[Found], known: Known
) -> tuple[Seen, ...]:
    seen: dict[str, Seen] = {
        one.id: Sighted(one.id, one.score, "cold", one.words_only)
        for one in found
        if one.kind == "turn" and one.id in known
    }
    told = [one for one in found if one.id not in seen]
    seen |= {hit.id: hit for hit in read_hits(session, scope, told)}
    return in_order(seen, [one.id for one in found])


def _read(session: Session, scope: Scope, kinds: Mapping[str, Kind]) -> dict[str, Owned]:
    """Return current records of several kinds by id, each kind by its own store's reader."""
    records: dict[str, Owned] = {}
    for kind in dict.fromkeys(kinds.values()):
        ids = [record_id for record_id, its_kind in kinds.items() if its_kind == kind]
        records.update(_READERS[kind](session, scope, ids))
    return {record_id: record for record_id, record in records.items() if is_current(record)}
