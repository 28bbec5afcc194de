"""The question that Atlas is asked for archival facts. Pure.

Its filter is that of the port's own question, so it carries the whole scope: Atlas filters while it
searches, and nothing of another tenant, graph, topic, writer or user takes a place among the
nearest. What is superseded, forgotten or redacted is not ``live``.
"""

from __future__ import annotations

from collections.abc import Sequence

from bson.binary import Binary, BinaryVectorDtype

from ...records import Scope, SearchQuery
from ..port import Find
from ..stores.recall import asked_of
from ..stores.statements import FACTS
from .rendering import EMBEDDING, EMBEDDING_MODEL, Document, where
from .search_index import VECTOR_INDEX

CANDIDATES_MIN, CANDIDATES_PER_RESULT, CANDIDATES_MAX = 200, 20, 10_000
"""How many neighbours are looked at: 20 for each that is wanted is MongoDB's own advice for a
recall near that of exact search, 200 keeps short answers from being guesses, and 10,000 is the
most that the stage takes."""


def packed(vector: Sequence[float]) -> Binary:
    """Return a vector as it is stored and asked for: 32-bit floats, 4 bytes each.

    Both sides must be of one type. An array would take 11 to 14 bytes a number.
    """
    return Binary.from_vector(list(vector), BinaryVectorDtype.FLOAT32)


def embedded(vector: Sequence[float] | None, model_id: str) -> Document:
    """Return the change that gives a fact a vector, or notes that the model has none for it."""
    if vector is None:
        return {"$set": {EMBEDDING_MODEL: model_id}, "$unset": {EMBEDDING: ""}}
    return {"$set": {EMBEDDING: packed(vector), EMBEDDING_MODEL: model_id}}


def can_be_asked(query: SearchQuery) -> bool:
    """Whether the server's index can filter by all that a question is restricted to.

    It holds neither moments nor writers nor ids, and a topic that is asked for would stand beside
    those of the scope. Nor does it answer with one leg alone.
    """
    moments = (query.as_of, query.since, query.until)
    narrowed = (query.topics, query.all_topics, query.writer_id, query.ids)
    return not any((*moments, *narrowed)) and query.mode == "hybrid"


def by_meaning(
    asker: Scope, query: SearchQuery, vector: Sequence[float], model_id: str
) -> list[Document]:
    """Return the pipeline that finds the facts whose vectors are the nearest, best first."""
    candidates = max(CANDIDATES_MIN, query.limit * CANDIDATES_PER_RESULT)
    asked = where(Find(FACTS, asker, where=tuple(asked_of(query))))
    stage = {
        "index": VECTOR_INDEX,
        "path": EMBEDDING,
        "queryVector": packed(vector),
        "numCandidates": min(CANDIDATES_MAX, candidates),
        "limit": query.limit,
        "filter": _apart(asked | {EMBEDDING_MODEL: model_id}),
    }
    return [{"$vectorSearch": stage}, {"$project": {"_id": 0, "id": 1}}]


def _apart(asked: Document) -> Document:
    """Return a filter in which no path has two operators; those stand beside each other.

    The stage takes a part of the query language, and that is how its documentation writes it.
    """
    several = {path: value for path, value in asked.items() if _has_several(value)}
    rest: Document = {path: value for path, value in asked.items() if path not in several}
    apart = [
        {path: {operator: values}}
        for path, value in several.items()
        for operator, values in value.items()
    ]
    return rest | {"$and": [*rest.get("$and", ()), *apart]} if apart else rest


def _has_several(value: object) -> bool:
    return isinstance(value, dict) and len(value) > 1
