"""How many records of a graph have which words, at a cost that does not grow with the graph."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from ...lexical import content_words
from ...recollection import WordStatistics
from ...records import Kind, Scope
from ...terms import term_of
from .bm25 import QUERY_WORDS_MAX, AskedTerm, mark_of, phrase_of
from .database import Session
from .scope import scoped

COUNTED_MAX = 8_000
"""Of one word and kind so many records are counted; how many more there are is estimated."""

_TOTALS = "SELECT t.kind, t.records, t.words FROM word_totals AS t WHERE $own(t)"
# Each word is looked up once per kind of which the graph has any. The totals are there to say whose
# words these are: their mark does, and the guard cannot read it.
_HAVING = """
SELECT w.key AS number, (
        SELECT COUNT(*) FROM (
            SELECT 1 FROM word_index WHERE word_index MATCH w.value ->> 1 LIMIT :most)
    ) AS records
FROM json_each(:phrases) AS w CROSS JOIN word_totals AS t
WHERE $own(t) AND t.kind = w.value ->> 0
"""
# How many records of the kind had come by when the last one was counted.
_PLACE = """
SELECT s.place FROM searchable AS s
WHERE $own(s) AND s.row = (
    SELECT word_index.rowid FROM word_index
    WHERE word_index MATCH :phrase ORDER BY word_index.rowid LIMIT 1 OFFSET :counted)
"""


class Totals(NamedTuple):
    """What a graph holds, whoever may see it.

    Attributes:
        of_kind: Records of each kind.
        records: Of all kinds.
        words: That all of them have together.
    """

    of_kind: Mapping[str, int]
    records: int
    words: int


class Listed(NamedTuple):
    """A term as the records of one kind have it.

    Attributes:
        term: Without a mark.
        kind: Of the records.
        entry: The term as the index has it.
        phrase: What FTS5 is asked for it.
        having: In how many records it is.
    """

    term: str
    kind: Kind
    entry: str
    phrase: str
    having: int = 0


def stored_kinds(kinds: Iterable[Kind]) -> list[Kind]:
    """Return as which kinds the asked ones are stored, each once: outputs of tools are in turns."""
    stored: list[Kind] = ["turn" if kind == "tool_output" else kind for kind in kinds]
    return list(dict.fromkeys(stored))


def totals_of(session: Session, scope: Scope) -> Totals:
    """Return what the scope's graph holds."""
    rows = session.all(scoped(_TOTALS, scope))
    of_kind = {row["kind"]: int(row["records"]) for row in rows}
    return Totals(of_kind, sum(of_kind.values()), sum(int(row["words"]) for row in rows))


def listed(
    session: Session,
    scope: Scope,
    asked: Sequence[AskedTerm],
    kinds: Sequence[Kind],
    totals: Totals,
) -> list[Listed]:
    """Return, for each term and each kind that the graph holds, how many records have it.

    Exact up to ``COUNTED_MAX``. Beyond that it is taken to be as common in later records as in
    those that were looked at: what it tells of them is little anyway.
    """
    marks = {
        kind: mark_of(scope.tenant, scope.graph_id, kind)
        for kind in kinds
        if totals.of_kind.get(kind)
    }
    found = [
        Listed(one.term, kind, mark + one.term, phrase_of(mark, one.word))
        for one in asked
        for kind, mark in marks.items()
    ]
    phrases = json.dumps([(one.kind, one.phrase) for one in found], ensure_ascii=False)
    query = scoped(_HAVING, scope, phrases=phrases, most=COUNTED_MAX)
    for row in session.all(query) if found else ():
        number, having = int(row["number"]), int(row["records"])
        if having == COUNTED_MAX:
            having = _estimated(session, scope, found[number], totals)
        found[number] = found[number]._replace(having=having)
    return [one for one in found if one.having]


def statistics_of(text: str, having: Mapping[str, int], records: int) -> WordStatistics:
    """Return how rare the words of a text are.

    Args:
        text: Of it the first ``QUERY_WORDS_MAX`` content words count.
        having: How many records have a term; none have those that are missing.
        records: How many there are.
    """
    words = content_words(text)[:QUERY_WORDS_MAX]
    return WordStatistics(records, {word: having.get(term_of(word), 0) for word in words})


def _estimated(session: Session, scope: Scope, one: Listed, totals: Totals) -> int:
    row = session.one(scoped(_PLACE, scope, phrase=one.phrase, counted=COUNTED_MAX - 1))
    looked_at = COUNTED_MAX if row is None else max(COUNTED_MAX, int(row["place"]))
    return COUNTED_MAX * max(looked_at, totals.of_kind[one.kind]) // looked_at
