"""Word search without a search engine: BM25 over the terms that lie beside each record.

Each kind of record is a collection of its own. Two questions go to each: how many records of the
graph have which of the asked terms, then which visible ones score best. Scores are comparable
across kinds, because how rare a term is counts over all kinds asked about.

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

from pymongo import ASCENDING

from ...lexical import content_words, words
from ...moments import microseconds
from ...records import (
    Commitment,
    Episode,
    Fact,
    Kind,
    Owned,
    Rule,
    Scope,
    SearchQuery,
    Summary,
    Turn,
)
from ..forms import entry_of
from .database import Session
from .documents import Document
from .schema import Index
from .scope import own, visible
from .terms import term_of
from .together import together
from .translation import DuplicateKey

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "word_totals": (
        [Index((("tenant", ASCENDING), ("graph_id", ASCENDING), ("kind", ASCENDING)), unique=True)],
        None,
    ),
}

QUERY_WORDS_MAX = 64
K1, B = 1.2, 0.75
ALL_TENANTS = " "
"""Tenant, graph and kind of the row that counts the whole database; names are never blank."""


class Shelf(NamedTuple):
    """Where the records of one kind are, and what they are."""

    collection: str
    model: type[Owned]


SHELVES: Mapping[Kind, Shelf] = {
    "turn": Shelf("turns", Turn),
    "summary": Shelf("summaries", Summary),
    "episode": Shelf("episodes", Episode),
    "fact": Shelf("facts", Fact),
    "rule": Shelf("rules", Rule),
    "belief": Shelf("beliefs", Commitment),
}


def shown_fields(model: type[Owned]) -> list[str]:
    """Return the fields of a stored record that make the record; the rest is for finding it."""
    return [name for name in model.model_fields if name != "private"] + ["private_to"]


class Found(NamedTuple):
    """A record that has words of the question.

    ``score``: higher is better. ``words_only``: it still waits for the vector index.
    """

    kind: Kind
    id: str
    score: float
    words_only: bool


class _Statistics(NamedTuple):
    """What BM25 needs besides the records themselves.

    Attributes:
        having: Records with each term, over all kinds asked about.
        records: Records of the graph, of all kinds asked about.
        average_length: Of all records of the database, in words.
        kinds: Those of which any record has any of the terms.
    """

    having: Mapping[str, int]
    records: int
    average_length: float
    kinds: Sequence[Kind]


async def count_words(session: Session, *records: Owned) -> None:
    """Count records that are new into the totals of their graph and kind, and of the database.

    Outside of the transaction that stores them: every writer would conflict in these few
    documents. A crash in between leaves a total too low, which changes ranks by next to nothing.
    """
    lengths: Counter[tuple[str, str, str]] = Counter()
    numbers: Counter[tuple[str, str, str]] = Counter()
    for record in records:
        entry = entry_of(record)
        length = len(words(entry.text))
        for owner in ((entry.tenant, entry.graph_id, entry.kind), (ALL_TENANTS,) * 3):
            lengths[owner] += length
            numbers[owner] += 1
    await together(
        _count(session, owner, number, lengths[owner]) for owner, number in numbers.items()
    )


async def ranked_words(
    session: Session, scope: Scope, query: SearchQuery, *, since: datetime | None = None
) -> list[Found]:
    """Return the best visible records of the scope's graph for the question's words, best first.

    Ancestors are not searched: a question to them finds nothing.

    With ``since`` only those are looked at that were recorded then or later, and compared with
    each other alone: what that costs does not grow with the graph.
    """
    asked = Counter(filter(None, map(term_of, content_words(query.text)[:QUERY_WORDS_MAX])))
    kinds = [kind for kind in dict.fromkeys(query.kinds) if kind in SHELVES]
    if query.inherited or not asked or not kinds:
        return []
    recent = {} if since is None else {"recorded_at": {"$gte": microseconds(since)}}
    statistics = await _statistics(session, scope, kinds, list(asked), recent)
    weights = {
        term: times * _rarity(statistics.having[term], statistics.records)
        for term, times in asked.items()
        if statistics.having[term]
    }
    if not weights:
        return []
    found = await together(
        _best(session, scope, query, kind, weights, statistics, recent) for kind in statistics.kinds
    )
    best = sorted(
        (one for of_kind in found for one in of_kind), key=lambda one: (-one.score, one.id)
    )[: query.limit]
    return await _marked(session, scope, best)


async def _statistics(
    session: Session, scope: Scope, kinds: Sequence[Kind], terms: Sequence[str], recent: Document
) -> _Statistics:
    whole = {"tenant": ALL_TENANTS, "graph_id": ALL_TENANTS, "kind": ALL_TENANTS}
    mine, everything, *per_kind = await together(
        [
            _total(session, own(scope, kind={"$in": list(kinds)})),
            _total(session, whole),
            *(_having(session, scope, kind, terms, recent) for kind in kinds),
        ]
    )
    return _Statistics(
        having={term: sum(of_kind.get(term, 0) for of_kind in per_kind) for term in terms},
        records=mine["records"],
        average_length=max(1, everything["length"]) / max(1, everything["records"]),
        kinds=[
            kind for kind, of_kind in zip(kinds, per_kind, strict=True) if any(of_kind.values())
        ],
    )


async def _total(session: Session, where: Document) -> dict[str, int]:
    found = await session.collection("word_totals").find(where)
    return {name: sum(one[name] for one in found) for name in ("records", "length")}


async def _having(
    session: Session, scope: Scope, kind: Kind, terms: Sequence[str], recent: Document
) -> dict[str, int]:
    """Return how many records of one kind have each term, whoever may see them."""
    counts = {
        f"t{number}": {"$sum": {"$cond": [{"$gt": [f"$frequencies.{term}", 0]}, 1, 0]}}
        for number, term in enumerate(terms)
    }
    rows = await session.collection(SHELVES[kind].collection).aggregate(
        [
            {"$match": own(scope, terms={"$in": list(terms)}) | recent},
            {"$group": {"_id": None} | counts},
        ]
    )
    return {term: row[f"t{number}"] for row in rows for number, term in enumerate(terms)}


async def _best(
    session: Session,
    scope: Scope,
    query: SearchQuery,
    kind: Kind,
    weights: Mapping[str, float],
    statistics: _Statistics,
    recent: Document,
) -> list[Found]:
    """Return the best of one kind. The scope and all conditions come before the limit."""
    where = visible(
        scope, live={"$ne": False}, redacted_at=None, terms={"$in": list(weights)}, **recent
    )
    if kind == "summary":
        alive: list[Document] = [
            {"expires_at": None},
            {"expires_at": {"$gt": microseconds(query.now)}},
        ]
        where["$or"] = alive
    if kind == "fact" and query.tier is not None:
        where["tier"] = query.tier
    if query.user_id is not None:
        where["user_id"] = query.user_id
    rows = await session.collection(SHELVES[kind].collection).aggregate(
        [
            {"$match": where},
            {"$project": {"_id": 0, "id": 1, "score": _score(weights, statistics)}},
            {"$sort": {"score": -1, "id": 1}},
            {"$limit": query.limit},
        ]
    )
    return [Found(kind, row["id"], row["score"], words_only=False) for row in rows]


async def _marked(session: Session, scope: Scope, found: Sequence[Found]) -> list[Found]:
    """Return the same, those marked that still wait for the vector index."""
    ids = [one.id for one in found]
    if not ids:
        return []
    waiting = await session.collection("work").find(
        own(scope, kind="index", key={"$in": ids}), fields=["key"]
    )
    keys = {one["key"] for one in waiting}
    return [one._replace(words_only=one.id in keys) for one in found]


async def _count(session: Session, owner: tuple[str, str, str], records: int, length: int) -> None:
    where = dict(zip(("tenant", "graph_id", "kind"), owner, strict=True))
    change = {"$inc": {"records": records, "length": length}}
    totals = session.collection("word_totals")
    try:
        await totals.update(where, change, upsert=True)
    except DuplicateKey:  # two were the first of their kind: now it is there
        await totals.update(where, change)


def _rarity(having: int, records: int) -> float:
    """Return the inverse document frequency of a term; above 0 however common it is."""
    return math.log(1 + (max(records, having) - having + 0.5) / (having + 0.5))


def _score(weights: Mapping[str, float], statistics: _Statistics) -> Document:
    """Return the BM25 score of a document as an expression."""
    norm = {
        "$add": [
            K1 * (1 - B),
            {"$multiply": [K1 * B / statistics.average_length, "$length"]},
        ]
    }
    return {
        "$add": [
            {
                "$divide": [
                    {"$multiply": [weight * (K1 + 1), times]},
                    {"$add": [times, norm]},
                ]
            }
            for term, weight in weights.items()
            for times in [{"$ifNull": [f"$frequencies.{term}", 0]}]
        ]
    }
