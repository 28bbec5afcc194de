"""Records to rows and back. A column is named like the field it holds.

Times become integer microseconds, tuples and objects JSON, booleans 0 and 1. Topics are stored
as the number of their set, privacy as the agent that alone may see the record, a span of time as
the pair of its ends, and the former steps of a rule as version, steps and until when.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from typing import TypeVar, cast

from pydantic import BaseModel, ValidationError

from ...errors import CorruptRecord
from ...moments import microseconds, moment
from ...records import FormerSteps, Owned, Span
from ..ownership import NO_TOPIC, SHARED, private_to
from .database import Query, Session, Value
from .scope import as_json

R = TypeVar("R", bound=BaseModel)

RECORDS_REMEMBERED = 4_096
"""Rows that are parsed once for many reads: the core facts of a tenant at work."""

_TIMES = frozenset(
    "recorded_at occurred_at starts_at ends_at expires_at valid_from valid_to last_used_at "
    "created_at closed_at spawned_at left_at queued_at redacted_at superseded_at seen_at as_of "
    "linked_at judged_at forgotten_at retired_at moved_at changed_at removed_at".split()
)
_JSON = frozenset(
    "topics sources denied_topics denied_sources budget retention covers children source_ids steps "
    "tool_outputs record_ids body payload prompts rules properties headings tail".split()
)


def stored(value: object) -> Value:
    """Return a field's value in the form in which it is stored."""
    if isinstance(value, datetime):
        return microseconds(value)
    if isinstance(value, bool):
        return int(value)
    if value is None or isinstance(value, str | bytes | int | float):
        return value
    return json.dumps(value, ensure_ascii=False, default=_packed)


def fields_of(record: BaseModel, *without: str) -> dict[str, Value]:
    """Return a record's fields in stored form, some left out."""
    packed = set(_UNPACKED) & type(record).model_fields.keys() - set(without)
    plain = record.model_dump(exclude=packed.union(without))
    return {
        name: stored(value)
        for name, value in (plain | {name: getattr(record, name) for name in packed}).items()
    }


def record_of(model: type[R], row: sqlite3.Row, **known: object) -> R:
    """Return the record that a row holds.

    Args:
        model: Its type; columns that are no field of it are passed over.
        row: With ``topics`` joined in for owned records.
        known: Fields that are not in the row under their own name.

    Raises:
        CorruptRecord: The row does not make a valid record.
    """
    return _made(model, dict(zip(row.keys(), row, strict=True)), known)


def _made(model: type[R], row: Mapping[str, Value], known: Mapping[str, object]) -> R:
    try:
        values: dict[str, object] = {
            name: _loaded(name, value) for name, value in row.items() if name in model.model_fields
        }
        if "private" in model.model_fields:
            values["private"] = row["private_to"] != SHARED
        return model.model_validate({**values, **known})
    except (ValidationError, ValueError, TypeError, OverflowError, KeyError) as error:
        reason = f"a stored {model.__name__.lower()} cannot be read back"
        raise CorruptRecord("cold", "read", reason) from error


def record_again(model: type[R], row: sqlite3.Row) -> R:
    """Return the record that a row holds, for rows that every turn reads.

    A record is a pure function of its row and frozen, so equal rows may share one: parsing costs
    ten times what reading does.

    Raises:
        CorruptRecord: The row does not make a valid record.
    """
    return cast("R", _remembered(model, tuple(row.keys()), tuple(row)))


def forget_records() -> None:
    """Remember no row any more: what was redacted is not to live on in the process."""
    _remembered.cache_clear()


@lru_cache(maxsize=RECORDS_REMEMBERED)
def _remembered(
    model: type[BaseModel], names: tuple[str, ...], values: tuple[Value, ...]
) -> BaseModel:
    return _made(model, dict(zip(names, values, strict=True)), {})


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


def _packed(value: object) -> list[object]:
    """Return a record inside a record as JSON holds it; ``json`` asks for what it does not know."""
    if isinstance(value, Span):
        return [stored(value.since), stored(value.until)]
    if isinstance(value, FormerSteps):
        return [value.version, value.steps, stored(value.until)]
    message = f"{type(value).__name__} has no stored form"
    raise TypeError(message)


def _loaded(name: str, value: Value) -> object:
    if value is None:
        return None
    if name in _TIMES and isinstance(value, int):
        return moment(value)
    if name in _JSON and isinstance(value, str):
        return json.loads(value)
    if name in _UNPACKED and isinstance(value, str):
        return [_UNPACKED[name](packed) for packed in json.loads(value)]
    if name == "parents" and isinstance(value, str):
        return [_parent(*link) for link in sorted(json.loads(value))]
    return value


def _span(packed: Sequence[int | None]) -> dict[str, object]:
    since, until = packed
    return {"since": _moment(since), "until": _moment(until)}


def _former(packed: tuple[int, Sequence[str], int]) -> dict[str, object]:
    version, steps, until = packed
    return {"version": version, "steps": steps, "until": moment(until)}


_UNPACKED: Mapping[str, Callable[..., dict[str, object]]] = {
    "core_spans": _span,
    "former": _former,
}
"""Fields of records inside a record, which hold moments: ``_packed`` stores them."""


def _parent(
    _place: int, parent_id: str, as_of: int | None, rules: int, episodes: int, linked_at: int
) -> dict[str, object]:
    """Return a link from its columns, which begin with the place it is sorted by."""
    return {
        "id": parent_id,
        "as_of": _moment(as_of),
        "rules": bool(rules),
        "episodes": bool(episodes),
        "linked_at": moment(linked_at),
    }


def _moment(stored_at: int | None) -> datetime | None:
    return None if stored_at is None else moment(stored_at)
