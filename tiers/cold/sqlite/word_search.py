"""The word index's own question: which visible records have the words, ranked by BM25.

What it costs does not grow with the graph. Of the question's words the rarest are looked up, until
``POSTINGS_MAX`` records have been looked at; the commonest, which tell the least, are then left
out. Only where that leaves fewer answers than were asked for, the rest is filled up with the newest
records that have one of the words left out, the rarest of them first. Who may see next to nothing
of a very large graph may then be told less than there is.
"""

# ruff: noqa: S608 - statements are made of constants only; values are always parameters

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from ...moments import microseconds
from ...recollection import WordStatistics
from ...records import Kind, Scope, SearchQuery
from .bm25 import (
    K1,
    AskedTerm,
    Norm,
    asked_terms,
    in_order_of_rarity,
    looked_up,
    norm_of,
    rarity,
)
from .database import Session, Value
from .scope import as_json, scoped
from .word_counts import Listed, listed, statistics_of, stored_kinds, totals_of

POSTINGS_MAX = 1_500
"""So many records are looked at for the words of a question, the rarest words first."""

NEWEST_MAX = 1_000
"""So many of the newest records that may be found are ranked for a word too common for that."""

PASSED_MAX = 8_000
"""So many are looked at for all such words together, whether they may be found or not."""

# The scope and all conditions are part of the statement, before its LIMIT.
_LIVE = "r.live = 1 AND (r.expires_at IS NULL OR r.expires_at > :now)"
# Of a fact f. What gave way before the moments of it were kept did so before any moment.
STOOD_THEN = (
    "f.redacted_at IS NULL AND (f.superseded_by IS NULL OR f.superseded_at > :as_of)"
    " AND (f.forgotten_at IS NULL OR f.forgotten_at > :as_of)"
)
# Recorded by then, and not over by then. Of what has ended since, facts and passages are found: a
# belief that is not active any more is ``ended`` to tell. What was destroyed is gone.
_LIVE_THEN = (
    "r.recorded_at <= :as_of AND (r.expires_at IS NULL OR r.expires_at > :as_of)"
    " AND (r.live = 1 OR (r.kind = 'fact' AND EXISTS (SELECT 1 FROM facts AS f WHERE $own(f)"
    f" AND f.id = r.id AND {STOOD_THEN}))"
    " OR (r.kind = 'document' AND EXISTS (SELECT 1 FROM passages AS p WHERE $own(p)"
    " AND p.id = r.id AND p.redacted_at IS NULL AND p.retired_at > :as_of)))"
    " AND (r.kind <> 'belief' OR EXISTS (SELECT 1 FROM belief_spans AS o WHERE $own(o)"
    " AND o.belief_id = r.id AND o.since_seq <= :seq"
    " AND (o.until_seq IS NULL OR o.until_seq > :seq)))"
)
_ASKED = (
    "r.kind IN (SELECT value FROM json_each(:kinds))"
    " AND (:tools_only = 0 OR r.kind <> 'turn' OR r.has_tools = 1)"
    " AND (:tier IS NULL OR r.kind <> 'fact' OR r.tier = :tier)"
    " AND (:user_id IS NULL OR r.user_id = :user_id)"
    " AND (:writer_id IS NULL OR r.agent_id = :writer_id)"
    " AND (:ids IS NULL OR r.id IN (SELECT value FROM json_each(:ids)))"
    " AND (:since IS NULL OR r.happened_at >= :since)"
    " AND (:until IS NULL OR r.happened_at < :until)"
    " AND (:grains IS NULL OR r.kind <> 'episode'"
    " OR r.grain IN (SELECT value FROM json_each(:grains)))"
    " AND (:about IS NULL OR EXISTS (SELECT 1 FROM topic_members AS n"
    " WHERE n.topic_set = r.topic_set AND n.topic IN (SELECT value FROM json_each(:about))))"
    " AND (:about_all IS NULL OR NOT EXISTS (SELECT 1 FROM json_each(:about_all) AS a"
    " WHERE a.value NOT IN (SELECT n.topic FROM topic_members AS n"
    " WHERE n.topic_set = r.topic_set)))"
)


def _ranked_by(live: str) -> str:
    """Return the statement that ranks the records that are live in a sense.

    CROSS JOIN fixes the order: words first, then who has them. A term stands in a row of its own
    for each place, so that counting them gives how often a record has it.
    """
    return f"""
WITH terms AS MATERIALIZED (
    SELECT key AS number, value ->> 0 AS term, value ->> 1 AS weight FROM json_each(:terms)
),
found AS (
    SELECT w.doc AS row, a.weight AS weight, COUNT(*) AS times
    FROM terms AS a CROSS JOIN word_index_places AS w
    WHERE w.term = a.term GROUP BY w.doc, a.number
)
SELECT r.kind, r.id, SUM(f.weight * f.times / (f.times + :flat + :per_word * r.words)) AS score
FROM found AS f CROSS JOIN searchable AS r ON r.row = f.row
WHERE $visible(r) AND {live} AND {_ASKED}
GROUP BY f.row ORDER BY score DESC, r.id LIMIT :limit
"""


