"""BSON values: one key per value that gives MongoDB's equality and order, and paths into documents.

``mongomock`` compares by Python's rules, where ``1 == True`` and the order of fields does not
count; MongoDB's rules are written here instead.
https://www.mongodb.com/docs/manual/reference/bson-type-comparison-order/
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from bson import Binary, Int64, ObjectId
from bson.timestamp import Timestamp

from .errors import refuse

Document = dict[str, Any]
Key = tuple[Any, ...]

NULL, NUMBER, STRING, OBJECT, ARRAY, BINARY, OBJECT_ID, BOOL, DATE, TIMESTAMP = (
    *(5, 10, 15, 20, 25),
    *(30, 35, 40, 45, 47),
)
AFTER_ALL: Key = (1000,)


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


def _number_key(value: float) -> Key:
    # Not a number sorts below all numbers and equals itself.
    return (NUMBER, 0, 0) if value != value else (NUMBER, 1, value)  # noqa: PLR0124


def _object_key(value: Document) -> Key:
    return (OBJECT, tuple((rank_of(v), name, key_of(v)) for name, v in value.items()))


def _binary_key(value: bytes) -> Key:
    subtype = value.subtype if isinstance(value, Binary) else 0
    return (BINARY, len(value), subtype, bytes(value))


_KEYS: dict[type, Callable[[Any], Key]] = {
    type(None): lambda _: (NULL,),
    _Missing: lambda _: (NULL,),
    int: lambda value: (NUMBER, 1, value),
    Int64: lambda value: (NUMBER, 1, int(value)),
    float: _number_key,
    str: lambda value: (STRING, value),
    dict: _object_key,
    list: lambda value: (ARRAY, tuple(map(key_of, value))),
    bytes: _binary_key,
    Binary: _binary_key,
    ObjectId: lambda value: (OBJECT_ID, value.binary),
    bool: lambda value: (BOOL, value),
    datetime: lambda value: (DATE, value),
    Timestamp: lambda value: (TIMESTAMP, value.time, value.inc),
}
_TYPE_NAMES: dict[type, str] = {
    type(None): "null",
    int: "int",
    Int64: "long",
    float: "double",
    str: "string",
    dict: "object",
    list: "array",
    bytes: "binData",
    Binary: "binData",
    ObjectId: "objectId",
    bool: "bool",
    datetime: "date",
    Timestamp: "timestamp",
    _Missing: "missing",
}
NUMBER_TYPES = frozenset({"int", "long", "double"})
TYPE_NAMES = frozenset(_TYPE_NAMES.values()) - {"missing"} | {"number"}


def key_of(value: Any) -> Key:
    """Return a hashable key: equal for equal BSON values, ordered as MongoDB orders them.

    A missing value counts as null.
    """
    try:
        return _KEYS[type(value)](value)
    except KeyError:
        refuse(f"values of type {type(value).__name__}")


def copied(value: Any) -> Any:
    """Return a copy of a document or an array; no other value ever changes."""
    if isinstance(value, dict):
        return {name: copied(one) for name, one in value.items()}
    return [copied(one) for one in value] if isinstance(value, list) else value


def rank_of(value: Any) -> int:
    """Return the place of the value's type in the order of types."""
    rank: int = key_of(value)[0]
    return rank


def type_name(value: Any) -> str:
    """Return the BSON type's name as the server's messages spell it."""
    return _TYPE_NAMES.get(type(value), type(value).__name__)


def is_number(value: Any) -> bool:
    """Whether the value is a BSON number."""
    return type(value) in {int, Int64, float}


def whole_number(value: float) -> int | Int64:
    """Return an integer as int32 when it fits and as int64 otherwise."""
    number = int(value)
    return number if -(2**31) <= number < 2**31 else Int64(number)


def add(left: Any, right: Any) -> Any:
    """Return the sum with MongoDB's widening: int, long, double."""
    if isinstance(left, float) or isinstance(right, float):
        return float(left) + float(right)
    total = int(left) + int(right)
    if not -(2**63) <= total < 2**63:
        refuse("integers beyond 64 bits")
    wide = isinstance(left, Int64) or isinstance(right, Int64)
    return Int64(total) if wide else whole_number(total)


def leaves(value: Any, parts: tuple[str, ...]) -> Iterator[Any]:
    """Yield what a dotted path leads to, through every array on the way.

    A path that ends in the void of a document or a scalar yields ``MISSING``; elements of an
    array that are no documents, and empty arrays, yield nothing (as in MongoDB, where
    ``{"a.b": null}`` does not match ``{a: []}``). An array at the end is yielded as a whole.
    """
    if not parts:
        yield value
    elif isinstance(value, dict):
        yield from leaves(value.get(parts[0], MISSING), parts[1:])
    elif isinstance(value, list):
        if parts[0].isdigit() and int(parts[0]) < len(value):
            yield from leaves(value[int(parts[0])], parts[1:])
        for element in value:
            if isinstance(element, dict):
                yield from leaves(element, parts)
    else:
        yield MISSING


def expanded(value: Any, parts: tuple[str, ...]) -> Iterator[Any]:
    """Yield the leaves and the elements of those that are arrays."""
    for leaf in leaves(value, parts):
        yield leaf
        if isinstance(leaf, list):
            yield from leaf


def sort_key(document: Document, parts: tuple[str, ...], direction: int) -> Key:
    """Return the key to sort by: the least element of an array going up, the greatest down."""
    if len(parts) == 1:
        value = document.get(parts[0])
        if not isinstance(value, list):
            return key_of(value)
    keys = index_keys(document, parts)
    return min(keys) if direction > 0 else max(keys)


def index_keys(document: Document, parts: tuple[str, ...]) -> set[Key]:
    """Return the keys under which an index on the path holds the document.

    One for each element of an array; an empty array sorts below null, and a missing value is
    null.
    """
    keys: set[Key] = set()
    for leaf in leaves(document, parts):
        if isinstance(leaf, list):
            keys.update(map(key_of, leaf))
            if not leaf:
                keys.add((0,))
        else:
            keys.add(key_of(leaf))
    return keys or {(NULL,)}
