"""How many records of a graph have which words: counted by one look into an index for each.

A word's records are counted where the words lie, in the ``terms`` index of each kind, which holds
tenant and graph before them: no document is read for it, and all counts are one command. They end
at ``COUNTED_MAX``, so that they cost the same however large a graph becomes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pymongo import ASCENDING

from ...forms import entry_of
from ...lexical import words
from ...records import Kind, Owned, Scope
from .conditions import SHELVES
from .database import Session
from .documents import Document
from .schema import Index
from .scope import own
from .together import both, together
from .translation import DuplicateKey

COLLECTIONS: Mapping[str, tuple[Sequence[Index], Mapping[str, Document] | None]] = {
    "word_totals": (
        [Index((("tenant", ASCENDING), ("graph_id", ASCENDING), ("kind", ASCENDING)), unique=True)],
        None,
    ),
}

COUNTED_MAX = 16_000
"""Of one word and kind so many records are counted; how many more there are is estimated."""

SAMPLED = 1_000
"""From so many of the newest records of the kind."""

Counts = Mapping[Kind, Mapping[str, int]]
"""By kind and term: how many records have it; those that none has may be missing."""


class Totals(NamedTuple):
    """What a graph holds.

    Attributes:
        records: Records of the kinds asked about.
        average_length: Of all records of the graph, in words.
    """

    records: int
    average_length: float


async def count_words(session: Session, *records: Owned) -> None:
    """Count records that are new into the totals of their graph and kind.

    Outside of the transaction that stores them: every writer would conflict in these few
    documents. A crash in between leaves a total too low, which changes ranks by next to nothing.
    """
    lengths: Counter[tuple[str, str, str]] = Counter()
    numbers: Counter[tuple[str, str, str]] = Counter()
    for record in records:
        entry = entry_of(record)
        owner = (entry.tenant, entry.graph_id, entry.kind)
        lengths[owner] += len(words(entry.text))
        numbers[owner] += 1
    await together(
        change_totals(session, owner, {"$inc": {"records": number, "length": lengths[owner]}})
        for owner, number in numbers.items()
    )


async def change_totals(session: Session, owner: tuple[str, str, str], change: Document) -> None:
    """Change the totals of a tenant's graph and kind, which need not be there."""
    where = dict(zip(("tenant", "graph_id", "kind"), owner, strict=True))
    totals = session.collection("word_totals")
    try:
        await totals.update(where, change, upsert=True)
    except DuplicateKey:  # two were the first of their kind: now it is there
        await totals.update(where, change)


async def totals_of(session: Session, scope: Scope, kinds: Sequence[Kind]) -> Totals:
    """Return what the scope's graph holds, whoever may see it."""
    found = await session.collection("word_totals").find(own(scope))
    length, all_records = (sum(one[name] for one in found) for name in ("length", "records"))
    return Totals(
        records=sum(one["records"] for one in found if one["kind"] in kinds),
        average_length=max(1, length) / max(1, all_records),
    )


async def having(
    session: Session,
    scope: Scope,
    kinds: Sequence[Kind],
    terms: Sequence[str],
    *,
    where: Document | None = None,
) -> Counts:
    """Return how many records of the scope's graph have each term, whoever may see them.

    Exact up to ``COUNTED_MAX`` of a kind. Beyond that a term is taken to be as common in all
    records as in the newest: what it tells of them is little anyway.

    Args:
        session: To ask with.
        scope: Whose graph.
        kinds: Kinds that records are stored as.
        terms: Which.
        where: What must hold of a record besides; then nothing is estimated.
    """
    asked = [(kind, term) for kind in kinds for term in terms]
    if not asked:
        return {}
    legs: list[tuple[str, list[Document]]] = [
        (
            SHELVES[kind].collection,
            [
                {"$match": own(scope, terms=term) | (where or {})},
                {"$limit": COUNTED_MAX},
                {"$group": {"_id": number, "found": {"$sum": 1}}},
            ],
        )
        for number, (kind, term) in enumerate(asked)
    ]
    (first, pipeline), *others = legs
    joined: list[Document] = [
        {"$unionWith": {"coll": name, "pipeline": leg}} for name, leg in others
    ]
    counts: dict[Kind, dict[str, int]] = {}
    common: dict[Kind, list[str]] = {}
    for row in await session.collection(first).aggregate([*pipeline, *joined]):
        kind, term = asked[row["_id"]]
        counts.setdefault(kind, {})[term] = row["found"]
        if row["found"] == COUNTED_MAX and where is None:
            common.setdefault(kind, []).append(term)
    estimates = await together(
        _estimated(session, scope, kind, of_kind) for kind, of_kind in common.items()
    )
    for kind, estimate in zip(common, estimates, strict=True):
        counts[kind] |= estimate
    return counts


async def _estimated(
    session: Session, scope: Scope, kind: Kind, terms: Sequence[str]
) -> dict[str, int]:
    """Return about how many records of a kind have common terms, from the newest of them."""
    numbers = {
        f"t{number}": {"$sum": {"$cond": [{"$in": [term, "$terms"]}, 1, 0]}}
        for number, term in enumerate(terms)
    }
    rows, totals = await both(
        session.collection(SHELVES[kind].collection).aggregate(
            [
                {"$match": own(scope)},
                {"$sort": {"id": -1}},
                {"$limit": SAMPLED},
                {"$group": {"_id": None, "looked_at": {"$sum": 1}} | numbers},
            ]
        ),
        totals_of(session, scope, [kind]),
    )
    return {
        term: max(COUNTED_MAX, totals.records * row[f"t{number}"] // row["looked_at"])
        for row in rows
        for number, term in enumerate(terms)
    }
