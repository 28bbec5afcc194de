"""Records to rows and back. A column is named like the field it holds.

Times become integer microseconds, tuples and objects JSON, booleans 0 and 1. Topics are stored
as the number of their set, and privacy as the agent that alone may see the record.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Sequence
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel, JsonValue, ValidationError

from ...errors import CorruptRecord
from ...moments import microseconds, moment
from ...records import Owned
from ..ownership import NO_TOPIC, SHARED, private_to
from .database import Query, Session, Value
from .scope import as_json

R = TypeVar("R", bound=BaseModel)

_TIMES = frozenset(
    "recorded_at occurred_at starts_at ends_at expires_at valid_from valid_to last_used_at "
    "created_at closed_at spawned_at left_at queued_at".split()
)
_JSON = frozenset(
    "topics sources inherits_from covers children source_ids steps tool_outputs record_ids body "
    "payload".split()
)


def stored(value: object) -> Value:
    """Return a field's value in the form in which it is stored."""
    if isinstance(value, datetime):
        return microseconds(value)
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, str | bytes | int | float):
        return value
    return json.dumps(value, ensure_ascii=False)


def fields_of(record: BaseModel, *without: str) -> dict[str, Value]:
    """Return a record's fields in stored form, some left out."""
    return {name: stored(value) for name, value in record.model_dump(exclude=set(without)).items()}


def record_of(model: type[R], row: sqlite3.Row, **known: object) -> R:
    """Return the record that a row holds.

    Args:
        model: Its type; columns that are no field of it are passed over.
        row: With ``topics`` joined in for owned records.
        known: Fields that are not in the row under their own name.

    Raises:
        CorruptRecord: The row does not make a valid record.
    """
    try:
        values: dict[str, object] = {
            name: _loaded(name, row[name])
            for name in row.keys()  # noqa: SIM118 - a Row iterates over its values
            if name in model.model_fields
        }
        if "private" in model.model_fields:
            values["private"] = row["private_to"] != SHARED
        return model.model_validate(values | known)
    except (ValidationError, ValueError, OverflowError, IndexError) as error:
        reason = f"a stored {model.__name__.lower()} cannot be read back"
        raise CorruptRecord("cold", "read", reason) from error


def insert_owned(session: Session, table: str, record: Owned, *without: str, **more: Value) -> int:
    """Insert an owned record and return its row's number.

    Args:
        session: The transaction.
        table: Where to.
        record: What.
        without: Fields of the record that the table does not have.
        more: Columns that the record does not have.
    """
    values = fields_of(record, "topics", "private", *without)
    return session.insert(table, values | ownership(session, record) | more)


def ownership(session: Session, record: Owned) -> dict[str, Value]:
    """Return the columns in which the scope predicate finds a record's topics and privacy."""
    return {
        "topic_set": topic_set(session, record.topics),
        "private_to": private_to(record),
    }


def topic_set(session: Session, topics: Sequence[str]) -> int:
    """Return the number of a set of topics, giving it one when it is new."""
    key = as_json(sorted(topics))
    found = session.one(Query("SELECT id FROM topic_sets WHERE topics = :topics", {"topics": key}))
    if found is not None:
        return int(found["id"])
    number = session.insert("topic_sets", {"topics": key})
    members = dict.fromkeys(topics) or (NO_TOPIC,)
    session.insert_all(
        "topic_members", [{"topic_set": number, "topic": topic} for topic in members]
    )
    return number


def _loaded(name: str, value: Value) -> JsonValue | datetime | bytes:
    if value is None:
        return None
    if name in _TIMES and isinstance(value, int):
        return moment(value)
    if name in _JSON and isinstance(value, str):
        loaded: JsonValue = json.loads(value)
        return loaded
    return value
