"""Exact vector search: every document is compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from operator import itemgetter, mul
from typing import Any

from bson import Binary

from .errors import refuse
from .filters import compile_filter
from .search_index import SearchIndex
from .values import MISSING, Document, leaves

_VECTOR_SUBTYPE = 9


def vector_scores(
    documents: Iterable[Document],
    index: SearchIndex,
    field: Document,
    query: Any,
    filters: Document,
) -> list[tuple[Document, float]]:
    """Return documents with their score, best first, equal ones in order of insertion.

    Args:
        documents: All of the collection; those without a vector of the right length are not
            in the index.
        index: The index that is searched.
        field: The vector field's definition in it.
        query: The vector to compare with.
        filters: The pre-filter.

    Raises:
        ValueError: The query vector does not fit; the message is Atlas's.
    """
    if field["similarity"] != "cosine":
        refuse(f"searching by {field['similarity']}")
    dimensions = field["numDimensions"]
    vector = _vector(query)
    if vector is None:
        message = '"queryVector" must be a vector'
        raise ValueError(message)
    if len(vector) != dimensions:
        raise ValueError(
            f"vector field is indexed with {dimensions} dimensions but queried with {len(vector)}"
        )
    if not any(vector):
        message = "Cosine similarity cannot be calculated against a zero vector."
        raise ValueError(message)
    test = compile_filter(filters)
    path = field["path"]
    parts = tuple(path.split("."))

    def stored(document: Document) -> Sequence[float] | None:
        return _vector(next(leaves(document, parts), MISSING))

    scored = []
    for document in documents:
        if not test(document):
            continue
        held = index.derived.of(document, path, stored)
        if held is None or len(held) != dimensions or not any(held):
            continue
        scored.append((document, _cosine(vector, held)))
    return sorted(scored, key=itemgetter(1), reverse=True)


def _vector(value: Any) -> Sequence[float] | None:
    if isinstance(value, Binary) and value.subtype == _VECTOR_SUBTYPE:
        return list(value.as_vector().data)
    if isinstance(value, list):
        refuse("a vector as an array")
    return None


def _dot(left: Sequence[float], right: Sequence[float]) -> float:
    return math.fsum(map(mul, left, right))


def _cosine(left: Sequence[float], right: Sequence[float]) -> float:
    return (1 + _dot(left, right) / (math.hypot(*left) * math.hypot(*right))) / 2