def _newest_of(live: str) -> str:
    """Return the statement that finds the newest records that have a word.

    How often they have it is not looked at: that would take reading all who have it.
    """
    return f"""
WITH found AS MATERIALIZED (
    SELECT word_index.rowid AS row FROM word_index
    WHERE word_index MATCH :phrases AND word_index.rowid <= :last_row
    ORDER BY word_index.rowid DESC LIMIT :passed
)
SELECT kind, id, score FROM (
    SELECT r.kind, r.id, :weight / (1 + :flat + :per_word * r.words) AS score
    FROM found AS f CROSS JOIN searchable AS r ON r.row = f.row
    WHERE $visible(r) AND {live} AND {_ASKED} LIMIT :newest
) ORDER BY score DESC, id LIMIT :limit
"""


_RANKED_NOW, _RANKED_THEN = map(_ranked_by, (_LIVE, _LIVE_THEN))
_NEWEST_NOW, _NEWEST_THEN = map(_newest_of, (_LIVE, _LIVE_THEN))
_SEQ_AT = (
    "SELECT e.seq FROM belief_events e WHERE $own(e) AND e.recorded_at <= :as_of"
    " ORDER BY e.recorded_at DESC, e.seq DESC LIMIT 1"
)
# Nothing that came after the first turn of later had been recorded by then.
_LAST_ROW = (
    "SELECT r.row FROM turns AS t CROSS JOIN searchable AS r"
    " ON r.tenant = t.tenant AND r.graph_id = t.graph_id AND r.id = t.id"
    " WHERE $own(t) AND t.recorded_at > :as_of ORDER BY t.recorded_at, t.row LIMIT 1"
)
_EVER = (1 << 63) - 1
_WAITING = (
    "SELECT w.key FROM work AS w WHERE w.tenant = :tenant AND w.graph_id = :graph_id"
    " AND w.kind = 'index' AND w.key IN (SELECT value FROM json_each(:ids))"
)


class Found(NamedTuple):
    """A record that has words of the question.

    ``score``: higher is better. ``words_only``: it still waits to be put into the vector index.
    """

    kind: Kind
    id: str
    score: float
    words_only: bool


_Row: TypeAlias = tuple[Kind, str, float]
"""What is found of a record before it is one of the best: its kind, its id and its score."""


class _Words(NamedTuple):
    """A question's words as the graph has them.

    Attributes:
        lists: The records that have a term, by term, of each kind.
        having: In how many records a term is, over all kinds asked about.
        weights: By how much a term counts.
        norm: How a record's length counts.
        records: How many records of those kinds there are.
    """

    lists: Mapping[str, Sequence[Listed]]
    having: Mapping[str, int]
    weights: Mapping[str, float]
    norm: Norm
    records: int


class WordSearch:
    """Word searches of one scope in one state of the database; each word is counted once."""

    def __init__(self, session: Session, scope: Scope) -> None:
        self._session = session
        self._scope = scope
        self._counted: dict[tuple[str, tuple[Kind, ...]], _Words] = {}

    def ranked(self, query: SearchQuery) -> list[Found]:
        """Return the best visible records of the scope's graph for a question's words, best first.

        Ancestors are not searched: a question to them finds nothing.
        """
        words = self._words(query)
        if words is None:
            return []
        session, scope = self._session, self._scope
        params = _conditions(session, scope, query) | words.norm._asdict() | {"limit": query.limit}
        chosen = looked_up(words.having, POSTINGS_MAX)
        found = {row[1]: row for row in _ranked(session, scope, words, chosen, params)}
        if len(found) < query.limit:
            common = in_order_of_rarity(words.having)[len(chosen) :]
            for row in _newest(session, scope, words, common, params):
                found.setdefault(row[1], row)
        best = sorted(found.values(), key=lambda row: (-row[2], row[1]))[: query.limit]
        return _marked(session, scope, best)

    def statistics(self, query: SearchQuery) -> WordStatistics | None:
        """Return how rare the words of a question are; ``None`` where nothing is asked."""
        words = self._words(query)
        return None if words is None else statistics_of(query.text, words.having, words.records)

    def _words(self, query: SearchQuery) -> _Words | None:
        asked, kinds = asked_terms(query.text), stored_kinds(query.kinds)
        if query.inherited or query.mode == "dense" or not asked or not kinds:
            return None
        key = (query.text, tuple(kinds))
        if key not in self._counted:
            self._counted[key] = _words(self._session, self._scope, asked, kinds)
        return self._counted[key]


