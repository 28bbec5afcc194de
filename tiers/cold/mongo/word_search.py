"""Word search without a search engine: BM25 over the terms that lie beside each record.

Each kind of record is a collection of its own. First it is counted how many records of the graph
have which of the asked terms, then each kind is asked which visible ones score best. Scores are
comparable across kinds, because how rare a term is counts over all kinds asked about. All
statistics are those of the graph: what else the database holds changes nothing.

What it costs does not grow with the graph either. The rarest terms are looked up until
``POSTINGS_MAX`` records have been looked at; the commonest, which tell the least, are then left
out. Only where that leaves fewer answers than were asked for, the rest is filled up with the newest
records that have one of the terms left out, the rarest of them first.

The formula is that of FTS5's ``bm25()`` with the inverse document frequency of ``local_weight``
in the SQLite sibling, so that both engines rank alike: Robertson and Zaragoza, "The Probabilistic
Relevance Framework: BM25 and Beyond", 2009, with ``k1 = 1.2`` and ``b = 0.75``.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from ...lexical import content_words
from ...moments import microseconds
from ...records import Kind, Scope, SearchQuery
from ...terms import term_of
from .believed import active_by_then
from .conditions import SHELVES, searched, stored_kinds
from .database import Session
from .documents import Document
from .scope import own
from .together import both, together
from .word_counts import Counts, having, totals_of

QUERY_WORDS_MAX = 64
K1, B = 1.2, 0.75
POSTINGS_MAX = 1_500
"""So many records are looked at for the words of a question, the rarest words first."""

NEWEST_MAX = 1_000
"""So many of the newest records are looked at for a word too common for that."""


class Found(NamedTuple):
    """A record that has words of the question; of the scores the higher is better."""

    kind: Kind
    id: str
    score: float


class _Search(NamedTuple):
    """One question on its way.

    Attributes:
        session: To ask with.
        scope: Who asks.
        query: What.
        weights: By how much each term counts.
        average_length: Of the graph's records, in words.
        counts: How many records have each term.
        recent: What must hold of records so that they are recent enough, if anything.
    """

    session: Session
    scope: Scope
    query: SearchQuery
    weights: Mapping[str, float]
    average_length: float
    counts: Counts
    recent: Document


async def ranked_words(
    session: Session, scope: Scope, query: SearchQuery, *, since: datetime | None = None
) -> list[Found]:
    """Return the best visible records of the scope's graph for the question's words, best first.

    Ancestors are not searched: a question to them finds nothing.

    With ``since`` only those are looked at that were recorded then or later, and compared with
    each other alone.
    """
    asked = asked_terms(query.text)
    kinds = stored_kinds(query.kinds)
    if query.inherited or query.mode == "dense" or not asked or not kinds:
        return []
    recent: Document = {} if since is None else {"recorded_at": {"$gte": microseconds(since)}}
    counts, totals = await both(
        having(session, scope, kinds, list(asked), where=recent or None),
        totals_of(session, scope, kinds),
    )
    total = Counter[str]()
    for of_kind in counts.values():
        total.update(of_kind)
    weights = {
        term: asked[term] * (K1 + 1) * _rarity(having_it, totals.records)
        for term, having_it in total.items()
    }
    search = _Search(session, scope, query, weights, totals.average_length, counts, recent)
    rarest = looked_up(total)
    found = {one.id: one for one in await _ranked(search, rarest)}
    for term in in_order_of_rarity(total)[len(rarest) :]:
        if len(found) >= query.limit:
            break
        for one in await _newest(search, term):
            found.setdefault(one.id, one)
    return sorted(found.values(), key=lambda one: (-one.score, one.id))[: query.limit]


def asked_terms(text: str) -> Counter[str]:
    """Return the terms of a question's content words, each as often as it is asked for."""
    return Counter(filter(None, map(term_of, content_words(text)[:QUERY_WORDS_MAX])))


def in_order_of_rarity(total: Mapping[str, int]) -> list[str]:
    """Return terms, the rarest first, those alike by name."""
    return sorted(total, key=lambda term: (total[term], term))


def looked_up(total: Mapping[str, int]) -> list[str]:
    """Return the terms to look up: the rarest, while there is room for their records.

    A term that does not fit any more is too common to tell much.
    """
    chosen: list[str] = []
    room = POSTINGS_MAX
    for term in in_order_of_rarity(total):
        room -= total[term]
        if room < 0:
            break
        chosen.append(term)
    return chosen


async def waiting_for_index(session: Session, scope: Scope, ids: Sequence[str]) -> set[str]:
    """Return those of some records that still wait for the vector index."""
    if not ids:
        return set()
    waiting = await session.collection("work").find(
        own(scope, kind="index", key={"$in": list(ids)}), fields=["key"]
    )
    return {one["key"] for one in waiting}


async def _ranked(search: _Search, terms: Sequence[str]) -> list[Found]:
    """Return the best records of each kind that have one of the terms."""
    norm = _norm(search.average_length)
    times = {term: {"$ifNull": [f"$frequencies.{term}", 0]} for term in terms}
    score = {
        "$add": [
            {"$divide": [{"$multiply": [search.weights[term], n]}, {"$add": [n, norm]}]}
            for term, n in times.items()
        ]
    }
    best: list[Document] = [{"$sort": {"score": -1, "id": 1}}, {"$limit": search.query.limit}]
    return await _having(search, terms, score, after=best) if terms else []


async def _newest(search: _Search, term: str) -> list[Found]:
    """Return the newest records that have a term.

    How often a record has it is not looked at: it is common, and says little.
    """
    score = {"$divide": [search.weights[term], {"$add": [1, _norm(search.average_length)]}]}
    newest: list[Document] = [{"$sort": {"id": -1}}, {"$limit": NEWEST_MAX}]
    found = await _having(search, [term], score, before=newest)
    return sorted(found, key=lambda one: one.id, reverse=True)[:NEWEST_MAX]


async def _having(
    search: _Search,
    terms: Sequence[str],
    score: Document,
    *,
    before: Sequence[Document] = (),
    after: Sequence[Document] = (),
) -> list[Found]:
    """Return records of each kind that have one of some terms.

    The scope and all conditions come before any limit.

    Args:
        search: The question.
        terms: Which.
        score: How good a record is.
        before: Stages that go before the score.
        after: Stages that go after it.
    """
    session, scope, query = search.session, search.scope, search.query
    kinds = [
        kind for kind, of_kind in search.counts.items() if not of_kind.keys().isdisjoint(terms)
    ]
    among: Document = {"terms": {"$in": list(terms)}} | search.recent
    held: list[Document] = []
    if "belief" in kinds:
        held = await active_by_then(session, scope, query, among)

    async def of_kind(kind: Kind) -> list[Found]:
        further = [among, *held] if kind == "belief" else [among]
        rows = await session.collection(SHELVES[kind].collection).aggregate(
            [
                {"$match": searched(scope, query, kind, *further)},
                *before,
                {"$project": {"_id": 0, "id": 1, "score": score}},
                *after,
            ]
        )
        return [Found(kind, row["id"], row["score"]) for row in rows]

    found = await together(of_kind(kind) for kind in kinds)
    return [one for part in found for one in part]


def _rarity(having_it: int, records: int) -> float:
    """Return the inverse document frequency of a term; above 0 however common it is."""
    return math.log(1 + (max(records, having_it) - having_it + 0.5) / (having_it + 0.5))


def _norm(average_length: float) -> Document:
    """Return how much the length of a document counts against it, as an expression."""
    return {"$add": [K1 * (1 - B), {"$multiply": [K1 * B / average_length, "$length"]}]}
