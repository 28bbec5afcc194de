"""Update documents: operators or a replacement, applied to a copy of the document.

Implemented: ``$set $unset $inc $push ($each, $slice) $pull $addToSet ($each) $max $min
$setOnInsert``. Everything else is refused, before any document is looked at.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import bson
from bson import ObjectId

from .errors import CommandError, bad_value, only, refuse
from .filters import compile_filter, equalities, is_operators
from .values import MISSING, Document, add, is_number, key_of, type_name

Change = Callable[[Document], Document]

_MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
_MAX_ARRAY_GAP = 1_500_000
_KNOWN_ELSEWHERE = frozenset(
    {"$mul", "$rename", "$currentDate", "$pop", "$pullAll", "$bit", "$pushAll"}
)


def compile_update(update: Any, *, inserting: bool = False) -> Change:
    """Return the function that makes the document after the update; raises for what is unknown.

    Args:
        update: Operators, or a replacement.
        inserting: The document is the base of an upsert: ``$setOnInsert`` counts.
    """
    if isinstance(update, list):
        refuse("updates by pipeline")
    if not isinstance(update, dict):
        bad_value("an update must be a document")
    if not is_update_operators(update):
        return lambda document: _replaced(document, update)
    steps = _steps(update, inserting=inserting)

    def change(document: Document) -> Document:
        after = copy.deepcopy(document)
        for operator, parts, value in steps:
            _OPERATORS[operator](after, parts, value)
        if not inserting and key_of(after.get("_id")) != key_of(document["_id"]):
            raise _immutable_id()
        return after

    return change


def is_update_operators(update: Document) -> bool:
    """Whether the update is made of operators, and not a replacement."""
    dollars = [name.startswith("$") for name in update]
    if any(dollars) and not all(dollars):
        raise CommandError(9, "an update has either operators or plain fields, not both")
    return bool(dollars) and dollars[0]


def upsert_base(query: Document) -> Document:
    """Return the document that an upsert starts from: what the filter says by equality."""
    base: Document = {}
    for path, values in equalities(query).items():
        if len(values) == 1:
            _set(base, tuple(path.split(".")), copy.deepcopy(values[0]))
    return base


def upserted(query: Document, update: Document) -> Document:
    """Return the document that an upsert inserts."""
    base = upsert_base(query)
    if not is_update_operators(update):
        if "_id" in base and "_id" in update and key_of(base["_id"]) != key_of(update["_id"]):
            raise _immutable_id()
        base = {"_id": base["_id"]} if "_id" in base else {}
        document = {**base, **copy.deepcopy(update)}
    else:
        document = compile_update(update, inserting=True)(base)
        if "_id" in base and key_of(document.get("_id")) != key_of(base["_id"]):
            raise _immutable_id()
    return {"_id": ObjectId(), **document}


def differs(before: Document, after: Document) -> bool:
    """Whether a write changes anything, types and order of fields included.

    Raises:
        CommandError: The new document is larger than MongoDB stores.
    """
    encoded = bson.encode(after)
    if len(encoded) > _MAX_DOCUMENT_BYTES:
        raise CommandError(10334, f"BSONObj size: {len(encoded)} is invalid: 16 MiB at most")
    return encoded != bson.encode(before)


def _immutable_id() -> CommandError:
    return CommandError(
        66, "Performing an update on the path '_id' would modify the immutable field '_id'"
    )


def _replaced(document: Document, update: Document) -> Document:
    if "_id" in update and key_of(update["_id"]) != key_of(document["_id"]):
        raise _immutable_id()
    return {"_id": document["_id"], **copy.deepcopy(update)}


def _steps(update: Document, *, inserting: bool) -> list[tuple[str, tuple[str, ...], Any]]:
    steps = []
    paths: list[tuple[str, ...]] = []
    for operator, fields in update.items():
        if operator in _KNOWN_ELSEWHERE:
            refuse(f"the update operator {operator}")
        if operator not in _OPERATORS:
            raise CommandError(9, f"Unknown modifier: {operator}")
        if not isinstance(fields, dict):
            raise CommandError(9, f"Modifiers operate on fields but {operator} has none")
        for path, value in fields.items():
            parts = _checked_path(path)
            _refuse_overlap(parts, paths)
            paths.append(parts)
            _check_operand(operator, path, value)
            if operator != "$setOnInsert" or inserting:
                steps.append((operator, parts, value))
    return steps


def _checked_path(path: str) -> tuple[str, ...]:
    parts = tuple(path.split("."))
    if any(part.startswith("$") for part in parts):
        refuse(f"positional updates ({path!r})")
    if not all(parts):
        raise CommandError(56, f"The update path {path!r} contains an empty field name")
    return parts


def _refuse_overlap(parts: tuple[str, ...], others: list[tuple[str, ...]]) -> None:
    for other in others:
        length = min(len(parts), len(other))
        if parts[:length] == other[:length]:
            path, at = ".".join(parts), ".".join(other)
            raise CommandError(40, f"Updating the path '{path}' would create a conflict at '{at}'")


def _check_operand(operator: str, path: str, value: Any) -> None:
    if operator == "$inc" and not is_number(value):
        raise CommandError(14, f"Cannot increment with non-numeric argument: {{{path}: {value!r}}}")
    if operator in {"$push", "$addToSet"} and is_operators(value):
        only(frozenset({"$each", "$slice"} if operator == "$push" else {"$each"}), value, operator)
        if not isinstance(value.get("$each"), list):
            bad_value(f"The argument to $each in {operator} must be an array")
        if type(value.get("$slice", 0)) is not int:
            bad_value("The value for $slice must be an integer value")
    if operator == "$pull" and isinstance(value, dict):
        compile_filter({"element": value} if is_operators(value) else value)


def _holder(document: Document, parts: tuple[str, ...], *, create: bool) -> tuple[Any, Any] | None:
    """Return the document or array that holds the last part, and the key or index in it.

    ``None`` when it is not there and need not be made.
    """
    holder: Any = document
    for depth, part in enumerate(parts):
        last = depth == len(parts) - 1
        is_there = _leads_on(holder, part, last=last)
        if not is_there and not create:
            return None
        if is_there is None:
            raise _not_viable(part, parts, holder)
        key: Any = int(part) if isinstance(holder, list) else part
        if not is_there:
            _make_place(holder, key, last=last)
        if last:
            return holder, key
        holder = holder[key]
    return None


def _leads_on(holder: Any, part: str, *, last: bool) -> bool | None:
    """Whether the part is in the holder, or can be the last one; ``None`` when it cannot be."""
    if isinstance(holder, dict):
        return last or part in holder
    if isinstance(holder, list) and part.isdigit():
        return int(part) < len(holder)
    return None


def _make_place(holder: Any, key: Any, *, last: bool) -> None:
    if isinstance(holder, dict):
        holder[key] = {}
        return
    if key - len(holder) > _MAX_ARRAY_GAP:
        bad_value("can't backfill more than 1500000 elements")
    holder.extend([None] * (key - len(holder)))
    holder.append(MISSING if last else {})


def _not_viable(part: str, parts: tuple[str, ...], holder: Any) -> CommandError:
    return CommandError(
        28, f"Cannot create field '{part}' of '{'.'.join(parts)}' in a {type_name(holder)}"
    )


def _value(held: tuple[Any, Any]) -> Any:
    holder, key = held
    return holder.get(key, MISSING) if isinstance(holder, dict) else holder[key]


def _made(document: Document, parts: tuple[str, ...]) -> tuple[Any, Any]:
    held = _holder(document, parts, create=True)
    assert held is not None
    return held


def _set(document: Document, parts: tuple[str, ...], value: Any) -> None:
    holder, key = _made(document, parts)
    holder[key] = copy.deepcopy(value)


def _unset(document: Document, parts: tuple[str, ...], _: Any) -> None:
    held = _holder(document, parts, create=False)
    if held is None:
        return
    holder, key = held
    if isinstance(holder, list):
        holder[key] = None
    else:
        holder.pop(key, None)


def _inc(document: Document, parts: tuple[str, ...], value: Any) -> None:
    held = _made(document, parts)
    old = _value(held)
    if old is MISSING:
        old = 0
        result = value
    elif is_number(old):
        result = add(old, value)
    else:
        raise CommandError(
            14,
            f"Cannot apply $inc to a value of non-numeric type. {{_id: {document.get('_id')!r}}} "
            f"has the field '{parts[-1]}' of non-numeric type {type_name(old)}",
        )
    held[0][held[1]] = result


def _extreme(document: Document, parts: tuple[str, ...], value: Any, *, greater: bool) -> None:
    held = _made(document, parts)
    old = _value(held)
    if old is MISSING or (key_of(value) > key_of(old) if greater else key_of(value) < key_of(old)):
        held[0][held[1]] = copy.deepcopy(value)


def _max(document: Document, parts: tuple[str, ...], value: Any) -> None:
    _extreme(document, parts, value, greater=True)


def _min(document: Document, parts: tuple[str, ...], value: Any) -> None:
    _extreme(document, parts, value, greater=False)


def _array(document: Document, parts: tuple[str, ...]) -> tuple[tuple[Any, Any], list[Any]]:
    held = _made(document, parts)
    old = _value(held)
    if old is MISSING:
        return held, []
    if not isinstance(old, list):
        bad_value(
            f"The field '{'.'.join(parts)}' must be an array but is of type {type_name(old)} "
            f"in document {{_id: {document.get('_id')!r}}}"
        )
    return held, old


def _push(document: Document, parts: tuple[str, ...], value: Any) -> None:
    held, array = _array(document, parts)
    many = is_operators(value)
    array = array + copy.deepcopy(value["$each"] if many else [value])
    if many and "$slice" in value:
        cut = value["$slice"]
        array = array[:cut] if cut >= 0 else array[cut:]
    held[0][held[1]] = array


def _add_to_set(document: Document, parts: tuple[str, ...], value: Any) -> None:
    held, array = _array(document, parts)
    array = list(array)
    present = set(map(key_of, array))
    for element in value["$each"] if is_operators(value) else [value]:
        if key_of(element) not in present:
            present.add(key_of(element))
            array.append(copy.deepcopy(element))
    held[0][held[1]] = array


def _pull(document: Document, parts: tuple[str, ...], value: Any) -> None:
    held = _holder(document, parts, create=False)
    if held is None or _value(held) is MISSING:
        return
    array = _value(held)
    if not isinstance(array, list):
        bad_value("Cannot apply $pull to a non-array value")
    if is_operators(value):
        test = compile_filter({"element": value})
        kept = [element for element in array if not test({"element": element})]
    elif isinstance(value, dict):
        test = compile_filter(value)
        kept = [item for item in array if not (isinstance(item, dict) and test(item))]
    else:
        kept = [element for element in array if key_of(element) != key_of(value)]
    held[0][held[1]] = kept


_OPERATORS: dict[str, Callable[[Document, tuple[str, ...], Any], None]] = {
    "$set": _set,
    "$setOnInsert": _set,
    "$unset": _unset,
    "$inc": _inc,
    "$max": _max,
    "$min": _min,
    "$push": _push,
    "$addToSet": _add_to_set,
    "$pull": _pull,
}
