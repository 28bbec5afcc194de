"""Declared indexes: sorted keys that enforce uniqueness as MongoDB does and narrow a search.

``mongomock`` scans the collection for every unique check, compares arrays as wholes and counts
parallel rules differently; these indexes hold one sorted entry per key of a document, so an
array field has one key per element, and a check is a binary search.
https://www.mongodb.com/docs/manual/core/indexes/index-types/index-multikey/
"""

from __future__ import annotations

import itertools
from bisect import bisect_left, insort
from collections.abc import Hashable, Iterator
from typing import Any

from bson import ObjectId

from .errors import CommandError, only, refuse
from .filters import Predicate, compile_filter
from .values import AFTER_ALL, MISSING, Document, Key, index_keys, key_of, leaves

Keys = tuple[Key, ...]
_ABSENT: Keys = ()
_KNOWN_MAX = 64
"""Documents whose keys an index keeps besides: more than most transactions write."""
_SPEC_FIELDS = frozenset({"key", "name", "unique", "partialFilterExpression"})
_PARTIAL_OPERATORS = frozenset({"$eq", "$exists", "$gt", "$gte", "$lt", "$lte", "$in"})


class Index:
    """One index of one collection.

    Attributes:
        spec: As ``listIndexes`` shows it.
        fields: Path and direction of each field.
        multikey: Whether any document ever had more than one key.
        entries: Sorted pairs of the fields' keys and the key of ``_id``.
    """

    def __init__(self, spec: Document) -> None:
        self.spec = spec
        self.name: str = spec["name"]
        self.fields = tuple((path, direction) for path, direction in spec["key"].items())
        self.unique = bool(spec.get("unique")) or self.name == "_id_"
        self.partial: Document | None = spec.get("partialFilterExpression")
        self.multikey = False
        self.entries: list[tuple[Keys, Key]] = []
        self._parts = tuple(tuple(path.split(".")) for path, _ in self.fields)
        self._is_covered: Predicate | None = compile_filter(self.partial) if self.partial else None
        self._held: dict[Key, tuple[Keys, ...]] = {}
        self._known: dict[int, tuple[Document, tuple[Keys, ...]]] = {}

    def keys(self, document: Document) -> tuple[Keys, ...]:
        """Return the keys under which the document is held; none when it is left out.

        A statement of a transaction puts the same few documents in and takes them out again, and
        none of them ever changes.
        """
        known = self._known.get(id(document))
        if known is not None:
            return known[1]
        if len(self._known) >= _KNOWN_MAX:
            self._known.clear()
        keys = self._keys(document)
        self._known[id(document)] = document, keys
        return keys

    def _keys(self, document: Document) -> tuple[Keys, ...]:
        if self._is_covered is not None and not self._is_covered(document):
            return ()
        plain = []
        for parts in self._parts:
            value = document.get(parts[0]) if len(parts) == 1 else [None]
            if isinstance(value, list):
                return self._multikeys(document)
            plain.append(key_of(value))
        return (tuple(plain),)

    def _multikeys(self, document: Document) -> tuple[Keys, ...]:
        columns = [index_keys(document, parts) for parts in self._parts]
        if sum(len(column) > 1 for column in columns) > 1:
            raise CommandError(171, "cannot index parallel arrays")
        return tuple(itertools.product(*columns))

    def put(self, id_key: Key, document: Document) -> None:
        """Hold a document, in the place of the one that is held under its ``_id``."""
        keys = self.keys(document)
        if self._held.get(id_key) == keys:
            return
        self.remove(id_key)
        for key in keys:
            insort(self.entries, (key, id_key))
        self._held[id_key] = keys
        self.multikey |= len(keys) > 1

    def remove(self, id_key: Key) -> None:
        """Let go of a document."""
        for key in self._held.pop(id_key, _ABSENT):
            del self.entries[bisect_left(self.entries, (key, id_key))]

    def conflict(self, id_key: Key, keys: tuple[Keys, ...]) -> Keys | None:
        """Return the first key that another document than ``id_key`` holds, if it must not."""
        if not self.unique:
            return None
        for key in keys:
            at = bisect_left(self.entries, (key,))
            while at < len(self.entries) and self.entries[at][0] == key:
                if self.entries[at][1] != id_key:
                    return key
                at += 1
        return None

    def scan(self, low: Keys, high: Keys, *, backward: bool = False) -> Iterator[Key]:
        """Yield the ids between two prefixes of keys, both included, in order; each once."""
        start = bisect_left(self.entries, (low,))
        end = bisect_left(self.entries, ((*high, AFTER_ALL),))
        chosen = self.entries[start:end]
        seen: set[Hashable] = set()
        for _, id_key in reversed(chosen) if backward else chosen:
            if self.multikey:
                if id_key in seen:
                    continue
                seen.add(id_key)
            yield id_key

    def duplicate(self, namespace: str, document: Document, keys: Keys) -> CommandError:
        """Return the error for a key that exists, worded as the server's."""
        values = {
            path: _value_with_key(document, parts, key)
            for (path, _), parts, key in zip(self.fields, self._parts, keys, strict=True)
        }
        shown = ", ".join(f"{path}: {_shown(value)}" for path, value in values.items())
        return CommandError(
            11000,
            f"E11000 duplicate key error collection: {namespace} index: {self.name} "
            f"dup key: {{ {shown} }}",
            details={"keyPattern": dict(self.fields), "keyValue": values},
        )


def _value_with_key(document: Document, parts: tuple[str, ...], key: Key) -> Any:
    for leaf in leaves(document, parts):
        for value in leaf if isinstance(leaf, list) else [leaf]:
            if value is not MISSING and key_of(value) == key:
                return value
    return None


def _shown(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, ObjectId):
        return f"ObjectId('{value}')"
    return str(value)


def checked_spec(given: Document) -> Document:
    """Return an index's specification as it is listed; refuses what is not implemented."""
    only(_SPEC_FIELDS, given, "createIndexes")
    key = given.get("key")
    if not isinstance(key, dict) or not key:
        raise CommandError(67, "Index keys cannot be an empty object")
    for path, direction in key.items():
        if direction not in (1, -1) or "$" in path:
            refuse(f"an index on {path!r} of kind {direction!r}")
    spec = {"v": 2, "key": key, "name": given["name"]}
    if given.get("unique"):
        spec["unique"] = True
    partial = given.get("partialFilterExpression")
    if partial is not None:
        _check_partial(partial)
        spec["partialFilterExpression"] = partial
    return spec


def _check_partial(expression: Document) -> None:
    compile_filter(expression)
    for field, condition in expression.items():
        if field.startswith("$"):
            refuse(f"{field} in a partial index")
        if isinstance(condition, dict):
            unknown = condition.keys() - _PARTIAL_OPERATORS
            if unknown or condition.get("$exists") is False:
                raise CommandError(
                    67, f"Expression not supported in partial index: {field}: {condition}"
                )
