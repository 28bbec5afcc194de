"""The questions that Atlas is asked for archival facts. Pure.

Every stage that lets documents in carries the whole scope itself: Atlas filters while it searches,
so nothing of another tenant, graph, topic, writer or user takes a place among the nearest. What is
superseded, forgotten or redacted is not ``live``.
"""

from __future__ import annotations

from collections.abc import Sequence

from bson.binary import Binary, BinaryVectorDtype

from ...lexical import content_words
from ...records import Scope, SearchQuery
from ...terms import term_of
from .documents import Document
from .scope import visible
from .search_index import EMBEDDING, TEXT_INDEX, VECTOR_INDEX, WORDS
from .word_search import QUERY_WORDS_MAX

CANDIDATES_MIN, CANDIDATES_PER_RESULT, CANDIDATES_MAX = 200, 20, 10_000
"""How many neighbours are looked at: 20 for each that is wanted is MongoDB's own advice for a
recall near that of exact search, 200 keeps short answers from being guesses, and 10,000 is the
most that the stage takes."""


_PLACES = {"$in": "filter", "$nin": "mustNot"}


def packed(vector: Sequence[float]) -> Binary:
    """Return a vector as it is stored and asked for: 32-bit floats, 4 bytes each.

    Both sides must be of one type. An array would take 11 to 14 bytes a number.
    """
    return Binary.from_vector(list(vector), BinaryVectorDtype.FLOAT32)


def text_of(query: SearchQuery) -> str:
    """Return the words that the text index is asked for, and their stems; may be empty."""
    asked = content_words(query.text)[:QUERY_WORDS_MAX]
    return " ".join(dict.fromkeys([*asked, *map(term_of, asked)]))


def can_be_asked(query: SearchQuery) -> bool:
    """Whether the server's indexes can filter by all that a question is restricted to.

    They hold neither moments nor writers nor ids, and a topic that is asked for would stand beside
    those of the scope. Nor do they answer with one leg alone.
    """
    moments = (query.as_of, query.since, query.until)
    narrowed = (query.topics, query.all_topics, query.writer_id, query.ids)
    return not any((*moments, *narrowed)) and query.mode == "hybrid"


def by_meaning(asker: Scope, query: SearchQuery, model_id: str) -> list[Document]:
    """Return the pipeline that finds the nearest facts."""
    return [_vector_stage(asker, query, model_id), _shown("vectorSearchScore")]


def by_text(asker: Scope, query: SearchQuery) -> list[Document]:
    """Return the pipeline that finds the facts with the best words."""
    return [_text_stage(asker, query), {"$limit": query.limit}, _shown("searchScore")]


def by_both(asker: Scope, query: SearchQuery, model_id: str) -> list[Document]:
    """Return the pipeline that does both and fuses them by reciprocal ranks in the server."""
    pipelines = {
        "meaning": [_vector_stage(asker, query, model_id)],
        "words": [_text_stage(asker, query), {"$limit": query.limit}],
    }
    return [
        {"$rankFusion": {"input": {"pipelines": pipelines}}},
        {"$limit": query.limit},
        _shown("score"),
    ]


def _vector_stage(asker: Scope, query: SearchQuery, model_id: str) -> Document:
    candidates = max(CANDIDATES_MIN, query.limit * CANDIDATES_PER_RESULT)
    return {
        "$vectorSearch": {
            "index": VECTOR_INDEX,
            "path": EMBEDDING,
            "queryVector": packed(query.vector or ()),
            "numCandidates": min(CANDIDATES_MAX, candidates),
            "limit": query.limit,
            "filter": _apart(_archival(asker, query) | {"embedding_model": model_id}),
        }
    }


def _text_stage(asker: Scope, query: SearchQuery) -> Document:
    words = {"text": {"query": text_of(query), "path": list(WORDS)}}
    compound: dict[str, list[Document]] = {"must": [words], "filter": []}
    for path, value in _archival(asker, query).items():
        for clause, condition in _clauses(path, value):
            compound.setdefault(clause, []).append(condition)
    return {"$search": {"index": TEXT_INDEX, "compound": compound}}


def _archival(asker: Scope, query: SearchQuery) -> Document:
    users = {} if query.user_id is None else {"user_id": query.user_id}
    return visible(asker, tier="archival", live=True, **users)


def _apart(where: Document) -> Document:
    """Return a filter in which no path has two operators; those stand beside each other.

    The stage takes a part of the query language, and that is how its documentation writes it.
    """
    several = {path: value for path, value in where.items() if _has_several(value)}
    single: Document = {path: value for path, value in where.items() if path not in several}
    apart = [
        {path: {operator: values}}
        for path, value in several.items()
        for operator, values in value.items()
    ]
    return single | ({"$and": apart} if apart else {})


def _has_several(value: object) -> bool:
    return isinstance(value, dict) and len(value) > 1


def _clauses(path: str, value: object) -> list[tuple[str, Document]]:
    """Return a condition of a MongoDB filter as clauses of ``$search``, each with its place."""
    if not isinstance(value, dict):
        return [("filter", {"equals": {"path": path, "value": value}})]
    return [
        (_PLACES[operator], {"in": {"path": path, "value": values}})
        for operator, values in value.items()
    ]


def _shown(score: str) -> Document:
    return {"$project": {"_id": 0, "id": 1, "score": {"$meta": score}}}
