"""The word index's own question: which visible records have the words, ranked by BM25."""

from __future__ import annotations

import json
from typing import NamedTuple

from ...moments import microseconds
from ...records import Kind, Scope, SearchQuery
from .bm25 import mark_of, marked_terms
from .database import Session
from .scope import as_json, scoped

# Each word of a question is looked up by itself, once per kind, so that its score can be weighed
# by how rare it is among the records asked about. The scope and all conditions are part of the
# statement, before its LIMIT. CROSS JOIN fixes the order: words first, then who has them.
# The row that counts the whole index (``searchable.ALL_TENANTS``) is written out: a blank that no
# parameter could turn into somebody's name.
_RANKED = """
WITH found AS MATERIALIZED (
    SELECT term.key AS term, term.value ->> 0 AS word, word_index.rowid AS row,
        bm25(word_index) AS score
    FROM json_each(:terms) AS term
    CROSS JOIN word_index ON word_index MATCH term.value ->> 1
),
totals AS MATERIALIZED (
    SELECT
        (SELECT SUM(t.records) FROM word_totals AS t
            WHERE $own(t) AND t.kind IN (SELECT value FROM json_each(:kinds))) AS records,
        (SELECT t.records FROM word_totals AS t
            WHERE t.tenant = ' ' AND t.graph_id = ' ' AND t.kind = ' ')
            AS all_records
),
weights AS MATERIALIZED (
    SELECT found.term, local_weight(
        COUNT(*), SUM(COUNT(*)) OVER (PARTITION BY found.word), totals.records, totals.all_records
    ) AS weight
    FROM found CROSS JOIN totals GROUP BY found.term
)
SELECT r.kind, r.id, -SUM(found.score * weights.weight) AS score,
    EXISTS (
        SELECT 1 FROM work AS w WHERE w.tenant = r.tenant AND w.graph_id = r.graph_id
            AND w.kind = 'index' AND w.key = r.id
    ) AS words_only
FROM weights CROSS JOIN found ON found.term = weights.term
CROSS JOIN searchable AS r ON r.row = found.row
WHERE $visible(r) AND r.live = 1
    AND r.kind IN (SELECT value FROM json_each(:kinds))
    AND (r.expires_at IS NULL OR r.expires_at > :now)
    AND (:tier IS NULL OR r.kind <> 'fact' OR r.tier = :tier)
    AND (:user_id IS NULL OR r.user_id = :user_id)
GROUP BY r.row
ORDER BY score DESC, r.id
LIMIT :limit
"""


class Found(NamedTuple):
    """A record that has words of the question.

    ``score``: higher is better. ``words_only``: it still waits to be put into the vector index.
    """

    kind: Kind
    id: str
    score: float
    words_only: bool


def ranked_words(session: Session, scope: Scope, query: SearchQuery) -> list[Found]:
    """Return the best visible records of the scope's graph for the question's words, best first.

    Ancestors are not searched: a question to them finds nothing.
    """
    if query.inherited:
        return []
    marks = [mark_of(scope.tenant, scope.graph_id, kind) for kind in dict.fromkeys(query.kinds)]
    terms = marked_terms(marks, query.text)
    if not terms:
        return []
    statement = scoped(
        _RANKED,
        scope,
        terms=json.dumps(terms, ensure_ascii=False),
        kinds=as_json(query.kinds),
        now=microseconds(query.now),
        tier=query.tier,
        user_id=query.user_id,
        limit=query.limit,
    )
    return [
        Found(row["kind"], row["id"], row["score"], bool(row["words_only"]))
        for row in session.all(statement)
    ]
