"""Search indexes: their definitions, checked as Atlas checks them, and the life of one.

https://www.mongodb.com/docs/atlas/atlas-vector-search/vector-search-type/
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any, TypeVar

from .errors import bad_value, only, refuse
from .values import Document

T = TypeVar("T")

SIMILARITIES = frozenset({"cosine", "dotProduct", "euclidean"})
_MAX_DIMENSIONS = 8192
_VECTOR_FIELDS = frozenset({"type", "path", "numDimensions", "similarity"})
_MAX_DERIVED = 50_000
_numbers = itertools.count(1)


class Derived:
    """What was worked out from stored documents, which never change in place."""

    def __init__(self) -> None:
        self._held: dict[tuple[int, str], tuple[Document, Any]] = {}

    def of(self, document: Document, path: str, work_out: Callable[[Document], T]) -> T:
        """Return what ``work_out`` gives for the document, worked out once."""
        key = (id(document), path)
        held = self._held.get(key)
        # The document is kept with the result, so its id cannot come to mean another one.
        if held is None:
            if len(self._held) >= _MAX_DERIVED:
                self._held.clear()
            held = self._held[key] = (document, work_out(document))
        value: T = held[1]
        return value


class SearchIndex:
    """One search index of a collection.

    Attributes:
        name: Unique in the collection.
        definition: What queries are answered from.
        latest: What was asked for last; differs from ``definition`` while it is being built.
        listings_left: In how many listings it still shows as being built.
        queryable: Whether a query is answered at all.
        derived: Vectors of the documents.
    """

    def __init__(self, name: str, definition: Document, lag: int) -> None:
        self.id = f"{next(_numbers):024x}"
        self.name = name
        self.latest = definition
        self.version = 0
        self.definition = definition
        self.listings_left = lag
        self.queryable = lag == 0
        self.derived = Derived()

    def update(self, definition: Document, lag: int) -> None:
        """Ask for another definition; the one before answers until it is built."""
        self.latest = definition
        self.version += 1
        self.listings_left = lag
        if lag == 0:
            self.definition = definition

    def forget_derived(self) -> None:
        """Work vectors out again: documents were changed in place."""
        self.derived = Derived()

    def listed(self) -> Document:
        """Return the entry of ``$listSearchIndexes``; each listing brings a build closer."""
        is_ready = self.listings_left == 0
        if is_ready:
            self.definition = self.latest
            self.queryable = True
        else:
            self.listings_left -= 1
        return {
            "id": self.id,
            "name": self.name,
            "type": "vectorSearch",
            "status": "READY" if is_ready else "BUILDING",
            "queryable": self.queryable,
            "latestVersion": self.version,
            "latestDefinition": self.latest,
        }

    def vector_field(self, path: Any) -> Document | None:
        """Return the definition of a vector field, or ``None``."""
        fields = self.definition.get("fields", [])
        vectors = (field for field in fields if field["type"] == "vector")
        return next((field for field in vectors if field["path"] == path), None)

    def filter_paths(self) -> frozenset[str]:
        """Return the paths that ``$vectorSearch`` may filter by."""
        fields = self.definition.get("fields", [])
        return frozenset(field["path"] for field in fields if field["type"] == "filter")


def checked_definition(definition: Any) -> Document:
    """Return a definition; raises for what is wrong or not implemented."""
    if not isinstance(definition, dict):
        bad_value('"definition" must be a document')
    only(frozenset({"fields"}), definition, "a vector search index's definition")
    fields = definition.get("fields")
    if not isinstance(fields, list) or not fields:
        bad_value('"definition.fields" cannot be empty')
    for field in fields:
        if not isinstance(field.get("path"), str):
            bad_value('"path" is required')
        if field.get("type") == "filter":
            only(frozenset({"type", "path"}), field, "a filter field")
        elif field.get("type") == "vector":
            _check_vector_field(field)
        else:
            refuse(f"a field of type {field.get('type')!r} in a vector search index")
    if not any(field["type"] == "vector" for field in fields):
        bad_value('"fields" must contain at least one "vector" field')
    paths = [field["path"] for field in fields]
    if len(set(paths)) < len(paths):
        bad_value("a path is defined more than once")
    return definition


def _check_vector_field(field: Document) -> None:
    only(_VECTOR_FIELDS, field, "a vector field")
    dimensions = field.get("numDimensions")
    if type(dimensions) is not int or not 0 < dimensions <= _MAX_DIMENSIONS:
        bad_value(f'"numDimensions" must be between 1 and {_MAX_DIMENSIONS}')
    if field.get("similarity") not in SIMILARITIES:
        bad_value(f'"similarity" must be one of {sorted(SIMILARITIES)}')
