"""Aggregation expressions, compiled once.

Implemented: field paths, ``$$ROOT``, ``$$REMOVE``, literals, and the operators in the tables at
the end; everything else is refused when the pipeline is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from bson import Int64

from .errors import CommandError, bad_value, refuse
from .values import MISSING, Document, Key, add, is_number, key_of, type_name, whole_number


@dataclass(frozen=True)
class Row:
    """A document on its way through a pipeline.

    Attributes:
        document: The document.
        meta: What ``$meta`` reads: scores by name.
    """

    document: Document
    meta: dict[str, Any] = field(default_factory=dict)


Expression = Callable[[Row], Any]
METADATA = frozenset({"vectorSearchScore", "searchScore", "score"})


def compile_expression(given: Any) -> Expression:
    """Return a function from row to value, ``MISSING`` included."""
    if isinstance(given, str) and given.startswith("$"):
        return _path(given)
    if isinstance(given, dict):
        return _object(given)
    if isinstance(given, list):
        parts = [compile_expression(part) for part in given]
        return lambda row: [_or_null(part(row)) for part in parts]
    return lambda _: given


def _or_null(value: Any) -> Any:
    return None if value is MISSING else value


def _path(given: str) -> Expression:
    if given == "$$ROOT":
        return lambda row: row.document
    if given == "$$REMOVE":
        return lambda _: MISSING
    if given.startswith("$$"):
        refuse(f"the variable {given}")
    parts = tuple(given[1:].split("."))
    return lambda row: _at(row.document, parts)


def _at(value: Any, parts: tuple[str, ...]) -> Any:
    """Return what a field path gives: through an array, the array of what its documents give."""
    for depth, part in enumerate(parts):
        if isinstance(value, list):
            found = (_at(element, parts[depth:]) for element in value if isinstance(element, dict))
            return [element for element in found if element is not MISSING]
        if not isinstance(value, dict):
            return MISSING
        value = value.get(part, MISSING)
    return value


def _object(given: Document) -> Expression:
    names = [name for name in given if name.startswith("$")]
    if not names:
        parts = {name: compile_expression(part) for name, part in given.items()}
        return lambda row: {
            name: value for name, part in parts.items() if (value := part(row)) is not MISSING
        }
    if len(given) > 1:
        raise CommandError(15983, "An object representing an expression must have one field")
    (name,) = names
    operand = given[name]
    if name in _SPECIAL:
        return _SPECIAL[name](operand)
    if name not in _PLAIN:
        refuse(f"the expression {name}")
    least, most, function = _PLAIN[name]
    operands = operand if isinstance(operand, list) else [operand]
    if not least <= len(operands) <= most:
        raise CommandError(16020, f"Expression {name} does not take {len(operands)} arguments")
    parts_ = [compile_expression(part) for part in operands]
    return lambda row: function([part(row) for part in parts_])


def truth(value: Any) -> bool:
    """Whether a value counts as true: not false, null, missing or zero."""
    if value is MISSING or value is None or value is False:
        return False
    return not (is_number(value) and value == 0)


# Operators that look at their operand themselves.


def _literal(operand: Any) -> Expression:
    return lambda _: operand


def _meta(operand: Any) -> Expression:
    if not isinstance(operand, str) or operand not in METADATA:
        refuse(f"$meta {operand!r}")

    def read(row: Row) -> Any:
        if operand not in row.meta:
            raise CommandError(40218, f"query requires {operand} metadata, but it is not available")
        return row.meta[operand]

    return read


def _cond(operand: Any) -> Expression:
    if isinstance(operand, dict):
        if operand.keys() != {"if", "then", "else"}:
            bad_value("$cond needs if, then and else")
        operand = [operand["if"], operand["then"], operand["else"]]
    if not isinstance(operand, list) or len(operand) != 3:
        bad_value("$cond takes three arguments")
    test, then, otherwise = map(compile_expression, operand)
    return lambda row: then(row) if truth(test(row)) else otherwise(row)


def _get_field(operand: Any) -> Expression:
    if isinstance(operand, str):
        operand = {"field": operand, "input": "$$ROOT"}
    if not isinstance(operand, dict) or operand.keys() - {"field", "input"}:
        bad_value("$getField takes field and input")
    name = operand["field"]
    if isinstance(name, dict) and name.keys() == {"$literal"}:
        name = name["$literal"]
    if not isinstance(name, str):
        refuse("$getField with a computed name")
    source = compile_expression(operand.get("input", "$$ROOT"))

    def read(row: Row) -> Any:
        value = source(row)
        return value.get(name, MISSING) if isinstance(value, dict) else MISSING

    return read


# Operators over the values of their operands.


def _sum(values: list[Any]) -> Any:
    if any(value is None or value is MISSING for value in values):
        return None
    dates = [value for value in values if isinstance(value, datetime)]
    if len(dates) > 1:
        raise CommandError(16612, "only one date allowed in an $add expression")
    total: Any = 0
    for value in values:
        if not isinstance(value, datetime):
            total = add(total, _number("$add", value))
    return dates[0] + timedelta(milliseconds=total) if dates else total


def _number(name: str, value: Any) -> Any:
    if not is_number(value):
        raise CommandError(14, f"{name} only supports numeric types, not {type_name(value)}")
    return value


def _subtract(values: list[Any]) -> Any:
    left, right = values
    if left is None or left is MISSING or right is None or right is MISSING:
        return None
    if isinstance(left, datetime) and isinstance(right, datetime):
        return Int64((left - right) // timedelta(milliseconds=1))
    if isinstance(left, datetime):
        return left - timedelta(milliseconds=_number("$subtract", right))
    negative = -_number("$subtract", right)
    return add(_number("$subtract", left), Int64(negative) if type(right) is Int64 else negative)


def _multiply(values: list[Any]) -> Any:
    if any(value is None or value is MISSING for value in values):
        return None
    numbers = [_number("$multiply", value) for value in values]
    product = math.prod(numbers)
    if any(isinstance(number, float) for number in numbers):
        return float(product)
    if any(isinstance(number, Int64) for number in numbers):
        return Int64(product)
    return whole_number(product)


def _divide(values: list[Any]) -> Any:
    left, right = values
    if left is None or left is MISSING or right is None or right is MISSING:
        return None
    if _number("$divide", right) == 0:
        bad_value("can't $divide by zero")
    return float(_number("$divide", left)) / float(right)


def _ln(values: list[Any]) -> Any:
    (value,) = values
    if value is None or value is MISSING:
        return None
    if _number("$ln", value) <= 0:
        raise CommandError(28766, f"$ln's argument must be a positive number, but is {value}")
    return math.log(value)


def _if_null(values: list[Any]) -> Any:
    for value in values[:-1]:
        if value is not None and value is not MISSING:
            return value
    return values[-1]


def _size(values: list[Any]) -> Any:
    (value,) = values
    if not isinstance(value, list):
        raise CommandError(
            17124, f"The argument to $size must be an array, but was of type: {type_name(value)}"
        )
    return len(value)


def _slice(values: list[Any]) -> Any:
    """Return the first ``n`` elements, or the last when ``n`` is below 0."""
    array, count = values
    if array is None or array is MISSING:
        return None
    if not isinstance(array, list):
        kind = type_name(array)
        raise CommandError(
            28724, f"First argument to $slice must be an array, but is of type: {kind}"
        )
    if not is_number(count) or count != int(count):
        raise CommandError(28725, "Second argument to $slice must be a numeric value")
    return array[: int(count)] if count >= 0 else array[int(count) :]


def _in(values: list[Any]) -> Any:
    element, array = values
    if not isinstance(array, list):
        raise CommandError(
            40081, f"$in requires an array as a second argument, found: {type_name(array)}"
        )
    return key_of(element) in set(map(key_of, array))


def _order_key(value: Any) -> Key:
    # In expressions, unlike in queries, a missing value is less than null.
    return (1,) if value is MISSING else key_of(value)


def _compared(test: Callable[[Key, Key], bool]) -> Callable[[list[Any]], Any]:
    return lambda values: test(_order_key(values[0]), _order_key(values[1]))


_MANY = 1000
_SPECIAL: dict[str, Callable[[Any], Expression]] = {
    "$literal": _literal,
    "$meta": _meta,
    "$cond": _cond,
    "$getField": _get_field,
}
_PLAIN: dict[str, tuple[int, int, Callable[[list[Any]], Any]]] = {
    "$add": (1, _MANY, _sum),
    "$subtract": (2, 2, _subtract),
    "$multiply": (1, _MANY, _multiply),
    "$divide": (2, 2, _divide),
    "$ln": (1, 1, _ln),
    "$ifNull": (2, _MANY, _if_null),
    "$size": (1, 1, _size),
    "$slice": (2, 2, _slice),
    "$in": (2, 2, _in),
    "$eq": (2, 2, _compared(lambda a, b: a == b)),
    "$ne": (2, 2, _compared(lambda a, b: a != b)),
    "$gt": (2, 2, _compared(lambda a, b: a > b)),
    "$gte": (2, 2, _compared(lambda a, b: a >= b)),
    "$lt": (2, 2, _compared(lambda a, b: a < b)),
    "$lte": (2, 2, _compared(lambda a, b: a <= b)),
    "$and": (0, _MANY, lambda values: all(map(truth, values))),
    "$or": (0, _MANY, lambda values: any(map(truth, values))),
    "$not": (1, 1, lambda values: not truth(values[0])),
}