def conditions(query: SearchQuery) -> dict[str, Value]:
    """Return the parameters of what a question asks of a record besides its words."""
    moments = {"now": query.now, "as_of": query.as_of, "since": query.since, "until": query.until}
    params: dict[str, Value] = {
        "kinds": as_json(stored_kinds(query.kinds)),
        "tools_only": int("turn" not in query.kinds),
        "tier": query.tier,
        "user_id": query.user_id,
        "writer_id": query.writer_id,
        "grains": as_json(query.grains) if query.grains else None,
        "about": as_json(query.topics) if query.topics else None,
        "about_all": as_json(query.all_topics) if query.all_topics else None,
        "ids": as_json(query.ids) if query.ids else None,
    }
    for name, at in moments.items():
        params[name] = None if at is None else microseconds(at)
    return params


def seq_at(session: Session, scope: Scope, as_of: Value) -> int:
    """Return the last event of the graph's log at or before a moment; 0 when there is none."""
    row = session.one(scoped(_SEQ_AT, scope, as_of=as_of))
    return 0 if row is None else int(row["seq"])


def _words(
    session: Session, scope: Scope, asked: Sequence[AskedTerm], kinds: Sequence[Kind]
) -> _Words:
    totals = totals_of(session, scope)
    records = sum(totals.of_kind.get(kind, 0) for kind in kinds)
    lists: dict[str, list[Listed]] = {}
    for one in listed(session, scope, asked, kinds, totals):
        lists.setdefault(one.term, []).append(one)
    having = {term: sum(one.having for one in of_term) for term, of_term in lists.items()}
    weights = {
        one.term: one.times * (K1 + 1) * rarity(having[one.term], records)
        for one in asked
        if one.term in having
    }
    return _Words(lists, having, weights, norm_of(totals.records, totals.words), records)


def _conditions(session: Session, scope: Scope, query: SearchQuery) -> dict[str, Value]:
    params = conditions(query)
    if query.as_of is None:
        return params
    return params | {"seq": seq_at(session, scope, params["as_of"])}


def _ranked(
    session: Session,
    scope: Scope,
    words: _Words,
    chosen: Sequence[str],
    params: Mapping[str, Value],
) -> list[_Row]:
    """Return the best records that have one of the chosen terms."""
    terms = [(one.entry, words.weights[term]) for term in chosen for one in words.lists[term]]
    if not terms:
        return []
    statement = _RANKED_NOW if params["as_of"] is None else _RANKED_THEN
    listing = json.dumps(terms, ensure_ascii=False)
    query = scoped(statement, scope, carrying=None, terms=listing, **params)
    return session.tuples(query)


def _newest(
    session: Session,
    scope: Scope,
    words: _Words,
    terms: Sequence[str],
    params: Mapping[str, Value],
) -> Iterator[_Row]:
    """Yield the best of the newest that have one of some common terms, while there is room."""
    statement = _NEWEST_NOW if params["as_of"] is None else _NEWEST_THEN
    last_turn = _last_row(session, scope, params["as_of"])
    room = PASSED_MAX
    for term in terms:
        for kinds_last_row, of_term in _by_last_row(words.lists[term], last_turn):
            having = sum(one.having for one in of_term)
            more: dict[str, Value] = {
                "phrases": " OR ".join(one.phrase for one in of_term),
                "last_row": kinds_last_row,
                "weight": words.weights[term],
                "newest": NEWEST_MAX,
                "passed": room,
            }
            yield from session.tuples(scoped(statement, scope, carrying=None, **more, **params))
            room -= having
            if room <= 0:
                return


def _last_row(session: Session, scope: Scope, as_of: Value) -> int:
    """Return the row before which all turns came that had been recorded by a moment."""
    row = None if as_of is None else session.one(scoped(_LAST_ROW, scope, as_of=as_of))
    return _EVER if row is None else int(row["row"])


def _by_last_row(lists: Sequence[Listed], last_turn: int) -> Iterator[tuple[int, list[Listed]]]:
    """Yield who has a term, those apart that need not be looked for behind a row.

    Turns come in the order in which they are recorded; of other kinds there are few.
    """
    if last_turn == _EVER:
        yield _EVER, list(lists)
        return
    for last_row, is_turn in ((last_turn, True), (_EVER, False)):
        of_kind = [one for one in lists if (one.kind == "turn") == is_turn]
        if of_kind:
            yield last_row, of_kind


def _marked(session: Session, scope: Scope, found: Sequence[_Row]) -> list[Found]:
    """Return what was found, those marked that wait to be put into the vector index."""
    ids = as_json([record_id for _, record_id, _ in found])
    waiting = {key for (key,) in session.tuples(scoped(_WAITING, scope, ids=ids))}
    return [Found(*row, words_only=row[1] in waiting) for row in found]
