"""Update documents: operators or a replacement, applied to a copy of the document.

Implemented: ``$set`` and ``$unset`` of whole fields. Everything else is refused, before any
document is looked at.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import bson
from bson import ObjectId

from .errors import CommandError, bad_value, refuse
from .filters import equalities
from .values import Document, copied, key_of

Change = Callable[[Document], Document]

_MAX_DOCUMENT_BYTES = 16 * 1024 * 1024
_OPERATORS = frozenset({"$set", "$unset"})
_KNOWN_ELSEWHERE = frozenset(
    {
        *("$inc", "$max", "$min", "$mul", "$rename", "$setOnInsert", "$currentDate"),
        *("$addToSet", "$push", "$pop", "$pull", "$pullAll", "$bit"),
    }
)


def compile_update(update: Any) -> Change:
    """Return the function that makes the document after the update; raises for what is unknown."""
    if isinstance(update, list):
        refuse("updates by pipeline")
    if not isinstance(update, dict):
        bad_value("an update must be a document")
    if not is_update_operators(update):
        return lambda document: _replaced(document, update)
    _check(update)

    def change(document: Document) -> Document:
        after = _changed(document, update)
        if key_of(after.get("_id")) != key_of(document["_id"]):
            raise _immutable_id()
        return after

    return change


def is_update_operators(update: Document) -> bool:
    """Whether the update is made of operators, and not a replacement."""
    dollars = [name.startswith("$") for name in update]
    if any(dollars) and not all(dollars):
        raise CommandError(9, "an update has either operators or plain fields, not both")
    return bool(dollars) and dollars[0]


def upserted(query: Document, update: Document) -> Document:
    """Return the document that an upsert inserts: what the filter says by equality, changed."""
    if not is_update_operators(update):
        refuse("an upsert by a replacement")
    _check(update)
    base: Document = {}
    for path, values in equalities(query).items():
        if "." in path:
            refuse(f"an upsert by {path!r}")
        if len(values) == 1:
            base[path] = values[0]
    document = _changed(base, update)
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
    return {"_id": document["_id"], **copied(update)}


def _changed(document: Document, update: Document) -> Document:
    after: Document = copied({**document, **update.get("$set", {})})
    for name in update.get("$unset", {}):
        after.pop(name, None)
    return after


def _check(update: Document) -> None:
    names: set[str] = set()
    for operator, fields in update.items():
        if operator in _KNOWN_ELSEWHERE:
            refuse(f"the update operator {operator}")
        if operator not in _OPERATORS:
            raise CommandError(9, f"Unknown modifier: {operator}")
        if not isinstance(fields, dict):
            raise CommandError(9, f"Modifiers operate on fields but {operator} has none")
        for name in fields:
            if not name:
                raise CommandError(56, "The update path '' contains an empty field name")
            if name.startswith("$") or "." in name:
                refuse(f"updates of {name!r}")
            if name in names:
                raise CommandError(
                    40, f"Updating the path '{name}' would create a conflict at '{name}'"
                )
            names.add(name)
