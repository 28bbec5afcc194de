"""Query filters, compiled once to a predicate.

Implemented: equality, ``$eq $ne $in $nin $gt $gte $lt $lte $exists $not`` on dotted paths with
MongoDB's treatment of arrays, null and types; ``$elemMatch`` for documents; ``$and`` and ``$or``.
Everything else is refused when the filter is compiled, even over an empty collection.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import bad_value, refuse
from .values import (
    ARRAY,
    BINARY,
    BOOL,
    DATE,
    MISSING,
    NUMBER,
    OBJECT_ID,
    STRING,
    TIMESTAMP,
    Document,
    Key,
    expanded,
    key_of,
    leaves,
    type_name,
)

Predicate = Callable[[Document], bool]
Parts = tuple[str, ...]

_COMPARISONS: dict[str, Callable[[Key, Key], bool]] = {
    "$gt": lambda left, right: left > right,
    "$gte": lambda left, right: left >= right,
    "$lt": lambda left, right: left < right,
    "$lte": lambda left, right: left <= right,
}
_ORDERED = frozenset({NUMBER, STRING, BINARY, OBJECT_ID, BOOL, DATE, TIMESTAMP})


def compile_filter(query: Any) -> Predicate:
    """Return a predicate over documents; raises for what is not implemented."""
    if not isinstance(query, dict):
        bad_value("the filter must be a document")
    tests = [_clause(field, condition) for field, condition in query.items()]
    if len(tests) == 1:
        return tests[0]
    return lambda document: all(test(document) for test in tests)


def is_operators(condition: Any) -> bool:
    """Whether a field's condition is made of operators, and not a value to be equal to."""
    if not isinstance(condition, dict) or not condition:
        return False
    dollars = [name.startswith("$") for name in condition]
    if any(dollars) and not all(dollars):
        bad_value(f"unknown operator: {next(n for n in condition if not n.startswith('$'))}")
    return all(dollars)


def equalities(query: Document) -> dict[str, list[Any]]:
    """Return the values each path must equal for the filter to match, from the top level.

    What an index can be asked; ``$and`` is looked into, ``$or`` is not.
    """
    found: dict[str, list[Any]] = {}
    for field, condition in query.items():
        if field == "$and":
            for part in condition:
                for path, values in equalities(part).items():
                    found.setdefault(path, values)
        elif field.startswith("$"):
            continue
        elif not is_operators(condition):
            found[field] = [condition]
        elif "$eq" in condition:
            found[field] = [condition["$eq"]]
        elif "$in" in condition:
            found[field] = list(condition["$in"])
    return found


def _clause(field: str, condition: Any) -> Predicate:
    if field in {"$and", "$or"}:
        return _logical(field, condition)
    if field.startswith("$"):
        refuse(f"the query operator {field}")
    parts = tuple(field.split("."))
    if not is_operators(condition):
        return _equality(parts, condition)
    tests = [_operator(parts, name, value) for name, value in condition.items()]
    if len(tests) == 1:
        return tests[0]
    return lambda document: all(test(document) for test in tests)


def _logical(name: str, conditions: Any) -> Predicate:
    if not isinstance(conditions, list) or not conditions:
        bad_value(f"{name} must be a nonempty array")
    tests = [compile_filter(condition) for condition in conditions]
    if name == "$and":
        return lambda document: all(test(document) for test in tests)
    return lambda document: any(test(document) for test in tests)


def _equality(parts: Parts, wanted: Any) -> Predicate:
    key = key_of(wanted)
    if len(parts) > 1:
        return lambda document: any(key_of(value) == key for value in expanded(document, parts))
    (name,) = parts

    def test(document: Document) -> bool:
        value = document.get(name)
        if key_of(value) == key:
            return True
        return isinstance(value, list) and any(key_of(element) == key for element in value)

    return test


def _operator(parts: Parts, name: str, value: Any) -> Predicate:
    if name in _COMPARISONS:
        return _comparison(parts, name, value)
    build = _OPERATORS.get(name)
    if build is None:
        refuse(f"the query operator {name}")
    return build(parts, value)


def _comparison(parts: Parts, name: str, bound: Any) -> Predicate:
    limit = key_of(bound)
    if limit[0] not in _ORDERED:
        refuse(f"{name} with a value of type {type_name(bound)}")
    compare = _COMPARISONS[name]
    rank = limit[0]
    if limit[:2] == (NUMBER, 0):
        refuse(f"{name} with NaN")

    def test(document: Document) -> bool:
        for value in expanded(document, parts):
            key = key_of(value)
            # Only values of the bound's own type are compared; NaN compares with nothing.
            if key[0] == rank and key[:2] != (NUMBER, 0) and compare(key, limit):
                return True
        return False

    return test


def _in(parts: Parts, values: Any) -> Predicate:
    if not isinstance(values, list):
        bad_value("$in needs an array")
    wanted = set(map(key_of, values))
    return lambda document: any(key_of(value) in wanted for value in expanded(document, parts))


def _not(parts: Parts, condition: Any) -> Predicate:
    if not is_operators(condition):
        bad_value("$not needs a document of operators")
    test = _clause(".".join(parts), condition)
    return lambda document: not test(document)


def _exists(parts: Parts, wanted: Any) -> Predicate:
    if not isinstance(wanted, bool | int):
        refuse(f"$exists with a value of type {type_name(wanted)}")
    expected = bool(wanted)
    return lambda document: any(leaf is not MISSING for leaf in leaves(document, parts)) == expected


def _elem_match(parts: Parts, condition: Any) -> Predicate:
    if not isinstance(condition, dict):
        bad_value("$elemMatch needs an Object")
    if is_operators(condition):
        refuse("$elemMatch for elements that are no documents")
    test = compile_filter(condition)
    return lambda document: any(
        isinstance(leaf, list)
        and any(isinstance(element, dict) and test(element) for element in leaf)
        for leaf in leaves(document, parts)
    )


def _eq(parts: Parts, value: Any) -> Predicate:
    return _equality(parts, value)


def _ne(parts: Parts, value: Any) -> Predicate:
    test = _equality(parts, value)
    return lambda document: not test(document)


def _nin(parts: Parts, values: Any) -> Predicate:
    test = _in(parts, values)
    return lambda document: not test(document)


_OPERATORS: dict[str, Callable[[Parts, Any], Predicate]] = {
    "$eq": _eq,
    "$ne": _ne,
    "$in": _in,
    "$nin": _nin,
    "$not": _not,
    "$exists": _exists,
    "$elemMatch": _elem_match,
}
assert ARRAY not in _ORDERED
